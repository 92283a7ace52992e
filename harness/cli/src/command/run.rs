//! `run`: the suite against an importer; with `--rerun-failed` the failures of an earlier run, and whether they say anything of this
//! one.

mod selection;

use super::baseline;
use super::context::{CommandContext, Failure};
use super::importer_args::{ImporterArgs, Judged};
use super::input::distinct;
use super::live::{Live, StopArgs};
use super::outcome::{Outcome, exit_code, watch};
use super::records::{Input, read};
use super::results::ResultArgs;
use super::scaling::Scaling;
use super::suites::SuiteArgs;
use super::values::{bytes, power, whole};
use crate::exit;
use crate::scale::Bounds;
use mcp_concord_suite::Suite;
use mcp_concord_suite::run::{PlannedCase, Selection, Shard, Supervision, implementation, plan, supervised};
use selection::{SelectionArgs, is_compared, list, select};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::{io, thread};
use verdict::baseline::{Baseline, entries};
use verdict::record::{self, CaseResult, Implementation, Record, Subject};
use wire::interrupt;

/// Tests an importer with the suite: does it read every case, in every format, as the contract says?
///
/// The built-in readers are tested unless --adapter or --exec names a program.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/run.txt"))]
pub(crate) struct Args {
    #[command(flatten)]
    importer: ImporterArgs,
    /// A TOML file of known failures, each with its reason.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Add an entry to the baseline for each new failure; fill in the reasons yourself.
    #[arg(long, requires = "baseline", conflicts_with_all = ["filter", "format", "shard", "list", "rerun_failed", "fail_fast", "max_failures"])]
    write_baseline: bool,
    #[command(flatten)]
    suite: SuiteArgs,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Run only what failed in an earlier run, by its --results or the results.json of its --report.
    #[arg(long, value_name = "RESULTS")]
    rerun_failed: Option<PathBuf>,
    #[command(flatten)]
    stop: StopArgs,
    /// Refuse a suite in which a case of the contract lacks one of jsonrpc, streamable-http, http-sse and mcp-replay and does not say
    /// why, by `only` or a `[formats]` table.
    #[arg(long, conflicts_with = "generate")]
    paired: bool,
    /// How many to work on at once [default: the number of processors].
    #[arg(long, value_name = "N", value_parser = whole::<NonZeroUsize>)]
    jobs: Option<NonZeroUsize>,
    /// List what would be run, one reading a line, and run nothing.
    #[arg(long, conflicts_with_all = ["verify", "baseline", "results", "fail_fast", "max_failures"])]
    list: bool,
    /// Refused: `scripts/kills.py` tests the suite.
    #[arg(long, alias = "adequacy", hide = true)]
    mutants: bool,
    /// Measure growth instead: ask for one session at 1, 2, 4, 8 … calls, KiB of text, levels, open requests, ids and SSE
    /// events, in each format, until a transcript is larger than SIZE. --filter takes `dimension` or `dimension/format`.
    #[arg(long, value_name = "SIZE", num_args = 0..=1, default_missing_value = "4MiB", value_parser = bytes,
        conflicts_with_all = ["cases", "generate", "shard", "list", "verify", "baseline", "report", "jobs",
            "rerun_failed", "fail_fast", "max_failures", "paired", "name", "valid_for", "digest_of"])]
    scale: Option<u64>,
    /// With --scale: fail where time or memory grows with a larger power of the size.
    #[arg(long, value_name = "POWER", default_value = "1.5", value_parser = power, requires = "scale")]
    max_exponent: f64,
    #[command(flatten)]
    output: ResultArgs,
}

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    if args.mutants {
        let why = "--mutants was removed; `scripts/kills.py` in the repository shows which cases find which seeded faults";
        return Err(why.into());
    }
    distinct(&args.selection.format)?;
    if let Some(up_to) = args.scale {
        let bounds = Bounds { up_to, max_exponent: args.max_exponent };
        let (filters, formats) = (args.selection.filter.as_slice(), args.selection.format.as_slice());
        let scaling = Scaling { bounds, filters, formats, results: args.output.results.as_deref() };
        watch()?;
        return args.importer.measure(&scaling, context);
    }
    let suite = args.suite.load(context)?;
    if args.paired {
        refuse_unpaired(&suite, context)?;
    }
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    watch()?;
    let origin = args.output.origin(args.baseline.as_deref())?;
    let judged = args.importer.start()?;
    let importer = match args.importer.verify(&judged)? {
        Some(code) => return Ok(interrupt::code().unwrap_or(code)),
        None => judged.as_importer(),
    };
    let suite = suite.in_dialect(judged.dialect());
    let unreadable = |error: io::Error| Failure::Unusable(format!("the suite cannot be run: {error}"));
    let named = args.suite.named(&suite).map_err(unreadable)?;
    let mut planned = select(&args.selection, &suite, importer, context)?;
    if let Some(path) = &args.rerun_failed {
        let mut tested = implementation(importer);
        origin.name(&mut tested);
        let before = FailedBefore::read(path, &tested, &named)?;
        before.retain(&mut planned);
        before.say(path, &planned, context);
    }
    if args.list {
        return list(&planned, importer);
    }
    let baseline = known(args, &suite, &judged, context)?;
    let count = planned.iter().map(|planned| planned.readings.len()).sum();
    let live = Live::new(count, baseline.as_ref(), context);
    let supervision = Supervision {
        over: &interrupt::requested,
        max_failures: args.stop.max_failures(),
        fails: &|line| live.verdict(line).is_failure(),
        heard: &|lines| live.hear(lines),
    };
    let ran = supervised(&planned, importer, jobs, named, &supervision);
    live.end();
    let mut record = ran.map_err(unreadable)?;
    if let Some(note) = importer.stop().filter(|_| !interrupt::requested()) {
        context.terminal.note(&note);
    }
    let narrowed = args.selection.is_narrow() || args.rerun_failed.is_some();
    let stale = baseline.as_ref().map(|baseline| baseline.apply(&mut record)).unwrap_or_default();
    let pairing = suite.pairing();
    let is_whole = !narrowed && record.interrupted == 0 && args.suite.generate.is_none();
    if is_whole && !pairing.silent.is_empty() {
        context.terminal.note(&pairing.to_string());
    }
    record.shard = args.selection.shard.map(Shard::part);
    record.command = Some(command(args, None));
    origin.mark(&mut record);
    let cases: BTreeMap<&str, _> =
        planned.iter().map(|planned| (planned.case.name.as_str(), planned.case)).collect();
    let file = |line: &CaseResult| {
        let (_, file) = line.file.as_deref()?.rsplit_once('/')?;
        Some(format!("{}/{file}", cases.get(line.case.as_str())?.place))
    };
    let rerun = |line: &CaseResult| {
        let open = cases.get(line.case.as_str()).is_some_and(|case| is_compared(case));
        let what = if open { line.case.clone() } else { format!("{}/{}", line.case, line.format) };
        command(args, Some(&what))
    };
    Outcome { output: &args.output, file: &file, rerun: &rerun }.tell(&record, context)?;
    if let Some(path) = &args.baseline {
        baseline::say(&stale, path, context);
        if args.write_baseline && record.interrupted > 0 {
            context.terminal.error("nothing was added to the baseline, since the run was interrupted");
        } else if args.write_baseline {
            baseline::add(path, |first| entries(&record, first), context)?;
        }
    }
    if planned.is_empty() && args.rerun_failed.is_some() && interrupt::code().is_none() {
        return Ok(exit::WELL);
    }
    Ok(exit_code(&record, !stale.is_empty(), context))
}

/// Names each case that lacks a format without a word.
fn refuse_unpaired(suite: &Suite, context: CommandContext) -> Result<(), Failure> {
    let silent = suite.pairing().silent;
    for (case, formats) in &silent {
        let formats = formats.join(", ");
        context.terminal.error(&format!(
            "{case} has no transcript in {formats}; add one, or give the reason in `[formats.<name>]` or `only`"
        ));
    }
    match silent.len() {
        0 => Ok(()),
        1 => Err("1 case lacks formats without a reason (--paired)".into()),
        count => Err(format!("{count} cases lack formats without a reason (--paired)").into()),
    }
}

/// The baseline that the flags name. It is held against the whole suite, whatever part of it is run.
fn known(
    args: &Args,
    suite: &Suite,
    judged: &Judged,
    context: CommandContext,
) -> Result<Option<Baseline>, Failure> {
    let Some(path) = &args.baseline else { return Ok(None) };
    let whole = plan(suite, judged.as_importer(), &Selection::default());
    let readings = whole.iter().flat_map(|PlannedCase { case, readings }| {
        readings.iter().map(|reading| (case.name.as_str(), reading.format.name))
    });
    baseline::read(path, args.write_baseline, judged.dialect(), readings, context).map(Some)
}

/// The command that runs everything again, or only `what`, for pasting into a shell.
fn command(args: &Args, what: Option<&str>) -> String {
    format!("mcp-concord run{}{}", args.importer.flags(), args.suite.options(what))
}

/// What failed in an earlier run.
struct FailedBefore {
    failed: BTreeSet<(String, String)>,
    /// Why results of that run are missing.
    cut: Option<String>,
}

impl FailedBefore {
    /// The failures in the record in `path`, which must be of this suite and importer; of whatever version, since a failure is
    /// run again after the importer was changed.
    pub(super) fn read(
        path: &Path,
        importer: &Implementation,
        suite: &record::Suite,
    ) -> Result<Self, Failure> {
        let name = path.display();
        let Input::Run(record) = read(path)? else {
            return Err(format!("{name} is not a record of a run").into());
        };
        if let Some(why) = foreign(&record, importer, suite) {
            return Err(format!("{name} {why}; run the whole suite again").into());
        }
        let cut = record.cut_short();
        let failed = record.results.into_iter().filter(|line| line.verdict.is_failure());
        Ok(Self { failed: failed.map(|line| (line.case, line.format)).collect(), cut })
    }

    /// Keeps of a plan what failed. Where formats are compared with each other, all of them are read again.
    pub(super) fn retain(&self, planned: &mut Vec<PlannedCase<'_>>) {
        for PlannedCase { case, readings } in planned.iter_mut() {
            let failed = |format: &str| self.failed.contains(&(case.name.clone(), format.to_owned()));
            let any = is_compared(case) && readings.iter().any(|reading| failed(reading.format.name));
            readings.retain(|reading| any || failed(reading.format.name));
        }
        planned.retain(|planned| !planned.readings.is_empty());
    }

    /// Says that nothing is left to run, and that the earlier run does not know of everything.
    pub(super) fn say(&self, path: &Path, planned: &[PlannedCase<'_>], context: CommandContext) {
        let name = path.display();
        if let Some(cut) = &self.cut {
            context
                .terminal
                .note(&format!("the run that wrote {name} {cut}; those are not judged now either"));
        }
        if self.failed.is_empty() {
            context.terminal.note(&format!("nothing failed in {name}, so nothing is run"));
        } else if planned.is_empty() {
            context.terminal.note(&format!("nothing that failed in {name} is selected, so nothing is run"));
        }
    }
}

/// Why a record says nothing of this suite and importer; none where it does.
fn foreign(record: &Record, importer: &Implementation, suite: &record::Suite) -> Option<String> {
    let Implementation { name, dialect, .. } = &record.implementation;
    let of = |dialect: &Option<String>| dialect.clone().unwrap_or_else(|| "default".to_owned());
    if record.subject == Subject::Recorder {
        Some("holds results of `drive`, not of `run`".to_owned())
    } else if record.suite.digest != suite.digest {
        Some("is a record of another suite, whose failures may not exist in this one".to_owned())
    } else if *name != importer.name {
        Some(format!("is a record of {name}, but this run tests {}", importer.name))
    } else if *dialect != importer.dialect {
        Some(format!(
            "is a record in the dialect {}, but this run judges by {}",
            of(dialect),
            of(&importer.dialect)
        ))
    } else {
        None
    }
}
