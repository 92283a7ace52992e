//! The first page of a site: every implementation beside the others, and the way to each page.

use super::heat::{CLAUSES, Column, FORMATS, TOPICS, heat_map};
use super::labels::{name, suite};
use super::renderer::{HtmlRenderer, PageLocation};
use super::{cases, tally, trend};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use verdict::record::{Record, Suite};

/// What the first page is made of.
pub struct Overview<'o> {
    /// The last run of each implementation; none where a site is about other things.
    pub records: &'o [&'o Record],
    /// The folder of each, from the site's folder.
    pub folders: &'o [String],
    /// All runs of each implementation of a name, in their order.
    pub runs: &'o [Vec<&'o Record>],
}

impl HtmlRenderer {
    /// The first page of a site. Implementations that fail come first.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn overview(&self, overview: &Overview<'_>, place: PageLocation<'_>) -> Result<String, tera::Error> {
        let records = overview.records;
        let pages = overview.folders.iter().map(|folder| format!("{folder}/index.html"));
        let pages: Vec<(&&Record, String)> = records.iter().zip(pages).collect();
        let standing = |(record, href): &(&&Record, String)| {
            let mut standing = tally::standing(record);
            standing["href"] = href.as_str().into();
            standing
        };
        let mut standings: Vec<Value> = pages.iter().map(standing).collect();
        standings.sort_by_key(|one| {
            ["bad", "known", "faint"].iter().position(|tone| one["tone"] == *tone).unwrap_or(3)
        });
        let column =
            |(record, href): &(&&Record, String)| Column { title: name(record), filter: format!("{href}#") };
        let columns: Vec<Column> = pages.iter().map(column).collect();
        let map = |rows| heat_map(records, rows, &columns, |index, _| Some(index));
        let page = json!({
            "suites": suites(records),
            "standings": standings,
            "formats": map(&FORMATS),
            "topics": map(&TOPICS),
            "cases": cases::by_implementation(records, overview.folders),
            "clauses": map(&CLAUSES),
            "trends": overview.runs.iter().filter_map(|runs| trend::trend(runs)).collect::<Value>(),
        });
        let title = match records.len() {
            0 => "Recordings and the reading contract".to_owned(),
            count => format!("{count} implementations and the reading contract"),
        };
        self.render("overview.html", place, &title, &page)
    }
}

/// The suites, each with the implementations that were run on it: results of different suites are not the same promise.
fn suites(records: &[&Record]) -> Vec<(Suite, Vec<String>)> {
    let mut suites: BTreeMap<(&str, &str, &str), (Suite, Vec<String>)> = BTreeMap::new();
    for record in records {
        let Suite { version, digest, contract, .. } = &record.suite;
        let key = (version.as_str(), digest.as_str(), contract.as_str());
        suites.entry(key).or_insert_with(|| (suite(&record.suite), Vec::new())).1.push(name(record));
    }
    suites.into_values().collect()
}
