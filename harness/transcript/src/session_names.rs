//! Which sessions a recording of HTTP holds, and which of them an exchange is of.

use crate::revision::Revision;
use crate::session::{Content, Entry, Exchange, header};
use foldhash::fast::FixedState;
use std::collections::{BTreeMap, HashMap};

/// The most sessions that are remembered.
pub const MOST_SESSIONS: usize = 1_000;

/// The most exchanges that are followed while their answers come in between others.
const MOST_OPEN: usize = 1_000;

/// The most hosts and ids that are named to a person.
const MOST_SHOWN: usize = 10;

/// The sessions of a recording of HTTP, which may alternate, and be of several servers. An exchange is of the session that it
/// names, or else of the last at its host.
///
/// Memory: the names of up to [`MOST_SESSIONS`] sessions, and of as many exchanges.
#[derive(Debug, Default)]
pub struct SessionNames {
    numbers: HashMap<SessionName, usize, FixedState>,
    /// The last one at each host.
    latest: HashMap<Box<str>, usize, FixedState>,
    /// The last one that has no id, by its host and the program that speaks there.
    nameless: HashMap<SessionName, usize, FixedState>,
    current: Option<usize>,
    /// The first number that is remembered, and the next.
    first: usize,
    next: usize,
    /// Nothing of it was seen before the exchange at hand.
    is_new: bool,
    exchange: Option<u64>,
    host: Box<str>,
    agent: Box<str>,
    /// The exchanges of which more may come.
    open: BTreeMap<u64, Named>,
    shown: [Vec<Box<str>>; 2],
}

/// Where a session was served, and its id. A proxy may pass on the id of the server behind it: both legs are sessions.
type SessionName = (Box<str>, Box<str>);

/// What an exchange shows of its session.
#[derive(Debug, Clone)]
struct Named {
    host: Box<str>,
    agent: Box<str>,
    name: Option<SessionName>,
    /// Its request has the name.
    asks: bool,
    refused: bool,
}

impl Named {
    fn new(exchange: &Exchange<'_>) -> Self {
        let requested = header(&exchange.request_headers, "Mcp-Session-Id");
        let revision = header(&exchange.request_headers, "MCP-Protocol-Version").and_then(Revision::named);
        let host: Box<str> = exchange.url.split('/').nth(2).unwrap_or_default().into();
        // Of the revisions without sessions only the address tells.
        let name = match requested.or_else(|| header(&exchange.response_headers, "Mcp-Session-Id")) {
            _ if requested.is_none() && revision.is_some_and(|revision| !revision.has_handshake()) => {
                let address = exchange.url.split(['?', '#']).next().unwrap_or_default();
                Some((address.trim_end_matches('/').into(), "".into()))
            }
            id => id.map(|id| (host.clone(), id.into())),
        };
        let agent = header(&exchange.request_headers, "User-Agent").unwrap_or_default().into();
        let refused = exchange.status.is_some_and(|status| status >= 400);
        Self { host, agent, name, asks: requested.is_some(), refused }
    }
}

impl SessionNames {
    /// The session at hand, from 0.
    #[must_use]
    pub fn current(&self) -> usize {
        self.current.unwrap_or_default()
    }

    /// The same; none where no exchange named any.
    #[must_use]
    pub fn named(&self) -> Option<usize> {
        self.current
    }

    /// The first number that is remembered.
    #[must_use]
    pub fn first(&self) -> usize {
        self.first
    }

    /// The hosts of the sessions, or their ids where all are at one host, in their order up to a limit; and whether they are
    /// hosts. None where neither tells them apart.
    #[must_use]
    pub fn several(&self) -> Option<(&[Box<str>], bool)> {
        let [hosts, ids] = &self.shown;
        if hosts.len() > 1 { Some((hosts, true)) } else { (ids.len() > 1).then_some((ids, false)) }
    }

    /// How many hosts they are at, up to a limit.
    #[must_use]
    pub fn hosts(&self) -> usize {
        self.shown[0].len()
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.next
    }

    /// Takes an entry in.
    pub(crate) fn see(&mut self, entry: &Entry<'_>) {
        let Some(number) = entry.exchange else { return };
        if let Content::Exchange(exchange) = &entry.content {
            if self.open.len() == MOST_OPEN {
                self.open.pop_first();
            }
            self.open.insert(number, Named::new(exchange));
        }
        if self.exchange != Some(number)
            && let Some(named) = self.open.get(&number).cloned()
        {
            self.turn(Some(number), named);
        }
    }

    /// Takes in that an `initialize` was made. With the id of a session it begins none, and none where it was refused.
    pub(crate) fn initialize(&mut self, entry: &Entry<'_>) {
        let named = entry.exchange.and_then(|number| self.open.get(&number));
        if named.is_some_and(|named| !named.asks && !named.refused) {
            self.begin();
        }
    }

    /// Turns to the session that an exchange names, whose number in the recording this is.
    pub fn turn_to(&mut self, number: Option<u64>, exchange: &Exchange<'_>) {
        if self.exchange != number {
            self.turn(number, Named::new(exchange));
        }
    }

    fn turn(&mut self, number: Option<u64>, named: Named) {
        let Named { host, agent, name, refused, .. } = named;
        (self.exchange, self.is_new, self.host, self.agent) = (number, false, host, agent);
        let Some(name) = name else {
            // Who leaves the id out is of the last session there, unless that is another program's.
            let own = self.nameless.get(&(self.host.clone(), self.agent.clone()));
            self.current = own.or_else(|| self.latest.get(&self.host)).copied().or(self.current);
            return;
        };
        let known = self.numbers.get(&name).copied();
        // What a server refused belongs to no session of it.
        if known.is_none() && refused {
            return;
        }
        let session = known.unwrap_or_else(|| {
            let session = self.add(&name.1);
            self.numbers.insert(name, session);
            session
        });
        self.latest.insert(self.host.clone(), session);
        self.is_new = known.is_none();
        if self.is_new {
            self.nameless.remove(&(self.host.clone(), self.agent.clone()));
        }
        self.current = Some(session);
    }

    /// Another session begins with the exchange at hand, which may have shown its name.
    pub fn begin(&mut self) {
        if !self.is_new {
            let session = self.add("");
            self.latest.insert(self.host.clone(), session);
            self.nameless.insert((self.host.clone(), self.agent.clone()), session);
            self.current = Some(session);
        }
    }

    fn add(&mut self, id: &str) -> usize {
        if self.next - self.first >= MOST_SESSIONS {
            self.first = self.next;
            [&mut self.numbers, &mut self.nameless].into_iter().for_each(HashMap::clear);
            self.latest.clear();
        }
        for (names, name) in self.shown.iter_mut().zip([&*self.host, id]) {
            if names.len() < MOST_SHOWN && !name.is_empty() && !names.iter().any(|it| **it == *name) {
                names.push(name.into());
            }
        }
        self.next += 1;
        self.next - 1
    }
}
