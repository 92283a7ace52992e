//! The conformance suite of mcp-concord as tests of a Rust importer.
//!
//! An importer reads recordings of MCP sessions. This crate asks it about every case of the suite, in every capture format
//! that it reads, as a test of `cargo test`. Implement [`Importer`], and run the suite from a test target with
//! `harness = false`:
//!
//! ```no_run
//! use mcp_concord_suite::answer::{Answer, Call, Level, Outcome, Value};
//! use mcp_concord_suite::{Harness, Importer};
//! use std::process::ExitCode;
//!
//! struct Mine;
//!
//! impl Importer for Mine {
//!     fn name(&self) -> &str { "mine" }
//!     fn version(&self) -> &str { "1.0.0" }
//!     fn level(&self) -> Level { Level::Calls }
//!     fn reads(&self, format: &str) -> bool { format == "jsonrpc" }
//!     fn read(&self, _format: &str, transcript: &[u8]) -> Answer {
//!         if transcript.is_empty() {
//!             return Answer::Rejection { code: None, message: "the file is empty".to_owned() };
//!         }
//!         // What your importer makes of the bytes, as it is:
//!         let outcome = Some(Outcome::Result(Value::parse(r#"{"sum": 3}"#).unwrap()));
//!         Answer::from(vec![Call { tool: Some(Value::parse(r#""add""#).unwrap()), arguments: None, outcome }])
//!     }
//! }
//!
//! fn main() -> ExitCode {
//!     Harness::new(Mine).known("values/huge-exponents/jsonrpc", "Numbers are read as f64, issue 12.").run()
//! }
//! ```
//!
//! [`run`] asks an importer without a command line and gives the record of it, which is how to judge one from your own code.

pub mod builtin;
pub mod importer;
mod place;
pub mod run;
mod suite;
#[cfg(test)]
mod testing;
#[cfg(feature = "trials")]
mod trials;

pub use importer::Importer;
pub use suite::{Blob, Case, GeneratedCase, Pairing, Problem, Root, Suite, Transcript, Uncarried, paired};
#[cfg(feature = "trials")]
pub use trials::{Harness, harness};

/// What an importer answers: typed calls and events of exact values, a rejection, or why there is none.
pub mod answer {
    pub use verdict::answer::*;
    pub use verdict::meaning::*;
}
