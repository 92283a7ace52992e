//! `run`: the suite against an importer.

use super::{Around, Failure, adequacy, named_format};
use crate::builtin::Builtin;
use crate::exit;
use crate::importer::Importer;
use crate::run::{Planned, Selection, Shard, plan, run as carry_out};
use crate::show::Volume;
use crate::suite::{Root, Suite, nearest};
use formats::Format;
use globset::{Glob, GlobMatcher};
use judge::expectation::Expectation;
use judge::record::{self, CONTRACT, Line};
use reports::text;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::{fs, thread};

/// Runs the suite: does every case read, in every format, as the contract says?
///
/// The built-in readers are judged. The suite that comes with the program is used unless --cases names another.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord run                                   everything
  mcp-concord run --filter 'ids/*'                  a topic
  mcp-concord run --filter 'ids/null-request/har'   one transcript
  mcp-concord run --cases my/cases --results r.json a suite of your own, with a record of the run
  mcp-concord run --adequacy                        which seeded faults the suite tells apart
  mcp-concord run --shard 1/4                       a quarter of the cases, always the same ones

Exit code 0: all well; 1: a case failed; 2: the suite or the call cannot be used.")]
pub struct Args {
    /// A folder of case directories, instead of the suite that comes with the program; several add up.
    #[arg(long, value_name = "DIR")]
    cases: Vec<PathBuf>,
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
    #[arg(long, conflicts_with_all = ["filter", "format", "shard", "list", "results"])]
    adequacy: bool,
    /// Write the record of the run to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// Where the suite or the selection cannot be used, or the record cannot be written.
pub fn run(args: &Args, around: Around) -> Result<u8, Failure> {
    let importer = Builtin;
    let roots: Vec<Root> = match args.cases.as_slice() {
        [] => vec![Root::Embedded],
        cases => cases.iter().cloned().map(Root::Disk).collect(),
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
        return adequacy::run(&suite, jobs, around);
    }
    let planned = select(args, &suite, &importer, around)?;
    if args.list {
        return list(&planned, &importer);
    }
    let unreadable = |error: io::Error| Failure::Unusable(format!("the suite cannot be run: {error}"));
    let suite_line = record::Suite {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        digest: suite.digest().map_err(unreadable)?,
        contract: CONTRACT.to_owned(),
    };
    let record = carry_out(&planned, &importer, jobs, suite_line).map_err(unreadable)?;
    if let Some(path) = &args.results {
        let written = reports::json::render(&record).map_err(io::Error::from);
        written
            .and_then(|text| fs::write(path, text))
            .map_err(|error| Failure::Unusable(format!("{} cannot be written: {error}", path.display())))?;
    }
    let cases: BTreeMap<&str, _> =
        planned.iter().map(|planned| (planned.case.name.as_str(), planned.case)).collect();
    let file = |line: &Line| {
        let (_, file) = line.file.as_deref()?.rsplit_once('/')?;
        Some(format!("{}/{file}", cases.get(line.case.as_str())?.place))
    };
    let alone = |line: &Line| {
        let open = cases
            .get(line.case.as_str())
            .is_some_and(|case| matches!(case.expectation, Expectation::Either(_)));
        // In an open case the formats are held against each other, so one alone would show nothing.
        let what = if open { line.case.clone() } else { format!("{}/{}", line.case, line.format) };
        command(args, &what)
    };
    let volume = match around.voice.volume {
        Volume::Quiet => text::Volume::Quiet,
        Volume::Normal => text::Volume::Normal,
        Volume::Loud => text::Volume::Loud,
    };
    let options = text::Options { colour: around.voice.colour_out, volume, file: &file, alone: &alone };
    io::stdout().lock().write_all(text::render(&record, &options).as_bytes())?;
    Ok(if record.falls_short() { exit::FELL_SHORT } else { exit::WELL })
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
) -> Result<Vec<Planned<'s>>, Failure> {
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

fn list(planned: &[Planned<'_>], importer: &dyn Importer) -> Result<u8, Failure> {
    let mut out = String::new();
    for Planned { case, readings } in planned {
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

/// The command that runs `what` alone, for pasting into a shell.
fn command(args: &Args, what: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let mut out = String::from("mcp-concord run");
    for cases in &args.cases {
        let _ = write!(out, " --cases {}", quoted(&cases.display().to_string()));
    }
    let _ = write!(out, " --filter {}", quoted(&globset::escape(what)));
    out
}
