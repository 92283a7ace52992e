//! The bodies of answers, read as they come. A stream that breaks off is resumed behind its last event.

use crate::http::{Event, EventReader, HELD, error_chain};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::time::{Duration, Instant};

/// So long is waited before a stream is resumed, where the server does not say.
const RETRY: Duration = Duration::from_secs(1);

/// The longest that a server can have us wait.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// So many streams in a row may end at once without an event.
const TRIES: u32 = 3;

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
    reader: EventReader,
    opened: Instant,
}

impl Stream {
    pub(super) fn new(body: Incoming, position: &mut Position) -> Self {
        position.in_vain += 1;
        Self { body, reader: EventReader::new(HELD), opened: Instant::now() }
    }

    /// It has ended.
    pub(super) fn close(&self, position: &mut Position) {
        if self.opened.elapsed() > RETRY {
            position.in_vain = 0;
        }
    }

    /// The events that come next, those without data left out; none at the end.
    ///
    /// # Errors
    /// A sentence, where the stream breaks off or an event is too long.
    pub(super) async fn next(&mut self, position: &mut Position) -> Result<Option<Vec<Event>>, String> {
        let Some(frame) = self.body.frame().await else { return Ok(None) };
        let frame = frame.map_err(|error| format!("the stream broke off: {}", error_chain(&error)))?;
        let (mut events, too_long) = self.reader.take(&frame.into_data().unwrap_or_default());
        for event in &events {
            if let Some(retry) = event.retry {
                position.retry = Duration::from_millis(retry).min(LONGEST_RETRY);
            }
            if let Some(id) = &event.id {
                position.last = Some(id.clone()).filter(|id| !id.is_empty());
            }
        }
        events.retain(|event| !event.data.is_empty());
        if !events.is_empty() {
            position.in_vain = 0;
        }
        match too_long {
            Some(_) => Err(format!("an event has more than {} MiB", HELD >> 20)),
            None => Ok(Some(events)),
        }
    }
}
