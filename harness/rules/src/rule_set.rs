//! A frozen set of rules for a revision, so that "conforms to 2025-11-25" has a meaning that stays.
//!
//! How such a set is spelled, which rules of today belong into one, and what it takes to keep it.

use crate::engine::{CheckResult, RuleOutcome, RuleVerdict};
use crate::families::{READABLE, all, find};
use crate::revision::Revision;
use crate::rule::{Level, Party, Rule};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The version of these rules.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A set of rules that a session of one revision is held against.
#[derive(Debug, Clone)]
pub struct RuleSet {
    /// The version of the program whose rules they are.
    pub suite: String,
    /// The revision.
    pub revision: Revision,
    /// The rules.
    pub rules: Vec<&'static Rule>,
}

/// What became of such a set in one recording, in numbers of rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleSetResult {
    /// The version of the program whose rules they are.
    pub suite: String,
    /// The revision.
    pub revision: &'static str,
    /// Kept wherever they applied.
    pub kept: usize,
    /// Nothing called for them.
    pub uncalled: usize,
    /// The recording does not carry what would decide them.
    pub inconclusive: usize,
    /// Broken.
    pub broken: usize,
    /// All of the recording could be read.
    pub whole: bool,
}

impl RuleSetResult {
    /// No rule was broken, and all of the recording could be read.
    pub fn conforms(&self) -> bool {
        self.broken == 0 && self.whole
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleSetFile {
    suite: String,
    revision: String,
    rules: Vec<String>,
}

impl RuleSet {
    /// Reads a set.
    ///
    /// # Errors
    /// What is wrong with it, each in a sentence.
    pub fn read(text: &str) -> Result<Self, Vec<String>> {
        let file: RuleSetFile = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let at = before.matches('\n').count();
            let line = text.lines().nth(at).unwrap_or_default().trim();
            vec![format!("line {}, `{line}`: {}", at + 1, error.message())]
        })?;
        let mut wrong = Vec::new();
        let revision = Revision::named(&file.revision);
        if revision.is_none() {
            wrong.push(format!(
                "there is no revision `{}`; the revisions are {}",
                file.revision,
                Revision::names()
            ));
        }
        let (mut rules, mut seen) = (Vec::new(), BTreeSet::new());
        for id in &file.rules {
            match find(id) {
                None => wrong.push(format!("there is no rule `{id}`")),
                Some(rule) if !seen.insert(rule.id) => wrong.push(format!("{id} is listed twice")),
                Some(rule) if revision.is_some_and(|revision| !rule.span.has(revision)) => {
                    wrong.push(format!(
                        "{id} is not a rule of {}: it is a rule of {}",
                        file.revision, rule.span
                    ));
                }
                Some(rule) => rules.push(rule),
            }
        }
        if file.rules.is_empty() {
            wrong.push("it lists no rules, so every recording would conform".to_owned());
        }
        match revision {
            Some(revision) if wrong.is_empty() => Ok(Self { suite: file.suite, revision, rules }),
            _ => Err(wrong),
        }
    }

    /// The set of a revision that comes with the program, as a file.
    pub fn shipped(revision: Revision) -> &'static str {
        match revision {
            Revision::V2024_11_05 => include_str!("sets/2024-11-05.toml"),
            Revision::V2025_03_26 => include_str!("sets/2025-03-26.toml"),
            Revision::V2025_06_18 => include_str!("sets/2025-06-18.toml"),
            Revision::V2025_11_25 => include_str!("sets/2025-11-25.toml"),
            Revision::V2026_07_28 => include_str!("sets/2026-07-28.toml"),
        }
    }

    /// The rules of today that bind client and server in a revision.
    pub fn present(revision: Revision) -> Self {
        let binds = |rule: &&'static Rule| {
            rule.party != Party::Recorder
                && rule.span.has(revision)
                && rule.level_in(Some(revision)) == Level::Must
        };
        Self { suite: VERSION.to_owned(), revision, rules: all().filter(binds).collect() }
    }

    /// The set as a file.
    pub fn spell(&self) -> String {
        let Self { suite, revision, rules } = self;
        let mut out = format!(
            "# The rules of mcp-concord {suite} that bind client and server in {revision}.\n\
             # Written by `mcp-concord check --print-require {revision}`; held against a recording by\n\
             # `mcp-concord check --require {revision} RECORDING`.\n\
             suite = \"{suite}\"\nrevision = \"{revision}\"\nrules = [\n"
        );
        for rule in rules {
            let _ = writeln!(out, "    \"{}\",", rule.id);
        }
        out.push_str("]\n");
        out
    }

    /// Why a recording of this name that shows `shown` cannot be held against the set, in words; none where it can.
    pub fn why_not(&self, name: &str, shown: Option<Revision>) -> Option<String> {
        let wanted = self.revision;
        match shown {
            Some(revision) if revision == wanted => None,
            Some(other) => {
                Some(format!("{name} is a session of {other}, but the required rules are those of {wanted}"))
            }
            None => Some(format!("{name} does not show its revision")),
        }
    }

    /// What became of the set in a recording.
    pub(crate) fn compare(&self, judged: &CheckResult) -> RuleSetResult {
        let count = |wanted: &[RuleVerdict]| {
            let of_rule = |rule: &&Rule| {
                judged
                    .outcomes
                    .iter()
                    .any(|outcome| outcome.rule.id == rule.id && wanted.contains(&outcome.verdict))
            };
            self.rules.iter().copied().filter(of_rule).count()
        };
        RuleSetResult {
            suite: self.suite.clone(),
            revision: self.revision.name(),
            // What is worth knowing is not a fault.
            kept: count(&[RuleVerdict::Pass, RuleVerdict::Info]),
            uncalled: count(&[RuleVerdict::NotApplicable]),
            inconclusive: count(&[RuleVerdict::Inconclusive]),
            broken: count(&[RuleVerdict::Fail, RuleVerdict::Warn]),
            whole: judged.rejected.is_none() && !judged.outcomes.iter().any(is_unread),
        }
    }
}

/// Whether a record of the recorder's own could not be read.
fn is_unread(outcome: &RuleOutcome) -> bool {
    outcome.rule.id == READABLE.id && outcome.verdict == RuleVerdict::Fail
}

#[cfg(test)]
mod tests {
    use super::{RuleSet, VERSION};
    use crate::revision::Revision;

    /// A set stays as it was released, and a new rule needs a new version.
    #[test]
    fn the_sets_of_this_version_have_the_rules_of_today() {
        for revision in Revision::ALL {
            let shipped = RuleSet::read(RuleSet::shipped(revision)).unwrap();
            assert!(shipped.rules.iter().any(|rule| rule.id == "jsonrpc.version"));
            if shipped.suite == VERSION {
                let spelled = RuleSet::present(revision).spell();
                assert_eq!(spelled, RuleSet::shipped(revision), "run scripts/derive.sh");
            }
        }
    }

    #[test]
    fn everything_that_is_wrong_is_told() {
        let wrong = |text: &str| RuleSet::read(text).unwrap_err();
        let head = "suite = \"1\"\nrevision = \"2025-11-25\"\n";
        assert_eq!(wrong(&format!("{head}rules = [\"a.b\"]")), ["there is no rule `a.b`"]);
        let twice = format!("{head}rules = [\"jsonrpc.kind\", \"jsonrpc.kind\"]");
        assert_eq!(wrong(&twice), ["jsonrpc.kind is listed twice"]);
        assert_eq!(wrong(&format!("{head}rules = []")).len(), 1);
        assert!(wrong("suite = 1")[0].contains("suite"));
        let revision = head.replace("11-25", "11-26") + "rules = [\"jsonrpc.kind\"]";
        assert!(wrong(&revision)[0].contains("there is no revision `2025-11-26`"));
    }
}
