//! `run --adequacy`: the kill matrix as a person reads it.
//!
//! Knows: the words for what [`mutants::adequacy`] found. Refuses to know: how it was found.

use super::context::{CommandContext, Failure};
use super::suites::named;
use crate::exit;
use crate::terminal::Verbosity;
use mutants::adequacy::{Finding, First, Matrix, Row, first_kills, matrix};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use suite::Suite;
use verdict::kills::{Fault, Killer, Kills, SCHEMA};
use verdict::record;

/// How many of the cases that kill a fault are named.
const NAMED: usize = 3;

/// Tries the seeded faults on a suite and prints which case kills which; `results` is where the matrix is kept.
///
/// # Errors
/// Where the suite or an output cannot be used.
pub(super) fn run(
    suite: &Suite,
    jobs: usize,
    results: Option<&Path>,
    context: CommandContext,
) -> Result<u8, Failure> {
    let unreadable = |error: io::Error| Failure::Unusable(format!("the suite cannot be read: {error}"));
    let matrix = matrix(suite, jobs).map_err(unreadable)?;
    if let Some(path) = results {
        let kills = kills(&matrix, named(suite).map_err(unreadable)?);
        let text = serde_json::to_string_pretty(&kills).map_err(io::Error::from)? + "\n";
        fs::write(path, text)
            .map_err(|error| Failure::Unusable(format!("{} cannot be written: {error}", path.display())))?;
    }
    io::stdout().lock().write_all(text(&matrix, context.terminal.verbosity).as_bytes())?;
    Ok(if matrix.findings.is_empty() { exit::WELL } else { exit::FAILED })
}

/// Tries the seeded faults on generated variants alone, and prints how many die by how many variants, and who lives.
///
/// # Errors
/// Where the output cannot be written, or no thread can be had.
pub(super) fn by_generation(
    suite: &Suite,
    count: u64,
    jobs: usize,
    context: CommandContext,
) -> Result<u8, Failure> {
    let (firsts, unfaithful) = first_kills(suite, jobs)
        .map_err(|error| Failure::Unusable(format!("the variants cannot be tried: {error}")))?;
    let text = generation(&firsts, &unfaithful, count, context.terminal.verbosity);
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(if unfaithful.is_empty() { exit::WELL } else { exit::FAILED })
}

/// The matrix as it is kept.
fn kills(matrix: &Matrix, suite: record::Suite) -> Kills {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let killer = |(case, formats): &(String, Vec<&'static str>)| Killer {
        case: case.clone(),
        formats: owned(formats),
    };
    let fault = |row: &Row| Fault {
        name: row.fault.name.to_owned(),
        does: row.fault.does.to_owned(),
        breaks: owned(row.fault.breaks),
        killers: row.killers.iter().map(killer).collect(),
    };
    Kills {
        kills: SCHEMA,
        suite,
        cases: matrix.cases,
        readings: matrix.readings,
        faults: matrix.rows.iter().map(fault).collect(),
        findings: matrix.findings.iter().map(sentence).collect(),
    }
}

fn generation(firsts: &[First], unfaithful: &[Finding], count: u64, verbosity: Verbosity) -> String {
    let mut out = String::new();
    let killed = |within: u64| {
        let soon = |first: &&First| first.case.as_deref().and_then(number).is_some_and(|at| at < within);
        firsts.iter().filter(soon).count()
    };
    if !matches!(verbosity, Verbosity::Quiet) {
        let _ = writeln!(out, "variants  killed");
        for size in std::iter::successors(Some(100_u64), |size| size.checked_mul(10)) {
            let size = size.min(count);
            let _ = writeln!(out, "{size:>8}  {:>6}", killed(size));
            if size == count {
                break;
            }
        }
        for First { fault, .. } in firsts.iter().filter(|first| first.case.is_none()) {
            let _ =
                writeln!(out, "survives: {} [{}]: it {}", fault.name, fault.breaks.join(", "), fault.does);
        }
        for First { fault, case } in firsts.iter().filter(|_| matches!(verbosity, Verbosity::Verbose)) {
            let _ = writeln!(out, "{}: {}", fault.name, case.as_deref().unwrap_or("survives"));
        }
    }
    for finding in unfaithful {
        let _ = writeln!(out, "finding: {}", sentence(finding));
    }
    let (killed, all) = (killed(count), firsts.len());
    let _ = writeln!(out, "{killed} of {all} seeded faults killed by {count} generated variants alone");
    out
}

/// The number of a variant's case, or of its twin's.
fn number(case: &str) -> Option<u64> {
    case.strip_prefix("variant-")?.split('-').next()?.parse().ok()
}

fn text(matrix: &Matrix, verbosity: Verbosity) -> String {
    let mut out = String::new();
    if !matches!(verbosity, Verbosity::Quiet) {
        for row in &matrix.rows {
            self::row(row, matches!(verbosity, Verbosity::Verbose), &mut out);
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

#[cfg(test)]
mod tests {
    use super::{First, generation, matrix};
    use crate::command::variants;
    use crate::terminal::Verbosity;
    use mutants::adequacy::first_kills;
    use std::collections::BTreeSet;
    use suite::{Root, Suite};

    #[test]
    fn what_dies_first_is_what_the_whole_matrix_shows() {
        let suite = Suite::load(&[Root::Made(variants::suite(3, 12))]).unwrap();
        let (firsts, unfaithful) = first_kills(&suite, 2).unwrap();
        assert!(unfaithful.is_empty(), "{unfaithful:?}");
        let matrix = matrix(&suite, 2).unwrap();
        for (first, row) in firsts.iter().zip(&matrix.rows) {
            let killers: BTreeSet<&str> = row.killers.iter().map(|(case, _)| case.as_str()).collect();
            assert_eq!(first.case.as_deref(), killers.first().copied(), "{}", row.fault.name);
        }
        let text = generation(&firsts, &[], 12, Verbosity::Normal);
        assert!(text.starts_with(&format!("variants  killed\n      12  {:>6}\n", matrix.killed())), "{text}");
        assert_eq!(text.matches("\nsurvives: ").count(), matrix.rows.len() - matrix.killed());
    }

    #[test]
    fn kills_add_up_by_the_number_of_variants() {
        let cases = [Some("variant-000099-twin"), Some("variant-000100"), Some("variant-001500"), None];
        let firsts = mutants::faults::all()
            .zip(cases)
            .map(|(fault, case)| First { fault, case: case.map(str::to_owned) })
            .collect::<Vec<_>>();
        let text = generation(&firsts, &[], 2000, Verbosity::Normal);
        assert!(text.contains("     100       1\n    1000       2\n    2000       3\n"), "{text}");
        assert!(text.ends_with("3 of 4 seeded faults killed by 2000 generated variants alone\n"), "{text}");
    }
}
