//! What is made of an answer: a verdict with what led to it, and the question that was asked.

use crate::answer::Level;
use serde::{Deserialize, Serialize};
use transcript::diff::Difference;
use transcript::rejection::Code;

transcript::named! {
    /// What is made of one answer, in the order in which reports list them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict {
        /// As expected.
        Pass "pass",
        /// A wrong answer.
        Fail "fail",
        /// A wrong answer that a baseline lists.
        ExpectedFail "expected-fail",
        /// A right answer that a baseline lists as a failure.
        UnexpectedPass "unexpected-pass",
        /// Not asked, or not answered for a reason that was given.
        Skip "skip",
        /// The importer died.
        Crash "crash",
        /// It did not come back in time.
        Timeout "timeout",
        /// What it said is not an answer.
        Garbled "garbled",
        /// It said something else the second time.
        Unstable "unstable",
    }
}

impl Verdict {
    /// Whether a run with this verdict in it falls short.
    pub fn is_failure(self) -> bool {
        !matches!(self, Self::Pass | Self::ExpectedFail | Self::Skip)
    }
}

/// A verdict with what led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Where the answer first differs from what was expected: left is expected, right is actual.
    pub difference: Option<Difference>,
    /// A message of the transcript is accounted for nowhere.
    pub silent_loss: bool,
    /// What the importer said, or why it was skipped, where that is not plain from the difference.
    pub message: Option<String>,
    /// How many values were taken as equal because one of them was redacted.
    pub redacted: usize,
    /// A rejection that was due and came under the code of another fault: the code that is due, and the one that came.
    /// Codes are this project's, so that it is not a failure by itself.
    pub remark: Option<[Code; 2]>,
}

impl Judgement {
    /// A judgement with nothing to show but its words.
    pub fn plain(verdict: Verdict, message: Option<String>) -> Self {
        Self { verdict, difference: None, silent_loss: false, message, redacted: 0, remark: None }
    }

    /// The same, where codes are asked for: a remark is a failure.
    #[must_use]
    pub fn strictly(self) -> Self {
        let Some(codes) = self.remark.filter(|_| self.verdict == Verdict::Pass) else { return self };
        let [left, right] = codes.map(|code| Some(format!("\"{}\"", code.name())));
        Self::fail(Difference { pointer: "/rejection/code".into(), left, right }, self.message)
    }

    pub(crate) fn fail(difference: Difference, message: Option<String>) -> Self {
        Self { difference: Some(difference), ..Self::plain(Verdict::Fail, message) }
    }
}

/// What is known of the question besides what is expected.
#[derive(Debug, Clone, Copy)]
pub struct Question<'q> {
    /// What the importer can show.
    pub level: Level,
    /// Whether the transcript's format carries a 401's challenge; where it does not, no summary is expected.
    pub challenge: bool,
    /// The redaction marker of the case: a string that holds it equals any value (clause RPL-REDACT).
    pub redacted: Option<&'q str>,
}
