//! One JSON-RPC message, told apart and taken apart in a single pass over its text.
//!
//! Knows: what makes a request, a notification, a result or an error (clauses JRP-VERSION, JRP-SHAPE), which
//! ids are ids (ID-REJECT), and where in the text each part stands. Refuses to know: what stood before or after
//! the message, and who sent it.

use crate::json::{Fault, Json, Kind, Scanner, Text};
use crate::rejection::Code;
use std::borrow::Cow;
use std::fmt::Write as _;

/// A message and the places of its parts. Small and free of borrows of its own, so that it can be kept beside
/// an owned copy of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    what: What,
    id: Span,
    method: Span,
    params: Span,
    name: Span,
    arguments: Span,
}

/// The sorts of messages, as JSON-RPC divides them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
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
}

/// A message's `id` member (clauses ID-STRING, ID-NUMBER, ID-NULL, ID-MISSING).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id<'a> {
    /// There is none.
    Missing,
    /// `null`: no correlation id either, and not the string `"null"`.
    Null,
    /// A string, taken as it is.
    Text(Text<'a>),
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

/// Why a text is no message, and where in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The kind of rejection.
    pub code: Code,
    /// The clause, where the code alone does not tell it.
    pub clause: &'static str,
    /// Byte offset into the text.
    pub at: usize,
    /// What is wrong, in a sentence without its full stop.
    pub message: String,
}

impl Refusal {
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

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
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
        let mut scanner = Scanner::new(text);
        scanner.space();
        let message = Self::scan(text, &mut scanner)?;
        scanner.end()?;
        Ok(message)
    }

    /// Reads one message that begins under `scanner`, which runs over the same `text`, and moves past it.
    ///
    /// # Errors
    /// As [`Message::parse`]; after a refusal the scanner stands somewhere inside the message.
    pub fn scan(text: &'a str, scanner: &mut Scanner<'a>) -> Result<Self, Refusal> {
        let start = scanner.at();
        match scanner.peek() {
            Some(b'{') => {}
            None => return Err(scanner.fault("a JSON-RPC message").into()),
            Some(_) => {
                // Whether it is JSON at all comes first: `{oops` is no JSON, `42` is JSON and no message.
                let value = scanner.take()?;
                let (code, what) = match value.kind() {
                    Kind::Array => (Code::Batch, "an array of messages stands where one message belongs"),
                    _ => (Code::NotAMessage, "a JSON-RPC message is an object"),
                };
                let message = format!("{what}; this is {}", value.kind().name());
                return Err(Refusal { code, clause: "JRP-LINE", at: start, message });
            }
        }
        let mut parts = Parts::default();
        let mut more = scanner.open(b'}')?;
        while more {
            let at = scanner.at();
            let key = scanner.key()?;
            let slot = parts.slot(key);
            let value_at = scanner.at();
            if slot == Some(Slot::Params) && scanner.peek() == Some(b'{') {
                parts.scan_params(scanner, start)?;
            } else {
                scanner.value()?;
            }
            if let Some(slot) = slot {
                let span = Span { start: value_at - start, end: scanner.at() - start };
                if !std::mem::replace(&mut parts.spans[slot as usize], span).is_empty() {
                    parts.twice.get_or_insert((at - start, slot.name()));
                }
            }
            more = scanner.more(b'}')?;
        }
        let text = &text[start..scanner.at()];
        let shape = parts.shape(text).map_err(|refusal| Refusal { at: refusal.at + start, ..refusal })?;
        Ok(Self { text, shape })
    }

    /// The message as the JSON value it is.
    #[must_use]
    pub fn json(&self) -> Json<'a> {
        Json::scanned(self.text)
    }

    /// A message whose text has been read before.
    #[must_use]
    pub fn of(text: &'a str, shape: Shape) -> Self {
        Self { text, shape }
    }

    /// The places of the parts, to be kept beside the text they are places in.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The message's own text, from brace to brace.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The sort of message.
    #[must_use]
    pub fn what(&self) -> What {
        self.shape.what
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> Id<'a> {
        match self.part(self.shape.id) {
            None => Id::Missing,
            Some(id) => match id.as_text() {
                Some(text) => Id::Text(text),
                None => id.as_number().map_or(Id::Null, Id::Number),
            },
        }
    }

    /// Where in [`Message::text`] the id stands; 0 where there is none.
    #[must_use]
    pub fn id_at(&self) -> usize {
        self.shape.id.start
    }

    /// The method of a request or notification.
    #[must_use]
    pub fn method(&self) -> Option<Text<'a>> {
        (self.shape.what == What::Call).then(|| self.part(self.shape.method)?.as_text()).flatten()
    }

    /// The `params` of a request or notification.
    #[must_use]
    pub fn params(&self) -> Option<Json<'a>> {
        (self.shape.what == What::Call).then(|| self.part(self.shape.params)).flatten()
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
    pub fn outcome(&self) -> Option<Json<'a>> {
        (self.shape.what != What::Call).then(|| self.part(self.shape.params)).flatten()
    }

    fn slice(&self, span: Span) -> Option<&'a str> {
        (!span.is_empty()).then(|| self.text.get(span.start..span.end)).flatten()
    }

    fn part(&self, span: Span) -> Option<Json<'a>> {
        self.slice(span).map(Json::scanned)
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

/// The members that decide what a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Slot {
    Version,
    Id,
    Method,
    Params,
    Result,
    Error,
    Name,
    Arguments,
}

impl Slot {
    fn name(self) -> &'static str {
        match self {
            Self::Version => "jsonrpc",
            Self::Id => "id",
            Self::Method => "method",
            Self::Params => "params",
            Self::Result => "result",
            Self::Error => "error",
            Self::Name => "params.name",
            Self::Arguments => "params.arguments",
        }
    }
}

#[derive(Default)]
struct Parts {
    spans: [Span; 8],
    twice: Option<(usize, &'static str)>,
    /// The same inside `params`, where it matters for a tool call alone.
    twice_in_params: Option<(usize, &'static str)>,
}

impl Parts {
    fn slot(&self, key: Text<'_>) -> Option<Slot> {
        let plain;
        let name = match key.raw() {
            raw if !raw.contains('\\') => raw,
            _ => {
                plain = key.to_str()?;
                &plain
            }
        };
        Some(match name {
            "jsonrpc" => Slot::Version,
            "id" => Slot::Id,
            "method" => Slot::Method,
            "params" => Slot::Params,
            "result" => Slot::Result,
            "error" => Slot::Error,
            _ => return None,
        })
    }

    /// `params` is walked once: the two members that a tool call needs are noted on the way, since `method` may
    /// stand after it.
    fn scan_params(&mut self, scanner: &mut Scanner<'_>, base: usize) -> Result<(), Fault> {
        let mut more = scanner.open(b'}')?;
        while more {
            let at = scanner.at();
            let key = scanner.key()?;
            let slot = match key.raw() {
                "name" => Some(Slot::Name),
                "arguments" => Some(Slot::Arguments),
                raw if !raw.contains('\\') => None,
                _ if key.is("name") => Some(Slot::Name),
                _ if key.is("arguments") => Some(Slot::Arguments),
                _ => None,
            };
            let start = scanner.at() - base;
            scanner.value()?;
            if let Some(slot) = slot {
                let span = Span { start, end: scanner.at() - base };
                if !std::mem::replace(&mut self.spans[slot as usize], span).is_empty() {
                    self.twice_in_params.get_or_insert((at - base, slot.name()));
                }
            }
            more = scanner.more(b'}')?;
        }
        Ok(())
    }

    fn has(&self, slot: Slot) -> bool {
        !self.spans[slot as usize].is_empty()
    }

    fn value<'a>(&self, text: &'a str, slot: Slot) -> Option<Json<'a>> {
        let span = self.spans[slot as usize];
        (!span.is_empty()).then(|| Json::scanned(&text[span.start..span.end]))
    }

    /// What the members make together, or why they make no message. The order of the checks is the order in
    /// which a person would want to hear of them.
    fn shape(&self, text: &str) -> Result<Shape, Refusal> {
        let refuse =
            |code: Code, at: usize, message: String| Refusal { code, clause: code.clause(), at, message };
        let at = |slot: Slot| self.spans[slot as usize].start;
        let mut said = String::new();
        // Elsewhere such a member decides nothing, and is kept as it stands in every other value.
        let calls_a_tool = self
            .value(text, Slot::Method)
            .and_then(Json::as_text)
            .is_some_and(|method| method.is("tools/call"));
        if let Some((at, name)) = self.twice.or(self.twice_in_params.filter(|_| calls_a_tool)) {
            let _ = write!(said, "the member `{name}` stands twice, and readers differ on which one counts");
            return Err(refuse(Code::AmbiguousMember, at, said));
        }
        if ![Slot::Version, Slot::Method, Slot::Result, Slot::Error].iter().any(|&slot| self.has(slot)) {
            said.push_str("a JSON-RPC message has `jsonrpc` and one of `method`, `result`, `error`; this object has none");
            return Err(refuse(Code::NotAMessage, 0, said));
        }
        match self.value(text, Slot::Version) {
            Some(version) if version.as_text().is_some_and(|text| text.is("2.0")) => {}
            Some(version) => {
                let _ = write!(said, "`jsonrpc` must be the string \"2.0\"; this is {}", brief(version));
                return Err(refuse(Code::InvalidVersion, at(Slot::Version), said));
            }
            None => {
                said.push_str("`jsonrpc` is missing; it must be the string \"2.0\"");
                return Err(refuse(Code::InvalidVersion, 0, said));
            }
        }
        if let Some(id) = self.value(text, Slot::Id)
            && matches!(id.kind(), Kind::Bool | Kind::Object | Kind::Array)
        {
            let _ = write!(said, "an id is a string, a number or null; this is {}", brief(id));
            return Err(refuse(Code::InvalidId, at(Slot::Id), said));
        }
        let what = match (self.has(Slot::Method), self.has(Slot::Result), self.has(Slot::Error)) {
            (true, false, false) => What::Call,
            (false, true, false) => What::Result,
            (false, false, true) => What::Error,
            (false, false, false) => {
                said.push_str("a message has one of `method`, `result`, `error`; this one has none");
                return Err(refuse(Code::NotAMessage, 0, said));
            }
            (method, result, error) => {
                let names = [("method", method), ("result", result), ("error", error)];
                let there: Vec<_> = names.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
                let _ =
                    write!(said, "`{}` stand in one message; only one of them may", there.join("` and `"));
                return Err(refuse(Code::AmbiguousMessage, 0, said));
            }
        };
        if let Some(method) = self.value(text, Slot::Method)
            && method.kind() != Kind::String
        {
            let _ = write!(said, "`method` must be a string; this is {}", brief(method));
            return Err(refuse(Code::InvalidMethod, at(Slot::Method), said));
        }
        let spans = self.spans;
        Ok(Shape {
            what,
            id: spans[Slot::Id as usize],
            method: spans[Slot::Method as usize],
            // A response keeps its outcome where a call keeps its params.
            params: match what {
                What::Call => spans[Slot::Params as usize],
                What::Result => spans[Slot::Result as usize],
                What::Error => spans[Slot::Error as usize],
            },
            name: spans[Slot::Name as usize],
            arguments: spans[Slot::Arguments as usize],
        })
    }
}

/// A value as a message shows it: scalars as they are, the rest by kind, long ones cut.
fn brief(value: Json<'_>) -> String {
    match value.kind() {
        Kind::Array | Kind::Object => value.kind().name().to_owned(),
        _ => match value.text().char_indices().nth(40) {
            Some((end, _)) => format!("{}…", &value.text()[..end]),
            None => value.text().to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{Id, Message, What};
    use crate::rejection::Code;

    #[test]
    fn a_call_is_taken_apart_wherever_its_members_stand() {
        let text = concat!(
            r#"{"params":{"arguments":{"a":1},"_meta":{"name":"no"},"n\u0061me":"Calculator"},"#,
            r#""id":7,"method":"tools/call","jsonrpc":"2.0"}"#
        );
        let message = Message::parse(text).unwrap();
        assert_eq!(message.what(), What::Call);
        assert_eq!(message.id(), Id::Number("7"));
        assert!(message.method().unwrap().is("tools/call"));
        assert_eq!(message.name().unwrap().text(), r#""Calculator""#);
        assert_eq!(message.arguments().unwrap().text(), r#"{"a":1}"#);
        assert!(message.outcome().is_none());
    }

    #[test]
    fn places_hold_inside_a_longer_text() {
        let text = r#"  {"jsonrpc":"2.0","id":null,"result":[ 1 ]}  "#;
        let message = Message::parse(text).unwrap();
        assert_eq!(message.text(), text.trim());
        assert_eq!(message.outcome().unwrap().text(), "[ 1 ]");
        assert_eq!(Message::of(text.trim(), message.shape()).id(), Id::Null);
    }

    #[test]
    fn a_name_that_stands_twice_in_params_matters_to_a_tool_call_alone() {
        let text = r#"{"params":{"name":1,"n\u0061me":2},"jsonrpc":"2.0","method":"prompts/get"}"#;
        assert_eq!(Message::parse(text).unwrap().params().unwrap().text(), r#"{"name":1,"n\u0061me":2}"#);
        let refusal = Message::parse(&text.replace("prompts/get", "tools/call")).unwrap_err();
        assert_eq!((refusal.code, refusal.at), (Code::AmbiguousMember, 20));
        let answer = r#"{"jsonrpc":"2.0","id":1,"params":{"name":1,"name":2},"result":{}}"#;
        assert!(Message::parse(answer).is_ok());
    }

    #[test]
    fn what_is_no_message_is_refused_at_its_place() {
        for (text, code, at) in [
            ("", Code::Truncated, 0),
            (r#"{"jsonrpc":"#, Code::Truncated, 11),
            (r#"{"jsonrpc" "2.0"}"#, Code::InvalidJson, 11),
            ("42", Code::NotAMessage, 0),
            ("[]", Code::Batch, 0),
            ("nope", Code::InvalidJson, 1),
            ("{}", Code::NotAMessage, 0),
            (r#"{"not":"jsonrpc"}"#, Code::NotAMessage, 0),
            (r#"{"jsonrpc":"2.0","id":1}"#, Code::NotAMessage, 0),
            (r#"{"jsonrpc":"1.0","method":"x"}"#, Code::InvalidVersion, 11),
            (r#"{"jsonrpc":2.0,"method":"x"}"#, Code::InvalidVersion, 11),
            (r#"{"method":"x"}"#, Code::InvalidVersion, 0),
            (r#"{"jsonrpc":"2.0","method":7}"#, Code::InvalidMethod, 26),
            (r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, Code::InvalidId, 22),
            (r#"{"jsonrpc":"2.0","id":[],"method":"x"}"#, Code::InvalidId, 22),
            (r#"{"jsonrpc":"2.0","id":{},"result":1}"#, Code::InvalidId, 22),
            (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":null}"#, Code::AmbiguousMessage, 0),
            (r#"{"jsonrpc":"2.0","method":"x","result":1}"#, Code::AmbiguousMessage, 0),
            (r#" {"jsonrpc":"2.0","id":1,"id":2,"result":1}"#, Code::AmbiguousMember, 25),
            (r#"{"jsonrpc":"2.0","method":"x"} {"#, Code::InvalidJson, 31),
        ] {
            let refusal = Message::parse(text).unwrap_err();
            assert_eq!((refusal.code, refusal.at), (code, at), "{text}: {}", refusal.message);
        }
    }
}
