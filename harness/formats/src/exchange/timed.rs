//! Answers of which the file says when each part came (`_events`), waiting for the moment of their next part.
//!
//! Memory: the decoded body of each such answer until its last part, and a number for each part.

use super::body::Body;
use super::stamp::Stamp;
use crate::sse::{SseBlock, SseParser};
use crate::time;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::vec::IntoIter;
use transcript::json::{Json, JsonKind};
use transcript::session::Location;

/// Attoseconds since 1970.
pub(crate) type Attoseconds = i128;

/// When each part of an answer came, counted from the exchange's start; none where the file does not say. An item
/// without a number came with the one before it, and nothing on a stream overtakes what stands before it.
pub(crate) fn times(listed: Option<Json<'_>>) -> Option<Vec<Attoseconds>> {
    let listed = listed.filter(|listed| listed.kind() == JsonKind::Array)?;
    let mut last = 0;
    let time = |item: Json<'_>| Some(time::of_milliseconds(item.member("time")?.as_number()?));
    let later = |item| {
        last = time(item).unwrap_or_default().max(last);
        last
    };
    Some(listed.items().map(later).collect())
}

/// An answer of which more is to be handed on.
pub(super) struct Waiting<'a> {
    pub(super) body: Body<'a>,
    pub(super) location: Location,
    pub(super) stamp: Stamp,
    /// The POST asked for an answer.
    pub(super) asked: bool,
    /// See [`Body::is_cut_stream`].
    pub(super) is_cut: bool,
    /// The stream, where the answer is one.
    stream: Option<Stream<'a>>,
    started: Attoseconds,
    times: IntoIter<Attoseconds>,
    /// When its next part comes.
    next: Attoseconds,
}

struct Stream<'a> {
    bytes: Cow<'a, [u8]>,
    fed: usize,
    parser: SseParser,
}

impl<'a> Waiting<'a> {
    pub(super) fn new(
        mut body: Body<'a>,
        (location, stamp, asked): (Location, Stamp, bool),
        streams: bool,
        (started, times): (Attoseconds, Vec<Attoseconds>),
    ) -> Self {
        let is_cut = streams && body.is_cut_stream(asked);
        let stream = streams.then(|| {
            let bytes = std::mem::take(&mut body.bytes);
            Stream { bytes, fed: 0, parser: SseParser::default() }
        });
        let times = times.into_iter();
        let mut waiting =
            Self { body, location, stamp, asked, is_cut, stream, started, times, next: started };
        waiting.forward();
        waiting
    }

    /// The part at hand, with its time: a block of the stream, or nothing where the answer is one whole.
    /// False where nothing more comes.
    pub(super) fn part(
        &mut self,
        mut take: impl FnMut(&mut Body<'a>, Location, Stamp, Option<&SseBlock<'_>>),
    ) -> bool {
        let time = time::to_milliseconds(self.next);
        let Self { body, location, stamp, stream, is_cut, .. } = self;
        let stamp = Stamp { time, ..*stamp };
        let Some(stream) = stream else {
            take(body, *location, stamp, None);
            return false;
        };
        let found = Cell::new(false);
        let mut each = |block: SseBlock<'_>| {
            found.set(true);
            take(body, *location, stamp, Some(&block));
        };
        // Line by line, since a line ends one block at most.
        while let Some(rest) = stream.bytes.get(stream.fed..).filter(|rest| !rest.is_empty()) {
            let line = memchr::memchr2(b'\n', b'\r', rest).map_or(rest.len(), |end| end + 1);
            stream.parser.feed(&rest[..line], &mut each);
            stream.fed += line;
            if found.get() {
                self.forward();
                return true;
            }
        }
        if !*is_cut {
            stream.parser.finish(&mut each);
        }
        false
    }

    fn forward(&mut self) {
        self.next = self.times.next().map_or(self.next, |time| self.started.saturating_add(time));
    }
}

/// The answers that wait, by the moment of their next part; where those are equal, by the order of their exchanges.
#[derive(Default)]
pub(super) struct Queue<'a>(BTreeMap<(Attoseconds, u64), Waiting<'a>>);

impl<'a> Queue<'a> {
    pub(super) fn add(&mut self, waiting: Waiting<'a>) {
        self.0.insert((waiting.next, waiting.stamp.exchange), waiting);
    }

    /// The next answer of which a part came before something that happened at `moment`, or with it.
    pub(super) fn due(&mut self, moment: Option<Attoseconds>) -> Option<Waiting<'a>> {
        let first = self.0.first_entry()?;
        moment.is_none_or(|moment| first.key().0 <= moment).then(|| first.remove())
    }
}
