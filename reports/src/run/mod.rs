//! The record of a run, rendered for people and for programs: one renderer a file.
//!
//! Everything shown is in a [`verdict::record::Record`]. Nothing is judged again, and the same record gives the same bytes.

pub mod badge;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
use verdict::change::Sort;

/// The sorts of changes between two runs with their titles, new failures first.
const SORTS: [(Sort, &str); 4] = [
    (Sort::Regression, "New failures"),
    (Sort::Improvement, "No longer failing"),
    (Sort::Other, "Other changes"),
    (Sort::Gone, "No longer asked"),
];

#[cfg(test)]
pub(crate) mod test_record;
#[cfg(test)]
mod tests;
