//! The judge at work: takes the entries of a recording in order, and says at the end what came of each rule.
//!
//! The order in which a step is taken in, bound, and shown to the families. Memory: that of the facts, the ledger, the
//! families and the findings, each of which says its own; none grows with the length of a session.

use super::context::{Circumstances, RuleContext};
use super::dispatch::Dispatch;
use super::exchange_tracker::ExchangeTracker;
use super::facts::Facts;
use super::family::{Family, RuleVisitor};
use super::finding::{Listener, RuleOutcome};
use super::held_answers::HeldAnswers;
use super::http_exchange::VERSION;
use super::location::FindingLocation;
use super::message::{MARK, META_VERSION, SeenMessage, behind_mark};
use super::methods::usual_sender;
use super::pending_requests::PendingRequests;
use super::recording_info::RecordingInfo;
use super::report::Report;
use super::trace_event::{TraceEvent, bytes_of};
use crate::revision::Revision;
use std::cell::OnceCell;
use transcript::batch;
use transcript::entry_buffer::EntryBuffer;
use transcript::json::{Json, MemberIndex, index_members};
use transcript::message::Message;
use transcript::rejection::{Code, Rejection};
use transcript::session::{Content, Entry, Location, Side, header};

/// How a recording is to be judged.
#[derive(Debug, Clone, Default)]
pub(crate) struct JudgeOptions {
    /// What is judged.
    pub recording: RecordingInfo,
    /// The revision that rules, whatever the session shows.
    pub spec: Option<Revision>,
    /// Every family visits every step, also those that do not trigger it: slower, with the same findings.
    pub dispatch_all: bool,
    /// The families to judge by.
    pub families: &'static [Family],
    /// Gets findings at once.
    pub listener: Option<Listener>,
    /// The first few families report breaches of each other's rules, so that one worker judges by all of them.
    pub together: usize,
}

/// What a recording turned out to be.
#[derive(Debug, Clone)]
pub struct CheckResult {
    /// The revision by which it was judged; none where nothing shows it.
    pub revision: Option<Revision>,
    /// What came of every rule that it judges by, in the order of the families.
    pub outcomes: Vec<RuleOutcome>,
    /// How many messages there were.
    pub messages: u64,
    /// A limit of memory or work that was reached, in words.
    pub limit: Option<&'static str>,
    /// Why the reading ended before the file did: what the reader refused.
    pub rejected: Option<Rejection>,
}

/// A judge at work.
pub(crate) struct Judge {
    families: &'static [Family],
    /// The visitors of the families that it judges by, each at its index; none where another judge does.
    visitors: Vec<Option<Box<dyn RuleVisitor>>>,
    dispatch: Dispatch,
    facts: Facts,
    pending: PendingRequests,
    report: Report,
    exchanges: ExchangeTracker,
    held: HeldAnswers,
    last: Location,
    rejected: Option<Rejection>,
    /// What is inside of the message at hand. It is kept only for its memory.
    parts: Vec<MemberIndex>,
}

impl Judge {
    /// Begins.
    pub(crate) fn new(options: &JudgeOptions) -> Self {
        Self::for_families(options, |_| true)
    }

    /// Begins, and judges by only some of the families, given by their numbers.
    pub(super) fn for_families(options: &JudgeOptions, by: impl Fn(usize) -> bool) -> Self {
        let families = options.families;
        Self {
            families,
            visitors: (0..).zip(families).map(|(index, family)| by(index).then(family.visitor)).collect(),
            dispatch: match options.dispatch_all {
                true => Dispatch::all(families, by),
                false => Dispatch::new(families, options.recording.kind, by),
            },
            report: Report::new(
                options.recording.carries.clone(),
                families.iter().map(|family| family.rules.len()).sum(),
                options.listener.clone(),
            ),
            facts: Facts::new(options.recording.clone(), options.spec),
            pending: PendingRequests::default(),
            exchanges: ExchangeTracker::default(),
            held: HeldAnswers::default(),
            last: Location::default(),
            rejected: None,
            parts: Vec::new(),
        }
    }

    /// Takes the next entry.
    pub(crate) fn take(&mut self, entry: &Entry<'_>) {
        if matches!(entry.content, Content::Exchange(_)) {
            let released = self.held.release();
            self.judge_held(&released);
        }
        if let Some(answer) = entry.message().filter(|message| message.method().is_none())
            && let Some(exchange) = self.exchanges.exchange_of(entry)
        {
            let before = self.held.answered(&exchange.raw.url, answer.written_id());
            self.judge_held(&before);
        }
        if !self.held.hold(entry, self.exchanges.exchange_of(entry)) {
            self.judge(entry);
        }
    }

    /// Judges what was held. When it was said nobody knows.
    fn judge_held(&mut self, held: &[EntryBuffer]) {
        for held in held {
            held.each(|entry| self.judge(&Entry { time: None, ..entry.clone() }));
        }
    }

    fn judge(&mut self, entry: &Entry<'_>) {
        self.last = entry.location;
        let begun = match &entry.content {
            Content::Exchange(exchange) => Some(*exchange),
            _ => self.exchanges.exchange_of(entry).map(|exchange| &exchange.raw),
        };
        if let Some(exchange) = begun {
            self.facts.sessions.turn_to(entry.exchange, exchange, &mut self.facts.negotiated);
        }
        self.facts.see(entry);
        let (lost, cut) = self.facts.losses.see(entry);
        let kind = self.facts.recording.kind;
        let spoilt = matches!(&entry.content, Content::Noise(noise) if kind.misquotes(noise) || kind.spoils(noise, entry));
        if lost || cut || spoilt {
            // A record that is cut is one message of who sent it.
            self.lose(entry.side.filter(|_| !lost));
        }
        match &entry.content {
            // What is left of it is not what was sent.
            _ if cut => self.facts.messages += 1,
            Content::Message(message) => self.message(entry, *message),
            Content::Noise(noise) if let Some(message) = behind_mark(noise) => {
                self.show(entry, None, entry.side);
                let mut location = entry.location;
                location.offset += MARK.len_utf8() as u64;
                self.message(
                    &Entry { content: Content::Message(message), location, ..entry.clone() },
                    message,
                );
            }
            Content::Noise(noise) if noise.why.code == Code::Batch => {
                // Whether batches are allowed is a rule's business; what is in them is judged like anything else.
                let items: Vec<_> = batch::items(entry).into_iter().flatten().collect();
                let first = items.iter().find_map(|(_, item)| Some(SeenMessage::new(*item.message()?, None)));
                let foreign = first.is_some_and(|first| self.exchanges.is_foreign(entry, &first));
                if !foreign {
                    self.show(entry, None, entry.side);
                }
                for (_, item) in items {
                    match item.message() {
                        Some(message) => self.message(&item, *message),
                        None if foreign => {}
                        None => self.show(&item, None, item.side),
                    }
                }
            }
            Content::Skipped(_) if self.facts.recording.kind.trace => {
                self.show(entry, None, entry.side);
                match TraceEvent::new(entry) {
                    Some(TraceEvent::Noise(noise)) => {
                        // A message that is not UTF-8 was sent, and no reader knows what it said.
                        let bytes =
                            if let Content::Noise(line) = &noise.content { bytes_of(line) } else { None };
                        if bytes.is_some_and(|text| text.starts_with(['{', '['])) {
                            self.lose(noise.side);
                        }
                        self.show(&noise, None, noise.side);
                    }
                    Some(TraceEvent::Gap) => {
                        self.facts.losses.keep(entry, "lines are lost here, the recorder says");
                        self.lose(None);
                    }
                    None => {}
                }
            }
            Content::Missing(_) => {
                // What one connection lacks may stand anywhere among the others.
                self.lose(entry.side.filter(|_| entry.exchange.is_none()));
                self.show(entry, None, entry.side);
            }
            _ => self.show(entry, None, entry.side),
        }
    }

    /// The reader gave up here.
    pub(crate) fn rejected(&mut self, rejection: Rejection) {
        self.lose(None);
        self.rejected = Some(rejection);
    }

    /// Messages are missing here, of this side if it is known.
    fn lose(&mut self, side: Option<Side>) {
        match side {
            Some(side) => self.facts.torn[side as usize] = true,
            None => self.facts.torn = [true; 2],
        }
        self.pending.lose(side);
    }

    /// What came of it.
    pub(crate) fn finish(mut self) -> CheckResult {
        let last = self.last;
        let rest = self.held.rest();
        self.judge_held(&rest);
        self.last = last;
        let entry = Entry::new(self.last, Content::Empty);
        let revision = self.facts.negotiated.revision;
        let mut visitors = std::mem::take(&mut self.visitors);
        let complete = self.exchanges.end(self.rejected.as_ref());
        let at = RuleContext {
            entry: &entry,
            facts: &self.facts,
            pending: &self.pending,
            revision,
            side: None,
            message: None,
            exchange: None,
            exchanges: &self.exchanges,
            report: &self.report,
            circumstances: Circumstances::new(revision, &self.facts),
            hides: OnceCell::new(),
        };
        for visitor in visitors.iter_mut().flatten() {
            for exchange in &complete {
                at.for_exchange(exchange, |at| visitor.exchange(exchange, at));
            }
            visitor.finish(&at, self.rejected.as_ref());
        }
        let rules = self.families.iter().zip(&visitors).filter(|(_, visitor)| visitor.is_some());
        let rules = rules.flat_map(|(family, _)| family.rules.iter().copied());
        let limit = self.report.limit();
        CheckResult {
            revision,
            outcomes: self.report.outcomes(rules, revision, self.facts.over_stdio()),
            messages: self.facts.messages + self.facts.others,
            limit: self.pending.full().or(limit),
            rejected: self.rejected,
        }
    }

    /// A message is taken apart once, by its reader or here, since every family asks it for its members.
    fn message(&mut self, entry: &Entry<'_>, message: Message<'_>) {
        if !message.json().index().is_empty() {
            return self.indexed(entry, message);
        }
        let mut parts = std::mem::take(&mut self.parts);
        index_members(message.text(), &mut parts);
        self.indexed(entry, message.indexed(&parts));
        self.parts = parts;
    }

    fn indexed(&mut self, entry: &Entry<'_>, message: Message<'_>) {
        let mut message = SeenMessage::new(message, entry.item);
        if self.exchanges.is_foreign(entry, &message) {
            return self.facts.overhear(&message, entry);
        }
        let side = entry.side.or_else(|| usual_sender(message.method.as_deref()?));
        if let Some(method) = message.method.clone() {
            if message.calls("initialize") && self.begins_session(entry) {
                self.facts.sessions.begin(&mut self.facts.negotiated);
                if self.facts.handshake {
                    self.facts.start_over();
                    self.pending.start_over(self.facts.sessions.first());
                }
            }
            self.facts.hear(&message);
            let revision = self.facts.revision_of(Some(&message));
            let exchange = self.exchanges.exchange_of(entry);
            if let Some(exchange) = exchange {
                self.held.ask(&exchange.raw.url, message.raw.written_id());
            }
            let disputed = message.meta(META_VERSION).and_then(Json::as_text).is_some_and(|named| {
                let headers = exchange.map(|exchange| &exchange.raw.request_headers);
                let headers = headers.or(entry.context.map(|context| &context.headers));
                headers.and_then(|headers| header(headers, VERSION)).is_some_and(|sent| !named.is(sent))
            });
            let terms = (revision, disputed, self.facts.sessions.key());
            self.pending.ask(entry, &message.raw, (&method, message.known), side, terms);
            if message.calls("notifications/cancelled")
                && let Some(id) = message.param("requestId")
            {
                let location =
                    FindingLocation::inside(&entry.location, entry.carrier, message.raw.text(), id);
                self.pending.cancel(side, id, location, entry.time);
            }
            self.show(entry, Some(&message), side);
        } else {
            self.facts.answered();
            let answer = self.pending.answer(&message.raw, side, (entry.exchange, self.facts.sessions.key()));
            message.response_match = answer.as_deref();
            // Who answers was asked.
            let side = side.or_else(|| answer.request()?.side.map(Side::other));
            self.facts.learn(&message);
            self.show(entry, Some(&message), side);
            if let Some(request) = answer.into_request() {
                self.pending.reuse(request);
            }
        }
    }

    /// Whether an `initialize` at hand begins a session of its own: over HTTP it comes without a session id.
    fn begins_session(&self, entry: &Entry<'_>) -> bool {
        let Some(exchange) = self.exchanges.exchange_of(entry) else { return false };
        let named = exchange.request_header("Mcp-Session-Id");
        named.is_none_or(|session| self.facts.is_dead(session))
    }

    fn show(&mut self, entry: &Entry<'_>, message: Option<&SeenMessage<'_>>, side: Option<Side>) {
        let revision = self.facts.revision_of(message);
        let complete = self.exchanges.see(entry, message, revision);
        let exchange = self.exchanges.current().map(|exchange| &exchange.raw);
        let at = RuleContext {
            entry,
            facts: &self.facts,
            pending: &self.pending,
            revision,
            side,
            message,
            exchange,
            exchanges: &self.exchanges,
            report: &self.report,
            circumstances: Circumstances::new(revision, &self.facts),
            hides: OnceCell::new(),
        };
        self.dispatch.families_for(&at, !complete.is_empty()).each(|family| {
            let Some(Some(visitor)) = self.visitors.get_mut(family) else { return };
            for exchange in &complete {
                at.for_exchange(exchange, |at| visitor.exchange(exchange, at));
            }
            visitor.visit(&at);
        });
    }
}
