//! The first page of a site: every implementation beside the others, and the way to each page.

use super::cases::{self, Cases};
use super::heat::{CLAUSES, Column, FORMATS, HeatMap, TOPICS, heat_map};
use super::labels::{name, suite};
use super::renderer::{HtmlRenderer, PageLocation};
use super::tally::{self, Standing};
use super::trend::{self, Trend};
use serde::Serialize;
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

#[derive(Debug, Serialize)]
struct Page {
    /// The suites, with the implementations that were run on each.
    suites: Vec<(Suite, Vec<String>)>,
    /// Those that fail first.
    standings: Vec<Standing>,
    formats: HeatMap,
    topics: HeatMap,
    cases: Cases,
    clauses: HeatMap,
    trends: Vec<Trend>,
}

impl HtmlRenderer {
    /// The first page of a site.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn overview(&self, overview: &Overview<'_>, place: PageLocation<'_>) -> Result<String, tera::Error> {
        let records = overview.records;
        let page = |(record, folder): (&&Record, &String)| (name(record), format!("{folder}/index.html"));
        let pages: Vec<(String, String)> = records.iter().zip(overview.folders).map(page).collect();
        let standing = |(record, (_, href)): (&&Record, &(String, String))| {
            let mut standing = tally::standing(record);
            standing.href = Some(href.clone());
            standing
        };
        let mut standings: Vec<Standing> = records.iter().zip(&pages).map(standing).collect();
        standings.sort_by_key(|one| {
            ["bad", "known", "faint"].iter().position(|tone| *tone == one.tone).unwrap_or(3)
        });
        let column =
            |(name, href): &(String, String)| Column { title: name.clone(), filter: format!("{href}#") };
        let columns: Vec<Column> = pages.iter().map(column).collect();
        let map = |rows| heat_map(records, rows, &columns, |index, _| Some(index));
        let page = Page {
            suites: suites(records),
            standings,
            formats: map(&FORMATS),
            topics: map(&TOPICS),
            cases: cases::by_implementation(records, overview.folders),
            clauses: map(&CLAUSES),
            trends: overview.runs.iter().filter_map(|runs| trend::trend(runs)).collect(),
        };
        let title = match records.len() {
            0 => "Recordings and the reading contract".to_owned(),
            count => format!("{count} implementations and the reading contract"),
        };
        self.render("overview.html", place, &title, &page)
    }
}

/// Results of different suites are not the same promise, so it is said which is whose.
fn suites(records: &[&Record]) -> Vec<(Suite, Vec<String>)> {
    let mut suites: BTreeMap<(&str, &str, &str), (Suite, Vec<String>)> = BTreeMap::new();
    for record in records {
        let Suite { version, digest, contract, .. } = &record.suite;
        let key = (version.as_str(), digest.as_str(), contract.as_str());
        suites.entry(key).or_insert_with(|| (suite(&record.suite), Vec::new())).1.push(name(record));
    }
    suites.into_values().collect()
}
