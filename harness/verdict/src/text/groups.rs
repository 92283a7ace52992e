//! Failures that have one cause, as far as their results show it: those of an importer by the first clause of the case, those
//! without an answer by how they broke, those of a recorder by what it did to which part.

use super::failure::with_note;
use super::options::{Options, Verbosity, paint, style};
use crate::gist::gist;
use crate::plain::{counted, plain};
use crate::record::{CaseResult, Record, Subject};
use crate::verdict::Verdict;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The most groups that have an example; the others have their line in the table.
const EXAMPLES: usize = 10;

/// The most other failures of a group that are named, and the most other clauses.
const NAMES: usize = 4;

/// Failures of one kind, in the order of the record.
pub(super) struct FailureGroup<'r> {
    kind: String,
    lines: Vec<&'r CaseResult>,
    /// The clauses that its cases name besides the one that it is named for.
    other_clauses: Vec<&'r str>,
}

/// The failures of a record, the largest group first.
pub(super) fn groups(record: &Record) -> Vec<FailureGroup<'_>> {
    let mut groups: Vec<FailureGroup<'_>> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for line in record.results.iter().filter(|line| line.verdict.is_failure()) {
        let kind = kind(record, line);
        let at = *known.entry(kind.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push(FailureGroup { kind, lines: Vec::new(), other_clauses: Vec::new() });
        }
        let group = &mut groups[at];
        group.lines.push(line);
        if (line.verdict, record.subject) == (Verdict::Fail, Subject::Importer) {
            for id in line.clauses.iter().skip(1).map(String::as_str) {
                if !group.other_clauses.contains(&id) {
                    group.other_clauses.push(id);
                }
            }
        }
    }
    groups.sort_by_key(|group| Reverse(group.lines.len()));
    groups
}

fn kind(record: &Record, line: &CaseResult) -> String {
    let verdict = line.verdict.name();
    let at = line.difference.as_ref().map(|difference| gist(&difference.at));
    match (line.verdict, record.subject) {
        (Verdict::Fail, Subject::Recorder) => format!("{}, {}", line.format, at.unwrap_or_default()),
        (Verdict::Fail, Subject::Importer) => match (line.clauses.first(), at) {
            (Some(id), _) => match record.clauses.get(id) {
                Some(title) => format!("{id}: {title}"),
                None => id.clone(),
            },
            (None, Some(at)) => format!("{verdict} at {at}"),
            (None, None) => verdict.to_owned(),
        },
        (Verdict::Crash | Verdict::Garbled, _) => match &line.message {
            Some(message) => format!("{verdict}: {}", gist(message)),
            None => verdict.to_owned(),
        },
        _ => verdict.to_owned(),
    }
}

/// An example of each of the largest groups, or everything.
pub(super) fn examples(record: &Record, groups: &[FailureGroup<'_>], options: &Options<'_>) -> Vec<String> {
    if options.volume >= Verbosity::Loud {
        let all = groups.iter().flat_map(|group| &group.lines);
        return all.map(|line| with_note(record, line, None, options)).collect();
    }
    let example =
        |group: &FailureGroup<'_>| with_note(record, group.lines[0], others(&group.lines[1..]), options);
    groups.iter().take(EXAMPLES).map(example).collect()
}

/// How many more there are, and the names of a few.
fn others(lines: &[&CaseResult]) -> Option<String> {
    let named: Vec<String> =
        lines.iter().take(NAMES).map(|line| plain(&format!("{}/{}", line.case, line.format))).collect();
    let more = if lines.len() > named.len() { ", …" } else { "" };
    (!lines.is_empty())
        .then(|| format!("and {} more like this (-v shows them): {}{more}", lines.len(), named.join(", ")))
}

/// How many failures each group has, where there are several.
pub(super) fn table(groups: &[FailureGroup<'_>], options: &Options<'_>) -> String {
    if groups.len() < 2 {
        return String::new();
    }
    let all: usize = groups.iter().map(|group| group.lines.len()).sum();
    let mut out = format!("{} in {} groups:\n", counted(all, "failure"), groups.len());
    for (index, group) in groups.iter().enumerate() {
        let first = group.lines[0];
        let count = paint(&format!("{:>5}", group.lines.len()), style(first.verdict), options.colour);
        let unseen = index >= EXAMPLES && options.volume < Verbosity::Loud;
        let such = match unseen {
            true => format!(" (such as {}/{})", plain(&first.case), plain(&first.format)),
            false => String::new(),
        };
        let named = &group.other_clauses[..group.other_clauses.len().min(NAMES)];
        let more = if group.other_clauses.len() > NAMES { ", …" } else { "" };
        let also = match named {
            [] => String::new(),
            named => format!(", also {}{more}", plain(&named.join(", "))),
        };
        let _ = writeln!(out, "  {count}  {}{also}{such}", plain(&group.kind));
    }
    out
}
