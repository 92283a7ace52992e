//! Signs and what they show: counted as they come, written out as evidence at the end.
//!
//! Memory: a place for each kind of sign, and at most [`VALUES`] different values of each.

use std::borrow::Cow;
use transcript::session::Location;

/// How many different values of one sign are kept apart. A capture that has more is a curiosity.
const VALUES: usize = 8;

/// How much of a value is kept, in characters. No revision is nearly as long.
const LONGEST: usize = 40;

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The transport or the revision that it shows.
    pub shows: Cow<'static, str>,
    /// What it is, in one word that stays the same.
    pub sign: &'static str,
    /// What it is, in words for people.
    pub what: String,
    /// Whether it only makes likely what it shows.
    pub weak: bool,
    /// Where the first one stands.
    pub location: EvidenceLocation,
    /// How many more there are of the same.
    pub more: u64,
}

/// Where a sign stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceLocation {
    /// Line, from 1; none where the reader does not tell it.
    pub line: Option<u64>,
    /// The JSON pointer into the document, or into the line's value in the line formats.
    pub pointer: String,
}

impl EvidenceLocation {
    /// The place of an entry, or of a part of the exchange or envelope entry that it is.
    pub(super) fn new(location: &Location, tail: Option<&'static str>) -> Self {
        let location = Location { tail: tail.unwrap_or(location.tail), ..*location };
        Self { line: Some(location.line), pointer: location.pointer() }
    }
}

/// Signs of one kind.
#[derive(Debug, Default)]
pub(super) struct Tally {
    first: Option<EvidenceLocation>,
    count: u64,
    /// Whether the other side went along with one of them, where that can be known.
    pub(super) granted: bool,
}

impl Tally {
    /// Counts one more.
    pub(super) fn add(&mut self, location: &Location, tail: Option<&'static str>) {
        self.first.get_or_insert_with(|| EvidenceLocation::new(location, tail));
        self.count += 1;
    }

    /// Takes the last one back, which turned out to be none.
    pub(super) fn take_back(&mut self) {
        self.count = self.count.saturating_sub(1);
        self.first.take_if(|_| self.count == 0);
    }

    pub(super) fn any(&self) -> bool {
        self.count > 0
    }

    /// The piece of evidence that it comes to, if there was any such sign.
    pub(super) fn evidence(
        &self,
        shows: impl Into<Cow<'static, str>>,
        sign: &'static str,
        what: impl Into<String>,
    ) -> Option<Evidence> {
        let location = self.first.clone()?;
        let (shows, what) = (shows.into(), what.into());
        Some(Evidence { shows, sign, what, weak: false, location, more: self.count - 1 })
    }
}

impl Evidence {
    /// The same as a mere hint.
    pub(super) fn weak(self) -> Self {
        Self { weak: true, ..self }
    }
}

/// Signs that each name a revision.
#[derive(Debug, Default)]
pub(super) struct Values {
    told_apart: Vec<(String, Tally)>,
    /// How many came with yet other values.
    others: u64,
}

impl Values {
    /// Counts one more of this value; its number, unless there are too many different ones.
    pub(super) fn add(
        &mut self,
        value: &str,
        location: &Location,
        tail: Option<&'static str>,
    ) -> Option<usize> {
        let value = match value.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &value[..end]),
            None => value.to_owned(),
        };
        let known = self.told_apart.iter().position(|(known, _)| *known == value);
        let number = match known {
            Some(number) => number,
            None if self.told_apart.len() < VALUES => {
                self.told_apart.push((value, Tally::default()));
                self.told_apart.len() - 1
            }
            None => {
                self.others += 1;
                return None;
            }
        };
        self.told_apart[number].1.add(location, tail);
        Some(number)
    }

    pub(super) fn any(&self) -> bool {
        !self.told_apart.is_empty()
    }

    /// Notes that the other side went along with value `number`.
    pub(super) fn grant(&mut self, number: usize) {
        if let Some((_, tally)) = self.told_apart.get_mut(number) {
            tally.granted = true;
        }
    }

    /// Notes that nothing is known to have been refused.
    pub(super) fn grant_all(&mut self) {
        self.told_apart.iter_mut().for_each(|(_, tally)| tally.granted = true);
    }

    pub(super) fn is_granted(&self, number: usize) -> bool {
        self.told_apart.get(number).is_some_and(|(_, tally)| tally.granted)
    }

    /// The first value that the other side went along with.
    pub(super) fn granted(&self) -> Option<&str> {
        self.told_apart.iter().find(|(_, tally)| tally.granted).map(|(value, _)| &**value)
    }

    /// A piece of evidence for each value, said in one way where it was granted and in another where it was not.
    pub(super) fn evidence(&self, sign: &'static str, granted: &str, refused: &str) -> Vec<Evidence> {
        let piece = |(value, tally): &(String, Tally)| match tally.granted {
            true => tally.evidence(value.clone(), sign, granted),
            false => tally.evidence(value.clone(), sign, refused).map(Evidence::weak),
        };
        let mut pieces: Vec<_> = self.told_apart.iter().filter_map(piece).collect();
        if let (Some(last), 1..) = (pieces.last_mut(), self.others) {
            last.what.push_str(&format!("; {} more have yet other values", self.others));
        }
        pieces
    }
}
