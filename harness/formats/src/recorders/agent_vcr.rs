//! `agent-vcr`: the recording of agent-vcr (0.1, PyPI): `format_version`, `metadata`, and a `session` of the `initialize_request`,
//! the `initialize_response`, and `interactions`, each of a client's `request`, the `notifications` of the server that came
//! before its answer, and the `response`.
//!
//! An interaction is read in that order. The recorder adds one when its answer comes, so that calls which overlapped stand in the
//! order of their ends. A notification may have come before the request that it stands with. An interaction's `timestamp` is that
//! of the answer, in no zone, and is taken for UTC; the request was `latency_ms` earlier.
//!
//! The recorder writes `null` for the members that a message does not have: `params`, `result`, `error`, and an error's `data`.
//! They are taken off before anybody sees the message, so that a `params` that was null is lost. A converter, which leaves its mark
//! in the tags, adds none.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the process; times of the handshake and of
//! notifications. The recorder keeps of the client nothing but requests that were answered, and of the server answers and
//! notifications: what the server asks, what the client answers and notifies, and a request without an answer have no place. So
//! behind the handshake a body is missing (HAR-MISSING), unless a converter wrote the file: it writes such messages in interactions
//! of their own, which agent-vcr itself does not load, or says in the tags that they were left out. A response whose result, or the
//! data of whose error, is not an object is gone, and so are notifications before the end of the handshake. Every message went
//! through Python's JSON.

mod write;

use super::cut::{Cut, members};
use super::document::{self, Version, wrong};
use crate::exchange::body::Document;
use crate::format::{Capabilities, Format, Items, ReadOptions};
use crate::head::Head;
use crate::input::{Input, ReadError};
use crate::made_up;
use crate::time;
use crate::writing::Spelling;
use transcript::json::{Json, JsonKind, SyntaxError};
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Location, MissingBody, Side, Sink, SinkError};

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities {
        direction: true,
        times: true,
        times_beside_calls: false,
        ..Capabilities::MESSAGES
    },
    caveat: "agent-vcr keeps requests with their answers, in the order of their ends, and notifications of the server; what else was said is in no recording of its own",
    items: Items::List(&["session", "interactions"]),
    why_not,
    pads_with_null: true,
    unloadable: write::unloadable,
    messages: &[&["request"], &["response"]],
    ..Format::new(
        [
            "agent-vcr",
            "agent-vcr.json",
            "a recording of agent-vcr: requests, each with its response and the notifications before it",
        ],
        sniff,
        read,
        Spelling::Document(write::write),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("session") && head.has("format_version") && head.has("metadata")
}

/// Why a file that looks a little like one of these is none.
fn why_not(head: &Head) -> Option<&'static str> {
    let others = ["format_version", "metadata"];
    (head.has("session") && !sniff(head) && others.iter().any(|name| head.has(name)))
        .then_some("`format_version`, `metadata` and `session` are not all there")
}

const VERSION: Version = Version::first("/format_version", "a recording of the format");

/// What the recorder keeps nothing of.
const LEFT_OUT: &str =
    "every notification of the client, request of the server, and request without an answer";

/// Reads a recording, whole: what is at its end may say who wrote it.
fn read(input: &mut Input<'_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    if input.peek()?.is_none() {
        return Err(input.truncated("a recording"));
    }
    while input.more()? {}
    let input = &*input;
    let document = Document(input.text());
    let refuse = |refusal, pointer: &str| input.refuse(refusal, 0, pointer);
    let file = input.document()?;
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
        let said = "the array of interactions at `session.interactions` is missing";
        return Err(refuse(Refusal { at, ..wrong(Code::MissingEntries, said) }, "/session"));
    };
    // A converter adds nothing, and says whether it left something out.
    let has = |name| metadata.and_then(|metadata| metadata.member("tags")?.member(name)).is_some();
    let (converted, left_out) = (has(made_up::MEMBER), has(write::LEFT_OUT));
    let counted = (0, input.line());
    let mut reading = Reading { input, document, converted, options, sink, counted };
    let handshake = |tail| Location { root: "/session", tail, ..Location::default() };
    if let Some(asked) = asked {
        reading.say(asked, Side::Client, None, handshake("/initialize_request"))?;
    }
    if let Some(answered) = answered {
        reading.say(answered, Side::Server, None, handshake("/initialize_response"))?;
        if !converted || left_out {
            let content = Content::Missing(MissingBody { whose: LEFT_OUT, coded: false, cut: false });
            let location = reading.located(answered, handshake("/initialize_response"));
            input.give(Entry::new(location, content), 0, reading.sink)?;
        }
    }
    for (index, interaction) in (0..).zip(list.items()) {
        reading.interaction(interaction, index)?;
    }
    Ok(())
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
    fn interaction(&mut self, item: Json<'a>, index: u64) -> Result<(), ReadError> {
        let at = self.document.at(item.text());
        self.counted = (at, self.line(at));
        let place = |tail| Location {
            root: "/session/interactions/",
            index: Some(index),
            tail,
            ..Location::default()
        };
        let refuse = |refusal| self.input.refuse(refusal, 0, &place("").pointer());
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
            self.say(request, Side::Client, begun, place("/request"))?;
        }
        for notification in notifications.into_iter().flat_map(Json::items) {
            self.say(notification, Side::Server, None, place("/notifications"))?;
        }
        match response {
            Some(response) => self.say(response, Side::Server, ended, place("/response")),
            None => Ok(()),
        }
    }

    /// Hands on a message without the nulls that the recorder added to it.
    fn say(
        &mut self,
        value: Json<'a>,
        side: Side,
        time: Option<i64>,
        place: Location,
    ) -> Result<(), ReadError> {
        let location = self.located(value, place);
        let at = self.document.at(value.text());
        let bare = if self.converted { None } else { without_nulls(value) };
        let back = |refusal| match &bare {
            Some(bare) => bare.moved(refusal, 0),
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

    /// The place of a value, which has the pointer of `place`.
    fn located(&self, value: Json<'_>, place: Location) -> Location {
        let at = self.document.at(value.text());
        Location { offset: self.input.offset() + at as u64, line: self.line(at), ..place }
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

/// A message without the nulls that the recorder added; none where there are none.
fn without_nulls(message: Json<'_>) -> Option<Cut> {
    let nulls = nulls(message).ok().filter(|nulls| !nulls.is_empty())?;
    Some(Cut::new(message.text(), nulls))
}

/// Where the nulls are that the recorder added.
fn nulls(message: Json<'_>) -> Result<Vec<(usize, usize)>, SyntaxError> {
    if message.kind() != JsonKind::Object {
        return Ok(Vec::new());
    }
    let failed = message.member("error").is_some_and(|error| error.kind() == JsonKind::Object);
    let mut error = None;
    let mut found = members(message.text(), |name, at, value| {
        if name.is("error") && value.kind() == JsonKind::Object {
            error = Some((at, value));
        }
        let is_added = name.is("params") || name.is("error") || name.is("result") && failed;
        is_added && value.kind() == JsonKind::Null
    })?;
    if let Some((at, error)) = error {
        let inner =
            members(error.text(), |name, _, value| name.is("data") && value.kind() == JsonKind::Null)?;
        found.extend(inner.into_iter().map(|(start, end)| (at + start, at + end)));
        found.sort_unstable();
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::without_nulls;
    use transcript::json::Json;

    #[test]
    fn nulls_go_with_one_comma_each() {
        for (text, bare) in [
            (r#"{"a":1}"#, None),
            (r#"{"result":null}"#, None),
            (r#"{"error":null}"#, Some("{}")),
            (r#"{ "params" : null , "error":null, "id" : 1 }"#, Some(r#"{ "id" : 1 }"#)),
            (r#"{"id":1, "params":null , "error" : null }"#, Some(r#"{"id":1 }"#)),
            (r#"{"id":1,"params":null,"x":2}"#, Some(r#"{"id":1,"x":2}"#)),
            (r#"{"x":{"params":null}}"#, None),
            (r#"{"result":null,"error":null}"#, Some(r#"{"result":null}"#)),
            (
                r#"{"id":1,"result":null,"error":{"data":null,"code":1}}"#,
                Some(r#"{"id":1,"error":{"code":1}}"#),
            ),
            (r#"{"error":{"code":1,"data":null},"result":null}"#, Some(r#"{"error":{"code":1}}"#)),
            (r#"{"error":{"data":{"data":null}}}"#, None),
            ("[null]", None),
        ] {
            let found = without_nulls(Json::parse(text).unwrap());
            assert_eq!(found.map(|found| found.text).as_deref(), bare, "{text}");
        }
    }
}
