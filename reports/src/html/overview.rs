//! The first page of a site: every implementation beside the others, and the way to each page.

use super::counts::{self, Implementation};
use super::labels::{name, suite};
use super::matrix::{self, Matrix};
use super::renderer::{HtmlRenderer, PageLocation};
use super::trend::{self, Trend};
use serde::Serialize;
use std::collections::BTreeMap;
use verdict::record::{Record, Suite};
use verdict::verdict::Verdict;

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
    verdicts: Vec<&'static str>,
    implementations: Vec<Implementation>,
    trends: Vec<Trend>,
    matrix: Option<Matrix>,
    clauses: Vec<counts::Clause>,
}

impl HtmlRenderer {
    /// The first page of a site.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn overview(&self, overview: &Overview<'_>, place: PageLocation<'_>) -> Result<String, tera::Error> {
        let records = overview.records;
        let verdicts: Vec<Verdict> = Verdict::ALL
            .into_iter()
            .filter(|verdict| records.iter().any(|record| record.totals.contains_key(verdict)))
            .collect();
        let mut folders = overview.folders.iter();
        let implementation = |record: &&Record| {
            let mut one = counts::implementation(record);
            one.row = verdicts.iter().map(|verdict| record.totals.get(verdict).copied()).collect();
            one.href = folders.next().map(|folder| format!("{folder}/index.html"));
            one
        };
        let page = Page {
            suites: suites(records),
            implementations: records.iter().map(implementation).collect(),
            verdicts: verdicts.iter().map(|verdict| verdict.name()).collect(),
            trends: overview.runs.iter().filter_map(|runs| trend::trend(runs)).collect(),
            matrix: (!records.is_empty()).then(|| matrix::by_implementation(records, overview.folders)),
            clauses: counts::clauses(records),
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
