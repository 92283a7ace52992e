//! `fuzz`: looks for sessions that an importer misreads.
//!
//! A baseline names cases, and every variant is a new one. So the cases that it names are judged first, those of the suite and those
//! that `fuzz` saved before, and how they fail is known: none of these kinds of failure is reported.

use super::base_session::base_session;
use super::baseline;
use super::context::{CommandContext, Failure};
use super::importer_args::{ImporterArgs, Judged};
use super::input::{distinct, named_format};
use super::outcome::watch;
use super::suites::{load, named};
use super::values::{quoted, seconds, whole, within};
use super::variants::CONSTRUCTED;
use crate::adapter::Command;
use crate::exit;
use crate::fuzzing::{Event, Kind, Plan, Probe, Reporter, Ruling, Signature, fuzz};
use crate::status_line::StatusLine;
use formats::Format;
use generators::seeded::Source;
use mcp_concord_suite::Root;
use mcp_concord_suite::importer::Importer;
use mcp_concord_suite::run::{PlannedCase, Selection, Supervision, plan, supervised};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};
use verdict::config_error::ConfigError;
use verdict::plain::counted;
use verdict::verdict::Verdict;
use wire::interrupt;

/// Generates and mutates sessions, and reports each one that your importer misreads.
///
/// The generator knows the meaning of each session. A session that is misread is shrunk while the same kind of failure
/// shows, and saved as a case directory that `run --cases` loads. Each kind of failure is reported once. Ctrl-C keeps what
/// was found.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/fuzz.txt"))]
pub(crate) struct Args {
    #[command(flatten)]
    importer: ImporterArgs,
    /// Known failures, each with its reason, in a TOML file as for `run`: failures like these are not reported.
    #[arg(long, value_name = "FILE", conflicts_with = "against")]
    baseline: Option<PathBuf>,
    /// Ask only about this capture format. Repeatable.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Vec<&'static Format>,
    /// Report where this adapter and the importer under test disagree, and which one the contract agrees with.
    #[arg(long, value_name = "CMD", value_parser = Command::parse)]
    against: Option<Command>,
    /// Mutate the session of this transcript, case directory or case of the suite, instead of generating sessions.
    #[arg(long, value_name = "FILE|CASE")]
    from: Option<PathBuf>,
    /// The seed of the random choices.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole::<u64>)]
    seed: u64,
    /// The number of the first variant.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = within::<0, { (1 << 53) - 1 }>)]
    first: u64,
    /// How many variants to try [default: 1000, or unlimited with --time].
    #[arg(long, value_name = "N", value_parser = within::<1, { u64::MAX }>)]
    runs: Option<u64>,
    /// How long to go on.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time: Option<Duration>,
    /// How many to work on at once [default: the number of processors].
    #[arg(long, value_name = "N", value_parser = whole::<NonZeroUsize>)]
    jobs: Option<NonZeroUsize>,
    /// The folder for the findings.
    #[arg(long, value_name = "DIR", default_value = OUT)]
    out: PathBuf,
}

/// The default folder for findings.
const OUT: &str = "concord-findings";

/// The default number of variants.
const RUNS: u64 = 1_000;

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    distinct(&args.format)?;
    let given = args.from.as_deref().map(|path| base_session(path, context.terminal)).transpose()?;
    writable(&args.out)?;
    watch()?;
    let judged = args.importer.start()?;
    if let Some(code) = args.importer.verify(&judged)? {
        return Ok(interrupt::code().unwrap_or(code));
    }
    let other = args.against.as_ref().map(|command| args.importer.beside(command)).transpose()?;
    let other = other.as_ref().map(|adapter| adapter as &dyn Importer);
    let dialect = judged.dialect();
    if let Some(other) = other.filter(|other| other.dialect() != dialect.name) {
        return Err(Failure::Unusable(format!(
            "they read in two dialects, {} and {}, so they differ on purpose; judge both by one with --dialect",
            dialect.name,
            other.dialect()
        )));
    }
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let read = |path: &PathBuf| KnownKinds::read(path, &args.out, &judged, jobs, context);
    let known = args.baseline.as_ref().map(read).transpose()?.unwrap_or_default();
    if let Some(code) = interrupt::code() {
        return Ok(code);
    }
    let probe = Probe::new(judged.as_importer(), other, dialect, &args.format);

    let made = if dialect.is_default() { Source::Made } else { Source::MadeFor(dialect) };
    let plan = Plan {
        seed: args.seed,
        first: args.first,
        runs: args.runs.or(if args.time.is_none() { Some(RUNS) } else { None }),
        until: args.time.and_then(|time| Instant::now().checked_add(time)),
        jobs,
        source: given.as_ref().map_or(made, |given| Source::Given(&given.draft)),
        known: &known.signatures,
    };
    let source = given.as_ref().map_or(CONSTRUCTED, |it| &it.origin);
    let (run_again, fuzz_again) = (|who| args.run_again(who), args.fuzz_again());
    let reporter = Reporter {
        out: &args.out,
        seed: args.seed,
        importers: probe.importers().map(|it| (it.name().to_owned(), it.version().to_owned())).collect(),
        source,
        run: &run_again,
        fuzz: &fuzz_again,
        colour: context.terminal.colour_out,
    };
    let since = Instant::now();
    let mut progress = StatusLine::new(context.terminal.verbosity);
    let mut names = Vec::new();
    let done = fuzz::<Failure>(&plan, &probe, &mut |event| match event {
        Event::Progress(tally) => {
            let millis = u64::try_from(since.elapsed().as_millis().max(1)).unwrap_or(u64::MAX);
            let rate = tally.runs * 1000 / millis;
            let found = counted(tally.findings as u64, "finding");
            progress.show(|| format!("{} runs, {rate}/s, {found}", tally.runs));
            Ok(())
        }
        Event::Found(finding) => {
            progress.clear();
            let saved = reporter.save(finding, names.len());
            if let Some((path, error)) = saved.error {
                context.terminal.error(&format!("{} cannot be saved: {error}", path.display()));
            }
            names.push(saved.name);
            let mut out = io::stdout().lock();
            out.write_all(saved.text.as_bytes())?;
            writeln!(out)?;
            out.flush()
        }
    });
    progress.clear();
    for importer in probe.importers() {
        if let Some(note) = importer.stop() {
            context.terminal.note(&note);
        }
    }
    let tally = done?;
    if tally.runs > 0 && tally.runs == tally.none && !tally.interrupted {
        return Err("nothing in this session can be changed, so nothing was tried".into());
    }
    let summary = reporter.summary(&tally, &names, context.terminal.verbosity);
    io::stdout().lock().write_all(summary.as_bytes())?;
    if let Some(path) = &args.baseline {
        baseline::say(&known.stale, path, context);
    }
    Ok(match interrupt::code() {
        Some(code) if tally.interrupted => code,
        _ if tally.findings == 0 && known.stale.is_empty() => exit::WELL,
        _ => exit::FAILED,
    })
}

impl Args {
    /// The command that runs what was found against the importer at fault.
    fn run_again(&self, who: Ruling) -> String {
        let flags = match (who, &self.against) {
            (Ruling::Second, Some(command)) => format!(" --adapter {}", quoted(command.text())),
            _ => self.importer.flags(),
        };
        format!("mcp-concord run{flags} --cases {}", quoted(&self.out.display().to_string()))
    }

    /// The command that goes through the same variants.
    fn fuzz_again(&self) -> String {
        let mut out = format!("mcp-concord fuzz{}", self.importer.flags());
        if let Some(command) = &self.against {
            let _ = write!(out, " --against {}", quoted(command.text()));
        }
        if let Some(baseline) = &self.baseline {
            let _ = write!(out, " --baseline {}", quoted(&baseline.display().to_string()));
        }
        for format in &self.format {
            let _ = write!(out, " --format {}", format.name);
        }
        if let Some(from) = &self.from {
            let _ = write!(out, " --from {}", quoted(&from.display().to_string()));
        }
        if self.out != Path::new(OUT) {
            let _ = write!(out, " --out {}", quoted(&self.out.display().to_string()));
        }
        let _ = write!(out, " --seed {}", self.seed);
        out
    }
}

/// Whether something can be written there, before anything is looked for. The folder is made where it is missing.
fn writable(out: &Path) -> Result<(), Failure> {
    let tried =
        fs::create_dir_all(out).and_then(|()| tempfile::Builder::new().prefix(".try").tempfile_in(out));
    let refused = |error| Failure::unwritable(out, &error);
    tried.map(drop).map_err(refused)
}

/// What a baseline says of an importer.
#[derive(Default)]
struct KnownKinds {
    /// How it is known to fail, in each format.
    signatures: BTreeSet<Signature>,
    /// The entries that excuse nothing any more.
    pub(super) stale: Vec<ConfigError>,
}

impl KnownKinds {
    /// Judges what the baseline in `path` names of the suite, and of the finds in `out`.
    pub(super) fn read(
        path: &Path,
        out: &Path,
        judged: &Judged,
        jobs: usize,
        context: CommandContext,
    ) -> Result<Self, Failure> {
        let mut roots = vec![Root::Embedded];
        let is_case = |entry: io::Result<fs::DirEntry>| {
            entry.is_ok_and(|entry| entry.path().join("case.toml").is_file())
        };
        if fs::read_dir(out).is_ok_and(|mut entries| entries.any(is_case)) {
            roots.push(Root::Disk(out.to_owned()));
        }
        let suite = load(&roots).map_err(|problems| {
            context.terminal.errors(problems.iter().map(ToString::to_string));
            Failure::Unusable(format!("the findings in {} cannot be used beside the suite", out.display()))
        })?;
        let suite = suite.in_dialect(judged.dialect());
        let importer = judged.as_importer();
        let mut planned = plan(&suite, importer, &Selection::default());
        let readings = planned.iter().flat_map(|PlannedCase { case, readings }| {
            readings.iter().map(|reading| (case.name.as_str(), reading.format.name))
        });
        let baseline = baseline::read(path, false, judged.dialect(), readings, context)?;
        planned.retain(|PlannedCase { case, readings }| {
            readings.iter().any(|reading| baseline.names(&case.name, reading.format.name))
        });
        let unreadable = |error: io::Error| Failure::Unusable(format!("the suite cannot be run: {error}"));
        let supervision = Supervision { over: &interrupt::requested, ..Supervision::default() };
        let suite = named(&suite).map_err(unreadable)?;
        let mut record = supervised(&planned, importer, jobs, suite, &supervision).map_err(unreadable)?;
        let kinds: Vec<Kind> = record.results.iter().map(Kind::new).collect();
        let stale = baseline.apply(&mut record);
        let excused =
            record.results.iter().zip(kinds).filter(|(line, _)| line.verdict == Verdict::ExpectedFail);
        let signature = |(line, kind): (&verdict::record::CaseResult, Kind)| {
            Some(Signature { format: formats::find(&line.format)?.name, kind, right: None })
        };
        let unexpected = record.results.iter().filter(|line| line.verdict == Verdict::UnexpectedPass);
        let passes = unexpected.map(|line| ConfigError {
            line: None,
            message: format!(
                "{}/{} passes: {}",
                line.case,
                line.format,
                line.message.as_deref().unwrap_or_default()
            ),
        });
        let stale = stale.into_iter().chain(passes).collect();
        Ok(Self { signatures: excused.filter_map(signature).collect(), stale })
    }
}
