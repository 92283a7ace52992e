//! The events of one stream, and how many of them have been sent. A stream may break and be resumed.
//!
//! Memory: every event, since a client may come back for any of them; together they are no more than the session.

use super::body::BodySender;
use crate::http::spell;
use hyper::body::Bytes;

/// A stream of events.
#[derive(Debug, Default)]
pub(super) struct Stream {
    events: Vec<SpelledEvent>,
    /// How many events were let go.
    gone: usize,
    /// How many are sent to the client that reads now.
    sent: usize,
    /// Who reads, where somebody does.
    pub(super) feed: Option<BodySender>,
    /// Nothing comes behind the last event.
    pub(super) whole: bool,
    /// It was broken once, as it was asked for.
    broken: bool,
}

#[derive(Debug)]
struct SpelledEvent {
    id: Option<String>,
    bytes: Bytes,
}

impl Stream {
    /// Adds an event.
    pub(super) fn add(&mut self, name: Option<&str>, id: Option<String>, data: &str) {
        let bytes = spell(name, id.as_deref(), data);
        self.events.push(SpelledEvent { id, bytes });
    }

    /// How many events there have been.
    pub(super) fn count(&self) -> usize {
        self.gone + self.events.len()
    }

    /// Whether somebody reads.
    pub(super) fn is_read(&mut self) -> bool {
        self.feed.as_ref().is_some_and(|feed| !feed.is_closed())
    }

    /// Whether all is sent.
    pub(super) fn is_sent(&self) -> bool {
        self.sent == self.events.len()
    }

    /// Lets go of all but the last `count` events: a client does not come back for those before, and what it has not read of
    /// them it does not get.
    pub(super) fn forget_all_but(&mut self, count: usize) {
        let gone = self.events.len().saturating_sub(count);
        self.events.drain(..gone);
        self.gone += gone;
        self.sent = self.sent.saturating_sub(gone);
    }

    /// Goes back to behind the event of this id; whether there is one. That event is sent again where `again`.
    pub(super) fn go_behind(&mut self, id: &str, again: bool) -> bool {
        let found = self.events.iter().rposition(|event| event.id.as_deref() == Some(id));
        let Some(at) = found else { return false };
        self.sent = if again && self.broken { at } else { at + 1 };
        true
    }

    /// Sends what is not sent. With `redeliver` the first event is sent twice: the stream breaks behind it, if more is to
    /// come for which the client has to come back (`more`), and otherwise one behind the other.
    pub(super) fn send(&mut self, redeliver: bool, more: bool) {
        while let (Some(event), Some(feed)) = (self.events.get(self.sent), &self.feed) {
            if feed.send(event.bytes.clone()).is_err() {
                self.feed = None;
                return;
            }
            self.sent += 1;
            if redeliver && event.id.is_some() && !std::mem::replace(&mut self.broken, true) {
                if more {
                    self.feed = None;
                    return;
                }
                let _ = feed.send(event.bytes.clone());
            }
        }
        if self.whole && self.is_sent() {
            self.feed = None;
        }
    }

    /// Sends what is not sent as one part.
    pub(super) fn send_together(&mut self) {
        let (Some(feed), Some(events)) = (&self.feed, self.events.get(self.sent..)) else { return };
        let together: Vec<u8> = events.iter().flat_map(|event| event.bytes.iter().copied()).collect();
        if !together.is_empty() && feed.send(Bytes::from(together)).is_err() {
            self.feed = None;
            return;
        }
        self.sent = self.events.len();
        if self.whole {
            self.feed = None;
        }
    }
}
