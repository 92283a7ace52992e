//! Mutation testing for a suite of transcripts: importers with one mistake each, and the score of a suite that must
//! tell every one of them from the original reader.
//!
//! A [`Mutant`] deviates from the built-in reader in one place: in the text of a transcript, in what was read, in a
//! decision of the reading contract, in the meaning or in the answer. [`catalogue`] holds those that a suite is judged
//! by; [`score`] tries them on its cases and gives the kill matrix. A mutant that no case kills shows a case that is
//! missing; a case that kills no mutant shows a case that is idle, or a mutant that is missing.
//!
//! A mutant is a row: its name, the clauses that it breaks, what it does, and the mistake.
//!
//! ```
//! use mutants::{Mutant, json, on_reading};
//!
//! let mutant = Mutant::new(
//!     "values/no-tools",
//!     &["EQ-TOOL"],
//!     "shows every tool as null",
//!     on_reading::on_values(&["tool"], json::put_if(json::is_string, "null")),
//! );
//! assert_eq!(mutant.name, "values/no-tools");
//! ```

pub mod catalogue;
pub mod json;
mod mutant;
pub mod on_reading;
pub mod on_text;
pub mod outcome;
pub mod policy;
pub mod reading;
pub mod score;

pub use mutant::{Change, Mutant, Mutation, Original};
