//! One pass over a message's text: which parts it has, and what they make together.

use super::{Message, MessageClass, Refusal, Shape, Span};
use crate::json::{Json, JsonKind, JsonString, MemberIndex, MemberPlace, Scanner, SyntaxError, index_value};
use crate::rejection::Code;
use std::fmt::Write as _;

impl<'a> Message<'a> {
    /// Reads one message that begins under `scanner`, which runs over the same `text`, and moves past it.
    ///
    /// # Errors
    /// As [`Message::parse`]; after a refusal the scanner stands somewhere inside the message.
    pub fn scan(text: &'a str, scanner: &mut Scanner<'a>) -> Result<Self, Refusal> {
        let start = begin(scanner)?;
        let mut parts = Parts::default();
        let mut more = scanner.open(b'}')?;
        while more {
            let at = scanner.at();
            let key = scanner.key()?;
            let member = Member::new(key);
            let value_at = scanner.at();
            if member == Some(Member::Params) && scanner.peek() == Some(b'{') {
                parts.scan_params(scanner, start)?;
            } else {
                scanner.value()?;
            }
            parts.note(member, at - start, Span { start: value_at - start, end: scanner.at() - start });
            more = scanner.more(b'}')?;
        }
        parts.message(&text[start..scanner.at()], start)
    }

    /// The same, and takes the message apart on the way, as [`crate::json::index_members`] does: what is inside of it comes
    /// behind what is in `index`. Nothing does where it is too large.
    ///
    /// # Errors
    /// As [`Message::scan`].
    pub fn scan_indexed(
        text: &'a str,
        scanner: &mut Scanner<'a>,
        index: &mut Vec<MemberIndex>,
    ) -> Result<Self, Refusal> {
        let (start, first) = (begin(scanner)?, index.len());
        index_value(text, scanner, index)?;
        if index.len() == first {
            // It is too large to be taken apart.
            *scanner = Scanner::starting(text, start);
            return Self::scan(text, scanner);
        }
        let text = &text[start..scanner.at()];
        let mut parts = Parts::default();
        for place in Json::indexed(text, &index[first..]).places() {
            let member = Member::new(place.name);
            if member == Some(Member::Params) {
                let params = Json::indexed(&text[place.value.clone()], place.parts);
                params.places().for_each(|inside| parts.note_at(Member::in_params(inside.name), &inside));
            }
            parts.note_at(member, &place);
        }
        parts.message(text, start)
    }
}

/// That an object begins under a scanner; where.
fn begin(scanner: &mut Scanner<'_>) -> Result<usize, Refusal> {
    let start = scanner.at();
    match scanner.peek() {
        Some(b'{') => Ok(start),
        None => Err(scanner.fault("a JSON-RPC message").into()),
        Some(_) => {
            // Whether it is JSON at all comes first: `{oops` is not JSON, `42` is JSON and not a message.
            let value = scanner.take()?;
            let (code, message) = match value.kind() {
                JsonKind::Array => (Code::Batch, "an array instead of one message".to_owned()),
                kind => {
                    (Code::NotAMessage, format!("a JSON-RPC message is an object; this is {}", kind.name()))
                }
            };
            Err(Refusal { code, clause: "JRP-LINE", at: start, message })
        }
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
    /// That of a message with this name.
    #[inline]
    fn new(name: JsonString<'_>) -> Option<Self> {
        let plain = |name: &str| {
            Some(match name {
                "jsonrpc" => Self::Version,
                "id" => Self::Id,
                "method" => Self::Method,
                "params" => Self::Params,
                "result" => Self::Result,
                "error" => Self::Error,
                _ => return None,
            })
        };
        plain(name.raw()).or_else(|| name.is_escaped().then(|| plain(&name.to_str()?))?)
    }

    /// That of the params with this name.
    #[inline]
    fn in_params(name: JsonString<'_>) -> Option<Self> {
        match name.raw() {
            "name" => Some(Self::Name),
            "arguments" => Some(Self::Arguments),
            _ if !name.is_escaped() => None,
            _ if name.is("name") => Some(Self::Name),
            _ if name.is("arguments") => Some(Self::Arguments),
            _ => None,
        }
    }

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
    /// Which part of the message each is, where it is taken apart.
    numbers: [u32; 8],
    twice: Option<(usize, &'static str)>,
    /// The same inside `params`, where it matters only for a tool call.
    twice_in_params: Option<(usize, &'static str)>,
}

impl Parts {
    /// Takes note of a member: where its name begins, and where its value stands.
    #[inline]
    fn note(&mut self, member: Option<Member>, at: usize, span: Span) {
        let Some(member) = member else { return };
        if !std::mem::replace(&mut self.spans[member as usize], span).is_empty() {
            let twice = match member {
                Member::Name | Member::Arguments => &mut self.twice_in_params,
                _ => &mut self.twice,
            };
            twice.get_or_insert((at, member.name()));
        }
    }

    /// The same, of one that stands there.
    #[inline]
    fn note_at(&mut self, member: Option<Member>, place: &MemberPlace<'_>) {
        self.note(member, place.name_at - 1, Span { start: place.value.start, end: place.value.end });
        if let Some(member) = member {
            self.numbers[member as usize] = place.number;
        }
    }

    /// `params` is walked once: the two members that a tool call needs are noted on the way, since `method` may
    /// stand after it.
    fn scan_params(&mut self, scanner: &mut Scanner<'_>, base: usize) -> Result<(), SyntaxError> {
        let mut more = scanner.open(b'}')?;
        while more {
            let at = scanner.at() - base;
            let member = Member::in_params(scanner.key()?);
            let start = scanner.at() - base;
            scanner.value()?;
            self.note(member, at, Span { start, end: scanner.at() - base });
            more = scanner.more(b'}')?;
        }
        Ok(())
    }

    /// The message whose text begins at byte `start` of what was scanned.
    fn message<'a>(&self, text: &'a str, start: usize) -> Result<Message<'a>, Refusal> {
        let shape = self.shape(text).map_err(|refusal| Refusal { at: refusal.at + start, ..refusal })?;
        Ok(Message::new(text, shape))
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
        // A response keeps its outcome where a call keeps its params.
        let body = match what {
            MessageClass::Call => Member::Params,
            MessageClass::Result => Member::Result,
            MessageClass::Error => Member::Error,
        };
        Ok(Shape {
            what,
            id: spans[Member::Id as usize],
            method: spans[Member::Method as usize],
            params: spans[body as usize],
            body: self.numbers[body as usize],
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
