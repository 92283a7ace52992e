//! What the built-in reader finds in a transcript, as copies that a mutant may change.

use formats::{Format, Input, ReadError, ReadOptions, apart};
use std::borrow::Cow;
use transcript::batch;
use transcript::contract::Contract;
use transcript::json::Json;
use transcript::meaning::EventKind;
use transcript::message::{Id as Spelled, Message, MessageClass};
use transcript::session::{Carrier, Content, Entry, Headers, Side};

/// The entries of a transcript, as far as it could be read.
#[derive(Debug, Clone)]
pub struct Reading {
    /// In the order of the session.
    pub entries: Vec<ReadEntry>,
    /// Why the reading ended early, if it did.
    pub failure: Option<Failure>,
}

/// Why a reading ended early.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The code of a rejection; empty where the reader itself failed.
    pub code: String,
    /// The reason in words.
    pub message: String,
}

/// One entry.
#[derive(Debug, Clone)]
pub struct ReadEntry {
    /// Its message, if it carries one.
    pub message: Option<ReadMessage>,
    /// Who sent it, where the format says so.
    pub side: Option<Side>,
    /// How it was carried.
    pub carrier: Carrier,
    /// When, in microseconds.
    pub time: Option<i64>,
    /// The SSE event's name.
    pub event: Option<String>,
    /// The SSE event's id.
    pub event_id: Option<String>,
    /// The data of an SSE event that carries no message.
    pub data: Option<String>,
    /// The status and headers that could hold a challenge.
    pub context: Option<Context>,
    /// The number of its HTTP exchange.
    pub exchange: Option<u64>,
    /// Whether HTTP turned that exchange away.
    pub turned_away: bool,
    /// Which item of a batch it was.
    pub item: Option<usize>,
}

/// The transport context of an entry or of an envelope, or the answer of an exchange.
#[derive(Debug, Clone)]
pub struct Context {
    /// What it belongs to.
    pub owner: Owner,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The headers of the answer.
    pub headers: Vec<(String, String)>,
    /// The context as it is written; empty for an exchange.
    pub text: String,
}

/// What a transport context belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A whole envelope.
    Envelope,
    /// A request of an envelope.
    Request,
    /// A response of an envelope.
    Response,
    /// An SSE event of an envelope.
    Sse,
    /// An HTTP exchange.
    Exchange,
}

/// A message in parts.
#[derive(Debug, Clone)]
pub struct ReadMessage {
    /// What kind of event it becomes.
    pub kind: EventKind,
    /// Its id as it was written.
    pub id: Id,
    /// Its method.
    pub method: Option<Vec<u8>>,
    /// The members of the normal form that hold values of the message, as JSON text.
    pub values: Vec<(&'static str, String)>,
    /// The whole message.
    pub text: String,
}

/// An id as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Id {
    /// There is no such member.
    Missing,
    /// `null`.
    Null,
    /// A string, decoded.
    Text(Vec<u8>),
    /// A number, as it is spelled.
    Number(String),
}

impl Reading {
    /// Reads a transcript with the built-in reader, up to where that rejects it.
    #[must_use]
    pub fn of(format: &Format, bytes: &[u8]) -> Self {
        let mut entries = Vec::new();
        let mut reader = bytes;
        let done = Input::new(&mut reader).and_then(|mut input| {
            let (mut turned_away, mut contract) = (None, Contract::default());
            let options = ReadOptions::default();
            format.entries(&mut input, options, &mut |entry| {
                if let Content::Exchange(exchange) = &entry.content {
                    turned_away = entry.exchange.filter(|_| exchange.turned_away());
                }
                let away = entry.exchange.is_some() && entry.exchange == turned_away;
                let mut items = batch::items(&entry).is_some().then_some(0..);
                apart(&entry, contract.revision(&entry), options, &mut |entry| {
                    // What the contract refuses, a mutant may read.
                    let _ = contract.take(entry);
                    let item = items.as_mut().and_then(Iterator::next);
                    entries.push(ReadEntry { turned_away: away, item, ..ReadEntry::of(entry) });
                    Ok(())
                })
            })
        });
        let failure = done.err().map(|error| match error {
            ReadError::Rejected(rejection) => {
                Failure { code: rejection.code.name().to_owned(), message: rejection.to_string() }
            }
            other => Failure { code: String::new(), message: other.to_string() },
        });
        Self { entries, failure }
    }

    /// The messages, in order.
    pub fn messages(&self) -> impl Iterator<Item = &ReadMessage> {
        self.entries.iter().filter_map(|entry| entry.message.as_ref())
    }

    /// The contexts, in order.
    pub fn contexts(&self) -> impl Iterator<Item = &Context> {
        self.entries.iter().filter_map(|entry| entry.context.as_ref())
    }
}

impl ReadEntry {
    fn of(entry: &Entry<'_>) -> Self {
        let own = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let (event, event_id, data) = match &entry.sse {
            Some(sse) => (own(&sse.name), own(&sse.id), own(&sse.data)),
            None => (None, None, None),
        };
        let message = entry.message().map(ReadMessage::of);
        let (side, carrier, time, exchange) = (entry.side, entry.carrier, entry.time, entry.exchange);
        let context = context(entry);
        let (turned_away, item) = (false, None);
        Self { message, side, carrier, time, event, event_id, data, context, exchange, turned_away, item }
    }

    /// Whether it is an SSE event that may carry a message: one that is named `message`, or not at all.
    #[must_use]
    pub fn is_message_event(&self) -> bool {
        self.carrier == Carrier::Sse && matches!(self.event.as_deref(), None | Some("" | "message"))
    }

    /// Whether its HTTP status is 400 or more.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.context.as_ref().is_some_and(|context| context.status >= Some(400))
    }
}

fn context(entry: &Entry<'_>) -> Option<Context> {
    let own = |headers: &Headers<'_>| {
        headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
    if let Content::Exchange(exchange) = &entry.content {
        let (status, headers) = (exchange.status, own(&exchange.response_headers));
        return Some(Context { owner: Owner::Exchange, status, headers, text: String::new() });
    }
    let context = entry.context?;
    let owner = match (&entry.content, entry.carrier) {
        (Content::Envelope, _) => Owner::Envelope,
        (_, Carrier::Request) => Owner::Request,
        (_, Carrier::Response) => Owner::Response,
        _ => Owner::Sse,
    };
    let (status, headers) = (context.status, own(&context.headers));
    Some(Context { owner, status, headers, text: context.text.text().to_owned() })
}

impl Context {
    /// Whether it belongs to an answer: only there does a challenge count.
    #[must_use]
    pub fn is_answer(&self) -> bool {
        matches!(self.owner, Owner::Response | Owner::Exchange)
    }

    /// The challenges: the values of `WWW-Authenticate`.
    #[must_use]
    pub fn challenges(&self) -> Vec<&str> {
        let challenges = self.headers.iter().filter(|(name, _)| is_challenge(name));
        challenges.map(|(_, value)| value.as_str()).collect()
    }
}

/// Whether a header of this name holds a challenge.
#[must_use]
pub fn is_challenge(name: &str) -> bool {
    name.eq_ignore_ascii_case("www-authenticate")
}

impl ReadMessage {
    /// The parts of a message.
    #[must_use]
    pub fn of(message: &Message<'_>) -> Self {
        let kind = EventKind::of(message);
        let id = match message.id() {
            Spelled::Missing => Id::Missing,
            Spelled::Null => Id::Null,
            Spelled::Text(text) => Id::Text(text.decode().into_owned()),
            Spelled::Number(text) => Id::Number(text.to_owned()),
        };
        let value = |name, value: Option<Json<'_>>| value.map(|value| (name, value.text().to_owned()));
        let values = match (message.class(), kind) {
            (MessageClass::Result, _) => [value("result", message.outcome()), None],
            (MessageClass::Error, _) => [value("error", message.outcome()), None],
            (_, EventKind::ToolCall) => {
                [value("tool", message.name()), value("arguments", message.arguments())]
            }
            _ => [value("params", message.params()), None],
        };
        let method = message.method().map(|method| method.decode().into_owned());
        let values = values.into_iter().flatten().collect();
        Self { kind, id, method, values, text: message.text().to_owned() }
    }

    /// Whether it is a result or an error.
    #[must_use]
    pub fn is_response(&self) -> bool {
        matches!(self.kind, EventKind::Result | EventKind::Error)
    }

    /// Whether it has this method.
    #[must_use]
    pub fn is_method(&self, name: &str) -> bool {
        self.method.as_deref() == Some(name.as_bytes())
    }

    /// Whether its method begins with one of these.
    #[must_use]
    pub fn is_method_of(&self, prefixes: &[&str]) -> bool {
        let begins = |method: &Vec<u8>| prefixes.iter().any(|prefix| method.starts_with(prefix.as_bytes()));
        self.method.as_ref().is_some_and(begins)
    }
}
