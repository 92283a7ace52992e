//! Streamable HTTP with sessions: streams that break off, and how they are taken up again.
//!
//! Knows: which stream an event id was first seen on, and which requests a stream left unanswered. Refuses to know:
//! whether a connection was closed or broke, which look the same. Memory: up to [`MOST_IDS`] event ids,
//! [`MOST_CANCELLED`] cancelled requests and [`MOST_OPEN`] unanswered streams; what comes later is not compared.

mod asked;

use super::http_streams::{inside, scope};
use crate::engine::{
    Call, Found, LAST_EVENT, Moment, Place, Revision, Said, Sort, Transport, Trip, Trips, Wrong, id_text,
    quoted,
};
use crate::family::{Family, Hears, Watch};
use crate::rule::Level;
use asked::{
    BROADCAST, BY_GET, CLOSED_EARLY, KNOWN_ID, RECONNECT, RESPONDS, RETRY, RETRY_RESPECTED, SAME_STREAM,
    UNIQUE,
};
use std::collections::{BTreeSet, HashMap};
use transcript::rejection::Rejection;
use transcript::session::{Carrier, Content, Side};

pub(super) const FAMILY: Family = Family {
    name: "http-resume",
    title: "Streamable HTTP with sessions: broken streams and resumption",
    rules: &[
        &RESPONDS,
        &CLOSED_EARLY,
        &RETRY,
        &RETRY_RESPECTED,
        &RECONNECT,
        &BROADCAST,
        &UNIQUE,
        &BY_GET,
        &KNOWN_ID,
        &SAME_STREAM,
    ],
    hears: &[Hears::Exchanges],
    watch: || Box::new(Watching::default()),
};

/// So many event ids are remembered.
const MOST_IDS: usize = 200_000;

/// So many cancelled requests are remembered; past it, none is missed.
const MOST_CANCELLED: usize = 10_000;

/// So many streams that ended without the answer are remembered.
const MOST_OPEN: usize = 1_000;

/// So many milliseconds earlier than told a client may come back: recorder and client read two clocks.
const SLACK: i64 = 50;

/// The stream of all GETs that resume none: servers go on with it from one connection to the next.
const STANDING: u64 = u64::MAX;

/// What is known of an event id.
#[derive(Debug)]
struct Seen {
    /// The exchange that first carried it.
    exchange: u64,
    /// The stream that it is of: the exchange that began it, or [`STANDING`].
    stream: u64,
    /// The message that the event carried, in short; none where it carried none.
    said: Option<u64>,
}

/// A stream that ended before every request was answered.
#[derive(Debug)]
struct Unanswered {
    /// The exchange that began it.
    stream: u64,
    calls: Vec<Call>,
    place: Place,
    ended: Option<i64>,
    /// Its events have ids, so that it can be resumed.
    polls: bool,
    scope: Box<str>,
    retry: Option<u64>,
    /// Somebody came back for it.
    resumed: bool,
    /// Something else was sent when it was long over.
    outlived: bool,
    revision: Option<Revision>,
}

#[derive(Default)]
struct Watching {
    trips: Trips,
    /// By session and id, as all that follows.
    ids: HashMap<Box<str>, Seen>,
    /// The stream that the exchange at hand resumes.
    resumed: Option<u64>,
    open: Vec<Unanswered>,
    /// The ids of requests that the client cancelled.
    cancelled: BTreeSet<Box<str>>,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        for trip in self.trips.see(at) {
            trip.look(at, |at| self.trip(&trip, at, found));
        }
        let Some(trip) = self.trips.current() else { return };
        let scope = scope(trip, at);
        if matches!(at.entry.content, Content::Exchange(_)) {
            self.resumed =
                trip.asked(LAST_EVENT).and_then(|id| Some(self.ids.get(&*inside(&scope, id))?.stream));
        }
        if let Some(said) = at.said.as_ref().filter(|_| at.entry.carrier == Carrier::Request) {
            self.cancels(&scope, said);
        } else if at.entry.carrier == Carrier::Sse && trip.endpoint.is_none() && trip.streams() {
            let (number, resumes) = (trip.number, trip.resumes());
            let begun = if trip.is("GET") { STANDING } else { number };
            self.id(&scope, [number, begun], resumes, at, found);
            if let Some(said) = &at.said {
                self.answered(said, at, found);
            }
        }
    }

    fn end(&mut self, at: &Moment<'_>, rejection: Option<&Rejection>, found: &mut Found) {
        for trip in self.trips.end(rejection) {
            trip.look(at, |at| self.trip(&trip, at, found));
        }
        for open in std::mem::take(&mut self.open) {
            self.never_answered(&open, &at.by(open.revision), found);
        }
    }
}

impl Watching {
    fn cancels(&mut self, scope: &str, said: &Said<'_>) {
        if said.calls("notifications/cancelled")
            && let Some(id) = said.param("requestId")
            && self.cancelled.len() < MOST_CANCELLED
        {
            self.cancelled.insert(inside(scope, id.text()));
        }
    }

    /// A response, which may come on another stream than that of its request.
    fn answered(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let Some(id) = id_text(said).filter(|_| matches!(said.sort, Sort::Result | Sort::Error)) else {
            return;
        };
        for call in self.open.iter_mut().flat_map(|open| &mut open.calls) {
            call.answered |= id == call.id;
        }
        if let (Some(stream), Some(asked)) = (self.resumed, said.asked())
            && let Some(of) = asked.exchange.filter(|_| asked.side == Some(Side::Client))
        {
            found.check(&SAME_STREAM, at, of == stream, || {
                let wrong = "the stream that is resumed was not opened for this request";
                Wrong::of(wrong).see(asked.place(), "the request")
            });
        }
    }

    /// The id of an event.
    fn id(
        &mut self,
        scope: &str,
        [exchange, begun]: [u64; 2],
        resumes: bool,
        at: &Moment<'_>,
        found: &mut Found,
    ) {
        let Some(id) = at.entry.sse.as_ref().and_then(|sse| sse.id.as_deref()) else { return };
        if id.is_empty() {
            return;
        }
        let said = at.said.as_ref().map(|said| hash(said.message.text()));
        let Some(seen) = self.ids.get(&inside(scope, id)) else {
            // The first events of all come before the revision is known.
            if at.revision.is_some() {
                found.held(&UNIQUE, at);
                if at.said.is_some() {
                    found.held(&BROADCAST, at);
                }
            }
            if self.ids.len() < MOST_IDS {
                let stream = self.resumed.unwrap_or(begun);
                self.ids.insert(inside(scope, id), Seen { exchange, stream, said });
            }
            return;
        };
        let again = seen.said == said && seen.exchange != exchange;
        if again && resumes {
            found.held(&UNIQUE, at);
            if let Some(stream) = self.resumed {
                found.check(&SAME_STREAM, at, seen.stream == stream, || {
                    format!("the event {} is of another stream than the one that is resumed", quoted(id))
                });
            }
        } else if seen.said.is_none() && said.is_none() {
            // Such as a keepalive that repeats the id of the last message.
        } else if again && at.said.is_some() {
            found.broke(
                &BROADCAST,
                at,
                format!("the message with the event id {} was sent before", quoted(id)),
            );
        } else {
            found.broke(&UNIQUE, at, format!("the event id {} stood for another event before", quoted(id)));
        }
    }

    fn trip(&mut self, trip: &Trip, at: &Moment<'_>, found: &mut Found) {
        if trip.transport != Transport::Streamable {
            return;
        }
        for open in &mut self.open {
            open.outlived |= trip.began_after(open.ended) && trip.number > open.stream;
        }
        if let Some(id) = trip.asked(LAST_EVENT) {
            found.check(&BY_GET, at, trip.is("GET"), || {
                format!("`Last-Event-ID` stands in a {}", trip.exchange.method)
            });
            if trip.is("GET") {
                self.came_back(id, trip, at, found);
            }
        }
        if trip.is("POST") && trip.streams() && !trip.calls.is_empty() && !trip.answer_lost {
            self.stream(trip, at, found);
        }
    }

    /// A client that comes back for the rest of a stream.
    fn came_back(&mut self, id: &str, trip: &Trip, at: &Moment<'_>, found: &mut Found) {
        let known = self.ids.get(&inside(&scope(trip, at), id)).map(|seen| seen.stream);
        match known.is_some() {
            true => found.held(&KNOWN_ID, at),
            false if self.ids.len() >= MOST_IDS => {}
            false => {
                let wrong = format!("no event had the id {}", quoted(id));
                found.broke_if_whole(&KNOWN_ID, at, wrong);
            }
        }
        for open in self.open.iter_mut().filter(|open| Some(open.stream) == known) {
            open.resumed = true;
            found.held(&RECONNECT, at);
            if let (Some(retry), Some(ended), Some(started)) = (open.retry, open.ended, trip.started) {
                let waited = started.saturating_sub(ended);
                let wanted = i64::try_from(retry).unwrap_or(i64::MAX);
                found.check(&RETRY_RESPECTED, at, waited.saturating_add(SLACK) >= wanted, || {
                    format!("the client came back after {waited} ms, and `retry` said {retry}")
                });
            }
            // It may be closed again, and resumed again.
            open.ended = trip.exchange.ended;
            open.retry = trip.retry.or(open.retry);
        }
    }

    /// A stream that a POST with requests opened, now that it is over.
    fn stream(&mut self, trip: &Trip, at: &Moment<'_>, found: &mut Found) {
        if trip.is_answered() {
            found.held(&RESPONDS, at);
            found.held(&CLOSED_EARLY, at);
            return;
        }
        if self.open.len() < MOST_OPEN {
            self.open.push(Unanswered {
                stream: trip.number,
                place: at.place(),
                ended: trip.exchange.ended,
                polls: trip.last_id.is_some(),
                retry: trip.retry,
                calls: trip.calls.clone(),
                scope: scope(trip, at),
                resumed: false,
                outlived: false,
                revision: at.revision,
            });
        }
    }

    /// A stream that ended without the answer, now that the recording is over.
    fn never_answered(&self, open: &Unanswered, at: &Moment<'_>, found: &mut Found) {
        let Some(call) = open.calls.iter().find(|call| !call.answered) else {
            // The answer came on another stream.
            found.held(&RESPONDS, at);
            if open.retry.is_some() {
                found.held(&RETRY, at);
            }
            return;
        };
        if self.cancelled.contains(&inside(&open.scope, &call.id)) || self.cancelled.len() >= MOST_CANCELLED {
            return;
        }
        let wrong = |what: &str| {
            Wrong::of(format!("the stream for {} with the id {} {what}", call.method, call.id))
                .at(open.place.clone())
        };
        if !open.outlived {
            let why = "a stream has no answer at the end of the recording; one that goes on would tell";
            return found.unsure(&RESPONDS, at, why);
        }
        if !open.resumed {
            found.broke_if_whole(&CLOSED_EARLY, at, wrong("ended without the answer"));
        }
        let polls = at.revision == Some(Revision::V2025_11_25) && open.polls;
        match (polls, open.retry) {
            (true, Some(_)) => found.held(&RETRY, at),
            (true, None) => {
                // A connection that broke looks the same.
                let wrong = wrong("ended without the answer and without `retry`, or its connection broke");
                found.broke(&RETRY, at, wrong.only(Level::Info));
            }
            _ => {}
        }
        if polls && !open.resumed {
            found.broke_if_whole(
                &RECONNECT,
                at,
                wrong("ended before the answer, and nobody came back for it"),
            );
        } else {
            found.broke_if_whole(&RESPONDS, at, wrong("never carried the answer"));
        }
    }
}

/// A text in short, to tell it from others of the same event id.
fn hash(text: &str) -> u64 {
    use std::hash::BuildHasher as _;
    foldhash::fast::FixedState::default().hash_one(text)
}
