//! Results of the official conformance suite beside what was recorded while it ran: for people and for programs.
//!
//! What belongs together is decided by the caller; here it is drawn.

pub mod junit;
pub mod markdown;
pub mod page;
pub mod sarif;
pub mod text;

use crate::plain::counted;
use rules::RuleVerdict;
use rules::record::RuleResult;
use rules::rule::Rule;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;

/// A run of the suite.
#[derive(Debug, Default)]
pub struct OfficialRun {
    /// By the time when they began.
    pub scenarios: Vec<Scenario>,
}

/// A scenario of the suite, with what was recorded in its time.
#[derive(Debug, Default)]
pub struct Scenario {
    /// Its name, without the side and the time that its folder has.
    pub name: String,
    /// The file of its checks.
    pub file: String,
    /// When it began, in milliseconds since the Unix epoch, where its folder says so.
    pub began: Option<i64>,
    /// In the order of the file.
    pub checks: Vec<OfficialCheck>,
    /// By time.
    pub messages: Vec<RecordedMessage>,
    /// How many messages more there are.
    pub more: u64,
    /// What `check` found in them.
    pub findings: Vec<RuleResult>,
}

/// One check of the suite, and what it is about.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OfficialCheck {
    /// Its id, such as `server-sse-priming-event`.
    pub id: String,
    /// What it checks, in the suite's words.
    #[serde(default)]
    pub description: String,
    /// What came of it.
    pub status: OfficialStatus,
    /// When it was made, as ISO 8601.
    #[serde(default)]
    pub timestamp: Option<String>,
    /// Why it fell short.
    #[serde(default)]
    pub error_message: Option<String>,
    /// What it follows.
    #[serde(default)]
    pub spec_references: Vec<SpecReference>,
    /// Which of the scenario's messages came between the check before it and itself.
    #[serde(skip)]
    pub messages: Range<usize>,
    /// What the rules that ask the same say.
    #[serde(skip)]
    pub rules: Vec<RuleAnswer>,
}

/// A document that a check follows.
#[derive(Debug, Deserialize)]
pub struct SpecReference {
    /// Where it is.
    #[serde(default)]
    pub url: String,
}

/// What came of a check of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum OfficialStatus {
    /// It failed.
    Failure,
    /// The suite warns of it.
    Warning,
    /// It passed.
    Success,
    /// It was not made.
    Skipped,
    /// It says something, and is not a check.
    Info,
}

impl OfficialStatus {
    /// Those that are counted, with the words for them.
    const COUNTED: [(Self, &str); 4] = [
        (Self::Failure, "failed"),
        (Self::Warning, "warned"),
        (Self::Success, "passed"),
        (Self::Skipped, "skipped"),
    ];

    fn word(self) -> &'static str {
        Self::COUNTED.iter().find(|(status, _)| *status == self).map_or("said", |(_, word)| word)
    }
}

/// A recorded message, or an HTTP exchange that a check may be about.
#[derive(Debug)]
pub struct RecordedMessage {
    /// The recording.
    pub file: String,
    /// Its line, from 1.
    pub line: u64,
    /// JSON pointer into the document or the line.
    pub pointer: String,
    /// When it passed, in milliseconds.
    pub time: i64,
    /// Who sent it, where the recording says so.
    pub sender: &'static str,
    /// The message, or the line of the exchange, cut to a length that can be shown.
    pub text: String,
}

/// What one of our rules says of the messages of a check that asks the same.
#[derive(Debug)]
pub struct RuleAnswer {
    /// The rule.
    pub rule: &'static Rule,
    /// What came of it.
    pub verdict: RuleVerdict,
    /// What is wrong, or what would settle it.
    pub message: String,
    /// It is about other messages of the scenario.
    pub elsewhere: bool,
}

impl OfficialCheck {
    /// When it was made, in milliseconds since the Unix epoch.
    pub fn time(&self) -> Option<i64> {
        formats::time::parse(self.timestamp.as_deref()?)
    }

    /// Whether it fell short.
    pub fn is_short(&self) -> bool {
        matches!(self.status, OfficialStatus::Failure | OfficialStatus::Warning)
    }

    /// Why it fell short, in the suite's words.
    fn what(&self) -> &str {
        self.error_message.as_deref().filter(|message| !message.is_empty()).unwrap_or(&self.description)
    }

    /// The first page that it follows.
    fn link(&self) -> Option<&str> {
        self.spec_references.iter().map(|it| &*it.url).find(|url| url.starts_with("https://"))
    }
}

impl RuleAnswer {
    fn words(&self) -> String {
        let Self { rule, message, .. } = self;
        match self.verdict {
            RuleVerdict::Pass => format!("{} was kept", rule.id),
            RuleVerdict::NotApplicable => format!("{} found nothing that it applies to", rule.id),
            RuleVerdict::Inconclusive => format!("{} is inconclusive: {message}", rule.id),
            _ if self.elsewhere => format!("{}, elsewhere in the scenario: {message}", rule.id),
            _ => format!("{}: {message}", rule.id),
        }
    }
}

impl Scenario {
    /// The checks that fell short.
    fn short(&self) -> impl Iterator<Item = &OfficialCheck> {
        self.checks.iter().filter(|check| check.is_short())
    }

    /// The messages of a check; all where none came between the one before it and itself.
    fn messages(&self, check: &OfficialCheck) -> &[RecordedMessage] {
        match self.messages.get(check.messages.clone()) {
            Some(own) if !own.is_empty() => own,
            _ => &self.messages,
        }
    }

    /// The last message of a check: what it looked at before it spoke.
    fn last(&self, check: &OfficialCheck) -> Option<&RecordedMessage> {
        self.messages(check).last()
    }

    fn said(&self) -> String {
        said(&[self])
    }
}

/// How many checks came to what: `21 failed, 2 warned of, 13 passed`.
fn said(scenarios: &[&Scenario]) -> String {
    let count = |status| {
        let checks = scenarios.iter().flat_map(|scenario| &scenario.checks);
        checks.filter(|check| check.status == status).count()
    };
    let counts = OfficialStatus::COUNTED.map(|(status, word)| (count(status), word));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

impl OfficialRun {
    /// The run on one line.
    pub fn sentence(&self) -> String {
        let all: Vec<&Scenario> = self.scenarios.iter().collect();
        let findings: u64 = self.findings().map(|finding| 1 + finding.more).sum();
        let rules: BTreeSet<&str> = self.findings().map(|finding| finding.rule).collect();
        format!(
            "{} of the official suite: {}; `check` on the same messages: {} of {}",
            counted(all.len(), "scenario"),
            said(&all),
            counted(findings, "finding"),
            counted(rules.len(), "rule"),
        )
    }

    fn findings(&self) -> impl Iterator<Item = &RuleResult> {
        self.scenarios.iter().flat_map(|scenario| &scenario.findings)
    }

    /// The checks that fell short, those that failed first, each with its scenario.
    fn short(&self) -> Vec<(&Scenario, &OfficialCheck)> {
        let all = self.scenarios.iter();
        let mut short: Vec<_> =
            all.flat_map(|scenario| scenario.short().map(move |check| (scenario, check))).collect();
        short.sort_by_key(|(_, check)| check.status);
        short
    }
}
