//! The next events of two sessions, and where both go on alike.
//!
//! Memory: [`LOOKAHEAD`] events of each session. Time: each pair of events is looked at once while they wait, by
//! fingerprints; value by value only where a redacted value stands in one of them.

use super::contents::contents;
use super::event::OwnedEvent;
use super::key::Key;
use crate::diff::DiffOptions;
use std::collections::VecDeque;

/// How far ahead is looked for the place where both sessions go on alike.
pub const LOOKAHEAD: usize = 64;

/// The next events of one session.
#[derive(Debug)]
pub(super) struct Ahead<I> {
    events: I,
    waiting: VecDeque<(OwnedEvent, Option<Key>)>,
    /// Answers do not wait here: they are taken apart, each with the index of what it answers.
    apart: Option<Vec<(u64, OwnedEvent)>>,
}

impl<I: Iterator<Item = OwnedEvent>> Ahead<I> {
    pub(super) fn of(events: I, apart: bool) -> Self {
        Self { events, waiting: VecDeque::new(), apart: apart.then(Vec::new) }
    }

    /// The next event, which stays.
    pub(super) fn peek(&mut self) -> Option<&OwnedEvent> {
        self.fill(1);
        self.waiting.front().map(|(event, _)| event)
    }

    /// The next events, so many of those that wait.
    pub(super) fn take(&mut self, count: usize) -> impl Iterator<Item = OwnedEvent> {
        self.waiting.drain(..count).map(|(event, _)| event)
    }

    /// The answers that came while events were looked for.
    pub(super) fn answers(&mut self) -> Vec<(u64, OwnedEvent)> {
        self.apart.as_mut().map(std::mem::take).unwrap_or_default()
    }

    fn fill(&mut self, wanted: usize) {
        while self.waiting.len() < wanted
            && let Some(event) = self.events.next()
        {
            match (&mut self.apart, event.answers) {
                (Some(apart), Some(asked)) => apart.push((asked, event)),
                _ => self.waiting.push_back((event, None)),
            }
        }
    }

    /// Looks as far ahead as it may, and gives each event its key.
    fn look(&mut self, rules: &DiffOptions, with_id: bool) {
        self.fill(LOOKAHEAD);
        for (event, key) in &mut self.waiting {
            key.get_or_insert_with(|| Key::of(&event.event(), rules, with_id));
        }
    }
}

/// What is known of the pairs of events that wait.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// No two of so many next events of either session are alike.
    unlike: (usize, usize),
    /// How many pairs were compared value by value.
    pub(super) compared: u64,
}

impl Search {
    /// Whether the next two events are known to differ.
    pub(super) fn knows_next_differ(&self) -> bool {
        self.unlike.0 > 0 && self.unlike.1 > 0
    }

    /// How many events of each session to pass over until both go on alike; the fewest in all, and one of each where
    /// there is no such place ahead.
    pub(super) fn way_back<A, B>(
        &mut self,
        left: &mut Ahead<A>,
        right: &mut Ahead<B>,
        rules: &DiffOptions,
        with_id: bool,
    ) -> (usize, usize)
    where
        A: Iterator<Item = OwnedEvent>,
        B: Iterator<Item = OwnedEvent>,
    {
        left.look(rules, with_id);
        right.look(rules, with_id);
        let (left, right) = (&left.waiting, &right.waiting);
        for skipped in 1..left.len() + right.len() {
            for from_left in splits(skipped) {
                let from_right = skipped - from_left;
                if from_left < self.unlike.0 && from_right < self.unlike.1 {
                    continue;
                }
                if let (Some(a), Some(b)) = (left.get(from_left), right.get(from_right))
                    && self.alike(a, b, rules)
                {
                    self.unlike = (0, 0);
                    return (from_left, from_right);
                }
            }
        }
        self.unlike = (left.len() - 1, right.len() - 1);
        (1, 1)
    }

    fn alike(
        &mut self,
        (a, key_a): &(OwnedEvent, Option<Key>),
        (b, key_b): &(OwnedEvent, Option<Key>),
        rules: &DiffOptions,
    ) -> bool {
        let (Some(key_a), Some(key_b)) = (key_a, key_b) else { return false };
        if key_a.all == key_b.all || key_a.frame != key_b.frame || !(key_a.hides || key_b.hides) {
            return key_a.all == key_b.all;
        }
        self.compared += 1;
        contents(&a.event(), &b.event(), rules).difference.is_none()
    }
}

/// A number in two parts: the first of each, equal parts first. A changed event is likelier than one lost beside one added.
fn splits(sum: usize) -> impl Iterator<Item = usize> {
    let (below, above) = (sum / 2, sum.div_ceil(2));
    (0..=below).flat_map(move |off| {
        let second = (off > 0 || above > below).then_some(above + off);
        [Some(below - off), second].into_iter().flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::splits;

    #[test]
    fn equal_parts_come_first() {
        assert_eq!(splits(0).collect::<Vec<_>>(), [0]);
        assert_eq!(splits(1).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(splits(4).collect::<Vec<_>>(), [2, 1, 3, 0, 4]);
        assert_eq!(splits(5).collect::<Vec<_>>(), [2, 3, 1, 4, 0, 5]);
    }
}
