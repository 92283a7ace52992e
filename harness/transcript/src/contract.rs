//! From session to meaning: the reading contract, carried out.
//!
//! Memory: an entry for each request that is still unanswered, or that HTTP turned away, and another where it is an
//! `initialize`; and for COR-DUPLICATE, which
//! must remember every tool call of the session, what [`crate::call_ids`] says. A dialect in which ids may be used again
//! needs no more than the open requests.

use crate::call_ids::CallIds;
use crate::dialect::IdRules;
use crate::k2a::AuthorizationSummary;
use crate::meaning::{Event, EventKind};
use crate::message::{Id, Message, MessageClass, Refusal};
use crate::rejection::Code;
use crate::revision::Revision;
use crate::session::{Carrier, Content, Entry, Side, SinkError};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// The state of a reading: give it the entries of a session in order, and it returns their events.
#[derive(Debug, Default)]
pub struct Contract {
    ids: IdRules,
    /// Unanswered requests by requestor and id: client, server, and unknown (COR-DIRECTION).
    open: [HashMap<Box<[u8]>, Waiting, foldhash::fast::FixedState>; 3],
    calls: CallIds,
    /// The exchange that HTTP turned away, while its messages come (COR-FIRST).
    turned_away: Option<u64>,
    /// The ids of the tool calls that HTTP turned away and that have not come again.
    may_return: HashSet<Box<[u8]>, foldhash::fast::FixedState>,
    /// The events that are an `initialize` and wait for their answer.
    handshakes: BTreeSet<u64>,
    revision: Option<Revision>,
    events: u64,
    summary: Option<AuthorizationSummary>,
}

impl Contract {
    /// The reading of a dialect.
    #[must_use]
    pub fn new(ids: IdRules) -> Self {
        Self { ids, ..Self::default() }
    }

    /// What the next entry means: an event where it carries a message, nothing otherwise.
    ///
    /// # Errors
    /// COR-DUPLICATE: a second tool call with the same id. In a dialect: a message without the id that it needs.
    pub fn take<'a>(&mut self, entry: &Entry<'a>) -> Result<Option<Event<'a>>, SinkError> {
        self.discover(entry);
        self.revision = self.revision(entry);
        if let Content::Exchange(exchange) = &entry.content {
            self.turned_away = entry.exchange.filter(|_| exchange.turned_away());
        }
        let Some(message) = entry.message() else { return Ok(None) };
        let kind = EventKind::new(message);
        let id = message.id().key();
        if self.ids.required
            && id.is_none()
            && let Some(refusal) = without_id(message, kind)
        {
            return Err(SinkError::Rejected(refusal));
        }
        let key = if self.ids.typed { typed(message.id()) } else { id.clone() };
        let answers = match (kind, key.as_deref()) {
            // ID-NULL, ID-MISSING: binds nothing, and nothing binds to it.
            (_, None) => None,
            (EventKind::Result | EventKind::Error, Some(key)) => {
                let answers = self.bind(key, entry.side);
                self.negotiate(answers, message);
                answers
            }
            (EventKind::Notification, Some(_)) => None,
            (EventKind::Request | EventKind::ToolCall, Some(key)) => {
                let is_call = kind == EventKind::ToolCall;
                if is_call && self.is_taken(key, entry) {
                    return Err(SinkError::Rejected(duplicate(message, id.as_deref().unwrap_or_default())));
                }
                self.ask(key, entry.side, is_call);
                if message.method().is_some_and(|method| method.is("initialize")) {
                    self.handshakes.insert(self.events);
                }
                None
            }
        };
        let index = self.events;
        self.events += 1;
        Ok(Some(Event {
            index,
            kind,
            id,
            answers,
            message: *message,
            side: entry.side,
            location: entry.location,
        }))
    }

    /// How many events there were so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How many requests nobody has answered so far.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        self.open.iter().flat_map(HashMap::values).map(Waiting::len).sum()
    }

    /// The revision of the session, as far as this entry and those before it show it (EQ-BATCH): that of the last answered
    /// `initialize` with the version of a revision, or, before there is any, the first that a header named.
    #[must_use]
    pub fn revision(&self, entry: &Entry<'_>) -> Option<Revision> {
        self.revision.or_else(|| Revision::declared(entry))
    }

    /// K2-A: what the session's 401 answers made visible so far, together.
    #[must_use]
    pub fn authorization_discovery(&self) -> Option<AuthorizationSummary> {
        self.summary
    }

    /// Whether `side`, by itself or unknown, has a request with this id open.
    #[must_use]
    pub fn is_open(&self, side: Option<Side>, id: &[u8]) -> bool {
        self.open[lane(side)].contains_key(id)
    }

    /// COR-FIRST, COR-LATE, COR-BEFORE, COR-ANY: the oldest unanswered request with this id that the sender of
    /// the response was asked (COR-DIRECTION), or none: an orphan.
    fn bind(&mut self, id: &[u8], sender: Option<Side>) -> Option<u64> {
        let open = &mut self.open[lane(sender.map(Side::other))];
        let waiting = open.get_mut(id)?;
        let bound = waiting.first;
        waiting.call = waiting.call.filter(|call| *call != bound);
        match waiting.rest.pop_front() {
            Some(next) => waiting.first = next,
            None => {
                open.remove(id);
            }
        }
        Some(bound)
    }

    /// EQ-BATCH: the revision that the result of an `initialize` names. A version that no revision has is passed over.
    fn negotiate(&mut self, answers: Option<u64>, message: &Message<'_>) {
        if answers.is_some_and(|event| self.handshakes.remove(&event))
            && message.class() == MessageClass::Result
            && let Some(version) = message.outcome().and_then(|result| result.member("protocolVersion"))
        {
            self.revision = Revision::new(version).or(self.revision);
        }
    }

    /// COR-DUPLICATE: whether a tool call cannot have this id, since another one has it, or, where ids may be used
    /// again, waits for its answer under it. What HTTP turned away comes again as the same call (COR-FIRST).
    fn is_taken(&mut self, id: &[u8], entry: &Entry<'_>) -> bool {
        let taken = match self.ids.reusable {
            true => self.open[lane(entry.side)].get(id).is_some_and(|waiting| waiting.call.is_some()),
            false => !self.calls.insert(id),
        };
        let taken = !self.may_return.remove(id) && taken;
        if !taken && entry.exchange.is_some() && entry.exchange == self.turned_away {
            self.may_return.insert(id.into());
        }
        taken
    }

    fn ask(&mut self, id: &[u8], requestor: Option<Side>, is_call: bool) {
        let index = self.events;
        let call = is_call.then_some(index);
        let open = &mut self.open[lane(requestor)];
        match open.get_mut(id) {
            Some(waiting) => {
                waiting.rest.push_back(index);
                waiting.call = call.or(waiting.call);
            }
            None => {
                open.insert(id.into(), Waiting { first: index, rest: VecDeque::new(), call });
            }
        }
    }

    /// K2A-SUMMARY, K2A-BOUND, HAR-K2A: a 401 with a challenge, on a response entry or in an exchange.
    fn discover(&mut self, entry: &Entry<'_>) {
        let found = match (&entry.content, entry.context) {
            (Content::Exchange(exchange), _) => {
                AuthorizationSummary::new(exchange.status, &exchange.response_headers)
            }
            (_, Some(context)) if entry.carrier == Carrier::Response => {
                AuthorizationSummary::new(context.status, &context.headers)
            }
            _ => None,
        };
        if let Some(found) = found {
            self.summary = Some(self.summary.map_or(found, |before| before.and(found)));
        }
    }
}

/// The events of requests that share an id and wait for an answer, oldest first; nearly always one.
#[derive(Debug)]
struct Waiting {
    first: u64,
    rest: VecDeque<u64>,
    /// Which of them is a tool call.
    call: Option<u64>,
}

impl Waiting {
    fn len(&self) -> usize {
        1 + self.rest.len()
    }
}

fn lane(requestor: Option<Side>) -> usize {
    match requestor {
        Some(Side::Client) => 0,
        Some(Side::Server) => 1,
        None => 2,
    }
}

/// An id with its type: no number begins with a quotation mark.
fn typed(id: Id<'_>) -> Option<Cow<'_, [u8]>> {
    match id {
        Id::Text(text) => Some([b"\"", &*text.decode()].concat().into()),
        other => other.key(),
    }
}

/// Why a message is refused that has no id, where requests and results need one.
fn without_id(message: &Message<'_>, kind: EventKind) -> Option<Refusal> {
    let what = match kind {
        EventKind::Result => "a result",
        EventKind::ToolCall => "a tools/call",
        EventKind::Request | EventKind::Notification => "a request",
        EventKind::Error => return None,
    };
    let (clause, words) = match message.id() {
        Id::Null => ("ID-NULL", format!("{what} with the id null")),
        // What has a method and no id is a notification; a tool call is none.
        _ if kind == EventKind::Notification => return None,
        _ => ("ID-MISSING", format!("{what} without an id")),
    };
    Some(Refusal::new(Code::InvalidId, message.id_at(), words).under(clause))
}

fn duplicate(message: &Message<'_>, id: &[u8]) -> Refusal {
    let shown: String = String::from_utf8_lossy(id).chars().take(60).collect();
    Refusal::new(Code::DuplicateCallId, message.id_at(), format!("a second tools/call with the id `{shown}`"))
}
