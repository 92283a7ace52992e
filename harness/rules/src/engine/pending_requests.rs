//! Who asked what, and what is still open. Ids belong to the side that asked, and `1` is not `"1"`.
//!
//! Memory: the open requests with their params, up to [`MOST_OPEN`] and [`MOST_HELD`], and an answered one up to
//! [`LARGEST_SPARE`]; and for every id that was ever used what `transcript::call_ids` says, up to [`MOST_IDS`]. Past a limit the
//! ledger says so ([`PendingRequests::full`]), and rules that need more are inconclusive.

use super::location::FindingLocation;
use super::methods::Method;
use super::pending_request::SessionKey;
use super::pending_request::{Came, OpenRequests, PendingRequest, requestor, requestors};
use super::response_match::ResponseMatch;
use super::typed_id::{TypedId, UsedIds};
use crate::revision::Revision;
use foldhash::fast::FixedState;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque, hash_map};
use std::iter;
use transcript::json::{Json, OwnedJson};
use transcript::message::Message;
use transcript::session::{Entry, Side};

/// How many open requests are remembered.
pub(crate) const MOST_OPEN: usize = 50_000;

/// How many bytes of params are held for open requests. A request beyond it is remembered without its params.
pub(crate) const MOST_HELD: usize = 32 << 20;

/// The most bytes that are held beside the params, for what is inside of them.
const MOST_BESIDE: usize = 8 << 20;

/// The memory of larger params is not kept for others.
const LARGEST_SPARE: usize = 64 << 10;

/// How many ids are remembered to tell which were used before; ids that count up are remembered as one.
pub(crate) const MOST_IDS: usize = 500_000;

/// So often is looked whether that many are.
const BETWEEN: u64 = 1_000;

/// What became of an id that is used for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IdUse {
    /// It is new.
    Fresh,
    /// It was used before, and that request was answered.
    Again,
    /// A request with it is open.
    Open,
}

/// The requests of a session.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    /// By requestor: client, server, unknown.
    open: [HashMap<TypedId, OpenRequests, FixedState>; 3],
    /// By session, as far as exchanges tell, and by requestor.
    used: HashMap<Option<usize>, [UsedIds; 3], FixedState>,
    /// Ids with open requests of which nobody knows whether they were answered.
    unclear: HashSet<TypedId, FixedState>,
    /// A request that was answered, only for its memory.
    spare: Option<Box<PendingRequest>>,
    /// How the last request's id stood when it was made.
    last_use: Option<IdUse>,
    held: usize,
    /// How many bytes the params take beside their text.
    beside: usize,
    count: usize,
    ids: u64,
    requests: u64,
    full: Option<&'static str>,
    /// No more ids are remembered.
    forgets_ids: bool,
    /// How many requests came before the last place where something of the client, and of the server, is missing: a response may
    /// answer a request that is not known here, and what was asked before may have been answered.
    lost: [Option<u64>; 2],
    /// A result fits only what the other side asks: the recording may be of one side, with the ids of both.
    pub(crate) crossed: bool,
}

const FULL_OF_IDS: &str = "more than 500,000 ids in no order; ids used later are not compared";

impl PendingRequests {
    /// The limit that was reached, in words, if any was.
    pub(crate) fn full(&self) -> Option<&'static str> {
        self.full
    }

    /// How the id of the request at hand stood before it was made; none for whatever is not a request with an id.
    pub(crate) fn last_use(&self) -> Option<IdUse> {
        self.last_use
    }

    /// The number of the request that was made last.
    pub(crate) fn last_number(&self) -> Option<u64> {
        self.requests.checked_sub(1)
    }

    /// How many requests are open.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The open requests, in the order in which they were made.
    pub(crate) fn open(&self) -> Vec<&PendingRequest> {
        let lists = self.open.iter().flat_map(HashMap::values);
        let mut open: Vec<&PendingRequest> =
            lists.flat_map(|open| iter::once(&open.first).chain(&open.rest)).map(Box::as_ref).collect();
        open.sort_by_key(|request| request.number);
        open
    }

    /// The oldest open request of a side whose id is spelled by this value. Where the recording does not tell sides,
    /// any side's will do.
    pub(crate) fn find(&self, side: Option<Side>, id: Json<'_>) -> Option<&PendingRequest> {
        self.find_id(side, &TypedId::new(id)?)
    }

    /// The same, by the id itself.
    pub(crate) fn find_id(&self, side: Option<Side>, id: &TypedId) -> Option<&PendingRequest> {
        requestors(side).iter().find_map(|&index| Some(&*self.open[index].get(id)?.first))
    }

    /// Whether a side ever used this id for a request. Where the recording does not tell sides, any side's will do.
    pub(crate) fn knows(&self, side: Option<Side>, id: Json<'_>) -> bool {
        let Some(key) = TypedId::new(id) else { return false };
        let used = |index: &usize| self.used.values().any(|used| used[*index].has(&key));
        requestors(side).iter().any(used)
    }

    /// Marks the oldest open request of a side with this id as taken back.
    pub(super) fn cancel(
        &mut self,
        side: Option<Side>,
        id: Json<'_>,
        location: FindingLocation,
        time: Option<i64>,
    ) {
        let Some(key) = TypedId::new(id) else { return };
        let sides = requestors(side).iter();
        let mut lists = sides.filter_map(|&index| self.open[index].contains_key(&key).then_some(index));
        let Some(index) = lists.next() else { return };
        if let Some(list) = self.open[index].get_mut(&key) {
            list.first.cancelled.get_or_insert_with(|| Box::new((location, time)));
        }
    }

    /// Messages of a side are missing here, or of either: requests may have been made and answered in them.
    pub(super) fn lose(&mut self, side: Option<Side>) {
        for &index in &requestors(side)[..requestors(side).len() - 1] {
            self.lost[index] = Some(self.requests);
        }
    }

    /// Before which request something of a side is missing, or of either.
    fn lost(&self, side: Option<Side>) -> Option<u64> {
        side.map_or_else(|| self.lost.into_iter().max().flatten(), |side| self.lost[side as usize])
    }

    /// Whether an answer to a request would be in the recording. That to the first request behind a loss may stand before it, where
    /// a recorder has two writers.
    pub(crate) fn keeps_answer(&self, request: &PendingRequest) -> bool {
        self.lost(request.side.map(Side::other)).is_none_or(|lost| request.number > lost)
    }

    /// A new session begins in the same recording: its ids are its own. Of those before this one nothing more comes.
    pub(super) fn start_over(&mut self, first: usize) {
        self.used.retain(|session, _| session.is_some_and(|session| session >= first));
        self.lost = [None; 2];
    }

    /// Notes a request, and what the specification says of its method.
    pub(super) fn ask(
        &mut self,
        entry: &Entry<'_>,
        message: &Message<'_>,
        (method, known): (&str, Option<&'static Method>),
        side: Option<Side>,
        (revision, disputed, session): (Option<Revision>, bool, SessionKey),
    ) {
        self.last_use = None;
        let number = self.requests;
        self.requests += 1;
        let Some(key) = TypedId::of_message(message.id()) else { return };
        let index = requestor(side);
        let fresh = self.forgets_ids || self.used.entry(session.0).or_default()[index].insert(&key);
        // What was never used is not open.
        let open = self.open[index].get(&key).filter(|_| self.forgets_ids || !fresh);
        let unanswered = open.is_some_and(|open| self.keeps_answer(&open.first));
        let answer_lost = open.is_some() && !unanswered;
        self.ids += 1;
        if self.ids.is_multiple_of(BETWEEN) && !self.forgets_ids {
            self.forgets_ids =
                self.used.values().flatten().map(UsedIds::remembered).sum::<usize>() >= MOST_IDS;
        }
        if self.forgets_ids {
            self.full = Some(FULL_OF_IDS);
        }
        // An id that is used again was answered, and the answer is lost.
        if answer_lost {
            self.close(index, &key, (None, session));
            // Or it waits still, and what comes next under its id is for it.
            self.lose(side);
        }
        self.last_use = Some(match (unanswered, fresh) {
            (true, _) => IdUse::Open,
            (false, false) => IdUse::Again,
            (false, true) => IdUse::Fresh,
        });
        if self.count >= MOST_OPEN {
            self.full = Some("more than 50,000 requests are open; later ones are not followed");
            self.lose(side);
            return;
        }
        let params = message.params().filter(|params| self.held + params.text().len() <= MOST_HELD);
        let mut spare = self.spare.take();
        let memory = spare.as_mut().and_then(|spare| spare.params.take());
        let params = params.map(|params| self.keep(params, memory));
        self.count += 1;
        let request = PendingRequest {
            method: match known {
                Some(known) => Cow::Borrowed(known.name),
                None => Cow::Owned(method.to_owned()),
            },
            known,
            params,
            id: SmallVec::from_slice(message.written_id().unwrap_or("null").as_bytes()),
            side,
            time: entry.time,
            disputed,
            revision,
            location: entry.location,
            number,
            exchange: entry.exchange,
            session,
            cancelled: None,
        };
        let request = match spare {
            None => Box::new(request),
            Some(mut spare) => {
                *spare = request;
                spare
            }
        };
        match self.open[index].entry(key) {
            hash_map::Entry::Occupied(mut list) => list.get_mut().rest.push_back(request),
            hash_map::Entry::Vacant(place) => {
                place.insert(OpenRequests { first: request, rest: VecDeque::new() });
            }
        }
    }

    /// Closes the request that a response answers, which came in an exchange and a session.
    pub(super) fn answer(
        &mut self,
        message: &Message<'_>,
        side: Option<Side>,
        came: Came,
    ) -> ResponseMatch<Box<PendingRequest>> {
        self.last_use = None;
        let Some(exact) = TypedId::of_message(message.id()) else { return ResponseMatch::Unmatched };
        if side.is_none() && self.find_id(None, &exact).is_some_and(|request| request.is_crossed_by(message))
        {
            self.crossed = true;
            return ResponseMatch::Ambiguous;
        }
        let others = requestors(side.map(Side::other));
        let unclear = !self.unclear.is_empty() && self.unclear.remove(&exact);
        match self.close_first(others, &exact, came) {
            (None, _) => {}
            (Some(request), false) if !unclear => return ResponseMatch::Matched(request),
            (Some(_), another) => {
                if another {
                    self.unclear.insert(exact);
                }
                return ResponseMatch::Ambiguous;
            }
        }
        if self.lost(side.map(Side::other)).is_some() {
            return ResponseMatch::Unknown;
        }
        let used = self.used.get(&came.1.0);
        if used.is_some_and(|used| others.iter().any(|&index| used[index].has(&exact))) {
            return ResponseMatch::AlreadyAnswered;
        }
        if self.forgets_ids {
            return ResponseMatch::Unknown;
        }
        let retyped = exact.retyped();
        self.close_first(others, &retyped, came).0.map_or(ResponseMatch::Unmatched, ResponseMatch::Mistyped)
    }

    /// Nobody looks at an answered request any more: its memory is that of the next.
    pub(super) fn reuse(&mut self, request: Box<PendingRequest>) {
        let is_large =
            |params: &OwnedJson| params.text_size() > LARGEST_SPARE || params.index_size() > LARGEST_SPARE;
        self.spare = Some(request).filter(|request| !request.params.as_ref().is_some_and(is_large));
    }

    /// Closes the request with this id of the first of these requestors that has one, and tells whether another has one, too.
    fn close_first(
        &mut self,
        requestors: &[usize],
        key: &TypedId,
        came: Came,
    ) -> (Option<Box<PendingRequest>>, bool) {
        let mut requestors = requestors.iter().copied();
        let first = requestors.find_map(|index| self.close(index, key, came));
        let another = first.is_some() && requestors.any(|index| self.open[index].contains_key(key));
        (first, another)
    }

    /// Params are long where many requests are open; past a limit, their members are looked for in their text.
    fn keep(&mut self, params: Json<'_>, memory: Option<OwnedJson>) -> OwnedJson {
        let kept = match memory {
            _ if self.beside >= MOST_BESIDE => OwnedJson::unindexed(params),
            None => OwnedJson::new(params),
            Some(mut memory) => {
                memory.replace(params);
                memory
            }
        };
        self.held += kept.text_size();
        self.beside += kept.index_size();
        kept
    }

    /// Closes one of the requests with this id: see [`OpenRequests::take`].
    fn close(&mut self, index: usize, key: &TypedId, came: Came) -> Option<Box<PendingRequest>> {
        let (key, open) = self.open[index].remove_entry(key)?;
        let (request, left) = open.take(came);
        if let Some(left) = left {
            self.open[index].insert(key, left);
        }
        self.count -= 1;
        if let Some(params) = &request.params {
            self.held -= params.text_size();
            self.beside -= params.index_size();
        }
        Some(request)
    }
}

#[cfg(test)]
mod tests;
