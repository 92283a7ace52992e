//! What a recorder did to a session: what each side received of what the other sent, and what the recording has of it.
//!
//! The truth is what two scripted peers wrote into their journals. Times are microseconds of one clock, which both
//! peers and the recorder read.

pub(super) mod fidelity;
pub(super) mod http;
pub(super) mod pairing;
pub(super) mod passage;

use serde::Serialize;
use std::fmt;
use transcript::diff::Difference;
use transcript::json::{Json, quoted};
use transcript::session::Side;
use verdict::verdict::{Judgement, Verdict};

transcript::named! {
    /// What is judged of a recorder.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Dimension {
        /// Each side received what the other sent, and in time.
        Transparency "transparency",
        /// The recording says what was sent, and nothing else.
        Fidelity "fidelity",
    }
}

/// How a recorder can fail, the worst of the recording and of the forwarding first. The name is the first
/// part of a finding's pointer, so that a baseline can name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Defect {
    /// The recording lacks a message.
    Lost,
    /// The recording has a message as the other side's.
    WrongSide,
    /// The recording has a message that nobody sent, or one more often than it was sent.
    Added,
    /// The recording has another value than was sent.
    Changed,
    /// The recording has several messages as one.
    Merged,
    /// Messages of one side are in another order.
    Reordered,
    /// A message is stamped before it was sent.
    StampedEarly,
    /// A message is stamped long after it was received.
    StampedLate,
    /// A response is bound to another request than the one that it answers.
    BoundWrongly,
    /// There is no recording.
    NoRecording,
    /// The recording cannot be read.
    Unreadable,
    /// Other bytes arrived than were sent.
    OtherBytes,
    /// What was sent never arrived.
    NotReceived,
    /// More arrived than was sent.
    NotSent,
    /// It arrived too late.
    HeldUp,
    /// The end of input did not arrive.
    NoEnd,
    /// The program ended otherwise than the server did.
    OtherExit,
    /// A request was made of another path.
    OtherTarget,
    /// Another status arrived than was sent.
    OtherStatus,
    /// A header that means something arrived with another value, or not.
    OtherHeader,
}

impl fmt::Display for Defect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(out)
    }
}

/// One thing that a recorder did, with the truth beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) kind: Defect,
    /// Who had sent it, where one side had.
    pub(super) side: Option<Side>,
    /// Which message or exchange of that side, from 0.
    pub(super) index: usize,
    /// What happened, in a sentence.
    pub(super) says: String,
    /// What was sent: JSON, or any text.
    pub(super) sent: Option<String>,
    /// What arrived, or is in the recording.
    pub(super) came: Option<String>,
    /// The line of the recording.
    pub(super) line: Option<u64>,
}

impl Finding {
    /// A finding with nothing but its words.
    pub(super) fn new(kind: Defect, side: Option<Side>, index: usize, says: impl Into<String>) -> Self {
        Self { kind, side, index, says: says.into(), sent: None, came: None, line: None }
    }

    /// With the truth beside it.
    pub(super) fn sent(self, text: impl Into<String>) -> Self {
        Self { sent: Some(text.into()), ..self }
    }

    /// With what arrived instead.
    pub(super) fn came(self, text: impl Into<String>) -> Self {
        Self { came: Some(text.into()), ..self }
    }

    /// With its line in the recording.
    pub(super) fn on(self, line: u64) -> Self {
        Self { line: Some(line), ..self }
    }

    /// Its place in a result: its kind, whose it is, and which.
    fn pointer(&self) -> String {
        format!("/{}/{}/{}", self.kind, self.side.map_or("session", Side::name), self.index)
    }
}

/// How many findings a judgement quotes.
const QUOTED: usize = 4;

/// The judgement of one dimension of one session.
pub(super) fn judgement(findings: &[Finding]) -> Judgement {
    let Some(first) = findings.first() else { return Judgement::plain(Verdict::Pass, None) };
    // JSON stays as it is; any other text becomes a string.
    let json = |text: &String| if Json::parse(text).is_ok() { text.clone() } else { quoted(text) };
    let difference = Difference {
        pointer: first.pointer(),
        left: first.sent.as_ref().map(json),
        right: first.came.as_ref().map(json),
    };
    let mut says: Vec<&str> = findings.iter().take(QUOTED).map(|finding| finding.says.as_str()).collect();
    let more = format!("and {} more", findings.len().saturating_sub(QUOTED));
    if findings.len() > QUOTED {
        says.push(&more);
    }
    let verdict = if first.kind == Defect::Unreadable { Verdict::Garbled } else { Verdict::Fail };
    Judgement {
        silent_loss: findings.iter().any(|finding| finding.kind == Defect::Lost),
        difference: Some(difference),
        ..Judgement::plain(verdict, Some(says.join("; ")))
    }
}

/// A message of a side, as sentences name it.
fn named(side: Side, index: usize) -> String {
    format!("message {} of the {}", index + 1, side.name())
}

/// A time as sentences have it.
fn shown(micros: u64) -> String {
    match micros {
        0..10_000 => format!("{micros} µs"),
        10_000..10_000_000 => format!("{} ms", micros / 1_000),
        _ => format!("{} s", micros / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::{Defect, Finding, judgement};
    use transcript::session::Side;
    use verdict::verdict::Verdict;

    #[test]
    fn the_first_finding_is_shown_and_more_than_a_few_are_counted() {
        assert_eq!(judgement(&[]).verdict, Verdict::Pass);
        let lost = |index| Finding::new(Defect::Lost, Some(Side::Server), index, format!("no {index}"));
        let judged = judgement(&[lost(4).sent("{\"a\":1.0}").came("é\n"), lost(5)]);
        assert_eq!((judged.verdict, judged.silent_loss), (Verdict::Fail, true));
        assert_eq!(judged.message.as_deref(), Some("no 4; no 5"));
        let difference = judged.difference.unwrap();
        let values = (difference.left.as_deref(), difference.right.as_deref());
        assert_eq!(difference.pointer, "/lost/server/4");
        assert_eq!(values, (Some("{\"a\":1.0}"), Some("\"é\\n\"")));
        let many: Vec<_> = (0..7).map(lost).collect();
        assert_eq!(judgement(&many).message.as_deref(), Some("no 0; no 1; no 2; no 3; and 3 more"));
        // A recording that cannot be read is garbled, and loses nothing silently.
        let judged = judgement(&[Finding::new(Defect::Unreadable, None, 0, "line 3: no")]);
        assert_eq!((judged.verdict, judged.silent_loss), (Verdict::Garbled, false));
        assert_eq!(judged.difference.unwrap().pointer, "/unreadable/session/0");
        let early = Finding::new(Defect::StampedEarly, None, 0, "");
        assert_eq!(early.pointer(), "/stamped-early/session/0");
    }
}
