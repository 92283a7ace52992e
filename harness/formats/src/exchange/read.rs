//! Reading exchanges: in the order of their start, and what their bodies carry.
//!
//! Memory: the whole file, since its order is not the order of the session, and what [`super::timed`] holds.

use super::body::{Body, Checked, Document, MOST_HEADERS, event, message, offset_in, text, without_mark};
use super::invented::Invented;
use super::media::STREAM;
use super::parts::{Held, Layout, Listed, Moment, Parts, missing};
use super::stamp::Stamp;
use super::timed::{Attoseconds, Queue, Waiting};
use crate::format::{ReadOptions, Tolerance};
use crate::input::{Input, ReadError};
use crate::salvage::closed;
use crate::sse::{SseBlock, SseBlockKind as Block, SseParser};
use std::borrow::Cow;
use transcript::batch::items;
use transcript::json::{Json, JsonKind};
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Carrier, Content, Context, Entry, Location, Noise, Side, Sink, SinkError, Sse};

/// A file that is read.
pub(crate) struct Reading<'a, 's, 'e, 'f> {
    pub(crate) input: &'a Input<'f>,
    pub(crate) document: Document<'a>,
    pub(crate) options: ReadOptions,
    pub(crate) sink: &'s mut Sink<'e>,
    pub(crate) layout: &'static Layout,
    /// What a converter made up has been handed on.
    pub(crate) is_marked: bool,
}

/// A document that was cut off, closed behind its last whole exchange, and why it is refused; `path` leads to the list.
///
/// # Errors
/// Why it is refused, where no exchange is whole, or the caller wants nothing of a file that is refused.
pub(crate) fn cut_off(
    error: ReadError,
    path: &[&str],
    input: &Input<'_>,
    options: ReadOptions,
) -> Result<(String, ReadError), ReadError> {
    let ReadError::Rejected(mut why) = error else { return Err(error) };
    let closed = closed(path, input.text()).filter(|_| why.code == Code::Truncated);
    let Some((count, text)) = closed else { return Err(ReadError::Rejected(why)) };
    let exchanges = if count == 1 { "whole exchange" } else { "whole exchanges" };
    why.message = format!("{}; `convert --salvage` keeps its {count} {exchanges}", why.message);
    if options.tolerance == Tolerance::Faults {
        Ok((text, ReadError::Rejected(why)))
    } else {
        Err(ReadError::Rejected(why))
    }
}

impl<'a> Reading<'a, '_, '_, '_> {
    /// Reads the exchanges of a list; `moment` tells when one began, and `parts` what it consists of.
    ///
    /// # Errors
    /// Where one has a fault, or the sink wants no more.
    pub(crate) fn list(
        &mut self,
        list: Json<'a>,
        moment: fn(Document<'a>, Json<'a>) -> Checked<Option<Moment>>,
        parts: fn(Document<'a>, &Listed<'a>) -> Checked<Parts<'a>>,
    ) -> Result<(), ReadError> {
        let mut queue = Queue::default();
        for (number, listed) in (0..).zip(self.listed(list, moment)?) {
            self.catch_up(&mut queue, Some(listed.rank))?;
            let parts = parts(self.document, &listed).map_err(|cause| self.refused(cause, listed.index))?;
            self.exchange(&listed, number, parts, &mut queue)?;
        }
        self.catch_up(&mut queue, None)
    }

    /// Hands on what came of the answers that wait, up to a moment or to the end.
    fn catch_up(&mut self, queue: &mut Queue<'a>, moment: Option<Attoseconds>) -> Result<(), ReadError> {
        while let Some(mut waiting) = queue.due(moment) {
            let (mut result, asked) = (Ok(()), waiting.asked);
            let more = waiting.part(|body, location, stamp, block| {
                result = match block {
                    Some(block) => self.block(block, body, location, stamp, None),
                    None => self.whole(body, asked, location, stamp, None).map(drop),
                };
            });
            result?;
            if more {
                queue.add(waiting);
                continue;
            }
            if waiting.is_cut {
                let body = missing(waiting.stamp.carrier, false, false);
                self.note(waiting.stamp.on(body, waiting.location))?;
            }
            if waiting.stamp.invented.what().is_none() {
                let stamp = Stamp { time: None, side: None, carrier: Carrier::Line, ..waiting.stamp };
                self.note(stamp.on(Content::ExchangeEnd, waiting.location))?;
            }
        }
        Ok(())
    }

    fn refused(&self, cause: Refusal, index: u64) -> ReadError {
        self.input.refuse(cause, 0, &format!("{}{index}", self.layout.root))
    }

    /// The exchanges in the order of the session.
    fn listed(
        &self,
        list: Json<'a>,
        moment: fn(Document<'a>, Json<'a>) -> Checked<Option<Moment>>,
    ) -> Result<Vec<Listed<'a>>, ReadError> {
        let document = self.document;
        let (mut listed, mut seen, mut line, mut rank) = (Vec::new(), 0, self.input.line(), i128::MIN);
        for (index, json) in (0..).zip(list.items()) {
            let at = document.at(json.text());
            line += lines(&document.0[seen..at]);
            seen = at;
            if json.kind() != JsonKind::Object {
                let message = format!("an exchange is an object; this is {}", json.kind().name());
                let wrong = Refusal::new(Code::InvalidEntry, at, message);
                return Err(self.refused(Refusal { clause: "SRV-BYTES", ..wrong }, index));
            }
            let started = moment(document, json).map_err(|cause| self.refused(cause, index))?;
            rank = started.map_or(rank, |moment| moment.attoseconds);
            let started = started.and_then(|moment| moment.milliseconds);
            listed.push(Listed { json, index, line, started, rank });
        }
        listed.sort_by_key(|exchange| exchange.rank);
        Ok(listed)
    }

    fn exchange(
        &mut self,
        listed: &Listed<'a>,
        number: u64,
        parts: Parts<'a>,
        queue: &mut Queue<'a>,
    ) -> Result<(), ReadError> {
        let Parts { mut exchange, request: post, answer, sizes, answered, times, made_up } = parts;
        let beyond = [&mut exchange.request_headers, &mut exchange.response_headers].map(|headers| {
            let more = headers.len() > MOST_HEADERS;
            headers.truncate(MOST_HEADERS);
            more
        });
        let invented = Invented::new(made_up);
        exchange.ended = exchange.ended.filter(|_| !invented.end);
        let texts = [&exchange.request_headers, &exchange.response_headers].map(|headers| headers.as_slice());
        let texts = invented.contexts(texts, exchange.status);
        let [asked_in, answered_in] = texts.each_ref().map(|text| invented.context(text.as_deref()));
        let times = times.filter(|_| listed.started.is_some() && matches!(answer, Held::Text(..)));
        exchange.timed = times.is_some();
        let location = self.location(listed, listed.json.text(), "");
        let [started, answered] = [listed.started, answered].map(|time| time.filter(|_| !invented.times));
        let (side, carrier) = (None, Carrier::Line);
        let stamp = Stamp { time: started, side, carrier, exchange: number, invented };
        match invented.what() {
            None => self.note(stamp.on(Content::Exchange(&exchange), location))?,
            Some(what) if !std::mem::replace(&mut self.is_marked, true) => {
                let mark = Location { tail: "/_made_up", ..location };
                self.note(Entry::new(mark, Content::MadeUp(what)))?;
            }
            Some(_) => {}
        }
        if beyond.contains(&true) {
            let what = format!("the headers of an exchange after the first {MOST_HEADERS}");
            self.note(stamp.on(Content::Skipped(what.into()), location))?;
        }

        let stamp = Stamp { side: Some(Side::Client), carrier: Carrier::Request, ..stamp };
        let asked = match post {
            Held::None => false,
            Held::Missing { coded } => {
                self.note(stamp.on(missing(stamp.carrier, coded, false), location))?;
                false
            }
            Held::Text(text, encoding) => {
                let location = self.location(listed, text.text(), self.layout.request);
                let mut body = self.body(text, encoding, &location)?;
                body.size = sizes[0];
                self.whole(&mut body, false, location, stamp, asked_in.as_ref())?
            }
            Held::Events(_) => false,
        };

        let stamp = Stamp {
            time: answered.or(started),
            side: Some(Side::Server),
            carrier: Carrier::Response,
            ..stamp
        };
        match answer {
            Held::None => {
                if let Some(context) = &answered_in {
                    self.note(Entry { context: Some(context), ..stamp.on(Content::Empty, location) })?;
                }
            }
            Held::Missing { coded } => {
                self.note(stamp.on(missing(stamp.carrier, coded, false), location))?;
            }
            Held::Text(text, encoding) => {
                let location = self.location(listed, text.text(), self.layout.answer);
                let mut body = self.body(text, encoding, &location)?;
                (body.size, body.is_left) = (sizes[1], exchange.is_left());
                let streams = exchange.media_type == STREAM;
                let carrier = if streams { Carrier::Sse } else { stamp.carrier };
                let stamp = Stamp { carrier, ..stamp };
                if let Some(times) = times {
                    let place = (location, stamp, asked);
                    queue.add(Waiting::new(body, place, streams, (listed.rank, times)));
                } else if streams {
                    self.stream(body, asked, location, stamp, answered_in.as_ref())?;
                } else {
                    self.whole(&mut body, asked, location, stamp, answered_in.as_ref())?;
                }
            }
            Held::Events(list) => {
                let location = self.location(listed, list.text(), "/_eventSourceMessages");
                let stamp = Stamp { carrier: Carrier::Sse, ..stamp };
                self.stream(self.document.events(list), asked, location, stamp, answered_in.as_ref())?;
            }
        }
        Ok(())
    }

    fn body(
        &self,
        text: Json<'a>,
        encoding: Option<Json<'a>>,
        location: &Location,
    ) -> Result<Body<'a>, ReadError> {
        self.document.body(text, encoding).map_err(|cause| self.input.refuse(cause, 0, &location.pointer()))
    }

    /// A body that is one message or none; whether it is a request, so that an answer belongs to it.
    fn whole(
        &mut self,
        body: &mut Body<'a>,
        wanted: bool,
        location: Location,
        stamp: Stamp,
        context: Option<&Context<'_>>,
    ) -> Result<bool, ReadError> {
        let bytes = std::mem::take(&mut body.bytes);
        let text = without_mark(&bytes);
        let skipped = bytes.len() - text.len();
        let found = message(text, wanted);
        if skipped > 0 && !matches!(found, Ok(None)) && self.options.tolerance == Tolerance::Faults {
            self.note(stamp.on(Content::Mark, location))?;
        }
        match found {
            Ok(None) => Ok(false),
            Ok(Some(message)) => {
                let start = skipped + offset_in(text, message.text());
                let entry = Entry { context, ..stamp.on(Content::Message(message), location) };
                self.give(entry, |at| body.place(start + at))?;
                Ok(asks(&message))
            }
            Err(cause) if self.options.hands_on(&cause) && body.is_cut(text) => {
                self.note(stamp.on(missing(stamp.carrier, false, true), location)).map(|()| false)
            }
            Err(cause) => {
                let entry = Entry { context, ..stamp.on(Content::Empty, location) };
                self.refuse(cause, text, entry, |at| body.place(skipped + at))
            }
        }
    }

    fn stream(
        &mut self,
        mut body: Body<'a>,
        asked: bool,
        location: Location,
        stamp: Stamp,
        mut context: Option<&Context<'_>>,
    ) -> Result<(), ReadError> {
        let is_cut = body.is_cut_stream(asked);
        let bytes = std::mem::take(&mut body.bytes);
        let mut result = Ok(());
        let mut take = |block: SseBlock<'_>| {
            if result.is_ok() {
                result = self.block(&block, &mut body, location, stamp, context.take());
            }
        };
        let mut parser = SseParser::default();
        parser.feed(&bytes, &mut take);
        if is_cut {
            return result.and_then(|()| self.note(stamp.on(missing(stamp.carrier, false, false), location)));
        }
        parser.finish(&mut take);
        result
    }

    fn block(
        &mut self,
        block: &SseBlock<'_>,
        body: &mut Body<'a>,
        location: Location,
        stamp: Stamp,
        context: Option<&Context<'_>>,
    ) -> Result<(), ReadError> {
        if block.kind == Block::Unfinished {
            let what = Cow::Borrowed("the last event of a stream, which ended before the event did");
            // What there is of it tells a stream that was cut from a body that is not a stream.
            let data = String::from_utf8_lossy(block.data);
            let begun = !block.data.is_empty() || block.name.is_some() || block.id.is_some();
            let sse = Sse { data: begun.then_some(data), comments: block.comments, ..Sse::default() };
            return self.note(Entry { sse: Some(sse), ..stamp.on(Content::Skipped(what), location) });
        }
        let begin = usize::try_from(block.at).unwrap_or_default();
        let location = Location { offset: self.input.offset() + body.place(begin) as u64, ..location };
        // Several data lines make one text; a place behind the first of them is given as its beginning.
        let mut place = |at: usize| {
            let joined = block.data.get(..at).is_some_and(|before| before.contains(&b'\n'));
            body.place(if joined { begin } else { begin + at })
        };
        match event(block) {
            Ok((Content::Message(message), sse)) => {
                let start = offset_in(block.data, message.text());
                let sse = stamp.shown(sse);
                let entry = Entry { sse, context, ..stamp.on(Content::Message(message), location) };
                self.give(entry, |at| place(start + at))
            }
            // A stream on which nothing came had to be invented, too.
            Ok((Content::Event, _)) if stamp.invented.is_bare() => Ok(()),
            Ok((content, sse)) => {
                self.note(Entry { sse: stamp.shown(sse), context, ..stamp.on(content, location) })
            }
            Err(cause) => {
                let field = |bytes| text(bytes).ok().flatten().map(Cow::from);
                let (name, id) = (field(block.name), field(block.id));
                let sse = Sse { name, id, data: None, retry: block.retry, comments: block.comments };
                let entry = stamp.on(Content::Empty, location);
                let entry = Entry { sse: stamp.shown(sse), context, ..entry };
                self.refuse(cause, block.data, entry, place).map(drop)
            }
        }
    }

    /// Rejects, or hands `text` on as noise in the place of `entry`, and says whether requests are in it. `place` finds a
    /// place of the text in the document.
    fn refuse(
        &mut self,
        cause: Refusal,
        text: &[u8],
        entry: Entry<'_>,
        mut place: impl FnMut(usize) -> usize,
    ) -> Result<bool, ReadError> {
        if self.options.hands_on(&cause) {
            let noise = Noise { why: cause, text: String::from_utf8_lossy(text) };
            let entry = Entry { content: Content::Noise(noise), ..entry };
            let mut items = items(&entry).into_iter().flatten();
            let asked = items.any(|(_, item)| item.message().is_some_and(asks));
            drop(items);
            return self.give(entry, place).map(|()| asked);
        }
        let at = place(cause.at);
        Err(self.input.refuse(Refusal { at, ..cause }, 0, &entry.location.pointer()))
    }

    /// Hands on an entry that is not a message.
    fn note(&mut self, entry: Entry<'_>) -> Result<(), ReadError> {
        let at =
            usize::try_from(entry.location.offset.saturating_sub(self.input.offset())).unwrap_or_default();
        self.give(entry, |_| at)
    }

    /// Hands an entry on. `place` finds in the document what the sink refuses in a message.
    fn give(&mut self, entry: Entry<'_>, place: impl FnOnce(usize) -> usize) -> Result<(), ReadError> {
        let location = entry.location;
        (self.sink)(entry).map_err(|error| match error {
            SinkError::Rejected(cause) => {
                self.input.refuse(Refusal { at: place(cause.at), ..cause }, 0, &location.pointer())
            }
            SinkError::Stop => ReadError::Stopped,
        })
    }

    fn location(&self, listed: &Listed<'a>, part: &str, tail: &'static str) -> Location {
        let (start, at) = (self.document.at(listed.json.text()), self.document.at(part));
        Location {
            offset: self.input.offset() + at as u64,
            line: listed.line + self.document.0.get(start..at).map_or(0, lines),
            root: self.layout.root,
            index: Some(listed.index),
            tail,
        }
    }
}

fn asks(message: &Message<'_>) -> bool {
    message.method().is_some() && message.id().key().is_some()
}

fn lines(text: &str) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64
}
