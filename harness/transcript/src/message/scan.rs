//! One pass over a message's text: which parts it has, and what they make together.

use super::{Message, MessageClass, Refusal, Shape, Span};
use crate::json::{Json, JsonKind, JsonString, Scanner, SyntaxError};
use crate::rejection::Code;
use std::fmt::Write as _;

impl<'a> Message<'a> {
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
                // Whether it is JSON at all comes first: `{oops` is not JSON, `42` is JSON and not a message.
                let value = scanner.take()?;
                let (code, what) = match value.kind() {
                    JsonKind::Array => (Code::Batch, "an array of messages where one message belongs"),
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
            let member = parts.member(key);
            let value_at = scanner.at();
            if member == Some(Member::Params) && scanner.peek() == Some(b'{') {
                parts.scan_params(scanner, start)?;
            } else {
                scanner.value()?;
            }
            if let Some(member) = member {
                let span = Span { start: value_at - start, end: scanner.at() - start };
                if !std::mem::replace(&mut parts.spans[member as usize], span).is_empty() {
                    parts.twice.get_or_insert((at - start, member.name()));
                }
            }
            more = scanner.more(b'}')?;
        }
        let text = &text[start..scanner.at()];
        let shape = parts.shape(text).map_err(|refusal| Refusal { at: refusal.at + start, ..refusal })?;
        Ok(Self::of(text, shape))
    }
}

/// The members that decide what a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Member {
    Version,
    Id,
    Method,
    Params,
    Result,
    Error,
    Name,
    Arguments,
}

impl Member {
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
    fn member(&self, key: JsonString<'_>) -> Option<Member> {
        Some(match &*key.to_str()? {
            "jsonrpc" => Member::Version,
            "id" => Member::Id,
            "method" => Member::Method,
            "params" => Member::Params,
            "result" => Member::Result,
            "error" => Member::Error,
            _ => return None,
        })
    }

    /// `params` is walked once: the two members that a tool call needs are noted on the way, since `method` may
    /// stand after it.
    fn scan_params(&mut self, scanner: &mut Scanner<'_>, base: usize) -> Result<(), SyntaxError> {
        let mut more = scanner.open(b'}')?;
        while more {
            let at = scanner.at();
            let key = scanner.key()?;
            let member = match key.raw() {
                "name" => Some(Member::Name),
                "arguments" => Some(Member::Arguments),
                raw if !raw.contains('\\') => None,
                _ if key.is("name") => Some(Member::Name),
                _ if key.is("arguments") => Some(Member::Arguments),
                _ => None,
            };
            let start = scanner.at() - base;
            scanner.value()?;
            if let Some(member) = member {
                let span = Span { start, end: scanner.at() - base };
                if !std::mem::replace(&mut self.spans[member as usize], span).is_empty() {
                    self.twice_in_params.get_or_insert((at - base, member.name()));
                }
            }
            more = scanner.more(b'}')?;
        }
        Ok(())
    }

    fn has(&self, member: Member) -> bool {
        !self.spans[member as usize].is_empty()
    }

    fn value<'a>(&self, text: &'a str, member: Member) -> Option<Json<'a>> {
        let span = self.spans[member as usize];
        (!span.is_empty()).then(|| Json::scanned(&text[span.start..span.end]))
    }

    /// What the members make together, or why they make no message. The order of the checks is the order in
    /// which a person would want to hear of them.
    fn shape(&self, text: &str) -> Result<Shape, Refusal> {
        let at = |member: Member| self.spans[member as usize].start;
        let mut said = String::new();
        // Elsewhere such a member decides nothing, and is kept as it stands in every other value.
        let calls_a_tool = self
            .value(text, Member::Method)
            .and_then(Json::as_text)
            .is_some_and(|method| method.is("tools/call"));
        if let Some((at, name)) = self.twice.or(self.twice_in_params.filter(|_| calls_a_tool)) {
            return Err(Refusal::duplicate(at, name));
        }
        if ![Member::Version, Member::Method, Member::Result, Member::Error]
            .iter()
            .any(|&member| self.has(member))
        {
            said.push_str("a JSON-RPC message has `jsonrpc` and one of `method`, `result`, `error`; this object has none");
            return Err(Refusal::new(Code::NotAMessage, 0, said));
        }
        match self.value(text, Member::Version) {
            Some(version) if version.as_text().is_some_and(|text| text.is("2.0")) => {}
            Some(version) => {
                let _ = write!(said, "`jsonrpc` must be the string \"2.0\"; this is {}", brief(version));
                return Err(Refusal::new(Code::InvalidVersion, at(Member::Version), said));
            }
            None => {
                said.push_str("`jsonrpc` is missing; it must be the string \"2.0\"");
                return Err(Refusal::new(Code::InvalidVersion, 0, said));
            }
        }
        if let Some(id) = self.value(text, Member::Id)
            && matches!(id.kind(), JsonKind::Bool | JsonKind::Object | JsonKind::Array)
        {
            let _ = write!(said, "an id is a string, a number or null; this is {}", brief(id));
            return Err(Refusal::new(Code::InvalidId, at(Member::Id), said));
        }
        let what = match (self.has(Member::Method), self.has(Member::Result), self.has(Member::Error)) {
            (true, false, false) => MessageClass::Call,
            (false, true, false) => MessageClass::Result,
            (false, false, true) => MessageClass::Error,
            (false, false, false) => {
                said.push_str("a message has one of `method`, `result`, `error`; this one has none");
                return Err(Refusal::new(Code::NotAMessage, 0, said));
            }
            (method, result, error) => {
                let names = [("method", method), ("result", result), ("error", error)];
                let there: Vec<_> = names.iter().filter(|(_, there)| *there).map(|(name, _)| *name).collect();
                let _ =
                    write!(said, "`{}` in one message; only one of them is allowed", there.join("` and `"));
                return Err(Refusal::new(Code::AmbiguousMessage, 0, said));
            }
        };
        if let Some(method) = self.value(text, Member::Method)
            && method.kind() != JsonKind::String
        {
            let _ = write!(said, "`method` must be a string; this is {}", brief(method));
            return Err(Refusal::new(Code::InvalidMethod, at(Member::Method), said));
        }
        let spans = self.spans;
        Ok(Shape {
            what,
            id: spans[Member::Id as usize],
            method: spans[Member::Method as usize],
            // A response keeps its outcome where a call keeps its params.
            params: match what {
                MessageClass::Call => spans[Member::Params as usize],
                MessageClass::Result => spans[Member::Result as usize],
                MessageClass::Error => spans[Member::Error as usize],
            },
            name: spans[Member::Name as usize],
            arguments: spans[Member::Arguments as usize],
        })
    }
}

/// A value as a message shows it: scalars as they are, the rest by kind, long ones cut.
fn brief(value: Json<'_>) -> String {
    match value.kind() {
        JsonKind::Array | JsonKind::Object => value.kind().name().to_owned(),
        _ => match value.text().char_indices().nth(40) {
            Some((end, _)) => format!("{}…", &value.text()[..end]),
            None => value.text().to_owned(),
        },
    }
}
