//! The run as Markdown for a CI's summary: the checks that fell short, each with its message and our rules.

use super::OfficialRun;
use crate::run::markdown::{MOST, text};
use std::fmt::Write as _;

/// The run as Markdown.
pub fn render(run: &OfficialRun) -> String {
    let mut out = format!("### Official suite\n\n{}.\n", text(&run.sentence()));
    let short = run.short();
    if !short.is_empty() {
        out.push_str("\n| status | scenario | check | what | message | our rules |\n| --- | --- | --- | --- | --- | --- |\n");
    }
    for (scenario, check) in short.iter().take(MOST) {
        let place = scenario.last(check).map(|it| format!("{}:{}", it.file, it.line)).unwrap_or_default();
        let rules: Vec<String> = check.rules.iter().map(super::RuleAnswer::words).collect();
        let cells = [&scenario.name, &check.id, check.what(), &place, &rules.join("; ")].map(text);
        let _ = writeln!(out, "| {} | {} |", check.status.word(), cells.join(" | "));
    }
    if short.len() > MOST {
        let _ = writeln!(out, "\nand {} more", short.len() - MOST);
    }
    out
}
