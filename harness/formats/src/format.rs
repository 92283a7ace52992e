//! What a capture format is: its names, its properties, its reader and its writer.

use crate::head::Head;
use crate::input::{Input, ReadError};
use crate::session::Session;
use crate::transport::Transport;
use crate::writing::Spelling;
use std::io::{self, Write};
use transcript::dialect::{Dialect, IdRules};
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::Sink;

/// A capture format: its names, what it can carry, and its reader and writer.
#[derive(Debug)]
pub struct Format {
    /// The name in commands, case directories and answers.
    pub name: &'static str,
    /// Other names that are understood.
    pub aliases: &'static [&'static str],
    /// The file name of such a transcript in a case directory.
    pub file: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What it can carry besides messages and their order.
    pub carries: Capabilities,
    /// What a person should know who compares or converts such files; empty where there is nothing.
    pub caveat: &'static str,
    /// At which levels messages are in a log, in words; empty where the format is not a log with levels.
    pub message_levels: &'static str,
    /// Where the items are that hold its messages.
    pub items: Items,
    /// Where in an item a message may stand: the member names that lead to each such place; none for the item itself. Empty
    /// where items are not JSON.
    pub messages: &'static [&'static [&'static str]],
    /// The HTTP transport that files of this format name as their own: the format is that transport's envelope.
    pub transport: Option<Transport>,
    /// The sessions of which a transcript in this format shows how they go: over an HTTP transport, or (none) over stdio.
    pub scripts: &'static [Option<Transport>],
    /// Whether this program's recorders write it while the session goes on.
    pub live: bool,
    /// Whether every case of the suite is spelled in it, or says why it cannot be.
    pub paired: bool,
    /// Whether its recorders write null for `params`, `result`, `error` and an error's `data` that a message has not.
    pub pads_with_null: bool,
    /// What its recorders write in place of what they took out, beside the usual `[REDACTED]`.
    pub redacts: &'static [&'static str],
    /// The clauses, by how their ids begin, that speak only of formats like this one: a case of such a clause has nothing to
    /// show in the others.
    pub clauses: &'static [&'static str],
    /// Whether a file that begins like this is one of these.
    pub sniff: fn(&Head) -> bool,
    /// Why a file that begins like this, and somewhat like one of these, is none.
    pub why_not: fn(&Head) -> Option<&'static str>,
    /// Hands the entries of a transcript to a sink, in the order of the session. A batch is noise of its code, whatever is
    /// tolerated: see [`apart`](crate::apart). To be called by [`Format::entries`].
    pub read: fn(&mut Input<'_>, ReadOptions, &mut Sink<'_>) -> Result<(), ReadError>,
    /// How sessions are spelled in it; see [`Format::write`].
    pub spelling: Spelling,
    /// What of a session keeps the format's own program from loading what is written.
    pub unloadable: fn(&Session) -> Option<Unloadable>,
}

/// What of a session a format's own program does not load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unloadable {
    /// What, in words.
    pub what: String,
    /// The entries without which it loads the rest.
    pub entries: Vec<usize>,
}

impl Format {
    /// A format of lines that hold messages with their direction and nothing else: the beginning of most formats.
    #[must_use]
    pub const fn new(
        [name, file, about]: [&'static str; 3],
        sniff: fn(&Head) -> bool,
        read: fn(&mut Input<'_>, ReadOptions, &mut Sink<'_>) -> Result<(), ReadError>,
        spelling: Spelling,
    ) -> Self {
        Self {
            name,
            aliases: &[],
            file,
            about,
            carries: Capabilities { direction: true, ..Capabilities::MESSAGES },
            caveat: "",
            message_levels: "",
            items: Items::Lines,
            messages: &[],
            transport: None,
            scripts: &[],
            live: false,
            paired: false,
            pads_with_null: false,
            redacts: &[],
            clauses: &[],
            sniff,
            why_not: |_| None,
            read,
            spelling,
            unloadable: |_| None,
        }
    }

    /// Hands the entries of a transcript to a sink, in the order of the session. A rejection shows the same text in whatever
    /// parts the input comes.
    ///
    /// # Errors
    /// Where the input cannot be read, has a fault, or the sink wants no more.
    pub fn entries(
        &self,
        input: &mut Input<'_>,
        options: ReadOptions,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadError> {
        (self.read)(input, options, sink).map_err(|error| {
            let shown = input.shown(error, self.is_lines());
            input.other(shown, self)
        })
    }

    /// Spells a session. What the format cannot carry is left out; [`Session::losses`] lists it beforehand.
    ///
    /// # Errors
    /// Those of `out`, and where the format is only read.
    pub fn write(&self, session: &Session, out: &mut dyn Write) -> io::Result<()> {
        self.spelling.write(session, out)
    }

    /// Whether sessions are written in it.
    #[must_use]
    pub fn is_written(&self) -> bool {
        !matches!(self.spelling, Spelling::ReadOnly)
    }

    /// Whether a transcript is lines, rather than one document.
    #[must_use]
    pub fn is_lines(&self) -> bool {
        self.items == Items::Lines
    }

    /// Whether a line is a message and nothing else.
    #[must_use]
    pub fn is_bare_lines(&self) -> bool {
        self.is_lines() && self.messages == [&[] as &[&str]] && !self.carries.direction
    }

    /// Whether a transcript is a list whose items may be messages themselves.
    #[must_use]
    pub fn is_bare_list(&self) -> bool {
        !self.is_lines() && self.messages.contains(&(&[] as &[&str]))
    }

    /// Whether a transcript is an envelope that names its transport.
    #[must_use]
    pub fn is_envelope(&self) -> bool {
        self.transport.is_some()
    }
}

/// Where a transcript has the items that hold its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Items {
    /// Each line is one.
    Lines,
    /// They are in a list: the member names that lead to it from the document. None: the document is the list.
    List(&'static [&'static str]),
}

/// What a format can carry besides the messages and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Who sent each message.
    pub direction: bool,
    /// When.
    pub times: bool,
    /// When, too, for the handshake that a session begins with and for the server's notifications, if for anything.
    pub times_beside_calls: bool,
    /// When, too, before 1970, if at all.
    pub times_before_1970: bool,
    /// HTTP methods, statuses and headers.
    pub http: bool,
    /// Several headers of one name apart from each other.
    pub repeats: bool,
    /// Whole HTTP exchanges: which answer came to which request, with its URL.
    pub exchanges: bool,
    /// How many bytes a body had, also where a part of it is missing.
    pub sizes: bool,
    /// SSE event names and ids.
    pub sse: bool,
    /// The server's command line and exit code.
    pub process: bool,
    /// What the recorder says of its own losses: the numbers of its records, and which messages it cut.
    pub numbering: bool,
    /// A 401's challenge, and so the summary of K2-A.
    pub challenge: bool,
}

impl Capabilities {
    /// Messages and their order, and nothing else.
    pub const MESSAGES: Self = Self {
        direction: false,
        times: false,
        times_beside_calls: true,
        times_before_1970: true,
        http: false,
        repeats: false,
        exchanges: false,
        sizes: false,
        sse: false,
        process: false,
        numbering: false,
        challenge: false,
    };
}

/// How a transcript is to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// What is passed over and handed on as noise, instead of ending the reading.
    pub tolerance: Tolerance,
    /// What ids are, in the dialect that is read.
    pub ids: IdRules,
    /// Answers are bound within a session, as `check` does: see [`Contract::by_session`](transcript::contract::Contract::by_session).
    pub by_session: bool,
}

/// How much a reader passes over where a message belongs. What it passes over it hands on: nothing goes unsaid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tolerance {
    /// Nothing: whatever is not a message by the contract rejects the transcript.
    #[default]
    Nothing,
    /// What a recorder may have picked up beside the messages: see [`Refusal::is_noise`].
    Noise,
    /// Every faulty message, for a caller that judges each by itself. The line formats hand the others over taken apart, since
    /// that is done beside the judging, on another thread.
    Faults,
}

impl ReadOptions {
    /// Options that pass over a recorder's noise.
    pub const LENIENT: Self = Self::new(Tolerance::Noise);

    /// Options for what is said of the sessions of a recording, each by itself.
    pub const BY_SESSION: Self = Self { by_session: true, ..Self::new(Tolerance::Nothing) };

    /// Options for the contract itself.
    #[must_use]
    pub const fn new(tolerance: Tolerance) -> Self {
        let ids = IdRules { typed: false, required: false, reusable: false };
        Self { tolerance, ids, by_session: false }
    }

    /// Options for a dialect.
    #[must_use]
    pub fn in_dialect(dialect: &Dialect) -> Self {
        Self { ids: dialect.ids, ..Self::default() }
    }

    /// Whether readers are to index the members of messages.
    pub(crate) fn indexes(self) -> bool {
        self.tolerance == Tolerance::Faults
    }

    /// Whether what is refused is handed on as noise. So is every batch, since the session decides what becomes of it: see
    /// [`apart`](crate::apart).
    pub(crate) fn hands_on(self, refusal: &Refusal) -> bool {
        refusal.code == Code::Batch || self.tolerates(refusal)
    }

    /// Whether what is refused is passed over.
    pub(crate) fn tolerates(self, refusal: &Refusal) -> bool {
        match self.tolerance {
            Tolerance::Nothing => false,
            Tolerance::Noise => refusal.is_noise(),
            Tolerance::Faults => true,
        }
    }
}
