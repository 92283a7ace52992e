//! Pings, which have to be answered whatever the state of a session.
//!
//! Memory: [`MOST_PINGS`] pings that came before the handshake was over, and one that HTTP refused.

use crate::engine::{
    Family, FindingLocation, HttpExchange, MessageKind, RuleContext, RuleVisitor, SeenMessage, Span,
    Transport, Trigger, Violation, per_session, quoted, shown,
};
use crate::rule::{Party, Rule};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "pings",
    title: "Pings",
    rules: &[&PING, &EARLY_PING],
    triggers: &[
        Trigger::Methods(&[MessageKind::Notification], &["notifications/initialized"]),
        Trigger::Methods(MessageKind::CALLS, &["ping", "initialize"]),
        Trigger::HttpExchanges,
    ],
    visitor: per_session::<PingsState>,
};

/// What the rules of this file have in common.
const OURS: Rule = Rule { span: Span::SESSIONS, source: "basic/lifecycle#initialization", ..Rule::BLANK };

static PING: Rule = Rule {
    id: "ping.empty-result",
    source: "basic/utilities/ping#behavior-requirements",
    title: "A ping is answered with an empty result",
    why: "The side that pings takes an error for a dead peer and hangs up.",
    fix: "Answer every `ping` with {}.",
    ..OURS
};

static EARLY_PING: Rule = Rule {
    id: "life.server.reject-early-ping",
    relational: true,
    title: "A ping is answered even before the session is initialized",
    why: "Clients may ping at that time to see whether the server is alive, and take a refusal for an outage.",
    fix: "Answer `ping` whatever the state of the session.",
    ..OURS.should().server()
};

/// The most early pings that are remembered.
const MOST_PINGS: usize = 100;

#[derive(Default)]
struct PingsState {
    initialized: bool,
    /// Pings that came before the session was initialized, by their number.
    early_pings: Vec<u64>,
    /// Answers to pings that came before any handshake: whether each was a pong, and where.
    early_pongs: Vec<(bool, FindingLocation)>,
    /// The first ping that failed over HTTP in the session, with its status.
    failed: Option<(u16, FindingLocation)>,
    /// HTTP served something else after it, and a ping.
    serves: [bool; 2],
}

impl RuleVisitor for PingsState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        match message.kind {
            MessageKind::Notification => self.initialized |= message.calls("notifications/initialized"),
            MessageKind::Request => self.request(message, at),
            MessageKind::Result | MessageKind::Error => self.response(message, at),
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let [call] = &exchange.calls[..] else { return };
        match (exchange.status(), &*call.method) {
            (200..=299, "ping") => self.serves[1] = true,
            (200..=299, method) => self.serves[0] |= self.failed.is_some() && method != "initialize",
            // With 502 to 504 a gateway answers in the server's place.
            (status @ (500 | 501 | 505..=599), "ping")
                if exchange.transport == Transport::Streamable
                    && self.initialized
                    && self.failed.is_none() =>
            {
                self.failed = Some((status, at.location()));
            }
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        if let ([true, false], Some((status, location))) = (self.serves, self.failed.take()) {
            let wrong = format!("the ping is answered with {status}, and the session goes on");
            at.fail(&PING, Violation::new(wrong).at(location).by(Party::Server));
        }
    }
}

impl PingsState {
    fn request(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if message.calls("ping")
            && at.side == Some(Side::Client)
            && !self.initialized
            && let Some(request) = message.raw.id_value().and_then(|id| at.pending.find(at.side, id))
            && self.early_pings.len() < MOST_PINGS
        {
            self.early_pings.push(request.number);
        }
    }

    fn response(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(request) = message.request() else { return };
        if message.result_of("initialize").is_some() {
            for (kept, location) in self.early_pongs.drain(..) {
                early_pong(kept, location, at);
            }
        }
        // A refusal of HTTP is about the session or the permission, and the ping never got anywhere.
        let refused = at.exchange.and_then(|exchange| exchange.status).is_some_and(|status| status >= 400);
        if request.method() != "ping" || refused {
            return;
        }
        if let Some(index) = self.early_pings.iter().position(|&number| number == request.number) {
            self.early_pings.remove(index);
            let kept = message.kind == MessageKind::Result;
            if !at.facts.handshake {
                return self.early_pongs.push((kept, at.location()));
            }
            early_pong(kept, at.location(), at);
            if !kept {
                return;
            }
        }
        pong(message, at);
    }
}

/// The answer to a ping that came before the session was initialized.
fn early_pong(kept: bool, location: FindingLocation, at: &RuleContext<'_>) {
    at.check(&EARLY_PING, kept, || {
        Violation::new("a ping is refused before the session is initialized").at(location).by(Party::Server)
    });
}

/// The answer to a ping. Metadata may go with it, and what later revisions put into every result.
fn pong(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let Some(outcome) = message.raw.outcome() else { return };
    if message.kind == MessageKind::Error {
        let wrong = Violation::new(format!("the ping got an error: {}", shown(outcome))).inside(outcome);
        return at.fail(&PING, wrong);
    }
    let own = outcome.members().filter(|(name, _)| !name.is("_meta") && !name.is("resultType"));
    let own: Vec<_> = own.map(|(name, _)| name.to_str().unwrap_or_default()).collect();
    at.check(&PING, own.is_empty(), || {
        // Not what is in it: a time would make each ping another finding.
        Violation::new(format!("the result is not empty, but has {}", quoted(&own.join(", "))))
            .inside(outcome)
    });
}
