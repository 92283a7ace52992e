//! A request that was made, and the open ones of one id.

use super::location::FindingLocation;
use super::methods::{Method, usual_sender};
use crate::revision::Revision;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::VecDeque;
use transcript::json::{Json, JsonKind, OwnedJson};
use transcript::message::{Message, MessageClass};
use transcript::session::{Location, Side};

/// Members by which a result of the client is known, and one of the server.
const RESULTS: [&[&str]; 2] = [
    &["roots", "model", "action"],
    &[
        "protocolVersion",
        "tools",
        "content",
        "contents",
        "resources",
        "resourceTemplates",
        "prompts",
        "messages",
        "completion",
    ],
];

/// A request that was made.
#[derive(Debug, Clone)]
pub(crate) struct PendingRequest {
    pub(super) method: Cow<'static, str>,
    /// What the specification says of the method.
    pub(super) known: Option<&'static Method>,
    pub(super) params: Option<OwnedJson>,
    /// Most are short.
    pub(super) id: SmallVec<[u8; 24]>,
    /// Who asked.
    pub(crate) side: Option<Side>,
    /// When, in milliseconds, where the recording tells.
    pub(crate) time: Option<i64>,
    /// Its header names another version than its `_meta`.
    pub(crate) disputed: bool,
    /// The revision it was judged by.
    pub(crate) revision: Option<Revision>,
    /// Where its entry stands.
    pub(super) location: Location,
    /// Its number among the requests of the session, from 0.
    pub(crate) number: u64,
    /// The HTTP exchange that it was made in.
    pub(crate) exchange: Option<u64>,
    pub(super) session: SessionKey,
    /// The side that asked took it back: where, and when if the recording tells.
    pub(crate) cancelled: Option<Box<(FindingLocation, Option<i64>)>>,
}

impl PendingRequest {
    /// Its place.
    pub(crate) fn location(&self) -> FindingLocation {
        FindingLocation::new(&self.location, &format!("{} with the id {}", self.method, self.id()))
    }

    /// Where its entry stands: that of a batch for whatever was in it.
    pub(crate) fn entry_location(&self) -> &Location {
        &self.location
    }

    /// Its method.
    pub(crate) fn method(&self) -> &str {
        &self.method
    }

    /// Its id as it was written, quotes and all.
    pub(crate) fn id(&self) -> &str {
        str::from_utf8(&self.id).unwrap_or_default()
    }

    /// Whether this is a result as only requests of the other side get: by its members it is none of this request, but of one that
    /// has the same id and is not here.
    pub(super) fn is_crossed_by(&self, message: &Message<'_>) -> bool {
        let result = message.outcome().filter(|_| message.class() == MessageClass::Result);
        let (Some(result), Some(asker)) = (result, usual_sender(&self.method)) else { return false };
        // The content of a sampled message may be a list, too, and has a model beside it.
        let is_there = |name: &&str| {
            let value = result.member(name);
            value.is_some_and(|value| *name != "content" || value.kind() == JsonKind::Array)
        };
        let is_of = |side: Side| RESULTS[side as usize].iter().any(is_there);
        is_of(asker) && !is_of(asker.other())
    }

    /// Whether the specification has its method, in whatever revision.
    pub(crate) fn is_specified(&self) -> bool {
        self.known.is_some()
    }

    /// Its params; none where there were none, or where they were too large to keep.
    pub(crate) fn params(&self) -> Option<Json<'_>> {
        Some(self.params.as_ref()?.json())
    }

    /// A member of its params.
    pub(crate) fn param(&self, name: &str) -> Option<Json<'_>> {
        self.params()?.member(name)
    }

    /// A member of its `params._meta`.
    pub(crate) fn meta(&self, name: &str) -> Option<Json<'_>> {
        self.param("_meta")?.member(name)
    }
}

/// What tells sessions apart: a number where exchanges tell, else how many handshakes there were.
pub(super) type SessionKey = (Option<usize>, u64);

/// The exchange that an answer came in, and its session.
pub(super) type Came = (Option<u64>, SessionKey);

/// How many of the last requests with one id are compared by their exchange and session.
const MOST_RECENT: usize = 100;

/// The open requests of one id. Two are rare; fifty thousand cost no more each.
#[derive(Debug)]
pub(super) struct OpenRequests {
    pub(super) first: Box<PendingRequest>,
    pub(super) rest: VecDeque<Box<PendingRequest>>,
}

impl OpenRequests {
    /// Takes out the one that was made in the same exchange, else in the same session, else the oldest; and what is left.
    pub(super) fn take(mut self, (exchange, session): Came) -> (Box<PendingRequest>, Option<Self>) {
        let rank = |one: &PendingRequest| {
            let (same_exchange, same_session) = (one.exchange == exchange, one.session == session);
            2 * u8::from(exchange.is_some() && same_exchange) + u8::from(same_session)
        };
        let (oldest, most) = (rank(&self.first), 2 * u8::from(exchange.is_some()) + 1);
        let recent = self.rest.len().saturating_sub(MOST_RECENT)..self.rest.len();
        let recent = recent.rev().filter(|_| oldest < most);
        let better = recent.max_by_key(|place| rank(&self.rest[*place]));
        let better = better.filter(|better| rank(&self.rest[*better]) > oldest);
        if let Some(request) = better.and_then(|place| self.rest.remove(place)) {
            return (request, Some(self));
        }
        match self.rest.pop_front() {
            Some(next) => (std::mem::replace(&mut self.first, next), Some(self)),
            None => (self.first, None),
        }
    }
}

/// The indices of the requestors that a side may be: its own, and that of requests whose sender is not known.
pub(crate) fn requestors(side: Option<Side>) -> &'static [usize] {
    match side {
        Some(Side::Client) => &[0, 2],
        Some(Side::Server) => &[1, 2],
        None => &[0, 1, 2],
    }
}

/// The index of a requestor: client, server, unknown.
pub(crate) fn requestor(side: Option<Side>) -> usize {
    match side {
        Some(Side::Client) => 0,
        Some(Side::Server) => 1,
        None => 2,
    }
}
