//! The record of a run, rendered for people and for programs: one renderer a file.
//!
//! Everything shown is in a [`verdict::record::Record`]. Nothing is judged again, and the same record gives the same bytes.

pub mod badge;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
#[cfg(test)]
pub(crate) mod test_record;
#[cfg(test)]
mod tests;
