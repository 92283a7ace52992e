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
    pub(super) fn new(events: I, apart: bool) -> Self {
        Self { events, waiting: VecDeque::new(), apart: apart.then(Vec::new) }
    }

    /// The next event, which stays.
    pub(super) fn peek(&mut self) -> Option<&OwnedEvent> {
        self.fill(1);
        self.waiting.front().map(|(event, _)| event)
    }

    /// The next events: this many of those that wait.
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
            key.get_or_insert_with(|| Key::new(&event.event(), rules, with_id));
        }
    }
}

/// What is known of the pairs of events that wait.
#[derive(Debug, Default)]
pub(super) struct Search {
    /// No two of this many next events of either session are alike.
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
            for from_left in splits(skipped, (left.len(), right.len()), self.unlike) {
                let from_right = skipped - from_left;
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

/// The ways to pass over this many events in all, as how many of the left session, where both have as many and the two are not
/// known to differ. Equal parts come first: a changed event is likelier than one lost beside one added.
fn splits(skipped: usize, there: (usize, usize), unlike: (usize, usize)) -> Vec<usize> {
    let (first, end) = ((skipped + 1).saturating_sub(there.1), (skipped + 1).min(there.0));
    // From here on up to `unlike.0` both are among those that are known to differ.
    let known = (skipped + 1).saturating_sub(unlike.1);
    let mut ways: Vec<usize> = (first..known.min(end)).chain(known.max(unlike.0).max(first)..end).collect();
    ways.sort_by_key(|from_left| from_left.abs_diff(skipped - from_left));
    ways
}

#[cfg(test)]
mod tests {
    use super::splits;

    #[test]
    fn equal_parts_come_first_and_what_is_known_is_left_out() {
        let all = (9, 9);
        assert_eq!(splits(1, all, (0, 0)), [0, 1]);
        assert_eq!(splits(4, all, (0, 0)), [2, 1, 3, 0, 4]);
        assert_eq!(splits(5, all, (0, 0)), [2, 3, 1, 4, 0, 5]);
        assert_eq!(
            splits(5, (2, 5), (0, 0)),
            [1],
            "two events of the left session are there, and five of the right"
        );
        for (skipped, unlike) in
            [(2, (3, 3)), (3, (3, 3)), (5, (3, 2)), (7, (8, 8)), (9, (0, 4)), (9, (4, 0))]
        {
            let known = |from_left: &usize| *from_left < unlike.0 && skipped - *from_left < unlike.1;
            let mut expected = splits(skipped, all, (0, 0));
            expected.retain(|from_left| !known(from_left));
            assert_eq!(splits(skipped, all, unlike), expected, "{skipped} {unlike:?}");
        }
        assert_eq!(
            splits(100, (64, 64), (63, 63)),
            [37, 63],
            "once a window was searched, what is new in it"
        );
    }
}
