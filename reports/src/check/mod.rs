//! What came of judging recordings, rendered for people and for programs: one renderer a file.
//!
//! Everything shown here stands in a [`rules::record::CheckRecord`], and in the rules that it cites. Nothing is
//! judged again, and the same record gives the same bytes.

pub mod github;
pub mod json;
pub mod junit;
#[cfg(test)]
mod sample;
pub mod sarif;
pub mod text;

use rules::record::RuleResult;
use rules::rule::Rule;

/// The command that tells more about a rule.
fn explain(rule: &str) -> String {
    format!("mcp-concord explain {rule}")
}

/// The rule that a line is about.
fn rule_of(line: &RuleResult) -> Option<&'static Rule> {
    rules::find(line.rule)
}

/// The JSON pointer of a place, and that into the text which stands there.
fn pointer(line: &RuleResult) -> String {
    let pointer = line.pointer.as_deref().unwrap_or_default();
    match &line.within {
        Some(within) => format!("{pointer} (in the text: {within})").trim_start().to_owned(),
        None => pointer.to_owned(),
    }
}

/// What is wrong, with the other message that matters, on one line.
fn sentence(line: &RuleResult) -> String {
    let mut out = line.message.clone();
    if let Some(other) = &line.other {
        out.push_str(&format!("; {} is on line {}", other.what, other.line));
    }
    if line.more > 0 {
        out.push_str(&format!("; and {} more like this", line.more));
    }
    out
}
