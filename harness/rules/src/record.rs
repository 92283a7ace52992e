//! What came of judging recordings, as plain data: everything that the renderers of `check` show.
//!
//! How what was found is counted.

use crate::engine::CheckResult;
use crate::engine::FindingLocation;
use crate::engine::{Finding, FindingCount, Listener, RuleOutcome, RuleVerdict};
use crate::revision::Revision;
use crate::rule::{Level, Party, Rule};
use crate::rule_set::{RuleSet, RuleSetResult};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

pub use crate::selection::{Profile, RuleSelection};

/// What was named and could not be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its name.
    pub file: String,
    /// Why, in a sentence.
    pub message: String,
}

/// What came of one recording.
#[derive(Debug, Clone, Serialize)]
pub struct CheckedFile {
    /// As a person finds it.
    pub name: String,
    /// The SHA-256 of its bytes, as `sha256:` and 64 hexadecimal digits, where somebody computed it.
    pub digest: Option<String>,
    /// Its capture format.
    pub format: String,
    /// The revision by which it was judged; none where nothing shows it.
    pub revision: Option<&'static str>,
    /// How many messages it has.
    pub messages: u64,
    /// A limit of memory that was reached, in words.
    pub limit: Option<&'static str>,
    /// Where and why the reader gave up, if it did.
    pub gave_up: Option<ReadFailure>,
    /// At least one line for each rule that was asked for, in the order of the rules.
    pub lines: Vec<RuleResult>,
    /// What became of the frozen set that it was held against, if any.
    pub required: Option<RuleSetResult>,
}

/// Where and why a reader gave up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReadFailure {
    /// The line, from 1.
    pub line: u64,
    /// JSON pointer into the document or the line.
    pub pointer: String,
    /// The clause of the reading contract.
    pub clause: &'static str,
    /// What is wrong there.
    pub message: String,
}

/// A rule and what came of it, at one place where it was broken. This is what `--output json` prints; the schema is
/// `check.schema.json` in the folder of the reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleResult {
    /// The rule's id.
    pub rule: &'static str,
    /// What came of it here.
    pub verdict: RuleVerdict,
    /// How much it binds here.
    pub level: Level,
    /// Who is at fault, or would be.
    pub party: &'static str,
    /// The recording.
    pub file: String,
    /// The line, from 1; none where the verdict has no place.
    pub line: Option<u64>,
    /// JSON pointer into the document or the line; none where the verdict has no place.
    pub pointer: Option<String>,
    /// Where the entry begins, in bytes; none where the verdict has no place.
    #[serde(skip)]
    pub offset: Option<u64>,
    /// JSON pointer into the text at that place, where the message is a text inside the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// What is wrong, or what would decide it: a sentence without its full stop.
    pub message: String,
    /// The page of the document that was broken, in the recording's revision; none where nothing was, or it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// What stands there, cut to a length that can be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// The other message that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<RelatedLocation>,
    /// The command that shows it again, where that is another than `check` of the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerun: Option<String>,
    /// This many more places like this were found and not kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: u64,
}

/// Another message that matters to a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RelatedLocation {
    /// What it is, such as "the request".
    pub what: &'static str,
    /// Its line, from 1.
    pub line: u64,
    /// JSON pointer into the document or the line.
    pub pointer: String,
    /// Where its entry begins, in bytes.
    #[serde(skip)]
    pub offset: u64,
    /// What stands there.
    pub snippet: String,
}

/// How often rules were broken, by how much they bind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// What binds.
    pub errors: u64,
    /// What is advice.
    pub warnings: u64,
    /// What is worth knowing.
    pub notes: u64,
}

impl Totals {
    /// Whether something was found that counts as a fault for the exit code: an error, or a warning where those count
    /// (`strict`).
    pub fn is_failure(self, strict: bool) -> bool {
        self.errors > 0 || strict && self.warnings > 0
    }

    /// Counts a rule that came to this verdict so often, where that is a finding.
    pub fn add(&mut self, verdict: RuleVerdict, times: u64) {
        match verdict {
            RuleVerdict::Fail => self.errors += times,
            RuleVerdict::Warn => self.warnings += times,
            RuleVerdict::Info => self.notes += times,
            _ => {}
        }
    }
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, more: Self) {
        self.errors += more.errors;
        self.warnings += more.warnings;
        self.notes += more.notes;
    }
}

impl CheckedFile {
    /// What was found in a recording, as far as it was asked for.
    pub fn new(name: &str, format: &str, judged: &CheckResult, selection: &RuleSelection) -> Self {
        let mut lines = Vec::new();
        for outcome in &judged.outcomes {
            if selection.has(outcome) {
                lines.extend(lines_of(name, outcome, judged, selection));
            }
        }
        let gave_up = judged.rejected.as_ref().map(|rejection| ReadFailure {
            line: rejection.position.line,
            pointer: rejection.position.pointer.clone(),
            clause: rejection.clause,
            message: rejection.message.clone(),
        });
        Self {
            name: name.to_owned(),
            digest: None,
            format: format.to_owned(),
            revision: judged.revision.map(crate::revision::Revision::name),
            messages: judged.messages,
            limit: judged.limit,
            gave_up,
            lines,
            required: None,
        }
    }

    /// Holds it against a frozen set of rules, which should be the selection.
    pub fn require(&mut self, rule_set: &RuleSet, judged: &CheckResult) {
        self.required = Some(rule_set.compare(judged));
    }

    /// Whether the recording falls short: an error was found, or a warning where those count (`strict`), or a required
    /// rule was not kept.
    pub fn is_failure(&self, strict: bool) -> bool {
        self.totals().is_failure(strict) || self.required.as_ref().is_some_and(|kept| !kept.conforms())
    }

    /// How often rules were broken.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for line in &self.lines {
            totals.add(line.verdict, 1 + line.more);
        }
        totals
    }

    /// The same by party: client, server and recorder always, others where they have something.
    pub fn by_party(&self) -> BTreeMap<&'static str, Totals> {
        let parties = [Party::Client, Party::Server, Party::Recorder];
        let mut totals: BTreeMap<&'static str, Totals> =
            parties.into_iter().map(|party| (party.name(), Totals::default())).collect();
        for line in self.lines.iter().filter(|line| line.is_finding()) {
            totals.entry(line.party).or_default().add(line.verdict, 1 + line.more);
        }
        totals
    }

    /// How many rules came to each verdict: the worst of each rule's lines.
    pub fn rules(&self) -> BTreeMap<RuleVerdict, usize> {
        let mut worst: BTreeMap<&str, RuleVerdict> = BTreeMap::new();
        for line in &self.lines {
            let verdict = worst.entry(line.rule).or_insert(line.verdict);
            // Fail, warn and info stand in this order; the others stand by themselves.
            *verdict = (*verdict).min(line.verdict);
        }
        let mut rules = BTreeMap::new();
        for verdict in worst.into_values() {
            *rules.entry(verdict).or_default() += 1;
        }
        rules
    }
}

impl RuleResult {
    /// Whether it counts as a fault for the exit code; a warning does where warnings count (`strict`).
    pub fn counts(&self, strict: bool) -> bool {
        self.verdict == RuleVerdict::Fail || strict && self.verdict == RuleVerdict::Warn
    }

    /// Whether it tells of a place where a rule was broken.
    pub fn is_finding(&self) -> bool {
        matches!(self.verdict, RuleVerdict::Fail | RuleVerdict::Warn | RuleVerdict::Info)
    }
}

/// Who tells of each finding in a recording that is reported as soon as it is found. Its page is not known yet, as the revision may not be.
pub fn listener(
    name: &str,
    selection: &RuleSelection,
    tell: Arc<dyn Fn(&RuleResult) + Send + Sync>,
) -> Listener {
    let (name, selection) = (name.to_owned(), selection.clone());
    Listener(Arc::new(move |rule, finding| {
        if selection.shows(rule, finding) {
            tell(&finding_result(&name, rule, finding, None));
        }
    }))
}

fn lines_of(
    name: &str,
    outcome: &RuleOutcome,
    judged: &CheckResult,
    selection: &RuleSelection,
) -> Vec<RuleResult> {
    let request = |level: Level, party: &str| selection.reports(outcome, level, party);
    let mut counts: Vec<FindingCount> = outcome.counts.clone();
    counts.retain(|count| request(count.level, count.party));
    let mut lines = Vec::new();
    for finding in outcome.findings.iter().filter(|finding| request(finding.level, finding.party)) {
        lines.push(finding_result(name, outcome.rule, finding, judged.revision));
        if let Some(count) =
            counts.iter_mut().find(|count| (count.level, count.party) == (finding.level, finding.party))
        {
            count.times = count.times.saturating_sub(1);
        }
    }
    for count in counts {
        if let Some(last) =
            lines.iter_mut().rev().find(|line| (line.level, line.party) == (count.level, count.party))
        {
            last.more = count.times;
        }
    }
    let level = outcome.rule.level_in(judged.revision);
    if lines.is_empty() && selection.counts(outcome, level) {
        lines.push(other_result(name, outcome, level));
    }
    lines
}

fn finding_result(name: &str, rule: &Rule, finding: &Finding, revision: Option<Revision>) -> RuleResult {
    let FindingLocation { offset, line, pointer, within, snippet } = &finding.location;
    RuleResult {
        rule: rule.id,
        verdict: finding.verdict,
        level: finding.level,
        party: finding.party,
        file: name.to_owned(),
        line: Some(*line),
        pointer: Some(pointer.clone()),
        offset: Some(*offset),
        within: Some(within.clone()).filter(|within| !within.is_empty()),
        message: finding.message.clone(),
        link: rule.link(revision),
        snippet: Some(snippet.clone()),
        other: finding.other.as_ref().map(|(location, what)| RelatedLocation {
            what,
            line: location.line,
            pointer: location.pointer.clone() + &location.within,
            offset: location.offset,
            snippet: location.snippet.clone(),
        }),
        rerun: None,
        more: 0,
    }
}

/// The line of a rule that was broken nowhere, as far as was asked.
fn other_result(name: &str, outcome: &RuleOutcome, level: Level) -> RuleResult {
    let kept = outcome.held + outcome.broken;
    let (verdict, message) = match (&outcome.unsure, kept) {
        (Some(why), _) => (RuleVerdict::Inconclusive, why.clone()),
        (None, 0) => (RuleVerdict::NotApplicable, "nothing in the recording called for it".to_owned()),
        (None, 1) => (RuleVerdict::Pass, "kept once".to_owned()),
        (None, _) => (RuleVerdict::Pass, format!("kept {kept} times")),
    };
    RuleResult {
        rule: outcome.rule.id,
        verdict,
        level,
        party: outcome.rule.party.name(),
        file: name.to_owned(),
        line: None,
        pointer: None,
        offset: None,
        within: None,
        message,
        link: None,
        snippet: None,
        other: None,
        rerun: None,
        more: 0,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
