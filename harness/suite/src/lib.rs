//! The conformance suite as a library: an importer of recordings, asked about every case as a test of `cargo test`.

pub mod builtin;
pub mod importer;
mod place;
pub mod run;
mod suite;
mod trials;

pub use suite::{Blob, Case, GeneratedCase, Problem, Root, Suite, Transcript, Uncarried};
pub use trials::{Harness, harness};
pub use verdict::answer;
