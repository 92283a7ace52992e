//! The counts of an exchange log: answers by kind, and streams that were opened.
//!
//! Memory: an end for each stream that is open beyond what was seen so far.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use transcript::session::Exchange;

/// The media type of an event stream.
const STREAM: &str = "text/event-stream";

/// How many HTTP answers there were of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResponseCounts {
    /// A JSON body.
    pub json: u64,
    /// An event stream.
    pub event_stream: u64,
    /// Status 202 or 204, or no content type: accepted, without a body that says anything.
    pub accepted: u64,
    /// Any other content.
    pub other: u64,
    /// No answer at all.
    pub none: u64,
}

/// The counts so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) responses: ResponseCounts,
    pub(super) connections: u64,
    /// Streams whose end nobody knows.
    endless: u64,
    /// Ends of streams that lie behind everything seen so far.
    ends: BinaryHeap<Reverse<i64>>,
    /// The latest moment at which anything but the end of such a stream happened.
    last: Option<i64>,
}

impl Counts {
    /// Counts an exchange that began at `started`.
    pub(super) fn take(&mut self, exchange: &Exchange<'_>, started: Option<i64>) {
        let kind = &mut self.responses;
        let media = &*exchange.media_type;
        *match exchange.status {
            None => &mut kind.none,
            Some(_) if media == STREAM => &mut kind.event_stream,
            Some(202 | 204) => &mut kind.accepted,
            Some(_) if media.is_empty() => &mut kind.accepted,
            Some(_) if media == "application/json" || media.ends_with("+json") => &mut kind.json,
            Some(_) => &mut kind.other,
        } += 1;

        self.last = self.last.max(started);
        if is_connection(exchange) {
            self.connections += 1;
            match exchange.ended {
                // Who says when each part came knows an end from the end of the recording.
                Some(end) if exchange.timed => self.last = self.last.max(Some(end)),
                Some(end) => self.ends.push(Reverse(end)),
                None => self.endless += 1,
            }
        } else {
            self.last = self.last.max(exchange.ended);
        }
        while let (Some(Reverse(end)), Some(last)) = (self.ends.peek(), self.last)
            && *end <= last
        {
            self.ends.pop();
        }
    }

    /// How many streams are open when the capture ends.
    pub(super) fn active(&self) -> u64 {
        self.endless + self.ends.len() as u64
    }
}

/// Whether this is an SSE connection: a GET, never a POST, however the POST is answered.
pub(super) fn is_connection(exchange: &Exchange<'_>) -> bool {
    is_stream(exchange) && exchange.method.eq_ignore_ascii_case("GET")
}

/// Whether the answer is an event stream.
pub(super) fn is_stream(exchange: &Exchange<'_>) -> bool {
    exchange.status.is_some() && exchange.media_type == STREAM
}
