//! How much of a record is shown, and with which colours.

use crate::record::CaseResult;
use crate::verdict::Verdict;
use anstyle::{AnsiColor, Style};

/// How it is to be shown.
pub struct Options<'o> {
    /// With colours.
    pub colour: bool,
    /// How much.
    pub volume: Verbosity,
    /// The transcript of a line, as a person finds it.
    pub file: &'o dyn Fn(&CaseResult) -> Option<String>,
    /// The command that reruns one line.
    pub rerun: &'o dyn Fn(&CaseResult) -> String,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Failures and totals.
    Quiet,
    /// And the table, and why results were skipped.
    Normal,
    /// And every result.
    Loud,
}

/// Values longer than this are cut, in characters.
pub(super) const WIDTH: usize = 200;

/// How a verdict is painted.
pub(super) fn style(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Pass => AnsiColor::Green,
        Verdict::Skip | Verdict::ExpectedFail => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    };
    let style = Style::new().fg_color(Some(colour.into()));
    if verdict.is_failure() { style.bold() } else { style }
}

/// The text, painted where colours are wanted.
pub fn paint(text: &str, style: Style, colour: bool) -> String {
    if colour { format!("{}{text}{}", style.render(), style.render_reset()) } else { text.to_owned() }
}
