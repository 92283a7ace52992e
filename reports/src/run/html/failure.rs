//! Cases that an implementation fell short of, each with all that is needed to see why.
//!
//! Readings of a case that fell short alike are shown once, and so is a crash that many cases share.

use super::cases;
use super::labels::{WIDTH, anchor, cut, in_lines, named, plain, tone};
use super::text_diff::{self, Span};
use crate::session::diagram::side_by_side;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use verdict::record::{CaseNote, CaseResult, Record};
use verdict::verdict::Verdict;

/// A transcript with the lines marked that matter.
#[derive(Debug, Serialize)]
struct Transcript {
    format: String,
    /// What its reading came to.
    verdict: &'static str,
    tone: &'static str,
    lines: Vec<Span>,
}

/// The failures of a record, in its order; `rerun` is the command that runs one reading.
pub(super) fn failures(record: &Record, rerun: &dyn Fn(&Record, &CaseResult) -> String) -> Vec<Value> {
    let formats = cases::formats(&[record]);
    let by_case = record.results.chunk_by(|a, b| a.case == b.case);
    let mut shown = Shown::new();
    let short = by_case.filter_map(|lines| {
        let short: Vec<&CaseResult> = lines.iter().filter(|line| line.verdict.is_failure()).collect();
        let first = *short.first()?;
        let note = record.cases.get(&first.case);
        let coded: Vec<(usize, &CaseResult)> = short.iter().map(|line| (0, *line)).collect();
        let transcripts = note.map(|note| transcripts(note, lines)).unwrap_or_default();
        let clauses: BTreeSet<&str> =
            short.iter().flat_map(|line| &line.clauses).map(String::as_str).collect();
        let ids: Vec<&str> = clauses.iter().copied().collect();
        let readings = readings(record, &short, &transcripts, rerun, &mut shown);
        Some(json!({
            "alike": readings.iter().all(|reading| !reading["as"].is_null()),
            "id": anchor(&first.case, None),
            "case": plain(&first.case),
            "title": note.map(|note| plain(&note.title)).unwrap_or_default(),
            "reason": note.map(|note| plain(&note.reason)).unwrap_or_default(),
            "clause_ids": plain(&ids.join(" ")),
            "codes": cases::codes(&coded, 1, &formats),
            "clauses": clauses.into_iter().map(|id| clause(record, id)).collect::<Vec<_>>(),
            "readings": readings,
            "transcripts": transcripts,
        }))
    });
    short.collect()
}

fn clause(record: &Record, id: &str) -> Value {
    let title = record.clauses.get(id).map(|title| plain(title)).unwrap_or_default();
    json!({ "id": plain(id), "anchor": named("clause", id), "title": title })
}

/// Crashes that were shown, each by what all like it share: the anchor and the name of its case.
type Shown = BTreeMap<String, [String; 2]>;

/// Whether there is no answer that could be compared.
fn has_none(line: &CaseResult) -> bool {
    matches!(line.verdict, Verdict::Crash | Verdict::Timeout | Verdict::Garbled)
}

/// What readings without an answer share that fell short alike: what was said, but for numbers, since each names its own lines.
fn shared(line: &CaseResult) -> Option<String> {
    let said = [&line.message, &line.stderr].map(|text| text.as_deref().unwrap_or_default()).join("\n");
    let said: String = said.chars().filter(|char| !char.is_ascii_digit()).collect();
    has_none(line).then(|| format!("{} {said}", line.verdict.name()))
}

/// What fell short in the same way is shown once, with the formats in which it did.
fn readings(
    record: &Record,
    short: &[&CaseResult],
    transcripts: &[Transcript],
    rerun: &dyn Fn(&Record, &CaseResult) -> String,
    shown: &mut Shown,
) -> Vec<Value> {
    let mut groups: Vec<Vec<&CaseResult>> = Vec::new();
    for line in short {
        match groups.iter_mut().find(|group| alike(group[0], line)) {
            Some(group) => group.push(line),
            None => groups.push(vec![line]),
        }
    }
    let mut reading = |group: &Vec<&CaseResult>| {
        let first = group[0];
        // An error is not what an answer is compared with.
        let whole = first.whole.as_ref().filter(|_| !has_none(first));
        let key = shared(first).filter(|_| first.stderr.is_some());
        let earlier = key.as_ref().and_then(|key| shown.get(key).cloned());
        let is_new = earlier.is_none();
        if let Some(key) = key.filter(|_| is_new) {
            shown.insert(key, [anchor(&first.case, None), plain(&first.case)]);
        }
        let at = first.difference.as_ref().map(|difference| difference.at.as_str());
        json!({
            "verdict": first.verdict.name(),
            "silent_loss": first.silent_loss,
            "at": at.map(|at| if at.is_empty() { "the whole answer".to_owned() } else { plain(at) }),
            "message": first.message.as_ref().map(|message| cut(message, WIDTH)),
            "as": earlier,
            "stderr": first.stderr.as_ref().filter(|_| is_new).map(|text| in_lines(text)),
            "places": group.iter().map(|line| place(line, &rerun(record, line))).collect::<Vec<_>>(),
            "sides": whole.map(|it| text_diff::sides(&it.expected, &it.actual)).unwrap_or_default(),
            "spellings": if is_new { spellings(transcripts, &plain(&first.format)) } else { Vec::new() },
            "drawn": whole.and_then(|it| side_by_side(&it.expected, &it.actual, at.unwrap_or_default())),
        })
    };
    groups.iter().map(&mut reading).collect()
}

fn alike(one: &CaseResult, other: &CaseResult) -> bool {
    if has_none(one) && has_none(other) {
        return shared(one) == shared(other);
    }
    let at = |line: &CaseResult| line.difference.as_ref().map(|difference| difference.at.clone());
    one.verdict == other.verdict
        && one.silent_loss == other.silent_loss
        && one.message == other.message
        && one.stderr == other.stderr
        && one.whole == other.whole
        && at(one) == at(other)
}

fn place(line: &CaseResult, rerun: &str) -> Value {
    let number = line.place.as_ref().map(|place| format!(":{}", place.line)).unwrap_or_default();
    let pointer = line.place.as_ref().map(|place| plain(&place.pointer));
    json!({
        "id": anchor(&line.case, Some(&line.format)),
        "format": plain(&line.format),
        "file": line.file.as_ref().map(|file| plain(file) + &number),
        "pointer": pointer.filter(|text| !text.is_empty()),
        "rerun": plain(rerun),
    })
}

/// The session in the format that was read wrongly, and in one that was read rightly, or else in any other.
fn spellings<'t>(transcripts: &'t [Transcript], format: &str) -> Vec<&'t Transcript> {
    let (own, others): (Vec<_>, Vec<_>) = transcripts.iter().partition(|it| it.format == format);
    let right = others.iter().find(|it| it.verdict == Verdict::Pass.name()).or(others.first()).copied();
    own.into_iter().chain(right).collect()
}

fn transcripts(note: &CaseNote, lines: &[CaseResult]) -> Vec<Transcript> {
    let transcript = |(format, text): (&String, &String)| {
        let of_it = lines.iter().find(|line| line.format == *format);
        let placed = of_it.and_then(|line| line.place.as_ref()).map(|place| place.line);
        let marked: BTreeSet<u64> =
            placed.into_iter().chain(note.lines.get(format).into_iter().flatten().copied()).collect();
        let line = |(number, text): (u64, &str)| Span { text: plain(text), mark: marked.contains(&number) };
        let cut = text_diff::cut(text);
        Transcript {
            format: plain(format),
            verdict: of_it.map_or("not asked", |line| line.verdict.name()),
            tone: of_it.map_or("faint", |line| tone(line.verdict)),
            lines: (1..).zip(cut.lines()).map(line).collect(),
        }
    };
    note.transcripts.iter().map(transcript).collect()
}
