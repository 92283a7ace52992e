//! The page of one implementation: counts, cases, failures, clauses.

use super::counts::{self, Implementation, Reason};
use super::failure::{self, Failure};
use super::labels::{name, suite};
use super::matrix::{self, Matrix};
use super::renderer::{HtmlRenderer, PageLocation};
use super::trend::{self, Trend};
use serde::Serialize;
use verdict::record::{CaseResult, Record, Suite};

/// What a page of one implementation is made of.
pub struct Run<'r> {
    /// Its last run.
    pub record: &'r Record,
    /// All its runs in their order, the last one among them; a trend is shown where there are several.
    pub runs: &'r [&'r Record],
    /// The command that runs a line of the record alone.
    pub rerun: &'r dyn Fn(&Record, &CaseResult) -> String,
}

#[derive(Debug, Serialize)]
struct Page {
    suite: Suite,
    implementation: Implementation,
    trends: Vec<Trend>,
    matrix: Matrix,
    failures: Vec<Failure>,
    reasons: Vec<Reason>,
    clauses: Vec<counts::Clause>,
}

impl HtmlRenderer {
    /// The page of one implementation.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn run(&self, run: &Run<'_>, place: PageLocation<'_>) -> Result<String, tera::Error> {
        let record = run.record;
        let page = Page {
            suite: suite(&record.suite),
            implementation: counts::implementation(record),
            trends: trend::trend(run.runs).into_iter().collect(),
            matrix: matrix::by_format(record),
            failures: failure::failures(record, run.rerun),
            reasons: counts::reasons(record),
            clauses: counts::clauses(&[record]),
        };
        self.render("run.html", place, &format!("{} and the reading contract", name(record)), &page)
    }
}
