//! The record for a terminal: a table by topic, the failures in groups with an example of each, and the totals in counts.

mod failure;
mod groups;
mod options;
mod words;

pub use failure::{failure, in_short};
pub use options::{Options, Verbosity, paint};

use crate::plain::{counted, cut, plain};
use crate::record::{CaseResult, Record};
use crate::verdict::Verdict;
use options::{WIDTH, style};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The most reasons for skips that are listed.
const REASONS: usize = 10;

/// The whole record.
pub fn render(record: &Record, options: &Options<'_>) -> String {
    let mut parts = Vec::new();
    if options.volume >= Verbosity::Loud {
        parts.push(every_line(record, options));
    }
    if options.volume >= Verbosity::Normal {
        parts.push(table(record, options));
    }
    let groups = groups::groups(record);
    parts.extend(groups::examples(record, &groups, options));
    if options.volume >= Verbosity::Normal {
        parts.push(remarks(record));
        parts.push(skips(record));
    }
    parts.push(groups::table(&groups, options));
    parts.push(totals(record, options));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// How many results of how many cases came to what, or of a recorder, how many dimensions of how many sessions.
pub fn totals(record: &Record, options: &Options<'_>) -> String {
    let counts: Vec<String> = record
        .totals
        .iter()
        .map(|(verdict, count)| {
            paint(&format!("{count} {}", verdict.name()), style(*verdict), options.colour)
        })
        .collect();
    let counts = if counts.is_empty() { "nothing was run".to_owned() } else { counts.join(", ") };
    let losses = record.results.iter().filter(|line| line.silent_loss).count();
    let redacted: usize = record.results.iter().map(|line| line.redacted).sum();
    let (trial, of) = record.counts();
    let (trials, of) = (counted(record.planned, trial), counted(record.cases.len(), of));
    let mut out = format!("{trials} of {of}: {counts}\n");
    if let Some(cut) = record.cut_short() {
        let _ = writeln!(out, "{}", paint(&cut, style(Verdict::Fail), options.colour));
    }
    if let Some(dialect) = &record.implementation.dialect {
        let _ = writeln!(out, "judged in the dialect {}", plain(dialect));
    }
    if losses > 0 {
        let _ = writeln!(out, "{}", counted(losses, "silent loss"));
    }
    let remarked = record.results.iter().filter(|line| line.remark.is_some()).count();
    if remarked > 0 {
        let _ = writeln!(
            out,
            "{} with the code of another fault; --strict-codes makes that a failure",
            counted(remarked, "rejection")
        );
    }
    if redacted > 0 {
        let _ = writeln!(
            out,
            "{} taken as equal because they are redacted (RPL-REDACT)",
            counted(redacted, "value")
        );
    }
    out
}

fn every_line(record: &Record, options: &Options<'_>) -> String {
    let mut out = String::new();
    for line in &record.results {
        let verdict = paint(&format!("{:<15}", line.verdict.name()), style(line.verdict), options.colour);
        let why = line.message.as_deref().filter(|_| line.verdict == Verdict::Skip);
        let why = why.or(line.remark.as_deref());
        let why = why.map(|why| format!("  ({})", cut(why, WIDTH))).unwrap_or_default();
        let _ = writeln!(out, "{verdict} {}/{}{why}", plain(&line.case), line.format);
    }
    out
}

/// Cases and verdicts by topic: the part of a case's name above its last part.
fn table(record: &Record, options: &Options<'_>) -> String {
    #[derive(Default)]
    struct Row<'r> {
        cases: BTreeSet<&'r str>,
        verdicts: BTreeMap<Verdict, u64>,
    }
    let mut rows: BTreeMap<&str, Row<'_>> = BTreeMap::new();
    for line in &record.results {
        let topic = line.case.rsplit_once('/').map_or("-", |(topic, _)| topic);
        let row = rows.entry(topic).or_default();
        row.cases.insert(&line.case);
        *row.verdicts.entry(line.verdict).or_default() += 1;
    }
    let topic_width = rows.keys().map(|topic| topic.chars().count()).chain([5]).max().unwrap_or_default();
    let verdicts: Vec<Verdict> =
        Verdict::ALL.into_iter().filter(|it| record.totals.contains_key(it)).collect();
    let mut out = format!("{:<topic_width$}  {:>6}", "topic", "cases");
    for verdict in &verdicts {
        let _ =
            write!(out, "  {}", paint(&format!("{:>6}", verdict.name()), style(*verdict), options.colour));
    }
    out.push('\n');
    for (topic, row) in &rows {
        let _ = write!(out, "{:<topic_width$}  {:>6}", plain(topic), row.cases.len());
        for verdict in &verdicts {
            let width = verdict.name().len().max(6);
            match row.verdicts.get(verdict) {
                Some(count) => {
                    let _ = write!(
                        out,
                        "  {}",
                        paint(&format!("{count:>width$}"), style(*verdict), options.colour)
                    );
                }
                None => {
                    let _ = write!(out, "  {:>width$}", "");
                }
            }
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
    out
}

/// What is to be said of passes.
fn remarks(record: &Record) -> String {
    let said = |line: &CaseResult| {
        Some(format!("  {}/{}: {}\n", plain(&line.case), line.format, line.remark.as_ref()?))
    };
    let all: Vec<String> = record.results.iter().filter_map(said).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut out = format!("passed, with a remark:\n{}", all[..all.len().min(REASONS)].concat());
    if all.len() > REASONS {
        let _ = writeln!(out, "  and {} more (-v lists each result)", all.len() - REASONS);
    }
    out
}

/// Why results were skipped, the most frequent reason first.
fn skips(record: &Record) -> String {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for line in record.results.iter().filter(|line| line.verdict == Verdict::Skip) {
        *reasons.entry(general(line.message.as_deref().unwrap_or("no reason was given"))).or_default() += 1;
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut reasons: Vec<(&str, u64)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let all = reasons.len();
    reasons.truncate(REASONS);
    let mut out = String::from("skipped:\n");
    for (reason, count) in &reasons {
        let _ = writeln!(out, "  {count:>5}  {}", cut(reason, WIDTH));
    }
    if reasons.len() < all {
        let _ = writeln!(
            out,
            "         and {} (-v lists each result)",
            counted((all - reasons.len()) as u64, "other reason")
        );
    }
    out
}

/// A reason without what comes after its second colon: there it tells of one case only.
fn general(reason: &str) -> &str {
    match reason.match_indices(": ").nth(1) {
        Some((end, _)) => &reason[..end],
        None => reason,
    }
}

#[cfg(test)]
mod tests;
