//! The page of one implementation: where it stands, its failures, topics, cases and clauses.

use super::heat::{CLAUSES, Column, TOPICS, heat_map};
use super::labels::{encoded, name, plain, suite};
use super::renderer::{HtmlRenderer, PageLocation};
use super::{cases, failure, tally, trend};
use crate::plain::counted;
use serde_json::{Value, json};
use verdict::record::{CaseResult, Record};

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
            "trends": trend::trend(run.runs).into_iter().collect::<Value>(),
        });
        self.render("run.html", place, &title, &page)
    }
}
