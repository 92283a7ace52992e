//! When something was said, where a recording holds several HTTP connections: their order is not that in which they were used.
//!
//! Memory: up to [`MOST_EARLY`] findings that wait for what may stand behind them.

use super::context::RuleContext;
use super::facts::why_not_whole;
use super::location::FindingLocation;
use super::violation::Violation;
use crate::revision::Revision;
use crate::rule::{Party, Rule};
use transcript::json::Json;
use transcript::session::Carrier;

/// How long after it was sent a message may still be on its way, in milliseconds.
const ON_ITS_WAY: i64 = 1_000;

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
    rule: &'static Rule,
    wrong: String,
    location: FindingLocation,
    party: Option<Party>,
    revision: Option<Revision>,
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
        let location = FindingLocation::inside(&at.entry.location, at.entry.carrier, at.text(), value);
        let party = at.side.map(Party::from);
        let (revision, when) = (at.revision, at.moment());
        self.0.push((key, EarlyFinding { rule, wrong, location, party, revision, when }));
    }

    /// What the findings of these keys lack is at hand.
    pub(crate) fn came(&mut self, is: impl Fn(&K) -> bool, at: &RuleContext<'_>) {
        self.0.retain(|(key, finding)| {
            let settles = is(key) && (at.facts.over_stdio().is_none() || at.may_precede(&finding.when));
            if settles {
                at.inconclusive(finding.rule, NO_ORDER);
            }
            !settles
        });
    }

    /// Nothing more comes.
    pub(crate) fn never(&mut self, at: &RuleContext<'_>) {
        for (_, finding) in self.0.drain(..) {
            let party = finding.party.filter(|_| finding.rule.party == Party::Sender);
            let wrong = Violation::new(finding.wrong).at(finding.location).by(party);
            at.by(finding.revision).fail_if_complete(finding.rule, wrong);
        }
    }
}
