//! What was found: for each rule how often it held, where it was broken, and why it could not be known.
//!
//! Memory: [`MOST_KEPT`] findings of each rule, level and party; the rest are counted.

use super::finding::{Listener, RuleOutcome, RuleVerdict};
use super::rule_stats::{RuleStats, RuleStatsTable};
use crate::revision::Revision;
use crate::rule::{Need, Rule};
use std::cell::Cell;

/// The most findings of one rule, level and party that are kept with their places.
pub(crate) const MOST_KEPT: usize = 100;

/// What has been found so far. Each rule adds to it.
#[derive(Debug)]
pub(crate) struct Report {
    pub(super) carries: Vec<Need>,
    pub(super) stats: RuleStatsTable,
    pub(super) limit: Cell<Option<&'static str>>,
    pub(super) listener: Option<Listener>,
}

/// Why a rule that some revisions have is not judged.
pub(crate) const NO_REVISION: &str = "nothing shows the revision; `check --spec REVISION` sets it";

impl Report {
    /// For this many rules, about a recording that carries this.
    pub(super) fn new(carries: Vec<Need>, rules: usize, listener: Option<Listener>) -> Self {
        Self { carries, stats: RuleStatsTable::new(rules), limit: Cell::new(None), listener }
    }

    /// The limit that was reached, if any was.
    pub(super) fn limit(&self) -> Option<&'static str> {
        self.limit.get()
    }

    pub(super) fn note(&self, rule: &'static Rule, why: impl FnOnce() -> String) {
        self.stats.kept(rule).noted.set(true);
        self.stats.of_rule(rule).unsure.get_or_insert_with(why);
    }

    /// What came of each of `rules` in a session of this revision. What only one transport has is not missing from a session over the other.
    pub(super) fn outcomes(
        self,
        rules: impl Iterator<Item = &'static Rule>,
        revision: Option<Revision>,
        stdio: Option<bool>,
    ) -> Vec<RuleOutcome> {
        let Self { carries, stats, .. } = self;
        let mut all = stats.by_id();
        let mut outcomes = Vec::new();
        for rule in rules {
            let (stats, held) = all.remove(rule.id).unwrap_or_default();
            let RuleStats { broken, counts, worst, findings, mut unsure } = stats;
            let lacking = lacking(&carries, rule).filter(|need| !need.is_foreign(stdio));
            if let (0, 0, None, Some(need)) = (held, broken, &unsure, lacking)
                && revision.is_none_or(|revision| rule.span.has(revision))
            {
                unsure = Some(lacks(need));
            }
            let verdict = match (worst, &unsure, held) {
                (Some(level), ..) => RuleVerdict::new(level),
                (None, Some(_), _) => RuleVerdict::Inconclusive,
                (None, None, 0) => RuleVerdict::NotApplicable,
                (None, None, _) => RuleVerdict::Pass,
            };
            outcomes.push(RuleOutcome { rule, verdict, held, broken, counts, findings, unsure });
        }
        outcomes
    }
}

/// What the rule needs beyond what such recordings carry.
pub(super) fn lacking(carries: &[Need], rule: &Rule) -> Option<Need> {
    rule.needs.iter().copied().find(|need| !carries.contains(need))
}

/// Why a rule that needs it is not judged.
pub(crate) fn lacks(need: Need) -> String {
    format!("such recordings do not carry {}", need.lack())
}
