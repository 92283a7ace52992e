//! What came of judging recordings, rendered for people and for programs: one renderer a file.
//!
//! Everything shown here is in a [`rules::record::CheckedFile`], and in the rules that it cites. Nothing is
//! judged again, and the same files in the same order give the same bytes. Each recording is written when it is judged, and
//! forgotten; what a renderer holds until the end is in its head comment.

pub mod github;
pub mod json;
pub mod junit;
pub mod ndjson;
#[cfg(test)]
pub(crate) mod sample;
pub mod sarif;
#[cfg(test)]
mod tests;
pub mod text;

use rules::record::{CheckedFile, Problem, RuleResult};
use rules::rule::Rule;
use std::io::{self, Write};

/// An output of `check`, written while recordings are judged.
pub trait Renderer {
    /// A recording was judged.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn file(&mut self, file: &CheckedFile, out: &mut dyn Write) -> io::Result<()>;

    /// Something was named and cannot be judged. By default nothing is written.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn problem(&mut self, _problem: &Problem, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// There is no more. By default nothing is written.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// The command that explains a rule.
fn explain(rule: &str) -> String {
    format!("mcp-concord explain {rule}")
}

/// What is said of a recording of which nobody knows whether it conforms, before what to.
const UNREAD: &str = "could not be read as a whole, so it is unknown whether it conforms to";

/// Why it is unknown whether a recording conforms to a frozen set, where no line of a rule says that.
fn unread(file: &CheckedFile) -> Option<String> {
    let required = file.required.as_ref().filter(|required| !required.whole)?;
    let at = file.gave_up.as_ref().map_or_else(String::new, |gave_up| {
        format!("; reading stopped at line {}: {} ({})", gave_up.line, gave_up.message, gave_up.clause)
    });
    Some(format!("{UNREAD} {}{at}", required.revision))
}

/// The rule that a line is about.
fn rule_of(line: &RuleResult) -> Option<&'static Rule> {
    rules::find(line.rule)
}

/// The JSON pointer of a place, and that into its text.
fn pointer(line: &RuleResult) -> String {
    let pointer = line.pointer.as_deref().unwrap_or_default();
    match &line.within {
        Some(within) => format!("{pointer} (in the text: {within})").trim_start().to_owned(),
        None => pointer.to_owned(),
    }
}

/// What is wrong, with the other message that matters, and what is said behind that, on one line. A command is the last, to be run as
/// it stands.
fn sentence(line: &RuleResult, behind: &str) -> String {
    let mut out = line.message.clone();
    if let Some(other) = &line.other {
        out.push_str(&format!("; {} is on line {}", other.what, other.line));
    }
    if line.more > 0 {
        out.push_str(&format!("; and {} more like this", line.more));
    }
    out.push_str(behind);
    if let Some(rerun) = &line.rerun {
        let (end, to) = if behind.ends_with('.') { (" ", "To") } else { ("; ", "to") };
        out.push_str(&format!("{end}{to} run it again: {rerun}"));
    }
    out
}
