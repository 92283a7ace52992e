//! What streams have carried: event ids, how far each has come, and the requests of a server.

use super::rules::{BROADCAST, LAST_ID};
use crate::engine::{HttpExchange, MessageKind, Moment, NO_ORDER, RuleContext, SeenMessage, quoted};
use crate::families::http_streams::inside;
use std::collections::HashMap;
use transcript::json::{Json, Tree};
use transcript::session::STILL_OPEN;

/// The most streams that ended without the answer that are remembered.
pub(super) const MOST_OPEN: usize = 1_000;

/// The stream of all GETs that resume none: servers go on with it from one connection to the next.
pub(super) const STANDING: u64 = u64::MAX;

/// What is known of an event id.
#[derive(Debug)]
pub(super) struct Seen {
    /// The exchange that first carried it.
    pub(super) exchange: u64,
    /// The stream that it is of: the exchange that began it, or [`STANDING`].
    pub(super) stream: u64,
    /// The message that the event carried, in short; none where it carried none.
    pub(super) message: Option<u64>,
    /// How many ids were seen before it.
    pub(super) order: u64,
}

/// How far a stream has come, by [`Seen::order`].
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// The last event that was sent.
    pub(super) sent: u64,
    /// The last event that the client has named, and so has received: its place and id, and when.
    pub(super) named: Option<(u64, Box<str>, Moment)>,
}

impl Seen {
    /// The stream by which its last event is reported: several connections may go on with the standing one at a time.
    pub(super) fn begun(&self) -> u64 {
        if self.stream == STANDING { self.exchange } else { self.stream }
    }
}

impl Progress {
    /// The client asks for what follows an event. What was sent and lost on the way looks like what it has received,
    /// but for events that it has named.
    pub(super) fn resumed(&mut self, order: u64, id: &str, at: &RuleContext<'_>) {
        match &self.named {
            Some((named, _, when)) if *named > order && at.may_precede(when) => {
                return at.inconclusive(&LAST_ID, NO_ORDER);
            }
            Some((named, later, _)) if *named > order => {
                let wrong = format!("the client resumes from {}, and had {}", quoted(id), quoted(later));
                return at.fail(&LAST_ID, wrong);
            }
            _ if self.sent > order => {
                let why =
                    "later events were sent, and may have been lost; the client's own log would show it";
                at.inconclusive(&LAST_ID, why);
            }
            _ => at.pass(&LAST_ID),
        }
        self.named = Some((order, id.into(), at.moment()));
    }
}

/// The requests of a server, by session and id: a stream on which each was sent.
#[derive(Debug, Default)]
pub(super) struct Sent(HashMap<Box<str>, (u64, u64, Option<i64>)>);

impl Sent {
    /// A request on a stream that resumes none. On two streams that are open at once it is sent twice.
    pub(super) fn see(
        &mut self,
        scope: &str,
        exchange: &HttpExchange,
        message: &SeenMessage<'_>,
        at: &RuleContext<'_>,
    ) {
        let id = message.raw.written_id().filter(|_| message.kind == MessageKind::Request);
        let Some(id) = id else { return };
        let (key, text) = (inside(scope, id), hash(message.raw.json()));
        match self.0.get(&key) {
            Some((first, sent, ended)) if *first != exchange.number && *sent == text => {
                let open = ended.zip(exchange.started).map(|(ended, started)| started < ended);
                match open {
                    Some(true) => {
                        let wrong = format!("the request {id} was sent on another open stream as well");
                        at.fail(&BROADCAST, wrong);
                    }
                    _ => at.inconclusive(&BROADCAST, "the stream on which it was sent before may be over"),
                }
            }
            None if self.0.len() < MOST_OPEN => {
                let open = exchange.raw.fate.as_deref() == Some(STILL_OPEN);
                let ended = if open { Some(i64::MAX) } else { exchange.raw.ended };
                self.0.insert(key, (exchange.number, text, ended));
                at.pass(&BROADCAST);
            }
            _ => {}
        }
    }
}

/// A message in short, however it is spelled, to tell it from others of the same event id.
pub(super) fn hash(message: Json<'_>) -> u64 {
    use std::hash::BuildHasher as _;
    foldhash::fast::FixedState::default().hash_one(Tree::new(message).normal_form())
}
