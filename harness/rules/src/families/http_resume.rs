//! Streamable HTTP with sessions: streams that break off, and how they are taken up again.
//!
//! Which stream an event id was first seen on, and which requests a stream left unanswered. Memory: up to [`MOST_IDS`]
//! event ids, [`MOST_CANCELLED`] cancelled requests and [`MOST_OPEN`] unanswered streams; what comes later is not
//! compared.

mod rules;
mod seen;

use super::http_streams::{inside, scope};
use crate::engine::{
    Call, Family, FindingLocation, HttpExchange, LAST_EVENT, MessageKind, ON_OPEN_STREAM, Revision,
    RuleContext, RuleVisitor, SeenMessage, Transport, Trigger, Violation, quoted,
};
use crate::rule::Level;
use rules::{
    BROADCAST, BY_GET, CLOSED_EARLY, EACH_ID, KNOWN_ID, LAST_ID, RECONNECT, RESPONDS, RETRY, RETRY_RESPECTED,
    SAME_STREAM, UNIQUE,
};
use seen::{MOST_OPEN, Progress, STANDING, Seen, Sent, hash};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use transcript::session::{Carrier, Content, Side};

pub(super) const FAMILY: Family = Family {
    name: "http-resume",
    title: "Streamable HTTP with sessions: broken streams and resumption",
    rules: &[
        &RESPONDS,
        &CLOSED_EARLY,
        &RETRY,
        &RETRY_RESPECTED,
        &RECONNECT,
        &BROADCAST,
        &UNIQUE,
        &BY_GET,
        &KNOWN_ID,
        &SAME_STREAM,
        &LAST_ID,
        &EACH_ID,
    ],
    triggers: &[Trigger::HttpExchanges],
    visitor: || Box::new(HttpResumeState::default()),
};

/// The most event ids that are remembered.
const MOST_IDS: usize = 200_000;

/// The most cancelled requests that are remembered; past it, none is missed.
const MOST_CANCELLED: usize = 10_000;

/// How many milliseconds earlier than asked a client may come back: recorder and client read two clocks.
const SLACK: i64 = 50;

/// A stream that ended before every request was answered.
#[derive(Debug)]
struct Unanswered {
    /// The exchange that began it.
    stream: u64,
    calls: Vec<Call>,
    location: FindingLocation,
    ended: Option<i64>,
    /// Its events have ids, so that it can be resumed.
    polls: bool,
    scope: Box<str>,
    /// Its address and session.
    peer: Box<str>,
    retry: Option<u64>,
    /// No message came on it, so that it was closed to be resumed, and did not break.
    silent: bool,
    /// Somebody came back for it.
    resumed: bool,
    /// Something else was sent when it was long over.
    outlived: bool,
    revision: Option<Revision>,
}

#[derive(Default)]
struct HttpResumeState {
    /// By session and id, as all that follows.
    ids: HashMap<Box<str>, Seen>,
    sent: Sent,
    /// The streams that exchanges resume, by their numbers; the last [`MOST_OPEN`].
    resumed: BTreeMap<u64, u64>,
    /// How far each stream has come, by [`Seen::begun`]; of the last [`MOST_OPEN`].
    progress: BTreeMap<u64, Progress>,
    open: Vec<Unanswered>,
    /// The ids of requests that the client cancelled.
    cancelled: BTreeSet<Box<str>>,
}

impl RuleVisitor for HttpResumeState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        let Some(exchange) = at.exchanges.current() else { return };
        let scope = scope(exchange, at);
        if matches!(at.entry.content, Content::Exchange(_)) {
            // A POST with the header gets its own answers.
            let resumed = exchange.request_header(LAST_EVENT).filter(|_| exchange.is("GET"));
            if let Some(seen) = resumed.and_then(|id| self.ids.get(&*inside(&scope, id))) {
                if self.resumed.len() == MOST_OPEN {
                    self.resumed.pop_first();
                }
                self.resumed.insert(exchange.number, seen.stream);
                if let (Some(id), Some(progress)) = (resumed, self.progress.get_mut(&seen.begun())) {
                    progress.resumed(seen.order, id, at);
                }
            }
        }
        if let Some(message) = at.message.filter(|_| at.entry.carrier == Carrier::Request) {
            self.cancels(&scope, message);
        } else if at.entry.carrier == Carrier::Sse && exchange.endpoint.is_none() && exchange.streams() {
            let (number, resumes) = (exchange.number, exchange.resumes());
            let begun = if exchange.is("GET") { STANDING } else { number };
            let id = at.event_id();
            let seen = id.is_some_and(|id| self.ids.contains_key(&inside(&scope, id)));
            self.id(&scope, [number, begun], resumes, at);
            // What belongs to an event stands with the first message of a batch.
            if at.message.is_some_and(|message| message.item < Some(1)) && exchange.last_id.is_some() {
                let wrong = "the message has no event id, and an event of its stream has one";
                at.check(&EACH_ID, id.is_some(), || wrong);
            }
            if let Some(message) = at.message {
                if !resumes && !seen {
                    self.sent.see(&scope, exchange, message, at);
                }
                self.answered(message, at);
            }
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        if exchange.transport != Transport::Streamable {
            return;
        }
        for open in &mut self.open {
            open.outlived |= exchange.began_after(open.ended) && exchange.number > open.stream;
        }
        if let Some(id) = exchange.request_header(LAST_EVENT) {
            at.check(&BY_GET, exchange.is("GET"), || {
                format!("`Last-Event-ID` is in a {}", exchange.raw.method)
            });
            if exchange.is("GET") {
                self.came_back(id, exchange, at);
            }
        }
        // What cannot be read may have been the answer.
        let is_told = !exchange.answer_lost && exchange.bad_answer.is_none();
        if exchange.is("POST") && exchange.streams() && !exchange.calls.is_empty() && is_told {
            self.stream(exchange, at);
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        for open in std::mem::take(&mut self.open) {
            self.never_answered(&open, &at.by(open.revision));
        }
    }
}

impl HttpResumeState {
    fn cancels(&mut self, scope: &str, message: &SeenMessage<'_>) {
        if message.calls("notifications/cancelled")
            && let Some(id) = message.param("requestId")
            && self.cancelled.len() < MOST_CANCELLED
        {
            self.cancelled.insert(inside(scope, id.text()));
        }
    }

    /// The stream that the exchange at hand resumes.
    fn resumes(&self, at: &RuleContext<'_>) -> Option<u64> {
        self.resumed.get(&at.entry.exchange?).copied()
    }

    /// A response, which may come on another stream than that of its request.
    fn answered(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let responds = matches!(message.kind, MessageKind::Result | MessageKind::Error);
        let Some(id) = message.raw.written_id().filter(|_| responds) else { return };
        for call in self.open.iter_mut().flat_map(|open| &mut open.calls) {
            call.answered |= *id == *call.id;
        }
        if let (Some(stream), Some(request)) = (self.resumes(at), message.request())
            && let Some(of) = request.exchange.filter(|_| request.side == Some(Side::Client))
        {
            at.check(&SAME_STREAM, of == stream, || {
                Violation::new("the stream that is resumed was not opened for this request").of(request)
            });
        }
    }

    /// The id of an event.
    fn id(&mut self, scope: &str, [exchange, begun]: [u64; 2], resumes: bool, at: &RuleContext<'_>) {
        let Some(id) = at.event_id() else { return };
        // A batch is one event, and comes before its items.
        if id.is_empty() || at.message.is_some_and(|message| message.item.is_some()) {
            return;
        }
        let message = at.message.map(|message| hash(message.raw.json()));
        let Some(seen) = self.ids.get(&inside(scope, id)) else {
            // The first events of all come before the revision is known.
            if at.revision.is_some() {
                at.pass(&UNIQUE);
                if at.message.is_some() {
                    at.pass(&BROADCAST);
                }
            }
            if self.ids.len() < MOST_IDS {
                let stream = self.resumes(at).unwrap_or(begun);
                let seen = Seen { exchange, stream, message, order: self.ids.len() as u64 };
                if self.progress.len() == MOST_OPEN && !self.progress.contains_key(&seen.begun()) {
                    self.progress.pop_first();
                }
                self.progress.entry(seen.begun()).or_default().sent = seen.order;
                self.ids.insert(inside(scope, id), seen);
            }
            return;
        };
        let again = seen.message == message && seen.exchange != exchange;
        if again && resumes {
            at.pass(&UNIQUE);
            if let Some(stream) = self.resumes(at) {
                at.check(&SAME_STREAM, seen.stream == stream, || {
                    format!("the event {} is of another stream than the one that is resumed", quoted(id))
                });
            }
        } else if seen.message.is_none() && message.is_none() && seen.exchange == exchange {
            // Such as a keepalive that repeats the id of the last message.
        } else if again && at.message.is_some() {
            at.fail(&BROADCAST, format!("the message with the event id {} was sent before", quoted(id)));
        } else {
            at.fail(&UNIQUE, format!("the event id {} stood for another event before", quoted(id)));
        }
    }

    /// A client that comes back for the rest of a stream.
    fn came_back(&mut self, id: &str, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let known = self.ids.get(&inside(&scope(exchange, at), id)).map(|seen| seen.stream);
        match known.is_some() {
            true => at.pass(&KNOWN_ID),
            false if self.ids.len() >= MOST_IDS => {}
            false => at.fail_if_complete(&KNOWN_ID, format!("no event had the id {}", quoted(id))),
        }
        for open in self.open.iter_mut().filter(|open| Some(open.stream) == known) {
            open.resumed = true;
            at.pass(&RECONNECT);
            if let (Some(retry), Some(ended), Some(started)) = (open.retry, open.ended, exchange.started) {
                let waited = started.saturating_sub(ended);
                let wanted = i64::try_from(retry).unwrap_or(i64::MAX);
                at.check(&RETRY_RESPECTED, waited.saturating_add(SLACK) >= wanted, || {
                    format!("the client came back after {waited} ms, and `retry` said {retry}")
                });
            }
            // It may be closed again, and resumed again.
            open.ended = exchange.raw.ended;
            open.retry = exchange.retry.or(open.retry);
        }
    }

    /// A stream that a POST with requests opened, now that it is over.
    fn stream(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        if exchange.is_answered() {
            at.pass(&RESPONDS);
            at.pass(&CLOSED_EARLY);
            return;
        }
        if self.open.len() < MOST_OPEN {
            self.open.push(Unanswered {
                stream: exchange.number,
                location: at.location(),
                ended: exchange.raw.ended,
                polls: exchange.last_id.is_some(),
                retry: exchange.retry,
                calls: exchange.calls.clone(),
                scope: scope(exchange, at),
                peer: exchange.peer(),
                silent: exchange.messages == 0,
                resumed: false,
                outlived: false,
                revision: at.revision,
            });
        }
    }

    /// A stream that ended without the answer, now that the recording is over.
    fn never_answered(&self, open: &Unanswered, at: &RuleContext<'_>) {
        let waiting = open.calls.iter().find(|call| !call.answered);
        if waiting.is_some_and(|call| self.cancelled.contains(&inside(&open.scope, &call.id)))
            || waiting.is_some() && self.cancelled.len() >= MOST_CANCELLED
        {
            return;
        }
        let Some(call) = waiting.or(open.calls.first()) else { return };
        let may_come_back = open.polls && at.exchanges.may_lack_a_stream(&open.peer);
        let wrong = |what: &str| {
            Violation::new(format!("the stream for {} with the id {} {what}", call.method, call.id))
                .at(open.location.clone())
        };
        if waiting.is_some() && !open.outlived {
            let why = "a stream has no answer at the end of the recording; a longer recording would show it";
            return at.inconclusive(&RESPONDS, why);
        }
        if waiting.is_some() && !open.resumed {
            at.fail_if_complete(&CLOSED_EARLY, wrong("ended without the answer"));
        }
        let polls = at.revision == Some(Revision::V2025_11_25) && open.polls;
        match open.retry {
            Some(_) if polls || waiting.is_none() => at.pass(&RETRY),
            None if polls && (waiting.is_some() || open.resumed && open.silent) => {
                // A connection that broke looks the same.
                let wrong = wrong("ended without the answer and without `retry`, or its connection broke");
                at.fail(&RETRY, wrong.only(Level::Info));
            }
            _ => {}
        }
        if waiting.is_none() {
            // The answer came on another stream.
            return at.pass(&RESPONDS);
        }
        if may_come_back {
            at.inconclusive(if polls { &RECONNECT } else { &RESPONDS }, ON_OPEN_STREAM);
        } else if polls && !open.resumed {
            at.fail_if_complete(&RECONNECT, wrong("ended before the answer, and no client came back for it"));
        } else {
            at.fail_if_complete(&RESPONDS, wrong("never carried the answer"));
        }
    }
}
