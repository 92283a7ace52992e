//! One entry of an envelope, taken apart in a single pass.
//!
//! Decides nothing before the whole entry is seen, since `event` may stand after `data`, and the status after the body.

use crate::data::{Carried, Places, carried, content, holds_messages};
use crate::exchange::body::MOST_HEADERS;
use std::borrow::Cow;
use transcript::json::{Json, JsonKind, JsonString, Scanner};
use transcript::message::{Message, Refusal, resembles_message};
use transcript::rejection::Code;
use transcript::session::{Carrier, Content, Context, Side, Sse};

/// An entry's members, as they stand in the text.
#[derive(Default)]
pub(super) struct Parts<'a> {
    request: Option<Body<'a>>,
    response: Option<Body<'a>>,
    pub(super) sse: Option<Event<'a>>,
    pub(super) timestamp: Option<Json<'a>>,
    pub(super) context: Option<Json<'a>>,
}

/// What stands where a message may stand.
pub(super) struct Body<'a> {
    at: usize,
    pub(super) value: Json<'a>,
    message: Result<Message<'a>, Refusal>,
}

#[derive(Default)]
pub(super) struct Event<'a> {
    at: usize,
    /// `sse` is null.
    null: bool,
    name: Option<Json<'a>>,
    pub(super) id: Option<Json<'a>>,
    retry: Option<Json<'a>>,
    pub(super) data: Option<Body<'a>>,
}

/// What an entry turns out to hold.
pub(super) struct Found<'a> {
    pub(super) carrier: Carrier,
    pub(super) side: Side,
    pub(super) tail: &'static str,
    /// Where the slot's value begins in the scanned text.
    pub(super) at: usize,
    pub(super) held: Held<'a>,
    pub(super) sse: Option<Sse<'a>>,
}

/// What stands in an entry's slot.
pub(super) enum Held<'a> {
    Message(Message<'a>),
    /// A string, and its content, which is to be read as a message.
    Text(JsonString<'a>, Cow<'a, str>),
    Event,
    Empty,
}

impl<'a> Held<'a> {
    /// What is handed on. A refusal's place counts from the beginning of the value, or of a string's content.
    pub(super) fn content(&self) -> Result<Content<'_>, Refusal> {
        Ok(match self {
            Self::Message(message) => Content::Message(*message),
            Self::Text(_, text) => match carried(text)? {
                Carried::Message(message) => Content::Message(message),
                Carried::Nothing => Content::Event,
            },
            Self::Event => Content::Event,
            Self::Empty => Content::Empty,
        })
    }

    /// The place in the slot's value of a refusal that counts as those of [`Held::content`] do.
    pub(super) fn placed(&self, refusal: Refusal) -> Refusal {
        match self {
            Self::Text(string, _) => Refusal { at: 1 + Places::new(*string).raw(refusal.at), ..refusal },
            _ => refusal,
        }
    }
}

impl<'a> Parts<'a> {
    /// Walks the entry under `scanner`, which runs over `text`.
    pub(super) fn scan(text: &'a str, scanner: &mut Scanner<'a>) -> Result<Self, Refusal> {
        let start = scanner.at();
        if scanner.peek() != Some(b'{') {
            let value = scanner.take()?;
            return Err(Refusal::new(
                Code::InvalidEntry,
                start,
                format!("an entry is an object; this is {}", value.kind().name()),
            ));
        }
        let mut parts = Self::default();
        let mut more = scanner.open(b'}')?;
        while more {
            let at = scanner.at();
            let key = scanner.key()?;
            let twice = match known(key, &["timestamp_ms", "request", "response", "sse", "transport_context"])
            {
                Some("timestamp_ms") => {
                    parts.timestamp = Some(scanner.take()?);
                    false
                }
                Some("request") => parts.request.replace(Body::scan(text, scanner)?).is_some(),
                Some("response") => parts.response.replace(Body::scan(text, scanner)?).is_some(),
                Some("sse") => parts.sse.replace(Event::scan(text, scanner)?).is_some(),
                Some(_) => parts.context.replace(scanner.take()?).is_some(),
                None => {
                    scanner.value()?;
                    false
                }
            };
            if twice {
                return Err(Refusal::duplicate(at, key.raw()));
            }
            more = scanner.more(b'}')?;
        }
        Ok(parts)
    }

    /// When it was, in milliseconds. ENV-LOOSE: anything else is context that says nothing.
    pub(super) fn time(&self) -> Option<i64> {
        let number = self.timestamp?.as_number()?;
        number.parse().ok().filter(|&time| time >= 0)
    }

    /// The entry's transport context, where it has one that is an object; and whether it has more headers than are read.
    pub(super) fn context(&self) -> Option<(Context<'a>, bool)> {
        bounded_context(self.context?)
    }

    /// The one slot that the entry fills, if it fills just one, and the text of what may be a message there.
    pub(super) fn only_slot(&self) -> Option<(Carrier, Side, &'static str, &'a str)> {
        match (&self.request, &self.response, &self.sse) {
            (Some(body), None, None) => Some((Carrier::Request, Side::Client, "/request", body.value.text())),
            (None, Some(body), None) => {
                Some((Carrier::Response, Side::Server, "/response", body.value.text()))
            }
            (None, None, Some(event)) => {
                let text = event.data.as_ref().map_or("", |data| data.value.text());
                Some((Carrier::Sse, Side::Server, "/sse", text))
            }
            _ => None,
        }
    }

    /// What the entry holds, now that all of it is seen. `start` is where it begins in the text.
    pub(super) fn found(self, start: usize, context: Option<&Context<'_>>) -> Result<Found<'a>, Refusal> {
        let found = |carrier, side, tail, at, held, sse| Ok(Found { carrier, side, tail, at, held, sse });
        match (self.request, self.response, self.sse) {
            (Some(body), None, None) => {
                found(Carrier::Request, Side::Client, "/request", body.at, body.single(None)?, None)
            }
            (None, Some(body), None) => {
                let status = context.and_then(|context| context.status);
                found(Carrier::Response, Side::Server, "/response", body.at, body.single(status)?, None)
            }
            (None, None, Some(event)) => {
                let (at, held, sse) = event.held()?;
                let tail =
                    if matches!(held, Held::Message(_) | Held::Text(..)) { "/sse/data" } else { "/sse" };
                found(Carrier::Sse, Side::Server, tail, at, held, Some(sse))
            }
            (request, response, sse) => {
                let there = [
                    ("request", request.is_some()),
                    ("response", response.is_some()),
                    ("sse", sse.is_some()),
                ];
                let names: Vec<_> =
                    there.iter().filter(|carrier| carrier.1).map(|carrier| carrier.0).collect();
                let has = if names.is_empty() {
                    "none of them".to_owned()
                } else {
                    format!("`{}`", names.join("` and `"))
                };
                let message =
                    format!("an entry holds exactly one of `request`, `response`, `sse`; this one has {has}");
                Err(Refusal::new(Code::InvalidEntry, start, message))
            }
        }
    }
}

impl<'a> Body<'a> {
    /// Reads what may be a message in one pass. Text that is not JSON is refused at once; any other fault is kept
    /// until it is known whether it matters here.
    fn scan(text: &'a str, scanner: &mut Scanner<'a>) -> Result<Self, Refusal> {
        let at = scanner.at();
        if scanner.peek() == Some(b'{') {
            let mut ahead = scanner.clone();
            match Message::scan(text, &mut ahead) {
                Ok(message) => {
                    *scanner = ahead;
                    return Ok(Self { at, value: message.json(), message: Ok(message) });
                }
                Err(refusal) if matches!(refusal.code, Code::InvalidJson | Code::Truncated) => {
                    return Err(refusal);
                }
                Err(refusal) => return Ok(Self { at, value: scanner.take()?, message: Err(refusal) }),
            }
        }
        let value = scanner.take()?;
        let message = Err(match value.kind() {
            JsonKind::Array => Refusal::new(Code::Batch, at, "an array instead of one message".to_owned()),
            kind => {
                let message = format!("a JSON-RPC message is an object; this is {}", kind.name());
                Refusal::new(Code::NotAMessage, at, message)
            }
        });
        Ok(Self { at, value, message })
    }

    /// ENV-SINGLE, ENV-NULL: one message, or nothing where the slot is null or holds the body of an HTTP error
    /// that is not JSON-RPC.
    fn single(self, status: Option<u16>) -> Result<Held<'a>, Refusal> {
        match self.message {
            Ok(message) => Ok(Held::Message(message)),
            Err(_) if self.value.kind() == JsonKind::Null => Ok(Held::Empty),
            Err(_)
                if self.value.kind() == JsonKind::Object
                    && status.is_some_and(|status| status >= 400)
                    && self.value.member("jsonrpc").is_none() =>
            {
                Ok(Held::Empty)
            }
            Err(refusal) => Err(refusal),
        }
    }
}

impl<'a> Event<'a> {
    fn scan(text: &'a str, scanner: &mut Scanner<'a>) -> Result<Self, Refusal> {
        let at = scanner.at();
        if scanner.peek() != Some(b'{') {
            let value = scanner.take()?;
            if value.kind() == JsonKind::Null {
                return Ok(Self { at, null: true, ..Self::default() });
            }
            let message = format!("`sse` is an object; this is {}", value.kind().name());
            return Err(Refusal::new(Code::WrongType, at, message));
        }
        let mut event = Self { at, ..Self::default() };
        let mut more = scanner.open(b'}')?;
        while more {
            let at = scanner.at();
            let key = scanner.key()?;
            let twice = match known(key, &["event", "id", "retry", "data"]) {
                Some("event") => event.name.replace(scanner.take()?).is_some(),
                Some("id") => event.id.replace(scanner.take()?).is_some(),
                Some("retry") => event.retry.replace(scanner.take()?).is_some(),
                Some(_) => event.data.replace(Body::scan(text, scanner)?).is_some(),
                None => {
                    scanner.value()?;
                    false
                }
            };
            if twice {
                return Err(Refusal::duplicate(at, key.raw()));
            }
            more = scanner.more(b'}')?;
        }
        Ok(event)
    }

    /// Whether it is one that carries messages, as far as its name is a text.
    pub(super) fn is_message(&self) -> bool {
        is_message(self.name.and_then(|name| name.as_text()).map(content).as_deref())
    }

    /// The SSE clauses: what the event carries, where it stands, and its fields.
    fn held(self) -> Result<(usize, Held<'a>, Sse<'a>), Refusal> {
        let text = |value: Option<Json<'a>>| value.and_then(|value| value.as_text()).map(content);
        let name = match self.name.map(|name| (name, name.kind())) {
            Some((_, JsonKind::String)) => text(self.name),
            None | Some((_, JsonKind::Null)) => None,
            Some((_, kind)) => {
                return Err(Refusal::new(
                    Code::WrongType,
                    self.at,
                    format!("the event's name is {}, not a string", kind.name()),
                ));
            }
        };
        let retry = self.retry.and_then(|retry| retry.as_number()?.parse().ok());
        let mut sse = Sse { name, id: text(self.id), data: None, retry, comments: 0 };
        if self.null {
            return Ok((self.at, Held::Empty, sse));
        }
        let is_message = is_message(sse.name.as_deref());
        let Some(data) = self.data else { return Ok((self.at, Held::Event, sse)) };
        let string = data.value.as_text();
        let object = (data.value.kind() == JsonKind::Object).then(|| data.value.text().into());
        if !is_message {
            sse.data = string.map(content).or(object);
            return Ok((data.at, Held::Event, sse));
        }
        let held = match (data.message, data.value.kind(), string) {
            (Ok(message), ..) => Held::Message(message),
            (_, _, Some(string)) => Held::Text(string, content(string)),
            (Err(refusal), JsonKind::Object, _) if resembles_message(data.value) => return Err(refusal),
            (Err(refusal), JsonKind::Array, _) if holds_messages(data.value) => {
                return Err(Refusal { clause: "SSE-DATA-ARRAY", ..refusal });
            }
            _ => {
                sse.data = object;
                Held::Event
            }
        };
        Ok((data.at, held, sse))
    }
}

/// Whether an event of this name carries messages (SSE-EVENT).
fn is_message(name: Option<&str>) -> bool {
    name.is_none_or(|name| name.is_empty() || name == "message")
}

/// A transport context, as far as it has the documented shape (K2A-SPELLING: no other spelling is looked for).
pub(crate) fn context(text: Json<'_>) -> Option<Context<'_>> {
    bounded_context(text).map(|(context, _)| context)
}

/// The same, and whether it has more headers than are read.
pub(super) fn bounded_context(text: Json<'_>) -> Option<(Context<'_>, bool)> {
    if text.kind() != JsonKind::Object {
        return None;
    }
    let status = text.member("status").and_then(|status| status.as_number()?.parse().ok());
    let all = text.member("headers").into_iter().flat_map(Json::members);
    let mut texts = all.filter_map(|(name, value)| Some((content(name), content(value.as_text()?))));
    let headers = texts.by_ref().take(MOST_HEADERS).collect();
    let more = texts.next().is_some();
    Some((Context { text, status, headers }, more))
}

fn known(key: JsonString<'_>, names: &[&'static str]) -> Option<&'static str> {
    match key.raw() {
        plain if !plain.contains('\\') => names.iter().copied().find(|name| plain == *name),
        _ => names.iter().copied().find(|name| key.is(name)),
    }
}
