//! How long answers took, in little memory: exact to the millisecond below a second, and to three digits above.

use std::collections::BTreeMap;

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
    use super::Durations;

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
