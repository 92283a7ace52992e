//! What came of judging recordings, as plain data: everything that the renderers of `check` show.
//!
//! Knows: which rules, levels and parties were asked for, and how what was found is counted. Refuses to know: how it
//! is shown, and where the recordings came from.

use super::found::{Count, Finding, Outcome, Verdict};
use super::frozen::{Frozen, Kept};
use super::judging::Judged;
use super::place::Place;
use crate::rule::{Level, Party, Rule};
use serde::{Serialize, Serializer};
use std::collections::{BTreeMap, BTreeSet};

/// What was asked for.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The ids of the rules.
    pub rules: BTreeSet<&'static str>,
    /// Nothing that binds less than this.
    pub level: Level,
    /// Whose faults.
    pub profile: Profile,
}

/// Whose faults are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Is the file a faithful, valid recording?
    Recorder,
    /// Did client and server conform?
    Session,
    /// Both.
    All,
}

impl Profile {
    fn has(self, party: &str) -> bool {
        match self {
            Self::Recorder => party == Party::Recorder.name(),
            Self::Session => party != Party::Recorder.name(),
            Self::All => true,
        }
    }
}

/// What came of judging recordings.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Record {
    /// The version of the program that judged.
    pub version: String,
    /// Warnings count as errors do.
    pub strict: bool,
    /// The recordings, in the order in which they were judged.
    pub files: Vec<File>,
    /// What was named and could not be judged.
    pub problems: Vec<Problem>,
}

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
pub struct File {
    /// As a person finds it.
    pub name: String,
    /// Its capture format.
    pub format: String,
    /// The revision by which it was judged; none where nothing shows it.
    pub revision: Option<&'static str>,
    /// How many messages it has.
    pub messages: u64,
    /// A limit of memory that was reached, in words.
    pub limit: Option<&'static str>,
    /// Where and why the reader gave up, if it did.
    pub gave_up: Option<GaveUp>,
    /// At least one line for each rule that was asked for, in the order of the rules.
    pub lines: Vec<Line>,
    /// What became of the frozen set that it was held against, if any.
    pub required: Option<Kept>,
}

/// Where and why a reader gave up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GaveUp {
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
pub struct Line {
    /// The rule's id.
    pub rule: &'static str,
    /// What came of it here.
    pub verdict: Verdict,
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
    /// JSON pointer into the text at that place, where the message is a text inside the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// What is wrong, or what would decide it: a sentence without its full stop.
    pub message: String,
    /// What stands there, cut to a length that can be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// The other message that matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Other>,
    /// So many more places like this were found and not kept.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: u64,
}

/// Another message that matters to a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Other {
    /// What it is, such as "the request".
    pub what: &'static str,
    /// Its line, from 1.
    pub line: u64,
    /// JSON pointer into the document or the line.
    pub pointer: String,
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
    fn add(&mut self, verdict: Verdict, times: u64) {
        match verdict {
            Verdict::Fail => self.errors += times,
            Verdict::Warn => self.warnings += times,
            Verdict::Info => self.notes += times,
            _ => {}
        }
    }
}

impl Record {
    /// Whether the judged recordings fall short: an error was found, or a warning where those count, or a required
    /// rule was not kept.
    #[must_use]
    pub fn falls_short(&self) -> bool {
        self.files.iter().any(|file| {
            let totals = file.totals();
            let counted = totals.errors + if self.strict { totals.warnings } else { 0 };
            counted > 0 || file.required.as_ref().is_some_and(|kept| !kept.conforms())
        })
    }

    /// Whether a line counts as a fault for the exit code.
    #[must_use]
    pub fn counts(&self, line: &Line) -> bool {
        line.verdict == Verdict::Fail || self.strict && line.verdict == Verdict::Warn
    }
}

impl File {
    /// What was found in a recording, as far as it was asked for.
    #[must_use]
    pub fn of(name: &str, format: &str, judged: &Judged, selection: &Selection) -> Self {
        let mut lines = Vec::new();
        for outcome in &judged.outcomes {
            if selection.rules.contains(outcome.rule.id) {
                lines.extend(lines_of(name, outcome, judged, selection));
            }
        }
        let gave_up = judged.rejected.as_ref().map(|rejection| GaveUp {
            line: rejection.position.line,
            pointer: rejection.position.pointer.clone(),
            clause: rejection.clause,
            message: rejection.message.clone(),
        });
        Self {
            name: name.to_owned(),
            format: format.to_owned(),
            revision: judged.revision.map(super::Revision::name),
            messages: judged.messages,
            limit: judged.limit,
            gave_up,
            lines,
            required: None,
        }
    }

    /// Holds it against a frozen set of rules, which should be the selection.
    pub fn require(&mut self, frozen: &Frozen, judged: &Judged) {
        self.required = Some(frozen.hold(judged));
    }

    /// How often rules were broken.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for line in &self.lines {
            totals.add(line.verdict, 1 + line.more);
        }
        totals
    }

    /// The same by party: client, server and recorder always, others where they have something.
    #[must_use]
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
    #[must_use]
    pub fn rules(&self) -> BTreeMap<Verdict, usize> {
        let mut worst: BTreeMap<&str, Verdict> = BTreeMap::new();
        for line in &self.lines {
            let verdict = worst.entry(line.rule).or_insert(line.verdict);
            // Fail, warn and info stand in this order; the others stand alone.
            *verdict = (*verdict).min(line.verdict);
        }
        let mut rules = BTreeMap::new();
        for verdict in worst.into_values() {
            *rules.entry(verdict).or_default() += 1;
        }
        rules
    }
}

impl Line {
    /// Whether it tells of a place where a rule was broken.
    #[must_use]
    pub fn is_finding(&self) -> bool {
        matches!(self.verdict, Verdict::Fail | Verdict::Warn | Verdict::Info)
    }
}

fn lines_of(name: &str, outcome: &Outcome, judged: &Judged, selection: &Selection) -> Vec<Line> {
    let asked = |level: Level, party: &str| level <= selection.level && selection.profile.has(party);
    let mut counts: Vec<Count> = outcome.counts.clone();
    counts.retain(|count| asked(count.level, count.party));
    let mut lines = Vec::new();
    for finding in outcome.findings.iter().filter(|finding| asked(finding.level, finding.party)) {
        lines.push(found(name, outcome.rule, finding));
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
    if lines.is_empty() && asked(level, outcome.rule.party.name()) {
        lines.push(told(name, outcome, level));
    }
    lines
}

fn found(name: &str, rule: &Rule, finding: &Finding) -> Line {
    let Place { line, pointer, within, snippet, .. } = &finding.place;
    Line {
        rule: rule.id,
        verdict: finding.verdict,
        level: finding.level,
        party: finding.party,
        file: name.to_owned(),
        line: Some(*line),
        pointer: Some(pointer.clone()),
        within: Some(within.clone()).filter(|within| !within.is_empty()),
        message: finding.message.clone(),
        snippet: Some(snippet.clone()),
        other: finding.other.as_ref().map(|(place, what)| Other {
            what,
            line: place.line,
            pointer: place.pointer.clone() + &place.within,
            snippet: place.snippet.clone(),
        }),
        more: 0,
    }
}

/// The line of a rule that was broken nowhere, as far as was asked.
fn told(name: &str, outcome: &Outcome, level: Level) -> Line {
    let kept = outcome.held + outcome.broken;
    let (verdict, message) = match (&outcome.unsure, kept) {
        (Some(why), _) => (Verdict::Inconclusive, why.clone()),
        (None, 0) => (Verdict::NotApplicable, "nothing in the recording called for it".to_owned()),
        (None, 1) => (Verdict::Pass, "kept once".to_owned()),
        (None, _) => (Verdict::Pass, format!("kept {kept} times")),
    };
    Line {
        rule: outcome.rule.id,
        verdict,
        level,
        party: outcome.rule.party.name(),
        file: name.to_owned(),
        line: None,
        pointer: None,
        within: None,
        message,
        snippet: None,
        other: None,
        more: 0,
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
