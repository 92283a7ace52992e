//! The suite as tests of `cargo test` and of nextest: one trial for each case and format.
//!
//! Libtest's command line and the names of trials. Give it an importer from a test target with `harness = false`:
//!
//! ```no_run
//! use mcp_concord_suite::Harness;
//! use mcp_concord_suite::builtin::Builtin;
//! use std::process::ExitCode;
//!
//! fn main() -> ExitCode {
//!     Harness::new(Builtin::default()).known("sse/broken-data/har", "We pass over broken data for now, issue 12.").run()
//! }
//! ```
//!
//! There is a trial for each transcript that the importer reads, named `topic::case::format`. Where the contract leaves a choice, `topic::case::consistent` asks that
//! the choice be the same in every format. An exact name is found by its path only, since nextest starts a
//! process for each trial.

use crate::importer::{Importer, STACK};
use crate::run::{PlannedCase, PlannedRead, Skip, implementation, judge_case, readings, shown};
use crate::suite::{Case, Problem, Root, Suite};
use globset::{GlobBuilder, GlobMatcher};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use transcript::dialect;
use transcript::json::Json;
use verdict::answer::Level;
use verdict::baseline::Baseline;
use verdict::config_error::ConfigError;
use verdict::expectation::Expectation;
use verdict::plain::{counted, plain};
use verdict::record::{self, CaseResult, Record};
use verdict::text;
use verdict::verdict::Verdict;

/// Runs the suite below `cases` against `importer`, as the command line of a test target asks.
///
/// The exit code is that of [`Harness::run`].
pub fn harness(importer: impl Importer + 'static, cases: impl AsRef<Path>) -> ExitCode {
    Harness::new(importer).cases(cases).run()
}

/// An importer before the suite, and which of its failures are known.
pub struct Harness {
    importer: Arc<dyn Importer>,
    suite: Root,
    known: Vec<(String, String)>,
    problems: Vec<Problem>,
}

impl Harness {
    /// Hands over an importer, to be judged by the suite that this version of the crate holds.
    pub fn new(importer: impl Importer + 'static) -> Self {
        Self { importer: Arc::new(importer), suite: Root::Embedded, known: Vec::new(), problems: Vec::new() }
    }

    /// Takes the cases from a folder instead.
    #[must_use]
    pub fn cases(mut self, folder: impl AsRef<Path>) -> Self {
        self.suite = Root::Disk(folder.as_ref().to_owned());
        self
    }

    /// Names known failures, by a glob over `topic/case/format`, and says why they are let pass. Wrong answers are
    /// excused, crashes are not. A known failure that passes fails its trial, so that the list stays true.
    #[must_use]
    pub fn known(mut self, trials: impl Into<String>, reason: impl Into<String>) -> Self {
        self.known.push((trials.into(), reason.into()));
        self
    }

    /// Takes the known failures of a baseline, as `mcp-concord run --baseline` does; those that are wrong answers, and no crashes.
    #[must_use]
    pub fn known_file(mut self, path: impl AsRef<Path>) -> Self {
        let place = path.as_ref().display().to_string();
        let text = std::fs::read_to_string(path).map_err(|error| vec![problem(&place, error.to_string())]);
        let read = text.and_then(|text| {
            Baseline::read(&text, false).map_err(|errors| {
                let problem =
                    |it: ConfigError| Problem { place: place.clone(), line: it.line, message: it.message };
                errors.into_iter().map(problem).collect()
            })
        });
        match read {
            Ok(baseline) => self.known.extend(baseline.excused().map(|(glob, why)| (glob, why.to_owned()))),
            Err(problems) => self.problems.extend(problems),
        }
        self
    }

    /// Does what the command line of a test target asks.
    ///
    /// The exit code is 101 where a trial fails, as libtest has it, and 2 where the suite, the list of known failures
    /// or the call cannot be used: an exact name that matches nothing is an error, since a run of nothing proves nothing.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let arguments = Arguments::from_args();
        match self.trials(&arguments) {
            Ok(trials) => libtest_mimic::run(&arguments, trials).exit_code(),
            Err(problems) => {
                let mut err = std::io::stderr().lock();
                for problem in problems {
                    // Where nobody listens any more, there is still the exit code.
                    let _ = writeln!(err, "error: {}", plain(&problem.to_string()));
                }
                ExitCode::from(UNUSABLE)
            }
        }
    }

    fn trials(self, arguments: &Arguments) -> Result<Vec<Trial>, Vec<Problem>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let known = Known::read(&self.known)?;
        let dialect =
            dialect::find(self.importer.dialect()).map_err(|why| vec![problem(self.importer.name(), why)])?;
        let exact = arguments.filter.as_deref().filter(|_| arguments.exact && !arguments.list);
        // What a topic's quiet trial asks is known once every case is.
        let alone = exact.filter(|name| name.rsplit("::").next() != Some(QUIET));
        let found = match alone {
            Some(name) => exactly(&self.suite, name)?.into_iter().collect(),
            None => {
                let Suite { cases, identified, .. } = Suite::load(std::slice::from_ref(&self.suite))?;
                cases.into_iter().chain(identified).collect::<Vec<Case>>()
            }
        };
        let judging = Arc::new(Judging { importer: self.importer, suite: self.suite });
        let cases: Vec<_> = found.into_iter().map(|case| Arc::new(case.in_dialect(dialect))).collect();
        let (quiet, loud): (Vec<_>, Vec<_>) =
            cases.into_iter().partition(|case| alone.is_none() && judging.shows_nothing_of(case));
        let names: Vec<String> = quiet.iter().flat_map(|case| judging.names(case)).collect();
        let mut trials: Vec<Trial> =
            loud.into_iter().flat_map(|case| of_case(case, &judging, &known)).collect();
        trials.extend(of_topics(quiet, &judging, &known));
        match exact {
            Some(name) if !trials.iter().any(|trial| trial.name() == name) => {
                let message = format!("no trial is named `{name}`; --list shows all names");
                Err(vec![problem(&judging.suite.to_string(), message)])
            }
            Some(_) => Ok(trials),
            None => {
                let names = names.iter().map(String::as_str).chain(trials.iter().map(Trial::name));
                Known::all_name_something(&known, &names.collect::<Vec<_>>()).map(|()| trials)
            }
        }
    }
}

/// What every trial needs.
struct Judging {
    importer: Arc<dyn Importer>,
    suite: Root,
}

/// Failures that are known.
struct Known {
    trials: GlobMatcher,
    reason: Arc<str>,
}

impl Known {
    fn read(entries: &[(String, String)]) -> Result<Vec<Self>, Vec<Problem>> {
        let entry = |(trials, reason): &(String, String)| {
            if reason.trim().is_empty() {
                return Err(problem(trials, "a known failure without a reason: say why it is accepted"));
            }
            let glob = GlobBuilder::new(trials).literal_separator(true).build();
            let glob = glob.map_err(|error| problem(trials, format!("is not a glob: {}", error.kind())))?;
            Ok(Self { trials: glob.compile_matcher(), reason: reason.as_str().into() })
        };
        let (read, problems): (Vec<_>, Vec<_>) = entries.iter().map(entry).partition(Result::is_ok);
        let problems: Vec<Problem> = problems.into_iter().filter_map(Result::err).collect();
        if problems.is_empty() { Ok(read.into_iter().flatten().collect()) } else { Err(problems) }
    }

    fn names(&self, trial: &str) -> bool {
        self.trials.is_match(trial.replace("::", "/"))
    }

    /// An entry that names nothing is misspelled, or its case is gone.
    fn all_name_something(known: &[Self], trials: &[&str]) -> Result<(), Vec<Problem>> {
        let nothing =
            known.iter().filter(|known| !trials.iter().any(|trial| known.names(trial))).map(|known| {
                problem(
                    known.trials.glob().glob(),
                    "is listed as a known failure, but no trial has this name",
                )
            });
        let problems: Vec<Problem> = nothing.collect();
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }
}

fn problem(place: &str, message: impl Into<String>) -> Problem {
    Problem { place: place.into(), line: None, message: message.into() }
}

/// The exit code where the suite, the list of known failures or the call cannot be used.
const UNUSABLE: u8 = 2;

/// The name of the trial that asks for one choice in every format.
const CONSISTENT: &str = "consistent";

/// The name of the trial of a topic's cases of which the importer shows nothing.
const QUIET: &str = "nothing-to-show";

/// The case that the trial of this name belongs to, without a look at any other.
fn exactly(suite: &Root, trial: &str) -> Result<Option<Case>, Vec<Problem>> {
    match trial.rsplit_once("::") {
        Some((case, _)) => Suite::load_one(suite, &case.replace("::", "/")),
        None => Ok(None),
    }
}

/// Why each reading of a case is known to fail, if it is.
type KnownReasons = Vec<Option<Arc<str>>>;

/// One trial for the cases of each topic of which the importer's level shows nothing: a line for each would bury the failures.
fn of_topics(cases: Vec<Arc<Case>>, judging: &Arc<Judging>, known: &[Known]) -> impl Iterator<Item = Trial> {
    let mut topics: BTreeMap<String, Vec<(Arc<Case>, KnownReasons)>> = BTreeMap::new();
    for case in cases {
        let topic = case.name.split('/').next().unwrap_or_default().to_owned();
        let reason = |name: String| known.iter().find(|it| it.names(&name)).map(|it| Arc::clone(&it.reason));
        let reasons = judging.names(&case).map(reason).collect();
        topics.entry(topic).or_default().push((case, reasons));
    }
    topics.into_iter().map(|(topic, cases)| {
        let judging = Arc::clone(judging);
        Trial::ignorable_test(format!("{topic}::{QUIET}"), move || {
            let mut failures = Vec::new();
            for (case, reasons) in &cases {
                for (format, known) in judging.formats(case).zip(reasons) {
                    failures.extend(judging.completed(case, Some(format), known.as_deref()).err());
                }
            }
            if failures.is_empty() {
                let count = counted(cases.len(), "session");
                return Ok(Completion::ignored_with(format!(
                    "there is nothing to compare at the level `calls` in {count}"
                )));
            }
            let words: Vec<&str> = failures.iter().filter_map(Failed::message).collect();
            Err(words.join("\n").into())
        })
    })
}

fn of_case(case: Arc<Case>, judging: &Arc<Judging>, known: &[Known]) -> Vec<Trial> {
    let name = |last: &str| format!("{}::{last}", case.name.replace('/', "::"));
    let trial = |format: Option<&'static str>, skip: Option<String>| {
        let name = name(format.unwrap_or(CONSISTENT));
        let (case, judging) = (Arc::clone(&case), Arc::clone(judging));
        let known = known.iter().find(|known| known.names(&name)).map(|known| Arc::clone(&known.reason));
        // Declared beforehand: nextest counts a trial that finds out at run time as passed.
        let skipped = skip.is_some();
        let run = move || match skip {
            Some(why) => Ok(Completion::ignored_with(why)),
            None => judging.completed(&case, format, known.as_deref()),
        };
        Trial::ignorable_test(name, run).with_ignored_flag(skipped)
    };
    let readings = readings(&case, &*judging.importer);
    let of_format = |reading: &PlannedRead<'_>| match reading.what {
        Ok(_) => Some(trial(Some(reading.format.name), None)),
        Err(skip @ Skip::Unjudged(_)) => {
            let why = skip.why(judging.importer.name(), reading.format);
            Some(trial(Some(reading.format.name), Some(why)))
        }
        // A list of all that it is not asked would be longer than that of its trials.
        Err(Skip::Uncarried(_) | Skip::Unread | Skip::Unidentified) => None,
    };
    let mut trials: Vec<Trial> = readings.iter().filter_map(of_format).collect();
    let read = readings.iter().filter(|reading| reading.what.is_ok()).count();
    if read > 1 && matches!(case.expectation, Expectation::Either(_)) && case.identified.is_none() {
        trials.push(trial(None, None));
    }
    trials
}

impl Judging {
    /// Whether the importer shows only tool calls, and the case has none.
    fn shows_nothing_of(&self, case: &Case) -> bool {
        let Expectation::Meaning(meaning) = &case.expectation else { return false };
        let events = || meaning.json().member("events").into_iter().flat_map(|events| events.items());
        let is_call = |event: Json<'_>| {
            event.member("kind").and_then(Json::as_text).is_some_and(|kind| kind.is("tool_call"))
        };
        self.importer.level() == Level::Calls
            && case.unjudged.is_none()
            && case.identified.is_none()
            && !events().any(is_call)
    }

    /// The formats of a case that the importer reads.
    fn formats(&self, case: &Case) -> impl Iterator<Item = &'static str> {
        readings(case, &*self.importer).into_iter().filter(|it| it.what.is_ok()).map(|it| it.format.name)
    }

    /// What the trials of these would be called.
    fn names(&self, case: &Case) -> impl Iterator<Item = String> {
        self.formats(case).map(|format| format!("{}::{format}", case.name.replace('/', "::")))
    }

    /// The end of a trial: it passes, or it fails and is known to.
    fn completed(
        &self,
        case: &Case,
        format: Option<&str>,
        known: Option<&str>,
    ) -> Result<Completion, Failed> {
        let lines = self.lines(case, format)?;
        // A session of which the importer's level shows nothing proves nothing: that is not a pass.
        let unseen = lines.iter().all(|line| line.verdict == Verdict::Skip);
        let why = lines.iter().find_map(|line| line.message.clone()).filter(|_| unseen);
        let failed: Vec<CaseResult> = lines.into_iter().filter(|line| line.verdict.is_failure()).collect();
        match known {
            None if why.is_some() => Ok(Completion::ignored_with(why.unwrap_or_default())),
            None if failed.is_empty() => Ok(Completion::Completed),
            Some(reason) if failed.is_empty() => {
                let message = format!(
                    "it passes, but is listed as a known failure: remove that entry\n  its reason: {reason}"
                );
                Err(message.into())
            }
            Some(_) if failed.iter().all(|line| line.verdict == Verdict::Fail) => Ok(Completion::Completed),
            _ => Err(self.message(case, format, failed).into()),
        }
    }

    /// Judges one format of a case, or all of them against each other, on a thread with room for deep JSON.
    fn lines(&self, case: &Case, format: Option<&str>) -> Result<Vec<CaseResult>, Failed> {
        let mut readings: Vec<PlannedRead<'_>> = readings(case, &*self.importer);
        readings.retain(|reading| format.is_none_or(|format| reading.format.name == format));
        let planned = PlannedCase { case, readings };
        let lines = thread::scope(|scope| {
            let judging = thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, || judge_case(&planned, &*self.importer));
            judging?.join().map_err(|_| std::io::Error::other("the judging thread panicked"))?
        });
        Ok(lines.map_err(|error| format!("{}: {error}", case.place))?)
    }

    /// What a person reads of a failure.
    fn message(&self, case: &Case, format: Option<&str>, lines: Vec<CaseResult>) -> String {
        let suite = record::Suite::new("", "");
        let implementation = implementation(&*self.importer);
        // A transcript that cannot be read again is not shown.
        let note = shown(case, &lines.iter().collect::<Vec<_>>()).unwrap_or_else(|_| case.note());
        let notes = BTreeMap::from([(case.name.clone(), note)]);
        let record = Record::new(suite, implementation, notes, lines);
        let trial = format!("{}::{}", case.name.replace('/', "::"), format.unwrap_or(CONSISTENT));
        let file = |line: &CaseResult| {
            line.file.as_ref().map(|file| match &self.suite {
                Root::Disk(cases) => cases.join(file).display().to_string(),
                Root::Embedded | Root::Generated(_) => file.clone(),
            })
        };
        let rerun = |_: &CaseResult| format!("cargo test -- --exact '{trial}'");
        let options =
            text::Options { colour: false, volume: text::Verbosity::Quiet, file: &file, rerun: &rerun };
        let failures: Vec<String> =
            record.results.iter().map(|line| text::failure(&record, line, &options)).collect();
        failures.join("\n")
    }
}

#[cfg(test)]
mod tests;
