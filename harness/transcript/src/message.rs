//! One JSON-RPC message, distinguished and taken apart in a single pass over its text.

mod scan;

use crate::json::{Json, JsonString, MemberIndex, Scanner, SyntaxError};
use crate::rejection::Code;
use std::borrow::Cow;

/// A message and the places of its parts. Small and free of borrows of its own, so that it can be kept beside
/// an owned copy of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    what: MessageClass,
    id: Span,
    method: Span,
    params: Span,
    name: Span,
    arguments: Span,
    /// Which part of the message its params or its outcome are, where it was taken apart as it was read; else 0.
    body: u32,
}

/// The sorts of messages, as JSON-RPC divides them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageClass {
    /// A request or a notification: it has a method. Which of the two the id decides.
    Call,
    /// A response with a `result`.
    Result,
    /// A response with an `error`.
    Error,
}

/// A JSON-RPC message in its own text.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    text: &'a str,
    shape: Shape,
    parts: &'a [MemberIndex],
    /// Those of the params or of the outcome.
    body: &'a [MemberIndex],
}

/// A message's `id` member (clauses ID-STRING, ID-NUMBER, ID-NULL, ID-MISSING).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id<'a> {
    /// There is none.
    Missing,
    /// `null`: no correlation id either, and not the string `"null"`.
    Null,
    /// A string, taken as it is.
    Text(JsonString<'a>),
    /// A number, by its text.
    Number(&'a str),
}

impl<'a> Id<'a> {
    /// The correlation id as WTF-8: a string's code points, an integer's digits; none for null and missing.
    #[must_use]
    pub fn key(self) -> Option<Cow<'a, [u8]>> {
        match self {
            Self::Missing | Self::Null => None,
            Self::Text(text) => Some(text.decode()),
            Self::Number(text) => Some(Cow::Borrowed(text.as_bytes())),
        }
    }
}

/// Why a text is not a message, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The kind of rejection.
    pub code: Code,
    /// The clause, where only the code does not tell it.
    pub clause: &'static str,
    /// Byte offset into the text.
    pub at: usize,
    /// What is wrong, in a sentence without its full stop.
    pub message: String,
}

impl Refusal {
    /// A refusal under its code's own clause.
    #[must_use]
    pub fn new(code: Code, at: usize, message: impl Into<String>) -> Self {
        Self { code, clause: code.clause(), at, message: message.into() }
    }

    /// The refusal of an object that has a member twice which decides what it means (clause SRV-TWICE).
    #[must_use]
    pub fn duplicate(at: usize, member: &str) -> Self {
        let message = format!("the member `{member}` appears twice, and readers differ on which one counts");
        Self::new(Code::AmbiguousMember, at, message)
    }

    /// The same under another clause.
    #[must_use]
    pub fn under(self, clause: &'static str) -> Self {
        Self { clause, ..self }
    }

    /// The same refusal of a text that was one line of a line format: a line that is not one JSON object falls
    /// under JRP-LINE, and only the last line of a file can be cut off.
    #[must_use]
    pub fn on_a_line(mut self, last: bool) -> Self {
        if self.code == Code::Truncated && !last {
            self.code = Code::InvalidJson;
        }
        if self.code == Code::InvalidJson {
            self.clause = "JRP-LINE";
        }
        self
    }

    /// Whether what was refused is something that a recorder may have picked up beside the messages, rather than
    /// a message with a fault.
    #[must_use]
    pub fn is_noise(&self) -> bool {
        matches!(self.code, Code::NotAMessage | Code::InvalidJson | Code::Truncated | Code::BrokenData)
    }
}

impl From<SyntaxError> for Refusal {
    fn from(fault: SyntaxError) -> Self {
        let code = if fault.ended { Code::Truncated } else { Code::InvalidJson };
        let verb = if fault.ended { "the text ends where" } else { "this is not valid JSON:" };
        let message = format!("{verb} {} was expected", fault.expected);
        Self { code, clause: code.clause(), at: fault.at, message }
    }
}

impl<'a> Message<'a> {
    /// Reads one message from the whole of `text`.
    ///
    /// # Errors
    /// Where `text` is not one JSON object that is a JSON-RPC message.
    pub fn parse(text: &'a str) -> Result<Self, Refusal> {
        Self::parse_by(text, Self::scan)
    }

    /// The same, and takes the message apart behind what is in `index`, as [`Message::scan_indexed`] does.
    ///
    /// # Errors
    /// As [`Message::parse`].
    pub fn parse_indexed(text: &'a str, index: &mut Vec<MemberIndex>) -> Result<Self, Refusal> {
        Self::parse_by(text, |text, scanner| Self::scan_indexed(text, scanner, index))
    }

    fn parse_by(
        text: &'a str,
        scan: impl FnOnce(&'a str, &mut Scanner<'a>) -> Result<Self, Refusal>,
    ) -> Result<Self, Refusal> {
        let mut scanner = Scanner::new(text);
        scanner.space();
        let message = scan(text, &mut scanner);
        // Whether it is JSON at all comes first, up to its end.
        let is_json = !message
            .as_ref()
            .is_err_and(|refusal| matches!(refusal.code, Code::InvalidJson | Code::Truncated));
        if is_json {
            scanner.end()?;
        }
        message
    }

    /// The message as the JSON value it is.
    #[must_use]
    #[inline]
    pub fn json(&self) -> Json<'a> {
        Json::indexed(self.text, self.parts)
    }

    /// A message whose text has been read before.
    #[must_use]
    pub fn new(text: &'a str, shape: Shape) -> Self {
        Self { text, shape, parts: &[], body: &[] }
    }

    /// The same message, whose text [`index_members`](crate::json::index_members) took apart: its values know what is inside
    /// of them.
    #[must_use]
    #[inline]
    pub fn indexed(self, parts: &'a [MemberIndex]) -> Self {
        let whole = Json::indexed(self.text, parts);
        let body = match self.shape.body {
            0 => whole.value_at(self.shape.params.start).map_or(&[][..], Json::index),
            number => whole.part(number),
        };
        Self { parts, body, ..self }
    }

    /// The places of the parts, to be kept beside the text they are places in.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The message's own text, from brace to brace.
    #[must_use]
    #[inline]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The sort of message.
    #[must_use]
    #[inline]
    pub fn class(&self) -> MessageClass {
        self.shape.what
    }

    /// Its id.
    #[must_use]
    #[inline]
    pub fn id(&self) -> Id<'a> {
        match self.id_value() {
            None => Id::Missing,
            Some(id) => match id.as_text() {
                Some(text) => Id::Text(text),
                None => id.as_number().map_or(Id::Null, Id::Number),
            },
        }
    }

    /// Its `id` member, as it stands there.
    #[must_use]
    #[inline]
    pub fn id_value(&self) -> Option<Json<'a>> {
        self.part(self.shape.id)
    }

    /// Its id as it is written, quotes and all; none where it has none, or null.
    #[must_use]
    #[inline]
    pub fn written_id(&self) -> Option<&'a str> {
        match self.id() {
            Id::Missing | Id::Null => None,
            Id::Text(_) | Id::Number(_) => self.id_value().map(Json::text),
        }
    }

    /// Where in [`Message::text`] the id stands; 0 where there is none.
    #[must_use]
    pub fn id_at(&self) -> usize {
        self.shape.id.start
    }

    /// The method of a request or notification.
    #[must_use]
    #[inline]
    pub fn method(&self) -> Option<JsonString<'a>> {
        (self.shape.what == MessageClass::Call).then(|| self.part(self.shape.method)?.as_text()).flatten()
    }

    /// The `params` of a request or notification.
    #[must_use]
    #[inline]
    pub fn params(&self) -> Option<Json<'a>> {
        (self.shape.what == MessageClass::Call).then(|| self.body()).flatten()
    }

    /// `params.name` of a request or notification, whatever its type.
    #[must_use]
    pub fn name(&self) -> Option<Json<'a>> {
        self.part(self.shape.name)
    }

    /// `params.arguments` of a request or notification.
    #[must_use]
    pub fn arguments(&self) -> Option<Json<'a>> {
        self.part(self.shape.arguments)
    }

    /// The `result` or the `error` of a response.
    #[must_use]
    #[inline]
    pub fn outcome(&self) -> Option<Json<'a>> {
        (self.shape.what != MessageClass::Call).then(|| self.body()).flatten()
    }

    #[inline]
    fn slice(&self, span: Span) -> Option<&'a str> {
        (!span.is_empty()).then(|| self.text.get(span.start..span.end)).flatten()
    }

    #[inline]
    fn part(&self, span: Span) -> Option<Json<'a>> {
        self.slice(span).map(Json::scanned)
    }

    /// The params or the outcome.
    #[inline]
    fn body(&self) -> Option<Json<'a>> {
        self.slice(self.shape.params).map(|text| Json::indexed(text, self.body))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
}

impl Span {
    /// No JSON value is empty, so an empty span stands for a member that is not there.
    fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// Whether an object has any of the members that make a JSON-RPC message. One that has none is something else
/// altogether (SSE-DATA-TEXT, RPL-NOISE) and not a message with a fault.
#[must_use]
pub fn resembles_message(value: Json<'_>) -> bool {
    value.members().any(|(key, _)| ["jsonrpc", "method", "result", "error"].iter().any(|name| key.is(name)))
}

#[cfg(test)]
mod tests;
