//! The revisions of the specification, in their order, and spans of them.

use std::fmt;

/// A published revision of MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each is named by its date")]
pub enum Revision {
    V2024_11_05,
    V2025_03_26,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The date that names it on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Whether sessions of it begin with `initialize`; from 2026-07-28 on each request stands by itself.
    #[must_use]
    pub fn has_handshake(self) -> bool {
        self < Self::V2026_07_28
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

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
    #[must_use]
    pub const fn between(first: Revision, last: Revision) -> Self {
        Self { first, last }
    }

    /// From one on.
    #[must_use]
    pub const fn from(first: Revision) -> Self {
        Self::between(first, Revision::V2026_07_28)
    }

    /// One alone.
    #[must_use]
    pub const fn only(revision: Revision) -> Self {
        Self::between(revision, revision)
    }

    /// Whether it has this revision.
    #[must_use]
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
