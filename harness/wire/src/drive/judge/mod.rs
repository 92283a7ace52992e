//! What a recorder did to a session: what each side received of what the other sent, and what the recording has of it.
//!
//! The truth is what two scripted peers wrote into their journals. Times are microseconds of one clock, which both
//! peers and the recorder read.

mod binding;
pub mod fidelity;
pub mod http;
pub mod messages;
mod order;
mod pairing;
pub mod transparency;

use serde::{Deserialize, Serialize};
use transcript::diff::Difference;
use transcript::json::Json;
use transcript::session::Side;
use verdict::protocol::quoted;
use verdict::verdict::{Judgement, Verdict};

/// What is judged of a recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// Each side received what the other sent, and in time.
    Transparency,
    /// The recording says what was sent, and nothing else.
    Fidelity,
}

impl Dimension {
    /// Both, in their order.
    pub const ALL: [Self; 2] = [Self::Transparency, Self::Fidelity];

    /// The name in results, where an importer's have that of a format.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Transparency => "transparency",
            Self::Fidelity => "fidelity",
        }
    }
}

/// The ways in which a recorder falls short. The name is the first part of a finding's pointer, so that a baseline can
/// name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The recording lacks a message.
    Lost,
    /// The recording has a message that nobody sent, or one more often than it was sent.
    Added,
    /// The recording has another value than was sent.
    Changed,
    /// The recording has several messages as one.
    Merged,
    /// Messages of one side stand in another order.
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

impl Kind {
    /// The name in pointers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Merged => "merged",
            Self::Reordered => "reordered",
            Self::StampedEarly => "stamped-early",
            Self::StampedLate => "stamped-late",
            Self::BoundWrongly => "bound-wrongly",
            Self::NoRecording => "no-recording",
            Self::Unreadable => "unreadable",
            Self::OtherBytes => "other-bytes",
            Self::NotReceived => "not-received",
            Self::NotSent => "not-sent",
            Self::HeldUp => "held-up",
            Self::NoEnd => "no-end",
            Self::OtherExit => "other-exit",
            Self::OtherTarget => "other-target",
            Self::OtherStatus => "other-status",
            Self::OtherHeader => "other-header",
        }
    }
}

/// One thing that a recorder did, with the truth beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What sort of thing.
    pub kind: Kind,
    /// Who had sent it, where one side had.
    pub side: Option<Side>,
    /// Which message or exchange of that side, from 0.
    pub index: usize,
    /// What happened, in a sentence.
    pub says: String,
    /// What was sent: JSON, or any text.
    pub sent: Option<String>,
    /// What arrived, or stands in the recording.
    pub came: Option<String>,
    /// The line of the recording.
    pub line: Option<u64>,
}

impl Finding {
    /// A finding with nothing but its words.
    #[must_use]
    pub fn new(kind: Kind, side: Option<Side>, index: usize, says: impl Into<String>) -> Self {
        Self { kind, side, index, says: says.into(), sent: None, came: None, line: None }
    }

    /// With the truth beside it.
    #[must_use]
    pub fn sent(mut self, text: impl Into<String>) -> Self {
        self.sent = Some(text.into());
        self
    }

    /// With what came instead.
    #[must_use]
    pub fn came(mut self, text: impl Into<String>) -> Self {
        self.came = Some(text.into());
        self
    }

    /// With its line in the recording.
    #[must_use]
    pub fn on(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// Where it stands in a result: its kind, whose it is, and which.
    #[must_use]
    pub fn pointer(&self) -> String {
        format!("/{}/{}/{}", self.kind.name(), self.side.map_or("session", Side::name), self.index)
    }
}

/// So many findings are told one by one.
const TOLD: usize = 4;

/// The judgement of one dimension of one session.
#[must_use]
pub fn judgement(findings: &[Finding]) -> Judgement {
    let Some(first) = findings.first() else { return Judgement::plain(Verdict::Pass, None) };
    let difference = Difference {
        pointer: first.pointer(),
        left: first.sent.as_deref().map(as_json),
        right: first.came.as_deref().map(as_json),
    };
    let mut says: Vec<&str> = findings.iter().take(TOLD).map(|finding| finding.says.as_str()).collect();
    let more = format!("and {} more", findings.len().saturating_sub(TOLD));
    if findings.len() > TOLD {
        says.push(&more);
    }
    let silent_loss = findings.iter().any(|finding| finding.kind == Kind::Lost);
    let verdict = if first.kind == Kind::Unreadable { Verdict::Garbled } else { Verdict::Fail };
    Judgement {
        silent_loss,
        ..Judgement { difference: Some(difference), ..Judgement::plain(verdict, Some(says.join("; "))) }
    }
}

/// JSON stays as it is; any other text becomes a string.
fn as_json(text: &str) -> String {
    if Json::parse(text).is_ok() { text.to_owned() } else { quoted(text) }
}

/// A message of a side, as sentences name it.
pub(crate) fn named(side: Side, index: usize) -> String {
    format!("message {} of the {}", index + 1, side.name())
}

/// A time as sentences have it.
pub(crate) fn shown(micros: u64) -> String {
    match micros {
        0..10_000 => format!("{micros} µs"),
        10_000..10_000_000 => format!("{} ms", micros / 1_000),
        _ => format!("{} s", micros / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::{Finding, Kind, judgement};
    use transcript::session::Side;
    use verdict::verdict::Verdict;

    #[test]
    fn findings_are_told_by_the_first_and_counted_beyond_a_few() {
        assert_eq!(judgement(&[]).verdict, Verdict::Pass);
        let lost = |index| Finding::new(Kind::Lost, Some(Side::Server), index, format!("no {index}"));
        let told = judgement(&[lost(4).sent("{\"a\":1.0}").came("é\n"), lost(5)]);
        assert_eq!((told.verdict, told.silent_loss), (Verdict::Fail, true));
        assert_eq!(told.message.as_deref(), Some("no 4; no 5"));
        let difference = told.difference.unwrap();
        assert_eq!(difference.pointer, "/lost/server/4");
        assert_eq!(
            (difference.left.as_deref(), difference.right.as_deref()),
            (Some("{\"a\":1.0}"), Some("\"é\\n\""))
        );
        let many: Vec<_> = (0..7).map(lost).collect();
        assert_eq!(judgement(&many).message.as_deref(), Some("no 0; no 1; no 2; no 3; and 3 more"));
    }

    #[test]
    fn a_recording_that_cannot_be_read_is_garbled_and_loses_nothing_in_silence() {
        let told = judgement(&[Finding::new(Kind::Unreadable, None, 0, "line 3: no")]);
        assert_eq!((told.verdict, told.silent_loss), (Verdict::Garbled, false));
        assert_eq!(told.difference.unwrap().pointer, "/unreadable/session/0");
    }
}
