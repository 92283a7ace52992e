//! What a case expects of every transcript in it.
//!
//! Knows: the three sorts of expectation. Refuses to know: where they are written down.

use transcript::rejection::Code;

/// What must come of reading a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expectation {
    /// This meaning: JSON text in the normal form, checked by [`crate::normal::check`].
    Meaning(String),
    /// A rejection of this kind.
    Rejection(Code),
    /// The contract leaves it open whether the transcript is read. A reading must be this meaning where one is
    /// given, and in any case the same in every format.
    Either(Option<String>),
}

impl Expectation {
    /// The meaning that a reading must have, where the case gives one.
    #[must_use]
    pub fn meaning(&self) -> Option<&str> {
        match self {
            Self::Meaning(text) | Self::Either(Some(text)) => Some(text),
            _ => None,
        }
    }
}
