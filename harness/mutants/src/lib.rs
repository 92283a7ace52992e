//! Readers with one seeded fault each, and the score of a suite that has to find every one of them.

pub mod catalogue;
pub mod score;
