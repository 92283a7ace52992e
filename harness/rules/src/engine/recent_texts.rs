//! Texts that were met lately, by a fingerprint of each.
//!
//! Memory: the last [`MOST`] of them; two texts are mistaken for one another with a chance of one in 10¹⁴.

use foldhash::{fast, quality::FixedState};
use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasher;

/// So many texts are remembered.
const MOST: usize = 10_000;

/// The last texts of a kind.
#[derive(Debug, Default)]
pub(crate) struct RecentTexts {
    prints: HashSet<u64, fast::FixedState>,
    order: VecDeque<u64>,
}

impl RecentTexts {
    /// Takes note of a text, and says whether it was met before.
    pub(crate) fn again(&mut self, text: &str) -> bool {
        let print = print(text);
        if !self.prints.insert(print) {
            return true;
        }
        self.order.push_back(print);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.prints.remove(&oldest);
        }
        false
    }

    /// Whether a text was met before.
    pub(crate) fn has(&self, text: &str) -> bool {
        self.prints.contains(&print(text))
    }
}

fn print(text: &str) -> u64 {
    FixedState::default().hash_one(text)
}

#[cfg(test)]
mod tests {
    use super::{MOST, RecentTexts};

    #[test]
    fn what_was_met_long_ago_is_forgotten() {
        let mut recent = RecentTexts::default();
        assert!(!recent.again("a") && recent.again("a") && recent.has("a"));
        for number in 0..MOST {
            assert!(!recent.again(&number.to_string()));
        }
        assert!(!recent.has("a") && recent.has("0"));
        assert_eq!((recent.prints.len(), recent.order.len()), (MOST, MOST));
    }
}
