//! The kill matrix as a page: which case tells which mutant from the original reader.

use super::cases::Filter;
use super::labels::{named, plain};
use super::renderer::{HtmlRenderer, PageLocation};
use crate::diagram::{self, KillMatrixRow, SvgOptions};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use verdict::kills::{Kills, Mutant};

/// So many cases that kill a mutant are named; the JSON names all.
const NAMED: usize = 6;

#[derive(Debug, Serialize)]
struct Page {
    total: String,
    findings: Vec<String>,
    clauses: Vec<Clause>,
    mutants: Vec<Row>,
    filter: Filter,
    /// The matrix as a picture.
    drawn: Option<String>,
}

#[derive(Debug, Serialize)]
struct Clause {
    id: String,
    href: String,
    killed: usize,
    mutants: usize,
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
        for mutant in &kills.mutants {
            for id in &mutant.breaks {
                let count = clauses.entry(id).or_default();
                count.0 += usize::from(!mutant.killers.is_empty());
                count.1 += 1;
            }
        }
        let clause = |(id, (killed, mutants)): (&&str, &(usize, usize))| Clause {
            id: plain(id),
            href: format!("clauses.html#{}", named("clause", id)),
            killed: *killed,
            mutants: *mutants,
        };
        let page = Page {
            total: kills.total(),
            findings: kills.findings.iter().map(|finding| plain(finding)).collect(),
            filter: Filter {
                what: "mutants",
                clauses: clauses.keys().map(|id| plain(id)).collect(),
                ..Filter::default()
            },
            clauses: clauses.iter().map(clause).collect(),
            mutants: kills.mutants.iter().map(row).collect(),
            drawn: drawn(kills),
        };
        self.render("kills.html", place, "The kill matrix", &page)
    }
}

/// Which topics of the suite kill how many mutants of each family of clauses; nothing where there is no mutant. A mutant
/// stands with the first clause that it breaks.
fn drawn(kills: &Kills) -> Option<String> {
    let topic = |case: &str| case.split('/').next().unwrap_or_default().to_owned();
    let killers = || kills.mutants.iter().flat_map(|mutant| &mutant.killers);
    let columns: Vec<String> =
        killers().map(|killer| topic(&killer.case)).collect::<BTreeSet<_>>().into_iter().collect();
    let mut rows: BTreeMap<&str, KillMatrixRow> = BTreeMap::new();
    for mutant in &kills.mutants {
        let family = mutant.breaks.first().and_then(|id| id.split('-').next()).unwrap_or_default();
        let row = rows.entry(family).or_insert_with(|| KillMatrixRow {
            name: family.to_owned(),
            cells: vec![0; columns.len()],
            ..KillMatrixRow::default()
        });
        row.mutants += 1;
        row.killed += u64::from(!mutant.killers.is_empty());
        let topics: BTreeSet<String> = mutant.killers.iter().map(|killer| topic(&killer.case)).collect();
        for (cell, column) in row.cells.iter_mut().zip(&columns) {
            *cell += u64::from(topics.contains(column));
        }
    }
    let matrix = diagram::KillMatrix {
        title: "Mutants killed".to_owned(),
        row_word: "families of the clauses that are broken".to_owned(),
        column_word: "topics of the cases that kill".to_owned(),
        columns,
        rows: rows.into_values().collect(),
    };
    let look = SvgOptions { standalone: false, ..SvgOptions::default() };
    (!kills.mutants.is_empty()).then(|| diagram::kill_matrix(&matrix, look))
}

fn row(mutant: &Mutant) -> Row {
    let killer = |(case, formats): (&String, &Vec<String>)| (plain(case), plain(&formats.join(", ")));
    Row {
        name: plain(&mutant.name),
        does: plain(&mutant.does),
        breaks: plain(&mutant.breaks.join(" ")),
        count: mutant.killers.len(),
        killers: mutant.killers.iter().take(NAMED).map(|it| killer((&it.case, &it.formats))).collect(),
        more: mutant.killers.len().saturating_sub(NAMED),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use verdict::kills::{Killer, Kills, Mutant, SCHEMA};
    use verdict::record::Suite;

    #[test]
    fn the_matrix_is_drawn_by_families_of_clauses_and_topics_of_cases() {
        let mutant = |id: &str, cases: &[&str]| Mutant {
            name: "f".into(),
            does: "d".into(),
            breaks: vec![id.into(), "SRV-BYTES".into()],
            killers: cases.iter().map(|case| Killer { case: (*case).into(), formats: Vec::new() }).collect(),
        };
        let mutants = vec![
            mutant("ID-STRING", &["ids/a", "ids/b", "har/c"]),
            mutant("ID-NULL", &["ids/a"]),
            mutant("COR-FIRST", &[]),
        ];
        let suite = Suite::new("1", "");
        let mut kills = Kills { kills: SCHEMA, suite, cases: 3, readings: 3, mutants, findings: Vec::new() };
        let drawn = super::drawn(&kills).unwrap();
        assert!(
            drawn.contains("COR: 0 of 1 killed.") && drawn.contains("ID: 2 of 2 killed, 1 by har, 2 by ids.")
        );
        kills.mutants.clear();
        assert_eq!(super::drawn(&kills), None);
    }

    #[test]
    fn a_kill_matrix_is_as_its_schema_says() {
        let schema: Value = serde_json::from_str(include_str!("../../kills.schema.json")).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let mutant = |killers| Mutant {
            name: "trims-ids".into(),
            does: "trims ids".into(),
            breaks: vec!["ID-STRING".into()],
            killers,
        };
        let killer = Killer { case: "ids/spaces".into(), formats: vec!["har".into()] };
        let suite = Suite::new("1", &format!("sha256:{:064}", 0));
        let mutants = vec![mutant(vec![killer]), mutant(Vec::new())];
        let kills = Kills { kills: SCHEMA, suite, cases: 1, readings: 6, mutants, findings: Vec::new() };
        let mut value = serde_json::to_value(&kills).unwrap();
        schema.validate(&value).unwrap();
        assert_eq!(kills.total(), "1 of 2 mutants killed by 6 results of 1 cases");
        value["faults"][0]["killers"][0]["formats"] = Value::Array(Vec::new());
        assert!(!schema.is_valid(&value));
    }
}
