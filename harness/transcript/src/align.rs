//! Two sessions side by side: which events differ, which stand in one alone.
//!
//! Memory: [`LOOKAHEAD`] events of each session, and in [`IdMatching::Renumbered`] mode the ids.

use crate::diff::{Comparison, DiffOptions, Difference, PointerPattern, first_below};
use crate::meaning::{Event, EventKind};
use crate::message::{Message, Shape};
use crate::session::{Location, Side};
use std::collections::{HashMap, VecDeque};

/// How far ahead is looked for the place where both sessions go on alike.
pub const LOOKAHEAD: usize = 64;

/// How ids are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdMatching {
    /// They are the same.
    #[default]
    Exact,
    /// There is a one-to-one renaming of each requestor's ids.
    Renumbered,
}

/// An event by copies of its own.
#[derive(Debug, Clone)]
pub struct OwnedEvent {
    /// Its kind.
    pub kind: EventKind,
    /// Its index in its session.
    pub index: u64,
    /// Its correlation id.
    pub id: Option<Vec<u8>>,
    /// What it answers.
    pub answers: Option<u64>,
    /// Who sent it, where the format says.
    pub side: Option<Side>,
    /// Where it is.
    pub location: Location,
    text: String,
    shape: Shape,
}

impl OwnedEvent {
    /// A copy of an event.
    #[must_use]
    pub fn of(event: &Event<'_>) -> Self {
        Self {
            kind: event.kind,
            index: event.index,
            id: event.id.as_ref().map(|id| id.to_vec()),
            answers: event.answers,
            side: event.side,
            location: event.location,
            text: event.message.text().to_owned(),
            shape: event.message.shape(),
        }
    }

    /// The event's message.
    #[must_use]
    pub fn message(&self) -> Message<'_> {
        Message::of(&self.text, self.shape)
    }

    fn event(&self) -> Event<'_> {
        Event {
            index: self.index,
            kind: self.kind,
            id: self.id.as_deref().map(Into::into),
            answers: self.answers,
            message: self.message(),
            side: self.side,
            location: self.location,
        }
    }

    /// The event in the normal form.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.event().write(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Who asked, in the exchange that the event belongs to.
    fn requestor(&self) -> Option<Side> {
        match self.kind {
            EventKind::Result | EventKind::Error => self.side.map(Side::other),
            _ => self.side,
        }
    }
}

/// One way in which two sessions part.
#[derive(Debug)]
pub enum Mismatch<'e> {
    /// Two events that stand for each other differ, first in this place of the normal form.
    Differs(&'e OwnedEvent, &'e OwnedEvent, Difference),
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
    /// Events of the left session alone.
    pub only_left: u64,
    /// Events of the right session alone.
    pub only_right: u64,
    /// Values taken as equal because one was redacted.
    pub redacted: u64,
    /// Places left out because the caller said so.
    pub ignored: u64,
}

impl Counts {
    /// Whether the sessions are the same under the rules.
    #[must_use]
    pub fn same(&self) -> bool {
        self.differing + self.only_left + self.only_right == 0
    }
}

/// Compares two sessions event by event and reports every departure, in order.
pub fn compare(
    mut left: impl Iterator<Item = OwnedEvent>,
    mut right: impl Iterator<Item = OwnedEvent>,
    rules: &DiffOptions,
    ids: IdMatching,
    report: &mut dyn FnMut(Mismatch<'_>),
) -> Counts {
    let mut pair =
        Pairing { rules, ids, names: Names::default(), shifts: Vec::new(), counts: Counts::default() };
    let (mut ahead_left, mut ahead_right) = (VecDeque::new(), VecDeque::new());
    loop {
        fill(&mut ahead_left, &mut left, 1);
        fill(&mut ahead_right, &mut right, 1);
        match (ahead_left.front(), ahead_right.front()) {
            (None, None) => return pair.counts,
            (Some(a), Some(b)) if pair.alike(a, b) => pair.settle(a, b, report),
            (Some(_), Some(_)) => {
                fill(&mut ahead_left, &mut left, LOOKAHEAD);
                fill(&mut ahead_right, &mut right, LOOKAHEAD);
                let (skip_left, skip_right) = pair.way_back(&ahead_left, &ahead_right);
                let both = skip_left.min(skip_right);
                for (a, b) in ahead_left.drain(..both).zip(ahead_right.drain(..both)) {
                    pair.settle(&a, &b, report);
                }
                for a in ahead_left.drain(..skip_left - both) {
                    pair.only_left(&a, report);
                }
                for b in ahead_right.drain(..skip_right - both) {
                    pair.only_right(&b, report);
                }
                continue;
            }
            (Some(a), None) => pair.only_left(a, report),
            (None, Some(b)) => pair.only_right(b, report),
        }
        ahead_left.pop_front();
        ahead_right.pop_front();
    }
}

fn fill(ahead: &mut VecDeque<OwnedEvent>, events: &mut impl Iterator<Item = OwnedEvent>, wanted: usize) {
    while ahead.len() < wanted {
        match events.next() {
            Some(event) => ahead.push_back(event),
            None => return,
        }
    }
}

struct Pairing<'r> {
    rules: &'r DiffOptions,
    ids: IdMatching,
    names: Names,
    /// From this left index on, a left event `i` stands for the right event `i + shift`.
    shifts: Vec<(u64, i64)>,
    counts: Counts,
}

impl Pairing<'_> {
    /// Whether two events say the same, leaving out what they answer: enough to know them for counterparts.
    fn alike(&self, a: &OwnedEvent, b: &OwnedEvent) -> bool {
        if a.kind == b.kind && a.text == b.text {
            return true;
        }
        a.kind == b.kind
            && (self.ids == IdMatching::Renumbered || self.leaves_out("id") || a.id == b.id)
            && contents(&a.event(), &b.event(), self.rules).difference.is_none()
    }

    /// How many events of each session to pass over until both go on alike; the fewest in all, and one of each
    /// where there is no such place ahead.
    fn way_back(&self, left: &VecDeque<OwnedEvent>, right: &VecDeque<OwnedEvent>) -> (usize, usize) {
        for skipped in 1..left.len() + right.len() {
            // Equal numbers first: a changed event is likelier than one lost beside one added.
            let mut splits: Vec<usize> = (0..=skipped).collect();
            splits.sort_by_key(|from_left| from_left.abs_diff(skipped - from_left));
            for from_left in splits {
                if let (Some(a), Some(b)) = (left.get(from_left), right.get(skipped - from_left))
                    && self.alike(a, b)
                {
                    return (from_left, skipped - from_left);
                }
            }
        }
        (1, 1)
    }

    fn settle(&mut self, a: &OwnedEvent, b: &OwnedEvent, report: &mut dyn FnMut(Mismatch<'_>)) {
        self.shift(a.index, b.index);
        let found = match self.frame(a, b) {
            Some(difference) => Comparison { difference: Some(difference), ..Comparison::default() },
            None if a.text == b.text => Comparison::default(),
            None => contents(&a.event(), &b.event(), self.rules),
        };
        self.counts.redacted += found.redacted as u64;
        self.counts.ignored += found.ignored as u64;
        match found.difference {
            None => self.counts.equal += 1,
            Some(difference) => {
                self.counts.differing += 1;
                report(Mismatch::Differs(a, b, difference));
            }
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

    /// What is not a value of the message: kind, id, and what is answered.
    fn frame(&mut self, a: &OwnedEvent, b: &OwnedEvent) -> Option<Difference> {
        let differs = |name: &str, left: Option<String>, right: Option<String>| {
            Some(Difference { pointer: format!("/{name}"), left, right })
        };
        if a.kind != b.kind {
            let quoted = |kind: EventKind| Some(format!("\"{}\"", kind.name()));
            return differs("kind", quoted(a.kind), quoted(b.kind));
        }
        let same_id = match (&a.id, &b.id, self.ids) {
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
        if a.event().is_response() && !self.leaves_out("answers") {
            let expected = a.answers.map(|index| self.counterpart(index));
            if expected != b.answers.map(Some) {
                let shown =
                    |answers: Option<u64>| Some(answers.map_or("null".to_owned(), |index| index.to_string()));
                return differs("answers", shown(a.answers), shown(b.answers));
            }
        }
        None
    }

    fn leaves_out(&self, name: &str) -> bool {
        leaves_out(self.rules, name)
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

/// Compares what two events of one kind say, under the rules; their ids and what they answer are left aside.
#[must_use]
pub fn contents(left: &Event<'_>, right: &Event<'_>, rules: &DiffOptions) -> Comparison {
    let mut found = Comparison::default();
    if !matches!(left.kind, EventKind::ToolCall) && left.message.method() != right.message.method() {
        let method = |message: Message<'_>| message.method().map(|method| format!("\"{}\"", method.raw()));
        let (left, right) = (method(left.message), method(right.message));
        found.difference = Some(Difference { pointer: "/method".to_owned(), left, right });
        return found;
    }
    let right: Vec<_> = right.values().collect();
    let left: Vec<_> = left.values().collect();
    let names = left.iter().map(|value| value.0).chain(right.iter().map(|value| value.0));
    let mut done = Vec::new();
    for name in names {
        if done.contains(&name) {
            continue;
        }
        done.push(name);
        if leaves_out(rules, name) {
            found.ignored += 1;
            continue;
        }
        let find = |values: &[(&str, _)]| values.iter().find(|value| value.0 == name).map(|value| value.1);
        match (find(&left), find(&right)) {
            (Some(a), Some(b)) => {
                let below = first_below(vec![name.to_owned()], a, b, rules);
                found.ignored += below.ignored;
                found.redacted += below.redacted;
                found.difference = below.difference;
            }
            (a, b) => {
                let text = |value: Option<crate::json::Json<'_>>| value.map(|value| value.text().to_owned());
                let (left, right) = (text(a), text(b));
                found.difference = Some(Difference { pointer: format!("/{name}"), left, right });
            }
        }
        if found.difference.is_some() {
            return found;
        }
    }
    found
}

/// Whether the rules leave out a whole member of the normal form.
fn leaves_out(rules: &DiffOptions, name: &str) -> bool {
    let path = [name.to_owned()];
    rules.ignore.iter().any(|pattern: &PointerPattern| pattern.matches(&path))
}

/// Whose id it is: known only where both sessions tell.
fn requestor(a: &OwnedEvent, b: &OwnedEvent) -> Option<Side> {
    a.requestor().filter(|side| b.requestor() == Some(*side))
}

/// A one-to-one renaming of ids, as far as it is known.
#[derive(Default)]
struct Names {
    to_right: HashMap<(Option<Side>, Vec<u8>), Vec<u8>>,
    to_left: HashMap<(Option<Side>, Vec<u8>), Vec<u8>>,
}

impl Names {
    fn agree(&mut self, whose: Option<Side>, left: &[u8], right: &[u8]) -> bool {
        let (from, to) = ((whose, left.to_vec()), (whose, right.to_vec()));
        match (self.to_right.get(&from), self.to_left.get(&to)) {
            (None, None) => {
                self.to_right.insert(from, right.to_vec());
                self.to_left.insert(to, left.to_vec());
                true
            }
            (Some(known), Some(_)) => known == right,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
