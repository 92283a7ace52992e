//! The rules by which recordings of MCP sessions are checked, and the engine that applies them.
//!
//! [`check`] reads a recording and judges it in a single pass:
//!
//! ```
//! use rules::{CheckOptions, RuleVerdict};
//!
//! let recording = br#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#;
//! let format = formats::find("jsonrpc").ok_or("no such format")?;
//! let mut reader = recording.as_slice();
//! let mut input = formats::Input::new(&mut reader)?;
//! let result = rules::check(format, &mut input, &CheckOptions::default())?;
//!
//! for outcome in &result.outcomes {
//!     for finding in &outcome.findings {
//!         println!("line {}: {} ({})", finding.location.line, finding.message, outcome.rule.id);
//!     }
//! }
//! let null_id = result.outcomes.iter().find(|outcome| outcome.rule.id == "jsonrpc.id.null");
//! assert!(null_id.is_some_and(|outcome| outcome.verdict == RuleVerdict::Fail));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`FAMILIES`] are the rules as data; [`record`] is what the reports of `check` show, and [`rule_set`] a list of rules that
//! a recording must keep to conform to a revision.

mod check;
mod documents;
mod engine;
mod families;
pub mod record;
mod revision;
pub mod rule;
pub mod rule_set;
pub mod selection;
mod shapes;

pub use check::{CheckOptions, check, check_beside, misfit};
pub use engine::{
    CheckResult, Family, Finding, FindingCount, FindingLocation, Listener, Parallelism, RuleOutcome,
    RuleVerdict, usual_sender,
};
pub use families::{FAMILIES, all, family_of, find};
pub use revision::{Revision, Span};
