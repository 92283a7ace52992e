//! An event that outlives its entry.

use crate::meaning::{Event, EventKind};
use crate::message::{Message, Shape};
use crate::session::{Location, Side};

/// An event by copies of its own.
#[derive(Debug, Clone)]
pub struct OwnedEvent {
    /// Its kind.
    pub kind: EventKind,
    /// Its index in its session.
    pub index: u64,
    /// Its correlation id.
    pub id: Option<Vec<u8>>,
    /// What it answers.
    pub answers: Option<u64>,
    /// Who sent it, where the format says.
    pub side: Option<Side>,
    /// Where it is.
    pub location: Location,
    pub(super) text: String,
    shape: Shape,
}

impl OwnedEvent {
    /// A copy of an event.
    #[must_use]
    pub fn new(event: &Event<'_>) -> Self {
        Self {
            kind: event.kind,
            index: event.index,
            id: event.id.as_ref().map(|id| id.to_vec()),
            answers: event.answers,
            side: event.side,
            location: event.location,
            text: event.message.text().to_owned(),
            shape: event.message.shape(),
        }
    }

    /// The event's message.
    #[must_use]
    pub fn message(&self) -> Message<'_> {
        Message::new(&self.text, self.shape)
    }

    pub(super) fn event(&self) -> Event<'_> {
        Event {
            index: self.index,
            kind: self.kind,
            id: self.id.as_deref().map(Into::into),
            answers: self.answers,
            message: self.message(),
            side: self.side,
            location: self.location,
        }
    }

    /// The event in the normal form.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        self.event().write(&mut out);
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Whether an answer can be bound to it.
    pub(super) fn is_request(&self) -> bool {
        matches!(self.kind, EventKind::Request | EventKind::ToolCall)
    }

    /// Who asked, in the exchange that the event belongs to.
    pub(super) fn requestor(&self) -> Option<Side> {
        match self.kind {
            EventKind::Result | EventKind::Error => self.side.map(Side::other),
            _ => self.side,
        }
    }
}
