//! Two sessions side by side: which events differ, which stand only in one.
//!
//! Memory: [`LOOKAHEAD`] events of each session; with [`IdMatching::Renumbered`] the ids; and where the order of answers is left
//! out, as many answers as requests wait for one. Time: linear, with [`LOOKAHEAD`] as a factor.

mod contents;
mod event;
mod key;
mod names;
mod window;

pub use contents::contents;
pub use event::OwnedEvent;
pub use key::Key;
pub use window::LOOKAHEAD;

use crate::diff::{Comparison, DiffOptions, Difference, PointerPattern};
use crate::meaning::EventKind;
use crate::session::Side;
use contents::leaves_out;
use names::{Names, requestor};
use std::collections::BTreeMap;
use window::{Ahead, Search};

/// How ids are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdMatching {
    /// They are the same.
    #[default]
    Exact,
    /// There is a one-to-one renaming of each requestor's ids.
    Renumbered,
}

/// What may differ between two sessions that are the same.
#[derive(Debug, Clone, Default)]
pub struct AlignOptions {
    /// Values.
    pub values: DiffOptions,
    /// Ids.
    pub ids: IdMatching,
    /// Where an answer stands: only which request it answers is compared. An answer that answers nothing keeps its place.
    pub unordered_answers: bool,
}

/// One way in which two sessions part.
#[derive(Debug)]
pub enum Mismatch<'e> {
    /// Two events that stand for each other differ, first in this place of the normal form, and then in these, up to
    /// [`MOST_OTHERS`](crate::diff::MOST_OTHERS).
    Differs(&'e OwnedEvent, &'e OwnedEvent, Difference, Vec<String>),
    /// An event of the left session has no counterpart.
    OnlyLeft(&'e OwnedEvent),
    /// An event of the right session has no counterpart.
    OnlyRight(&'e OwnedEvent),
}

/// What a comparison counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Events that are equal.
    pub equal: u64,
    /// Pairs of events that differ.
    pub differing: u64,
    /// Events only of the left session.
    pub only_left: u64,
    /// Events only of the right session.
    pub only_right: u64,
    /// Values taken as equal because one was redacted.
    pub redacted: u64,
    /// Places left out because the caller said so.
    pub ignored: u64,
    /// Pairs that differ in nothing but the id.
    pub only_ids: u64,
    /// Pairs that differ in nothing but who sent them.
    pub only_senders: u64,
    /// How many pairs of events were compared value by value: the work that it took.
    pub compared: u64,
}

impl Counts {
    /// Whether the sessions are the same under the rules.
    #[must_use]
    pub fn same(&self) -> bool {
        self.differing + self.only_left + self.only_right == 0
    }
}

/// Compares two sessions event by event and reports every departure: in order, but for answers whose order is left out.
pub fn compare(
    left: impl Iterator<Item = OwnedEvent>,
    right: impl Iterator<Item = OwnedEvent>,
    options: &AlignOptions,
    report: &mut dyn FnMut(Mismatch<'_>),
) -> Counts {
    let apart = options.unordered_answers;
    let (mut left, mut right) = (Ahead::new(left, apart), Ahead::new(right, apart));
    let (mut pair, mut search) = (Pairing::new(options), Search::default());
    loop {
        // Answers that are taken apart come before the next event does, or the end.
        let _ = (left.peek(), right.peek());
        for (asked, answer) in left.answers() {
            let both = pair.answers.left(asked, answer);
            pair.settle_answers(both, report);
        }
        for (asked, answer) in right.answers() {
            let both = pair.answers.right(asked, answer);
            pair.settle_answers(both, report);
        }
        let (mut found, mut from_left, mut from_right) = (None, 1, 1);
        match (left.peek(), right.peek()) {
            (None, None) => break,
            (Some(_), None) => from_right = 0,
            (None, Some(_)) => from_left = 0,
            (Some(a), Some(b)) => {
                found = if search.knows_next_differ() { None } else { pair.alike(a, b) };
                if found.is_none() {
                    (from_left, from_right) =
                        search.way_back(&mut left, &mut right, &options.values, pair.compares_ids());
                }
            }
        }
        let both = from_left.min(from_right);
        for (a, b) in left.take(both).zip(right.take(both)) {
            pair.settle(&a, &b, found.take(), report);
        }
        left.take(from_left - both).for_each(|a| pair.only_left(&a, report));
        right.take(from_right - both).for_each(|b| pair.only_right(&b, report));
    }
    let (left, right) = std::mem::take(&mut pair.answers).unpaired();
    left.for_each(|a| pair.only_left(&a, report));
    right.for_each(|b| pair.only_right(&b, report));
    pair.counts.compared += search.compared;
    pair.counts
}

struct Pairing<'r> {
    options: &'r AlignOptions,
    names: Names,
    answers: Answers,
    /// From this left index on, a left event `i` stands for the right event `i + shift`.
    shifts: Vec<(u64, i64)>,
    counts: Counts,
}

impl<'r> Pairing<'r> {
    fn new(options: &'r AlignOptions) -> Self {
        Self {
            options,
            names: Names::default(),
            answers: Answers::default(),
            shifts: Vec::new(),
            counts: Counts::default(),
        }
    }

    fn compares_ids(&self) -> bool {
        self.options.ids == IdMatching::Exact && !self.leaves_out("id")
    }

    /// What two events say, where it is the same, leaving out what they answer: enough to know them for counterparts.
    fn alike(&mut self, a: &OwnedEvent, b: &OwnedEvent) -> Option<Comparison> {
        if a.kind != b.kind {
            return None;
        }
        if a.text == b.text {
            return Some(Comparison::default());
        }
        if self.compares_ids() && a.id != b.id {
            return None;
        }
        Some(self.contents(a, b)).filter(|found| found.difference.is_none())
    }

    fn contents(&mut self, a: &OwnedEvent, b: &OwnedEvent) -> Comparison {
        self.counts.compared += 1;
        let mut found = contents(&a.event(), &b.event(), &self.options.values);
        found.others.retain(|other| !self.names.renames_at(other, a, b));
        let Some(renamed) = found.difference.as_ref().filter(|found| self.names.renames(found, a, b)) else {
            return found;
        };
        let mut values = self.options.values.clone();
        values.ignore.extend(PointerPattern::parse(&renamed.pointer));
        let found = contents(&a.event(), &b.event(), &values);
        Comparison { ignored: found.ignored.saturating_sub(1), ..found }
    }

    /// Counts two events that stand for each other. What they say may be known.
    fn settle(
        &mut self,
        a: &OwnedEvent,
        b: &OwnedEvent,
        known: Option<Comparison>,
        report: &mut dyn FnMut(Mismatch<'_>),
    ) {
        if !self.options.unordered_answers {
            self.shift(a.index, b.index);
        }
        let frame = self.frame(a, b);
        let differs_in = |name: &str| frame.as_ref().is_some_and(|frame| frame.pointer == name);
        let (id, sender) = (differs_in("/id"), differs_in("/sender"));
        let mut found = match known {
            _ if frame.is_some() && !id && !sender => Comparison::default(),
            Some(known) => known,
            None if a.text == b.text => Comparison::default(),
            None => self.contents(a, b),
        };
        if found.difference.is_none() {
            self.counts.only_ids += u64::from(id && !self.other_binding(a, b) && !self.other_sender(a, b));
            self.counts.only_senders += u64::from(sender);
        }
        // Who sent it is named last.
        match frame {
            Some(_) if sender && found.difference.is_some() => found.others.push("/sender".to_owned()),
            Some(difference) => {
                let first = found.difference.replace(difference);
                found.others.splice(..0, first.map(|first| first.pointer));
            }
            None => {}
        }
        self.counts.redacted += found.redacted as u64;
        self.counts.ignored += found.ignored as u64;
        match found.difference {
            None => self.counts.equal += 1,
            Some(difference) => {
                self.counts.differing += 1;
                report(Mismatch::Differs(a, b, difference, found.others));
            }
        }
        if self.options.unordered_answers && a.is_request() && b.is_request() {
            let both = self.answers.pair(a.index, b.index);
            self.settle_answers(both, report);
        }
    }

    fn settle_answers(&mut self, both: Both, report: &mut dyn FnMut(Mismatch<'_>)) {
        if let Some((a, b)) = both {
            self.settle(&a, &b, None, report);
        }
    }

    fn only_left(&mut self, a: &OwnedEvent, report: &mut dyn FnMut(Mismatch<'_>)) {
        self.counts.only_left += 1;
        report(Mismatch::OnlyLeft(a));
    }

    fn only_right(&mut self, b: &OwnedEvent, report: &mut dyn FnMut(Mismatch<'_>)) {
        self.counts.only_right += 1;
        report(Mismatch::OnlyRight(b));
    }

    /// What is not a value of the message: kind, id, what is answered, and the sender.
    fn frame(&mut self, a: &OwnedEvent, b: &OwnedEvent) -> Option<Difference> {
        let differs = |name: &str, left: Option<String>, right: Option<String>| {
            Some(Difference { pointer: format!("/{name}"), left, right })
        };
        if a.kind != b.kind {
            let quoted = |kind: EventKind| Some(format!("\"{}\"", kind.name()));
            return differs("kind", quoted(a.kind), quoted(b.kind));
        }
        let same_id = match (&a.id, &b.id, self.options.ids) {
            (Some(left), Some(right), IdMatching::Renumbered) => {
                self.names.agree(requestor(a, b), left, right)
            }
            (left, right, _) => left == right,
        };
        if !same_id && !self.leaves_out("id") {
            let shown = |id: &Option<Vec<u8>>| {
                id.as_ref().map(|id| {
                    let mut out = Vec::new();
                    crate::json::write_string(id, &mut out);
                    String::from_utf8_lossy(&out).into_owned()
                })
            };
            return differs("id", shown(&a.id), shown(&b.id));
        }
        if self.other_binding(a, b) {
            let shown =
                |answers: Option<u64>| Some(answers.map_or("null".to_owned(), |index| index.to_string()));
            return differs("answers", shown(a.answers), shown(b.answers));
        }
        let quoted = |side: Option<Side>| side.map(|side| format!("\"{}\"", side.name()));
        if self.other_sender(a, b) { differs("sender", quoted(a.side), quoted(b.side)) } else { None }
    }

    /// They answer requests that do not stand for each other.
    fn other_binding(&self, a: &OwnedEvent, b: &OwnedEvent) -> bool {
        a.event().is_response()
            && !self.options.unordered_answers
            && !self.leaves_out("answers")
            && a.answers.map(|index| self.counterpart(index)) != b.answers.map(Some)
    }

    /// Both formats show who sent the event, and it is not the same side.
    fn other_sender(&self, a: &OwnedEvent, b: &OwnedEvent) -> bool {
        a.side.zip(b.side).is_some_and(|(left, right)| left != right) && !self.leaves_out("sender")
    }

    fn leaves_out(&self, name: &str) -> bool {
        leaves_out(&self.options.values, name)
    }

    fn shift(&mut self, left: u64, right: u64) {
        let shift = right.cast_signed() - left.cast_signed();
        if self.shifts.last().map_or(0, |last| last.1) != shift {
            self.shifts.push((left, shift));
        }
    }

    /// The right session's index for a left one.
    fn counterpart(&self, left: u64) -> Option<u64> {
        let before = self.shifts.partition_point(|&(from, _)| from <= left);
        let shift = before.checked_sub(1).map_or(0, |at| self.shifts[at].1);
        left.checked_add_signed(shift)
    }
}

/// The answers of both sessions that wait for each other, by the index of what they answer.
#[derive(Debug, Default)]
struct Answers {
    left: BTreeMap<u64, OwnedEvent>,
    right: BTreeMap<u64, OwnedEvent>,
    /// The requests that stand for each other and are not answered in both sessions.
    to_right: BTreeMap<u64, u64>,
    to_left: BTreeMap<u64, u64>,
}

/// Two answers to requests that stand for each other.
type Both = Option<(OwnedEvent, OwnedEvent)>;

impl Answers {
    /// Two requests stand for each other.
    pub(super) fn pair(&mut self, left: u64, right: u64) -> Both {
        self.to_right.insert(left, right);
        self.to_left.insert(right, left);
        self.both(left, right)
    }

    /// An answer came in the left session.
    pub(super) fn left(&mut self, asked: u64, answer: OwnedEvent) -> Both {
        self.left.insert(asked, answer);
        let right = *self.to_right.get(&asked)?;
        self.both(asked, right)
    }

    /// An answer came in the right session.
    pub(super) fn right(&mut self, asked: u64, answer: OwnedEvent) -> Both {
        self.right.insert(asked, answer);
        let left = *self.to_left.get(&asked)?;
        self.both(left, asked)
    }

    fn both(&mut self, left: u64, right: u64) -> Both {
        if !(self.left.contains_key(&left) && self.right.contains_key(&right)) {
            return None;
        }
        self.to_right.remove(&left);
        self.to_left.remove(&right);
        self.left.remove(&left).zip(self.right.remove(&right))
    }

    /// The answers of each session that have no counterpart.
    fn unpaired(self) -> (impl Iterator<Item = OwnedEvent>, impl Iterator<Item = OwnedEvent>) {
        (self.left.into_values(), self.right.into_values())
    }
}

#[cfg(test)]
mod tests;
