//! The ids of every tool call of a session, remembered in little (clause COR-DUPLICATE).
//!
//! Ids that count up, bare or behind one of a few prefixes (`call-17`), are kept as runs: a session that numbers its calls
//! costs a few bytes, however long it is. Ids without such an order cost sixteen bytes each: a fingerprint of 128 bits, so
//! that two of a billion ids are mistaken for each other with a chance of one in 10²⁰. That is the only memory of a reading
//! that grows with an answered session.

use foldhash::{fast, quality::FixedState};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasher;

/// How many prefixes are tried for runs before ids go by fingerprint.
const PREFIXES: usize = 256;

/// The most digits that are read as a number.
const DIGITS: usize = 18;

/// A set of ids.
#[derive(Debug, Default)]
pub struct CallIds {
    /// The bare numbers.
    counted: Runs,
    /// Those behind a prefix.
    runs: HashMap<Box<[u8]>, Runs, fast::FixedState>,
    others: HashSet<u128, FixedState>,
}

impl CallIds {
    /// Adds an id; false where it was there before.
    pub fn insert(&mut self, id: &[u8]) -> bool {
        match split(id) {
            Some((b"", number)) => return self.counted.insert(number),
            Some((prefix, number)) => {
                if let Some(runs) = self.runs.get_mut(prefix) {
                    return runs.insert(number);
                }
                // A prefix that once came too late never gets runs of its own, so an id has one home for good.
                if self.runs.len() < PREFIXES {
                    return self.runs.entry(prefix.into()).or_default().insert(number);
                }
            }
            None => {}
        }
        self.others.insert(fingerprint(id))
    }

    /// Adds the id that spells a number, as [`counted`] reads it; false where it was there before.
    pub fn insert_count(&mut self, number: u64) -> bool {
        self.counted.insert(number)
    }

    /// How many things are remembered: runs, and ids that are in none.
    #[must_use]
    pub fn remembered(&self) -> usize {
        let runs = self.counted.count() + self.runs.values().map(Runs::count).sum::<usize>();
        self.others.len() + runs
    }

    /// Whether an id was added.
    #[must_use]
    pub fn has(&self, id: &[u8]) -> bool {
        match split(id) {
            Some((b"", number)) => self.counted.has(number),
            Some((prefix, number)) if let Some(runs) = self.runs.get(prefix) => runs.has(number),
            _ => self.others.contains(&fingerprint(id)),
        }
    }

    /// Whether the id that spells a number was added.
    #[must_use]
    pub fn has_count(&self, number: u64) -> bool {
        self.counted.has(number)
    }
}

pub(crate) fn fingerprint(id: &[u8]) -> u128 {
    let half = |seed| u128::from(FixedState::with_seed(seed).hash_one(id));
    half(0x6d63_7063_6f6e) << 64 | half(0x636f_7264)
}

/// An id as a prefix and a number that is spelled in the one way a counter spells it.
fn split(id: &[u8]) -> Option<(&[u8], u64)> {
    let digits = id.iter().rev().take(DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    let (prefix, digits) = id.split_at(id.len() - digits);
    if prefix.last().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    Some((prefix, counted(digits)?))
}

/// The number that these digits spell, if a counter spells it so: with no zero before it, and not longer than is looked at.
#[must_use]
pub fn counted(digits: &[u8]) -> Option<u64> {
    let is_usual = match digits {
        [b'1'..=b'9', ..] => digits.len() <= DIGITS,
        _ => digits == b"0",
    };
    let digit = |digit: &u8| digit.is_ascii_digit().then(|| u64::from(digit - b'0'));
    is_usual.then(|| digits.iter().try_fold(0, |number, next| Some(number * 10 + digit(next)?)))?
}

/// Numbers as runs `first ..= last`.
#[derive(Debug, Default)]
struct Runs {
    /// The run that was added to last, which is added to next where ids count up.
    newest: Option<(u64, u64)>,
    /// The others, by their first.
    others: BTreeMap<u64, u64>,
    /// The first of the others that are above the newest, if there is any.
    above: Option<u64>,
}

impl Runs {
    fn count(&self) -> usize {
        self.others.len() + usize::from(self.newest.is_some())
    }

    fn has(&self, number: u64) -> bool {
        let newest = self.newest.is_some_and(|(first, last)| (first..=last).contains(&number));
        newest || self.others.range(..=number).next_back().is_some_and(|(_, &last)| number <= last)
    }

    fn insert(&mut self, number: u64) -> bool {
        if let Some((_, last)) = &mut self.newest
            && *last + 1 == number
            && self.above.is_none_or(|above| number + 1 < above)
        {
            *last = number;
            return true;
        }
        if self.has(number) {
            return false;
        }
        self.others.extend(self.newest.take());
        let before = self.others.range(..number).next_back().map(|(&first, &last)| (first, last));
        let first = before.filter(|(_, last)| last + 1 == number).map_or(number, |(first, _)| first);
        let last = self.others.remove(&(number + 1)).unwrap_or(number);
        self.others.remove(&first);
        self.newest = Some((first, last));
        self.above = self.others.range(last..).next().map(|(&above, _)| above);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::CallIds;
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn a_million_counted_ids_are_a_few_runs() {
        let mut ids = CallIds::default();
        for number in (0..500_000).rev().chain(500_000..1_000_000) {
            assert!(ids.insert(number.to_string().as_bytes()));
            assert!(ids.insert(format!("call-{number}").as_bytes()));
        }
        assert!(!ids.insert(b"777") && !ids.insert(b"call-0") && ids.insert(b"call-1000000"));
        assert_eq!((ids.counted.count(), ids.runs[&b"call-"[..]].count(), ids.runs.len()), (1, 1, 1));
        assert!(ids.others.is_empty());
        assert_eq!(ids.remembered(), 2);
        assert!(ids.insert(b"other") && ids.insert(b"another"));
        assert_eq!(ids.remembered(), 4);
    }

    proptest! {
        #[test]
        fn agrees_with_a_plain_set(ids in prop::collection::vec("[ab]{0,2}[0-9]{0,3}|[0-9]{17,20}|-[0-9]", 0..400)) {
            let (mut ours, mut plain) = (CallIds::default(), HashSet::new());
            for id in ids {
                prop_assert_eq!(ours.has(id.as_bytes()), plain.contains(&id), "{}", id);
                prop_assert_eq!(ours.insert(id.as_bytes()), plain.insert(id.clone()), "{}", id);
                prop_assert!(ours.has(id.as_bytes()));
            }
        }
    }
}
