//! `record`: a transparent recorder between a client and a server.

use super::context::{CommandContext, Failure};
use super::input::written_format;
use super::listen::{self, Behind};
use super::recorded::{Recording, between, numbered};
use super::view::View;
use crate::exit;
use formats::{Format, Session};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use verdict::plain::counted;
use wire::files::{Growing, identity, may_write};
use wire::proxy::Target;
use wire::record::{self, Plan, Recorded, Server};
use wire::redaction::{Preset, Redaction, preset};

/// Records a session between a client and a server, over stdio or HTTP, without changing a byte.
///
/// Bytes are forwarded unmodified and unbuffered; end of input, signals (HUP, INT, QUIT, TERM, USR1 and USR2, to the
/// server's process group), stderr and exit code pass through. Put it before the server's command in your client's
/// configuration.
///
/// Each message becomes a line of an mcp-replay trace, with the time at which its last byte was seen. What is not a message
/// is kept under `dir` "event", which readers skip. A slow disk delays the session by at most half a second: messages
/// that it cannot keep up with are counted, reported, and marked in the file. At most 16 MiB wait to be written, and lines of
/// more than 4 MiB wait in a temporary file beside the recording.
///
/// With --listen it is a proxy between a client and a server that speak Streamable HTTP or the older HTTP+SSE, and writes a
/// HAR 1.2 with the times of events under `_events`. Streams are forwarded as they arrive; the file is a complete archive
/// after every write, with the exchanges that are still open. Only gzip is asked for as a coding, and an `endpoint` event that
/// names the server itself is rewritten to lead to the recorder; nothing else is changed. Connections that are not HTTP are
/// logged and counted. Each session gets a file of its own when the recording ends, the second one FILE-2 (the number comes
/// before the extension). An exchange belongs to a session by its id, its endpoint, its connection or the name of its client, or
/// if none of them shows it, to the session before it. Programs that do not know `_events` read a HAR exchange by exchange; a
/// message format has the messages in the order in which they passed, which HTTP+SSE needs.
///
/// With --listen and a command the server is run over stdio and served over Streamable HTTP, at /mcp: a process for each
/// session, or --shared by all. A request is answered with one message, or with a stream if the server sends something before
/// the answer; streams can be resumed within the last 1,000 events, or 8 MiB. Other messages of the server go with the latest
/// open request, progress with the request of its token, and changes of lists and what belongs to no request to the stream of a
/// GET. A server that ends has its open requests answered with errors, and its sessions are over. At most 64 sessions are open;
/// for one more, the one that was idle for the longest ends.
///
/// With --to and without --listen it is a server over stdio itself, in place of a command: each message goes to that URL over
/// Streamable HTTP, or over HTTP+SSE where the server refuses that, and the answers come back as lines. What HTTP refuses is an
/// error of the request. The end of input, or a signal, ends the session at the server, too.
///
/// Nothing is redacted unless --redact or --redact-text asks for it; a recording holds every secret that was sent, and
/// `record` says so. Redaction looks for JSON whatever its label says, and into JSON, URLs, percent signs, JWTs, Base64 and
/// hexadecimal digits within texts, up to six deep. These stay: ids (also `Mcp-Session-Id` and the ids of events), methods,
/// schemas, names of members, and the server's standard error. It does not find secrets that no name or pattern
/// describes, that are compressed within a text, or that come in two events.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/record.txt"))]
pub(crate) struct Args {
    /// The file to write; `{time}` and `{pid}` in its name are filled in. An existing file stays: over stdio the session
    /// goes to a file with `-2` before the ending, and with --listen it is refused. With --listen this is the first session; a
    /// second one goes to a file with `-2`, too.
    #[arg(short, long = "output", value_name = "FILE")]
    out: PathBuf,
    /// The format [default: har for `.har`, mcp-replay otherwise; `.json` needs one]. Formats other than mcp-replay, or
    /// than har with --listen, are written when the session has ended.
    #[arg(long, value_name = "FORMAT", value_parser = written_format())]
    format: Option<&'static Format>,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    /// Print what passes on the standard error: a line a message, findings as they arise, and requests that wait.
    #[arg(long)]
    view: bool,
    /// The trace's label [default: the program's name].
    #[arg(long, value_name = "TEXT", conflicts_with = "listen")]
    label: Option<String>,
    /// Redact what is under this name, in any letter case; `*` matches anything: texts and numbers under members, values
    /// after `NAME=` and `NAME:` in texts, options and variables of the command, and with --listen headers, cookies, members
    /// of queries and forms. Passwords in URLs go with any name. Ids, methods and schemas are never redacted. Lines that are
    /// not messages are withheld, and so are bodies that are not JSON, a form or an event stream, or are larger than 16 MiB, and
    /// comments and unknown fields of event streams. Repeatable.
    #[arg(long, value_name = "NAME")]
    redact: Vec<String>,
    /// Redact the parts of texts that match this regular expression, wherever --redact looks. Repeatable.
    #[arg(long, value_name = "REGEX")]
    redact_text: Vec<String>,
    /// Also redact what many sessions need: `common` has the names and patterns of credentials, cookies, tokens, and the
    /// keys of well-known makers, and `none` has none. Repeatable.
    #[arg(long, value_name = "PRESET", value_parser = preset)]
    redact_preset: Vec<&'static Preset>,
    /// Listen here for HTTP clients: an address, or a port of 127.0.0.1; port 0 picks a free one.
    #[arg(long, value_name = "ADDR", value_parser = listen::address)]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    hosts: listen::Hosts,
    /// Forward to this server. With --listen, `/` at the recorder is the URL's path, and every other path is kept; without it,
    /// the standard streams are a server over stdio, whose messages go to this URL.
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Start the command once for all sessions, instead of once for each.
    #[arg(long, requires = "listen", conflicts_with = "to")]
    shared: bool,
    /// The server's command.
    #[arg(last = true, conflicts_with = "to", value_name = "CMD")]
    command: Vec<String>,
}

impl Args {
    /// The format that was asked for, by name or by the file's ending, and none where neither tells; and what is redacted.
    fn prepared(&self) -> Result<(Option<&'static Format>, Redaction), String> {
        let ending = self.out.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let format = match (self.format, ending) {
            (Some(format), _) => Some(format),
            (None, "json") => return Err("several formats end in `.json`: name one with --format".to_owned()),
            (None, ending) => formats::find(ending),
        };
        let redaction = Redaction::new(&self.redact, &self.redact_text)?;
        let mut presets = self.redact_preset.iter();
        Ok((format, presets.try_fold(redaction, |all, preset| all.with_preset(preset))?))
    }

    /// Refuses options with which it could not take the place of a server that a client starts.
    pub(super) fn refuse_unusable(&self) -> Result<(), String> {
        match self.listen {
            Some(_) => Err("with --listen it serves HTTP, and the client talks to it over stdio".to_owned()),
            None => self.prepared().map(drop),
        }
    }
}

/// The most files of one name.
const MOST_FILES: usize = 10_000;

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    if args.to.is_none() && args.command.is_empty() {
        return Err("name the server: `-- COMMAND` starts it, and --to URL reaches one that runs".into());
    }
    // Not by the parser of the command line, which would repeat what is wrong.
    let to = args.to.as_deref().map(Target::parse).transpose();
    let to = to.map_err(|why| format!("--to: {why}"))?;
    let native = formats::live(args.listen.is_some()).ok_or("no format is written live")?;
    let (format, redaction) = args.prepared()?;
    let format = format.or(formats::live(false)).unwrap_or(native);
    let out = record::file_name(&args.out)?;
    let first = |out: &Path| if format.name == native.name { out.to_owned() } else { between(out, native) };
    if let Some(at) = args.listen {
        let behind = match &to {
            Some(to) => Behind::Http(to),
            None => Behind::Stdio { command: &args.command, shared: args.shared },
        };
        let label = match &to {
            Some(to) => to.origin(),
            None => listen::name(&args.command, &redaction),
        };
        let first = first(&out);
        if first != out {
            may_write(&out, args.force)?;
        }
        let started = record::now();
        let view = || args.view.then(|| View::start(&first, native, context.terminal));
        let names = (&*first, &*out);
        let (whole, identity) =
            listen::run((at, &behind), &args.hosts, redaction, names, args.force, &view, context)?;
        let ended = record::now();
        let annotate = |session: &mut Session| session.record_from_to(&label, started, ended);
        let recording = Recording { kept: &first, native, identity, out: &out, format, force: args.force };
        return Ok(listen::code(recording.finish(&annotate, context) && whole));
    }
    let (out, first, output) = free(&out, first, args.force, context)?;
    let identity = identity(&first);
    listen::warn_of_secrets(&redaction, &out, context);
    let plan = Plan {
        server: match to {
            Some(to) => Server::Http(to),
            None => Server::Command(args.command.clone()),
        },
        out: first,
        output,
        label: args.label.clone(),
        redaction,
        apart: false,
    };
    let view = args.view.then(|| View::start(&plan.out, native, context.terminal));
    let recorded = record::run(plan, Box::new(context.terminal));
    view.into_iter().for_each(View::finish);
    let recorded = recorded?;
    let whole = tell(&recorded, &out, context);
    let recording =
        Recording { kept: &recorded.path, native, identity, out: &out, format, force: args.force };
    let whole = recording.finish(&|_| (), context) && whole;
    // An exit code is a byte wherever this runs.
    let code = u8::try_from(recorded.exit & 0xff).unwrap_or(exit::FAILED);
    Ok(if code == exit::WELL && !whole { exit::FAILED } else { code })
}

/// The file that is recorded into, the one that is written meanwhile, and that one open. A client that starts its server twice
/// has a file for each session: where one of a session is there, or is being written, the next number is taken.
fn free(
    asked: &Path,
    first: impl Fn(&Path) -> PathBuf,
    force: bool,
    context: CommandContext,
) -> Result<(PathBuf, PathBuf, Growing), String> {
    let is_there = |path: &Path| path.metadata().is_ok_and(|there| there.is_file());
    let mut number = 1;
    loop {
        let out = numbered(asked, number);
        let first = first(&out);
        let opened = may_write(&out, force).and_then(|_| Growing::create(&first, force));
        match opened {
            Ok(output) => {
                if number > 1 {
                    let (asked, out) = (asked.display(), out.display());
                    context.terminal.note(&format!("{asked} exists already; this session goes to {out}"));
                }
                return Ok((out, first, output));
            }
            Err(_) if number < MOST_FILES && (is_there(&out) || is_there(&first)) => {
                number += 1;
            }
            Err(why) => return Err(why),
        }
    }
}

/// Says what is missing in the file that was asked for, or at the client. Whether nothing is.
fn tell(recorded: &Recorded, out: &Path, context: CommandContext) -> bool {
    let (path, summary) = (out.display(), &recorded.summary);
    let [client, server] = summary.missing;
    if let Some(why) = summary.trouble.as_ref().filter(|_| summary.given_up) {
        context.terminal.error(&format!("{path} is incomplete ({why}): it ends before the session did"));
    } else if let Some(why) = &summary.trouble {
        let end = if summary.ended { "" } else { ", and so is the file's last line" };
        context.terminal.error(&format!(
            "{path} is incomplete ({why}): {} of the client and {server} of the server are missing{end}",
            counted(client, "line")
        ));
    } else {
        context.terminal.detail(&format!("{path}: the server ended with {}", recorded.exit));
    }
    if let Some(why) = &recorded.refused {
        let what = "the standard output cannot be written, so the client lacks what the server said last";
        context.terminal.error(&format!("{what}: {why}"));
    }
    summary.trouble.is_none() && recorded.refused.is_none()
}
