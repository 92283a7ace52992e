//! The kill matrix: which case tells which mutant from the original reader, and what that shows of the suite.
//!
//! A transcript on which a mutant answers like the original reader needs no judge, and most do, so the whole matrix
//! costs little more than one run. It does not depend on the number of threads.

use crate::catalogue;
use crate::{Mutant, Original};
use mcp_concord_suite::importer::STACK;
use mcp_concord_suite::{Case, Suite};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use transcript::clauses;
use verdict::answer::{Answer, Level};
use verdict::consistency;
use verdict::expectation::Expectation;
use verdict::jobs::map_in_order;
use verdict::verdict::{Question, judge};

/// Which cases of a suite kill which mutants.
#[derive(Debug)]
pub struct Matrix<'m> {
    /// Every mutant, in the order of the catalogue.
    pub rows: Vec<Row<'m>>,
    /// How many cases were tried.
    pub cases: usize,
    /// How many results each mutant had: one a transcript.
    pub readings: usize,
    /// What is wrong with the suite, or with a mutant.
    pub findings: Vec<Finding>,
}

impl Matrix<'_> {
    /// The matrix in a line: how many mutants were killed, and by how much.
    #[must_use]
    pub fn total(&self) -> String {
        let (killed, mutants) = (self.killed(), self.rows.len());
        let (readings, cases) = (self.readings, self.cases);
        format!("{killed} of {mutants} mutants killed by {readings} results of {cases} cases")
    }
}

/// One mutant and the cases that kill it.
#[derive(Debug)]
pub struct Row<'m> {
    /// The mutant.
    pub mutant: &'m Mutant,
    /// The names of the cases, each with the formats in which they do; those first that name a clause of the mutant.
    pub killers: Vec<(String, Vec<&'static str>)>,
}

/// Something that the matrix shows and that should not be so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// The original reader fails this case and format, so the matrix shows nothing.
    OriginalFails(String, &'static str),
    /// No case kills the mutant.
    Survives(&'static str),
    /// The mutant is killed, and by no case that names one of its clauses: nobody learns from it which one it broke.
    ClauseNotNamed(&'static str),
    /// The mutant names a clause that does not exist.
    UnknownClause(&'static str, &'static str),
    /// No mutant breaks the clause.
    UnbrokenClause(&'static str),
    /// The case kills no mutant but trivial ones, and is not marked as a positive control.
    KillsNothing(String),
    /// The case is marked as a positive control, and kills this mutant.
    ControlKills(String, &'static str),
}

/// What one case showed.
#[derive(Debug, Default)]
struct CaseKills {
    /// The mutants that it kills, by their number, each with the formats.
    kills: BTreeMap<usize, Vec<&'static str>>,
    /// The formats in which the original reader fails.
    failing: Vec<&'static str>,
    readings: usize,
}

/// Tries every mutant of the catalogue on every case, on `jobs` threads.
///
/// # Errors
/// Where a transcript cannot be read from disk, or a thread cannot be started.
pub fn matrix(suite: &Suite, jobs: usize) -> io::Result<Matrix<'static>> {
    matrix_of(suite, &catalogue::all().collect::<Vec<_>>(), jobs)
}

/// As [`matrix`], for these mutants.
///
/// # Errors
/// As [`matrix`].
pub fn matrix_of<'m>(suite: &Suite, mutants: &[&'m Mutant], jobs: usize) -> io::Result<Matrix<'m>> {
    let shown = each_case(suite, jobs, |_, case| try_case(case, mutants, |_| true))?;
    Ok(Matrix::of(suite, mutants, &shown))
}

/// For every mutant the first case of a suite that kills it, if any does; and the cases and formats in which the
/// original reader fails. It costs far less than the matrix: a mutant is not tried again behind a case that
/// killed it.
///
/// # Errors
/// As [`matrix`].
pub fn first_kills(suite: &Suite, jobs: usize) -> io::Result<(Vec<FirstKill>, Vec<Finding>)> {
    let mutants: Vec<&'static Mutant> = catalogue::all().collect();
    let firsts: Vec<AtomicUsize> = mutants.iter().map(|_| AtomicUsize::new(usize::MAX)).collect();
    let shown = each_case(suite, jobs, |index, case| {
        let shown = try_case(case, &mutants, |number| {
            firsts.get(number).is_some_and(|first| first.load(Ordering::Relaxed) > index)
        })?;
        for first in shown.kills.keys().filter_map(|&number| firsts.get(number)) {
            first.fetch_min(index, Ordering::Relaxed);
        }
        Ok(shown)
    })?;
    let failing = suite.cases.iter().zip(&shown).flat_map(|(case, shown)| {
        shown.failing.iter().map(|format| Finding::OriginalFails(case.name.clone(), format))
    });
    let case = |first: AtomicUsize| suite.cases.get(first.into_inner()).map(|case| case.name.clone());
    let firsts = mutants.iter().zip(firsts).map(|(mutant, first)| FirstKill { mutant, case: case(first) });
    Ok((firsts.collect(), failing.collect()))
}

/// A mutant and the first case that kills it.
#[derive(Debug)]
pub struct FirstKill {
    /// The mutant.
    pub mutant: &'static Mutant,
    /// The name of the case; nothing where the mutant survives.
    pub case: Option<String>,
}

/// What each case of a suite shows, in their order, on `jobs` threads.
fn each_case(
    suite: &Suite,
    jobs: usize,
    show: impl Fn(usize, &Case) -> io::Result<CaseKills> + Sync,
) -> io::Result<Vec<CaseKills>> {
    let cases: Vec<(usize, &Case)> = suite.cases.iter().enumerate().collect();
    map_in_order(&cases, jobs, STACK, |(index, case)| show(*index, case))?.into_iter().collect()
}

impl<'m> Matrix<'m> {
    fn of(suite: &Suite, mutants: &[&'m Mutant], shown: &[CaseKills]) -> Self {
        let cases = || suite.cases.iter().zip(shown);
        let row = |(number, &mutant): (usize, &&'m Mutant)| {
            let kills = cases().filter_map(|(case, shown)| Some((case, shown.kills.get(&number)?)));
            let mut killers: Vec<(bool, String, Vec<&'static str>)> = kills
                .map(|(case, formats)| (!names(case, mutant), case.name.clone(), formats.clone()))
                .collect();
            killers.sort();
            let named = killers.first().map(|killer| !killer.0);
            (
                Row {
                    mutant,
                    killers: killers.into_iter().map(|(_, name, formats)| (name, formats)).collect(),
                },
                named,
            )
        };
        let rows: Vec<(Row<'m>, Option<bool>)> = mutants.iter().enumerate().map(row).collect();
        let mut findings = Vec::new();
        for (case, shown) in cases() {
            let failing = shown.failing.iter();
            findings.extend(failing.map(|format| Finding::OriginalFails(case.name.clone(), format)));
        }
        for (row, named) in &rows {
            let unknown = row.mutant.breaks.iter().filter(|clause| clauses::find(clause).is_none());
            findings.extend(unknown.map(|clause| Finding::UnknownClause(row.mutant.name, clause)));
            match named {
                None => findings.push(Finding::Survives(row.mutant.name)),
                Some(false) => findings.push(Finding::ClauseNotNamed(row.mutant.name)),
                Some(true) => {}
            }
        }
        let broken: BTreeSet<&str> = mutants.iter().flat_map(|mutant| mutant.breaks).copied().collect();
        let unbroken = clauses::all().filter(|clause| !broken.contains(clause.id));
        findings.extend(unbroken.map(|clause| Finding::UnbrokenClause(clause.id)));
        for (case, shown) in cases() {
            let sharp = shown.kills.keys().map(|&number| mutants[number]).find(|mutant| !mutant.trivial);
            match (case.control, sharp) {
                (false, None) => findings.push(Finding::KillsNothing(case.name.clone())),
                (true, Some(mutant)) => findings.push(Finding::ControlKills(case.name.clone(), mutant.name)),
                _ => {}
            }
        }
        Self {
            rows: rows.into_iter().map(|(row, _)| row).collect(),
            cases: suite.cases.len(),
            readings: shown.iter().map(|shown| shown.readings).sum(),
            findings,
        }
    }

    /// How many mutants some case kills.
    #[must_use]
    pub fn killed(&self) -> usize {
        self.rows.iter().filter(|row| !row.killers.is_empty()).count()
    }

    /// Each clause with the number of its mutants that are killed, and of all of them; in the order of the contract.
    #[must_use]
    pub fn by_clause(&self) -> Vec<(&'static str, usize, usize)> {
        let count = |clause: &'static clauses::Clause| {
            let rows = || self.rows.iter().filter(|row| row.mutant.breaks.contains(&clause.id));
            (clause.id, rows().filter(|row| !row.killers.is_empty()).count(), rows().count())
        };
        clauses::all().map(count).collect()
    }
}

/// Whether a case names one of the clauses that a mutant breaks.
fn names(case: &Case, mutant: &Mutant) -> bool {
    mutant.breaks.iter().any(|clause| case.clauses.iter().any(|named| named == clause))
}

/// Tries the mutants that are `wanted` on one case.
fn try_case(case: &Case, mutants: &[&Mutant], wanted: impl Fn(usize) -> bool) -> io::Result<CaseKills> {
    let mut texts = Vec::new();
    for transcript in &case.transcripts {
        texts.push((transcript.format, transcript.blob.bytes()?));
    }
    let originals: Vec<Original<'_>> =
        texts.iter().map(|(format, bytes)| Original::read(format, bytes)).collect();
    let formats: Vec<&'static str> = texts.iter().map(|(format, _)| format.name).collect();
    let questions: Vec<Question<'_>> = texts
        .iter()
        .map(|(format, _)| Question {
            level: Level::Events,
            challenge: format.carries.challenge,
            redacted: case.redacted.as_deref(),
        })
        .collect();
    let unmutated: Vec<&Answer> = originals.iter().map(Original::answer).collect();
    let every = vec![true; originals.len()];
    let caught = |answers: &[&Answer], other: &[bool]| -> Vec<&'static str> {
        let short = is_failure(case, &formats, &questions, answers, other);
        formats.iter().zip(short).filter(|(_, short)| *short).map(|(format, _)| *format).collect()
    };
    let mut shown =
        CaseKills { failing: caught(&unmutated, &every), readings: originals.len(), ..CaseKills::default() };
    for (number, mutant) in mutants.iter().enumerate().filter(|(number, _)| wanted(*number)) {
        let answers: Vec<Option<Answer>> =
            originals.iter().map(|original| mutant.answer_twice(original)).collect();
        let other: Vec<bool> = answers.iter().map(Option::is_some).collect();
        if !other.contains(&true) {
            continue;
        }
        let answers: Vec<&Answer> = answers
            .iter()
            .zip(&unmutated)
            .map(|(answer, unmutated)| answer.as_ref().unwrap_or(unmutated))
            .collect();
        let formats = caught(&answers, &other);
        if !formats.is_empty() {
            shown.kills.insert(number, formats);
        }
    }
    Ok(shown)
}

/// Which of the answers fall short. Those that are not `other` than the unmutated ones are judged by the others alone,
/// where the clause is open.
fn is_failure(
    case: &Case,
    formats: &[&'static str],
    questions: &[Question<'_>],
    answers: &[&Answer],
    other: &[bool],
) -> Vec<bool> {
    let mut short: Vec<bool> = answers
        .iter()
        .zip(questions)
        .zip(other)
        .map(|((answer, question), other)| {
            *other && judge(&case.expectation, question, answer).verdict.is_failure()
        })
        .collect();
    if let Expectation::Either(_) = case.expectation {
        let asked: Vec<consistency::FormatAnswer<'_>> = answers
            .iter()
            .zip(questions)
            .zip(formats)
            .map(|((answer, question), format)| consistency::FormatAnswer {
                format,
                question: *question,
                answer,
            })
            .collect();
        for (short, judged) in short.iter_mut().zip(consistency::judge(&asked)) {
            *short |= judged.is_some();
        }
    }
    short
}
