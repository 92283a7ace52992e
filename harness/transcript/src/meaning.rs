//! The normal form: one event for each message, and how it is written as JSON.

use crate::json::{Json, write_compact, write_string};
use crate::k2a::AuthorizationSummary;
use crate::message::{Message, MessageClass};
use crate::session::{Location, Side};
use std::borrow::Cow;

crate::named! {
    /// The kinds of events.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EventKind {
        /// Method `tools/call`, with or without an id.
        ToolCall "tool_call",
        /// Any other method, with a correlation id.
        Request "request",
        /// Any other method, without one.
        Notification "notification",
        /// A response with a result.
        Result "result",
        /// A response with an error.
        Error "error",
    }
}

impl EventKind {
    /// The kind of a message.
    #[must_use]
    pub fn new(message: &Message<'_>) -> Self {
        match message.class() {
            MessageClass::Result => Self::Result,
            MessageClass::Error => Self::Error,
            MessageClass::Call if message.method().is_some_and(|method| method.is("tools/call")) => {
                Self::ToolCall
            }
            MessageClass::Call if message.id().key().is_some() => Self::Request,
            MessageClass::Call => Self::Notification,
        }
    }
}

/// One message with its meaning: what it is, and what it answers.
#[derive(Debug, Clone)]
pub struct Event<'a> {
    /// Its index in the session's events, from 0.
    pub index: u64,
    /// Its kind.
    pub kind: EventKind,
    /// The correlation id as WTF-8, if it has one.
    pub id: Option<Cow<'a, [u8]>>,
    /// Which event a result or error is bound to; none marks an orphan.
    pub answers: Option<u64>,
    /// The message itself.
    pub message: Message<'a>,
    /// Who sent it, where the format says. Not part of the meaning.
    pub side: Option<Side>,
    /// Where it is. Not part of the meaning.
    pub location: Location,
}

impl<'a> Event<'a> {
    /// Whether it is a result or an error.
    #[must_use]
    pub fn is_response(&self) -> bool {
        matches!(self.kind, EventKind::Result | EventKind::Error)
    }

    /// The members of the normal form that hold a value of the message, with that value.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, Json<'a>)> {
        let (first, second) = match self.kind {
            EventKind::ToolCall => (("tool", self.message.name()), ("arguments", self.message.arguments())),
            EventKind::Request | EventKind::Notification => (("params", self.message.params()), ("", None)),
            EventKind::Result => (("result", self.message.outcome()), ("", None)),
            EventKind::Error => (("error", self.message.outcome()), ("", None)),
        };
        [first, second].into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    /// Appends the event as one line of JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"kind\": \"");
        out.extend_from_slice(self.kind.name().as_bytes());
        out.push(b'"');
        if let Some(id) = &self.id {
            out.extend_from_slice(b", \"id\": ");
            write_string(id, out);
        }
        if self.is_response() {
            out.extend_from_slice(b", \"answers\": ");
            match self.answers {
                Some(index) => out.extend_from_slice(index.to_string().as_bytes()),
                None => out.extend_from_slice(b"null"),
            }
        }
        if matches!(self.kind, EventKind::Request | EventKind::Notification)
            && let Some(method) = self.message.method()
        {
            out.extend_from_slice(b", \"method\": ");
            write_string(&method.decode(), out);
        }
        for (name, value) in self.values() {
            out.extend_from_slice(b", \"");
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b"\": ");
            write_compact(value, out);
        }
        out.push(b'}');
    }
}

/// Appends what closes a meaning whose events stand in a JSON array that is still open.
pub fn write_end(summary: Option<AuthorizationSummary>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"],\n\"authorization_discovery\": ");
    match summary {
        Some(summary) => out.extend_from_slice(summary.to_json().as_bytes()),
        None => out.extend_from_slice(b"null"),
    }
    out.extend_from_slice(b"}\n");
}
