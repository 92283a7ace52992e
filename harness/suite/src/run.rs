//! A run: a plan of readings, asked on several threads and judged in the order of the plan.
//!
//! The record does not depend on how many threads there were. Where in a transcript the message is that an answer got wrong, the
//! built-in reader tells.

mod plan;
pub use plan::{PlannedCase, PlannedRead, Selection, Shard, Skip, plan, readings};
pub use verdict::supervision::Supervision;

use crate::importer::{Importer, ReadPair, STACK};
use crate::suite::{Case, Transcript};
use formats::{Format, Input, ReadError, ReadOptions, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::{Duration, Instant};
use transcript::meaning::EventKind;
use transcript::session::Content;
use verdict::answer::Answer;
use verdict::consistency::{self, FormatAnswer};
use verdict::expectation::Expectation;
use verdict::record::{self, CaseNote, CaseResult, Implementation, Place, Record, kept};
use verdict::verdict::{Question, Verdict, unseen};

/// Asks for every reading of the plan, on `jobs` threads, and records the results.
///
/// # Errors
/// Where a transcript cannot be read from disk any more, or no thread can be had.
pub fn run(
    plan: &[PlannedCase<'_>],
    importer: &dyn Importer,
    jobs: usize,
    suite: record::Suite,
) -> io::Result<Record> {
    supervised(plan, importer, jobs, suite, &Supervision::default())
}

/// The same, where it may end before its end: the record says how much of the plan has no verdict.
///
/// # Errors
/// Where a transcript cannot be read from disk any more, or no thread can be had.
pub fn supervised(
    plan: &[PlannedCase<'_>],
    importer: &dyn Importer,
    jobs: usize,
    suite: record::Suite,
    supervision: &Supervision<'_>,
) -> io::Result<Record> {
    let ran = supervision.run(plan, jobs, STACK, |planned| judge_case(planned, importer))?;
    let mut lines = Vec::new();
    let mut cases = BTreeMap::new();
    let mut left = 0;
    for (planned, judged) in plan.iter().zip(ran.judged) {
        match judged {
            Some(judged) => {
                lines.extend(judged);
                cases.insert(planned.case.name.clone(), planned.case.note());
            }
            None => left += planned.readings.len(),
        }
    }
    let readings: usize = plan.iter().map(|planned| planned.readings.len()).sum();
    if lines.len() + left != readings {
        let message = format!("{readings} readings were planned, but {} have a verdict", lines.len());
        return Err(io::Error::other(message));
    }
    let mut short: BTreeMap<&str, Vec<&CaseResult>> = BTreeMap::new();
    for line in lines.iter().filter(|line| line.verdict.is_failure()) {
        short.entry(&line.case).or_default().push(line);
    }
    for PlannedCase { case, .. } in plan {
        if let Some(failed) = short.get(case.name.as_str()) {
            cases.insert(case.name.clone(), shown(case, failed)?);
        }
    }
    let record = Record::new(suite, implementation(importer), cases, lines);
    Ok(Record { interrupted: left as u64, max_failures: ran.max_failures, ..record })
}

/// An importer as records name it.
pub fn implementation(importer: &dyn Importer) -> Implementation {
    Implementation::new(importer.name(), importer.version(), importer.level()).in_dialect(importer.dialect())
}

/// What a record says of a case that an importer fell short of: its transcripts too, and the lines of what it got wrong
/// in any of them.
pub(crate) fn shown(case: &Case, failed: &[&CaseResult]) -> io::Result<CaseNote> {
    let mut note = case.note();
    let differences: BTreeSet<&str> =
        failed.iter().filter_map(|line| Some(line.difference.as_ref()?.at.as_str())).collect();
    for Transcript { format, blob } in &case.transcripts {
        let bytes = blob.bytes()?;
        note.transcripts.insert(format.name.to_owned(), kept(&String::from_utf8_lossy(&bytes)));
        let places = differences.iter().filter_map(|at| place_of(at, format, &bytes));
        let lines: BTreeSet<u64> = places.map(|place| place.line).collect();
        if !lines.is_empty() {
            note.lines.insert(format.name.to_owned(), lines.into_iter().collect());
        }
    }
    Ok(note)
}

/// Judges the selected readings of one case, each by itself and, where the clause is open, by the others.
///
/// # Errors
/// Where a transcript cannot be read from disk.
pub fn judge_case(planned: &PlannedCase<'_>, importer: &dyn Importer) -> io::Result<Vec<CaseResult>> {
    let case = planned.case;
    let mut answered = Vec::new();
    for reading in &planned.readings {
        let heard = match reading.what {
            Ok(transcript) => ask(importer, case, reading.format, &transcript.blob.bytes()?),
            Err(skip) => {
                let answer = Answer::Unsupported { why: skip.why(importer.name(), reading.format) };
                TimedAnswer { answer, said: String::new(), bytes: None, took: None }
            }
        };
        answered.push((reading, question(case, reading.format, importer), heard));
    }
    let asked: Vec<FormatAnswer<'_>> = answered
        .iter()
        .map(|(reading, question, heard)| FormatAnswer {
            format: reading.format.name,
            question: *question,
            answer: &heard.answer,
        })
        .collect();
    let consistent = match case.expectation {
        Expectation::Either(_) if case.identified.is_none() => consistency::judge(&asked),
        _ => vec![None; asked.len()],
    };
    let mut lines = Vec::new();
    for ((reading, question, heard), other) in answered.iter().zip(consistent) {
        let mut judgement = case.judge(question, &heard.answer);
        if importer.strict_codes() {
            judgement = judgement.strictly();
        }
        if judgement.verdict == Verdict::Pass {
            judgement = other.or_else(|| unseen(question, &heard.answer)).unwrap_or(judgement);
        }
        let mut line = CaseResult::new(&case.name, reading.format.name, &case.clauses, judgement);
        if let Ok(transcript) = reading.what {
            line.file = Some(format!("{}/{}", case.name, reading.format.file));
            (line.bytes, line.took) = (heard.bytes, heard.took);
            if line.verdict.is_failure() {
                let at = line.difference.as_ref().map(|difference| difference.at.as_str());
                line.place = place_of(at.unwrap_or_default(), reading.format, &transcript.blob.bytes()?);
                line.stderr = Some(heard.said.clone()).filter(|said| !said.is_empty());
                line.whole = Some(case.sides(importer.level(), &heard.answer));
            }
        }
        lines.push(line);
    }
    Ok(lines)
}

/// What came of one reading.
struct TimedAnswer {
    answer: Answer,
    said: String,
    bytes: Option<u64>,
    took: Option<Duration>,
}

fn ask(importer: &dyn Importer, case: &Case, format: &'static Format, transcript: &[u8]) -> TimedAnswer {
    let start = Instant::now();
    let ReadPair { answers: [first, second], said } = match case.identified {
        Some(_) => importer.identify_twice(transcript),
        None => importer.read_twice(format.into(), transcript),
    };
    let (took, bytes) = (Some(start.elapsed()), Some(transcript.len() as u64));
    TimedAnswer { answer: first.confirmed_by(&second), said, bytes, took }
}

fn question<'c>(case: &'c Case, format: &Format, importer: &dyn Importer) -> Question<'c> {
    Question {
        level: importer.level(),
        challenge: format.carries.challenge,
        redacted: case.redacted.as_deref(),
    }
}

/// The place of what `at` points at: the event of `/events/3/id`, the call of `/calls/0/outcome`, the first answer with a
/// challenge, the fault of a transcript that should have been rejected; and the first line of one that should not.
pub(crate) fn place_of(at: &str, format: &Format, transcript: &[u8]) -> Option<Place> {
    let mut parts = at.split('/').skip(1);
    let list = parts.next()?;
    let wanted: Option<usize> = parts.next().and_then(|wanted| wanted.parse().ok());
    let (mut found, mut count) = (None, 0);
    let mut reader = transcript;
    let mut input = Input::new(&mut reader).ok()?;
    let walked = formats::walk(format, &mut input, ReadOptions::default(), &mut |step| {
        let (Step::Event(entry, _) | Step::Context(entry)) = &step;
        let asked = entry.context.is_some_and(|it| it.status == Some(401))
            || matches!(&entry.content, Content::Exchange(exchange) if exchange.status == Some(401));
        if list == "authorization_discovery" && asked && found.is_none() {
            found = Some(Place { line: entry.location.line, pointer: entry.location.pointer() });
        }
        if let Step::Event(_, event) = step
            && (list == "events" || list == "calls" && event.kind == EventKind::ToolCall)
        {
            if Some(count) == wanted {
                found = Some(Place { line: event.location.line, pointer: event.location.pointer() });
            }
            count += 1;
        }
        Ok(())
    });
    match (list, walked) {
        ("events" | "calls" | "authorization_discovery", _) => found,
        ("rejection", Err(ReadError::Rejected(rejection))) => {
            Some(Place { line: rejection.position.line, pointer: rejection.position.pointer.clone() })
        }
        ("rejection", Ok(_)) => Some(Place { line: 1, pointer: String::new() }),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
