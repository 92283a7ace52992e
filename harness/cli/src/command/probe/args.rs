//! What `probe` is asked, and what follows of that for all that it does.

use crate::command::baseline;
use crate::command::check::Output;
use crate::command::context::{CommandContext, Failure};
use crate::command::listen;
use crate::command::small_file;
use crate::command::values::{seconds, whole};
use crate::terminal::{Verbosity, data_out};
use app::{CheckOptions, CheckedFile};
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use reports::check::Renderer;
use reports::check::github::Github;
use rules::rule::Level;
use rules::{Revision, RuleVerdict};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use verdict::baseline::{Baseline, entry};
use verdict::verdict::Verdict;
use wire::Notify;
use wire::probe::{Part, Probed};

/// How many seconds an answer is waited for, where nothing else is said.
const PATIENCE: &str = "10";

/// Checks a live server or client: plays the other side, records what passes, and judges that as `check` does.
///
/// The client goes through a script (--list prints it): a handshake in every revision, `server/discover`, ids, every page of every
/// list, cursors, unknown methods, tools, resources and prompts, arguments that a tool's schema refuses, log levels,
/// cancellation, broken lines, and over HTTP sessions, versions, origins, GET and DELETE. Each session is recorded, and only what the
/// server does is reported.
///
/// Tools are called only where they say that they only read (`readOnlyHint`), or where --call names them. Arguments are the least
/// that a tool's schema accepts, or those of a recording (--from).
///
/// With `--as server` the client is what is checked: it is started once for each part of the server's script, with the command of a
/// server over stdio in place of `{server}`, or with --listen a URL in place of `{url}`, or appended to its words. A step that it
/// does not reach is listed as not reached, and is not a finding.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("../help/probe.txt"))]
pub(crate) struct Args {
    /// The side to play.
    #[arg(long = "as", value_name = "SIDE", default_value = "client", value_parser = ["client", "server"])]
    pub(super) role: String,
    /// Listen here for HTTP clients: an address, or a port of 127.0.0.1; port 0 picks a free one.
    #[arg(long, value_name = "ADDR", value_parser = listen::address, conflicts_with = "url")]
    pub(super) listen: Option<SocketAddr>,
    #[command(flatten)]
    pub(super) hosts: listen::Hosts,
    /// As a server, play only this part of the script. Without a command and --listen, it is played on the standard streams, for
    /// clients that start their servers from a configuration.
    #[arg(long, value_name = "PART", value_parser = part)]
    pub(super) part: Option<Part>,
    /// Where such a server notes what it has seen.
    #[arg(long, value_name = "FILE", hide = true)]
    pub(super) seen: Option<PathBuf>,
    /// As a server, kill the client after this many seconds [default: 60].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) run_time: Option<Duration>,
    /// A server over Streamable HTTP or HTTP+SSE, instead of a command.
    #[arg(long, value_name = "URL")]
    pub(super) url: Option<String>,
    /// Call this tool too, whatever its annotations say; `all` calls every tool. Repeatable.
    #[arg(long, value_name = "NAME")]
    pub(super) call: Vec<String>,
    /// Call tools with the arguments that they were called with in this recording.
    #[arg(long, value_name = "FILE")]
    pub(super) from: Option<PathBuf>,
    /// Say whether the server conforms to this revision, by a frozen set of rules.
    #[arg(long, value_name = "REVISION", value_parser = crate::command::check::revision())]
    pub(super) require: Option<Revision>,
    /// Call tools with arguments made from their schemas, and with recorded ones (--from) that are mutated, until the server fails; at
    /// most N calls, and with 0 only the recorded ones as they are.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "1000", value_parser = whole::<u64>)]
    pub(super) fuzz: Option<u64>,
    /// The seed of --fuzz.
    #[arg(long, value_name = "S", default_value_t = 1, requires = "fuzz", value_parser = whole::<u64>)]
    pub(super) seed: u64,
    /// Keep the recordings in this folder, a file for each session.
    #[arg(short, long = "keep", value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// The longest wait for an answer, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = PATIENCE, value_parser = seconds)]
    pub(super) timeout: Duration,
    /// Play and report only what these rules judge: ids, prefixes of ids up to a dot, or families.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub(super) select: Vec<String>,
    /// Skip these rules.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    pub(super) ignore: Vec<String>,
    /// A TOML file of known failures, each with its reason.
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// Add an entry to the baseline for each new failure; fill in the reasons yourself.
    #[arg(long, requires = "baseline")]
    write_baseline: bool,
    /// Minimum level to report.
    #[arg(long, value_name = "LEVEL", value_parser = ["must", "should", "info"], default_value = "info")]
    pub(super) level: String,
    /// Treat warnings as errors.
    #[arg(long)]
    pub(super) strict: bool,
    /// The output format.
    #[arg(long, value_parser = outputs(), default_value = "text", value_name = "KIND")]
    pub(super) output: Output,
    /// Print the script, and probe nothing.
    #[arg(long)]
    pub(super) list: bool,
    /// The server's command, or the client's.
    #[arg(last = true, conflicts_with = "url", value_name = "CMD")]
    pub(super) command: Vec<String>,
}

/// What is said while a probe goes on: only to a person who asked for it.
pub(super) struct Aside(pub(super) CommandContext);

impl Notify for Aside {
    fn error(&self, text: &str) {
        self.0.terminal.detail(text);
    }

    fn note(&self, text: &str) {
        self.0.terminal.detail(text);
    }

    fn mismatch(&self, text: &str) {
        self.0.terminal.detail(text);
    }
}

impl Args {
    /// What the command line lacks, or a flag that says nothing beside the others, and what to do about it.
    pub(super) fn misplaced(&self) -> Option<String> {
        let elsewhere = self.url.is_some() || self.listen.is_some() || self.part.is_some();
        if self.command.is_empty() && !elsewhere && !self.list {
            let which = match self.role == "server" {
                true => {
                    "the client: `-- COMMAND` starts it; --listen ADDR and --part PART wait for one that is started elsewhere"
                }
                false => "the server: `-- COMMAND` starts it, and --url URL reaches one that runs",
            };
            return Some(format!("name {which}"));
        }
        let of_servers = [
            ("--url", self.url.is_some()),
            ("--require", self.require.is_some()),
            ("--call", !self.call.is_empty()),
            ("--from", self.from.is_some()),
            ("--fuzz", self.fuzz.is_some()),
        ];
        let of_clients = [
            ("--listen", self.listen.is_some()),
            ("--part", self.part.is_some()),
            ("--run-time", self.run_time.is_some()),
            ("--seen", self.seen.is_some()),
        ];
        let not_fuzzed = [("--require", self.require.is_some()), ("--baseline", self.baseline.is_some())];
        let (flags, why): (&[_], _) = match (self.role == "server", self.fuzz) {
            (true, _) => (&of_servers, "only applies to probing a server: leave --as server out"),
            (false, Some(_)) if not_fuzzed.iter().any(|(_, given)| *given) => {
                (&not_fuzzed, "cannot be used with --fuzz")
            }
            (false, _) => (&of_clients, "only applies to probing a client: add --as server"),
        };
        flags.iter().find(|(_, given)| *given).map(|(flag, _)| format!("{flag} {why}"))
    }

    /// The findings that may pass.
    pub(super) fn known(&self, context: CommandContext) -> Result<Option<Baseline>, Failure> {
        let Some(path) = &self.baseline else { return Ok(None) };
        let text = match small_file::written(path) {
            Err(error) if self.write_baseline && error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text
                .map_err(|error| Failure::Unusable(format!("{} cannot be read: {error}", path.display())))?,
        };
        let known = Baseline::read(&text, self.write_baseline).and_then(|known| {
            let slips = known.without_rule(&rules::all().map(|rule| rule.id).collect::<Vec<_>>());
            if slips.is_empty() { Ok(known) } else { Err(slips) }
        });
        known.map(Some).map_err(|slips| {
            baseline::say(&slips, path, context);
            Failure::Unusable("the baseline cannot be used".to_owned())
        })
    }

    /// Takes out what the baseline lets pass, and adds the rest to it where that is asked for; whether an entry of it is stale, which is
    /// only said where all was judged.
    pub(super) fn let_pass(
        &self,
        known: Option<&Baseline>,
        sessions: &[Probed],
        files: &mut [CheckedFile],
        context: CommandContext,
    ) -> Result<bool, Failure> {
        let (Some(path), Some(known)) = (&self.baseline, known) else { return Ok(false) };
        let all = self.select.is_empty() && self.ignore.is_empty() && self.part.is_none();
        let whole = all && self.level == Level::Info.name();
        let findings = sessions.iter().zip(&*files).flat_map(|(session, file)| {
            file.lines.iter().filter(|line| line.is_finding()).map(|line| (line.rule, session.name.as_str()))
        });
        let (reasons, stale) = known.excuses(&findings.collect::<Vec<_>>(), whole);
        let (mut each, mut new) = (reasons.iter(), BTreeSet::new());
        for (session, file) in sessions.iter().zip(files) {
            file.lines.retain(|line| {
                let reason = if line.is_finding() { each.next().copied().flatten() } else { None };
                if let Some(reason) = reason {
                    let of_it = format!("{} in {} is known: {}", line.rule, line.file, reason.reason);
                    context.terminal.note(&of_it);
                } else if matches!(line.verdict, RuleVerdict::Fail | RuleVerdict::Warn) {
                    new.insert(entry(line.rule, Some(&session.name), Verdict::Fail, false));
                }
                reason.is_none()
            });
        }
        baseline::say(&stale, path, context);
        if self.write_baseline {
            baseline::add(path, |_| new.into_iter().collect(), context)?;
        }
        Ok(!stale.is_empty())
    }

    /// The server, as the command line names it, and how long it has to answer.
    pub(super) fn server(&self) -> String {
        let server = match &self.url {
            Some(url) => format!("--url {}", shell_words::quote(url)),
            None => format!("-- {}", shell_words::join(&self.command)),
        };
        self.patience() + &server
    }

    /// How long an answer is waited for, where that is said.
    pub(super) fn patience(&self) -> String {
        match self.timeout.as_secs_f64().to_string() {
            time if time == PATIENCE => String::new(),
            time => format!("--timeout {time} "),
        }
    }

    /// The server, and what may be called there with which arguments.
    pub(super) fn rerun(&self) -> String {
        let mut out = String::new();
        for name in &self.call {
            out.push_str(&format!("--call {} ", shell_words::quote(name)));
        }
        if let Some(from) = &self.from {
            out.push_str(&format!("--from {} ", shell_words::quote(&from.display().to_string())));
        }
        out + &self.server()
    }

    /// How recordings are judged.
    pub(super) fn options(&self, profile: &str, context: CommandContext) -> CheckOptions {
        CheckOptions {
            select: self.select.clone(),
            ignore: self.ignore.clone(),
            level: self.level.clone(),
            strict: self.strict,
            profile: profile.to_owned(),
            // A side that says nothing has a finding of its own.
            allow_empty: true,
            every: context.terminal.verbosity >= Verbosity::Verbose,
            ..CheckOptions::default()
        }
    }

    pub(super) fn renderer(&self, context: CommandContext) -> Result<Box<dyn Renderer>, Failure> {
        if self.output == Output::Github {
            return Ok(Box::new(Github { strict: self.strict, has_files: self.out.is_some() }));
        }
        self.output.renderer(self.strict, String::new(), context.terminal)?.ok_or_else(|| {
            let why =
                "--output html makes the page of one recording: keep the recordings with -o, and use show";
            Failure::Unusable(why.to_owned())
        })
    }

    /// A folder for recordings that nobody keeps; none where they are kept.
    pub(super) fn aside(&self) -> Result<Option<TempDir>, Failure> {
        let folder = self.out.is_none().then(tempfile::tempdir).transpose();
        folder.map_err(|error| Failure::Unusable(format!("no temporary folder for the recordings: {error}")))
    }

    /// The folder for recordings.
    pub(super) fn folder(&self, aside: Option<&TempDir>) -> Result<PathBuf, Failure> {
        let Some(folder) = &self.out else {
            return Ok(aside.map(|aside| aside.path().to_owned()).unwrap_or_default());
        };
        fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
        Ok(folder.clone())
    }

    pub(super) fn out(&self) -> Box<dyn io::Write> {
        match self.output {
            Output::Text => Box::new(io::stdout().lock()),
            _ => data_out(),
        }
    }
}

/// The outputs of several recordings: a page is of one.
fn outputs() -> impl TypedValueParser<Value = Output> {
    let several = Output::value_variants().iter().filter(|it| **it != Output::Html);
    PossibleValuesParser::new(several.filter_map(ValueEnum::to_possible_value))
        .try_map(|word| Output::from_str(&word, false))
}

/// A part of the script by its name.
fn part(name: &str) -> Result<Part, String> {
    let found = Part::OF_SERVER.into_iter().find(|part| part.name() == name);
    let names = Part::OF_SERVER.map(Part::name).join(", ");
    found.ok_or_else(|| format!("the parts are {names}"))
}
