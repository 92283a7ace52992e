//! From session to meaning: the reading contract, carried out.
//!
//! Memory: an entry for each request that is still unanswered, or that HTTP turned away, and another where it is an
//! `initialize`; and for COR-DUPLICATE, which
//! must remember every tool call of the session, what [`crate::call_ids`] says. A dialect in which ids may be used again
//! needs no more than the open requests. [`SessionNames`] says what sessions cost; kept apart, they cost the ids of all
//! calls once more.

use crate::call_ids::CallIds;
use crate::dialect::IdRules;
use crate::k2a::AuthorizationSummary;
use crate::meaning::{Event, EventKind};
use crate::message::{Id, Message, MessageClass, Refusal};
use crate::rejection::Code;
use crate::revision::Revision;
use crate::session::{Carrier, Content, Entry, Side, SinkError};
use crate::session_names::SessionNames;
use foldhash::fast::FixedState;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// The state of a reading: give it the entries of a session in order, and it returns their events.
#[derive(Debug, Default)]
pub struct Contract {
    ids: IdRules,
    /// Unanswered requests by requestor and id: client, server, and unknown (COR-DIRECTION).
    open: [HashMap<Box<[u8]>, Waiting, FixedState>; 3],
    calls: CallIds,
    /// The exchange that HTTP turned away, while its messages come (COR-FIRST).
    turned_away: Option<u64>,
    /// The ids of the tool calls that HTTP turned away and that have not come again.
    may_return: HashSet<Box<[u8]>, FixedState>,
    /// The events that are an `initialize` and wait for their answer.
    handshakes: BTreeSet<u64>,
    revision: Option<Revision>,
    events: u64,
    summary: Option<AuthorizationSummary>,
    names: SessionNames,
    /// Where sessions are kept apart.
    parted: Option<Parted>,
}

impl Contract {
    /// The reading of a dialect.
    #[must_use]
    pub fn new(ids: IdRules) -> Self {
        Self { ids, ..Self::default() }
    }

    /// The reading of a recording of several sessions, of several servers too, as far as HTTP tells them apart: a response
    /// answers the request of its exchange, else that of its session, else the oldest, and each session has its own ids.
    #[must_use]
    pub fn by_session() -> Self {
        Self { parted: Some(Parted::default()), ..Self::default() }
    }

    /// The same with ids that may be used again: a call is a second one while another of its session waits under its id.
    #[must_use]
    pub fn reusing(self) -> Self {
        Self { ids: IdRules { reusable: true, ..self.ids }, ..self }
    }

    /// The sessions so far.
    #[must_use]
    pub fn sessions(&self) -> &SessionNames {
        &self.names
    }

    /// What COR-DUPLICATE says, once, of an id that calls of two sessions have, where they are kept apart.
    pub fn shared_id(&mut self) -> Option<Refusal> {
        self.parted.as_mut()?.shared.take()
    }

    /// What the next entry means: an event where it carries a message, nothing otherwise.
    ///
    /// # Errors
    /// COR-DUPLICATE: a second tool call with the same id. In a dialect: a message without the id that it needs.
    pub fn take<'a>(&mut self, entry: &Entry<'a>) -> Result<Option<Event<'a>>, SinkError> {
        self.discover(entry);
        self.names.see(entry);
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
                let answers = self.bind(key, entry);
                self.negotiate(answers, message);
                answers
            }
            (EventKind::Notification, Some(_)) => None,
            (EventKind::Request | EventKind::ToolCall, Some(key)) => {
                let is_call = kind == EventKind::ToolCall;
                let initializes = message.method().is_some_and(|method| method.is("initialize"));
                if initializes {
                    self.names.initialize(entry);
                    self.handshakes.insert(self.events);
                }
                let taken = is_call && self.is_taken(key, entry);
                let of_another = match &mut self.parted {
                    Some(parted) => parted.ask(self.events, (entry, &self.names), is_call.then_some(key)),
                    None => false,
                };
                if taken {
                    let refusal = duplicate(message, id.as_deref().unwrap_or_default());
                    let Some(parted) = self.parted.as_mut().filter(|_| of_another) else {
                        return Err(SinkError::Rejected(refusal));
                    };
                    parted.shared.get_or_insert(refusal);
                }
                self.ask(key, entry.side, is_call);
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
    fn bind(&mut self, id: &[u8], entry: &Entry<'_>) -> Option<u64> {
        let open = &mut self.open[lane(entry.side.map(Side::other))];
        let waiting = open.get_mut(id)?;
        if let Some(parted) = &mut self.parted {
            parted.put_first(waiting, (entry.exchange, self.names.current()));
        }
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
            true => {
                let call = self.open[lane(entry.side)].get(id).and_then(|waiting| waiting.call);
                let session =
                    |call| self.parted.as_ref().is_none_or(|it| it.is_of(call, self.names.current()));
                call.is_some_and(session)
            }
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

/// How many of the last requests with one id are compared by their exchange and session.
const MOST_RECENT: usize = 100;

/// What is remembered of the sessions of a recording that are kept apart.
#[derive(Debug, Default)]
struct Parted {
    /// The exchange and the session of each open request, by its event.
    asked: HashMap<u64, (Option<u64>, usize), FixedState>,
    /// The ids of tool calls, behind the number of their session.
    calls: CallIds,
    shared: Option<Refusal>,
}

impl Parted {
    /// Takes a request in; whether it is a call whose id no other of its session has.
    fn ask(&mut self, event: u64, (entry, names): (&Entry<'_>, &SessionNames), call: Option<&[u8]>) -> bool {
        self.asked.insert(event, (entry.exchange, names.current()));
        let own = |id: &[u8]| [format!("{}/", names.current()).as_bytes(), id].concat();
        call.is_some_and(|id| self.calls.insert(&own(id)))
    }

    /// Whether a request that waits is of this session.
    fn is_of(&self, event: u64, session: usize) -> bool {
        self.asked.get(&event).is_some_and(|(_, of)| *of == session)
    }

    /// Puts the request first that an answer in this exchange and session is for.
    fn put_first(&mut self, waiting: &mut Waiting, (exchange, session): (Option<u64>, usize)) {
        let rank = |event: &u64| {
            let Some((asked_in, of)) = self.asked.get(event) else { return 0 };
            2 * u8::from(exchange.is_some() && *asked_in == exchange) + u8::from(*of == session)
        };
        let recent = waiting.rest.len().saturating_sub(MOST_RECENT)..waiting.rest.len();
        let best = recent.rev().max_by_key(|at| rank(&waiting.rest[*at]));
        let best = best.filter(|at| rank(&waiting.rest[*at]) > rank(&waiting.first));
        if let Some(better) = best.and_then(|at| waiting.rest.remove(at)) {
            waiting.rest.push_front(std::mem::replace(&mut waiting.first, better));
        }
        self.asked.remove(&waiting.first);
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
