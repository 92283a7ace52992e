//! What the judge promises of any recording: it comes to an end, to the same however the bytes arrive and the work is
//! shared, and it is not silent about what the reader rejects.

use crate::edits::{Edit, edited};
use arbitrary::{Arbitrary, Unstructured};
use formats::{FORMATS, Format, Input, ReadError, ReadOptions, walk};
use generators::fuzzing::{ChunkedReader, carriers, written};
use generators::session::{KnownSession, Plan};
use rules::{CheckOptions, CheckResult, Finding, FindingLocation, Parallelism, check};
use std::io::Read;
use transcript::rejection::Position;

/// A session that is made, and damage to each transcript of it.
#[derive(Debug, Arbitrary)]
struct Broken {
    plan: Plan,
    edits: Vec<Edit>,
}

/// The judge of the format that the first byte chooses, over the other bytes.
///
/// # Panics
/// Where it does not keep its promises.
pub(crate) fn any(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    holds(FORMATS[usize::from(choice) % FORMATS.len()], bytes);
}

/// A session that is made from the bytes, in every format that can carry it, with some damage.
///
/// # Panics
/// Where the judge does not keep its promises.
pub(crate) fn made(bytes: &[u8]) {
    let Ok(Broken { plan, edits }) = Broken::arbitrary_take_rest(Unstructured::new(bytes)) else { return };
    let Ok(session) = KnownSession::new(plan).session() else { return };
    for format in carriers(&session) {
        holds(format, &edited(written(&session, format), &edits));
    }
}

fn holds(format: &Format, bytes: &[u8]) {
    let one = CheckOptions { parallelism: Some(Parallelism::NONE), ..CheckOptions::default() };
    let two = Parallelism { batch_bytes: 1 + bytes.len() / 3, ..Parallelism::with_workers(2) };
    let several = CheckOptions { parallelism: Some(two), ..CheckOptions::default() };
    let all = CheckOptions { dispatch_all: true, ..one.clone() };
    let Some(whole) = judged(format, &mut { bytes }, &one) else { return };
    let expected = summary(&whole);
    let size = 1 + bytes.len() % 7;
    for (options, size, how) in [
        (&one, size, "in pieces"),
        (&several, bytes.len(), "by several judges"),
        (&all, bytes.len(), "where every rule sees everything"),
    ] {
        let again = judged(format, &mut ChunkedReader::new(bytes, size), options);
        let found = again.as_ref().map(summary).unwrap_or_default();
        let other: Vec<_> = expected.iter().zip(&found).filter(|(one, two)| one != two).collect();
        assert!(found.len() == expected.len() && other.is_empty(), "{}, {how}: {other:#?}", format.name);
    }
    if let Some(place) = rejected(format, bytes) {
        assert!(finds(&whole, &place), "{} is rejected at {place:?}, and `check` finds nothing", format.name);
    }
}

/// The judge's result; none where there is nothing that a reader could begin with.
fn judged(format: &Format, reader: &mut dyn Read, options: &CheckOptions) -> Option<CheckResult> {
    let mut input = Input::new(reader).ok()?;
    match check(format, &mut input, options) {
        Ok(result) => Some(result),
        Err(error) => panic!("bytes in memory can be read: {error}"),
    }
}

/// What may not depend on how the bytes arrive: everything but the part of the text that a person is shown, which is what
/// had been read by then.
fn summary(result: &CheckResult) -> Vec<String> {
    let outcomes = result.outcomes.iter().map(|outcome| {
        let findings: Vec<_> = outcome.findings.iter().map(finding).collect();
        let (held, broken) = (outcome.held, outcome.broken);
        format!(
            "{}: {:?}, held {held}, broken {broken} {:?}, {findings:?}, {:?}",
            outcome.rule.id, outcome.verdict, outcome.counts, outcome.unsure
        )
    });
    let rejected = result.rejected.as_ref().map(|why| (why.code, &why.message, &why.position));
    let rest = format!("{:?} {} {:?} {rejected:?}", result.revision, result.messages, result.limit);
    outcomes.chain([rest]).collect()
}

fn finding(found: &Finding) -> String {
    let place = |at: &FindingLocation| (at.offset, at.line, at.pointer.clone(), at.within.clone());
    let other = found.other.as_ref().map(|(at, what)| (place(at), *what));
    format!("{:?} {} {:?} {} {other:?}", found.level, found.party, place(&found.location), found.message)
}

/// Where the strict reader rejects the transcript.
fn rejected(format: &Format, bytes: &[u8]) -> Option<Position> {
    let mut reader = bytes;
    let mut input = Input::new(&mut reader).ok()?;
    match walk(format, &mut input, ReadOptions::default(), &mut |_| Ok(())) {
        Err(ReadError::Rejected(rejection)) => Some(rejection.position),
        _ => None,
    }
}

/// A finding about something else does not excuse silence, so it must be about the line or the item that the reader stopped
/// at, unless there are more findings than are kept.
fn finds(judged: &CheckResult, place: &Position) -> bool {
    let item = |pointer: &str| pointer.splitn(5, '/').take(4).collect::<Vec<_>>().join("/");
    let is_there = |at: &FindingLocation| {
        at.line == place.line
            || !at.pointer.is_empty() && item(&at.pointer).starts_with(&item(&place.pointer))
    };
    judged.limit.is_some()
        || judged.outcomes.iter().any(|outcome| {
            outcome.broken > outcome.findings.len() as u64
                || outcome.findings.iter().any(|finding| is_there(&finding.location))
        })
}
