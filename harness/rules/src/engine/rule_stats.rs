//! The tallies of the rules: how often each was kept and broken, and how a rule's tally is found quickly.
//!
//! Nearly all that is said of rules is that they were kept.

use super::finding::{Finding, FindingCount};
use crate::revision::Revision;
use crate::rule::{Level, Rule};
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// The tallies of the rules. A rule is a static, so it is known by its address; the id decides where that is new.
#[derive(Debug)]
pub(super) struct RuleStatsTable {
    list: Vec<RuleStats>,
    /// Beside the list and small: it is written to at nearly every moment.
    kept: Vec<PassCount>,
    by_id: HashMap<&'static str, u16, FixedState>,
    /// Addresses of rules with their numbers in the list, each at the place that the address names or at the next that
    /// was free.
    near: Vec<(usize, u16)>,
}

impl RuleStatsTable {
    /// Room for so many rules.
    pub(super) fn new(rules: usize) -> Self {
        // A power of two, and so many that most addresses have a place of their own.
        let places = (4 * rules.max(16)).next_power_of_two();
        Self { list: Vec::new(), kept: Vec::new(), by_id: HashMap::default(), near: vec![(0, 0); places] }
    }

    fn number(&mut self, rule: &'static Rule) -> usize {
        let address = std::ptr::from_ref(rule).addr();
        let last = self.near.len() - 1;
        let mut at = (address / size_of::<Rule>()) & last;
        // There are fewer rules than places.
        while self.near[at].0 != address {
            if self.near[at].0 == 0 {
                self.near[at] = (address, self.new_number(rule));
                break;
            }
            at = (at + 1) & last;
        }
        usize::from(self.near[at].1)
    }

    fn new_number(&mut self, rule: &'static Rule) -> u16 {
        let next = u16::try_from(self.list.len()).unwrap_or(u16::MAX);
        let number = *self.by_id.entry(rule.id).or_insert(next);
        if number == next {
            self.list.push(RuleStats::default());
            self.kept.push(PassCount::default());
        }
        number
    }

    /// That of a rule.
    pub(super) fn of(&mut self, rule: &'static Rule) -> &mut RuleStats {
        let number = self.number(rule);
        &mut self.list[number]
    }

    /// How often a rule was kept.
    pub(super) fn kept(&mut self, rule: &'static Rule) -> &mut PassCount {
        let number = self.number(rule);
        &mut self.kept[number]
    }

    /// Takes that of a rule out, with how often it was kept.
    pub(super) fn take(&mut self, rule: &Rule) -> (RuleStats, u64) {
        let Some(&number) = self.by_id.get(rule.id) else { return (RuleStats::default(), 0) };
        let number = usize::from(number);
        (std::mem::take(&mut self.list[number]), self.kept[number].times)
    }
}

/// How often a rule was kept: all that most moments say of it.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct PassCount {
    pub(super) times: u64,
    /// A revision by which the rule is known to apply.
    pub(super) applied: Option<Revision>,
}

#[derive(Debug, Default)]
pub(super) struct RuleStats {
    pub(super) broken: u64,
    pub(super) counts: Vec<FindingCount>,
    pub(super) worst: Option<Level>,
    pub(super) findings: Vec<Finding>,
    pub(super) unsure: Option<String>,
}

impl RuleStats {
    /// Counts one more, and says how many that makes.
    pub(super) fn count(&mut self, level: Level, party: &'static str) -> u64 {
        let known = self.counts.iter().position(|count| (count.level, count.party) == (level, party));
        let at = known.unwrap_or(self.counts.len());
        if known.is_none() {
            self.counts.push(FindingCount { level, party, times: 0 });
        }
        self.counts[at].times += 1;
        self.counts[at].times
    }
}
