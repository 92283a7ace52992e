//! `fuzz`: looks for variants that an importer reads otherwise than the contract says.
//!
//! Knows: the flags, where finds are kept, and what a terminal is shown meanwhile. Refuses to know: how a find is found.

use super::generate::given::given;
use super::under_test::{UnderTest, quoted, seconds};
use super::{Around, Failure};
use crate::adapter::Command;
use crate::exit;
use crate::fuzzing::{Event, Plan, Probe, Right, Stopped, Tally, Teller, fuzz};
use crate::interrupt;
use crate::terminal::Volume;
use generators::seeded::Source;
use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, thread};
use suite::importer::Importer;

/// Looks for sessions that an importer reads otherwise than the contract says.
///
/// Variants are made whose meaning is known by construction. What is read otherwise is made as small as it can be while the
/// same kind of failure shows, and is kept as a case directory that `run --cases` loads. A kind of failure is told once.
/// Ctrl-C keeps what was found.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord fuzz --adapter 'node adapter.js'              1,000 variants of seed 0
  mcp-concord fuzz --adapter ./a --seed 7 --time 60         for a minute
  mcp-concord fuzz --exec 'tool read {file}' --runs 200     a program that reads one transcript
  mcp-concord fuzz --adapter ./a --from session.har         variants of a recorded session
  mcp-concord fuzz --adapter ./a --against ./b              where two importers disagree, and who is right
  mcp-concord fuzz --adapter ./a --first 41 --runs 1        one number again

Exit code 0: nothing found; 1: something was found; 2: the call or its input cannot be used; 3: the program under test
cannot be run.")]
pub(crate) struct Args {
    #[command(flatten)]
    under_test: UnderTest,
    /// Tell where this adapter and the importer under test disagree, and by the contract which of the two is right.
    #[arg(long, value_name = "CMD", value_parser = Command::parse)]
    against: Option<Command>,
    /// A transcript or a case directory whose session is changed, or the name of a case of the suite; without it, sessions
    /// are made from the seed.
    #[arg(long, value_name = "FILE|CASE")]
    from: Option<PathBuf>,
    /// Where the choices begin: a number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// The number of the first variant.
    #[arg(long, value_name = "N", default_value_t = 0)]
    first: u64,
    /// How many variants; 1000, unless --time says how long.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    /// How long.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time: Option<Duration>,
    /// How many variants are asked about at once; by default as many as there are processors.
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// The folder that gets the cases.
    #[arg(long, value_name = "DIR", default_value = OUT)]
    out: PathBuf,
}

/// Where finds go when nobody says where.
const OUT: &str = "concord-finds";

/// How many variants there are where nobody says how many or how long.
const RUNS: u64 = 1_000;

/// Runs the command.
///
/// # Errors
/// Where the call cannot be used, or an importer cannot be run.
pub(crate) fn run(args: &Args, around: Around) -> Result<u8, Failure> {
    let given = args.from.as_deref().map(given).transpose()?;
    writable(&args.out)?;
    interrupt::watch().map_err(|error| Failure::Unusable(format!("Ctrl-C cannot be waited for: {error}")))?;
    let judged = args.under_test.start()?;
    if let Some(code) = args.under_test.verify(&judged)? {
        return Ok(code);
    }
    let other = args.against.as_ref().map(|command| args.under_test.beside(command)).transpose()?;
    let other = other.as_ref().map(|adapter| adapter as &dyn Importer);
    let probe = Probe::new(judged.as_importer(), other);

    let plan = Plan {
        seed: args.seed,
        first: args.first,
        runs: args.runs.or(if args.time.is_none() { Some(RUNS) } else { None }),
        until: args.time.and_then(|time| Instant::now().checked_add(time)),
        jobs: args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get),
        source: given.as_ref().map_or(Source::Made, |given| Source::Given(&given.draft)),
    };
    let source =
        given.as_ref().map_or("of a session whose meaning is known by construction", |it| &it.origin);
    let (run_again, fuzz_again) = (|who| args.run_again(who), args.fuzz_again());
    let teller = Teller {
        out: &args.out,
        seed: args.seed,
        importers: probe.importers().map(|it| (it.name().to_owned(), it.version().to_owned())).collect(),
        source,
        run: &run_again,
        fuzz: &fuzz_again,
        colour: around.voice.colour_out,
    };
    let mut progress = Progress::new(around.voice.volume);
    let mut names = Vec::new();
    let done = fuzz(&plan, &probe, &mut |event| match event {
        Event::Progress(tally) => {
            progress.show(tally);
            Ok(())
        }
        Event::Found(find) => {
            progress.clear();
            let saved = teller.save(find, names.len());
            if let Some((path, error)) = saved.error {
                around.voice.error(&format!("{} cannot be saved: {error}", path.display()));
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
            around.voice.note(&note);
        }
    }
    let tally = done.map_err(|stopped| match stopped {
        Stopped::Untold(error) => Failure::from(error),
        Stopped::Unasked(why) => Failure::Unusable(why),
    })?;
    if tally.runs > 0 && tally.runs == tally.none {
        return Err(Failure::Unusable(
            "nothing of this session can be changed, so nothing was asked".to_owned(),
        ));
    }
    let summary = teller.summary(&tally, &names, around.voice.volume);
    io::stdout().lock().write_all(summary.as_bytes())?;
    Ok(if tally.finds == 0 { exit::WELL } else { exit::FELL_SHORT })
}

impl Args {
    /// The command that runs what was found against the importer at fault.
    fn run_again(&self, who: Right) -> String {
        let flags = match (who, &self.against) {
            (Right::Second, Some(command)) => format!(" --adapter {}", quoted(command.text())),
            _ => self.under_test.flags(),
        };
        format!("mcp-concord run{flags} --cases {}", quoted(&self.out.display().to_string()))
    }

    /// The command that goes through the same variants.
    fn fuzz_again(&self) -> String {
        let mut out = format!("mcp-concord fuzz{}", self.under_test.flags());
        if let Some(command) = &self.against {
            let _ = write!(out, " --against {}", quoted(command.text()));
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
    let refused = |error| Failure::Unusable(format!("{} cannot be written: {error}", out.display()));
    tried.map(drop).map_err(refused)
}

/// A line on the terminal that is written over; nothing where there is none.
struct Progress {
    wanted: bool,
    shown: bool,
    since: Instant,
    last: Option<Instant>,
}

impl Progress {
    const PAUSE: Duration = Duration::from_millis(200);

    fn new(volume: Volume) -> Self {
        let wanted = volume > Volume::Quiet && io::stderr().is_terminal();
        Self { wanted, shown: false, since: Instant::now(), last: None }
    }

    fn show(&mut self, tally: &Tally) {
        if !self.wanted || self.last.is_some_and(|last| last.elapsed() < Self::PAUSE) {
            return;
        }
        self.last = Some(Instant::now());
        let rate =
            tally.runs * 1000 / u64::try_from(self.since.elapsed().as_millis().max(1)).unwrap_or(u64::MAX);
        // A terminal that is gone is no reason to stop.
        let _ = write!(io::stderr(), "\r{} runs, {rate}/s, {} finds\u{1b}[K", tally.runs, tally.finds);
        self.shown = true;
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}
