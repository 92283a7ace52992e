//! What is played around a recorder: a session, and the conditions under which it is played.

use crate::play::{http, read_session};
use formats::Format;
use std::time::Duration;
use verdict::record::CaseNote;

/// How the peers and the recorder talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Lines over pipes; the recorder starts the server.
    Stdio,
    /// Streamable HTTP; the recorder listens, and forwards.
    StreamableHttp,
    /// The older HTTP+SSE; the recorder listens, and forwards.
    HttpSse,
}

impl Transport {
    /// Every transport.
    pub const ALL: [Self; 3] = [Self::Stdio, Self::StreamableHttp, Self::HttpSse];

    /// The name in commands.
    pub fn name(self) -> &'static str {
        self.over_http().map_or("stdio", http::Transport::name)
    }

    /// What it is, in a line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Stdio => "Lines over pipes; the recorder starts the server",
            Self::StreamableHttp => "Streamable HTTP; the recorder listens, and forwards",
            Self::HttpSse => "The older HTTP+SSE; the recorder listens, and forwards",
        }
    }

    /// Whether it is over HTTP.
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

    /// The formats whose transcripts show how such a session goes, one that says who sent each message first.
    pub fn formats(self) -> impl Iterator<Item = &'static Format> {
        let transport = self.over_http();
        let mut found: Vec<_> =
            formats::FORMATS.iter().copied().filter(|it| it.scripts.contains(&transport)).collect();
        found.sort_by_key(|it| !it.carries.direction);
        found.into_iter()
    }
}

/// One session and the conditions under which it is played.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The case's name, or `conditions/` and its own.
    pub name: String,
    /// The note on it in a record.
    pub note: CaseNote,
    /// The clauses that it shows.
    pub clauses: Vec<String>,
    /// The session as a transcript.
    pub(super) session: Vec<u8>,
    /// The transcript's format.
    pub(super) format: &'static Format,
    /// The formats that cannot carry it, each with the reason.
    pub(super) uncarried: Vec<(&'static str, String)>,
    /// How it is played.
    pub(super) conditions: Conditions,
}

/// How a session is played.
#[derive(Debug, Clone, Default)]
pub(super) struct Conditions {
    /// How many times the patience the server waits before each message.
    pub(super) pause: f64,
    /// The size of the pieces, in bytes, that both sides write in.
    pub(super) chunk: Option<usize>,
    /// Both sides write together what they can.
    pub(super) merge: bool,
    /// The server prints this line before each message.
    pub(super) noise: Option<&'static str>,
    /// The server prints this line to its standard error.
    pub(super) stderr: Option<&'static str>,
    /// How long the client waits before each read, which is small.
    pub(super) slow: Duration,
    /// The server ends with half a message.
    pub(super) half: bool,
    /// The server ends with this exit code.
    pub(super) exit: i32,
    /// The recorder gets this signal once the client has received this number of messages.
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

impl Scenario {
    /// A session as its transcript has it; none where what the transcript holds is not a session with messages.
    /// `uncarried` names formats that cannot carry it, each with the reason.
    pub fn new(
        (name, note, clauses): (&str, CaseNote, &[String]),
        format: &'static Format,
        session: Vec<u8>,
        uncarried: Vec<(&'static str, String)>,
    ) -> Option<Self> {
        read_session(format, &session).is_ok_and(|session| session.messages().next().is_some()).then(|| {
            Self {
                name: name.to_owned(),
                note,
                clauses: clauses.to_vec(),
                session,
                format,
                uncarried,
                conditions: Conditions::default(),
            }
        })
    }
}
