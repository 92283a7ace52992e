//! The page of one implementation: where it stands, its failures, topics, cases and clauses.

use super::cases::{self, Cases};
use super::failure::{self, Failure};
use super::heat::{CLAUSES, Column, HeatMap, TOPICS, heat_map};
use super::labels::{encoded, name, plain, suite};
use super::renderer::{HtmlRenderer, PageLocation};
use super::tally::{self, Reason, Standing};
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
    standing: Standing,
    failures: Vec<Failure>,
    topics: HeatMap,
    cases: Cases,
    /// Under a title and the name of the verdict.
    reasons: Vec<(&'static str, &'static str, Vec<Reason>)>,
    clauses: HeatMap,
    trends: Vec<Trend>,
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
        let page = Page {
            suite: suite(&record.suite),
            standing: tally::standing(record),
            failures: failure::failures(record, run.rerun),
            topics: heat_map(&[record], &TOPICS, &columns, at),
            cases: cases::by_format(record),
            reasons: tally::reasons(record),
            clauses: heat_map(&[record], &CLAUSES, &columns, at),
            trends: trend::trend(run.runs).into_iter().collect(),
        };
        self.render("run.html", place, &format!("{} and the reading contract", name(record)), &page)
    }
}
