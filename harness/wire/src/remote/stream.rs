//! A stream of events, read as it comes. One that breaks off is resumed behind its last event.

use crate::http::{EventReader, HELD, SseEvent, error_chain};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use std::time::{Duration, Instant};

/// How long is waited before a stream is resumed, where the server does not say.
const RETRY: Duration = Duration::from_secs(1);

/// The longest that a server can have us wait.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// How many streams in a row may end at once without an event.
const TRIES: u32 = 3;

/// A stream that is read.
pub(super) struct Stream {
    body: Incoming,
    reader: EventReader,
    opened: Instant,
    /// The id of the last event.
    pub(super) last: Option<String>,
    pub(super) retry: Duration,
    /// How many bodies in a row ended at once, and said nothing.
    in_vain: u32,
}

impl Stream {
    pub(super) fn new(body: Incoming) -> Self {
        let (reader, opened) = (EventReader::new(HELD), Instant::now());
        Self { body, reader, opened, last: None, retry: RETRY, in_vain: 1 }
    }

    /// Goes on with another body.
    pub(super) fn resume(&mut self, body: Incoming) {
        (self.body, self.reader, self.opened) = (body, EventReader::new(HELD), Instant::now());
        self.in_vain += 1;
    }

    /// Whether it is worth another try, now that it has ended.
    pub(super) fn may_try(&mut self) -> bool {
        if self.opened.elapsed() > RETRY {
            self.in_vain = 0;
        }
        self.in_vain < TRIES
    }

    /// The events that come next, those without data left out; with an error, in a sentence, where the stream ends, as
    /// `at_end` says, or breaks off, or an event is too long.
    pub(super) async fn next(&mut self, at_end: &str) -> Result<Vec<SseEvent>, String> {
        let frame = self.body.frame().await.ok_or_else(|| at_end.to_owned())?;
        let frame = frame.map_err(|error| format!("the stream broke off: {}", error_chain(&error)))?;
        let (mut events, too_long) = self.reader.take(&frame.into_data().unwrap_or_default());
        for event in &events {
            if let Some(retry) = event.retry {
                self.retry = Duration::from_millis(retry).min(LONGEST_RETRY);
            }
            if let Some(id) = &event.id {
                self.last = Some(id.clone()).filter(|id| !id.is_empty());
            }
        }
        events.retain(|event| !event.data.is_empty());
        if !events.is_empty() {
            self.in_vain = 0;
        }
        match too_long {
            Some(_) => Err(format!("an event has more than {} MiB", HELD >> 20)),
            None => Ok(events),
        }
    }
}
