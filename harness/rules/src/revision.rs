//! The revisions of the specification, and spans of them.

use std::fmt;

pub use transcript::revision::Revision;

/// A run of revisions, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The oldest.
    pub first: Revision,
    /// The newest.
    pub last: Revision,
}

impl Span {
    /// Every revision.
    pub const ALL: Self = Self::between(Revision::V2024_11_05, Revision::V2026_07_28);
    /// Those whose sessions begin with `initialize`.
    pub const SESSIONS: Self = Self::between(Revision::V2024_11_05, Revision::V2025_11_25);
    /// Those without sessions.
    pub const MODERN: Self = Self::only(Revision::V2026_07_28);

    /// From one to another.
    pub const fn between(first: Revision, last: Revision) -> Self {
        Self { first, last }
    }

    /// From one on.
    pub const fn from(first: Revision) -> Self {
        Self::between(first, Revision::V2026_07_28)
    }

    /// Only one.
    pub const fn only(revision: Revision) -> Self {
        Self::between(revision, revision)
    }

    /// Whether it has this revision.
    pub fn has(self, revision: Revision) -> bool {
        (self.first..=self.last).contains(&revision)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.first, self.last) {
            (first, last) if first == last => write!(formatter, "{first}"),
            (first, last) if Self::between(first, last) == Self::ALL => formatter.write_str("every revision"),
            (first, Revision::V2026_07_28) => write!(formatter, "{first} and later"),
            (first, last) => write!(formatter, "{first} to {last}"),
        }
    }
}
