//! `probe`: does this live server keep to the specification?

mod findings;

use super::check::Output;
use super::context::{CommandContext, Failure};
use super::input::open_kept;
use super::outcome::watch;
use super::values::seconds;
use crate::terminal::{Verbosity, data_out};
use app::{CheckOptions, ReadOptions};
use rules::Revision;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use wire::Notify;
use wire::probe::{Calls, Part, Probe, SCRIPT};
use wire::proxy::Target;
use wire::record::Server;

/// Checks a live server: plays a client against it, records what passes, and judges that as `check` does.
///
/// The client goes through a script (--list prints it): a handshake in every revision, `server/discover`, ids, every page of every
/// list, cursors, unknown methods, tools, resources and prompts, arguments that a tool's schema refuses, log levels,
/// cancellation, broken lines, and over HTTP sessions, versions, origins, GET and DELETE. Each session is recorded, and only what the
/// server does is reported.
///
/// Tools are called only where they say that they only read (`readOnlyHint`), or where --call names them. Arguments are the least
/// that a tool's schema accepts, or those of a recording (--from).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord probe -- npx -y @modelcontextprotocol/server-everything
  mcp-concord probe --url http://127.0.0.1:3001/mcp
  mcp-concord probe --require 2025-11-25 -- ./server       does it conform?
  mcp-concord probe --call add --call all -- ./server      calls a tool that does not say that it only reads; or every one
  mcp-concord probe --from session.jsonl -- ./server       calls tools with the arguments of a recording
  mcp-concord probe --select tools -- ./server             only what the rules on tools judge
  mcp-concord probe -o recordings -- ./server              keeps the recordings, for check, show and diff
  mcp-concord probe --baseline known.toml -- ./server      lets known findings pass, each with its reason
  mcp-concord probe --output junit -- ./server > probe.xml
  mcp-concord probe --list                                 prints the script

Exit code 0: no error was found; 1: an error was found, or with --strict a warning, or a required rule was broken, or the
baseline is stale; 2: the call or a file cannot be used; 3: the server cannot be started or reached, or ended before it answered;
129, 130, 143: HUP, INT or TERM cut it short.")]
pub(crate) struct Args {
    /// A server over Streamable HTTP or HTTP+SSE, instead of a command.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Call this tool too, whatever it says of itself; `all` calls every tool. Repeatable.
    #[arg(long, value_name = "NAME")]
    call: Vec<String>,
    /// Call tools with the arguments that they were called with in this recording.
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Say whether the server conforms to this revision, by a frozen set of rules.
    #[arg(long, value_name = "REVISION", value_parser = super::check::revision())]
    require: Option<Revision>,
    /// Keep the recordings in this folder, a file for each session.
    #[arg(short, long = "keep", value_name = "DIR")]
    out: Option<PathBuf>,
    /// The longest wait for an answer, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    timeout: Duration,
    /// Play and report only what these rules judge: ids, prefixes of ids up to a dot, or families.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    select: Vec<String>,
    /// Skip these rules.
    #[arg(long, value_name = "IDS", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Let these findings pass: a file with a rule (`case`), a session (`format`), `kind = "fail"` and a reason for each.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Minimum level to report.
    #[arg(long, value_name = "LEVEL", value_parser = ["must", "should", "info"], default_value = "info")]
    level: String,
    /// Treat warnings as errors.
    #[arg(long)]
    strict: bool,
    /// The output format.
    #[arg(long, value_enum, default_value = "text", value_name = "KIND")]
    output: Output,
    /// Print the script, and probe nothing.
    #[arg(long)]
    list: bool,
    /// The server's command.
    #[arg(last = true, required_unless_present_any = ["url", "list"], conflicts_with = "url", value_name = "CMD")]
    command: Vec<String>,
}

/// What is said while a probe goes on: only to a person who asked for it.
struct Aside(CommandContext);

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

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    if args.list {
        return list();
    }
    let options = CheckOptions {
        select: args.select.clone(),
        ignore: args.ignore.clone(),
        level: args.level.clone(),
        strict: args.strict,
        profile: "server".to_owned(),
        // A server that says nothing has a finding of its own.
        allow_empty: true,
        every: context.terminal.verbosity >= Verbosity::Verbose,
        ..CheckOptions::default()
    };
    // Before anything is started: options may be wrong.
    let judge = app::Judge::new(&options)?;
    let Some(mut renderer) = args.output.renderer(args.strict, String::new(), context.terminal)? else {
        return Err(Failure::Unusable(
            "--output html is the page of one recording: keep them with -o, and use show".to_owned(),
        ));
    };
    let server = match &args.url {
        Some(url) => {
            Server::Http(Target::parse(url).map_err(|why| Failure::Unusable(format!("--url: {why}")))?)
        }
        None => Server::Command(args.command.clone()),
    };
    let aside = tempfile::tempdir();
    let folder = match &args.out {
        Some(folder) => {
            fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
            folder.clone()
        }
        None => aside
            .as_ref()
            .map_err(|error| Failure::Unusable(format!("no folder for recordings: {error}")))?
            .path()
            .to_owned(),
    };
    let probe = Probe {
        server,
        calls: match args.call.as_slice() {
            [] => Calls::ReadOnly,
            names if names.iter().any(|name| name == "all") => Calls::All,
            names => Calls::Named(names.to_vec()),
        },
        given: args.from.as_deref().map(|path| given(path, context)).transpose()?.unwrap_or_default(),
        patience: args.timeout,
        select: rules::selection::named(&args.select)
            .map_err(Failure::Unusable)?
            .into_iter()
            .map(str::to_owned)
            .collect(),
        folder,
    };
    watch()?;
    let notify: Arc<dyn Notify> = Arc::new(Aside(context));
    let sessions = probe.run(&notify)?;
    let mut out: Box<dyn io::Write> = match args.output {
        Output::Text => Box::new(io::stdout().lock()),
        _ => data_out(),
    };
    let required = args.require.map(|revision| {
        app::Judge::new(&CheckOptions {
            require: Some(revision.name().to_owned()),
            every: options.every,
            ..CheckOptions::default()
        })
    });
    let asked = findings::Asked {
        require: args.require,
        kept: args.out.is_some(),
        strict: args.strict,
        every: args.output != Output::Text || options.every,
        server: rerun(args),
    };
    let mut files = findings::judged(&asked, &sessions, &judge, required.transpose()?.as_ref(), context)?;
    let whole = args.select.is_empty() && args.ignore.is_empty();
    let is_stale = match &args.baseline {
        Some(path) => findings::let_pass(path, whole, &sessions, &mut files, context)?,
        None => false,
    };
    let code = findings::print(&asked, &sessions, &files, &mut *renderer, &mut out, context)?;
    Ok(if is_stale && code == crate::exit::WELL { crate::exit::FAILED } else { code })
}

/// What names this server again on a command line, and what may be called there.
fn rerun(args: &Args) -> String {
    let mut out = String::new();
    for name in &args.call {
        out.push_str(&format!("--call {} ", shell_words::quote(name)));
    }
    if let Some(from) = &args.from {
        out.push_str(&format!("--from {} ", shell_words::quote(&from.display().to_string())));
    }
    match &args.url {
        Some(url) => out + &format!("--url {}", shell_words::quote(url)),
        None => out + &format!("-- {}", shell_words::join(&args.command)),
    }
}

/// The calls of a recording: tools and their arguments.
fn given(path: &Path, context: CommandContext) -> Result<Vec<(String, Value)>, Failure> {
    let options = ReadOptions { calls: true, ..ReadOptions::default() };
    let read = app::answer(&options, [open_kept(path, None, context.terminal)?])?;
    let calls: Value = serde_json::from_slice(&read.bytes).unwrap_or_default();
    let call = |call: &Value| Some((call["tool"].as_str()?.to_owned(), call["arguments"].clone()));
    Ok(calls.as_array().into_iter().flatten().filter_map(call).collect())
}

/// Prints the script: a line for each step.
fn list() -> Result<u8, Failure> {
    use std::io::Write as _;
    let mut out = io::stdout().lock();
    for step in SCRIPT {
        let part = match step.part {
            Part::Session => "session",
            Part::Faults => "faults",
            Part::Http => "http",
        };
        let [first, last] = step.revisions;
        writeln!(out, "{part:<8} {:<25} {first} to {last}  {}", step.name, step.tests.join(", "))?;
    }
    Ok(crate::exit::WELL)
}
