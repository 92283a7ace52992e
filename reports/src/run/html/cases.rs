//! The list of cases: what each came to, and where; and the short code by which the page's script filters them.

use super::labels::{anchor, code, name, plain, tone, topic};
use super::tally::{Tally, folded};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use verdict::record::{CaseResult, Record};
use verdict::verdict::Verdict;

/// What the form above a list offers.
#[derive(Debug, Default, Serialize)]
pub(super) struct Filter {
    /// What is filtered, in the plural.
    pub(super) what: &'static str,
    pub(super) topics: BTreeSet<String>,
    pub(super) clauses: BTreeSet<String>,
    /// Verdicts, and several under one name, each with the digits that stand for them.
    pub(super) verdicts: Vec<(&'static str, String)>,
    pub(super) formats: Vec<String>,
    pub(super) implementations: Vec<String>,
}

/// Formats, or implementations with how many of its results those are; each with the failure it leads to.
type Links = Vec<(String, Option<String>)>;

/// One implementation: what each case came to in which formats.
pub(super) fn by_format(record: &Record) -> Value {
    let format = |line: &&CaseResult| (plain(&line.format), failure(line, ""));
    cases(&[record], |_, came, _| came.iter().map(format).collect())
}

/// Several: what each case came to in which implementations, whose failures are in their own folders.
pub(super) fn by_implementation(records: &[&Record], folders: &[String]) -> Value {
    let pages = records.iter().zip(folders);
    let pages: Vec<_> =
        pages.map(|(record, folder)| (name(record), format!("{folder}/index.html"))).collect();
    cases(records, |index, came, all| {
        let count = if all > 1 { format!(" {}/{all}", came.len()) } else { String::new() };
        let link = |(name, page): &(String, String)| {
            (format!("{name}{count}"), came.first().and_then(|line| failure(line, page)))
        };
        pages.get(index).map(link).into_iter().collect()
    })
}

/// Where the failure of a result is shown.
fn failure(line: &CaseResult, page: &str) -> Option<String> {
    line.verdict.is_failure().then(|| format!("{page}#{}", anchor(&line.case, Some(&line.format))))
}

/// The cases of records, in a table for each topic: a browser lays out those that are in view, however many there are.
/// `links` names the results of one implementation that came to one verdict, and gets how many results it has in all.
fn cases(records: &[&Record], links: impl Fn(usize, &[&CaseResult], usize) -> Links) -> Value {
    let formats = formats(records);
    let mut found: BTreeMap<&str, Vec<(usize, &CaseResult)>> = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        for line in &record.results {
            found.entry(&line.case).or_default().push((index, line));
        }
    }
    let row = |case: &str, lines: &[(usize, &CaseResult)]| {
        let group = |verdict: Verdict| {
            let of_one = |lines: &[(usize, &CaseResult)]| {
                let came = lines.iter().map(|(_, line)| *line).filter(|line| line.verdict == verdict);
                let came: Vec<&CaseResult> = came.collect();
                (!came.is_empty()).then(|| links(lines[0].0, &came, lines.len()))
            };
            let places: Links = lines.chunk_by(|a, b| a.0 == b.0).filter_map(of_one).flatten().collect();
            let lost = lines.iter().any(|(_, line)| line.verdict == verdict && line.silent_loss);
            let tone = tone(verdict);
            let group = json!({ "verdict": verdict.name(), "tone": tone, "lost": lost, "places": places });
            (!places.is_empty()).then_some(group)
        };
        let clauses: BTreeSet<&str> =
            lines.iter().flat_map(|(_, line)| &line.clauses).map(String::as_str).collect();
        let note = records.iter().find_map(|record| record.cases.get(case));
        json!({
            "case": plain(case),
            "title": note.map(|note| plain(&note.title)).unwrap_or_default(),
            "clauses": plain(&clauses.into_iter().collect::<Vec<_>>().join(" ")),
            "codes": codes(lines, records.len(), &formats),
            "groups": worst_first().filter_map(group).collect::<Vec<_>>(),
        })
    };
    let mut topics: BTreeMap<String, Vec<(Tally, Value)>> = BTreeMap::new();
    for (case, lines) in &found {
        let tally = Tally::new(lines.iter().map(|(_, line)| *line));
        topics.entry(topic(case)).or_default().push((tally, row(case, lines)));
    }
    let names = records.iter().filter(|_| records.len() > 1).map(|record| name(record));
    let filter = Filter {
        what: "cases",
        topics: topics.keys().cloned().collect(),
        clauses: records.iter().flat_map(|record| record.clauses.keys()).map(|id| plain(id)).collect(),
        verdicts: choices(records),
        formats: formats.iter().map(|format| plain(format)).collect(),
        implementations: names.collect(),
    };
    let topics = topics.into_iter().map(|(name, rows)| {
        let mut topic = folded(rows);
        topic["name"] = name.into();
        topic
    });
    json!({ "filter": filter, "topics": topics.collect::<Vec<_>>() })
}

/// Failures, then known ones, then what passed, then what was skipped.
fn worst_first() -> impl Iterator<Item = Verdict> {
    let failures = Verdict::ALL.into_iter().filter(|verdict| verdict.is_failure());
    failures.chain([Verdict::ExpectedFail, Verdict::Pass, Verdict::Skip])
}

fn choices(records: &[&Record]) -> Vec<(&'static str, String)> {
    let there = |verdict: &Verdict| records.iter().any(|record| record.totals.contains_key(verdict));
    let there: Vec<Verdict> = Verdict::ALL.into_iter().filter(there).collect();
    let short: String = there.iter().filter(|verdict| verdict.is_failure()).map(|one| code(*one)).collect();
    let failing = (!short.is_empty()).then_some(("failing", short));
    let each = there.iter().map(|verdict| (verdict.name(), code(*verdict).to_string()));
    failing.into_iter().chain(each).collect()
}

/// A digit for each implementation and format, `-` where nothing was asked.
pub(super) fn codes(lines: &[(usize, &CaseResult)], implementations: usize, formats: &[&str]) -> String {
    let mut codes = vec!['-'; implementations * formats.len()];
    for (index, line) in lines {
        let format = formats.iter().position(|format| *format == line.format);
        if let Some(code) = format.and_then(|format| codes.get_mut(index * formats.len() + format)) {
            *code = self::code(line.verdict);
        }
    }
    codes.into_iter().collect()
}

/// The formats that were asked for, in the order of their first results.
pub(super) fn formats<'r>(records: &[&'r Record]) -> Vec<&'r str> {
    let mut formats: Vec<&str> = Vec::new();
    for line in records.iter().flat_map(|record| &record.results) {
        if !formats.contains(&line.format.as_str()) {
            formats.push(&line.format);
        }
    }
    formats
}
