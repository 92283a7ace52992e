//! What a recording is at a glance: who talked to whom, what was called, what failed, what `check` finds.
//!
//! One pass: that of the judge, who shows each entry to a [`Collector`]. `overview.schema.json` beside this folder says what the JSON holds.

mod bounded;
mod collect;
mod fates;
mod model;
#[cfg(test)]
mod tests;
pub mod text;

pub(crate) use bounded::{Durations, MOST, OTHERS, shown};
pub use collect::Collector;
pub use fates::Fates;
use formats::Format;
use model::{Findings, Worst};
pub(crate) use model::{Numbers, Peer, Requests};
pub use model::{Overview, Unread};
use rules::record::Totals;
use rules::{CheckResult, Finding, RuleOutcome, RuleVerdict};
use std::cmp::Ordering;

/// How many broken rules are named.
const WORST: usize = 3;

impl Overview {
    /// A recording that a collector has seen while it was judged. What is wrong in it is part of the overview.
    pub fn new(file: &str, format: &'static Format, seen: Collector, judged: &CheckResult) -> Self {
        let mut overview = seen.overview(file, format);
        let stopped = judged.rejected.as_ref().map(Unread::new);
        overview.rejected = overview.rejected.or(stopped);
        overview.findings = findings(judged);
        overview.limit = judged.limit;
        overview.next = next(file, &overview.findings, overview.rejected.as_ref());
        overview
    }
}

/// In which order overviews stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Those that cannot be read or judged first, then by errors, warnings, failures and unanswered requests.
    Worst,
    /// By name.
    Name,
    /// The oldest first; those without a date last.
    Time,
    /// The longest first.
    Messages,
}

impl Order {
    /// Sorts by it, and where that is the same, by name.
    pub fn sort(self, overviews: &mut [Overview]) {
        overviews.sort_by(|one, other| {
            let by = match self {
                Self::Worst => other.badness().cmp(&one.badness()),
                Self::Name => Ordering::Equal,
                Self::Time => (one.began.is_none(), &one.began).cmp(&(other.began.is_none(), &other.began)),
                Self::Messages => other.counts.messages.cmp(&one.counts.messages),
            };
            by.then_with(|| one.file.cmp(&other.file))
        });
    }
}

impl Overview {
    /// Whether `read` rejects it, nothing in it can be judged, or `check` finds errors.
    pub fn is_failing(&self) -> bool {
        self.rejected.is_some() || self.counts.messages == 0 || self.findings.totals.errors > 0
    }

    fn badness(&self) -> impl Ord + use<> {
        let failed: u64 = self.methods.iter().map(|method| method.numbers.failed).sum();
        let Totals { errors, warnings, .. } = self.findings.totals;
        (self.rejected.is_some(), self.counts.messages == 0, errors, warnings, failed, self.unanswered.total)
    }
}

/// Overviews as JSON: an array with an item for each recording, and a newline.
///
/// # Errors
/// Where memory ends.
pub fn json(overviews: &[Overview]) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(overviews)? + "\n")
}

fn findings(judged: &CheckResult) -> Findings {
    let mut found = Findings::default();
    let mut broken: Vec<(&RuleOutcome, &Finding)> = Vec::new();
    for outcome in &judged.outcomes {
        for count in &outcome.counts {
            found.totals.add(RuleVerdict::new(count.level), count.times);
        }
        let first = outcome.findings.iter().min_by_key(|finding| (finding.verdict, finding.location.line));
        broken.extend(first.map(|first| (outcome, first)));
    }
    broken.sort_by_key(|(_, first)| (first.verdict, first.location.line));
    let worst = |(outcome, first): &(&RuleOutcome, &Finding)| Worst {
        rule: outcome.rule.id,
        verdict: first.verdict.name(),
        party: first.party,
        times: outcome.broken,
        line: first.location.line,
        message: first.message.clone(),
    };
    found.worst = broken.iter().take(WORST).map(worst).collect();
    found
}

/// What one would type next. The standard input cannot be read again.
fn next(file: &str, findings: &Findings, rejected: Option<&Unread>) -> Vec<String> {
    let asked =
        [("show", true), ("check", !findings.worst.is_empty()), ("read", rejected.is_some())].into_iter();
    let asked = asked.filter(|(_, useful)| *useful && file != "<stdin>");
    let explain = findings.worst.first().map(|worst| format!("mcp-concord explain {}", worst.rule));
    asked.map(|(verb, _)| format!("mcp-concord {verb} {}", quoted(file))).chain(explain).collect()
}

/// A file's name as a POSIX shell takes it.
fn quoted(name: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_./+=:@%,".contains(char);
    match name {
        name if !name.is_empty() && name.chars().all(plain) => name.to_owned(),
        name => format!("'{}'", name.replace('\'', r"'\''")),
    }
}
