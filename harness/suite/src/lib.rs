#![doc = include_str!("../README.md")]

pub mod builtin;
pub mod importer;
mod reading;
pub mod run;
mod suite;
#[cfg(test)]
mod testing;
#[cfg(feature = "trials")]
mod trials;

pub use answer::{Answer, Call, Calls, Event, FailureKind, Identification, Level, Meaning, Outcome, Value};
pub use importer::Importer;
pub use reading::{Format, Reading, Rejection, reading};
pub use suite::{
    Blob, Case, GeneratedCase, Pairing, Problem, Root, Suite, Transcript, Uncarried, foreign_clauses, paired,
};
#[cfg(feature = "trials")]
pub use trials::{Harness, harness};

/// What an importer answers: typed calls and events of exact values, a rejection, or why there is none.
pub mod answer {
    pub use verdict::answer::*;
    pub use verdict::meaning::*;
}
