//! Reading arrays of messages and the Inspector's export.

use crate::excerpt::excerpt;
use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::time;
use std::cell::Cell;
use transcript::json::{Json, JsonKind, Scanner, SyntaxError};
use transcript::message::{Message, Refusal, Shape};
use transcript::rejection::{Code, Position, Rejection};
use transcript::session::{Content, Entry, Location, Noise, Side, Sink, SinkError};

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let mut list = List { options, held: None, order: None };
    pass(input, |scanner| {
        scanner.space();
        Ok(false)
    })?;
    let shaped = match input.text().bytes().next() {
        Some(b'[') => list.items(input, "/", sink).map(|()| true)?,
        Some(b'{') => list.document(input, sink)?,
        _ => pass(input, |scanner| scanner.value().map(|()| false))?,
    };
    // Whether the whole is JSON at all comes first: lines of JSON are not a document of the wrong shape.
    input.end()?;
    if !shaped {
        return Err(input.reject(Code::WrongDocument, 0, SHAPE));
    }
    list.release(sink)
}

const SHAPE: &str = "the document is an array of messages, or an object with an array of them under `events`";

/// Moves past what `step` scans, and returns what it says.
fn pass(
    input: &mut Input<'_>,
    step: impl Fn(&mut Scanner<'_>) -> Result<bool, SyntaxError>,
) -> Result<bool, ReadError> {
    let said = Cell::new(false);
    let length = input.scan(|scanner| {
        said.set(step(scanner)?);
        Ok(())
    })?;
    input.consume(length);
    Ok(said.get())
}

struct List {
    options: ReadOptions,
    /// What an export holds, from its first entry on: only the whole of it has an order.
    held: Option<Vec<Held>>,
    /// When the item before was said, for one that does not say.
    order: Option<i128>,
}

impl List {
    /// Takes an object with `events`; false where it has none.
    fn document(&mut self, input: &mut Input<'_>, sink: &mut Sink<'_>) -> Result<bool, ReadError> {
        let mut found = false;
        let mut more = pass(input, |scanner| scanner.open(b'}'))?;
        while more {
            let key = Cell::new(false);
            let length = input.scan(|scanner| {
                key.set(scanner.key()?.is("events"));
                Ok(())
            })?;
            if key.get() && found {
                return Err(input.refuse(Refusal::duplicate(0, "events"), 0, ""));
            }
            input.consume(length);
            match input.text().bytes().next() {
                Some(b'[') if key.get() => self.items(input, "/events/", sink)?,
                _ => {
                    let length = input.scan(|scanner| scanner.value())?;
                    if key.get() {
                        return Err(input.reject(Code::WrongDocument, 0, SHAPE));
                    }
                    input.consume(length);
                }
            }
            found |= key.get();
            more = pass(input, |scanner| scanner.more(b'}'))?;
        }
        Ok(found)
    }

    fn items(
        &mut self,
        input: &mut Input<'_>,
        root: &'static str,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadError> {
        let mut more = pass(input, |scanner| scanner.open(b']'))?;
        for index in 0.. {
            if !more {
                break;
            }
            let length =
                self.item(input, Location { root, index: Some(index), ..Location::default() }, sink)?;
            input.consume(length);
            more = pass(input, |scanner| scanner.more(b']'))?;
        }
        Ok(())
    }

    /// Takes the item under the window and returns its length. Most are bare messages that stand in the window as a
    /// whole; what is not takes a second look.
    fn item(
        &mut self,
        input: &mut Input<'_>,
        location: Location,
        sink: &mut Sink<'_>,
    ) -> Result<usize, ReadError> {
        let text = input.text();
        let mut scanner = Scanner::new(text);
        if let Ok(message) = Message::scan(text, &mut scanner) {
            let length = scanner.at();
            self.said(input, Said::bare(text, Ok(message), self.order), location, sink)?;
            return Ok(length);
        }
        let length = input.scan(|scanner| scanner.value())?;
        let text = &input.text()[..length];
        let parts = Parts::new(text).map_err(|fault| input.refuse(fault.into(), 0, &location.pointer()))?;
        match parts.find(MESSAGE) {
            // What has `jsonrpc` is a message itself, whatever else it has.
            Some(message) if !parts.bare => self.export(input, &parts, message, location, sink)?,
            _ => self.said(input, Said::bare(text, Message::parse(text), self.order), location, sink)?,
        }
        Ok(length)
    }

    /// INS-EXPORT: a message at its time, and the other side's answer as much later as it took.
    fn export(
        &mut self,
        input: &Input<'_>,
        parts: &Parts<'_>,
        (at, message): (usize, Json<'_>),
        location: Location,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadError> {
        if let Some((at, name)) = parts.twice {
            return Err(input.refuse(Refusal::duplicate(at, name), 0, &location.pointer()));
        }
        self.held.get_or_insert_default();
        let time = parts.find(TIMESTAMP).and_then(|(_, time)| attoseconds(time));
        self.order = time.or(self.order);
        let side = parts
            .find(ORIGIN)
            .and_then(|(_, origin)| origin.as_text())
            .and_then(|origin| [Side::Client, Side::Server].into_iter().find(|side| origin.is(side.name())));
        let here = Location { tail: "/message", ..location };
        let (text, order) = (message.text(), self.order);
        let said = Said {
            at,
            text,
            message: Message::parse(text),
            side,
            time: time.and_then(time::to_milliseconds),
            order,
        };
        self.said(input, said, here, sink)?;
        let Some((at, answer)) = parts.find(RESPONSE).filter(|(_, answer)| answer.kind() != JsonKind::Null)
        else {
            return Ok(());
        };
        let took = parts.find(DURATION).and_then(|(_, took)| attoseconds(took)).unwrap_or_default();
        let later = |time: i128| time.saturating_add(took);
        let here = Location { tail: "/response", ..location };
        let (time, order) = (time.map(later).and_then(time::to_milliseconds), self.order.map(later));
        let (text, side) = (answer.text(), side.map(Side::other));
        self.said(input, Said { at, text, message: Message::parse(text), side, time, order }, here, sink)
    }

    /// Hands a message on, or keeps it until the whole is known; so with a batch. What is neither ends the reading, or is
    /// handed on as noise, ahead of what is held.
    fn said(
        &mut self,
        input: &Input<'_>,
        said: Said<'_>,
        location: Location,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadError> {
        let position = input.position(said.at);
        let location = Location { offset: position.offset, line: position.line, ..location };
        let Said { at, text, message, side, time, order } = said;
        let waits = message.as_ref().map_or_else(|why| why.code == Code::Batch, |_| true);
        if let Some(held) = self.held.as_mut().filter(|_| waits) {
            let text = message.as_ref().map_or(text, Message::text).to_owned();
            let (message, column) = (message.map(|message| message.shape()), position.column);
            held.push(Held { text, message, side, time, order, location, column });
            return Ok(());
        }
        let content = match message {
            Ok(message) => Content::Message(message),
            Err(why) if self.options.hands_on(&why) => Content::Noise(Noise { why, text: text.into() }),
            Err(why) => return Err(input.refuse(why, at, &location.pointer())),
        };
        input.give(Entry::new(location, content), at, sink)
    }

    /// Hands on what was held, in its order.
    fn release(self, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        let mut held = self.held.unwrap_or_default();
        // Stable: what was said at one time stays as it stands. What has no time at all stands first.
        held.sort_by_key(|held| held.order);
        for held in &held {
            let content = match &held.message {
                Ok(shape) => Content::Message(Message::new(&held.text, *shape)),
                Err(why) => Content::Noise(Noise { why: why.clone(), text: (&*held.text).into() }),
            };
            let entry = Entry::new(held.location, content);
            sink(Entry { side: held.side, time: held.time, ..entry })
                .map_err(|error| held.sink_error(error))?;
        }
        Ok(())
    }
}

/// What stands where a message belongs, where in the window, and what its entry tells of it.
struct Said<'a> {
    at: usize,
    text: &'a str,
    message: Result<Message<'a>, Refusal>,
    side: Option<Side>,
    time: Option<i64>,
    /// The time by which it is put in order: its own, or that of the item before.
    order: Option<i128>,
}

impl<'a> Said<'a> {
    fn bare(text: &'a str, message: Result<Message<'a>, Refusal>, order: Option<i128>) -> Self {
        Self { at: 0, text, message, side: None, time: None, order }
    }
}

/// A message, or a batch, that waits for its turn.
struct Held {
    text: String,
    message: Result<Shape, Refusal>,
    side: Option<Side>,
    time: Option<i64>,
    order: Option<i128>,
    location: Location,
    column: u64,
}

impl Held {
    /// What a sink returned of it: its place in the file is long past, and is counted from its own text.
    fn sink_error(&self, error: SinkError) -> ReadError {
        let SinkError::Rejected(Refusal { code, clause, at, message }) = error else {
            return ReadError::Stopped;
        };
        let before = &self.text[..at];
        let lines = before.matches('\n').count() as u64;
        let column = 1 + before.rsplit('\n').next().unwrap_or_default().chars().count() as u64;
        let position = Position {
            offset: self.location.offset + at as u64,
            line: self.location.line + lines,
            column: if lines == 0 { self.column + column - 1 } else { column },
            pointer: self.location.pointer(),
        };
        let excerpt = Some(excerpt(&self.text, at, self.column > 1));
        ReadError::Rejected(Box::new(Rejection { code, clause, message, position, excerpt }))
    }
}

/// The members of an export's entry that decide what was said, by whom and when.
const NAMES: [&str; 5] = ["message", "response", "origin", "timestamp", "duration"];
const MESSAGE: usize = 0;
const RESPONSE: usize = 1;
const ORIGIN: usize = 2;
const TIMESTAMP: usize = 3;
const DURATION: usize = 4;

/// An item, taken apart: where each of [`NAMES`] stands in it. Nothing of what is not an object.
#[derive(Default)]
struct Parts<'a> {
    found: [Option<(usize, Json<'a>)>; NAMES.len()],
    /// There is a `jsonrpc`.
    bare: bool,
    twice: Option<(usize, &'static str)>,
}

impl<'a> Parts<'a> {
    fn new(text: &'a str) -> Result<Self, SyntaxError> {
        let mut parts = Self::default();
        let mut scanner = Scanner::new(text);
        let mut more = scanner.peek() == Some(b'{') && scanner.open(b'}')?;
        while more {
            let key_at = scanner.at();
            let key = scanner.key()?;
            let at = scanner.at();
            let value = scanner.take()?;
            parts.bare |= key.is("jsonrpc");
            if let Some(which) = NAMES.iter().position(|name| key.is(name))
                && parts.found[which].replace((at, value)).is_some()
            {
                parts.twice.get_or_insert((key_at, NAMES[which]));
            }
            more = scanner.more(b'}')?;
        }
        Ok(parts)
    }

    fn find(&self, which: usize) -> Option<(usize, Json<'a>)> {
        self.found[which]
    }
}

/// A time or a span in attoseconds: ISO 8601 text, or a number of milliseconds, often with a fraction, which may
/// decide what came first.
fn attoseconds(value: Json<'_>) -> Option<i128> {
    match value.as_text() {
        Some(text) => time::attoseconds(&text.to_str()?),
        None => value.as_number().map(time::of_milliseconds),
    }
}
