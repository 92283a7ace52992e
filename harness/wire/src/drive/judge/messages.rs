//! A message as it was sent, and as a recording has it.

use transcript::session::Side;

/// Something that one side really sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentMessage {
    /// Who.
    pub side: Side,
    /// What its order is kept in: messages of different streams may change places.
    pub stream: u64,
    /// The exchange that it is of, over HTTP.
    pub exchange: Option<u64>,
    /// When its first byte was about to be written.
    pub begun: u64,
    /// When the other side had all of it, or else when all of it was written.
    pub there: u64,
    /// Its text, as it was sent.
    pub text: String,
    /// Whether the recording must have it: it reached the other side before anybody was killed.
    pub due: bool,
}

/// Something that stands in the recording where a message belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedMessage {
    /// Who sent it, where the recording says so.
    pub side: Option<Side>,
    /// When, in milliseconds.
    pub time: Option<i64>,
    /// Its text.
    pub text: String,
    /// Its line in the file.
    pub line: u64,
    /// Its reader passes over it: it is no message, or one with a fault.
    pub noise: bool,
}

impl RecordedMessage {
    pub(super) fn may_be_of(&self, side: Side) -> bool {
        self.side.is_none_or(|own| own == side)
    }
}
