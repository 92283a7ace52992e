//! `drive`: both ends of the wire around a recorder.

use super::baseline;
use super::context::{CommandContext, Failure};
use super::input::named_format;
use super::live::{Live, StopArgs};
use super::outcome::{Outcome, exit_code, watch};
use super::results::ResultArgs;
use super::suites::SuiteArgs;
use super::values::{glob, quoted, seconds, whole};
use crate::exit;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use formats::Format;
use globset::GlobMatcher;
use mcp_concord_suite::Suite;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;
use std::{env, thread};
use transcript::dialect;
use transcript::nearest::hint_or;
use verdict::baseline::Baseline;
use verdict::expectation::Expectation;
use verdict::record::CaseResult;
use verdict::supervision::Supervision;
use wire::drive::{self, Dimension, NotRun, Recorder, Rig, Scenario, Transport};
use wire::interrupt;

/// Tests a recorder: plays both ends around it, and judges what it passed on and what it recorded.
///
/// Each session is played by a client and a server of ours, with the recorder between them. Two things are judged.
/// Transparency: did each side receive what the other sent, byte for byte and in time, and the end and the exit code too?
/// Fidelity: what did the recording lose, add, change, merge, reorder, stamp wrongly or attach to another request?
/// The sessions are those of the suite, or of --cases, and stress conditions.
///
/// The recorder's command is split into words as a shell splits it, with placeholders in it: {server} is the command line of our
/// server, which the recorder starts; {out} the file to write, to which an ending may be added; over HTTP {port} is where
/// the recorder listens on 127.0.0.1, and {upstream} is our server's URL, or {origin} the same without its path.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/drive.txt"))]
pub(crate) struct Args {
    /// The recorder's command line, with placeholders.
    #[arg(long, value_name = "CMD", value_parser = Recorder::parse, required_unless_present = "list")]
    recorder: Option<Recorder>,
    /// The transport between client, recorder and server.
    #[arg(long, value_parser = transports(), value_name = "TRANSPORT", default_value = "stdio")]
    transport: Transport,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// Play only what matches this glob over `name` or `name/dimension`. Repeatable.
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    filter: Vec<GlobMatcher>,
    #[command(flatten)]
    suite: SuiteArgs,
    /// A TOML file of known failures, each with its reason.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    #[command(flatten)]
    stop: StopArgs,
    #[command(flatten)]
    output: ResultArgs,
    /// List what would be played and judged, and play nothing.
    #[arg(long)]
    list: bool,
    /// How many to work on at once [default: the number of processors].
    #[arg(long, value_name = "N", value_parser = whole::<NonZeroUsize>)]
    jobs: Option<NonZeroUsize>,
    /// The longest delay that is tolerated between sending a message and its arrival or time stamp.
    #[arg(long, value_name = "SECONDS", alias = "patience", value_parser = seconds, default_value = "1")]
    max_delay: Duration,
    /// How long a peer waits for the next event before it gives up on the session. What --max-delay adds to a session is added.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "5")]
    timeout: Duration,
    /// Keep each session with its recording, both journals and the standard error in a folder here.
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let suite = args.suite.load(context)?;
    let unreadable = |error: io::Error| Failure::Unusable(format!("the suite cannot be played: {error}"));
    let (scenarios, without) = scenarios(&suite, args.transport).map_err(unreadable)?;
    let known = known(args, &scenarios, context)?;
    let planned = select(args, scenarios)?;
    let Some(recorder) = args.recorder.as_ref().filter(|_| !args.list) else {
        return list(args, &planned);
    };
    let placeholders: &[&[&str]] = match args.transport.is_http() {
        true => &[&["{out}"], &["{port}"], &["{upstream}", "{origin}"]],
        false => &[&["{out}"], &["{server}"]],
    };
    if let Some([placeholder, ..]) = placeholders.iter().find(|any| recorder.lacks(any).len() == any.len()) {
        let over = args.transport.name();
        return Err(format!("the recorder's command needs {placeholder} over {over}").into());
    }
    if without > 0 && args.filter.is_empty() {
        let noun = if without == 1 { "case has" } else { "cases have" };
        context
            .terminal
            .note(&format!("{without} {noun} no session that can be played over {}", args.transport.name()));
    }
    let origin = args.output.origin(args.baseline.as_deref())?;
    let rig = Rig {
        recorder: recorder.clone(),
        transport: args.transport,
        format: args.format,
        patience: args.max_delay,
        timeout: args.timeout,
        save: args.save.clone(),
        program: env::current_exe().map_err(|error| format!("this program cannot be found: {error}"))?,
    };
    let impossible = |error: io::Error| Failure::Unusable(format!("nothing can be played: {error}"));
    watch()?;
    let tried = rig.try_out(&planned).map_err(impossible)?;
    if let Some(code) = interrupt::code() {
        return Ok(code);
    }
    tried.map_err(|NotRun(why)| Failure::NotRun(why))?;
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let named = args.suite.named(&suite).map_err(unreadable)?;
    let count = planned.iter().map(|scenario| args.dimensions(scenario).count()).sum();
    let live = Live::new(count, known.as_ref(), context);
    // A filter may name one dimension of a scenario, and a session has both.
    let wanted = |line: &CaseResult| args.takes(&line.case, &line.format);
    let supervision = Supervision {
        over: &interrupt::requested,
        max_failures: args.stop.max_failures(),
        fails: &|line| wanted(line) && live.verdict(line).is_failure(),
        heard: &|lines| live.hear(lines.iter().filter(|line| wanted(line))),
    };
    let ran = drive::run(&planned, &rig, jobs, named, &supervision);
    live.end();
    let mut record = ran.map_err(impossible)?;
    record.results.retain(wanted);
    record.planned = record.results.len() as u64;
    record.interrupted = (count - record.results.len()) as u64;
    record.recount();
    let stale = known.map(|known| known.apply(&mut record)).unwrap_or_default();
    record.command = Some(command(args, None));
    origin.mark(&mut record);
    let rerun = |line: &CaseResult| command(args, Some(&format!("{}/{}", line.case, line.format)));
    Outcome { output: &args.output, file: &|line| line.file.clone(), rerun: &rerun }
        .tell(&record, context)?;
    if let Some(path) = &args.baseline {
        baseline::say(&stale, path, context);
    }
    Ok(exit_code(&record, !stale.is_empty(), context))
}

impl Args {
    fn takes(&self, scenario: &str, dimension: &str) -> bool {
        let full = format!("{scenario}/{dimension}");
        let named = |glob: &GlobMatcher| glob.is_match(scenario) || glob.is_match(&full);
        self.filter.is_empty() || self.filter.iter().any(named)
    }

    /// The dimensions of a scenario that the filters ask for.
    fn dimensions(&self, scenario: &Scenario) -> impl Iterator<Item = Dimension> {
        Dimension::ALL.into_iter().filter(|dimension| self.takes(&scenario.name, dimension.name()))
    }
}

/// The transports by their names, as they stand in the help.
fn transports() -> impl TypedValueParser<Value = Transport> {
    let value = |it: Transport| PossibleValue::new(it.name()).help(it.about());
    PossibleValuesParser::new(Transport::ALL.map(value))
        .map(|name| Transport::ALL.into_iter().find(|it| it.name() == name).unwrap_or(Transport::Stdio))
}

/// All that can be played over a transport: the conditions, then the sessions of the suite. And how many cases have none.
fn scenarios(suite: &Suite, transport: Transport) -> std::io::Result<(Vec<Scenario>, usize)> {
    let mut found = drive::conditions(transport);
    let before = found.len();
    for case in suite.cases.iter().filter(|case| !matches!(case.expectation, Expectation::Rejection(_))) {
        let of_format =
            |format: &'static Format| case.transcripts.iter().find(|it| it.format.name == format.name);
        let Some(transcript) = transport.formats().find_map(of_format) else { continue };
        let uncarried = case.uncarried.iter().map(|it| (it.format.name, it.why.clone())).collect();
        let session = transcript.blob.bytes()?.into_owned();
        let about = (case.name.as_str(), case.note(), &*case.clauses);
        found.extend(Scenario::new(about, transcript.format, session, uncarried));
    }
    let without = suite.cases.len() - (found.len() - before);
    Ok((found, without))
}

/// The scenarios that the filters ask for. A run of nothing proves nothing, so it is refused.
fn select(args: &Args, scenarios: Vec<Scenario>) -> Result<Vec<Scenario>, Failure> {
    let names = |scenario: &Scenario| {
        Dimension::ALL
            .map(|dimension| format!("{}/{}", scenario.name, dimension.name()))
            .into_iter()
            .chain([scenario.name.clone()])
    };
    for filter in &args.filter {
        if !scenarios.iter().flat_map(names).any(|name| filter.is_match(name)) {
            let wanted = filter.glob().glob();
            let known = scenarios.iter().map(|it| it.name.as_str());
            let hint = hint_or("; --list shows what there is", wanted, known);
            let transport = args.transport.name();
            return Err(format!("--filter '{wanted}' matches nothing over {transport}{hint}").into());
        }
    }
    Ok(scenarios.into_iter().filter(|scenario| args.dimensions(scenario).next().is_some()).collect())
}

fn list(args: &Args, planned: &[Scenario]) -> Result<u8, Failure> {
    let mut out = String::new();
    for scenario in planned {
        for dimension in args.dimensions(scenario) {
            let _ = writeln!(out, "{}/{}", scenario.name, dimension.name());
        }
    }
    io::stdout().lock().write_all(out.as_bytes())?;
    Ok(exit::WELL)
}

/// The baseline, held against all that could be played, whatever part of it is.
fn known(args: &Args, scenarios: &[Scenario], context: CommandContext) -> Result<Option<Baseline>, Failure> {
    let Some(path) = &args.baseline else { return Ok(None) };
    let trials = scenarios
        .iter()
        .flat_map(|it| Dimension::ALL.iter().map(|dimension| (it.name.as_str(), dimension.name())));
    baseline::read(path, false, &dialect::ALL[0], trials, context).map(Some)
}

/// The command that plays everything again, or only `what`, for pasting into a shell.
fn command(args: &Args, what: Option<&str>) -> String {
    let recorder = args.recorder.as_ref().map(Recorder::text).unwrap_or_default();
    let mut out = format!("mcp-concord drive --recorder {}", quoted(recorder));
    if args.transport != Transport::Stdio {
        let _ = write!(out, " --transport {}", args.transport.name());
    }
    if let Some(format) = args.format {
        let _ = write!(out, " --format {}", format.name);
    }
    for (flag, time, usual) in [("max-delay", args.max_delay, 1), ("timeout", args.timeout, 5)] {
        if time != Duration::from_secs(usual) {
            let _ = write!(out, " --{flag} {}", time.as_secs_f64());
        }
    }
    out + &args.suite.options(what)
}
