//! How the meaning of a variant relates to the meaning of its original, and the relation of several changes in a row.
//!
//! Changes compose only where the outcome follows from the parts, so nobody ever has to guess.

use transcript::rejection::Code;

/// What a change does to the meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// The meaning is equal.
    Same,
    /// The meaning changes in a way that is computed along with the change.
    Changes,
    /// Every importer rejects, with this code where it gives one.
    Rejects(Code),
    /// The contract leaves it open whether the variant is read.
    Open(Reading),
}

/// What is known of the reading of a variant that need not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// An importer that reads it reads the known meaning.
    Known,
    /// An importer that reads it reads the same in every format.
    Free,
}

impl Relation {
    /// The relation of this change followed by another; none where it does not follow from the two.
    ///
    /// What was rejected stays rejected whatever else happens, and what is open stays open. But a text that is
    /// refused for two reasons is refused for the one that is met first, which depends on where they are; a text
    /// that is open first and refused later may be refused for either; and two changes of which nobody knows what
    /// they leave may touch each other in one format and not in another.
    pub fn then(self, next: Self) -> Option<Self> {
        use Relation::{Changes, Open, Rejects, Same};
        Some(match (self, next) {
            (Same, other) | (other, Same) => other,
            (Changes, other) | (other, Changes) => other,
            (Rejects(first), Rejects(second)) if first == second => self,
            (Rejects(_), Rejects(_) | Open(_)) | (Open(_), Rejects(_)) => return None,
            (Open(Reading::Free), Open(Reading::Free)) => return None,
            (Open(Reading::Known), Open(reading)) => Open(reading),
            (Open(Reading::Free), Open(Reading::Known)) => self,
        })
    }

    /// Whether it takes an expectation of its own: neither equal nor merely changed.
    pub fn is_verdict(self) -> bool {
        matches!(self, Self::Rejects(_) | Self::Open(_))
    }

    /// The relation in a word, for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Changes => "changes",
            Self::Rejects(_) => "rejects",
            Self::Open(_) => "open",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Reading, Relation};
    use Relation::{Changes, Open, Rejects, Same};
    use transcript::rejection::Code;

    const ALL: [Relation; 6] = [
        Same,
        Changes,
        Rejects(Code::Batch),
        Rejects(Code::InvalidId),
        Open(Reading::Known),
        Open(Reading::Free),
    ];

    #[test]
    fn every_two_are_what_the_table_says() {
        // A row is what comes first, a column what follows; a digit is a place in `ALL`, `-` no known outcome.
        let table = ["012345", "112345", "222---", "33-3--", "44--45", "55--5-"];
        for (one, row) in ALL.into_iter().zip(table) {
            let known = |digit: char| digit.to_digit(10).map(|place| ALL[place as usize]);
            assert_eq!(ALL.map(|next| one.then(next)).to_vec(), row.chars().map(known).collect::<Vec<_>>());
        }
    }

    #[test]
    fn grouping_does_not_matter() {
        let then = |a: Option<Relation>, b: Option<Relation>| a?.then(b?);
        for a in ALL {
            for b in ALL {
                for c in ALL {
                    let left = then(a.then(b), Some(c));
                    assert_eq!(left, then(Some(a), b.then(c)), "{a:?} {b:?} {c:?}");
                }
            }
        }
    }
}
