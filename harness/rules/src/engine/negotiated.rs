//! What client and server agreed on, session by session.
//!
//! The exchanges of several sessions may alternate in a recording of HTTP. Each is judged by what was agreed on in the session that it
//! names. Memory: the capabilities of up to [`MOST_SESSIONS`] sessions, up to [`LONGEST`] bytes each.

use super::http_exchange::{SESSION, VERSION};
use super::url::host;
use crate::revision::Revision;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::mem::{replace, swap, take};
use transcript::json::{Json, JsonKind, OwnedJson};
use transcript::session::{Exchange, Side, header};

/// Longer capabilities are not kept.
const LONGEST: usize = 1 << 16;

/// The most sessions that are told from each other.
const MOST_SESSIONS: usize = 1_000;

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
    /// By host and session id; requests of the revisions without sessions have an empty name.
    numbers: HashMap<Box<str>, usize, FixedState>,
    /// By number; that at hand is elsewhere.
    others: Vec<Negotiated>,
    /// The number of that at hand.
    current: Option<usize>,
    /// Nothing of it was seen before the exchange at hand.
    is_new: bool,
    /// The exchange at hand.
    exchange: Option<u64>,
}

impl NamedSessions {
    /// Turns to the session that an exchange names, whose number in the recording this is. What was agreed on before any was named
    /// is of the first.
    pub(super) fn turn_to(
        &mut self,
        number: Option<u64>,
        exchange: &Exchange<'_>,
        at_hand: &mut Negotiated,
        blank: Negotiated,
    ) {
        if replace(&mut self.exchange, number) == number {
            return;
        }
        self.is_new = false;
        let Some(name) = name(exchange) else { return };
        let known = self.numbers.get(&*name).copied();
        // What a server refused belongs to no session of it.
        let is_taken = exchange.status.is_none_or(|status| status < 400);
        if known.is_none() && (!is_taken || self.others.len() >= MOST_SESSIONS) {
            return;
        }
        let number = known.unwrap_or_else(|| {
            self.numbers.insert(name, self.others.len());
            self.others.push(blank);
            self.others.len() - 1
        });
        self.is_new = known.is_none();
        if let Some(before) = self.current.replace(number).filter(|before| *before != number) {
            swap(at_hand, &mut self.others[before]);
            swap(at_hand, &mut self.others[number]);
        }
    }

    /// Another session begins, of which the exchange at hand may have shown the name.
    pub(super) fn start_over(mut self, at_hand: &mut Negotiated) -> Self {
        if let Some(before) = self.current.filter(|_| !self.is_new) {
            self.others[before] = take(at_hand);
            self.current = None;
        }
        self
    }

    /// A number of the session at hand, where it has a name.
    pub(super) fn current(&self) -> Option<usize> {
        self.current
    }
}

/// The name of the session that an exchange is of. A proxy may pass on the id of the server behind it: both legs are sessions.
fn name(exchange: &Exchange<'_>) -> Option<Box<str>> {
    let requested = header(&exchange.request_headers, SESSION);
    let revision = header(&exchange.request_headers, VERSION).and_then(Revision::named);
    if requested.is_none() && revision.is_some_and(|revision| !revision.has_handshake()) {
        return Some("".into());
    }
    let id = requested.or_else(|| header(&exchange.response_headers, SESSION))?;
    Some(format!("{} {id}", host(&exchange.url)).into())
}
