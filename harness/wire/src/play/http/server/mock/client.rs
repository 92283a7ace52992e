//! One client of a mock over HTTP: what it asked, and the streams on which it is answered.
//!
//! Memory: [`STREAMS`] streams of requests that are answered, and of each stream [`EVENTS`] events for a client that comes
//! back.

use crate::http::{JSON, SESSION, insert};
use crate::play::http::listener::Responder;
use crate::play::http::route::{Answers, Reply};
use crate::play::http::stream::Stream;
use crate::play::mock::{Action, Catalogue, Matching, MockClient};
use crate::play::plan::Plan;
use formats::identify::Transport;
use std::collections::{BTreeMap, VecDeque};

/// How many streams of answered requests are kept for a client that comes back.
const STREAMS: usize = 32;

/// How many events of a stream are kept.
const EVENTS: usize = 1024;

/// The one stream that does not answer a request.
pub(super) const GET: Lane = None;

/// A stream: of the request with this number, or of a GET.
type Lane = Option<u64>;

/// One client.
pub(super) struct HttpClient<'p> {
    pub(super) mock: MockClient<'p>,
    pub(super) streams: BTreeMap<Lane, Stream>,
    /// Streams of requests that are answered, oldest first.
    answered: VecDeque<u64>,
    /// Requests that get one message as their answer.
    pub(super) waiting: BTreeMap<u64, PendingReply>,
}

/// A request that gets one message as its answer.
pub(super) struct PendingReply {
    pub(super) status: u16,
    /// The id that the session gets with it.
    pub(super) named: Option<String>,
    pub(super) reply: Responder,
}

impl<'p> HttpClient<'p> {
    pub(super) fn new(catalogue: &'p Catalogue<'p>, matching: &'p Matching) -> Self {
        Self {
            mock: MockClient::new(catalogue, matching),
            streams: BTreeMap::new(),
            answered: VecDeque::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// Sends a message: as the answer to its request, or on the stream that it belongs to.
    pub(super) fn send(
        &mut self,
        text: &str,
        about: Option<u64>,
        last: bool,
        over: Transport,
        plan: &Plan<'_>,
    ) {
        if let Some(tag) = about.filter(|_| last)
            && let Some(PendingReply { status, named, reply }) = self.waiting.remove(&tag)
        {
            // A client may go before it is answered.
            reply.send((status, JSON), text, plan, |headers| insert(headers, SESSION, named.as_deref()));
            return;
        }
        let lane = about.map(Some).filter(|lane| self.streams.contains_key(lane)).unwrap_or(GET);
        let name = lane.map_or("get".to_owned(), |tag| tag.to_string());
        let stream = self.streams.entry(lane).or_default();
        let event = (over == Transport::StreamableHttp).then(|| format!("{name}-{}", stream.count() + 1));
        stream.add((over == Transport::HttpSse).then_some("message"), event, text);
        stream.whole = last && lane != GET;
        stream.send(false, false);
        stream.forget_all_but(EVENTS);
        self.answered.extend(lane.filter(|_| last));
        if self.answered.len() > STREAMS
            && let Some(oldest) = self.answered.pop_front()
        {
            self.streams.remove(&Some(oldest));
        }
    }
}

/// Whether a request gets one JSON body as its answer, and with which status; none where it gets a stream.
pub(super) fn form(answers: Answers, recorded: Option<&Reply>, actions: &[Action]) -> Option<u16> {
    match (recorded, answers) {
        (Some(Reply::Json(status)), _) => Some(*status),
        (_, Answers::Json) => Some(200),
        (None, Answers::AsRecorded) => {
            // Nothing comes before the answer where that is there at once.
            let answer = actions.iter().find_map(|action| match action {
                Action::Send { last, .. } => Some(*last),
                _ => None,
            });
            (answer == Some(true)).then_some(200)
        }
        _ => None,
    }
}
