//! A run: a plan of readings, asked on several threads and judged in the order of the plan.
//!
//! Knows: what is selected, and what becomes of each reading. Refuses to know: where the suite came from and how
//! the record is shown. The record does not depend on how many threads there were.

use crate::importer::{Importer, STACK, ask};
use crate::suite::{Case, Suite, Transcript};
use formats::Format;
use globset::GlobMatcher;
use judge::answer::Answer;
use judge::consistency::{self, Asked};
use judge::expectation::Expectation;
use judge::record::{self, Implementation, Line, Record};
use judge::verdict::{Judgement, Question, Verdict, judge};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Which readings of a suite are wanted. Nothing narrows it down by default.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Globs over a case's name and over `case/format`; any of them selects.
    pub filters: Vec<GlobMatcher>,
    /// This format alone.
    pub format: Option<&'static Format>,
    /// A part of the cases.
    pub shard: Option<Shard>,
}

/// One of several parts of a suite, told by the name of a case alone: a case stays in its part when others come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    index: u64,
    count: u64,
}

impl Shard {
    /// Reads `I/N`.
    ///
    /// # Errors
    /// A sentence where it is something else.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            _ => Err(format!("`{text}` is no shard: write I/N, from 1/N to N/N")),
        }
    }

    fn holds(self, case: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(case.as_bytes()).into();
        let number = digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        number % self.count == self.index - 1
    }
}

/// The selected readings of one case.
#[derive(Debug)]
pub struct Planned<'s> {
    /// The case.
    pub case: &'s Case,
    /// Its readings, in the order of the formats.
    pub readings: Vec<Reading<'s>>,
}

/// One reading of a plan.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'s> {
    /// The format.
    pub format: &'static Format,
    /// What is read, or why nothing is.
    pub what: Result<&'s Transcript, Skip<'s>>,
}

/// Why a reading is planned and not asked for.
#[derive(Debug, Clone, Copy)]
pub enum Skip<'s> {
    /// The format cannot carry the session.
    Uncarried(&'s str),
    /// The importer does not read the format.
    Unread,
}

impl Skip<'_> {
    /// The reason in words.
    #[must_use]
    pub fn why(&self, importer: &str, format: &Format) -> String {
        match self {
            Self::Uncarried(why) => format!("{} cannot carry it: {why}", format.name),
            Self::Unread => format!("{importer} does not read {}", format.name),
        }
    }
}

/// The readings of `suite` that are selected, in the order of cases and formats.
#[must_use]
pub fn plan<'s>(suite: &'s Suite, importer: &dyn Importer, selection: &Selection) -> Vec<Planned<'s>> {
    let in_shard = |case: &&Case| selection.shard.is_none_or(|shard| shard.holds(&case.name));
    let planned = suite.cases.iter().filter(in_shard).map(|case| {
        let mut readings = readings(case, importer);
        readings.retain(|reading| selection.takes(case, reading.format));
        Planned { case, readings }
    });
    planned.filter(|planned| !planned.readings.is_empty()).collect()
}

impl Selection {
    fn takes(&self, case: &Case, format: &Format) -> bool {
        let full = format!("{}/{}", case.name, format.name);
        let named = |glob: &GlobMatcher| glob.is_match(&case.name) || glob.is_match(&full);
        (self.filters.is_empty() || self.filters.iter().any(named))
            && self.format.is_none_or(|wanted| wanted.name == format.name)
    }
}

/// Every reading of a case, in the order of the formats.
#[must_use]
pub fn readings<'s>(case: &'s Case, importer: &dyn Importer) -> Vec<Reading<'s>> {
    let reading = |format: &'static Format| {
        let transcript = case.transcripts.iter().find(|transcript| transcript.format.name == format.name);
        let uncarried = case.uncarried.iter().find(|uncarried| uncarried.format.name == format.name);
        let what = match (transcript, uncarried) {
            (Some(_), _) if !importer.reads(format.name) => Err(Skip::Unread),
            (Some(transcript), _) => Ok(transcript),
            (None, Some(uncarried)) => Err(Skip::Uncarried(&uncarried.why)),
            (None, None) => return None,
        };
        Some(Reading { format, what })
    };
    formats::FORMATS.iter().copied().filter_map(reading).collect()
}

/// Asks for every reading of the plan, on `jobs` threads, and records what came of it.
///
/// # Errors
/// Where a transcript cannot be read from disk any more, or no thread can be had.
pub fn run(
    plan: &[Planned<'_>],
    importer: &dyn Importer,
    jobs: usize,
    suite: record::Suite,
) -> io::Result<Record> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, io::Result<Vec<Line>>>> = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some((index, planned)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            plan.get(index).map(|planned| (index, planned))
        } {
            let lines = judge_case(planned, importer);
            done.lock().unwrap_or_else(std::sync::PoisonError::into_inner).insert(index, lines);
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, plan.len().max(1)) {
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        }
        Ok::<_, io::Error>(())
    })?;
    let done = done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut lines = Vec::new();
    for result in done.into_values() {
        lines.extend(result?);
    }
    let implementation = Implementation {
        name: importer.name().to_owned(),
        version: importer.version().to_owned(),
        level: importer.level(),
    };
    let cases = plan.iter().map(|planned| (planned.case.name.clone(), planned.case.note())).collect();
    Ok(Record::new(suite, implementation, cases, lines))
}

/// Judges the selected readings of one case, each by itself and, where the clause is open, by the others.
///
/// # Errors
/// Where a transcript cannot be read from disk.
pub fn judge_case(planned: &Planned<'_>, importer: &dyn Importer) -> io::Result<Vec<Line>> {
    let case = planned.case;
    let mut answered = Vec::new();
    for reading in &planned.readings {
        let answer = match reading.what {
            Ok(transcript) => ask(importer, reading.format.name, &transcript.blob.bytes()?),
            Err(skip) => Answer::Unsupported { why: skip.why(importer.name(), reading.format) },
        };
        answered.push((reading, question(case, reading.format, importer), answer));
    }
    let asked: Vec<Asked<'_>> = answered
        .iter()
        .map(|(reading, question, answer)| Asked { format: reading.format.name, question: *question, answer })
        .collect();
    let consistent = match case.expectation {
        Expectation::Either(_) => consistency::judge(&asked),
        _ => vec![None; asked.len()],
    };
    let line = |((reading, question, answer), other): (&(&Reading<'_>, _, _), Option<Judgement>)| {
        let mut judgement = judge(&case.expectation, question, answer);
        if judgement.verdict == Verdict::Pass {
            judgement = other.unwrap_or(judgement);
        }
        let line = Line::new(&case.name, reading.format.name, &case.clauses, judgement);
        Line { file: reading.what.is_ok().then(|| format!("{}/{}", case.name, reading.format.file)), ..line }
    };
    Ok(answered.iter().zip(consistent).map(line).collect())
}

fn question<'c>(case: &'c Case, format: &Format, importer: &dyn Importer) -> Question<'c> {
    Question {
        level: importer.level(),
        challenge: format.carries.challenge,
        redacted: case.redacted.as_deref(),
    }
}
