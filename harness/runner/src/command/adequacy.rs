//! `run --adequacy`: the kill matrix as a person reads it.
//!
//! Knows: the words for what [`crate::adequacy`] found. Refuses to know: how it was found.

use super::{Around, Failure};
use crate::adequacy::{Finding, Matrix, Row, matrix};
use crate::exit;
use crate::show::Volume;
use crate::suite::Suite;
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// How many of the cases that kill a fault are named.
const NAMED: usize = 3;

/// Tries the seeded faults on a suite and prints which case kills which.
///
/// # Errors
/// Where the suite or the output cannot be used.
pub(super) fn run(suite: &Suite, jobs: usize, around: Around) -> Result<u8, Failure> {
    let matrix = matrix(suite, jobs)
        .map_err(|error| Failure::Unusable(format!("the suite cannot be read: {error}")))?;
    io::stdout().lock().write_all(text(&matrix, around.voice.volume).as_bytes())?;
    Ok(if matrix.findings.is_empty() { exit::WELL } else { exit::FELL_SHORT })
}

fn text(matrix: &Matrix, volume: Volume) -> String {
    let mut out = String::new();
    if !matches!(volume, Volume::Quiet) {
        for row in &matrix.rows {
            self::row(row, matches!(volume, Volume::Loud), &mut out);
        }
        let clauses: Vec<String> = matrix
            .by_clause()
            .into_iter()
            .map(|(clause, killed, all)| format!("{clause} {killed}/{all}"))
            .collect();
        let _ = writeln!(out, "\nkilled by clause: {}", clauses.join(", "));
    }
    for finding in &matrix.findings {
        let _ = writeln!(out, "finding: {}", sentence(finding));
    }
    let findings = match matrix.findings.len() {
        0 => String::new(),
        1 => "; 1 finding".to_owned(),
        count => format!("; {count} findings"),
    };
    let _ = writeln!(out, "{}{findings}", matrix.total());
    out
}

fn row(row: &Row, all: bool, out: &mut String) {
    let fault = row.fault;
    let _ = writeln!(out, "{} [{}]: it {}", fault.name, fault.breaks.join(", "), fault.does);
    let count = row.killers.len();
    let named: Vec<String> = row
        .killers
        .iter()
        .take(if all { count } else { NAMED })
        .map(|(case, formats)| match all {
            true => format!("{case} ({})", formats.join(", ")),
            false => case.clone(),
        })
        .collect();
    let more = if named.len() < count { ", …" } else { "" };
    let _ = match count {
        0 => writeln!(out, "    killed by nothing"),
        1 => writeln!(out, "    killed by 1 case: {}", named.join(", ")),
        _ => writeln!(out, "    killed by {count} cases: {}{more}", named.join(", ")),
    };
}

fn sentence(finding: &Finding) -> String {
    match finding {
        Finding::Unfaithful(case, format) => {
            format!(
                "the faithful importer falls short in {case}, {format}, so the matrix shows nothing there"
            )
        }
        Finding::Survives(fault) => format!("{fault} survives: a case is missing that kills it"),
        Finding::Unnamed(fault) => {
            format!("{fault} is killed, and by no case that names a clause which it breaks")
        }
        Finding::NoClause(fault, clause) => format!("{fault} breaks {clause}, and there is no such clause"),
        Finding::Unbroken(clause) => format!("no fault breaks {clause}"),
        Finding::KillsNothing(case) => {
            format!("{case} kills nothing: seed the fault that it is there for, or mark it `control = true`")
        }
        Finding::NoControl(case, fault) => {
            format!("{case} is marked as a positive control, and kills {fault}")
        }
    }
}
