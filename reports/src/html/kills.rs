//! The kill matrix as a page: which case tells which faulty importer from the faithful one.
//!
//! Knows: what is shown of it. Refuses to know: how it came about, and how it is drawn; a picture of it is one more
//! field of the page.

use super::labels::{named, plain};
use super::matrix::Filter;
use super::{HtmlRenderer, PageLocation};
use crate::diagram::{self, KillMatrixRow, SvgOptions};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use verdict::kills::{Fault, Kills};

/// So many cases that kill a fault are named; the JSON names all.
const NAMED: usize = 6;

#[derive(Debug, Serialize)]
struct Page {
    total: String,
    findings: Vec<String>,
    clauses: Vec<Clause>,
    faults: Vec<Row>,
    filter: Filter,
    /// The matrix as a picture.
    drawn: Option<String>,
}

#[derive(Debug, Serialize)]
struct Clause {
    id: String,
    href: String,
    killed: usize,
    faults: usize,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    does: String,
    breaks: String,
    count: usize,
    killers: Vec<(String, String)>,
    more: usize,
}

impl HtmlRenderer {
    /// The page of a kill matrix.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn kills(&self, kills: &Kills, place: PageLocation<'_>) -> Result<String, tera::Error> {
        let mut clauses: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for fault in &kills.faults {
            for id in &fault.breaks {
                let count = clauses.entry(id).or_default();
                count.0 += usize::from(!fault.killers.is_empty());
                count.1 += 1;
            }
        }
        let clause = |(id, (killed, faults)): (&&str, &(usize, usize))| Clause {
            id: plain(id),
            href: format!("clauses.html#{}", named("clause", id)),
            killed: *killed,
            faults: *faults,
        };
        let page = Page {
            total: kills.total(),
            findings: kills.findings.iter().map(|finding| plain(finding)).collect(),
            filter: Filter { clauses: clauses.keys().map(|id| plain(id)).collect(), ..Filter::of("faults") },
            clauses: clauses.iter().map(clause).collect(),
            faults: kills.faults.iter().map(row).collect(),
            drawn: drawn(kills)?,
        };
        self.render("kills.html", place, "The kill matrix", &page)
    }
}

/// Which topics of the suite kill how many faults of each family of clauses; nothing where there is no fault. A fault
/// stands with the first clause that it breaks.
fn drawn(kills: &Kills) -> Result<Option<String>, tera::Error> {
    let topic = |case: &str| case.split('/').next().unwrap_or_default().to_owned();
    let killers = || kills.faults.iter().flat_map(|fault| &fault.killers);
    let columns: Vec<String> =
        killers().map(|killer| topic(&killer.case)).collect::<BTreeSet<_>>().into_iter().collect();
    let mut rows: BTreeMap<&str, KillMatrixRow> = BTreeMap::new();
    for fault in &kills.faults {
        let family = fault.breaks.first().and_then(|id| id.split('-').next()).unwrap_or_default();
        let row = rows.entry(family).or_insert_with(|| KillMatrixRow {
            name: family.to_owned(),
            cells: vec![0; columns.len()],
            ..KillMatrixRow::default()
        });
        row.faults += 1;
        row.killed += u64::from(!fault.killers.is_empty());
        let topics: BTreeSet<String> = fault.killers.iter().map(|killer| topic(&killer.case)).collect();
        for (cell, column) in row.cells.iter_mut().zip(&columns) {
            *cell += u64::from(topics.contains(column));
        }
    }
    let matrix = diagram::KillMatrix {
        title: "Faults killed".to_owned(),
        row_word: "families of the clauses that are broken".to_owned(),
        column_word: "topics of the cases that kill".to_owned(),
        columns,
        rows: rows.into_values().collect(),
    };
    let look = SvgOptions { standalone: false, ..SvgOptions::default() };
    (!kills.faults.is_empty()).then(|| diagram::kill_matrix(&matrix, look)).transpose()
}

fn row(fault: &Fault) -> Row {
    let killer = |(case, formats): (&String, &Vec<String>)| (plain(case), plain(&formats.join(", ")));
    Row {
        name: plain(&fault.name),
        does: plain(&fault.does),
        breaks: plain(&fault.breaks.join(" ")),
        count: fault.killers.len(),
        killers: fault.killers.iter().take(NAMED).map(|it| killer((&it.case, &it.formats))).collect(),
        more: fault.killers.len().saturating_sub(NAMED),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use verdict::kills::{Fault, Killer, Kills, SCHEMA};
    use verdict::record::Suite;

    #[test]
    fn the_matrix_is_drawn_by_families_of_clauses_and_topics_of_cases() {
        let fault = |id: &str, cases: &[&str]| Fault {
            name: "f".into(),
            does: "d".into(),
            breaks: vec![id.into(), "SRV-BYTES".into()],
            killers: cases.iter().map(|case| Killer { case: (*case).into(), formats: Vec::new() }).collect(),
        };
        let faults = vec![
            fault("ID-STRING", &["ids/a", "ids/b", "har/c"]),
            fault("ID-NULL", &["ids/a"]),
            fault("COR-FIRST", &[]),
        ];
        let suite = Suite::new("1", "");
        let mut kills = Kills { kills: SCHEMA, suite, cases: 3, readings: 3, faults, findings: Vec::new() };
        let drawn = super::drawn(&kills).unwrap().unwrap();
        assert!(
            drawn.contains("COR: 0 of 1 killed.") && drawn.contains("ID: 2 of 2 killed, 1 by har, 2 by ids.")
        );
        kills.faults.clear();
        assert_eq!(super::drawn(&kills).unwrap(), None);
    }

    #[test]
    fn a_kill_matrix_is_as_its_schema_says() {
        let schema: Value = serde_json::from_str(include_str!("../../kills.schema.json")).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let fault = |killers| Fault {
            name: "trims-ids".into(),
            does: "trims ids".into(),
            breaks: vec!["ID-STRING".into()],
            killers,
        };
        let killer = Killer { case: "ids/spaces".into(), formats: vec!["har".into()] };
        let suite = Suite::new("1", &format!("sha256:{:064}", 0));
        let faults = vec![fault(vec![killer]), fault(Vec::new())];
        let kills = Kills { kills: SCHEMA, suite, cases: 1, readings: 6, faults, findings: Vec::new() };
        let mut value = serde_json::to_value(&kills).unwrap();
        schema.validate(&value).unwrap();
        assert_eq!(kills.total(), "1 of 2 seeded faults killed by 6 readings of 1 cases");
        value["faults"][0]["killers"][0]["formats"] = Value::Array(Vec::new());
        assert!(!schema.is_valid(&value));
    }
}
