//! The suite as tests of `cargo test` and of nextest: one trial for each case and format.
//!
//! Knows: libtest's command line and the names of trials. Refuses to know: what makes a reading right. Give it an
//! importer from a test target with `harness = false`:
//!
//! ```no_run
//! use runner::builtin::Builtin;
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     runner::harness(Builtin, "cases")
//! }
//! ```
//!
//! A trial is named `topic::case::format`. Where the contract leaves a choice, `topic::case::consistent` asks that
//! the choice be the same in every format. An exact name is found by its path alone, since nextest starts a
//! process for each trial.

use crate::exit;
use crate::importer::{Importer, STACK};
use crate::run::{Planned, Reading, judge_case, readings};
use crate::show::plain;
use crate::suite::{Case, Problem, Root, Suite};
use judge::expectation::Expectation;
use judge::record::{self, Line, Record};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

/// Runs the suite below `cases` against `importer`, as the command line of a test target asks.
///
/// The exit code is 101 where a trial fails, as libtest has it, and 2 where the suite or the call cannot be used:
/// an exact name that matches nothing is an error, since a run of nothing proves nothing.
pub fn harness(importer: impl Importer + 'static, cases: impl AsRef<Path>) -> ExitCode {
    let arguments = Arguments::from_args();
    match trials(Arc::new(importer), cases.as_ref(), &arguments) {
        Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
        Err(problems) => {
            let mut err = std::io::stderr().lock();
            for problem in problems {
                // Where nobody listens any more, the exit code still tells.
                let _ = writeln!(err, "error: {}", plain(&problem.to_string()));
            }
            ExitCode::from(exit::UNUSABLE)
        }
    }
}

/// The name of the trial that asks for one choice in every format.
const CONSISTENT: &str = "consistent";

fn trials(
    importer: Arc<dyn Importer>,
    cases: &Path,
    arguments: &Arguments,
) -> Result<Vec<Trial>, Vec<Problem>> {
    let exact = arguments.filter.as_deref().filter(|_| arguments.exact && !arguments.list);
    let found = match exact {
        Some(name) => exactly(cases, name)?.into_iter().collect(),
        None => Suite::load(&[Root::Disk(cases.to_owned())])?.cases,
    };
    let trials: Vec<Trial> =
        found.into_iter().flat_map(|case| of_case(Arc::new(case), &importer, cases)).collect();
    // A plain filter may be meant for another test target of the same `cargo test`; an exact name is meant.
    if let Some(name) = exact
        && !trials.iter().any(|trial| trial.name() == name)
    {
        let message = format!("no trial is named `{name}`; --list shows all names");
        return Err(vec![Problem { place: cases.display().to_string(), line: None, message }]);
    }
    Ok(trials)
}

/// The case that the trial of this name belongs to, without a look at any other.
fn exactly(cases: &Path, trial: &str) -> Result<Option<Case>, Vec<Problem>> {
    match trial.rsplit_once("::") {
        Some((case, _)) => Suite::load_one(cases, &case.replace("::", "/")),
        None => Ok(None),
    }
}

fn of_case(case: Arc<Case>, importer: &Arc<dyn Importer>, cases: &Path) -> Vec<Trial> {
    let name = |last: &str| format!("{}::{last}", case.name.replace('/', "::"));
    let mut trials = Vec::new();
    for reading in readings(&case, &**importer) {
        let format = reading.format.name;
        let skip = reading.what.err().map(|skip| skip.why(importer.name(), reading.format));
        let skipped = skip.is_some();
        let (again, importer, cases) = (Arc::clone(&case), Arc::clone(importer), cases.to_owned());
        let trial = Trial::ignorable_test(name(format), move || match skip {
            Some(why) => Ok(Completion::ignored_with(why)),
            None => judged(&again, &*importer, &cases, Some(format)).map(|()| Completion::Completed),
        });
        // Declared beforehand: nextest counts a trial that finds out at run time as passed.
        trials.push(trial.with_ignored_flag(skipped));
    }
    if matches!(case.expectation, Expectation::Either(_)) {
        let (again, importer, cases) = (Arc::clone(&case), Arc::clone(importer), cases.to_owned());
        trials.push(Trial::test(name(CONSISTENT), move || judged(&again, &*importer, &cases, None)));
    }
    trials
}

/// Judges one format of a case, or all of them against each other, on a thread with room for deep JSON.
fn judged(case: &Case, importer: &dyn Importer, cases: &Path, format: Option<&str>) -> Result<(), Failed> {
    let mut readings: Vec<Reading<'_>> = readings(case, importer);
    readings.retain(|reading| format.is_none_or(|format| reading.format.name == format));
    let planned = Planned { case, readings };
    let lines = thread::scope(|scope| {
        let judging =
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || judge_case(&planned, importer));
        judging?.join().map_err(|_| std::io::Error::other("the judging thread panicked"))?
    });
    let lines = lines.map_err(|error| format!("{}: {error}", case.place))?;
    let failed = lines.into_iter().filter(|line| line.verdict.falls_short()).collect::<Vec<Line>>();
    let trial = format!("{}::{}", case.name.replace('/', "::"), format.unwrap_or(CONSISTENT));
    if failed.is_empty() { Ok(()) } else { Err(told(case, importer, (cases, &trial), failed).into()) }
}

fn told(case: &Case, importer: &dyn Importer, (cases, trial): (&Path, &str), lines: Vec<Line>) -> String {
    let suite = record::Suite { version: String::new(), digest: String::new(), contract: String::new() };
    let implementation = record::Implementation {
        name: importer.name().to_owned(),
        version: importer.version().to_owned(),
        level: importer.level(),
    };
    let notes = BTreeMap::from([(case.name.clone(), case.note())]);
    let record = Record::new(suite, implementation, notes, lines);
    let file = |line: &Line| line.file.as_ref().map(|file| cases.join(file).display().to_string());
    let alone = |_: &Line| format!("cargo test -- --exact '{trial}'");
    let options = reports::text::Options {
        colour: false,
        volume: reports::text::Volume::Quiet,
        file: &file,
        alone: &alone,
    };
    let failures: Vec<String> =
        record.results.iter().map(|line| reports::text::failure(&record, line, &options)).collect();
    failures.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{judged, trials};
    use crate::builtin::Builtin;
    use crate::importer::Importer;
    use crate::suite::Suite;
    use judge::answer::Answer;
    use libtest_mimic::{Arguments, Trial};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    fn cases() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases")
    }

    fn found(arguments: &[&str]) -> Result<Vec<Trial>, String> {
        let arguments = Arguments::from_iter(["test"].iter().chain(arguments));
        trials(Arc::new(Builtin), &cases(), &arguments).map_err(|problems| problems[0].to_string())
    }

    #[test]
    fn each_case_and_format_is_a_trial_and_each_open_case_one_more() {
        let trials = found(&[]).unwrap();
        let names: Vec<&str> = trials.iter().map(Trial::name).collect();
        for name in ["ids::zero::jsonrpc", "envelope::null-sse::http-sse", "envelope::null-sse::consistent"] {
            assert!(names.contains(&name), "{name} is missing");
        }
        assert!(!names.contains(&"ids::zero::consistent"));
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert!(trials.iter().all(|trial| trial.kind().is_empty()), "a kind would become part of the name");
    }

    #[test]
    fn what_a_format_cannot_carry_is_ignored_when_it_is_listed() {
        let trials = found(&[]).unwrap();
        let ignored =
            |name: &str| trials.iter().find(|trial| trial.name() == name).unwrap().has_ignored_flag();
        assert!(ignored("direction::both-count-from-zero::jsonrpc"));
        assert!(!ignored("direction::both-count-from-zero::har"));
    }

    #[test]
    fn an_exact_name_loads_its_case_alone() {
        let names =
            |trials: Vec<Trial>| trials.iter().map(|trial| trial.name().to_owned()).collect::<Vec<_>>();
        let trials = names(found(&["--exact", "ids::zero::har"]).unwrap());
        assert!(trials.iter().all(|name| name.starts_with("ids::zero::")), "{trials:?}");
        assert!(trials.contains(&"ids::zero::har".to_owned()), "{trials:?}");
    }

    #[test]
    fn an_exact_name_that_matches_nothing_is_an_error() {
        for arguments in [
            &["--exact", "ids::zero::pcap"][..],
            &["--exact", "ids::zero"],
            &["--exact", "zero"],
            &["--exact", "ids::not-there::har"],
        ] {
            let Err(problem) = found(arguments) else { panic!("{arguments:?} was found") };
            assert!(problem.contains(arguments[arguments.len() - 1]), "{problem}");
        }
        assert!(found(&["null-sse"]).is_ok());
    }

    #[test]
    fn a_failure_is_told_with_its_file_and_the_way_to_run_it_alone() {
        struct Refusing;
        impl Importer for Refusing {
            fn name(&self) -> &str {
                "refusing"
            }

            fn version(&self) -> &str {
                "0"
            }

            fn reads(&self, _: &str) -> bool {
                true
            }

            fn read(&self, format: &str, _: &[u8]) -> Answer {
                match format {
                    "http-sse" => Answer::Rejection { code: None, message: "not today".into() },
                    _ => Answer::Meaning(r#"{"events": []}"#.into()),
                }
            }
        }
        let told = |case: &str, format| {
            let case = Suite::load_one(&cases(), case).unwrap().unwrap();
            judged(&case, &Refusing, &cases(), format).unwrap_err().message().unwrap_or_default().to_owned()
        };
        let alone = told("ids/zero", Some("http-sse"));
        for part in
            ["fail: ids/zero, http-sse", "http-sse.json", "not today", "--exact 'ids::zero::http-sse'"]
        {
            assert!(alone.contains(part), "{part} is missing in\n{alone}");
        }
        assert!(told("ids/zero", Some("har")).contains("silent loss"));
        let torn = told("ids/form-fraction", None);
        assert!(torn.contains("ids/form-fraction, http-sse") && torn.contains("::consistent'"), "{torn}");
    }
}
