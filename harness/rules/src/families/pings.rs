//! Pings, which have to be answered whatever the state of a session.
//!
//! Refuses to know: how long an answer takes. Memory: [`MOST_PINGS`] pings that came before the handshake was over.

use crate::engine::{Found, Moment, Place, Said, Sort, Span, Wrong, shown};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Party, Rule};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "pings",
    title: "Pings",
    rules: &[&PING, &EARLY_PING],
    hears: &[
        Hears::Some(&[Sort::Notification], &["notifications/initialized"]),
        Hears::Some(&[Sort::Request, Sort::Result, Sort::Error], &["ping", "initialize"]),
    ],
    watch: || Box::new(Watching::default()),
};

/// What the rules of this file have in common.
const OURS: Rule = Rule { span: Span::SESSIONS, source: "basic/lifecycle#initialization", ..Rule::BLANK };

static PING: Rule = Rule {
    id: "ping.empty-result",
    source: "basic/utilities/ping#behavior-requirements",
    title: "A ping is answered with an empty result",
    why: "Whoever pings takes an error for a dead peer and hangs up.",
    fix: "Answer every `ping` with {}.",
    ..OURS
};

static EARLY_PING: Rule = Rule {
    id: "life.server.reject-early-ping",
    level: Level::Should,
    party: Party::Server,
    title: "A ping is answered also before the session is initialized",
    why: "Clients may ping at that time to see whether the server is alive, and take a refusal for an outage.",
    fix: "Answer `ping` whatever the state of the session.",
    ..OURS
};

/// So many early pings are remembered.
const MOST_PINGS: usize = 100;

#[derive(Default)]
struct Watching {
    session: u64,
    initialized: bool,
    /// Pings that came before the session was initialized, by their number.
    early_pings: Vec<u64>,
    /// Answers to pings that came before any handshake: whether each was a pong, and where.
    early_pongs: Vec<(bool, Place)>,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        // What comes before a first handshake belongs to the session that it begins.
        if at.facts.session != self.session {
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        let Some(said) = &at.said else { return };
        match said.sort {
            Sort::Notification => self.initialized |= said.calls("notifications/initialized"),
            Sort::Request => self.request(said, at),
            Sort::Result | Sort::Error => self.response(said, at, found),
        }
    }
}

impl Watching {
    fn request(&mut self, said: &Said<'_>, at: &Moment<'_>) {
        if said.calls("ping")
            && at.side == Some(Side::Client)
            && !self.initialized
            && let Some(asked) = said.message.json().member("id").and_then(|id| at.ledger.find(at.side, id))
            && self.early_pings.len() < MOST_PINGS
        {
            self.early_pings.push(asked.number);
        }
    }

    fn response(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let Some(asked) = said.asked() else { return };
        if said.result_of("initialize").is_some() {
            for (kept, place) in self.early_pongs.drain(..) {
                early_pong(kept, place, at, found);
            }
        }
        // A refusal of HTTP is about the session or the permission, and the ping never got anywhere.
        let refused = at.exchange.and_then(|exchange| exchange.status).is_some_and(|status| status >= 400);
        if asked.method() != "ping" || refused {
            return;
        }
        if let Some(index) = self.early_pings.iter().position(|&number| number == asked.number) {
            self.early_pings.remove(index);
            let kept = said.sort == Sort::Result;
            if !at.facts.handshake {
                return self.early_pongs.push((kept, at.place()));
            }
            early_pong(kept, at.place(), at, found);
            if !kept {
                return;
            }
        }
        pong(said, at, found);
    }
}

/// The answer to a ping that came before the session was initialized.
fn early_pong(kept: bool, place: Place, at: &Moment<'_>, found: &mut Found) {
    found.check(&EARLY_PING, at, kept, || {
        Wrong::of("a ping is refused before the session is initialized").at(place).by(Party::Server)
    });
}

/// The answer to a ping. Metadata may go with it, and what later revisions put into every result.
fn pong(said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
    let Some(outcome) = said.message.outcome() else { return };
    if said.sort == Sort::Error {
        return found.broke(
            &PING,
            at,
            Wrong::of(format!("the ping got an error: {}", shown(outcome))).inside(outcome),
        );
    }
    let more = outcome.members().find(|(name, _)| !name.is("_meta") && !name.is("resultType"));
    found.check(&PING, at, more.is_none(), || {
        let wrong = Wrong::of(format!("the result is not empty: {}", shown(outcome)));
        wrong.inside(outcome)
    });
}
