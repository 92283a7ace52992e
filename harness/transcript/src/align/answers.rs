//! Answers whose order is left out: each is held against the answer to the same request, whenever it comes.
//!
//! Memory: the answers that came in one session and not yet in the other, and a few bytes for each request that is not
//! answered in both.

use super::event::OwnedEvent;
use std::collections::BTreeMap;

/// The answers of both sessions that wait for each other, by the index of what they answer.
#[derive(Debug, Default)]
pub(super) struct Answers {
    left: BTreeMap<u64, OwnedEvent>,
    right: BTreeMap<u64, OwnedEvent>,
    /// The requests that stand for each other and are not answered in both sessions.
    to_right: BTreeMap<u64, u64>,
    to_left: BTreeMap<u64, u64>,
}

/// Two answers to requests that stand for each other.
pub(super) type Both = Option<(OwnedEvent, OwnedEvent)>;

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
    pub(super) fn unpaired(self) -> (impl Iterator<Item = OwnedEvent>, impl Iterator<Item = OwnedEvent>) {
        (self.left.into_values(), self.right.into_values())
    }
}
