//! The first page of a site, with every implementation beside the others; and the page of one: where it stands, its failures,
//! topics, cases and clauses.

use super::labels::{encoded, name, plain, suite};
use super::renderer::{HtmlRenderer, PageLocation};
use super::tally::{self, CLAUSES, Column, FORMATS, TOPICS, heat_map, trend};
use super::{cases, failure};
use crate::plain::counted;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use verdict::record::{CaseResult, Record, Suite};

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
            "trends": overview.runs.iter().filter_map(|runs| trend(runs)).collect::<Value>(),
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

/// What a page of one implementation is made of.
pub struct Run<'r> {
    /// Its last run.
    pub record: &'r Record,
    /// All its runs in their order, the last one among them; a trend is shown where there are several.
    pub runs: &'r [&'r Record],
    /// The command that runs only one line of the record.
    pub rerun: &'r dyn Fn(&Record, &CaseResult) -> String,
}

impl HtmlRenderer {
    /// The page of one implementation.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn run(&self, run: &Run<'_>, place: PageLocation<'_>) -> Result<String, tera::Error> {
        let record = run.record;
        let formats = cases::formats(&[record]);
        let column = |format: &&str| Column {
            title: plain(format),
            filter: format!("#format={}&", encoded(&plain(format))),
        };
        let columns: Vec<Column> = formats.iter().map(column).collect();
        let at = |_: usize, line: &CaseResult| formats.iter().position(|format| *format == line.format);
        let standing = tally::standing(record);
        let title = format!("{}: {}", name(record), standing["headline"].as_str().unwrap_or_default());
        let failures = failure::failures(record, run.rerun);
        let alike = failures.iter().filter(|it| it["alike"] == true).count();
        let page = json!({
            "suite": suite(&record.suite),
            "standing": standing,
            "alike": (alike > 0).then(|| format!("{} without an answer, as one above", counted(alike, "more case"))),
            "failures": failures,
            "topics": heat_map(&[record], &TOPICS, &columns, at),
            "cases": cases::by_format(record),
            "reasons": tally::reasons(record),
            "clauses": heat_map(&[record], &CLAUSES, &columns, at),
            "trends": trend(run.runs).into_iter().collect::<Value>(),
        });
        self.render("run.html", place, &title, &page)
    }
}
