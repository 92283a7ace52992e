//! Sessions and variants whose meaning is known by construction.
//!
//! [`session`] makes small sessions, ordinary and hostile, with their meaning; [`values`] the values in them; [`scale`] one
//! session at growing sizes; [`fuzzing`] holds what must be true of any bytes at all. [`mutators`] change a session or its
//! spelling by a known [`relation`]; [`seeded`] makes whole [`variant`]s of them, and [`shrink`] makes less of one. Knows how a
//! session is spelled only through `formats`, and nothing of processes.

pub mod dialects;
pub mod format_tree;
pub mod fuzzing;
pub mod mutator;
pub mod mutators;
pub mod node;
mod open_clauses;
pub mod relation;
pub mod rng;
pub mod scale;
pub mod seeded;
pub mod session;
pub mod session_builder;
pub mod shrink;
pub mod values;
pub mod variant;
pub mod variant_builder;

/// The example for other people's importers, so that it is compiled and run as printed.
#[cfg(doctest)]
#[doc = include_str!("../../fuzz/README.md")]
struct FuzzReadme;
