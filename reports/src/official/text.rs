//! The run for a terminal: a row a scenario, then each check that fell short with the messages that it is about.

use super::{OfficialCheck, OfficialRun, Scenario};
use crate::plain::{cut, plain, quoted};
use crate::session::diagram::model::Severity;
use rules::RuleVerdict;
use rules::record::RuleResult;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How many messages of a check are shown.
const SHOWN: usize = 3;
/// How much of a message is shown, in characters.
const WIDTH: usize = 140;

/// The run as text.
pub fn text(run: &OfficialRun) -> String {
    let mut out = format!("{}\n\n", plain(&run.sentence()));
    let width = |column: fn(&Scenario) -> usize| run.scenarios.iter().map(column).max().unwrap_or_default();
    let widths = [width(|it| plain(&it.name).chars().count()), width(|it| it.said().len())];
    for scenario in &run.scenarios {
        let mut found = counted(&scenario.findings).into_iter();
        let mut row = |name: &str, said: &str, found: &str| {
            let row = format!("  {name:0$}  {said:1$}  {found}", widths[0], widths[1]);
            let _ = writeln!(out, "{}", row.trim_end());
        };
        row(&plain(&scenario.name), &scenario.said(), &found.next().unwrap_or_default());
        found.for_each(|found| row("", "", &found));
    }
    for (scenario, check) in run.short() {
        let _ = writeln!(
            out,
            "\n{} {} in {}: {}",
            check.status.word(),
            plain(&check.id),
            plain(&scenario.name),
            cut(check.what(), 4 * WIDTH)
        );
        lines(scenario, check).iter().for_each(|line| {
            let _ = writeln!(out, "  {line}");
        });
    }
    out
}

/// The messages of a check, what our rules say of it, and how to see it again.
pub(super) fn lines(scenario: &Scenario, check: &OfficialCheck) -> Vec<String> {
    let messages = scenario.messages(check);
    let mut out = Vec::new();
    for it in &messages[messages.len().saturating_sub(SHOWN)..] {
        let place = format!("{}:{} {}", it.file, it.line, it.pointer);
        let sender = if it.sender.is_empty() { String::new() } else { format!(" {}", it.sender) };
        out.push(format!("{}{sender}: {}", plain(&place), cut(&it.text, WIDTH)));
    }
    if messages.is_empty() {
        out.push("no message was recorded while it ran".to_owned());
    }
    out.extend(check.rules.iter().map(|answer| cut(&answer.words(), 2 * WIDTH)));
    if let Some(link) = check.link() {
        out.push(plain(link));
    }
    if let Some(command) = again(scenario, check) {
        out.push(format!("to see it: {}", plain(&command)));
    }
    out
}

/// The command that shows what was recorded.
pub(super) fn again(scenario: &Scenario, check: &OfficialCheck) -> Option<String> {
    let file = quoted(&scenario.last(check)?.file);
    let found = |verdict| matches!(verdict, RuleVerdict::Fail | RuleVerdict::Warn | RuleVerdict::Info);
    let rules: Vec<&str> = check.rules.iter().filter(|it| found(it.verdict)).map(|it| it.rule.id).collect();
    Some(match rules.is_empty() {
        true => format!("mcp-concord show {file}"),
        false => format!("mcp-concord check --select {} {file}", rules.join(",")),
    })
}

/// Findings by level, rule and party: `3 warning http.sse.priming (server)`.
fn counted(findings: &[RuleResult]) -> Vec<String> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for finding in findings {
        let level = Severity::of_verdict(finding.verdict).name();
        *counts.entry(format!("{level} {} ({})", finding.rule, finding.party)).or_default() +=
            1 + finding.more;
    }
    counts.into_iter().map(|(what, count)| format!("{count} {what}")).collect()
}
