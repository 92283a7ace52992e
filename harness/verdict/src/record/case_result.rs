//! One line of a record: what came of a reading, cut to what a person reads.

use crate::verdict::{Judgement, Verdict};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::time::Duration;
use transcript::json::{Json, compact, quoted};

/// Longer values are cut in a record; then they are strings that say so.
pub(super) const LONGEST: usize = 16 << 10;

/// One reading and what came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaseResult {
    /// The case.
    pub case: String,
    /// The capture format.
    pub format: String,
    /// The transcript, from the root of the suite; none where the case has none in this format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// How many bytes the transcript has; none where nothing was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// How long the importer took for both of its answers. It stands apart, in [`crate::timings`]: a record with times
    /// in it would never be the same twice.
    #[serde(skip)]
    pub took: Option<Duration>,
    /// The verdict.
    pub verdict: Verdict,
    /// The clauses that the case shows.
    pub clauses: Vec<String>,
    /// Why it was skipped, what the importer said, or how it failed to say anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What is to be said of a pass: its rejection came under the code of another fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// The first difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// The whole of what was expected and of what came, where the reading fell short; cut where they are long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<BothSides>,
    /// Where the difference stands in the transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// The end of what a program under test wrote to its standard error, where it fell short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr: Option<String>,
    /// Why a baseline lets the failure pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<Reason>,
    /// Whether a message of the transcript is accounted for nowhere.
    pub silent_loss: bool,
    /// How many values were taken as equal because one of them was redacted.
    #[serde(default, skip_serializing_if = "is_default")]
    pub redacted: usize,
}

/// Two readings of one transcript, each as text with an event a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BothSides {
    /// What must come of it, in the normal form or in words.
    pub expected: String,
    /// What came of it.
    pub actual: String,
}

/// A place in a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The line, from 1.
    pub line: u64,
    /// JSON pointer into the document, or into the line's value; empty where it is the whole.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pointer: String,
}

/// Why a failure is let pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// In a sentence.
    pub reason: String,
    /// Where it is talked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
}

/// Where an answer first differs. A side that has nothing there is left out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Difference {
    /// JSON pointer into the answer.
    pub at: String,
    /// The value that was expected.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub expected: Option<Box<RawValue>>,
    /// The value that stood there.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub actual: Option<Box<RawValue>>,
}

impl Difference {
    /// What was expected and what stood there, as JSON text.
    pub fn sides(&self) -> [Option<&str>; 2] {
        [&self.expected, &self.actual].map(|side| side.as_deref().map(RawValue::get))
    }
}

impl CaseResult {
    /// A result with what its judgement says; what was asked is for the caller to fill in.
    pub fn new(case: &str, format: &str, clauses: &[String], judgement: Judgement) -> Self {
        let Judgement { verdict, difference, silent_loss, message, redacted, remark } = judgement;
        let remark = remark.map(|[due, came]| format!("expected the code `{due}`; got `{came}`"));
        let difference = difference.map(|difference| Difference {
            at: difference.pointer,
            expected: difference.left.as_deref().and_then(value),
            actual: difference.right.as_deref().and_then(value),
        });
        // What was said with a right answer is nobody's business.
        let message = message.filter(|_| verdict != Verdict::Pass);
        let (case, format) = (case.to_owned(), format.to_owned());
        let clauses = clauses.to_vec();
        Self {
            case,
            format,
            file: None,
            bytes: None,
            took: None,
            verdict,
            clauses,
            message,
            remark,
            difference,
            whole: None,
            place: None,
            stderr: None,
            known: None,
            silent_loss,
            redacted,
        }
    }
}

/// A text of which a record holds as much as a person reads; where it is cut, it says so.
pub fn kept(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    format!("{}\n… ({} bytes in all)", &text[..text.floor_char_boundary(LONGEST)], text.len())
}

/// How deep a value of a record may be: many readers of JSON give up at a thousand levels.
const DEEPEST: usize = 200;

/// How many brackets of a JSON text are open at once, at most.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// A value on one line, every token as it was spelled; a string with its beginning where it is too long or too deep.
pub(super) fn value(text: &str) -> Option<Box<RawValue>> {
    let kept = match Json::parse(text) {
        Ok(value) if text.len() <= LONGEST && depth(text) <= DEEPEST => compact(value),
        _ => {
            let beginning = &text[..text.floor_char_boundary(LONGEST)];
            quoted(&format!("{beginning} … ({} bytes in all)", text.len()))
        }
    };
    RawValue::from_string(kept).ok()
}

/// `null` is a value that stood there, unlike a member that is left out.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::<RawValue>::deserialize(deserializer).map(Some)
}

pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
