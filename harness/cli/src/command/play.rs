//! `play`: a scripted peer that says what one side of a session says.

use super::{Around, Failure, format_of, listen, named_format, open, under_test};
use crate::exit;
use crate::terminal::{Voice, Volume, plain};
use formats::{Format, Input, ReadOptions, Session};
use std::fs;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use suite::{Case, Root, Suite};
use transcript::diff::{DiffOptions, PointerPattern};
use transcript::session::Side;
use wire::play::http::{self, Answers, Server, Transport};
use wire::play::journal::Journal;
use wire::play::{self, Mismatch, Plan, Played, Script, StartError, Tell, Variants};
use wire::proxy::{Target, put_in_order_if_timed};

/// Plays one side of a recorded session, and tells where the other side departs from it.
///
/// It says exactly what that side says in the recording, byte for byte where the format keeps the text, and each message
/// as soon as all that the other side says before it was heard. What the other side says is compared as `diff` does.
/// Ids and progress tokens belong to whoever chose them: where the other side chose others than the recording has, they
/// are put into the messages that name them, and nothing else is changed.
///
/// A mismatch does not end the play: a message that differs counts as heard, one that is not in the session is passed
/// over. A wait that runs out ends it.
///
/// Over Streamable HTTP a message of the server's own goes over the stream of the request that it is about, as far as the
/// session tells, and over the stream of a GET otherwise, which a client opens before it says
/// `initialized`. Session id, revision, refusals (a 401 and its challenge) and event ids are those of the recording where it
/// has them. A stream that breaks is taken up again with Last-Event-ID.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord play --as server trace.jsonl                      on stdin and stdout: give it to a client as its server
  mcp-concord play --as client trace.jsonl -- ./server          starts the server, and says what the client said
  mcp-concord play --as client correlation/answers-crossed -- ./server
  mcp-concord play --as server trace.jsonl --ignore /params/clientInfo --chunk 1
  mcp-concord play --as server session.har --listen 8080 --answers json
  mcp-concord play --as client session.har --to http://127.0.0.1:3001/mcp
  mcp-concord play --as client session.har --to http://127.0.0.1:3001/sse --transport http-sse

A pointer counts from an event of the normal form (see `mcp-concord read`): /params/…, /arguments/…, /result/…
Exit code 0: the other side did as the session has it; 1: it departed from it; 2: the call or the session cannot be used;
3: the server cannot be started, or nobody listens at the URL.")]
pub(crate) struct Args {
    /// The side to play.
    #[arg(long = "as", value_enum, value_name = "SIDE")]
    role: Role,
    /// The session: a recording, `-` for the standard input, a case directory, or a case of the suite by its name.
    #[arg(value_name = "CASE|FILE")]
    session: PathBuf,
    /// The format, where the content should not decide; of a case, the format to take.
    #[arg(long, value_name = "FORMAT", value_parser = named_format)]
    format: Option<&'static Format>,
    /// Leave out a place of the other side's messages; `*` stands for any member or item. May be given several times.
    #[arg(long, value_name = "POINTER", value_parser = PointerPattern::parse)]
    ignore: Vec<PointerPattern>,
    /// Take a string that holds this marker as equal to any value.
    #[arg(long, value_name = "MARKER")]
    redacted: Option<String>,
    /// Play the server over HTTP, and listen here: an address, or a port of this machine alone; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", value_parser = listen::address, conflicts_with_all = ["to", "command"])]
    listen: Option<SocketAddr>,
    /// Play the client over HTTP, and connect to this server.
    #[arg(long, value_name = "URL", value_parser = Target::parse, conflicts_with = "command")]
    to: Option<Target>,
    /// Which of MCP's transports to speak over HTTP; Streamable HTTP, where it is not said.
    #[arg(long, value_enum, value_name = "TRANSPORT")]
    transport: Option<Over>,
    /// In what form to answer requests over Streamable HTTP; as the recording has it, where it is not said. With `json`
    /// whatever the server says of its own goes over the stream of a GET.
    #[arg(long, value_enum, value_name = "FORM", requires = "listen")]
    answers: Option<Form>,
    /// How long any wait may take.
    #[arg(long, value_name = "SECONDS", value_parser = under_test::seconds, default_value = "10")]
    timeout: Duration,
    /// Write down what really passed, with times, as lines of JSON. A file that is there is written over.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    #[command(flatten)]
    ways: Ways,
    /// The server's command, for a client over stdio.
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Role {
    Client,
    Server,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Over {
    StreamableHttp,
    HttpSse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    Json,
    Sse,
}

/// The ways that a peer may take.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Ways of saying the same")]
struct Ways {
    /// Wait before each message.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    delay: u64,
    /// Write no more than so many bytes at a time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    chunk: Option<u32>,
    /// Say what can be said together in one write. Over stdio, or as a server in events of one stream.
    #[arg(long, conflicts_with = "redeliver")]
    merge: bool,
    /// Close after so many messages, before the session is over.
    #[arg(long, value_name = "N")]
    close_after: Option<u64>,
    /// Say an event of each stream twice, with the same id; where more is to come on the stream, break it in between, so
    /// that the client has to come back. A server's, over HTTP.
    #[arg(long, requires = "listen")]
    redeliver: bool,
    /// Say a line that is no message before each message. Over stdio.
    #[arg(long, value_name = "TEXT")]
    noise: Option<String>,
    /// Wait before each read, and read little.
    #[arg(long, value_name = "MS", default_value_t = 0)]
    slow_read: u64,
    /// Say half a message before the end, without the end of its line. Over stdio.
    #[arg(long)]
    half_line_at_end: bool,
}

impl Ways {
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

/// Runs the command.
///
/// # Errors
/// Where the session cannot be played, or the server cannot be started.
pub(crate) fn run(args: &Args, around: Around) -> Result<u8, Failure> {
    let how = how(args).map_err(|why| Failure::Unusable(why.to_owned()))?;
    let (name, session) = match session(args) {
        // A fault in the script is none of the other side's.
        Err(Failure::Rejected(name, rejection)) => {
            around.voice.rejection(&name, &rejection);
            return Ok(exit::UNUSABLE);
        }
        other => other?,
    };
    let side = match args.role {
        Role::Client => Side::Client,
        Role::Server => Side::Server,
    };
    let script = Script::new(session, side)
        .map_err(|why| Failure::Unusable(format!("{name} cannot be played: {why}")))?;
    let journal = match &args.journal {
        Some(path) => Journal::create(path)
            .map_err(|error| Failure::Unusable(format!("{} cannot be written: {error}", path.display())))?,
        None => Journal::default(),
    };
    let (rules, variants) =
        (DiffOptions { ignore: args.ignore.clone(), redacted: args.redacted.clone() }, args.ways.variants());
    let teller = Teller { voice: around.voice, script: &script, name: &name };
    let plan = Plan {
        script: &script,
        rules: &rules,
        patience: args.timeout,
        variants: &variants,
        journal: &journal,
        tell: &teller,
    };
    let played = match how {
        How::OnPipes => play::as_server(&plan),
        How::Starting(command) => play::as_client(&plan, command),
        How::Listening(at) => serve(at, args, &plan, around),
        How::Connecting(target) => http::as_client(&plan, target, transport(args)),
    };
    let played = played.map_err(|refused| match refused {
        StartError::Here(why) => Failure::Unusable(why),
        StartError::Command(why) => Failure::NotRun(why),
    })?;
    if let Some(why) = journal.fault() {
        return Err(Failure::Unusable(format!("the journal is not whole: {why}")));
    }
    around.voice.note(&told(&played, &name));
    Ok(if played.mismatches == 0 { exit::WELL } else { exit::FELL_SHORT })
}

/// How the other side is met.
enum How<'a> {
    OnPipes,
    Starting(&'a [String]),
    Listening(SocketAddr),
    Connecting(&'a Target),
}

/// What a command line asks for, or what is wrong with it.
fn how(args: &Args) -> Result<How<'_>, &'static str> {
    let ways = &args.ways;
    if (args.listen.is_some() || args.to.is_some()) && (ways.noise.is_some() || ways.half_line_at_end) {
        return Err("--noise and --half-line-at-end are ways of stdio, which HTTP does not have");
    }
    if args.to.is_some() && ways.merge {
        return Err(
            "each message of a client is a request of its own over HTTP: --merge has nothing to join",
        );
    }
    if args.transport.is_some() && args.listen.is_none() && args.to.is_none() {
        return Err("--transport is about HTTP: give an address to --listen at, or a URL with --to");
    }
    match (args.role, args.listen, &args.to, &args.command[..]) {
        (Role::Server, Some(at), ..) => Ok(How::Listening(at)),
        (Role::Client, _, Some(target), _) => Ok(How::Connecting(target)),
        (Role::Server, _, Some(_), _) => {
            Err("a server does not connect to a URL: give it an address to --listen at")
        }
        (Role::Client, Some(_), ..) => Err("a client does not listen: name the server's URL with --to"),
        (Role::Server, _, _, [_, ..]) => Err("a server is started by its client: leave the command out"),
        (Role::Client, _, _, []) => {
            Err("a client needs a server: name its command behind `--`, or its URL with --to")
        }
        (Role::Server, ..) if args.session.as_os_str() == "-" => {
            Err("the standard input is the client's here; name the session as a file")
        }
        (Role::Server, ..) => Ok(How::OnPipes),
        (Role::Client, _, _, command) => Ok(How::Starting(command)),
    }
}

fn transport(args: &Args) -> Transport {
    match args.transport {
        None | Some(Over::StreamableHttp) => Transport::StreamableHttp,
        Some(Over::HttpSse) => Transport::HttpSse,
    }
}

fn serve(at: SocketAddr, args: &Args, plan: &Plan<'_>, around: Around) -> Result<Played, StartError> {
    let answers = match args.answers {
        None => Answers::AsRecorded,
        Some(Form::Json) => Answers::Json,
        Some(Form::Sse) => Answers::Stream,
    };
    let server = Server::listen(at, transport(args), answers)?;
    let url = server.url().map_err(|error| StartError::Here(format!("the port cannot be told: {error}")))?;
    around.voice.note(&format!("{url} is the server from now on"));
    server.play(plan)
}

fn told(played: &Played, name: &str) -> String {
    let counted = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    format!(
        "{name}: {} said, {} heard, {}",
        counted(played.said, "message"),
        played.heard,
        match played.mismatches {
            1 => "1 mismatch".to_owned(),
            count => format!("{count} mismatches"),
        }
    )
}

/// Tells a person. The standard output may be the other side's.
#[derive(Debug)]
struct Teller<'t> {
    voice: Voice,
    script: &'t Script,
    name: &'t str,
}

impl Tell for Teller<'_> {
    fn mismatch(&self, mismatch: &Mismatch) {
        let text = mismatch.describe(self.script, self.name);
        // Nobody may be left to be told, and the exit code tells too.
        let _ = writeln!(io::stderr().lock(), "{text}\n");
    }

    fn note(&self, text: &str) {
        if self.voice.volume >= Volume::Normal {
            self.voice.note(text);
        }
    }
}

/// The session with a name to call it by.
fn session(args: &Args) -> Result<(String, Session), Failure> {
    let path = &args.session;
    let name = path.display().to_string();
    let case = if path.is_dir() {
        let suite = Suite::load(&[Root::Disk(path.clone())]).map_err(|problems| {
            let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
            Failure::Unusable(format!("{name} is no case directory: {}", problems.join("; ")))
        })?;
        let count = suite.cases.len();
        let only = suite.cases.into_iter().next().filter(|_| count == 1);
        Some(only.ok_or_else(|| Failure::Unusable(format!("{name} holds {count} cases; name one of them")))?)
    } else if path.exists() || name == "-" {
        None
    } else {
        Suite::load_one(&Root::Embedded, &name).unwrap_or_default()
    };
    match case {
        Some(case) => of_case(&case, args),
        None => of_file(path, args.format),
    }
}

/// The transcript of a case that tells most of how the session went over this transport.
fn of_case(case: &Case, args: &Args) -> Result<(String, Session), Failure> {
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
    let bytes = transcript
        .blob
        .bytes()
        .map_err(|error| Failure::Unusable(format!("{name} cannot be read: {error}")))?;
    let session = Input::new(&mut &*bytes)
        .and_then(|mut input| Session::read(transcript.format, &mut input, ReadOptions::default()))
        .map_err(|error| Failure::of_reading(&name, error))?;
    Ok((name, session))
}

fn of_file(path: &Path, asked: Option<&'static Format>) -> Result<(String, Session), Failure> {
    let mut source = open(path)?;
    let name = plain(&source.name);
    let rejected = |error| Failure::of_reading(&name, error);
    let mut input = Input::new(&mut *source.reader).map_err(rejected)?;
    let format = format_of(asked, &mut input, &name)?;
    let mut session = Session::read(format, &mut input, ReadOptions::default()).map_err(rejected)?;
    // What a long stream says in an archive of ours is said when it was said there.
    if format.name == listen::NATIVE
        && let Ok(archive) = fs::read_to_string(path)
    {
        put_in_order_if_timed(&mut session, &archive);
    }
    Ok((name, session))
}
