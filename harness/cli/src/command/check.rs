//! `check`: is this recording right, and did both sides keep to the specification?

mod earlier;
mod judge;
mod summary;

use super::carrier::Carrier;
use super::context::{CommandContext, Failure};
use super::input::{name_of, named_format, open_kept};
use super::kept::{Aside, aside_failed};
use super::small_file;
use super::values::{spelled, whole, words};
use crate::exit;
use crate::listed_paths::named_paths;
use crate::recordings::{Found, Recordings};
use crate::terminal::{Terminal, Verbosity, data_out, out_for};
use app::{CheckOptions, VERSION};
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser, TypedValueParser};
use earlier::Earlier;
use formats::Format;
use hmac_sha256::Hash as Sha256;
use judge::Judge;
use mcp_concord_suite::run::Shard;
use reports::check::{Renderer, github, json, junit, ndjson, sarif, text};
use rules::record::RuleResult;
use rules::rule_set::RuleSet;
use rules::{Parallelism, Revision, RuleVerdict};
use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;
use summary::{Summary, Telling};
use transcript::nearest::hint;
use verdict::jobs::stream_in_order;
use wire::interrupt;

/// Judges recordings: is each a valid recording, and did client and server keep to the specification?
///
/// The revision is the one that the session shows. Where evidence is missing a rule is inconclusive, and -v says what would
/// settle it.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/check.txt"))]
pub(crate) struct Args {
    /// Recordings, or folders of them; `-` is the standard input.
    #[arg(required_unless_present_any = ["print_require", "files_from"], value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Also judge the recordings and folders in this list, one a line; `-` is the standard input.
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
    /// Names in the list end with a NUL, as `find -print0` writes them, instead of a newline.
    #[arg(short = '0', long, requires = "files_from")]
    null: bool,
    /// Judge only the I-th of N parts of the recordings; which part a recording is in depends only on its path.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    shard: Option<Shard>,
    /// Skip recordings that this earlier `--output ndjson` has, by the digest of their content.
    #[arg(long, value_name = "NDJSON")]
    resume: Option<PathBuf>,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// How many to work on at once [default: the number of processors].
    #[arg(long, value_name = "N", value_parser = whole::<NonZeroUsize>)]
    jobs: Option<NonZeroUsize>,
    /// Judge by this revision instead of the one that the session shows.
    #[arg(long, value_name = "REVISION", value_parser = revision())]
    spec: Option<Revision>,
    /// The output format.
    #[arg(long, value_enum, default_value = "text", value_name = "KIND")]
    output: Output,
    /// Also print each error and warning to the standard error as soon as it is found.
    #[arg(long)]
    early: bool,
    /// Check only these rules: ids, prefixes of ids up to a dot, or families.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    select: Vec<String>,
    /// Skip these rules.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Minimum level to report.
    #[arg(long, value_name = "LEVEL", value_parser = ["must", "should", "info"], default_value = "info")]
    level: String,
    /// Treat warnings as errors.
    #[arg(long)]
    strict: bool,
    /// Accept recordings without messages, in which nothing can be judged.
    #[arg(long)]
    allow_empty: bool,
    /// Whose violations to report.
    #[arg(long, value_parser = words(&WHOSE), default_value = "all", value_name = "WHOSE")]
    profile: String,
    /// Check conformance to a frozen set of rules, which replaces the selection: the set of a revision that comes with the
    /// program, such as 2025-11-25, or a TOML file.
    #[arg(long, value_name = "SET", conflicts_with_all = ["select", "ignore", "level", "profile", "allow_empty"])]
    require: Option<PathBuf>,
    /// Print the current rules of a revision as a frozen set, and judge nothing.
    #[arg(long, alias = "write-require", value_name = "REVISION", value_parser = revision())]
    #[arg(conflicts_with_all = ["files", "require"])]
    print_require: Option<Revision>,
    /// A marker that the recorder wrote in place of a redacted value, besides `[REDACTED]`. Repeatable.
    #[arg(long, value_name = "MARKER", value_parser = NonEmptyStringValueParser::new())]
    redacted: Vec<String>,
    /// Which text of version 1 of mcp-replay a trace must follow.
    #[arg(long, alias = "format-text", value_parser = words(&TEXTS), default_value = "later", value_name = "TEXT")]
    mcp_replay_text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Output {
    /// For people: rustc-style diagnostics.
    Text,
    /// For programs: an array of findings.
    Json,
    /// For programs: an object a line for each recording, as soon as it is judged.
    Ndjson,
    /// For editors and code scanners: SARIF 2.1.0.
    Sarif,
    /// For CI: a suite for each recording, a case for each rule that could be judged; with -v for every rule.
    Junit,
    /// For a GitHub workflow: an annotation for each finding.
    Github,
    /// For people: one recording as a page to explore, with its findings.
    Html,
}

const ONE_PAGE: &str = "--output html makes the page of one recording: name one file, not a folder, list or shard; for several, \
                        `check --output json` writes what `mcp-concord report` turns into pages";

impl Output {
    /// What writes it while recordings are judged; none where it is the page of one recording.
    pub(super) fn renderer(
        self,
        strict: bool,
        how: String,
        terminal: Terminal,
    ) -> io::Result<Option<Box<dyn Renderer>>> {
        let version = VERSION;
        let every = terminal.verbosity >= Verbosity::Verbose;
        let options = text::Options { colour: terminal.colour_out, volume: terminal.verbosity.into() };
        Ok(Some(match self {
            Self::Text => Box::new(text::Text::new(version, options)),
            Self::Json => Box::new(json::Json::new(every)),
            Self::Ndjson => {
                Box::new(ndjson::Ndjson { version: version.to_owned(), options: how, strict, every })
            }
            Self::Sarif => Box::new(sarif::Sarif::new(version, every)),
            Self::Junit => {
                let spool = tempfile::tempfile().map_err(aside_failed)?;
                Box::new(junit::Junit::new(strict, every, Aside(spool)))
            }
            Self::Github => Box::new(github::Github { strict, has_files: true }),
            Self::Html => return Ok(None),
        }))
    }
}

const WHOSE: [(&str, &str); 5] = [
    ("recorder", "The recorder's: is the file a faithful, valid recording?"),
    ("session", "Those of client and server"),
    ("server", "The server's"),
    ("client", "The client's"),
    ("all", "All"),
];

const TEXTS: [(&str, &str); 2] = [("first", "The first one"), ("later", "The later one, which allows more")];

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    if let Some(revision) = args.print_require {
        io::stdout().lock().write_all(RuleSet::present(revision).spell().as_bytes())?;
        return Ok(exit::WELL);
    }
    let required = args.require.as_deref().map(|path| required(path, context)).transpose()?;
    let how = judged_by(args, required.as_ref().map(|(frozen, _)| frozen), context.terminal);
    let earlier = match &args.resume {
        Some(_) if args.output != Output::Ndjson => {
            return Err("--resume needs --output ndjson".into());
        }
        earlier => earlier.as_deref().map(|path| Earlier::read(path, VERSION, &how)).transpose()?,
    };
    for note in earlier.iter().flat_map(|earlier| &earlier.notes) {
        context.terminal.note(note);
    }
    let paths = named_paths(args.files.clone(), args.files_from.as_deref(), args.null)?;
    let one = match args.files.as_slice() {
        [file] if args.files_from.is_none() && !file.is_dir() => Some(file),
        _ => None,
    };
    let jobs = args.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let judge = app::Judge::new(&CheckOptions {
        format: name_of(args.format),
        spec: args.spec.map(|revision| revision.name().to_owned()),
        select: args.select.clone(),
        ignore: args.ignore.clone(),
        level: args.level.clone(),
        strict: args.strict,
        allow_empty: args.allow_empty,
        profile: args.profile.clone(),
        require: required.map(|(_, text)| text),
        redacted: args.redacted.clone(),
        mcp_replay_text: args.mcp_replay_text.clone(),
        every: context.terminal.verbosity >= Verbosity::Verbose,
        // Each thread has a recording of its own, unless there is only one.
        parallelism: (jobs > 1 && one.is_none()).then_some(Parallelism::NONE),
    })?;
    let judge = if args.early { judge.telling(move |found| early(found, context.terminal)) } else { judge };
    let Some(renderer) = args.output.renderer(args.strict, how, context.terminal)? else {
        let Some(file) = one.filter(|_| args.shard.is_none()) else {
            return Err(ONE_PAGE.into());
        };
        let mut carrier = Carrier::new(data_out(), context);
        let file = open_kept(file, args.format, context.terminal).map_err(Failure::of_input)?;
        let outcome = judge.page(file, &mut carrier).map_err(|why| Failure::from(why).of_input())?;
        return carrier.finish(outcome);
    };
    let out = out_for(matches!(args.output, Output::Text));
    let telling = Telling {
        strict: args.strict,
        limits: matches!(args.output, Output::Text | Output::Ndjson),
        sharded: args.shard.is_some(),
    };
    let mut summary = Summary::new(renderer, out, telling, context);
    interrupt::watch().map_err(|error| format!("Ctrl-C cannot be caught: {error}"))?;
    let shard = args.shard;
    let found = Recordings::find(paths).filter(move |found| match found {
        Found::Recording(recording) => {
            shard.is_none_or(|shard| shard.holds(&recording.path.display().to_string()))
        }
        _ => true,
    });
    let judge = Judge { judge, terminal: context.terminal, digests: args.output == Output::Ndjson, earlier };
    let work = move |found| judge.take(found);
    stream_in_order(found, jobs, work, interrupt::requested, |done| summary.take(done))?;
    summary.finish()
}

/// A finding in a line, with its place.
fn early(found: &RuleResult, terminal: Terminal) {
    let level = match found.verdict {
        RuleVerdict::Fail => "error",
        RuleVerdict::Warn => "warning",
        _ => return,
    };
    let line = found.line.map(|line| format!(":{line}")).unwrap_or_default();
    terminal.line(&format!("{}{line}: {level}[{}]: {}", found.file, found.rule, found.message));
}

/// The set of rules of this name that comes with the program, or the one in a file; and its text.
fn required(path: &Path, context: CommandContext) -> Result<(RuleSet, String), Failure> {
    let name = path.display();
    let text = match path.to_str().and_then(Revision::named) {
        Some(revision) => RuleSet::shipped(revision).to_owned(),
        None => small_file::written(path).map_err(|error| {
            let sets = Revision::ALL.map(Revision::name);
            let meant = hint(&name.to_string(), sets.into_iter());
            let sets = sets.join(", ");
            Failure::Unusable(format!("{name} cannot be read: {error}; the built-in sets are {sets}{meant}"))
        })?,
    };
    let set = RuleSet::read(&text).map_err(|wrong| {
        for one in &wrong {
            context.terminal.error(&format!("{name}: {one}"));
        }
        Failure::Unusable(format!("{name} is not a set of rules that --require can use"))
    })?;
    Ok((set, text))
}

/// What else than a recording decides what its line says: the options that were given.
fn judged_by(args: &Args, frozen: Option<&RuleSet>, terminal: Terminal) -> String {
    let other = |word: &String, usual: &str| (word != usual).then(|| word.clone());
    let list = |words: &[String]| (!words.is_empty()).then(|| words.join(","));
    let frozen = frozen.map(|set| spelled(Sha256::hash(set.spell().as_ref())));
    let options = [
        ("--format", name_of(args.format)),
        ("--spec", args.spec.map(|revision| revision.name().to_owned())),
        ("--select", list(&args.select)),
        ("--ignore", list(&args.ignore)),
        ("--level", other(&args.level, "info")),
        ("--profile", other(&args.profile, "all")),
        ("--require", frozen),
        ("--redacted", list(&args.redacted)),
        ("--mcp-replay-text", other(&args.mcp_replay_text, "later")),
    ];
    let flags = [
        ("--strict", args.strict),
        ("--allow-empty", args.allow_empty),
        ("-v", terminal.verbosity >= Verbosity::Verbose),
    ];
    let options = options.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value?)));
    let flags = flags.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_owned());
    options.chain(flags).collect::<Vec<_>>().join(" ")
}

/// What an option takes that names a revision.
pub(super) fn revision() -> impl TypedValueParser<Value = Revision> {
    PossibleValuesParser::new(Revision::ALL.map(Revision::name))
        .try_map(|name| Revision::named(&name).ok_or_else(|| format!("there is no revision `{name}`")))
}
