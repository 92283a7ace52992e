//! The counts of an exchange log: answers by kind, connections that are open at the end, and how long streams lasted.
//!
//! Memory: an end for each stream that may be open beyond what was seen so far.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use transcript::session::{Entry, Exchange, STILL_OPEN};

/// The media type of an event stream.
const STREAM: &str = "text/event-stream";

/// How many HTTP answers there were of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ResponseCounts {
    /// A JSON body.
    pub json: u64,
    /// An event stream.
    pub event_stream: u64,
    /// Status 202: the message was taken, and is answered elsewhere or not at all.
    pub accepted: u64,
    /// Anything else: another body, or none.
    pub other: u64,
    /// No answer at all.
    pub none: u64,
}

/// How long event streams lasted: those of which the recording says when they ended. In milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamDurations {
    /// How many there are.
    pub streams: u64,
    /// The shortest, and the longest.
    pub extremes: Option<(i64, i64)>,
    /// All of them together.
    pub total: i64,
}

impl StreamDurations {
    fn add(&mut self, took: Option<i64>) {
        let Some(took) = took else { return };
        let (shortest, longest) = self.extremes.unwrap_or((took, took));
        self.extremes = Some((shortest.min(took), longest.max(took)));
        self.streams += 1;
        self.total = self.total.saturating_add(took);
    }
}

/// The counts so far.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) responses: ResponseCounts,
    pub(super) total: u64,
    pub(super) connections: u64,
    pub(super) durations: StreamDurations,
    /// Exchanges that did not end: of all methods, and those that are connections of SSE.
    endless: [u64; 2],
    /// Ends of streams that lie behind everything seen so far.
    ends: BinaryHeap<Reverse<End>>,
    /// The latest moment at which anything but the end of such a stream happened.
    last: Option<i64>,
}

/// The end of a stream of which the recording does not say whether it was only that of the recording.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    at: i64,
    took: Option<i64>,
    connection: bool,
}

/// What is known of how an exchange ended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ending {
    stream: bool,
    connection: bool,
    state: State,
    at: Option<i64>,
    took: Option<i64>,
}

/// An exchange of which more may come.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) number: Option<u64>,
    pub(super) timed: bool,
    pub(super) post: bool,
    pub(super) connection: bool,
    pub(super) fine: bool,
    pub(super) counted: bool,
    pub(super) versioned: bool,
    /// It has headers of MCP.
    pub(super) named: bool,
    /// Its request is not of MCP.
    pub(super) foreign: bool,
    pub(super) events: u64,
    pub(super) url: String,
    pub(super) ending: Ending,
    /// A response came in its answer.
    pub(super) answered: bool,
}

impl Open {
    /// It is a POST that was answered with a stream.
    pub(super) fn streams(&self) -> bool {
        self.post && self.ending.stream
    }
}

/// The exchange that an entry is of.
pub(super) fn current<'o>(open: &'o mut [Open], entry: &Entry<'_>) -> Option<&'o mut Open> {
    let number = entry.exchange?;
    open.iter_mut().rev().find(|open| open.number == Some(number))
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// It ended.
    #[default]
    Over,
    /// It did not, and the recording says so.
    Open,
    /// The recording does not say: what came on it tells.
    Unsaid,
}

impl Counts {
    /// Counts an exchange that began at `started`. How it ended goes to [`Self::end`] once all of it was seen.
    pub(super) fn take(&mut self, exchange: &Exchange<'_>, started: Option<i64>) -> Ending {
        let kind = &mut self.responses;
        let media = &*exchange.media_type;
        *match exchange.status {
            None => &mut kind.none,
            Some(_) if media == STREAM => &mut kind.event_stream,
            Some(202) => &mut kind.accepted,
            Some(_) if media == "application/json" || media.ends_with("+json") => &mut kind.json,
            Some(_) => &mut kind.other,
        } += 1;
        self.total += 1;
        self.connections += u64::from(is_connection(exchange));
        self.happened(started);

        let stream = is_stream(exchange);
        let state = match exchange.fate.as_deref() {
            Some(STILL_OPEN) => State::Open,
            // Who says how streams end, or when each part came, knows an end from the end of the recording.
            Some(_) => State::Over,
            None if exchange.timed => State::Over,
            None if stream || exchange.status.is_none() && exchange.ended.is_none() => State::Unsaid,
            None => State::Over,
        };
        if state == State::Over || !stream {
            self.happened(exchange.ended);
        }
        let took = exchange.ended.zip(started).map(|(end, start)| end.saturating_sub(start).max(0));
        let connection = is_connection(exchange);
        Ending { stream, connection, state, at: exchange.ended, took: took.filter(|_| stream) }
    }

    /// Counts how an exchange ended; `answered`: it is a POST whose request was answered on it, and nothing keeps it open.
    pub(super) fn end(&mut self, ending: Ending, answered: bool) {
        let Ending { stream, connection, state, at, took } = ending;
        match (state, at) {
            (State::Over, _) => self.durations.add(took),
            (State::Unsaid, _) if answered => self.durations.add(took),
            (State::Unsaid, Some(at)) if stream => self.ends.push(Reverse(End { at, took, connection })),
            (State::Open | State::Unsaid, _) => {
                self.endless[0] += 1;
                self.endless[1] += u64::from(connection);
            }
        }
        self.settle();
    }

    fn happened(&mut self, at: Option<i64>) {
        self.last = self.last.max(at);
        self.settle();
    }

    /// A stream that ended before something else happened did not end with the recording.
    fn settle(&mut self) {
        while let (Some(Reverse(end)), Some(last)) = (self.ends.peek(), self.last)
            && end.at <= last
        {
            let took = end.took;
            self.ends.pop();
            self.durations.add(took);
        }
    }

    /// How many exchanges are open when the capture ends, and how many of them are connections of SSE.
    pub(super) fn active(&self) -> [u64; 2] {
        let [all, connections] = self.endless;
        let behind = self.ends.iter().filter(|Reverse(end)| end.connection).count();
        [all + self.ends.len() as u64, connections + behind as u64]
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
