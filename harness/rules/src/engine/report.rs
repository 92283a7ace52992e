//! What was found: for each rule how often it held, where it was broken, and why it could not be known; and how its tally is
//! found quickly, since nearly all that is said of rules is that they were kept.
//!
//! Memory: [`MOST_KEPT`] findings of each rule, level and party; the rest are counted.

use super::finding::{Finding, FindingCount, Listener, RuleOutcome, RuleVerdict};
use crate::revision::Revision;
use crate::rule::{Level, Need, Rule};
use foldhash::fast::FixedState;
use std::array::from_fn;
use std::cell::{Cell, RefCell, RefMut};
use std::collections::HashMap;

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

/// The tallies of the rules. A rule is a static, so it is known by its address; the id decides where that is new.
#[derive(Debug)]
pub(super) struct RuleStatsTable {
    /// Those that were met, in the order of their numbers, and the numbers by id.
    list: RefCell<Vec<RuleStats>>,
    by_id: RefCell<HashMap<&'static str, u16, FixedState>>,
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
        let places = Box::new(from_fn(|_| PassCount::default()));
        Self { list: RefCell::default(), by_id: RefCell::default(), places }
    }

    /// How often a rule was kept.
    #[inline]
    pub(super) fn kept(&self, rule: &'static Rule) -> &PassCount {
        let address = std::ptr::from_ref(rule).addr();
        let at = (address / align_of::<Rule>()).wrapping_mul(SPREAD) >> SHIFT & (PLACES - 1);
        let place = &self.places[at];
        // Nearly every rule has its place to itself.
        if place.address.get() == address { place } else { self.other_place(rule, address, at) }
    }

    /// The place of a rule that is not at its first one.
    #[cold]
    fn other_place(&self, rule: &'static Rule, address: usize, mut at: usize) -> &PassCount {
        // There are fewer rules than places.
        loop {
            let place = &self.places[at];
            if place.address.get() == 0 {
                place.address.set(address);
                place.number.set(self.new_number(rule));
            }
            if place.address.get() == address {
                return place;
            }
            at = (at + 1) & (PLACES - 1);
        }
    }

    fn new_number(&self, rule: &'static Rule) -> u16 {
        let mut list = self.list.borrow_mut();
        let next = u16::try_from(list.len()).unwrap_or(u16::MAX);
        let number = *self.by_id.borrow_mut().entry(rule.id).or_insert(next);
        if number == next {
            list.push(RuleStats::default());
        }
        number
    }

    /// That of a rule.
    pub(super) fn of_rule(&self, rule: &'static Rule) -> RefMut<'_, RuleStats> {
        let number = usize::from(self.kept(rule).number.get());
        RefMut::map(self.list.borrow_mut(), |list| &mut list[number])
    }

    /// Those of all rules that were met, by id, each with how often the rule was kept.
    fn by_id(self) -> HashMap<&'static str, (RuleStats, u64), FixedState> {
        let mut list: Vec<_> = self.list.into_inner().into_iter().map(|stats| (stats, 0)).collect();
        for place in self.places.iter().filter(|place| place.address.get() != 0) {
            list[usize::from(place.number.get())].1 += place.times.get();
        }
        let numbers = self.by_id.into_inner().into_iter();
        numbers.map(|(id, number)| (id, std::mem::take(&mut list[usize::from(number)]))).collect()
    }
}

/// Addresses of statics are multiples of their alignment and lie a few sizes apart: multiplied by this, they differ in the
/// bits from [`SHIFT`] on.
const SPREAD: usize = 0x9e37_79b9;
const SHIFT: u32 = 16;

/// How often a rule was kept: all that most moments say of it.
#[derive(Debug, Default)]
pub(super) struct PassCount {
    /// Of the rule; 0 where the place is free.
    address: Cell<usize>,
    pub(super) times: Cell<u64>,
    /// The circumstances, a bit each, in which the rule is known to bind.
    pub(super) binds: Cell<u16>,
    /// Those in which it is known not to, or not to be known: what there is to note about that has been noted.
    pub(super) idle: Cell<u16>,
    number: Cell<u16>,
    /// Something is known that keeps the rule from being decided.
    pub(super) noted: Cell<bool>,
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
