//! The page of one implementation: counts, cases, failures, clauses.
//!
//! Knows: what stands on it. Refuses to know: markup, and what became of other implementations.

use super::count::{self, Implementation, Reason};
use super::failure::{self, Failure};
use super::matrix::{self, Matrix};
use super::trend::{self, Trend};
use super::words::{name, suite};
use super::{Place, Press};
use serde::Serialize;
use verdict::record::{CaseResult, Record, Suite};

/// What a page of one implementation is made of.
pub struct Run<'r> {
    /// Its last run.
    pub record: &'r Record,
    /// All its runs in their order, the last one among them; a trend is shown where there are several.
    pub runs: &'r [&'r Record],
    /// The command that runs a line of the record alone.
    pub alone: &'r dyn Fn(&Record, &CaseResult) -> String,
}

#[derive(Debug, Serialize)]
struct Page {
    suite: Suite,
    implementation: Implementation,
    trends: Vec<Trend>,
    matrix: Matrix,
    failures: Vec<Failure>,
    reasons: Vec<Reason>,
    clauses: Vec<count::Clause>,
}

impl Press {
    /// The page of one implementation.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn run(&self, run: &Run<'_>, place: Place<'_>) -> Result<String, tera::Error> {
        let record = run.record;
        let page = Page {
            suite: suite(&record.suite),
            implementation: count::implementation(record),
            trends: trend::trend(run.runs).into_iter().collect(),
            matrix: matrix::by_format(record),
            failures: failure::failures(record, run.alone),
            reasons: count::reasons(record),
            clauses: count::clauses(&[record]),
        };
        self.print("run.html", place, &format!("{} and the reading contract", name(record)), &page)
    }
}
