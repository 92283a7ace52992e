//! `run --adequacy`: the kill matrix as a person reads it.
//!
//! It puts into words what [`mutants::score`] found.

use super::context::{CommandContext, Failure};
use super::suites::named;
use crate::exit;
use crate::terminal::Verbosity;
use mcp_concord_suite::Suite;
use mutants::score::{Finding, FirstKill, Matrix, Row, first_kills, matrix};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use verdict::kills::{Killer, Kills, Mutant, SCHEMA};
use verdict::record;
use wire::files::{Access, replace};

/// How many of the cases that kill a mutant are named.
const NAMED: usize = 3;

/// Tries the mutants on a suite and prints which case kills which; `results` is the file for the matrix.
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
        replace(path, Access::Usual, |out| out.write_all(text.as_bytes()))
            .map_err(|error| Failure::unwritable(path, &error))?;
    }
    io::stdout().lock().write_all(text(&matrix, context.terminal.verbosity).as_bytes())?;
    Ok(if matrix.findings.is_empty() { exit::WELL } else { exit::FAILED })
}

/// Tries the mutants on generated variants, and prints how many die by how many variants, and which survive.
///
/// # Errors
/// Where the output cannot be written, or no thread can be had.
pub(super) fn by_generation(
    suite: &Suite,
    count: u64,
    jobs: usize,
    context: CommandContext,
) -> Result<u8, Failure> {
    let (firsts, failing) = first_kills(suite, jobs)
        .map_err(|error| Failure::Unusable(format!("the variants cannot be tried: {error}")))?;
    let text = generation(&firsts, &failing, count, context.terminal.verbosity);
    io::stdout().lock().write_all(text.as_bytes())?;
    Ok(if failing.is_empty() { exit::WELL } else { exit::FAILED })
}

/// The matrix as it is kept.
fn kills(matrix: &Matrix<'_>, suite: record::Suite) -> Kills {
    let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
    let killer = |(case, formats): &(String, Vec<&'static str>)| Killer {
        case: case.clone(),
        formats: owned(formats),
    };
    let mutant = |row: &Row<'_>| Mutant {
        name: row.mutant.name.to_owned(),
        does: row.mutant.does.to_owned(),
        breaks: owned(row.mutant.breaks),
        killers: row.killers.iter().map(killer).collect(),
    };
    Kills {
        kills: SCHEMA,
        suite,
        cases: matrix.cases,
        readings: matrix.readings,
        mutants: matrix.rows.iter().map(mutant).collect(),
        findings: matrix.findings.iter().map(sentence).collect(),
    }
}

fn generation(firsts: &[FirstKill], failing: &[Finding], count: u64, verbosity: Verbosity) -> String {
    let mut out = String::new();
    let killed = |within: u64| {
        let soon = |first: &&FirstKill| first.case.as_deref().and_then(number).is_some_and(|at| at < within);
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
        for FirstKill { mutant, .. } in firsts.iter().filter(|first| first.case.is_none()) {
            let _ =
                writeln!(out, "survives: {} [{}]: it {}", mutant.name, mutant.breaks.join(", "), mutant.does);
        }
        for FirstKill { mutant, case } in firsts.iter().filter(|_| matches!(verbosity, Verbosity::Verbose)) {
            let _ = writeln!(out, "{}: {}", mutant.name, case.as_deref().unwrap_or("survives"));
        }
    }
    for finding in failing {
        let _ = writeln!(out, "finding: {}", sentence(finding));
    }
    let (killed, all) = (killed(count), firsts.len());
    let _ = writeln!(out, "{killed} of {all} mutants killed by {count} generated variants");
    out
}

/// The number of a variant's case, or of its counterpart's.
fn number(case: &str) -> Option<u64> {
    case.strip_prefix("variant-")?.split('-').next()?.parse().ok()
}

fn text(matrix: &Matrix<'_>, verbosity: Verbosity) -> String {
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

fn row(row: &Row<'_>, all: bool, out: &mut String) {
    let mutant = row.mutant;
    let _ = writeln!(out, "{} [{}]: it {}", mutant.name, mutant.breaks.join(", "), mutant.does);
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
        Finding::OriginalFails(case, format) => {
            format!("the original reader fails {case}, {format}, so the matrix shows nothing there")
        }
        Finding::Survives(mutant) => format!("{mutant} survives: a case is missing that kills it"),
        Finding::ClauseNotNamed(mutant) => {
            format!("{mutant} is killed, but by no case that names a clause that it breaks")
        }
        Finding::UnknownClause(mutant, clause) => {
            format!("{mutant} breaks {clause}, and there is no such clause")
        }
        Finding::UnbrokenClause(clause) => format!("no mutant breaks {clause}"),
        Finding::KillsNothing(case) => {
            format!("{case} kills nothing: add the mutant that it is there for, or mark it `control = true`")
        }
        Finding::ControlKills(case, mutant) => {
            format!("{case} is marked as a positive control, and kills {mutant}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FirstKill, generation, matrix};
    use crate::command::variants;
    use crate::terminal::Verbosity;
    use mcp_concord_suite::{Root, Suite};
    use mutants::score::first_kills;
    use std::collections::BTreeSet;

    #[test]
    fn what_dies_first_is_what_the_whole_matrix_shows() {
        let suite = Suite::load(&[Root::Generated(variants::suite(3, 12))]).unwrap();
        let (firsts, failing) = first_kills(&suite, 2).unwrap();
        assert!(failing.is_empty(), "{failing:?}");
        let matrix = matrix(&suite, 2).unwrap();
        for (first, row) in firsts.iter().zip(&matrix.rows) {
            let killers: BTreeSet<&str> = row.killers.iter().map(|(case, _)| case.as_str()).collect();
            assert_eq!(first.case.as_deref(), killers.first().copied(), "{}", row.mutant.name);
        }
        let text = generation(&firsts, &[], 12, Verbosity::Normal);
        assert!(text.starts_with(&format!("variants  killed\n      12  {:>6}\n", matrix.killed())), "{text}");
        assert_eq!(text.matches("\nsurvives: ").count(), matrix.rows.len() - matrix.killed());
    }

    #[test]
    fn kills_add_up_by_the_number_of_variants() {
        let cases = [Some("variant-000099-twin"), Some("variant-000100"), Some("variant-001500"), None];
        let firsts = mutants::catalogue::all()
            .zip(cases)
            .map(|(mutant, case)| FirstKill { mutant, case: case.map(str::to_owned) })
            .collect::<Vec<_>>();
        let text = generation(&firsts, &[], 2000, Verbosity::Normal);
        assert!(text.contains("     100       1\n    1000       2\n    2000       3\n"), "{text}");
        assert!(text.ends_with("3 of 4 mutants killed by 2000 generated variants\n"), "{text}");
    }
}
