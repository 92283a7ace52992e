//! The rules by which recordings of MCP sessions are checked, and the engine that applies them.

mod check;
mod engine;
mod families;
mod family;
pub mod record;
mod revision;
pub mod rule;
pub mod rule_set;
pub mod selection;

pub use check::{CheckOptions, check};
pub use engine::{
    CheckResult, Finding, FindingCount, FindingLocation, Parallelism, RuleOutcome, RuleVerdict, usual_sender,
};
pub use families::{FAMILIES, all, family_of, find};
pub use family::Family;
pub use revision::{Revision, Span};
