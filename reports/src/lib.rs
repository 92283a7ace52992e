//! What came of recordings and of runs, rendered for people and for programs.
//!
//! Views draw what they are given: what came of judging recordings ([`check`]), one session or many ([`session`]), the
//! record of a run ([`run`]), and a run of the official suite ([`official`]). None of them judges, opens a file or keeps anything, and what is the same gives the same bytes.

pub mod check;
mod encoding;
#[cfg(test)]
mod golden;
mod junit;
mod object;
pub mod official;
pub mod run;
pub mod session;

pub use run::{badge, html, json, markdown};
pub use session::{diagram, diagram_builder, diff, drawing, otlp, overview, stats, target, viewer};
pub use verdict::plain;
