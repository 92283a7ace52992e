//! `play`: a scripted peer that says what one side of a session says.

mod mock;

use super::context::{CommandContext, Failure};
use super::input::{named_format, open};
use super::listen;
use super::outcome::watch;
use super::suites::named_case;
use super::values::{choice, seconds, whole, within};
use crate::exit;
use crate::terminal::{Terminal, plain};
use app::Recording;
use clap::builder::NonEmptyStringValueParser;
use formats::{Format, ReadOptions, Session};
use mcp_concord_suite::Case;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use transcript::diff::{DiffOptions, PointerPattern};
use transcript::session::Side;
use verdict::plain::counted;
use wire::files::is_same;
use wire::play::http::{self, Answers, Server, Transport};
use wire::play::journal::{Journal, LARGEST as LARGEST_JOURNAL};
use wire::play::{self, Plan, Played, Script, Variants};
use wire::proxy::Target;
use wire::{StartError, interrupt};

/// Gives a client a deterministic server, or a server a deterministic client: plays one side of a recorded session.
///
/// It sends exactly what that side sent in the recording, byte for byte where the format keeps the text, and each message
/// as soon as everything that the other side sent before it has arrived. What the other side sends is compared as by
/// `diff`, and each difference is reported. Ids and progress tokens that the other side chooses differently are put into
/// the messages that refer to them; nothing else is changed.
///
/// A difference does not end the play: a message that differs counts as received, one that is not in the session is
/// skipped. A wait that times out ends it.
///
/// With `--match request` a server answers each request as the recording answers the same one, in any order and as often as it
/// is asked, until its client goes. A request that is not in the recording is answered with an error, and reported with the
/// nearest one that is.
///
/// Over Streamable HTTP a message that the server starts goes over the stream of the request that it belongs to, as far as
/// the session shows, and otherwise over the stream of a GET, which a client opens before it sends `initialized`. Session
/// id, revision, refusals (a 401 and its challenge) and event ids are those of the recording where it has them. A broken
/// stream is resumed with Last-Event-ID.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/play.txt"))]
pub(crate) struct Args {
    /// The side to play.
    #[arg(long = "as", value_parser = choice(&ROLES), value_name = "SIDE")]
    role: Side,
    /// The session: a recording, `-` for the standard input, a case directory, or a case of the suite by its name.
    #[arg(value_name = "CASE|FILE")]
    session: PathBuf,
    /// The format, instead of detecting it from the content; of a case, the format to take.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// Ignore this JSON pointer of the other side's messages; `*` matches any member or item. Repeatable.
    #[arg(long, value_name = "POINTER", value_parser = PointerPattern::parse)]
    ignore: Vec<PointerPattern>,
    /// Treat a string that contains this marker as equal to any value.
    #[arg(long, value_name = "MARKER", value_parser = NonEmptyStringValueParser::new())]
    redacted: Option<String>,
    /// Play the server over HTTP and listen here: an address, or a port of 127.0.0.1; port 0 picks a free one.
    #[arg(long, value_name = "ADDR", value_parser = listen::address, conflicts_with_all = ["to", "command"])]
    listen: Option<SocketAddr>,
    #[command(flatten)]
    hosts: listen::Hosts,
    /// Play the client over HTTP, and connect to this server.
    #[arg(long, value_name = "URL", value_parser = Target::parse, conflicts_with = "command")]
    to: Option<Target>,
    /// The HTTP transport to use [default: streamable-http].
    #[arg(long, value_parser = choice(&TRANSPORTS), value_name = "TRANSPORT")]
    transport: Option<Transport>,
    /// How to answer requests over Streamable HTTP [default: as in the recording]. With `json` the messages that the
    /// server starts go over the stream of a GET.
    #[arg(long, value_parser = choice(&ANSWERS), value_name = "FORM", requires = "listen")]
    answers: Option<Answers>,
    /// The time limit for any wait: for the next message that is awaited, whatever else comes meanwhile.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "10")]
    timeout: Duration,
    /// Write what was sent and received, with times, to this file as JSON lines. An existing file is overwritten.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    #[command(flatten)]
    mock: mock::MockArgs,
    #[command(flatten)]
    variations: Variations,
    /// The server's command, for a client over stdio.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

const ROLES: [(&str, Side); 2] = [("client", Side::Client), ("server", Side::Server)];
const TRANSPORTS: [(&str, Transport); 2] =
    [("streamable-http", Transport::StreamableHttp), ("http-sse", Transport::HttpSse)];
const ANSWERS: [(&str, Answers); 2] = [("json", Answers::Json), ("sse", Answers::Stream)];

/// Variations of how a peer sends the same.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Variations")]
struct Variations {
    /// Wait before each message, in milliseconds.
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = whole::<u64>)]
    delay: u64,
    /// Write at most this many bytes at a time.
    #[arg(long, value_name = "N", value_parser = within::<1, { u64::MAX }>)]
    chunk: Option<u64>,
    /// Write together what can be sent together: over stdio in one write, as a server in events of one stream.
    #[arg(long, conflicts_with = "redeliver")]
    merge: bool,
    /// Close after this many messages, before the session is over.
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    close_after: Option<u64>,
    /// As a server over HTTP: send an event of each stream twice, with the same id; where more is to come on the stream,
    /// break it in between, so that the client has to reconnect.
    #[arg(long, requires = "listen")]
    redeliver: bool,
    /// Over stdio: send this line, which is not a message, before each message.
    #[arg(long, value_name = "TEXT")]
    noise: Option<String>,
    /// Wait before each read, in milliseconds, and read little.
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = whole::<u64>)]
    slow_read: u64,
    /// Over stdio: send half a message before the end, without the end of its line.
    #[arg(long)]
    half_line_at_end: bool,
}

impl Variations {
    /// Whether one is asked for that only a session has which is followed.
    fn follow(&self) -> bool {
        self.merge || self.close_after.is_some() || self.redeliver || self.half_line_at_end
    }

    fn variants(&self) -> Variants {
        Variants {
            delay: Duration::from_millis(self.delay),
            chunk: self.chunk.and_then(|bytes| usize::try_from(bytes).ok()),
            merge: self.merge,
            close_after: self.close_after,
            redeliver: self.redeliver,
            noise: self.noise.clone(),
            slow_read: Duration::from_millis(self.slow_read),
            half_line_at_end: self.half_line_at_end,
        }
    }
}

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let how = how(args)?;
    if args.mock.is_strict() && !matches!(how, Counterpart::OnPipes) {
        let why = "--match strict needs --as server over stdio, since it answers requests";
        return Err(why.into());
    }
    let matching = args.mock.matching(args.role == Side::Server, args.variations.follow())?;
    let (name, format, session) = match session(args, context.terminal) {
        // A fault in the script is not the other side's.
        Err(Failure::Rejected(name, rejection)) => {
            context.terminal.rejection(&name, &rejection);
            return Ok(exit::UNUSABLE);
        }
        other => other?,
    };
    mock::check(matching.as_ref(), (&args.session, format), &session)?;
    let script = Script::new(session, args.role).map_err(|why| format!("{name} cannot be played: {why}"))?;
    if script.left_out() > 0 {
        let bodies = counted(script.left_out(), "message");
        context.terminal.note(&format!("{bodies} not played: the body of a refused GET"));
    }
    let journal = match &args.journal {
        Some(path) if is_same(path, Path::new(&name)) => {
            return Err(format!("the journal would overwrite {name}, which is played").into());
        }
        Some(path) => Journal::create(path)?,
        None => Journal::default(),
    };
    journal.hold(LARGEST_JOURNAL.max(8 * script.size()));
    let (rules, variants) = (
        DiffOptions { ignore: args.ignore.clone(), redacted: args.redacted.clone() },
        args.variations.variants(),
    );
    let plan = Plan {
        script: &script,
        rules: &rules,
        patience: args.timeout,
        variants: &variants,
        journal: &journal,
        refuse: args.mock.is_strict(),
        name: &name,
        notify: &context.terminal,
    };
    let over_http = matches!(how, Counterpart::Listening(_));
    // Before anybody can connect, since what is new is kept whatever ends this.
    if !matches!((&how, &matching), (Counterpart::OnPipes, None)) {
        watch()?;
    }
    let (played, not_started) = match (how, &matching) {
        (Counterpart::Listening(at), Some(matching)) => {
            let server = listening(at, args, context)?;
            mock::run(matching, Some(server), (&args.session, format), &plan, context)?
        }
        (_, Some(matching)) => mock::run(matching, None, (&args.session, format), &plan, context)?,
        (how, None) => {
            let played = match how {
                Counterpart::OnPipes => play::as_server(&plan),
                Counterpart::Starting(command) => play::as_client(&plan, command),
                Counterpart::Listening(at) => {
                    listening(at, args, context).and_then(|server| server.play(&plan))
                }
                Counterpart::Connecting(target) => http::as_client(&plan, target, transport(args)),
            };
            (played?, None)
        }
    };
    // A mock that listens is ended by a signal: that cuts nothing short.
    let code = interrupt::code().filter(|_| !(over_http && matching.is_some()));
    let cut = if code.is_some() { "interrupted; " } else { "" };
    context.terminal.note(&format!("{cut}{}", summary(&played, &name)));
    if let Some(why) = journal.fault() {
        return Err(format!("the journal is incomplete: {why}").into());
    }
    if let Some(why) = not_started {
        return Err(Failure::NotRun(why));
    }
    Ok(code.unwrap_or(if played.mismatches == 0 { exit::WELL } else { exit::FAILED }))
}

/// How the other side is met.
enum Counterpart<'a> {
    OnPipes,
    Starting(&'a [String]),
    Listening(SocketAddr),
    Connecting(&'a Target),
}

/// What a command line asks for, or what is wrong with it.
fn how(args: &Args) -> Result<Counterpart<'_>, &'static str> {
    let variations = &args.variations;
    if (args.listen.is_some() || args.to.is_some())
        && (variations.noise.is_some() || variations.half_line_at_end)
    {
        return Err("--noise and --half-line-at-end work only over stdio");
    }
    if args.to.is_some() && variations.merge {
        return Err("over HTTP a client sends each message in its own request: --merge has nothing to join");
    }
    if args.transport.is_some() && args.listen.is_none() && args.to.is_none() {
        return Err("--transport needs HTTP: give an address with --listen, or a URL with --to");
    }
    match (args.role, args.listen, &args.to, &args.command[..]) {
        (Side::Server, Some(at), ..) => Ok(Counterpart::Listening(at)),
        (Side::Client, _, Some(target), _) => Ok(Counterpart::Connecting(target)),
        (Side::Server, _, Some(_), _) => {
            Err("a server does not connect to a URL: give it an address with --listen")
        }
        (Side::Client, Some(_), ..) => Err("a client does not listen: name the server's URL with --to"),
        (Side::Server, _, _, [_, ..]) => Err("a server is started by its client: leave the command out"),
        (Side::Client, _, _, []) => {
            Err("a client needs a server: name its command after `--`, or its URL with --to")
        }
        (Side::Server, ..) if args.session.as_os_str() == "-" => {
            Err("the standard input belongs to the client here; name a file")
        }
        (Side::Server, ..) => Ok(Counterpart::OnPipes),
        (Side::Client, _, _, command) => Ok(Counterpart::Starting(command)),
    }
}

fn transport(args: &Args) -> Transport {
    args.transport.unwrap_or(Transport::StreamableHttp)
}

/// A server that listens.
fn listening(at: SocketAddr, args: &Args, context: CommandContext) -> Result<Server, StartError> {
    let answers = args.answers.unwrap_or(Answers::AsRecorded);
    let mut server = Server::listen(at, transport(args), answers)?;
    server.hosts = args.hosts.at(at);
    let url = server.url().map_err(|error| StartError::Unusable(format!("the port is unknown: {error}")))?;
    context.terminal.note(&format!("listening at {url}"));
    Ok(server)
}

fn summary(played: &Played, name: &str) -> String {
    format!(
        "{name}: {} sent, {} received, {}",
        counted(played.sent, "message"),
        played.received,
        counted(played.mismatches, "mismatch")
    )
}

/// A session, its format, and a name to call it by.
type Read = (String, &'static Format, Session);

/// The session that is asked for.
fn session(args: &Args, terminal: Terminal) -> Result<Read, Failure> {
    match named_case(&args.session)? {
        Some(case) => of_case(&case, args),
        None => of_file(&args.session, args.format, terminal),
    }
}

/// The transcript of a case that carries most about the session over this transport.
fn of_case(case: &Case, args: &Args) -> Result<Read, Failure> {
    let over_http = args.listen.is_some() || args.to.is_some();
    let tells = |format: &Format| {
        let carries = format.carries;
        let same = over_http && format.name == transport(args).name();
        (same, carries.http == over_http, carries.process, carries.direction, carries.times)
    };
    let asked = |format: &Format| args.format.is_none_or(|asked| asked.name == format.name);
    let transcripts = case.transcripts.iter().filter(|transcript| asked(transcript.format));
    let transcript = transcripts.max_by_key(|transcript| tells(transcript.format)).ok_or_else(|| {
        let format = args.format.map_or("any format", |format| format.name);
        Failure::Unusable(format!("the case {} has no transcript in {format}", case.name))
    })?;
    let name = Path::new(&case.place).join(transcript.format.file).display().to_string();
    let bytes = transcript.blob.bytes().map_err(|error| format!("{name} cannot be read: {error}"))?;
    let (_, session) = Recording::new(&name, &bytes).reading(Some(transcript.format), |format, input| {
        Session::read(format, input, ReadOptions::default())
    })?;
    Ok((name, transcript.format, session))
}

fn of_file(path: &Path, asked: Option<&'static Format>, terminal: Terminal) -> Result<Read, Failure> {
    let mut recording = open(path, terminal)?;
    let (format, session) =
        recording.reading(asked, |format, input| Session::read(format, input, ReadOptions::default()))?;
    Ok((plain(&recording.name), format, session))
}
