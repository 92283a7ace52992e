//! The kill matrix as a page: which case tells which faulty importer from the faithful one.
//!
//! Knows: what is shown of it. Refuses to know: how it came about, and how it is drawn; a picture of it is one more
//! field of the page.

use super::matrix::Filter;
use super::words::{named, plain};
use super::{Place, Press};
use judge::kills::{Fault, Kills};
use serde::Serialize;
use std::collections::BTreeMap;

/// So many cases that kill a fault are named; the JSON names all.
const NAMED: usize = 6;

#[derive(Debug, Serialize)]
struct Page {
    total: String,
    findings: Vec<String>,
    clauses: Vec<Clause>,
    faults: Vec<Row>,
    filter: Filter,
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

impl Press {
    /// The page of a kill matrix.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn kills(&self, kills: &Kills, place: Place<'_>) -> Result<String, tera::Error> {
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
        };
        self.print("kills.html", place, "The kill matrix", &page)
    }
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
    use judge::kills::{Fault, Killer, Kills, SCHEMA};
    use judge::record::Suite;
    use serde_json::Value;

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
