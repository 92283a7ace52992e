//! Names and durations in bounded memory: a bounded number of strangers' names, each of bounded length, and none lost in silence;
//! and how long answers took, exact to the millisecond below a second, and to three digits above.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash as _, Hasher as _};

/// How many names have a row of their own.
pub(crate) const MOST: usize = 1_000;

/// How many characters of a name are kept.
const LONGEST: usize = 100;

/// The row that names beyond [`MOST`] share.
pub(crate) const OTHERS: &str = "(others)";

/// A name as it is shown: a blank one would be a row without one.
pub(crate) fn shown(name: &str) -> &str {
    if name.trim().is_empty() { "(empty)" } else { name }
}

/// Which row each name has, in the order in which the names were first seen.
#[derive(Debug, Default)]
pub(crate) struct Names {
    rows: HashMap<String, usize>,
}

impl Names {
    /// The row of a name, and how it is shown.
    pub(crate) fn row(&mut self, name: &str) -> (usize, String) {
        let name = cut(name);
        let next = self.rows.len();
        let name = if next >= MOST && !self.rows.contains_key(&name) { OTHERS.to_owned() } else { name };
        (*self.rows.entry(name.clone()).or_insert(next), name)
    }
}

/// A name of bounded length. One that is cut ends with a digest.
pub(crate) fn cut(name: &str) -> String {
    let Some((end, _)) = name.char_indices().nth(LONGEST) else { return name.to_owned() };
    let mut digest = DefaultHasher::new();
    name.hash(&mut digest);
    format!("{}…#{:08x}", &name[..end], digest.finish() >> 32)
}

/// Durations in milliseconds. Memory: at most 900 counters for each power of ten.
#[derive(Debug, Clone, Default)]
pub(crate) struct Durations {
    counts: BTreeMap<u64, u64>,
    total: u64,
    longest: u64,
}

impl Durations {
    pub(crate) fn add(&mut self, milliseconds: u64) {
        let digits = milliseconds.checked_ilog10().unwrap_or(0) + 1;
        let unit = 10_u64.pow(digits.saturating_sub(3));
        *self.counts.entry(milliseconds / unit * unit).or_default() += 1;
        self.total += 1;
        self.longest = self.longest.max(milliseconds);
    }

    /// Adds those of another recording.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (milliseconds, times) in &other.counts {
            *self.counts.entry(*milliseconds).or_default() += times;
        }
        self.total += other.total;
        self.longest = self.longest.max(other.longest);
    }

    /// The longest one; none where there was none.
    pub(crate) fn longest(&self) -> Option<u64> {
        (self.total > 0).then_some(self.longest)
    }

    /// The duration that this many of a hundred do not exceed (the nearest-rank percentile).
    pub(crate) fn percentile(&self, percent: u64) -> Option<u64> {
        let rank = (self.total * percent).div_ceil(100).max(1);
        let mut seen = 0;
        self.counts.iter().find_map(|(&milliseconds, &times)| {
            seen += times;
            (seen >= rank).then_some(milliseconds)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Durations, MOST, Names, OTHERS, cut};

    #[test]
    fn names_are_bounded_in_number_and_length() {
        let mut names = Names::default();
        for number in 0..MOST + 10 {
            names.row(&format!("tool-{number}"));
        }
        assert_eq!(names.row("tool-0"), (0, "tool-0".to_owned()));
        assert_eq!(names.row("new"), (MOST, OTHERS.to_owned()));
        assert_eq!(names.rows.len(), MOST + 1);
        let (long, other) = ("x".repeat(100_000), "x".repeat(100_001));
        assert!(cut(&long).chars().count() < 120 && cut(&long) != cut(&other));
    }

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let mut durations = Durations::default();
        assert_eq!((durations.percentile(50), durations.longest()), (None, None));
        (1..=20).for_each(|duration| durations.add(duration));
        assert_eq!((durations.percentile(50), durations.percentile(95)), (Some(10), Some(19)));
        durations.add(123_456);
        assert_eq!((durations.percentile(100), durations.longest()), (Some(123_000), Some(123_456)));
    }

    #[test]
    fn memory_does_not_grow_with_the_session() {
        let mut durations = Durations::default();
        (0..1_000_000).for_each(|duration| durations.add(duration));
        durations.add(u64::MAX);
        assert!(durations.counts.len() <= 900 * 5, "{}", durations.counts.len());
        assert_eq!(durations.percentile(50), Some(500_000));
    }
}
