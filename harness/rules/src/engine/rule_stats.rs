//! The tallies of the rules: how often each was kept and broken, and how a rule's tally is found quickly.
//!
//! Nearly all that is said of rules is that they were kept.

use super::finding::{Finding, FindingCount};
use crate::rule::{Level, Rule};
use foldhash::fast::FixedState;
use std::collections::HashMap;

/// The tallies of the rules. A rule is a static, so it is known by its address; the id decides where that is new.
#[derive(Debug)]
pub(super) struct RuleStatsTable {
    list: Vec<RuleStats>,
    by_id: HashMap<&'static str, u16, FixedState>,
    /// Each at the place that its rule's address names or at the next that was free. A place is small, since one is written
    /// to at nearly every moment.
    places: Box<[PassCount; PLACES]>,
}

/// Enough that most addresses have a place of their own.
const PLACES: usize = 2048;

impl RuleStatsTable {
    /// Room for this many rules.
    pub(super) fn new(rules: usize) -> Self {
        assert!(rules < PLACES, "there are more rules than places");
        Self { list: Vec::new(), by_id: HashMap::default(), places: Box::new([PassCount::default(); PLACES]) }
    }

    /// How often a rule was kept.
    #[inline]
    pub(super) fn kept(&mut self, rule: &'static Rule) -> &mut PassCount {
        let address = std::ptr::from_ref(rule).addr();
        let at = (address / align_of::<Rule>()).wrapping_mul(SPREAD) >> SHIFT & (PLACES - 1);
        // Nearly every rule has its place to itself.
        let at = if self.places[at].address == address { at } else { self.other_place(rule, address, at) };
        &mut self.places[at]
    }

    /// The place of a rule that is not at its first one.
    #[cold]
    fn other_place(&mut self, rule: &'static Rule, address: usize, mut at: usize) -> usize {
        // There are fewer rules than places.
        while self.places[at].address != address {
            if self.places[at].address == 0 {
                let number = self.new_number(rule);
                self.places[at] = PassCount { address, number, ..PassCount::default() };
                break;
            }
            at = (at + 1) & (PLACES - 1);
        }
        at
    }

    fn new_number(&mut self, rule: &'static Rule) -> u16 {
        let next = u16::try_from(self.list.len()).unwrap_or(u16::MAX);
        let number = *self.by_id.entry(rule.id).or_insert(next);
        if number == next {
            self.list.push(RuleStats::default());
        }
        number
    }

    /// That of a rule.
    pub(super) fn of_rule(&mut self, rule: &'static Rule) -> &mut RuleStats {
        let number = self.kept(rule).number;
        &mut self.list[usize::from(number)]
    }

    /// Those of all rules that were met, by id, each with how often the rule was kept.
    pub(super) fn by_id(self) -> HashMap<&'static str, (RuleStats, u64), FixedState> {
        let mut list: Vec<_> = self.list.into_iter().map(|stats| (stats, 0)).collect();
        for place in self.places.iter().filter(|place| place.address != 0) {
            list[usize::from(place.number)].1 += place.times;
        }
        self.by_id
            .into_iter()
            .map(|(id, number)| (id, std::mem::take(&mut list[usize::from(number)])))
            .collect()
    }
}

/// Addresses of statics are multiples of their alignment and lie a few sizes apart: multiplied by this, they differ in the
/// bits from [`SHIFT`] on.
const SPREAD: usize = 0x9e37_79b9;
const SHIFT: u32 = 16;

/// How often a rule was kept: all that most moments say of it.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct PassCount {
    /// Of the rule; 0 where the place is free.
    address: usize,
    pub(super) times: u64,
    /// The circumstances, a bit each, in which the rule is known to bind.
    pub(super) binds: u16,
    /// Those in which it is known not to, or not to be known: what there is to note about that has been noted.
    pub(super) idle: u16,
    number: u16,
    /// Something is known that keeps the rule from being decided.
    pub(super) noted: bool,
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
