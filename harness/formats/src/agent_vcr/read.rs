//! Reading a recording, whole: what stands at its end may say who wrote it.

use super::bare::Bare;
use crate::document::{self, Version, wrong};
use crate::exchange::body::Document;
use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::made_up;
use crate::time;
use transcript::json::{Json, JsonKind};
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Location, MissingBody, Side, Sink, SinkError};

const VERSION: Version = Version::first("/format_version", "a recording of the format");

/// What the recorder keeps nothing of.
const LEFT_OUT: &str =
    "every notification of the client, request of the server, and request without an answer";

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    if input.peek()?.is_none() {
        return Err(input.truncated("a recording"));
    }
    while input.more()? {}
    let input = &*input;
    let document = Document(input.text());
    let refuse = |refusal, pointer: &str| input.refuse(refusal, 0, pointer);
    let file = Json::parse(document.0).map_err(|fault| refuse(fault.into(), ""))?;
    if file.kind() != JsonKind::Object {
        let said = "a recording of agent-vcr is a JSON object with a `session`";
        return Err(refuse(wrong(Code::WrongDocument, said), ""));
    }
    let [version, metadata, session] = document
        .fields(Some(file), ["format_version", "metadata", "session"])
        .map_err(|refusal| refuse(refusal, ""))?;
    if let Some(version) = version {
        let at = document.at(version.text());
        let checked = VERSION.check(version.text());
        checked.map_err(|refusal| refuse(Refusal { at, ..refusal }, VERSION.pointer))?;
    }
    let [asked, answered, interactions] = document
        .fields(session, ["initialize_request", "initialize_response", "interactions"])
        .map_err(|refusal| refuse(refusal, "/session"))?;
    let Some(list) = interactions.filter(|list| list.kind() == JsonKind::Array) else {
        let at = document.at(interactions.or(session).unwrap_or(file).text());
        let said = "there is no array of interactions at `session.interactions`";
        return Err(refuse(Refusal { at, ..wrong(Code::MissingEntries, said) }, "/session"));
    };
    // A converter leaves nothing out and adds nothing.
    let tags = metadata.and_then(|metadata| metadata.member("tags"));
    let converted = tags.is_some_and(|tags| tags.member(made_up::MEMBER).is_some());
    let counted = (0, input.line());
    let mut reading = Reading { input, document, converted, options, sink, counted };
    let handshake = Place { root: "/session", index: None };
    if let Some(asked) = asked {
        reading.say(asked, Side::Client, None, (handshake, "/initialize_request"))?;
    }
    if let Some(answered) = answered {
        reading.say(answered, Side::Server, None, (handshake, "/initialize_response"))?;
        if !converted {
            let content = Content::Missing(MissingBody { whose: LEFT_OUT, coded: false });
            reading
                .give(Entry::new(reading.location(answered, (handshake, "/initialize_response")), content))?;
        }
    }
    for (index, interaction) in (0..).zip(list.items()) {
        reading.interaction(interaction, Place { root: "/session/interactions/", index: Some(index) })?;
    }
    Ok(())
}

/// Where something stands, but for the end of its pointer.
#[derive(Clone, Copy)]
struct Place {
    root: &'static str,
    index: Option<u64>,
}

struct Reading<'a, 's, 'e, 'f> {
    input: &'a Input<'f>,
    document: Document<'a>,
    converted: bool,
    options: ReadOptions,
    sink: &'s mut Sink<'e>,
    /// Where an interaction begins, and on which line: from there on lines are counted.
    counted: (usize, u64),
}

impl<'a> Reading<'a, '_, '_, '_> {
    fn interaction(&mut self, item: Json<'a>, place: Place) -> Result<(), ReadError> {
        let at = self.document.at(item.text());
        self.counted = (at, self.line(at));
        let refuse = |refusal| self.input.refuse(refusal, 0, &self.location(item, (place, "")).pointer());
        if item.kind() != JsonKind::Object {
            return Err(refuse(Refusal { at, ..wrong(Code::InvalidEntry, "an interaction is an object") }));
        }
        let names = ["request", "notifications", "response", "timestamp", "latency_ms"];
        let [request, notifications, response, timestamp, latency] =
            self.document.fields(Some(item), names).map_err(refuse)?;
        if let Some(list) = notifications.filter(|list| list.kind() != JsonKind::Array) {
            let said = "the notifications of an interaction are an array";
            return Err(refuse(Refusal {
                at: self.document.at(list.text()),
                ..wrong(Code::InvalidEntry, said)
            }));
        }
        let ended = timestamp.and_then(stamp);
        let took = latency.and_then(milliseconds).unwrap_or_default();
        // Without an answer the time is that of whatever there is.
        let begun = if response.is_some() { ended.map(|ended| ended.saturating_sub(took)) } else { ended };
        if let Some(request) = request {
            self.say(request, Side::Client, begun, (place, "/request"))?;
        }
        for notification in notifications.into_iter().flat_map(Json::items) {
            self.say(notification, Side::Server, None, (place, "/notifications"))?;
        }
        match response {
            Some(response) => self.say(response, Side::Server, ended, (place, "/response")),
            None => Ok(()),
        }
    }

    /// Hands on a message without the nulls that the recorder added to it.
    fn say(
        &mut self,
        value: Json<'a>,
        side: Side,
        time: Option<i64>,
        place: (Place, &'static str),
    ) -> Result<(), ReadError> {
        let location = self.location(value, place);
        let at = self.document.at(value.text());
        let bare = if self.converted { None } else { Bare::of(value) };
        let back = |refusal| match &bare {
            Some(bare) => bare.moved(refusal),
            None => refusal,
        };
        let text = bare.as_ref().map_or(value.text(), |bare| &bare.text);
        let content = match Message::parse(text).map_err(back) {
            Ok(message) => Content::Message(message),
            Err(why) => document::noise(why, value, self.options)
                .map_err(|why| self.input.refuse(why, at, &location.pointer()))?,
        };
        let entry = Entry { side: Some(side), time, ..Entry::new(location, content) };
        (self.sink)(entry).map_err(|error| match error {
            SinkError::Rejected(refusal) => self.input.refuse(back(refusal), at, &location.pointer()),
            SinkError::Stop => ReadError::Stopped,
        })
    }

    fn give(&mut self, entry: Entry<'_>) -> Result<(), ReadError> {
        let location = entry.location;
        (self.sink)(entry).map_err(|error| self.input.sink_error(error, 0, &location))
    }

    fn location(&self, value: Json<'_>, (place, tail): (Place, &'static str)) -> Location {
        let at = self.document.at(value.text());
        let Place { root, index } = place;
        Location { offset: self.input.offset() + at as u64, line: self.line(at), root, index, tail }
    }

    fn line(&self, at: usize) -> u64 {
        let (from, line) = if at < self.counted.0 { (0, self.input.line()) } else { self.counted };
        line + memchr::memchr_iter(b'\n', &self.document.0.as_bytes()[from..at]).count() as u64
    }
}

/// A time, which Python writes in no zone.
fn stamp(value: Json<'_>) -> Option<i64> {
    let text = value.as_text()?.to_str()?;
    time::parse(&text).or_else(|| time::parse(&format!("{text}Z")))
}

fn milliseconds(value: Json<'_>) -> Option<i64> {
    let number: f64 = value.as_number()?.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "a time beyond all years becomes the last there is")]
    let whole = number.round() as i64;
    Some(whole)
}
