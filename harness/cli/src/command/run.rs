//! `run`: the suite against an importer.

use super::outcome::Outcome;
use super::under_test::{UnderTest, quoted};
use super::{Around, Failure, baseline, generate, mutation, named_format};
use crate::exit;
use formats::Format;
use globset::{Glob, GlobMatcher};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::{fs, thread};
use suite::importer::Importer;
use suite::run::{PlannedCase, Selection, Shard, plan, run as carry_out};
use suite::{Root, Suite};
use transcript::nearest::nearest;
use verdict::baseline::{Baseline, entries};
use verdict::expectation::Expectation;
use verdict::record::{self, CaseResult, Record};

/// Runs the suite: does every case read, in every format, as the contract says?
///
/// The built-in readers are judged unless --adapter or --exec names a program. The suite that comes with this
/// program is used unless --cases names another.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord run                                   everything
  mcp-concord run --filter 'ids/*'                  a topic
  mcp-concord run --filter 'ids/null-request/har'   one transcript
  mcp-concord run --cases my/cases --results r.json a suite of your own, with a record of the run
  mcp-concord run --adequacy                        which seeded faults the suite tells apart
  mcp-concord run --adequacy --results kills.json   the same, kept for a report
  mcp-concord run --generate 1000 --adequacy        how many of them die from generated variants alone
  mcp-concord run --generate 1000 --seed 7          variants whose meaning is known, instead of the suite
  mcp-concord run --shard 1/4                       a quarter of the cases, always the same ones
  mcp-concord run --report out                      with a page, JUnit, Markdown and a badge in the folder out
  mcp-concord run --adapter 'node adapter.js'       an importer that speaks the adapter protocol
  mcp-concord run --exec 'tool read {file}'         a program that reads one transcript and prints one answer
  mcp-concord run --adapter ./a --baseline a.toml   with failures that are known, each with its reason

Exit code 0: all well; 1: a case failed, or the baseline is stale; 2: the suite, the baseline or the call cannot be
used; 3: the program under test cannot be run.")]
pub(crate) struct Args {
    #[command(flatten)]
    under_test: UnderTest,
    /// Known failures, each with its reason: a TOML file.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Add an entry to the baseline for each failure that it does not know; a person fills in the reasons.
    #[arg(long, requires = "baseline", conflicts_with_all = ["filter", "format", "shard", "list"])]
    write_baseline: bool,
    /// A folder of case directories, instead of the suite that comes with the program; several add up.
    #[arg(long, value_name = "DIR")]
    cases: Vec<PathBuf>,
    /// Run this many generated variants instead of the suite.
    #[arg(long, value_name = "N", conflicts_with = "cases", value_parser = clap::value_parser!(u64).range(1..))]
    generate: Option<u64>,
    /// The seed of the variants.
    #[arg(long, value_name = "N", default_value_t = 0, requires = "generate")]
    seed: u64,
    /// Run what matches: a glob over the case's name, or over `case/format`; several add up.
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    filter: Vec<GlobMatcher>,
    /// Run one capture format alone.
    #[arg(long, value_name = "FORMAT", value_parser = named_format)]
    format: Option<&'static Format>,
    /// Run part I of N; which part a case is in depends on its name alone.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    shard: Option<Shard>,
    /// How many transcripts are read at once; by default as many as there are processors.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Print what would be run, one reading a line, and run nothing.
    #[arg(long)]
    list: bool,
    /// Judge the suite instead: does some case tell each seeded fault from the faithful reader?
    #[arg(long, conflicts_with_all = ["filter", "format", "shard", "list", "adapter", "exec", "verify", "baseline"])]
    adequacy: bool,
    /// Write the record of the run to this file, as JSON; with --adequacy, the kill matrix.
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Write results.json, times.json, index.html, junit.xml, summary.md and badge.json into this folder.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["adequacy", "list"])]
    report: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// Where the suite or the selection cannot be used, or the record cannot be written.
pub(crate) fn run(args: &Args, around: Around) -> Result<u8, Failure> {
    let roots: Vec<Root> = match (args.generate, args.cases.as_slice()) {
        (Some(count), _) => vec![Root::Generated(generate::suite(args.seed, count))],
        (None, []) => vec![Root::Embedded],
        (None, cases) => cases.iter().cloned().map(Root::Disk).collect(),
    };
    let suite = match Suite::load(&roots) {
        Ok(suite) => suite,
        Err(problems) => {
            for problem in &problems {
                around.voice.error(&problem.to_string());
            }
            let noun = if problems.len() == 1 { "problem" } else { "problems" };
            return Err(Failure::Unusable(format!("the suite cannot be used: {} {noun}", problems.len())));
        }
    };
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    if args.adequacy {
        return match (args.generate, &args.results) {
            (Some(_), Some(_)) => Err(Failure::Unusable(
                "--results keeps the kill matrix of a suite, and --generate makes none".to_owned(),
            )),
            (Some(count), None) => mutation::by_generation(&suite, count, jobs, around),
            (None, results) => mutation::run(&suite, jobs, results.as_deref(), around),
        };
    }
    let importer = args.under_test.start()?;
    let importer = match args.under_test.verify(&importer)? {
        Some(code) => return Ok(code),
        None => importer.as_importer(),
    };
    let planned = select(args, &suite, importer, around)?;
    if args.list {
        return list(&planned, importer);
    }
    let baseline = known(args, &suite, importer, around)?;
    let unreadable = |error: io::Error| Failure::Unusable(format!("the suite cannot be run: {error}"));
    let named =
        record::Suite { seed: args.generate.map(|_| args.seed), ..named(&suite).map_err(unreadable)? };
    let mut record = carry_out(&planned, importer, jobs, named).map_err(unreadable)?;
    if let Some(note) = importer.stop() {
        around.voice.note(&note);
    }
    let whole = args.filter.is_empty() && args.format.is_none() && args.shard.is_none();
    let stale = baseline.as_ref().map(|baseline| baseline.apply(&mut record, whole)).unwrap_or_default();
    record.shard = args.shard.map(Shard::part);
    record.command = Some(command(args, None));
    let cases: BTreeMap<&str, _> =
        planned.iter().map(|planned| (planned.case.name.as_str(), planned.case)).collect();
    let file = |line: &CaseResult| {
        let (_, file) = line.file.as_deref()?.rsplit_once('/')?;
        Some(format!("{}/{file}", cases.get(line.case.as_str())?.place))
    };
    let alone = |line: &CaseResult| {
        let open = cases
            .get(line.case.as_str())
            .is_some_and(|case| matches!(case.expectation, Expectation::Either(_)));
        // In an open case the formats are held against each other, so one alone would show nothing.
        let what = if open { line.case.clone() } else { format!("{}/{}", line.case, line.format) };
        command(args, Some(&what))
    };
    let (results, report) = (args.results.as_deref(), args.report.as_deref());
    Outcome { results, report, file: &file, alone: &alone }.tell(&record, around)?;
    if let Some(path) = &args.baseline {
        baseline::say(&stale, path, around);
        if args.write_baseline {
            write_baseline(path, &record, around)?;
        }
    }
    Ok(if record.is_failure() || !stale.is_empty() { exit::FELL_SHORT } else { exit::WELL })
}

/// A suite as records name it.
pub(super) fn named(suite: &Suite) -> io::Result<record::Suite> {
    Ok(record::Suite::new(env!("CARGO_PKG_VERSION"), &suite.digest()?))
}

/// The baseline that the flags name. It is held against the whole suite, whatever part of it is run.
fn known(
    args: &Args,
    suite: &Suite,
    importer: &dyn Importer,
    around: Around,
) -> Result<Option<Baseline>, Failure> {
    let Some(path) = &args.baseline else { return Ok(None) };
    let whole = plan(suite, importer, &Selection::default());
    let readings = whole.iter().flat_map(|PlannedCase { case, readings }| {
        readings.iter().map(|reading| (case.name.as_str(), reading.format.name))
    });
    baseline::read(path, args.write_baseline, readings, around).map(Some)
}

/// Adds what is not known yet. What stands in the file stays as it is, byte for byte.
fn write_baseline(path: &Path, record: &Record, around: Around) -> Result<(), Failure> {
    let entries = entries(record);
    let added = entries.matches("[[known]]").count();
    if added == 0 {
        around.voice.note(&format!("{} knows every failure; nothing was added", path.display()));
        return Ok(());
    }
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| file.write_all(entries.as_bytes()))
        .map_err(|error| Failure::Unusable(format!("{} cannot be written: {error}", path.display())))?;
    let noun = if added == 1 { "entry" } else { "entries" };
    around.voice.note(&format!("added {added} {noun} to {}; give each a reason", path.display()));
    Ok(())
}

fn glob(text: &str) -> Result<GlobMatcher, String> {
    Glob::new(text).map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

/// The readings that the flags ask for. A run of nothing proves nothing, so it is refused; but a shard may be
/// empty, since its neighbours have the cases.
fn select<'s>(
    args: &Args,
    suite: &'s Suite,
    importer: &dyn Importer,
    around: Around,
) -> Result<Vec<PlannedCase<'s>>, Failure> {
    let mut selection = Selection { format: args.format, ..Selection::default() };
    for filter in &args.filter {
        selection.filters = vec![filter.clone()];
        if plan(suite, importer, &selection).is_empty() {
            let wanted = filter.glob().glob();
            let inside = format!("{}/", wanted.trim_end_matches('/'));
            let hint = match suite.cases.iter().any(|case| case.name.starts_with(&inside)) {
                true => format!("; did you mean '{inside}*'?"),
                false => {
                    match nearest(wanted, suite.cases.iter().map(|case| case.name.as_str())).as_slice() {
                        [] => "; --list shows what there is".to_owned(),
                        names => format!("; did you mean {}?", names.join(" or ")),
                    }
                }
            };
            let format =
                args.format.map(|format| format!(" in the format {}", format.name)).unwrap_or_default();
            return Err(Failure::Unusable(format!("--filter '{wanted}' matches nothing{format}{hint}")));
        }
    }
    selection.filters.clone_from(&args.filter);
    if plan(suite, importer, &selection).is_empty() {
        let name = args.format.map_or("any format", |format| format.name);
        return Err(Failure::Unusable(format!("no case has a transcript in {name}")));
    }
    selection.shard = args.shard;
    let planned = plan(suite, importer, &selection);
    let asked = planned.iter().flat_map(|planned| &planned.readings).any(|reading| reading.what.is_ok());
    if planned.is_empty() {
        around.voice.note("none of the selected cases is in this shard");
    } else if !asked {
        around.voice.note("every reading that was selected is skipped, so nothing is judged");
    }
    Ok(planned)
}

fn list(planned: &[PlannedCase<'_>], importer: &dyn Importer) -> Result<u8, Failure> {
    let mut out = String::new();
    for PlannedCase { case, readings } in planned {
        for reading in readings {
            let _ = write!(out, "{}/{}", case.name, reading.format.name);
            if let Err(skip) = reading.what {
                let _ = write!(out, "\tskip: {}", skip.why(importer.name(), reading.format));
            }
            out.push('\n');
        }
    }
    io::stdout().lock().write_all(out.as_bytes())?;
    Ok(exit::WELL)
}

/// The command that runs everything again, or `what` alone, for pasting into a shell.
fn command(args: &Args, what: Option<&str>) -> String {
    let mut out = String::from("mcp-concord run");
    out.push_str(&args.under_test.flags());
    if let Some(count) = args.generate {
        let _ = write!(out, " --generate {count} --seed {}", args.seed);
    }
    for cases in &args.cases {
        let _ = write!(out, " --cases {}", quoted(&cases.display().to_string()));
    }
    if let Some(what) = what {
        let _ = write!(out, " --filter {}", quoted(&globset::escape(what)));
    }
    out
}
