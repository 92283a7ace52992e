//! What the judging of one rule came to: a verdict, and the findings with their locations.

use super::location::FindingLocation;
use crate::rule::{Level, Rule};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

transcript::named! {
    /// What came of a rule.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum RuleVerdict {
        /// It was kept wherever it applied.
        Pass "pass",
        /// It was broken, and it binds.
        Fail "fail",
        /// It was broken, and it is advice.
        Warn "warn",
        /// Something worth knowing was seen.
        Info "info",
        /// The recording does not carry what would decide it.
        Inconclusive "inconclusive",
        /// Nothing in the session called for it, or its revision has no such rule.
        NotApplicable "not-applicable",
    }
}

impl RuleVerdict {
    /// The verdict of a breach that binds this much.
    pub fn new(level: Level) -> Self {
        match level {
            Level::Must => Self::Fail,
            Level::Should => Self::Warn,
            Level::Info => Self::Info,
        }
    }
}

/// A place where a rule is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Fail, warn or info.
    pub verdict: RuleVerdict,
    /// How much the rule binds here.
    pub level: Level,
    /// Who is at fault.
    pub party: &'static str,
    /// Where.
    pub location: FindingLocation,
    /// What is wrong, in a sentence without its full stop.
    pub message: String,
    /// The other message that matters, and what it is.
    pub other: Option<(FindingLocation, &'static str)>,
}

/// Gets each finding that is kept as soon as it is found, on whichever thread judges.
#[derive(Clone)]
pub struct Listener(pub(crate) Arc<Tell>);

/// Takes a rule and where it is broken.
type Tell = dyn Fn(&'static Rule, &Finding) + Send + Sync;

impl fmt::Debug for Listener {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Listener")
    }
}

/// How often a rule was broken at one level by one party.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingCount {
    /// How much it bound there.
    pub level: Level,
    /// Who was at fault.
    pub party: &'static str,
    /// How often; the findings may be fewer.
    pub times: u64,
}

/// What came of one rule.
#[derive(Debug, Clone)]
pub struct RuleOutcome {
    /// The rule.
    pub rule: &'static Rule,
    /// The verdict.
    pub verdict: RuleVerdict,
    /// How often it was kept.
    pub held: u64,
    /// How often it was broken; the findings may be fewer.
    pub broken: u64,
    /// The same by level and party.
    pub counts: Vec<FindingCount>,
    /// Where it was broken, in the order of the recording, up to a limit.
    pub findings: Vec<Finding>,
    /// Why it could not be known somewhere, and what would decide it; the first such reason.
    pub unsure: Option<String>,
}
