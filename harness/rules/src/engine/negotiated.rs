//! What client and server agreed on, session by session.
//!
//! The exchanges of several sessions may alternate in a recording of HTTP, and those of several servers. Each is judged by what was
//! agreed on in the session that it names, or else at its host. Memory: the capabilities of up to [`MOST_SESSIONS`] sessions, up to
//! [`LONGEST`] bytes each, and their tools, as [`ToolDefinitions`] says for all of them.

use super::http_exchange::{SESSION, VERSION};
use super::pending_request::SessionKey;
use super::tool_definitions::{MOST_TOOLS, ToolDefinitions};
use super::url::{address, host};
use crate::revision::Revision;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::mem::{replace, swap};
use transcript::json::{Json, JsonKind, OwnedJson};
use transcript::session::{Exchange, Side, header};

/// Longer capabilities are not kept.
const LONGEST: usize = 1 << 16;

/// The most sessions that are remembered.
pub(crate) const MOST_SESSIONS: usize = 1_000;

/// What a session has agreed on so far.
#[derive(Debug, Default)]
pub(crate) struct Negotiated {
    /// The revision that rules, as far as there is one for the whole session.
    pub(crate) revision: Option<Revision>,
    /// What the client asked for in `initialize`.
    pub(crate) wished: Option<Box<str>>,
    /// `initialize` got a result.
    pub(crate) initialized: bool,
    client: Option<OwnedJson>,
    server: Option<OwnedJson>,
    pub(super) tools: ToolDefinitions,
}

impl Negotiated {
    /// Of a session of which nothing is known but, where somebody said so, its revision.
    pub(super) fn new(revision: Option<Revision>) -> Self {
        Self { revision, ..Self::default() }
    }

    /// Keeps what a side declares, unless it is none.
    pub(super) fn declare(&mut self, side: Side, capabilities: Option<Json<'_>>) {
        let short = |value: &Json<'_>| value.kind() == JsonKind::Object && value.text().len() <= LONGEST;
        let Some(capabilities) = capabilities.filter(short) else { return };
        let kept = if side == Side::Client { &mut self.client } else { &mut self.server };
        *kept = Some(OwnedJson::new(capabilities));
    }

    /// The capabilities of a side, as it last declared them.
    pub(crate) fn capabilities(&self, side: Side) -> Option<Json<'_>> {
        let kept = if side == Side::Client { &self.client } else { &self.server };
        Some(kept.as_ref()?.json())
    }
}

/// The sessions of a recording that are named.
#[derive(Debug, Default)]
pub(crate) struct NamedSessions {
    numbers: HashMap<SessionName, usize, FixedState>,
    /// The last one at each host.
    latest: HashMap<Box<str>, usize, FixedState>,
    /// The last one that has no id, by its host and the program that speaks there.
    nameless: HashMap<SessionName, usize, FixedState>,
    /// By number; that at hand is elsewhere.
    others: Vec<Negotiated>,
    /// The number of that at hand.
    current: Option<usize>,
    /// Nothing of it was seen before the exchange at hand.
    is_new: bool,
    /// The exchange at hand, its host, and what its request says of the program that sent it.
    exchange: Option<u64>,
    host: Box<str>,
    agent: Box<str>,
    /// How many bytes of tools the others have.
    held: usize,
    /// The first number that is remembered.
    first: usize,
    /// How many handshakes there were, in all sessions.
    pub(super) handshakes: u64,
    /// The revision of all, where somebody said so.
    forced: Option<Revision>,
}

/// Where a session was served, and its id. A proxy may pass on the id of the server behind it: both legs are sessions.
type SessionName = (Box<str>, Box<str>);

impl NamedSessions {
    pub(super) fn new(forced: Option<Revision>) -> Self {
        Self { forced, ..Self::default() }
    }

    /// Turns to the session that an exchange names, whose number in the recording this is. What was agreed on before any was named
    /// is of the first.
    pub(super) fn turn_to(&mut self, number: Option<u64>, exchange: &Exchange<'_>, at_hand: &mut Negotiated) {
        if replace(&mut self.exchange, number) == number {
            return;
        }
        self.is_new = false;
        self.host = host(&exchange.url).into();
        self.agent = header(&exchange.request_headers, "User-Agent").unwrap_or_default().into();
        let Some(name) = name(exchange) else {
            // Who leaves the id out is of the last session there, unless that is another program's.
            let own = self.nameless.get(&(self.host.clone(), self.agent.clone()));
            if let Some(latest) = own.or_else(|| self.latest.get(&self.host)).copied() {
                self.swap(latest, at_hand);
            }
            return;
        };
        let known = self.numbers.get(&name).copied();
        // What a server refused belongs to no session of it.
        if known.is_none() && exchange.status.is_some_and(|status| status >= 400) {
            return;
        }
        let number = known.unwrap_or_else(|| {
            let number = self.add();
            self.numbers.insert(name, number);
            number
        });
        self.latest.insert(self.host.clone(), number);
        self.is_new = known.is_none();
        if self.is_new {
            self.nameless.remove(&(self.host.clone(), self.agent.clone()));
        }
        self.swap(number, at_hand);
    }

    /// Another session begins with the exchange at hand, which may have shown its name.
    pub(super) fn begin(&mut self, at_hand: &mut Negotiated) {
        if !self.is_new {
            let number = self.add();
            self.latest.insert(self.host.clone(), number);
            self.nameless.insert((self.host.clone(), self.agent.clone()), number);
            self.swap(number, at_hand);
        }
    }

    /// The first number that is remembered.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// A place for another one.
    fn add(&mut self) -> usize {
        if self.others.len() >= MOST_SESSIONS {
            *self = Self {
                first: self.first + self.others.len(),
                exchange: self.exchange,
                host: std::mem::take(&mut self.host),
                agent: std::mem::take(&mut self.agent),
                handshakes: self.handshakes,
                ..Self::new(self.forced)
            };
        }
        self.others.push(Negotiated::new(self.forced));
        self.first + self.others.len() - 1
    }

    /// Puts what was agreed on at its place, and takes up that of another.
    fn swap(&mut self, number: usize, at_hand: &mut Negotiated) {
        let Some(before) = self.current.replace(number).filter(|before| *before != number) else { return };
        if self.held + at_hand.tools.bytes() > MOST_TOOLS {
            at_hand.tools.forget();
        }
        self.held += at_hand.tools.bytes();
        swap(at_hand, &mut self.others[before - self.first]);
        swap(at_hand, &mut self.others[number - self.first]);
        self.held -= at_hand.tools.bytes();
    }

    /// What tells the session at hand from others.
    pub(super) fn key(&self) -> SessionKey {
        (self.current, if self.current.is_none() { self.handshakes } else { 0 })
    }
}

/// The name of the session that an exchange is of: of the revisions without sessions only the address.
fn name(exchange: &Exchange<'_>) -> Option<SessionName> {
    let requested = header(&exchange.request_headers, SESSION);
    let revision = header(&exchange.request_headers, VERSION).and_then(Revision::named);
    if requested.is_none() && revision.is_some_and(|revision| !revision.has_handshake()) {
        return Some((address(&exchange.url).into(), "".into()));
    }
    let id = requested.or_else(|| header(&exchange.response_headers, SESSION))?;
    Some((host(&exchange.url).into(), id.into()))
}

#[cfg(test)]
mod tests {
    use super::{MOST_SESSIONS, NamedSessions, Negotiated, SESSION};
    use crate::revision::Revision;
    use transcript::session::Exchange;

    #[test]
    fn sessions_beyond_the_most_are_others_of_the_same_revision_at_the_same_host() {
        let forced = Some(Revision::V2025_06_18);
        let (mut sessions, mut at_hand) = (NamedSessions::new(forced), Negotiated::new(forced));
        let of = |id: Option<&str>| Exchange {
            url: "http://127.0.0.1:3000/mcp".into(),
            request_headers: id.map(|id| (SESSION.into(), id.to_owned().into())).into_iter().collect(),
            ..Exchange::default()
        };
        let last = MOST_SESSIONS as u64;
        for number in 0..=last {
            sessions.turn_to(Some(number), &of(Some(&number.to_string())), &mut at_hand);
        }
        assert_eq!((sessions.first(), sessions.key().0), (MOST_SESSIONS, Some(MOST_SESSIONS)));
        sessions.turn_to(Some(last + 1), &of(None), &mut at_hand);
        assert_eq!((sessions.key().0, at_hand.revision), (Some(MOST_SESSIONS), forced));
        sessions.begin(&mut at_hand);
        assert_eq!((sessions.key().0, at_hand.revision), (Some(MOST_SESSIONS + 1), forced));
    }
}
