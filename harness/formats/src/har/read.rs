//! Reading HAR: exchanges in the order of their start, and what their bodies carry.
//!
//! Knows: HAR-ORDER, HAR-STREAM, HAR-MISSING, and which media type decides. Refuses to know: how text becomes
//! bytes, and what SSE data means. Memory: the whole file, since its order is not the order of the session.

use super::body::{Body, Checked, Document, bare, message, not_utf8, offset_in, refusal};
use crate::data::{Carried, carried};
use crate::input::{Input, ReadError};
use crate::sse::{Kind as Block, Parser, SseEvent};
use crate::{Options, time};
use std::borrow::Cow;
use transcript::json::{Json, Kind};
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{
    Content, Entry, Exchange, Halt, Headers, Noise, Side, Sink, Slot, Spot, Sse, header,
};

const REQUEST: &str = "/request/postData/text";
const ANSWER: &str = "/response/content/text";

pub(super) fn read(input: &mut Input<'_>, options: Options, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    while input.more()? {}
    let input = &*input;
    let mut reading = Reading { input, document: Document(input.text()), options, sink };
    for (number, listed) in (0..).zip(reading.listed()?) {
        reading.exchange(&listed, number)?;
    }
    Ok(())
}

/// An exchange as the file lists it.
struct Listed<'a> {
    json: Json<'a>,
    index: u64,
    /// The line that it begins on.
    line: u64,
    started: Option<i64>,
    /// What it is sorted by: its own start, or that of the one before it in the file.
    rank: i128,
}

/// A body as the file has it.
enum Held<'a> {
    /// There is none, or none that could be a message.
    None,
    /// There was one that could be, and the exporter dropped it.
    Dropped,
    /// Its text, and the `encoding` beside it.
    Text(Json<'a>, Option<Json<'a>>),
}

/// What every entry of one side of an exchange has in common.
#[derive(Clone, Copy)]
struct Stamp {
    time: Option<i64>,
    side: Option<Side>,
    slot: Slot,
    exchange: u64,
}

impl Stamp {
    fn on<'c>(self, content: Content<'c>, spot: Spot) -> Entry<'c> {
        let Self { time, side, slot, exchange } = self;
        Entry { time, side, slot, exchange: Some(exchange), ..Entry::new(spot, content) }
    }
}

struct Reading<'a, 's, 'e, 'f> {
    input: &'a Input<'f>,
    document: Document<'a>,
    options: Options,
    sink: &'s mut Sink<'e>,
}

impl<'a> Reading<'a, '_, '_, '_> {
    /// The array of exchanges.
    fn entries(&self) -> Result<Json<'a>, ReadError> {
        let document = self.document;
        let refuse = |refusal: Refusal, pointer: &str| self.input.refuse(refusal, 0, pointer);
        let file = Json::parse(document.0).map_err(|fault| refuse(fault.into(), ""))?;
        if file.kind() != Kind::Object {
            let message = format!("a HAR is an object with a `log`; this is {}", file.kind().name());
            let wrong = refusal(Code::WrongDocument, document.at(file.text()), message);
            return Err(refuse(Refusal { clause: "HAR-MISSING", ..wrong }, ""));
        }
        let none = |value: Json<'_>, pointer| {
            let message = "there is no array of exchanges at `log.entries`".to_owned();
            let missing = refusal(Code::MissingEntries, document.at(value.text()), message);
            refuse(Refusal { clause: "HAR-MISSING", ..missing }, pointer)
        };
        let [log] = document.fields(Some(file), ["log"]).map_err(|cause| refuse(cause, ""))?;
        let Some(log) = log.filter(|log| log.kind() == Kind::Object) else { return Err(none(file, "")) };
        let [entries] = document.fields(Some(log), ["entries"]).map_err(|cause| refuse(cause, "/log"))?;
        entries.filter(|entries| entries.kind() == Kind::Array).ok_or_else(|| none(log, "/log"))
    }

    /// The exchanges in the order of the session.
    fn listed(&self) -> Result<Vec<Listed<'a>>, ReadError> {
        let document = self.document;
        let (mut listed, mut seen, mut line, mut rank) = (Vec::new(), 0, self.input.line(), i128::MIN);
        for (index, json) in (0..).zip(self.entries()?.items()) {
            let refuse = |cause| self.input.refuse(cause, 0, &format!("/log/entries/{index}"));
            let at = document.at(json.text());
            line += lines(&document.0[seen..at]);
            seen = at;
            if json.kind() != Kind::Object {
                let message = format!("an exchange is an object; this is {}", json.kind().name());
                let wrong = refusal(Code::InvalidEntry, at, message);
                return Err(refuse(Refusal { clause: "SRV-BYTES", ..wrong }));
            }
            let [started] = document.fields(Some(json), ["startedDateTime"]).map_err(refuse)?;
            let started = started.and_then(|started| started.as_text()?.to_str());
            rank = started.as_deref().and_then(time::nanoseconds).unwrap_or(rank);
            let started = started.as_deref().and_then(time::parse);
            listed.push(Listed { json, index, line, started, rank });
        }
        listed.sort_by_key(|exchange| exchange.rank);
        Ok(listed)
    }

    fn exchange(&mut self, listed: &Listed<'a>, number: u64) -> Result<(), ReadError> {
        let (exchange, post, answer) = self
            .parts(listed)
            .map_err(|cause| self.input.refuse(cause, 0, &format!("/log/entries/{}", listed.index)))?;
        let spot = self.spot(listed, listed.json.text(), "");
        let stamp = Stamp { time: listed.started, side: None, slot: Slot::Line, exchange: number };
        self.note(stamp.on(Content::Exchange(&exchange), spot))?;

        let stamp = Stamp { side: Some(Side::Client), slot: Slot::Request, ..stamp };
        let asked = match post {
            Held::None => false,
            Held::Dropped => {
                self.note(stamp.on(Content::Missing("the request"), spot))?;
                false
            }
            Held::Text(text, encoding) => {
                let spot = self.spot(listed, text.text(), REQUEST);
                let body = self.body(text, encoding, &spot)?;
                self.whole(body, false, spot, stamp)?
            }
        };

        let time = exchange.ended.or(listed.started);
        let stamp = Stamp { time, side: Some(Side::Server), slot: Slot::Response, ..stamp };
        match answer {
            Held::None => {}
            Held::Dropped => self.note(stamp.on(Content::Missing("the answer"), spot))?,
            Held::Text(text, encoding) => {
                let spot = self.spot(listed, text.text(), ANSWER);
                let body = self.body(text, encoding, &spot)?;
                if exchange.media_type == STREAM {
                    self.stream(body, spot, Stamp { slot: Slot::Sse, ..stamp })?;
                } else {
                    self.whole(body, asked, spot, stamp)?;
                }
            }
        }
        Ok(())
    }

    fn parts(&self, listed: &Listed<'a>) -> Checked<(Exchange<'a>, Held<'a>, Held<'a>)> {
        let document = self.document;
        let [request, response, time] =
            document.fields(Some(listed.json), ["request", "response", "time"])?;
        let [method, url, headers, post, request_size] =
            document.fields(request, ["method", "url", "headers", "postData", "bodySize"])?;
        let method = document.text(method)?.unwrap_or_default();
        let url = document.text(url)?.unwrap_or_default();
        let request_headers = document.headers(headers)?;
        let [post_text, post_type, post_encoding] =
            document.fields(post, ["text", "mimeType", "encoding"])?;
        let post_type = media_type(&request_headers, document.text(post_type)?);
        let post = match post_text {
            _ if !method.eq_ignore_ascii_case("POST") => Held::None,
            Some(text) => Held::Text(text, post_encoding),
            None if positive(request_size) && may_be_json(&post_type) => Held::Dropped,
            None => Held::None,
        };

        let [status, headers, content, answer_size] =
            document.fields(response, ["status", "headers", "content", "bodySize"])?;
        let answer_headers = document.headers(headers)?;
        let [text, encoding, mime, size] =
            document.fields(content, ["text", "encoding", "mimeType", "size"])?;
        let media_type = media_type(&answer_headers, document.text(mime)?);
        let status = status.and_then(|status| status.as_number()?.parse().ok());
        let status = status.filter(|status| (100..1000).contains(status));
        let had_one = positive(size) || positive(answer_size);
        let answer = match text {
            _ if media_type != STREAM && !may_be_json(&media_type) => Held::None,
            Some(text) if !(had_one && text.text() == "\"\"") => Held::Text(text, encoding),
            None if media_type == STREAM && status.is_some() => Held::Dropped,
            _ if had_one && status != Some(304) => Held::Dropped,
            _ => Held::None,
        };
        let took = time.and_then(|time| time.as_number()?.parse::<f64>().ok()).filter(|&took| took >= 0.0);
        let ended = listed.started.zip(took).map(|(started, took)| {
            #[expect(clippy::cast_possible_truncation, reason = "a float beyond i64 becomes its nearest end")]
            started.saturating_add(took.round() as i64)
        });
        let form = post_text.filter(|_| post_type == FORM && post_encoding.is_none()).and_then(short);
        let document =
            text.filter(|_| method == "GET" && media_type == "application/json" && encoding.is_none());
        let document = document
            .and_then(short)
            .filter(|text| text.trim_start().starts_with('{') && !text.contains("\"jsonrpc\""));
        let exchange = Exchange {
            form,
            document,
            method,
            url,
            request_headers,
            status,
            answer_headers,
            media_type,
            ended,
            answer_size: count(size)
                .or(count(answer_size))
                .or_else(|| Some(text?.as_text()?.decode().len() as u64)),
        };
        Ok((exchange, post, answer))
    }

    fn body(&self, text: Json<'a>, encoding: Option<Json<'a>>, spot: &Spot) -> Result<Body<'a>, ReadError> {
        self.document.body(text, encoding).map_err(|cause| self.input.refuse(cause, 0, &spot.pointer()))
    }

    /// A body that is one message or none; whether it is a request, so that an answer belongs to it.
    fn whole(
        &mut self,
        mut body: Body<'a>,
        wanted: bool,
        spot: Spot,
        stamp: Stamp,
    ) -> Result<bool, ReadError> {
        let bytes = std::mem::take(&mut body.bytes);
        match message(&bytes, wanted) {
            Ok(None) => Ok(false),
            Ok(Some(message)) => {
                let start = offset_in(&bytes, message.text());
                self.give(stamp.on(Content::Message(message), spot), |at| body.place(start + at))?;
                Ok(message.method().is_some() && message.id().key().is_some())
            }
            Err(cause) => {
                let at = body.place(cause.at);
                self.refuse(Refusal { at, ..cause }, &bytes, spot, stamp)?;
                Ok(false)
            }
        }
    }

    fn stream(&mut self, mut body: Body<'a>, spot: Spot, stamp: Stamp) -> Result<(), ReadError> {
        let bytes = std::mem::take(&mut body.bytes);
        let mut result = Ok(());
        let mut take = |block: SseEvent<'_>| {
            if result.is_ok() {
                result = self.block(&block, &mut body, spot, stamp);
            }
        };
        let mut parser = Parser::default();
        parser.feed(&bytes, &mut take);
        parser.finish(&mut take);
        result
    }

    fn block(
        &mut self,
        block: &SseEvent<'_>,
        body: &mut Body<'a>,
        spot: Spot,
        stamp: Stamp,
    ) -> Result<(), ReadError> {
        if block.kind == Block::Unfinished {
            let what = Cow::Borrowed("the last event of a stream, which ended before the event did");
            return self.note(stamp.on(Content::Passed(what), spot));
        }
        let begin = usize::try_from(block.at).unwrap_or_default();
        let spot = Spot { offset: self.input.offset() + body.place(begin) as u64, ..spot };
        // Several data lines make one text; a place behind the first of them is told by its beginning.
        let mut place = |at: usize| {
            let joined = block.data.get(..at).is_some_and(|before| before.contains(&b'\n'));
            body.place(if joined { begin } else { begin + at })
        };
        match event(block) {
            Ok((Content::Message(message), sse)) => {
                let start = offset_in(block.data, message.text());
                let entry = Entry { sse: Some(sse), ..stamp.on(Content::Message(message), spot) };
                self.give(entry, |at| place(start + at))
            }
            Ok((content, sse)) => self.note(Entry { sse: Some(sse), ..stamp.on(content, spot) }),
            Err(cause) => {
                let at = place(cause.at);
                self.refuse(Refusal { at, ..cause }, block.data, spot, stamp)
            }
        }
    }

    /// Rejects, or notes the noise where the caller asked for leniency.
    fn refuse(&mut self, cause: Refusal, text: &[u8], spot: Spot, stamp: Stamp) -> Result<(), ReadError> {
        if self.options.passes(&cause) {
            let text = String::from_utf8_lossy(text);
            return self.note(stamp.on(Content::Noise(Noise { why: cause, text }), spot));
        }
        Err(self.input.refuse(cause, 0, &spot.pointer()))
    }

    /// Hands on an entry that is no message.
    fn note(&mut self, entry: Entry<'_>) -> Result<(), ReadError> {
        let at = usize::try_from(entry.spot.offset.saturating_sub(self.input.offset())).unwrap_or_default();
        self.give(entry, |_| at)
    }

    /// Hands an entry on. `place` finds in the document what the sink refuses in a message.
    fn give(&mut self, entry: Entry<'_>, place: impl FnOnce(usize) -> usize) -> Result<(), ReadError> {
        let spot = entry.spot;
        (self.sink)(entry).map_err(|halt| match halt {
            Halt::Refused(cause) => {
                self.input.refuse(Refusal { at: place(cause.at), ..cause }, 0, &spot.pointer())
            }
            Halt::Stop => ReadError::Stopped,
        })
    }

    fn spot(&self, listed: &Listed<'a>, part: &str, tail: &'static str) -> Spot {
        let (start, at) = (self.document.at(listed.json.text()), self.document.at(part));
        Spot {
            offset: self.input.offset() + at as u64,
            line: listed.line + self.document.0.get(start..at).map_or(0, lines),
            root: "/log/entries/",
            index: Some(listed.index),
            tail,
        }
    }
}

/// What a block of a stream carries: a message, or an event without one.
fn event<'e>(block: &SseEvent<'e>) -> Checked<(Content<'e>, Sse<'e>)> {
    let (name, id, data) = (text(block.name)?, text(block.id)?, text(Some(block.data))?);
    let data = data.filter(|_| block.kind == Block::Event);
    let found = match data {
        Some(data) if name.is_none_or(|name| matches!(name, "" | "message")) => carried(data)?,
        _ => Carried::Nothing,
    };
    let (content, data) = match found {
        Carried::Message(message) => (Content::Message(message), None),
        Carried::Nothing => (Content::Event, data),
    };
    let (name, id, data) = (name.map(Cow::from), id.map(Cow::from), data.map(Cow::from));
    Ok((content, Sse { name, id, data, retry: block.retry, comments: block.comments }))
}

const STREAM: &str = "text/event-stream";

/// The media type of a body: what the header says, else what the exporter says.
fn media_type(headers: &Headers<'_>, mime: Option<Cow<'_, str>>) -> String {
    let said = header(headers, "content-type").filter(|value| !value.trim().is_empty());
    let said = said.or(mime.as_deref()).unwrap_or_default();
    let bare = bare(said);
    // Chromium's word for "no content type".
    if bare == "x-unknown" { String::new() } else { bare }
}

const FORM: &str = "application/x-www-form-urlencoded";

/// Longer forms and documents are not handed on.
const SHORT: usize = 64 << 10;

/// A body that is handed on as text, if it is short.
fn short(text: Json<'_>) -> Option<Cow<'_, str>> {
    text.as_text().filter(|text| text.raw().len() <= SHORT)?.to_str()
}

/// Whether a body of this media type is looked at: JSON, and what nobody named.
fn may_be_json(media_type: &str) -> bool {
    matches!(media_type, "application/json" | "")
}

fn count(size: Option<Json<'_>>) -> Option<u64> {
    size.and_then(|size| size.as_number()?.parse().ok())
}

fn positive(size: Option<Json<'_>>) -> bool {
    size.and_then(|size| size.as_number()?.parse::<f64>().ok()).is_some_and(|size| size > 0.0)
}

fn text(bytes: Option<&[u8]>) -> Checked<Option<&str>> {
    bytes
        .map(|bytes| std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error.valid_up_to())))
        .transpose()
}

fn lines(text: &str) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64
}
