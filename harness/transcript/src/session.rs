//! A session as a reader hands it over: entry by entry, in transcript order, borrowed from the input.

use crate::json::Json;
use crate::message::{Message, Refusal};
use crate::rejection::Code;
use std::borrow::Cow;
use std::fmt;

crate::named! {
    /// Who sent a message. Formats that cannot tell leave it out (clause COR-DIRECTION-FLAT).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Side {
        /// Client to server.
        Client "client",
        /// Server to client.
        Server "server",
    }
}

impl Side {
    /// The other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// Where an entry stands in its file. Cheap to make for each of a million entries; the JSON pointer is written
/// out when somebody asks for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Location {
    /// Bytes from the beginning of the file.
    pub offset: u64,
    /// Line, from 1.
    pub line: u64,
    /// The pointer's part before the index, such as `/entries/`.
    pub root: &'static str,
    /// Which item, where the document is a list of them.
    pub index: Option<u64>,
    /// The pointer's part after the index, such as `/sse/data`.
    pub tail: &'static str,
}

impl Location {
    /// The JSON pointer (RFC 6901) into the document, or into the line's value in the line formats.
    #[must_use]
    pub fn pointer(&self) -> String {
        match self.index {
            Some(index) => format!("{}{index}{}", self.root, self.tail),
            None => format!("{}{}", self.root, self.tail),
        }
    }
}

/// How a message or an event travelled, as far as the capture says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Carrier {
    /// A line of its own, or an item of a list: the capture knows no transport.
    #[default]
    Line,
    /// The body of an HTTP request.
    Request,
    /// The body of an HTTP response.
    Response,
    /// An event of an SSE stream.
    Sse,
}

/// An SSE event's fields as the capture shows them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sse<'a> {
    /// The `event` field; absent or empty means `message`.
    pub name: Option<Cow<'a, str>>,
    /// The `id` field.
    pub id: Option<Cow<'a, str>>,
    /// The data, where the event carries no message and the capture keeps it.
    pub data: Option<Cow<'a, str>>,
    /// The reconnection time, where a `retry` field stood with this event.
    pub retry: Option<u64>,
    /// Comment lines that stood before the event.
    pub comments: u64,
}

impl Sse<'_> {
    /// The same fields, to keep longer than their entry.
    #[must_use]
    pub fn owned(&self) -> Sse<'static> {
        let own = |text: &Option<Cow<'_, str>>| text.as_ref().map(|text| text.clone().into_owned().into());
        Sse {
            name: own(&self.name),
            id: own(&self.id),
            data: own(&self.data),
            retry: self.retry,
            comments: self.comments,
        }
    }
}

/// Header names and values in file order.
pub type Headers<'a> = Vec<(Cow<'a, str>, Cow<'a, str>)>;

/// The first header of this name, in any case, without the white space around its value (RFC 9110, sections 5.1 and 5.5).
#[must_use]
pub fn header<'h>(headers: &'h Headers<'_>, name: &str) -> Option<&'h str> {
    let (_, value) = headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name))?;
    Some(value.trim_matches([' ', '\t']))
}

/// The transport context of an envelope or of one of its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context<'a> {
    /// The context object, verbatim.
    pub text: Json<'a>,
    /// `status`, where it is an integer that is an HTTP status.
    pub status: Option<u16>,
    /// `headers`, those whose value is a string.
    pub headers: Headers<'a>,
}

/// One HTTP exchange of an exchange log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange<'a> {
    /// The request's method as written.
    pub method: Cow<'a, str>,
    /// The request's URL as written.
    pub url: Cow<'a, str>,
    /// The request's headers.
    pub request_headers: Headers<'a>,
    /// How long the request's body is, in bytes, where the log says so or holds it.
    pub request_size: Option<u64>,
    /// The answer's status; none where there was no answer.
    pub status: Option<u16>,
    /// The answer's headers.
    pub response_headers: Headers<'a>,
    /// The answer's media type without parameters, in lower case; empty where there is none.
    pub media_type: String,
    /// When the exchange ended, in milliseconds like [`Entry::time`], where the log says so.
    pub ended: Option<i64>,
    /// How long the answer's body is, in bytes after decoding, where the log says so or holds it.
    pub response_size: Option<u64>,
    /// The request's body where it is a short form, as `application/x-www-form-urlencoded` spells it, or the JSON by which
    /// an OAuth client registers.
    pub form: Option<Cow<'a, str>>,
    /// The answer's body where it is short and not a message: what a GET fetched, a JSON object such as OAuth metadata or a
    /// few words, or those in which a POST was refused.
    pub document: Option<Cow<'a, str>>,
    /// The log says when each part of the answer came: other entries may stand between them, and
    /// [`Content::ExchangeEnd`] behind the last.
    pub timed: bool,
    /// How it ended, in the recorder's words, where it did not end well. [`STILL_OPEN`]: it had not.
    pub fate: Option<Cow<'a, str>>,
}

/// What a recorder says of an exchange that was open when the recording ended.
pub const STILL_OPEN: &str = "the recording ended";

/// What a recorder says of an exchange whose client did not read its answer to the end.
pub const LEFT: &str = "the client went away";

impl Exchange<'_> {
    /// Whether the answer was still being sent when its client or the recorder left: half a message is then not the server's doing.
    #[must_use]
    pub fn is_left(&self) -> bool {
        matches!(self.fate.as_deref(), Some(STILL_OPEN | LEFT))
    }

    /// Whether HTTP turned the request away before the server saw it, so that it may come again as it is (clause
    /// COR-FIRST): a token was missing, or the address was another one.
    #[must_use]
    pub fn turned_away(&self) -> bool {
        matches!(self.status, Some(301 | 302 | 303 | 307 | 308 | 401))
    }

    /// Whether HTTP refused what was posted, or said nothing, so that the server need not have seen it.
    #[must_use]
    pub fn refused(&self) -> bool {
        self.status.is_none_or(|status| status >= 300)
    }

    /// The same exchange, to keep longer than its entry.
    #[must_use]
    pub fn owned(&self) -> Exchange<'static> {
        Exchange {
            method: self.method.clone().into_owned().into(),
            url: self.url.clone().into_owned().into(),
            request_headers: owned_headers(&self.request_headers),
            request_size: self.request_size,
            status: self.status,
            response_headers: owned_headers(&self.response_headers),
            media_type: self.media_type.clone(),
            ended: self.ended,
            response_size: self.response_size,
            form: self.form.clone().map(|form| form.into_owned().into()),
            document: self.document.clone().map(|document| document.into_owned().into()),
            timed: self.timed,
            fate: self.fate.clone().map(|fate| fate.into_owned().into()),
        }
    }
}

/// The same headers, to keep longer than their entry.
#[must_use]
pub fn owned_headers(headers: &Headers<'_>) -> Headers<'static> {
    headers
        .iter()
        .map(|(name, value)| (name.clone().into_owned().into(), value.clone().into_owned().into()))
        .collect()
}

/// What stands in an entry.
#[derive(Debug, Clone)]
pub enum Content<'a> {
    /// A JSON-RPC message.
    Message(Message<'a>),
    /// An SSE event that carries no message: a control event, a priming event, a keepalive.
    Event,
    /// A slot without a message (clause ENV-NULL).
    Empty,
    /// The context of a whole envelope.
    Envelope,
    /// An HTTP exchange begins; its messages and events follow.
    Exchange(&'a Exchange<'a>),
    /// The transport is a converter's invention, or what the capture says of it: which, in one word. Stands first.
    MadeUp(&'static str),
    /// Nothing more comes of an HTTP exchange that is [`Exchange::timed`].
    ExchangeEnd,
    /// The `meta` line of a trace, verbatim.
    TraceStart(Json<'a>),
    /// The `end` line of a trace, verbatim.
    TraceEnd(Json<'a>),
    /// A line of a client's log that tells that it starts its server.
    Started,
    /// A line of a client's log that tells how its server ended.
    Ended(ServerEnd),
    /// Something the format says to pass over, in words such as "a line of type \"turn\"".
    Skipped(Cow<'a, str>),
    /// Something that is not a message where one belongs, or a message with a fault, passed over because the caller
    /// tolerates it.
    Noise(Noise<'a>),
    /// A body that must have been there and cannot be read (clause HAR-MISSING).
    Missing(MissingBody),
    /// A member of a type that its format does not give it, and that changes no meaning. Handed on, before the entry that
    /// it belongs to, to the side that asks for every fault.
    WrongType(WrongType<'a>),
    /// A byte order mark before the body that the next entry stands in. Handed on to the side that asks for every fault.
    Mark,
}

/// What a client's log says of how its server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerEnd {
    /// The client stopped it, or closed the connection.
    Asked,
    /// By itself, with this exit code where the log has it.
    ByItself(Option<i64>),
    /// It could not be started.
    NotStarted,
}

impl fmt::Display for ServerEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => out.write_str("the client closed the connection"),
            Self::ByItself(None) => out.write_str("the server ended by itself"),
            Self::ByItself(Some(code)) => write!(out, "the server ended by itself, with the code {code}"),
            Self::NotStarted => out.write_str("the server could not be started"),
        }
    }
}

/// A body that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingBody {
    /// What it was the body of, such as "the answer".
    pub whose: &'static str,
    /// It is there with its content coding, which no reader undoes; otherwise the exporter dropped it.
    pub coded: bool,
    /// Its beginning is there, which is not passed over where nothing is.
    pub cut: bool,
}

impl fmt::Display for MissingBody {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = if self.coded {
            "is kept as it was compressed, with its content coding, and not read"
        } else {
            "is missing or cut off"
        };
        write!(out, "the body of {} {why}", self.whose)
    }
}

/// A member beside the messages whose type is wrong.
#[derive(Debug, Clone)]
pub struct WrongType<'a> {
    /// Which, and what it is, in words.
    pub what: Cow<'a, str>,
    /// A clause leaves it to the reader whether to take such a type.
    pub open: bool,
}

/// What stands where a message belongs and is none, or one with a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noise<'a> {
    /// Why it is not read. The place counts from the entry's.
    pub why: Refusal,
    /// What stood there, as far as it is text: JSON or not.
    pub text: Cow<'a, str>,
}

impl Noise<'_> {
    /// Whether a log tells of it in words of its own. Every reader passes over that.
    #[must_use]
    pub fn is_reported(&self) -> bool {
        self.why.code == Code::InvalidJson && self.why.clause == "RPL-NOISE"
    }
}

/// One thing that a transcript holds, with its context.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    /// Where it is.
    pub location: Location,
    /// Milliseconds since the Unix epoch, or since whatever moment an envelope counts from.
    pub time: Option<i64>,
    /// Who sent it, where the format says.
    pub side: Option<Side>,
    /// How it travelled.
    pub carrier: Carrier,
    /// What it is.
    pub content: Content<'a>,
    /// The SSE fields, where it was an event.
    pub sse: Option<Sse<'a>>,
    /// The transport context, where the entry has one.
    pub context: Option<&'a Context<'a>>,
    /// Which HTTP exchange it belongs to, counted from 0 in the order of the session.
    pub exchange: Option<u64>,
    /// The text of the line that it stands in, where the line is a JSON object with more in it than the message.
    pub line: Option<&'a str>,
    /// Which message of a batch it is, counted from 0 (EQ-BATCH).
    pub item: Option<usize>,
}

impl<'a> Entry<'a> {
    /// An entry with nothing known but its place and what it is.
    #[must_use]
    pub fn new(location: Location, content: Content<'a>) -> Self {
        Self {
            location,
            time: None,
            side: None,
            carrier: Carrier::Line,
            content,
            sse: None,
            context: None,
            exchange: None,
            line: None,
            item: None,
        }
    }

    /// The message it carries, if any.
    #[must_use]
    pub fn message(&self) -> Option<&Message<'a>> {
        match &self.content {
            Content::Message(message) => Some(message),
            _ => None,
        }
    }
}

/// Why a sink takes no more entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SinkError {
    /// The entry cannot be part of a session; the reader adds the place.
    Rejected(Refusal),
    /// It has seen enough, or its own output failed.
    Stop,
}

/// What takes the entries of a session, one by one. A session is whole only when its reader returns `Ok`.
pub type Sink<'s> = dyn FnMut(Entry<'_>) -> Result<(), SinkError> + 's;
