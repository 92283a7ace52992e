//! The bodies of answers, read as they come. A stream that breaks off is resumed behind its last event.

use crate::net::error_chain;
use crate::play::HELD;
use formats::sse::{SseBlockKind, SseParser};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use std::time::{Duration, Instant};

/// So long is waited before a stream is resumed, where the server does not say.
const RETRY: Duration = Duration::from_secs(1);

/// The longest that a server can have us wait.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// So many streams in a row may end at once without an event.
const TRIES: u32 = 3;

/// An event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) data: String,
}

/// What is known of a stream that may be resumed.
#[derive(Debug)]
pub(super) struct Position {
    /// The id of the last event.
    pub(super) last: Option<String>,
    pub(super) retry: Duration,
    /// How many streams in a row ended at once, and said nothing.
    in_vain: u32,
}

impl Default for Position {
    fn default() -> Self {
        Self { last: None, retry: RETRY, in_vain: 0 }
    }
}

impl Position {
    /// Whether it is worth another try.
    pub(super) fn may_try(&self) -> bool {
        self.in_vain < TRIES
    }
}

/// A stream that is read.
pub(super) struct Stream {
    body: Incoming,
    parser: SseParser,
    /// Bytes that came since the last event.
    waiting: usize,
    opened: Instant,
}

impl Stream {
    pub(super) fn new(body: Incoming, position: &mut Position) -> Self {
        position.in_vain += 1;
        Self { body, parser: SseParser::default(), waiting: 0, opened: Instant::now() }
    }

    /// It has ended.
    pub(super) fn close(&self, position: &mut Position) {
        if self.opened.elapsed() > RETRY {
            position.in_vain = 0;
        }
    }

    /// The events that come next; none at the end.
    ///
    /// # Errors
    /// A sentence, where the stream breaks off or an event is too long.
    pub(super) async fn next(&mut self, position: &mut Position) -> Result<Option<Vec<Event>>, String> {
        let part = match self.body.frame().await {
            None => return Ok(None),
            Some(Err(error)) => return Err(format!("the stream broke off: {}", error_chain(&error))),
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
        };
        let events = self.take(&part, position);
        self.waiting = if events.is_empty() { self.waiting + part.len() } else { 0 };
        if self.waiting > HELD {
            return Err(format!("an event has more than {} MiB", HELD >> 20));
        }
        Ok(Some(events))
    }

    fn take(&mut self, part: &Bytes, position: &mut Position) -> Vec<Event> {
        let mut events = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        self.parser.feed(part, &mut |block| {
            if let Some(retry) = block.retry {
                position.retry = Duration::from_millis(retry).min(LONGEST_RETRY);
            }
            if let Some(id) = block.id {
                position.last = Some(text(id)).filter(|id| !id.is_empty());
            }
            if block.kind == SseBlockKind::Event && !block.data.is_empty() {
                position.in_vain = 0;
                events.push(Event { name: block.name.map(text).unwrap_or_default(), data: text(block.data) });
            }
        });
        events
    }
}

/// A body that is one message, or says why there is none.
///
/// # Errors
/// A sentence.
pub(super) async fn whole(body: Incoming) -> Result<String, String> {
    let whole = Limited::new(body, HELD).collect().await;
    let bytes = whole.map_err(|error| format!("the answer broke off: {error}"))?.to_bytes();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
