//! A record of a run, rendered for people and for programs: one renderer a file.
//!
//! Everything shown here stands in a [`verdict::record::Record`]. Nothing is judged again, and the same record gives
//! the same bytes.

pub mod check;
pub mod diagram;
pub mod diagram_builder;
mod digest;
pub mod drawing;
#[cfg(test)]
mod golden;
pub mod html;
mod junit;
mod object;
pub mod otlp;
pub mod overview;
pub mod run;
pub mod session_diff;
pub mod stats;
pub mod target;
pub mod viewer;

pub use run::{badge, json, markdown};
pub use verdict::plain;
