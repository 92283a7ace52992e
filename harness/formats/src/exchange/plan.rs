//! Which exchanges a session is written as.
//!
//! A client's message is a POST of its own; the messages of a batch stay together in the exchange that brought them. What the
//! server sends next stands in its answer as long as it may:
//! until the POST's own request is answered, and no answer to another request. Everything else that a server
//! sends stands in the stream of a GET; after an `endpoint` event (HTTP+SSE) that is everything.
//!
//! Every entry finds its exchange in one step, however many there are.
//!
//! Moments are in microseconds, and never run backwards: readers sort by them (HAR-ORDER).

use super::media::may_be_json;
use crate::made_up;
use crate::session::{OwnedContent, OwnedEntry, Session, TransportContext};
use std::collections::HashMap;
use transcript::message::Message;
use transcript::session::{Carrier, Exchange, Headers, Side};

/// An exchange to be written.
#[derive(Debug, Default)]
pub(crate) struct Draft<'s> {
    /// The exchange that the session knows.
    pub(crate) known: Option<&'s Exchange<'static>>,
    /// The moment at which it began.
    pub(crate) began: i64,
    /// When its last part came, in milliseconds.
    pub(crate) ended: Option<i64>,
    /// The moment at which each entry of `sent` came, where other entries may stand between them.
    pub(crate) moments: Vec<i64>,
    /// The POST's message; several where it was a batch.
    pub(crate) requests: Vec<Message<'s>>,
    /// The headers of an envelope's request.
    pub(crate) request_headers: Option<&'s Headers<'static>>,
    /// The status and headers of an envelope's response.
    pub(crate) answer_context: Option<&'s TransportContext>,
    /// What the server sends in it: messages and events.
    pub(crate) sent: Vec<&'s OwnedEntry>,
    /// The exporter had dropped the POST's body, or the answer's.
    pub(crate) missing: (bool, bool),
    /// Answers come only on the stream of a GET (HTTP+SSE).
    pub(crate) elsewhere: bool,
    /// The answer is one JSON message rather than a stream.
    pub(crate) is_json: bool,
    /// The session knows times.
    dated: bool,
    /// Its message, or its answer, came over HTTP.
    over_http: bool,
    number: Option<u64>,
    /// The request's place among the session's messages.
    index: Option<u64>,
    /// Nothing may be added.
    closed: bool,
    /// Something that it sends was a response of its own.
    responded: bool,
}

impl Draft<'_> {
    /// Whether the session says that this entry is of this exchange.
    fn belongs(&self, entry: &OwnedEntry) -> bool {
        self.number.is_some() && self.number == entry.exchange
    }

    /// Whether what it sends may stand between what others send.
    pub(crate) fn is_timed(&self) -> bool {
        self.known.is_some_and(|known| known.timed)
    }

    /// What is made up of it, in words.
    pub(crate) fn made_up(&self) -> Vec<&'static str> {
        let mut words = Vec::new();
        if self.known.is_none() {
            let contexts = self.request_headers.is_some() || self.answer_context.is_some();
            let over_http = self.over_http || contexts;
            let bare = !over_http && self.sent.iter().all(|entry| entry.carrier == Carrier::Line);
            words.push(if bare { made_up::TRANSPORT } else { made_up::EXCHANGE });
            words.extend((!bare && self.request_headers.is_none()).then_some(made_up::REQUEST));
            words.extend((!bare && self.answer_context.is_none()).then_some(made_up::RESPONSE));
        }
        words.extend((!self.dated).then_some(made_up::TIMES));
        words
    }

    /// How long it took, in microseconds.
    pub(crate) fn took(&self) -> i64 {
        let ended = self.ended.map(|ended| ended.saturating_mul(1000));
        ended.max(self.moments.last().copied()).map_or(0, |ended| ended.saturating_sub(self.began).max(0))
    }

    /// Whether the POST asks for an answer.
    pub(crate) fn asks(&self) -> bool {
        self.requests.iter().any(|message| message.method().is_some() && message.id().key().is_some())
    }
}

/// The exchanges of a session, in order.
pub(crate) fn plan(session: &Session) -> Vec<Draft<'_>> {
    let name =
        |entry: &'_ OwnedEntry| entry.sse.as_ref().is_some_and(|sse| sse.name.as_deref() == Some("endpoint"));
    let endpoint = session.entries.iter().any(name);
    let opens = |entry: &OwnedEntry| entry.time.filter(|_| !matches!(entry.what, OwnedContent::Envelope));
    let now = session.entries.iter().find_map(opens).unwrap_or_default().saturating_mul(1000);
    let dated = session.entries.iter().any(|entry| entry.time.is_some());
    let places = HashMap::new();
    let mut plan = Plan { drafts: Vec::new(), places, endpoint, messages: 0, now, last: None, dated };
    for entry in &session.entries {
        match &entry.what {
            OwnedContent::Exchange(exchange) => {
                plan.open(entry);
                let place = plan.drafts.len().saturating_sub(1);
                plan.places.extend(entry.exchange.map(|number| (number, place)));
                if let Some(draft) = plan.drafts.last_mut() {
                    (draft.known, draft.ended, draft.number) =
                        (Some(&**exchange), exchange.ended, entry.exchange);
                }
            }
            OwnedContent::Message(..) if entry.side == Some(Side::Client) => plan.post(entry),
            OwnedContent::Message(..) | OwnedContent::Event => plan.send(entry),
            OwnedContent::Missing(_) => plan.miss(entry),
            // No message, but a status and a challenge perhaps.
            _ => plan.note(entry),
        }
        plan.messages += u64::from(entry.message().is_some());
    }
    for draft in &mut plan.drafts {
        draft.is_json = is_json(draft);
    }
    plan.drafts
}

struct Plan<'s> {
    drafts: Vec<Draft<'s>>,
    /// Where the exchanges that the session knows stand among them, by number.
    places: HashMap<u64, usize>,
    /// The session has an `endpoint` event.
    endpoint: bool,
    messages: u64,
    /// The moment of what was placed last.
    now: i64,
    /// The exchange that it was placed in.
    last: Option<usize>,
    /// The session knows times.
    dated: bool,
}

impl<'s> Plan<'s> {
    fn open(&mut self, entry: &OwnedEntry) {
        self.now = entry.time.map_or(self.now, |time| time.saturating_mul(1000).max(self.now));
        self.last = Some(self.drafts.len());
        let (dated, over_http) = (self.dated, entry.carrier != Carrier::Line);
        self.drafts.push(Draft { began: self.now, dated, over_http, ..Draft::default() });
    }

    /// The exchange that the session says this entry is of.
    fn known(&self, entry: &OwnedEntry) -> Option<usize> {
        self.places.get(&entry.exchange?).copied()
    }

    /// The moment of an entry of an exchange whose parts have moments: behind whatever another exchange did.
    fn moment(&mut self, draft: usize, entry: &OwnedEntry) -> i64 {
        let behind = self.now.saturating_add(i64::from(self.last != Some(draft)));
        self.now = entry.time.map_or(behind, |time| time.saturating_mul(1000).max(behind));
        self.last = Some(draft);
        self.now
    }

    fn post(&mut self, entry: &'s OwnedEntry) {
        let own = self.drafts.last().is_some_and(|draft| {
            draft.belongs(entry)
                && draft.known.is_some_and(|known| known.method.eq_ignore_ascii_case("POST"))
                && draft.sent.is_empty()
        });
        if !own {
            self.open(entry);
        }
        let (index, elsewhere) = (self.messages, self.endpoint);
        if let Some(draft) = self.drafts.last_mut() {
            draft.requests.extend(entry.message());
            draft.request_headers = entry.context.as_ref().map(|context| &context.headers);
            draft.index = Some(index);
            draft.elsewhere = elsewhere;
        }
    }

    fn send(&mut self, entry: &'s OwnedEntry) {
        let context = answer_context(entry);
        let known = self.known(entry);
        if known.is_none() && !self.drafts.last().is_some_and(|draft| fits(draft, entry, context)) {
            self.open(entry);
        }
        let place = known.unwrap_or(self.drafts.len().saturating_sub(1));
        let moment = self.drafts.get(place).is_some_and(Draft::is_timed).then(|| self.moment(place, entry));
        let Some(draft) = self.drafts.get_mut(place) else { return };
        draft.moments.extend(moment.filter(|_| !entry.is_more_of_a_batch()));
        // An error status says that nothing but this body was the answer.
        draft.closed |= draft.known.is_none()
            && (entry.answers.is_some() && entry.answers == draft.index
                || context.is_some_and(|context| context.status >= Some(400)));
        // What an envelope says of a stream may stand with its first event.
        let of_stream = entry.context.as_ref().filter(|context| {
            draft.sent.is_empty()
                && entry.carrier == Carrier::Sse
                && context.status.is_some_and(|status| status != 401)
        });
        draft.answer_context = context.or(draft.answer_context).or(of_stream);
        draft.ended = draft.ended.max(entry.time);
        draft.responded |= entry.carrier == Carrier::Response;
        draft.sent.push(entry);
    }

    /// A hole stays a hole.
    fn miss(&mut self, entry: &'s OwnedEntry) {
        if let Some(draft) = self.known(entry).and_then(|place| self.drafts.get_mut(place)) {
            draft.missing.0 |= entry.side == Some(Side::Client);
            draft.missing.1 |= entry.side == Some(Side::Server);
        }
    }

    fn note(&mut self, entry: &'s OwnedEntry) {
        let Some(context) = answer_context(entry) else { return };
        let fits = |draft: &Draft<'_>| {
            draft.known.is_none()
                && draft.answer_context.is_none()
                && !draft.requests.is_empty()
                && draft.sent.is_empty()
                && !draft.closed
        };
        if !self.drafts.last().is_some_and(fits) {
            self.open(entry);
        }
        let Some(draft) = self.drafts.last_mut() else { return };
        // What comes after an ordinary answer without a message is the stream that it opened.
        draft.closed = context.status != Some(200);
        draft.answer_context = Some(context);
        draft.ended = draft.ended.max(entry.time);
    }
}

/// Whether what the server sends may stand in the answer of this exchange.
fn fits(draft: &Draft<'_>, entry: &OwnedEntry, context: Option<&TransportContext>) -> bool {
    if draft.known.is_some()
        || draft.closed
        || context.is_some() && (draft.answer_context.is_some() || !draft.sent.is_empty())
    {
        return false;
    }
    if draft.requests.is_empty() {
        // A stream goes on; what says that it was a response of its own does not belong in it.
        return entry.carrier != Carrier::Response && !draft.responded;
    }
    let other =
        entry.message().is_some_and(|message| message.outcome().is_some()) && entry.answers != draft.index;
    let elsewhere = draft.elsewhere && entry.carrier != Carrier::Response;
    // A response to nothing that is known may well be the answer to this POST: an error without an id, say.
    draft.asks() && !elsewhere && (!other || entry.answers.is_none() && entry.carrier == Carrier::Response)
}

/// The status and headers of an HTTP response that an envelope tells of; those of a stream's event are no
/// answer's (K2A-SPELLING).
fn answer_context(entry: &OwnedEntry) -> Option<&TransportContext> {
    entry.context.as_ref().filter(|context| entry.carrier == Carrier::Response && context.status.is_some())
}

/// One message that answers the POST, or a batch of them, and nothing that tells of a stream.
fn is_json(draft: &Draft<'_>) -> bool {
    let plain = |entry: &OwnedEntry| {
        entry.message().is_some() && entry.carrier != Carrier::Sse && entry.sse.is_none()
    };
    match (&draft.sent[..], draft.known) {
        ([entry], Some(_)) => plain(entry),
        ([_, ..], Some(known)) => {
            may_be_json(&known.media_type) && draft.sent.iter().all(|entry| plain(entry))
        }
        ([entry], None) => {
            plain(entry)
                && (entry.carrier == Carrier::Response
                    || draft.index.is_some() && entry.answers == draft.index)
        }
        _ => false,
    }
}
