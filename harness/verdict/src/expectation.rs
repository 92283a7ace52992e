//! What a case expects of every transcript in it.

use crate::meaning::Meaning;
use transcript::rejection::Code;

/// What must come of reading a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// This meaning, in the normal form, checked by [`crate::normal::check`].
    Meaning(Meaning),
    /// A rejection of this kind.
    Rejection(Code),
    /// The contract leaves it open whether the transcript is read. A reading must be this meaning where one is
    /// given, and in any case the same in every format.
    Either(Option<Meaning>),
}

impl Expectation {
    /// The meaning that a reading must have, where the case gives one.
    pub fn meaning(&self) -> Option<&Meaning> {
        match self {
            Self::Meaning(meaning) | Self::Either(Some(meaning)) => Some(meaning),
            _ => None,
        }
    }
}
