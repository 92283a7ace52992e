//! Texts that were met lately, by a fingerprint of each.
//!
//! Memory: the last [`MOST`] of them; two texts are mistaken for one another with a chance of one in 10¹⁴.

use foldhash::{fast, quality::FixedState};
use std::collections::{HashSet, VecDeque};
use std::hash::BuildHasher;

/// The most texts that are remembered.
const MOST: usize = 10_000;

/// The last texts of a kind.
#[derive(Debug, Default)]
pub(crate) struct RecentTexts {
    order: VecDeque<u64>,
    /// The same, once somebody has asked: most of what is noted is never asked for.
    prints: Option<HashSet<u64, fast::FixedState>>,
}

impl RecentTexts {
    /// Takes note of a text, and says whether it was met before.
    pub(crate) fn again(&mut self, text: &str) -> bool {
        let print = print(text);
        let again = self.prints().contains(&print);
        self.note_print(print);
        again
    }

    /// Takes note of a text.
    pub(crate) fn note(&mut self, text: &str) {
        self.note_print(print(text));
    }

    /// Whether a text was met before.
    pub(crate) fn has(&mut self, text: &str) -> bool {
        self.prints().contains(&print(text))
    }

    fn prints(&mut self) -> &HashSet<u64, fast::FixedState> {
        let order = &mut self.order;
        self.prints.get_or_insert_with(|| {
            let mut prints = HashSet::default();
            // Each stands in the order once from here on.
            order.retain(|print| prints.insert(*print));
            prints
        })
    }

    fn note_print(&mut self, print: u64) {
        if let Some(prints) = &mut self.prints
            && !prints.insert(print)
        {
            return;
        }
        self.order.push_back(print);
        if self.order.len() > MOST
            && let (Some(oldest), Some(prints)) = (self.order.pop_front(), &mut self.prints)
        {
            prints.remove(&oldest);
        }
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
        assert_eq!((recent.prints().len(), recent.order.len()), (MOST, MOST));
    }

    #[test]
    fn what_was_noted_before_somebody_asks_is_known_then() {
        let mut recent = RecentTexts::default();
        ["b", "a", "b"].into_iter().for_each(|text| recent.note(text));
        assert!(recent.prints.is_none() && recent.has("a") && recent.has("b") && !recent.has("0"));
        (0..MOST - 1).for_each(|number| recent.note(&number.to_string()));
        assert!(!recent.has("b") && recent.has("a") && recent.has("0"));
        assert_eq!((recent.prints().len(), recent.order.len()), (MOST, MOST));
    }
}
