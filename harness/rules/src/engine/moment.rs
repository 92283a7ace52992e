//! When something was said, where the order of a recording need not be that of the session: several HTTP connections stand one
//! behind the other, and a recorder with two writers may write an answer before its request.
//!
//! Memory: up to [`MOST_EARLY`] findings that wait for what may stand behind them.

use super::context::RuleContext;
use super::facts::why_not_whole;
use super::location::FindingLocation;
use super::message::MessageKind;
use super::pending_request::PendingRequest;
use super::violation::{HeldFinding, Violation};
use crate::rule::{Level, Rule};
use std::collections::BTreeSet;
use transcript::json::Json;
use transcript::session::{Carrier, Side};

/// How long after it was sent a message may still be on its way, in milliseconds.
const ON_ITS_WAY: i64 = 1_000;

/// Two messages of two sides that are closer than this may have crossed, in milliseconds.
pub(crate) const CROSSING: i64 = 50;

/// The most findings that wait; of further ones nothing is said.
const MOST_EARLY: usize = 1_000;

pub(crate) const NO_ORDER: &str = "the order of two connections is not that in which they were used";

/// What is known of the time at which something was sent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moment {
    exchange: Option<u64>,
    latest: Option<i64>,
}

impl RuleContext<'_> {
    /// That of this step.
    pub(crate) fn moment(&self) -> Moment {
        Moment { exchange: self.entry.exchange, latest: self.entry.time }
    }

    /// Whether this step may have been sent before another that stands before it. An answer is sent when its request is there.
    pub(crate) fn may_precede(&self, then: &Moment) -> bool {
        // What was converted may have been HTTP.
        let over_http =
            self.exchange.is_some() || self.facts.made_up || self.facts.over_stdio() == Some(false);
        if !over_http || then.exchange.is_some() && then.exchange == self.entry.exchange {
            return false;
        }
        match (self.earliest(), then.latest) {
            (Some(earliest), Some(latest)) => earliest < latest,
            _ => true,
        }
    }

    /// Something stands before what it had to wait for, which is at hand. An error has to be twice as far from it.
    pub(crate) fn fail_if_earlier(&self, rule: &'static Rule, wrong: Violation<'_>, time: Option<i64>) {
        let crossing = if rule.level == Level::Must { 2 * CROSSING } else { CROSSING };
        match time.zip(self.entry.time).map(|(early, now)| now.saturating_sub(early)) {
            None => {
                self.inconclusive(rule, "without times it cannot be decided whether the two messages crossed")
            }
            Some(apart) if apart <= crossing => {
                self.inconclusive(rule, "the two messages may have crossed on their way");
            }
            Some(_) => self.fail(rule, wrong),
        }
    }

    fn earliest(&self) -> Option<i64> {
        let sent = || self.entry.time.map(|time| time - ON_ITS_WAY);
        let answers = self.exchange.filter(|_| self.entry.carrier != Carrier::Request);
        let started = answers.and_then(|_| self.exchanges.current()?.started);
        let asked = self.message.and_then(|message| message.request()?.time);
        match answers {
            Some(exchange) if !exchange.timed => started.max(asked),
            _ => started.max(asked).max(sent()),
        }
    }
}

/// Findings about what has not been asked for, as it seems: over HTTP that may come yet, and have been sent before.
#[derive(Debug)]
pub(crate) struct Early<K>(Vec<(K, EarlyFinding)>);

#[derive(Debug)]
struct EarlyFinding {
    held: HeldFinding,
    when: Moment,
}

impl<K> Default for Early<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K> Early<K> {
    /// Takes a finding in that `value` of the message at hand gives rise to. Where there is but one connection it is one at once.
    pub(crate) fn find(
        &mut self,
        rule: &'static Rule,
        key: K,
        wrong: String,
        value: Json<'_>,
        at: &RuleContext<'_>,
    ) {
        if at.facts.over_stdio() == Some(true) || why_not_whole(at.facts).is_some() {
            return at.fail_if_complete(rule, Violation::new(wrong).inside(value));
        }
        if self.0.len() >= MOST_EARLY {
            return at.inconclusive(rule, "more findings wait for what may follow than are kept");
        }
        let held = Violation::new(wrong).inside(value).held(rule, at);
        self.0.push((key, EarlyFinding { held, when: at.moment() }));
    }

    /// What the findings of these keys lack is at hand.
    pub(crate) fn came(&mut self, is: impl Fn(&K) -> bool, at: &RuleContext<'_>) {
        self.0.retain(|(key, finding)| {
            let settles = is(key) && (at.facts.over_stdio().is_none() || at.may_precede(&finding.when));
            if settles {
                at.inconclusive(finding.held.rule, NO_ORDER);
            }
            !settles
        });
    }

    /// Nothing more comes.
    pub(crate) fn never(&mut self, at: &RuleContext<'_>) {
        for (_, finding) in self.0.drain(..) {
            finding.held.tell(at);
        }
    }
}

/// Answers to nothing that stands before them. A recorder with two writers may write the request behind its answer, which only the
/// times tell, as long as those of either side do not go back.
#[derive(Debug, Default)]
pub(crate) struct EarlyAnswers {
    answers: Vec<EarlyAnswer>,
    /// When each side spoke last.
    spoke: [Option<i64>; 2],
    /// The requests that they answer, by their numbers.
    answered: BTreeSet<u64>,
}

#[derive(Debug)]
struct EarlyAnswer {
    id: Box<str>,
    side: Side,
    time: i64,
    location: FindingLocation,
    unasked: HeldFinding,
}

impl EarlyAnswers {
    /// Takes in the finding that nothing asked for the answer at hand. Without times it is one at once.
    pub(crate) fn find(&mut self, unasked: HeldFinding, at: &RuleContext<'_>) {
        let id = at.message.and_then(|message| message.raw.written_id());
        match (id, at.side, at.entry.time.filter(|_| at.exchange.is_none())) {
            (Some(id), Some(side), Some(time))
                if self.spoke[side as usize] <= Some(time) && self.answers.len() < MOST_EARLY =>
            {
                let location = at.location();
                self.answers.push(EarlyAnswer { id: id.into(), side, time, location, unasked });
            }
            _ => unasked.tell(at),
        }
    }

    /// Takes in a message, which may be the request of an answer that stands before it: that breaks `order`. Behind what is as young
    /// as an answer nothing follows that it answers.
    pub(crate) fn hear(&mut self, order: &'static Rule, at: &RuleContext<'_>) {
        let (Some(message), Some(side), Some(time)) = (at.message, at.side, at.entry.time) else { return };
        if at.exchange.is_none() && message.request().is_some_and(|request| request.time.is_some()) {
            at.pass(order);
        }
        let spoke = &mut self.spoke[side as usize];
        let goes_back = *spoke > Some(time);
        *spoke = (*spoke).max(Some(time));
        let asks = message.kind == MessageKind::Request;
        let is_asked = |answer: &EarlyAnswer| asks && message.raw.written_id() == Some(&*answer.id);
        let settles =
            |answer: &mut EarlyAnswer| answer.side != side && (answer.time <= time || is_asked(answer));
        for answer in self.answers.extract_if(.., settles) {
            if !is_asked(&answer) || answer.time <= time || goes_back {
                answer.unasked.tell(at);
                continue;
            }
            self.answered.extend(at.pending.last_number());
            let apart = answer.time - time;
            let wrong =
                format!("the answer stands before its request, and is {apart} ms younger by its time");
            at.fail(order, Violation::new(wrong).at(answer.location).see(at.location(), "the request"));
        }
    }

    /// Whether the answer to a request stands before it.
    pub(crate) fn answers(&self, request: &PendingRequest) -> bool {
        self.answered.contains(&request.number)
    }

    /// Nothing more comes.
    pub(crate) fn never(&mut self, at: &RuleContext<'_>) {
        for answer in self.answers.drain(..) {
            answer.unasked.tell(at);
        }
    }
}
