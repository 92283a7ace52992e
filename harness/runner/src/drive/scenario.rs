//! What is played around a recorder: the sessions of cases, and conditions under which recorders go wrong.
//!
//! Knows: which session is said, and in which manner. Refuses to know: who says it, and what is judged of it.

mod conditions;

pub(super) use conditions::conditions;

use crate::play::http;
use crate::suite::Case;
use formats::{Format, Input, Options, Session};
use judge::expectation::Expectation;
use judge::record::Note;
use std::time::Duration;

/// How the peers and the recorder talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Transport {
    /// Lines over pipes; the recorder starts the server.
    Stdio,
    /// Streamable HTTP; the recorder listens, and forwards.
    StreamableHttp,
    /// The older HTTP+SSE; the recorder listens, and forwards.
    HttpSse,
}

impl Transport {
    /// The name in commands.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.over_http().map_or("stdio", http::Transport::name)
    }

    /// Whether it is over HTTP.
    #[must_use]
    pub fn is_http(self) -> bool {
        self != Self::Stdio
    }

    /// The same, as peers over HTTP know it.
    pub(super) fn over_http(self) -> Option<http::Transport> {
        match self {
            Self::Stdio => None,
            Self::StreamableHttp => Some(http::Transport::StreamableHttp),
            Self::HttpSse => Some(http::Transport::HttpSse),
        }
    }

    /// The formats whose transcripts tell how such a session goes, the best one first.
    fn tells(self) -> &'static [&'static str] {
        match self {
            Self::Stdio => &["mcp-replay", "jsonrpc", "inspector"],
            Self::StreamableHttp => &["streamable-http", "har"],
            Self::HttpSse => &["http-sse"],
        }
    }
}

/// One session and the manner in which it is said.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The case's name, or `conditions/` and its own.
    pub name: String,
    /// What is said of it in a record.
    pub note: Note,
    /// The clauses that it shows.
    pub clauses: Vec<String>,
    /// The session as a transcript.
    pub(super) session: Vec<u8>,
    /// The transcript's format.
    pub(super) format: &'static Format,
    /// The formats that cannot carry it, each with the reason.
    pub(super) uncarried: Vec<(&'static str, String)>,
    /// How it is said.
    pub(super) manner: Manner,
}

/// How a session is said.
#[derive(Debug, Clone, Default)]
pub(super) struct Manner {
    /// The server waits so many times the patience before each message.
    pub(super) pause: f64,
    /// Both sides write in pieces of so many bytes.
    pub(super) chunk: Option<usize>,
    /// Both sides say together what they can.
    pub(super) merge: bool,
    /// The server prints this line before each message.
    pub(super) noise: Option<&'static str>,
    /// The server prints this line to its standard error.
    pub(super) stderr: Option<&'static str>,
    /// The client waits so long before each read, and reads little.
    pub(super) slow: Duration,
    /// The server ends with half a message.
    pub(super) half: bool,
    /// The server ends with this exit code.
    pub(super) exit: i32,
    /// The recorder gets this signal once the client has heard so many messages.
    pub(super) kill: Option<(Kill, usize)>,
}

/// A signal to a recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kill {
    /// The polite one.
    Term,
    /// The other one.
    Kill,
}

/// The session of a case as this transport has it. None where there is none: no transcript tells how it goes there, or what
/// it holds is no session.
///
/// # Errors
/// Where a transcript cannot be read from disk.
pub fn of_case(case: &Case, transport: Transport) -> std::io::Result<Option<Scenario>> {
    if matches!(case.expectation, Expectation::Rejection(_)) {
        return Ok(None);
    }
    let told =
        transport.tells().iter().find_map(|name| case.transcripts.iter().find(|it| it.format.name == *name));
    let Some(transcript) = told else { return Ok(None) };
    let session = transcript.blob.bytes()?.into_owned();
    let read = Input::new(&mut &*session)
        .and_then(|mut input| Session::read(transcript.format, &mut input, Options::default()));
    if !read.is_ok_and(|session| session.messages().next().is_some()) {
        return Ok(None);
    }
    let uncarried = case.uncarried.iter().map(|it| (it.format.name, it.why.clone())).collect();
    Ok(Some(Scenario {
        name: case.name.clone(),
        note: case.note(),
        clauses: case.clauses.clone(),
        session,
        format: transcript.format,
        uncarried,
        manner: Manner::default(),
    }))
}
