//! What the built-in reader finds in a transcript, by copies that a fault may change.
//!
//! Knows: the entries of a reading, and the rejection that ended it. Refuses to know: what any of it means.

use super::contract::{Habits, Outcome, carry_out};
use formats::{Format, Input, ReadError, ReadOptions};
use transcript::meaning::EventKind;
use transcript::message::{Id as Spelled, Message, MessageClass};
use transcript::session::{Carrier, Content, Entry, Side};
use verdict::answer::{Answer, FailureKind};

/// The entries of a transcript, as far as it could be read.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// In the order of the session.
    pub(super) entries: Vec<Seen>,
    /// Why the reading ended early, if it did: the code and the words.
    pub(super) refused: Option<(String, String)>,
}

/// One entry.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) said: Option<Said>,
    pub(super) side: Option<Side>,
    pub(super) carrier: Carrier,
    pub(super) time: Option<i64>,
    /// The SSE event's name and id.
    pub(super) event: Option<String>,
    pub(super) event_id: Option<String>,
    /// The data of an SSE event that carries no message.
    pub(super) data: Option<String>,
    /// What could hold a challenge: where it stands, the status and the headers.
    pub(super) context: Option<Surroundings>,
    /// The number of its HTTP exchange.
    pub(super) exchange: Option<u64>,
}

/// The transport context of an entry, of an envelope, or the answer of an exchange.
#[derive(Debug, Clone)]
pub(super) struct Surroundings {
    pub(super) at: At,
    /// The status of the answer.
    pub(super) status: Option<u16>,
    pub(super) headers: Vec<(String, String)>,
    /// The context as it is written; empty for an exchange.
    pub(super) text: String,
}

/// Where a transport context stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    Envelope,
    Request,
    Response,
    Sse,
    Exchange,
}

/// A message, in parts.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) kind: EventKind,
    pub(super) id: Id,
    pub(super) method: Option<Vec<u8>>,
    /// The members of the normal form that hold values of the message, as JSON text.
    pub(super) values: Vec<(&'static str, String)>,
    /// The whole message.
    pub(super) text: String,
}

/// An id as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Id {
    Missing,
    Null,
    Text(Vec<u8>),
    Number(String),
}

impl Found {
    /// Reads a transcript with the built-in reader, up to where that rejects it.
    pub(super) fn of(format: &Format, bytes: &[u8]) -> Self {
        let mut entries = Vec::new();
        let mut reader = bytes;
        let done = Input::new(&mut reader).and_then(|mut input| {
            (format.read)(&mut input, ReadOptions::default(), &mut |entry| {
                entries.push(Seen::of(&entry));
                Ok(())
            })
        });
        let refused = done.err().map(|error| match error {
            ReadError::Rejected(rejection) => (rejection.code.name().to_owned(), rejection.to_string()),
            other => (String::new(), other.to_string()),
        });
        Self { entries, refused }
    }

    /// The answer, after a change to the meaning.
    pub(super) fn answer(&self, habits: &Habits, edit: impl FnOnce(&mut Outcome)) -> Answer {
        // A duplicate is met before whatever ends the reading further down.
        let mut outcome = match carry_out(&self.entries, habits) {
            Ok(outcome) => outcome,
            Err(code) => {
                return Answer::Rejection { code: Some(code.to_owned()), message: code.to_owned() };
            }
        };
        match &self.refused {
            Some((code, message)) if code.is_empty() => {
                Answer::Broken { how: FailureKind::Crash, message: message.clone() }
            }
            Some((code, message)) => Answer::Rejection { code: Some(code.clone()), message: message.clone() },
            None => {
                edit(&mut outcome);
                Answer::Meaning(verdict::meaning::Meaning::written(outcome.write()))
            }
        }
    }

    /// The meaning of what was found before the reading ended.
    pub(super) fn so_far(&self) -> Option<Answer> {
        carry_out(&self.entries, &super::FAITHFUL)
            .ok()
            .map(|outcome| Answer::Meaning(verdict::meaning::Meaning::written(outcome.write())))
    }
}

impl Seen {
    fn of(entry: &Entry<'_>) -> Self {
        let own = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let (event, event_id, data) = match &entry.sse {
            Some(sse) => (own(&sse.name), own(&sse.id), own(&sse.data)),
            None => (None, None, None),
        };
        let said = entry.message().map(Said::of);
        let (side, carrier, time, exchange) = (entry.side, entry.carrier, entry.time, entry.exchange);
        let context = surroundings(entry);
        Self { said, side, carrier, time, event, event_id, data, context, exchange }
    }
}

fn surroundings(entry: &Entry<'_>) -> Option<Surroundings> {
    let own = |headers: &transcript::session::Headers<'_>| {
        headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    };
    if let Content::Exchange(exchange) = &entry.content {
        let (status, headers) = (exchange.status, own(&exchange.response_headers));
        return Some(Surroundings { at: At::Exchange, status, headers, text: String::new() });
    }
    let context = entry.context?;
    let at = match (&entry.content, entry.carrier) {
        (Content::Envelope, _) => At::Envelope,
        (_, Carrier::Request) => At::Request,
        (_, Carrier::Response) => At::Response,
        _ => At::Sse,
    };
    let (status, headers) = (context.status, own(&context.headers));
    Some(Surroundings { at, status, headers, text: context.text.text().to_owned() })
}

impl Said {
    pub(super) fn of(message: &Message<'_>) -> Self {
        let kind = EventKind::of(message);
        let id = match message.id() {
            Spelled::Missing => Id::Missing,
            Spelled::Null => Id::Null,
            Spelled::Text(text) => Id::Text(text.decode().into_owned()),
            Spelled::Number(text) => Id::Number(text.to_owned()),
        };
        let value = |name, value: Option<transcript::json::Json<'_>>| {
            value.map(|value| (name, value.text().to_owned()))
        };
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

    pub(super) fn is_response(&self) -> bool {
        matches!(self.kind, EventKind::Result | EventKind::Error)
    }

    pub(super) fn is_method(&self, name: &str) -> bool {
        self.method.as_deref() == Some(name.as_bytes())
    }
}
