//! What was expected and what came instead, in words.
//!
//! Which sides a difference is shown by, and which message stands for a side, so that it is not reported twice.

use super::options::WIDTH;
use crate::answer::{READ, READING};
use crate::plain::cut;
use crate::record::{CaseResult, Difference};
use crate::verdict::Verdict;
use transcript::json::Json;

/// A result in words.
pub(super) struct InWords<'r> {
    /// What was expected and what came; none where that is not what the result is about.
    pub(super) sides: Option<[String; 2]>,
    /// What is to be said besides.
    pub(super) message: Option<&'r str>,
}

/// A result that fell short, in words.
pub(super) fn in_words(line: &CaseResult) -> InWords<'_> {
    let message = line.message.as_deref();
    match (&line.difference, line.verdict) {
        (Some(difference), _) => of_difference(difference, message),
        (None, Verdict::Crash | Verdict::Timeout | Verdict::Garbled | Verdict::Unstable) => {
            let came = message.map_or_else(|| line.verdict.name().to_owned(), |words| cut(words, WIDTH));
            InWords { sides: Some([due(line), came]), message: None }
        }
        (None, _) => InWords { sides: None, message },
    }
}

fn of_difference<'r>(difference: &Difference, message: Option<&'r str>) -> InWords<'r> {
    let [expected, actual] = difference.sides();
    let sides = match (difference.at.as_str(), expected, actual) {
        ("/rejection/code", Some(code), None) => {
            let came = message.and_then(|words| words.strip_prefix(READ)).unwrap_or("a session");
            let came = cut(came.strip_prefix(READING).unwrap_or(came), WIDTH);
            return InWords { sides: Some([rejection(Some(code)), came]), message: None };
        }
        ("/rejection/code", Some(due), Some(came)) => [rejection(Some(due)), rejection(Some(came))],
        ("/rejection", None, Some(came)) => ["a session".to_owned(), rejected(came)],
        // Answers in words, since only one is a session.
        ("", Some(one), Some(other)) => [text(one), text(other)],
        (_, one, other) => [value(one), value(other)],
    };
    InWords { sides: Some(sides), message }
}

/// What had to come where nothing did that could be compared.
fn due(line: &CaseResult) -> String {
    let expected = line.whole.as_ref().and_then(|whole| whole.expected.lines().next()).unwrap_or_default();
    match expected.strip_prefix("a rejection") {
        Some(code) => format!("rejection{code}"),
        None => "a session".to_owned(),
    }
}

fn value(side: Option<&str>) -> String {
    side.map_or_else(|| "(nothing)".to_owned(), |value| cut(value, WIDTH))
}

/// A string without its quotes.
fn text(value: &str) -> String {
    let decoded = serde_json::from_str(value);
    cut(&decoded.unwrap_or_else(|_| value.to_owned()), WIDTH)
}

fn rejection(code: Option<&str>) -> String {
    code.map_or_else(|| "rejection".to_owned(), |code| format!("rejection ({})", text(code)))
}

/// A rejection that came as an object: its code and its message.
fn rejected(came: &str) -> String {
    let member = |name| {
        let value = Json::parse(came).ok()?.member(name)?;
        serde_json::from_str::<String>(value.text()).ok()
    };
    let code = member("code").map(|code| format!(" ({})", cut(&code, WIDTH))).unwrap_or_default();
    match member("message") {
        Some(message) => format!("rejection{code}: {}", cut(&message, WIDTH)),
        None => value(Some(came)),
    }
}
