//! What client and server agreed on, session by session.
//!
//! The exchanges of several sessions may alternate in a recording of HTTP, and those of several servers. Each is judged by what was
//! agreed on in the session that it names, or else at its host. Memory: the capabilities of up to `MOST_SESSIONS` sessions, up to
//! [`LONGEST`] bytes each, and their tools, as [`ToolDefinitions`] says for all of them.

use super::pending_request::SessionKey;
use super::tool_definitions::{MOST_TOOLS, ToolDefinitions};
use crate::revision::Revision;
use std::mem::{replace, swap};
use transcript::json::{Json, JsonKind, OwnedJson};
use transcript::session::{Exchange, Side};
use transcript::session_names::SessionNames;

/// Longer capabilities are not kept.
const LONGEST: usize = 1 << 16;

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
    names: SessionNames,
    /// By number; that at hand is elsewhere.
    others: Vec<Negotiated>,
    /// The number of that at hand.
    current: Option<usize>,
    /// How many bytes of tools the others have.
    held: usize,
    /// The first number that is remembered.
    first: usize,
    /// How many handshakes there were, in all sessions.
    pub(super) handshakes: u64,
    /// The revision of all, where somebody said so.
    forced: Option<Revision>,
}

impl NamedSessions {
    pub(super) fn new(forced: Option<Revision>) -> Self {
        Self { forced, ..Self::default() }
    }

    /// Turns to the session that an exchange names, whose number in the recording this is. What was agreed on before any was named
    /// is of the first.
    pub(super) fn turn_to(&mut self, number: Option<u64>, exchange: &Exchange<'_>, at_hand: &mut Negotiated) {
        self.names.turn_to(number, exchange);
        self.follow(at_hand);
    }

    /// Another session begins with the exchange at hand, which may have shown its name.
    pub(super) fn begin(&mut self, at_hand: &mut Negotiated) {
        self.names.begin();
        self.follow(at_hand);
    }

    /// The first number that is remembered.
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// Puts what was agreed on at its place, and takes up that of the session at hand.
    fn follow(&mut self, at_hand: &mut Negotiated) {
        if replace(&mut self.first, self.names.first()) != self.names.first() {
            (self.others, self.current, self.held) = (Vec::new(), None, 0);
        }
        let Some(number) = self.names.named() else { return };
        while self.others.len() <= number - self.first {
            self.others.push(Negotiated::new(self.forced));
        }
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

#[cfg(test)]
mod tests {
    use super::{NamedSessions, Negotiated};
    use crate::revision::Revision;
    use transcript::session::Exchange;
    use transcript::session_names::MOST_SESSIONS;

    #[test]
    fn sessions_beyond_the_most_are_others_of_the_same_revision_at_the_same_host() {
        let forced = Some(Revision::V2025_06_18);
        let (mut sessions, mut at_hand) = (NamedSessions::new(forced), Negotiated::new(forced));
        let of = |id: Option<&str>| Exchange {
            url: "http://127.0.0.1:3000/mcp".into(),
            request_headers: id
                .map(|id| ("Mcp-Session-Id".into(), id.to_owned().into()))
                .into_iter()
                .collect(),
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
