//! Which messages came a second time because a client asked for them again, and so are no fault of the server.
//!
//! Knows: a stream that was resumed by `Last-Event-ID`, and an event whose id was seen before. Memory: the ids of the
//! last [`MOST_EVENTS`] events.

use super::moment::Moment;
use std::collections::{HashSet, VecDeque};
use transcript::session::header;

/// So many ids of events are remembered.
const MOST_EVENTS: usize = 10_000;

/// Remembers the events of a session.
#[derive(Debug, Default)]
pub(crate) struct Redelivery {
    seen: HashSet<Box<str>>,
    order: VecDeque<Box<str>>,
}

impl Redelivery {
    /// Whether what is at hand may have been delivered before. Takes note of it.
    pub(crate) fn again(&mut self, at: &Moment<'_>) -> bool {
        let headers = at.exchange.map(|exchange| &exchange.request_headers);
        let headers = headers.or(at.entry.context.map(|context| &context.headers));
        let resumed = headers.is_some_and(|headers| header(headers, "Last-Event-ID").is_some());
        let id = at.entry.sse.as_ref().and_then(|sse| sse.id.as_deref()).filter(|id| !id.is_empty());
        let Some(id) = id else { return resumed };
        let seen = self.seen.contains(id);
        if !seen {
            if self.order.len() >= MOST_EVENTS
                && let Some(oldest) = self.order.pop_front()
            {
                self.seen.remove(&oldest);
            }
            self.seen.insert(id.into());
            self.order.push_back(id.into());
        }
        resumed || seen
    }
}
