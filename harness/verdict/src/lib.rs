//! What counts as right: expectations, answers, verdicts, and the record of a run.
//!
//! Meanings stay exact JSON text here, compared by [`transcript::diff`]. This crate has never heard of bytes,
//! capture formats or processes: anyone who asks an importer hands over what it said as an [`answer::Answer`], and knows what
//! the names of formats stand for.

pub mod answer;
pub mod baseline;
pub mod case_file;
pub mod change;
mod compare;
pub mod config_error;
pub mod consistency;
mod document;
pub mod expectation;
pub mod gist;
#[cfg(test)]
mod golden;
pub mod identified;
pub mod jobs;
mod judgement;
mod loss;
pub mod meaning;
pub mod merge;
pub mod normal;
pub mod plain;
pub mod projection;
pub mod protocol;
pub mod record;
pub mod side_by_side;
pub mod supervision;
#[cfg(test)]
mod testing;
pub mod text;
pub mod timings;
pub mod verdict;
