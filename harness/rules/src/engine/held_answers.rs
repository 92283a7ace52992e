//! What streams of HTTP+SSE say where nothing tells when: it is held until what it may answer was posted.
//!
//! An exporter keeps such a stream as one body, which stands before all that was posted while it was open. An answer comes after its
//! request, and what the stream said before it comes before it. Memory: [`MOST_HELD`] bytes; what does not fit is judged where it
//! stands.

use super::http_exchange::HttpExchange;
use super::url::announced;
use formats::url::normal;
use std::collections::VecDeque;
use transcript::entry_buffer::EntryBuffer;
use transcript::session::Entry;

/// How many bytes are held.
const MOST_HELD: usize = 16 << 20;

/// The most streams that something is held of.
const MOST_STREAMS: usize = 100;

/// How many messages of a stream are searched for one.
const MOST_SEARCHED: usize = 1_000;

/// The streams of which something is held.
#[derive(Debug, Default)]
pub(super) struct HeldAnswers {
    streams: Vec<HeldStream>,
    bytes: usize,
    /// The requests of the exchange at hand: where each was posted, and its id.
    asked: Vec<(String, Box<str>)>,
}

/// Whether a message is a request, and its id.
type Key = (bool, Option<Box<str>>);

#[derive(Debug)]
struct HeldStream {
    exchange: Option<u64>,
    /// Where it said that messages are to be posted.
    target: String,
    entries: VecDeque<(Key, EntryBuffer)>,
}

impl HeldAnswers {
    /// Holds what a stream says, where it may be an answer to what comes later in the recording; whether it does.
    pub(super) fn hold(&mut self, entry: &Entry<'_>, exchange: Option<&HttpExchange>) -> bool {
        let Some(exchange) = exchange.filter(|exchange| exchange.is_unplaced()) else { return false };
        let Some(endpoint) = &exchange.endpoint else { return false };
        let mut kept = EntryBuffer::default();
        kept.push(entry);
        let place = self.streams.iter().position(|stream| stream.exchange == entry.exchange);
        if self.bytes + kept.size() > MOST_HELD || place.is_none() && self.streams.len() >= MOST_STREAMS {
            return false;
        }
        self.bytes += kept.size();
        let key = entry.message().map_or((false, None), |message| {
            (message.method().is_some(), message.written_id().map(Into::into))
        });
        let place = place.unwrap_or_else(|| {
            let target = announced(&exchange.raw.url, endpoint);
            self.streams.push(HeldStream { exchange: entry.exchange, target, entries: VecDeque::new() });
            self.streams.len() - 1
        });
        self.streams[place].entries.push_back((key, kept));
        true
    }

    /// A request was posted.
    pub(super) fn ask(&mut self, url: &str, id: Option<&str>) {
        if let Some(id) = id.filter(|_| !self.streams.is_empty()) {
            self.asked.push((normal(url), id.into()));
        }
    }

    /// What may come once the exchange at hand is over.
    pub(super) fn release(&mut self) -> Vec<EntryBuffer> {
        let asked = std::mem::take(&mut self.asked).into_iter();
        asked.flat_map(|(url, id)| self.until(&url, &(false, Some(id)))).collect()
    }

    /// What comes before an answer that the client posts.
    pub(super) fn answered(&mut self, url: &str, id: Option<&str>) -> Vec<EntryBuffer> {
        match id.filter(|_| !self.streams.is_empty()) {
            Some(id) => self.until(&normal(url), &(true, Some(id.into()))),
            None => Vec::new(),
        }
    }

    /// What the last stream that asked for messages there said, up to this.
    fn until(&mut self, url: &str, key: &Key) -> Vec<EntryBuffer> {
        let stream = self.streams.iter_mut().rev().find(|stream| stream.target == url);
        let Some(stream) = stream else { return Vec::new() };
        let mut first = stream.entries.iter().take(MOST_SEARCHED);
        let place = first.position(|(held, _)| held == key).map_or(0, |place| place + 1);
        let released: Vec<_> = stream.entries.drain(..place).map(|(_, entry)| entry).collect();
        self.bytes -= released.iter().map(EntryBuffer::size).sum::<usize>();
        released
    }

    /// All that is left.
    pub(super) fn rest(&mut self) -> Vec<EntryBuffer> {
        let mut rest = self.release();
        let left = std::mem::take(self).streams.into_iter().flat_map(|stream| stream.entries);
        rest.extend(left.map(|(_, entry)| entry));
        rest
    }
}
