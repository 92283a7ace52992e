//! Which number stands behind the marker of each value, and how often each rule took something out.
//!
//! Memory: the values that were taken out, once each.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What stands in place of what was taken out.
pub const MARKER: &str = "[REDACTED]";

/// Why something is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    /// The name of this number.
    Name(usize),
    /// The pattern of this number.
    Text(usize),
    /// It is the user and password of a URL.
    Password,
    /// It is encoded, and holds something that is taken out.
    Encoded,
    /// It cannot be looked into.
    Unknown,
}

/// What was taken out so far.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    numbers: HashMap<Vec<u8>, u64>,
    last: u64,
    taken: BTreeMap<Rule, (u64, BTreeSet<u64>)>,
}

impl Ledger {
    /// Numbers go on behind those of the markers that a text has.
    pub(super) fn behind(text: &str) -> Self {
        let number = |(at, _): (usize, &str)| {
            let marker = &text[at..at + marker_length(&text.as_bytes()[at..])?];
            marker.strip_prefix(MARKER)?.strip_prefix('-')?.parse().ok()
        };
        Self { last: text.match_indices(MARKER).filter_map(number).max().unwrap_or(0), ..Self::default() }
    }

    /// The marker of this value. One that is a marker itself stays.
    pub(super) fn mark(&mut self, rule: Rule, value: &[u8]) -> Vec<u8> {
        if marker_length(value) == Some(value.len()) {
            return value.to_vec();
        }
        let number = *self.numbers.entry(value.to_vec()).or_insert_with(|| {
            self.last = self.last.saturating_add(1);
            self.last
        });
        let (times, values) = self.taken.entry(rule).or_default();
        *times += 1;
        values.insert(number);
        format!("{MARKER}-{number}").into_bytes()
    }

    /// Each rule that took something out, how often, and how many values.
    pub(super) fn taken(&self) -> impl Iterator<Item = (Rule, u64, u64)> {
        self.taken.iter().map(|(rule, (times, values))| (*rule, *times, values.len() as u64))
    }
}

/// How long the marker is at the beginning of a text, with its number.
pub(super) fn marker_length(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(MARKER.as_bytes())?;
    let digits = rest
        .strip_prefix(b"-")
        .map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
    Some(MARKER.len() + if digits > 0 { digits + 1 } else { 0 })
}
