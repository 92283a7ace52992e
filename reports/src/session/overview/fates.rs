//! What becomes of requests: answered, refused by HTTP, cancelled, or none of these. Memory: the open requests, the ids of refused
//! ones, and those of [`CANCELLED`] that were taken back, of as many answers with a fault, and of [`EARLY`] answers.

use super::bounded::{OTHERS, cut};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use transcript::json::Json;
use transcript::meaning::{Event, EventKind};
use transcript::message::Message;
use transcript::session::{Carrier, Content, Entry, STILL_OPEN, Side};

/// How many ids of cancelled requests are remembered.
const CANCELLED: usize = 100_000;

/// How many streams, and answers before their requests, are remembered.
const EARLY: usize = 100_000;

/// How many reasons of refusals are counted apart.
const REASONS: usize = 10;

/// Follows requests, each with something to remember of it.
#[derive(Debug)]
pub struct Fates<T> {
    /// Requests that wait for their answers, by event.
    open: HashMap<u64, Waiting<T>>,
    /// Why HTTP did not carry the exchange at hand to an answer: its number, and a status or the recorder's words.
    refused: Option<(u64, String)>,
    /// By sender and id, as it is written, of requests that HTTP refused: those that were sent again with it and wait. The contract
    /// gives the refused ones what answers these (COR-FIRST).
    again: HashMap<(Option<Side>, Box<str>), VecDeque<u64>>,
    /// The ids of requests that their sender took back, as they are written.
    cancelled: HashSet<Box<str>>,
    /// The ids of answers that no reader takes for messages, such as one with `"error": null` beside its result.
    spoilt: HashSet<Box<str>>,
    /// The session at hand: ids are its own.
    session: usize,
    /// The request that the client sent last, where it sent nothing since.
    last: Option<u64>,
}

#[derive(Debug)]
struct Waiting<T> {
    of: T,
    id: Box<str>,
    refused: Option<String>,
    /// It is a subscription, which is answered when it ends.
    listens: bool,
}

/// What became of a request that was not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Unanswered,
    Refused,
    Cancelled,
    /// It waits for nothing: it is an open subscription, or the answer has a fault.
    Settled,
}

impl<T> Default for Fates<T> {
    fn default() -> Self {
        let (cancelled, spoilt) = (HashSet::new(), HashSet::new());
        let (open, again) = (HashMap::new(), HashMap::new());
        Self { open, refused: None, again, cancelled, spoilt, session: 0, last: None }
    }
}

impl<T> Fates<T> {
    /// What comes next is of the session of this number.
    pub(super) fn turn_to(&mut self, session: usize) {
        self.session = session;
    }

    /// An id as it is written, as that of its session.
    fn own(&self, id: &str) -> Box<str> {
        if self.session == 0 { id.into() } else { format!("{} {id}", self.session).into() }
    }

    /// Takes an entry that is not an event.
    pub fn see(&mut self, entry: &Entry<'_>) {
        match &entry.content {
            Content::Exchange(exchange) => {
                self.refused = entry.exchange.zip(refusal(exchange.status, exchange.fate.as_deref()));
            }
            Content::Noise(noise) if self.spoilt.len() < CANCELLED => {
                let value = Json::parse(&noise.text).ok().filter(|value| value.member("method").is_none());
                let answer = value.filter(|value| value.member("result").or(value.member("error")).is_some());
                let id = answer.and_then(|answer| answer.member("id")).map(|id| self.own(id.text()));
                self.spoilt.extend(id);
            }
            _ => {}
        }
        // In an envelope the answer to the message before it has a status, and need not have a message that answers it.
        let context =
            entry.context.filter(|_| entry.exchange.is_none() && entry.carrier == Carrier::Response);
        let status = context.and_then(|context| context.status);
        if let Some(why) = refusal(status, None)
            && let Some(waiting) = self.last.take().and_then(|last| self.open.get_mut(&last))
        {
            waiting.refused = Some(why);
            self.again.entry((Some(Side::Client), waiting.id.clone())).or_default();
        }
    }

    /// Takes an event; the request that it answers, as it was remembered. `of` says what to remember of a request.
    pub fn take(&mut self, entry: &Entry<'_>, event: &Event<'_>, of: impl FnOnce() -> T) -> Option<T> {
        let message = &event.message;
        if entry.side == Some(Side::Client) {
            let asks = matches!(event.kind, EventKind::ToolCall | EventKind::Request);
            self.last = asks.then_some(event.index);
        }
        match event.kind {
            EventKind::Notification => {
                let cancels = message.method().is_some_and(|method| method.is("notifications/cancelled"));
                let id = message.params().and_then(|params| params.member("requestId"));
                if let Some(id) = id.filter(|_| cancels && self.cancelled.len() < CANCELLED) {
                    self.cancelled.insert(self.own(id.text()));
                }
                None
            }
            EventKind::ToolCall | EventKind::Request => {
                let refused = self.refused.as_ref().filter(|(number, _)| entry.exchange == Some(*number));
                let refused = refused.map(|(_, why)| why.clone());
                let id = self.own(message.written_id().unwrap_or_default());
                let key = (entry.side, id.clone());
                if refused.is_some() {
                    self.again.entry(key).or_default();
                } else if let Some(again) = self.again.get_mut(&key) {
                    again.push_back(event.index);
                }
                let listens = message.method().is_some_and(|method| method.is("subscriptions/listen"));
                self.open.insert(event.index, Waiting { of: of(), id, refused, listens });
                None
            }
            EventKind::Result | EventKind::Error => {
                let key = (entry.side.map(Side::other), self.own(message.written_id().unwrap_or_default()));
                let again = self.again.get_mut(&key).and_then(VecDeque::pop_front);
                self.open.remove(&again.or(event.answers)?).map(|waiting| waiting.of)
            }
        }
    }

    /// The request of this event has an answer that came before it.
    pub(super) fn answered(&mut self, event: u64) -> Option<T> {
        self.open.remove(&event).map(|waiting| waiting.of)
    }

    /// What became of the others, in their order, with the reason of a refusal.
    pub(crate) fn settle(&mut self) -> impl Iterator<Item = (T, Fate, Option<String>)> {
        let mut open: Vec<_> = self.open.drain().collect();
        open.sort_unstable_by_key(|(index, _)| *index);
        open.into_iter().map(|(_, waiting)| {
            let fate = match &waiting.refused {
                Some(_) => Fate::Refused,
                None if self.cancelled.contains(&waiting.id) => Fate::Cancelled,
                None if waiting.listens || self.spoilt.contains(&waiting.id) => Fate::Settled,
                None => Fate::Unanswered,
            };
            (waiting.of, fate, waiting.refused)
        })
    }

    /// How many are unanswered, refused and cancelled, in words.
    pub fn summary(&mut self) -> String {
        let (mut by_fate, mut reasons) = ([0_u64; 4], BTreeMap::<String, u64>::new());
        for (_, fate, reason) in self.settle() {
            by_fate[fate as usize] += 1;
            if let Some(reason) = reason {
                let room = reasons.len() < REASONS || reasons.contains_key(&reason);
                *reasons.entry(if room { reason } else { OTHERS.to_owned() }).or_default() += 1;
            }
        }
        let [unanswered, refused, cancelled, _] = by_fate;
        let requests = if unanswered == 1 { "request" } else { "requests" };
        let mut said = format!("{unanswered} {requests} unanswered");
        if refused > 0 {
            let reasons: Vec<_> = reasons.iter().map(|(why, times)| format!("{why}: {times}")).collect();
            let _ = write!(said, ", {refused} refused ({})", reasons.join(", "));
        }
        if cancelled > 0 {
            let _ = write!(said, ", {cancelled} cancelled");
        }
        said
    }
}

/// Answers that stand before their requests: a stream of HTTP+SSE without times of its events is one body in its file, which stands
/// before all that was posted while it was open.
#[derive(Debug, Default)]
pub(super) struct EarlyAnswers {
    /// The exchange at hand, whose events have no times.
    untimed: Option<u64>,
    /// Where the exchange at hand went: ids are its host's.
    host: Box<str>,
    /// Those of such exchanges that say where to post.
    streams: HashSet<u64>,
    /// By the host, and the id as it is written: whether it failed.
    answers: HashMap<(Box<str>, Box<str>), bool>,
}

impl EarlyAnswers {
    /// Takes an entry that may begin a stream.
    pub(super) fn see(&mut self, entry: &Entry<'_>) {
        match &entry.content {
            Content::Exchange(exchange) => {
                self.untimed = entry.exchange.filter(|_| !exchange.timed);
                self.host = exchange.url.split('/').nth(2).unwrap_or_default().into();
            }
            Content::Event if self.untimed == entry.exchange && self.streams.len() < EARLY => {
                let name = entry.sse.as_ref().and_then(|sse| sse.name.as_deref());
                self.streams.extend(self.untimed.filter(|_| name == Some("endpoint")));
            }
            _ => {}
        }
    }

    /// Keeps a response that answers nothing so far.
    pub(super) fn keep(&mut self, entry: &Entry<'_>, message: &Message<'_>, failed: bool) {
        let is_early = entry.exchange.is_some_and(|number| self.streams.contains(&number));
        if let Some(id) = message.written_id().filter(|_| is_early && self.answers.len() < EARLY) {
            self.answers.insert((self.host.clone(), id.into()), failed);
        }
    }

    /// The answer to a request that came before it: whether it failed.
    pub(super) fn answer_to(&mut self, message: &Message<'_>) -> Option<bool> {
        let id = message.written_id().filter(|_| !self.answers.is_empty())?;
        self.answers.remove(&(self.host.clone(), id.into()))
    }
}

/// Why an exchange carries no answer to what it posted: a status that refuses it, or what the recorder says.
fn refusal(status: Option<u16>, fate: Option<&str>) -> Option<String> {
    match (status, fate) {
        (Some(status @ (300..=303 | 305..)), _) => Some(status.to_string()),
        (_, Some(fate)) if fate != STILL_OPEN => Some(cut(fate)),
        _ => None,
    }
}
