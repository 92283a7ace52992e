//! Entries set aside in the order of the session, to be looked at elsewhere: by another thread, or by several.
//!
//! Memory: what was pushed, with what is inside of messages that were taken apart.

use crate::json::{Json, MemberIndex};
use crate::message::{Message, Refusal, Shape};
use crate::session::{
    Carrier, Content, Context, Entry, Exchange, Headers, Location, MissingBody, Noise, ServerEnd, Side, Sse,
    WrongType, owned_headers,
};
use std::borrow::Cow;
use std::ops::Range;

/// Entries, each with all that its reader said of it.
#[derive(Debug, Default)]
pub struct EntryBuffer {
    /// The texts of all of them, one behind the other.
    text: String,
    /// What is inside of the messages.
    parts: Vec<MemberIndex>,
    held: Vec<Held>,
}

/// An entry, by places in the batch.
#[derive(Debug)]
struct Held {
    location: Location,
    time: Option<i64>,
    side: Option<Side>,
    carrier: Carrier,
    what: What,
    sse: Option<Box<Sse<'static>>>,
    context: Option<Box<Surroundings>>,
    exchange: Option<u64>,
    line: Option<Range<usize>>,
    item: Option<usize>,
}

/// A [`Content`], by places in the batch.
#[derive(Debug)]
enum What {
    Message { text: Range<usize>, parts: Range<usize>, shape: Shape },
    Event,
    Empty,
    Envelope,
    Exchange(Box<Exchange<'static>>),
    ExchangeEnd,
    MadeUp(&'static str),
    Opened(Range<usize>),
    Closed(Range<usize>),
    Started,
    Ended(ServerEnd),
    Passed(Range<usize>),
    Noise(Box<Refusal>, Range<usize>),
    Missing(MissingBody),
    WrongType(Range<usize>, bool),
    Mark,
}

/// A [`Context`], by places in the batch.
#[derive(Debug)]
struct Surroundings {
    text: Range<usize>,
    status: Option<u16>,
    headers: Headers<'static>,
}

/// The line that an entry stands in, as it was handed over, and where it is kept.
type Line<'l> = Option<(&'l str, usize)>;

impl EntryBuffer {
    /// Forgets the entries, and keeps the room for others.
    pub fn clear(&mut self) {
        self.text.clear();
        self.parts.clear();
        self.held.clear();
    }

    /// Sets an entry aside.
    pub fn push(&mut self, entry: &Entry<'_>) {
        let line = entry.line.map(|line| self.keep(line, None));
        let around = entry.line.zip(line.as_ref().map(|kept| kept.start));
        let what = match &entry.content {
            Content::Message(message) => {
                let first = self.parts.len();
                self.parts.extend_from_slice(message.json().index());
                What::Message {
                    text: self.keep(message.text(), around),
                    parts: first..self.parts.len(),
                    shape: message.shape(),
                }
            }
            Content::Event => What::Event,
            Content::Empty => What::Empty,
            Content::Envelope => What::Envelope,
            Content::Exchange(exchange) => What::Exchange(Box::new(exchange.owned())),
            Content::ExchangeEnd => What::ExchangeEnd,
            Content::MadeUp(what) => What::MadeUp(what),
            Content::TraceStart(meta) => What::Opened(self.keep(meta.text(), around)),
            Content::TraceEnd(end) => What::Closed(self.keep(end.text(), around)),
            Content::Started => What::Started,
            Content::Ended(end) => What::Ended(*end),
            Content::Skipped(what) => What::Passed(self.keep(what, around)),
            Content::Noise(noise) => What::Noise(Box::new(noise.why.clone()), self.keep(&noise.text, around)),
            Content::Missing(body) => What::Missing(*body),
            Content::WrongType(wrong) => What::WrongType(self.keep(&wrong.what, around), wrong.open),
            Content::Mark => What::Mark,
        };
        let context = entry.context.map(|context| {
            let text = self.keep(context.text.text(), around);
            Box::new(Surroundings { text, status: context.status, headers: owned_headers(&context.headers) })
        });
        self.held.push(Held {
            location: entry.location,
            time: entry.time,
            side: entry.side,
            carrier: entry.carrier,
            what,
            sse: entry.sse.as_ref().map(|sse| Box::new(sse.owned())),
            context,
            exchange: entry.exchange,
            line,
            item: entry.item,
        });
    }

    /// How many bytes it holds, about.
    #[must_use]
    pub fn size(&self) -> usize {
        self.text.len() + size_of_val(self.parts.as_slice()) + size_of_val(self.held.as_slice())
    }

    /// Shows each entry, in order.
    pub fn each(&self, mut look: impl FnMut(&Entry<'_>)) {
        for held in &self.held {
            let context = held.context.as_ref().map(|context| Context {
                text: Json::scanned(self.text(&context.text)),
                status: context.status,
                headers: context.headers.clone(),
            });
            look(&Entry {
                location: held.location,
                time: held.time,
                side: held.side,
                carrier: held.carrier,
                content: self.content(&held.what),
                sse: held.sse.as_deref().cloned(),
                context: context.as_ref(),
                exchange: held.exchange,
                line: held.line.as_ref().map(|line| self.text(line)),
                item: held.item,
            });
        }
    }

    fn content<'b>(&'b self, what: &'b What) -> Content<'b> {
        match what {
            What::Message { text, parts, shape } => {
                let parts = self.parts.get(parts.clone()).unwrap_or_default();
                Content::Message(Message::new(self.text(text), *shape).indexed(parts))
            }
            What::Event => Content::Event,
            What::Empty => Content::Empty,
            What::Envelope => Content::Envelope,
            What::Exchange(exchange) => Content::Exchange(exchange),
            What::ExchangeEnd => Content::ExchangeEnd,
            What::MadeUp(what) => Content::MadeUp(what),
            What::Opened(meta) => Content::TraceStart(Json::scanned(self.text(meta))),
            What::Closed(end) => Content::TraceEnd(Json::scanned(self.text(end))),
            What::Started => Content::Started,
            What::Ended(end) => Content::Ended(*end),
            What::Passed(what) => Content::Skipped(Cow::Borrowed(self.text(what))),
            What::Noise(why, text) => {
                Content::Noise(Noise { why: (**why).clone(), text: Cow::Borrowed(self.text(text)) })
            }
            What::Missing(body) => Content::Missing(*body),
            What::WrongType(what, open) => {
                Content::WrongType(WrongType { what: Cow::Borrowed(self.text(what)), open: *open })
            }
            What::Mark => Content::Mark,
        }
    }

    /// Keeps a text. One that stands inside of its line is kept with the line: rules look where in the line it stands.
    fn keep(&mut self, text: &str, line: Line<'_>) -> Range<usize> {
        let inside = line.and_then(|(line, start)| {
            let at = text.as_ptr().addr().checked_sub(line.as_ptr().addr())?;
            (at + text.len() <= line.len()).then_some(start + at)
        });
        let start = inside.unwrap_or_else(|| {
            let start = self.text.len();
            self.text.push_str(text);
            start
        });
        start..start + text.len()
    }

    fn text(&self, place: &Range<usize>) -> &str {
        self.text.get(place.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::EntryBuffer;
    use crate::json::{Json, member_index};
    use crate::message::{Message, Refusal};
    use crate::rejection::Code;
    use crate::session::{
        Carrier, Content, Context, Entry, Exchange, Location, MissingBody, Noise, Side, Sse, WrongType,
    };

    #[test]
    fn what_is_looked_at_later_is_what_was_set_aside() {
        let line =
            r#"{"dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":[1,{"b":2}]}}}"#;
        let text = &line[18..line.len() - 1];
        let parts = member_index(text);
        let message = Message::parse(text).unwrap();
        let exchange = Exchange { url: "http://a/mcp".into(), status: Some(200), ..Exchange::default() };
        let context = Context {
            text: Json::parse(r#"{"status":401}"#).unwrap(),
            status: Some(401),
            headers: vec![("WWW-Authenticate".into(), "Bearer".into())],
        };
        let why = Refusal { code: Code::NotAMessage, clause: "RPL-NOISE", at: 3, message: "none".to_owned() };
        let location = Location { offset: 7, line: 2, root: "/raw", index: Some(1), tail: "/x" };
        let entries = [
            Entry {
                time: Some(5),
                side: Some(Side::Client),
                line: Some(line),
                ..Entry::new(location, Content::Message(message.indexed(&parts)))
            },
            Entry::new(location, Content::Message(message)),
            Entry {
                carrier: Carrier::Sse,
                sse: Some(Sse { id: Some("1".into()), retry: Some(3), ..Sse::default() }),
                exchange: Some(9),
                ..Entry::new(location, Content::Event)
            },
            Entry { context: Some(&context), ..Entry::new(location, Content::Envelope) },
            Entry::new(location, Content::Empty),
            Entry::new(location, Content::Exchange(&exchange)),
            Entry::new(location, Content::ExchangeEnd),
            Entry {
                line: Some(line),
                ..Entry::new(location, Content::TraceStart(Json::parse(line).unwrap()))
            },
            Entry::new(location, Content::TraceEnd(Json::parse("{}").unwrap())),
            Entry::new(location, Content::Skipped("a line of type \"turn\"".into())),
            Entry {
                line: Some(line),
                ..Entry::new(location, Content::Noise(Noise { why, text: line[2..9].into() }))
            },
            Entry::new(
                location,
                Content::Missing(MissingBody { whose: "the answer", coded: true, cut: false }),
            ),
            Entry::new(location, Content::WrongType(WrongType { what: "a list".into(), open: true })),
            Entry::new(location, Content::Mark),
        ];
        let mut batch = EntryBuffer::default();
        entries.iter().for_each(|entry| batch.push(entry));
        let mut left = entries.iter();
        batch.each(|entry| {
            let before = left.next().unwrap();
            assert_eq!(format!("{entry:?}"), format!("{before:?}"));
            let (Some(message), Some(line)) = (entry.message(), entry.line) else { return };
            let at = message.text().as_ptr().addr() - line.as_ptr().addr();
            assert_eq!(at, 18, "a message stands in its line");
            assert_eq!(message.params().unwrap().member("a").unwrap().index().len(), 4);
        });
        assert!(left.next().is_none());
        assert!(batch.size() > line.len() * 2);
    }
}
