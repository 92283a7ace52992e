//! The ids of requests: whether each is new, or free again.
//!
//! Knows: that ids belong to whoever asked, and that HTTP may turn a request away so that it is sent again. Refuses to
//! know: what is asked, and what is answered. Memory: the exchanges of the last [`MOST_TURNED`] ids that were sent over
//! HTTP.

use super::correlation::{is_redacted, shown_id};
use crate::engine::{
    Family, IdUse, MessageKind, Report, RuleContext, RuleVisitor, SeenMessage, Span, Trigger, Violation,
};
use crate::rule::Rule;
use std::collections::BTreeMap;
use transcript::json::Json;
use transcript::message::Id;
use transcript::session::{Side, header};

pub(super) const FAMILY: Family = Family {
    name: "request-ids",
    title: "The ids of requests",
    rules: &[&UNIQUE_SESSION, &UNIQUE_INFLIGHT],
    triggers: &[Trigger::Kinds(&[MessageKind::Request]), Trigger::Contexts],
    visitor: || Box::new(RequestIdsState::default()),
};

static UNIQUE_SESSION: Rule = Rule {
    id: "jsonrpc.id.unique-session",
    span: Span::SESSIONS,
    source: "basic/index#requests",
    title: "A side uses each request id once in a session",
    why: "Servers and proxies keep what belongs to a request under its id, and hand an answer to the wrong caller \
          when the id comes again.",
    fix: "Count up for as long as the session lasts, also across reconnects.",
    ..Rule::BLANK
};

static UNIQUE_INFLIGHT: Rule = Rule {
    id: "jsonrpc.id.unique-inflight",
    span: Span::MODERN,
    source: "basic/index#requests",
    title: "A request does not use the id of one that its sender still waits for",
    why: "It is not clear which of the two an answer is for.",
    fix: "Use an id again only when its answer has come; better, count up.",
    ..Rule::BLANK
};

/// So many ids that were sent over HTTP are remembered with what came of their exchanges.
const MOST_TURNED: usize = 10_000;

#[derive(Default)]
struct RequestIdsState {
    session: u64,
    /// For ids of the client: how the exchange ended in which each was sent last.
    sent: BTreeMap<Box<str>, Sent>,
    /// In an envelope: HTTP refused something.
    refused: bool,
    /// A recording that does not tell sessions apart holds a second `initialize`.
    restarted: bool,
    handshakes: u64,
}

#[derive(Clone, Copy)]
struct Sent {
    refused: bool,
    ended: Option<i64>,
}

impl RuleVisitor for RequestIdsState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        if at.facts.session != self.session {
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        self.refused |= at.exchange.is_none()
            && at.entry.context.and_then(|context| context.status).is_some_and(|status| status >= 400);
        if let Some(message) = at.message.as_ref().filter(|message| message.kind == MessageKind::Request) {
            self.request(message, at, report);
        }
    }
}

impl RequestIdsState {
    fn request(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
        if message.calls("initialize") {
            self.handshakes += 1;
            let kind = at.facts.recording.kind;
            self.restarted |= self.handshakes > 1 && !kind.trace && !kind.exchanges;
        }
        if !matches!(message.raw.id(), Id::Text(_) | Id::Number(_)) {
            return;
        }
        let before = self.note(message, at);
        if is_redacted(message, at) {
            return report.inconclusive(&UNIQUE_SESSION, at, "the recorder took out the id");
        }
        let Some(used) = at.pending.last_use() else { return };
        let why = match used {
            IdUse::Fresh if at.pending.full().is_some() => at.pending.full(),
            _ if used != IdUse::Fresh && at.side.is_none() => Some("nothing says whose requests these are"),
            _ if used != IdUse::Fresh && is_of_any_session(at) => {
                Some("the recording holds several sessions, and does not tell whose this is")
            }
            _ if used != IdUse::Fresh && self.restarted => {
                Some("the recording may hold several sessions; one file per session would show it")
            }
            _ if used == IdUse::Open && before.is_none() && is_same_again(message, at) => Some(
                "the same request word for word, unanswered before: HTTP may have turned it away; a HAR would show it",
            ),
            _ if used != IdUse::Fresh && self.refused => {
                Some("a request that HTTP turned away may come again")
            }
            _ => None,
        };
        if let Some(why) = why {
            report.inconclusive(&UNIQUE_SESSION, at, why);
            return report.inconclusive(&UNIQUE_INFLIGHT, at, why);
        }
        let turned_away = before.is_some_and(|sent| sent.refused);
        report.check(&UNIQUE_SESSION, at, used == IdUse::Fresh || turned_away, || {
            let open = if used == IdUse::Open { ", and that request is still open" } else { "" };
            Violation::of(format!("the id {} was used before by this side{open}", shown_id(message)))
        });
        self.inflight(message, used, before, at, report);
    }

    fn inflight(
        &self,
        message: &SeenMessage<'_>,
        used: IdUse,
        before: Option<Sent>,
        at: &RuleContext<'_>,
        report: &mut Report,
    ) {
        // Over HTTP a request is over when its exchange is, whether it was answered or its stream was closed.
        let open = match (before, at.exchange) {
            (Some(sent), Some(_)) => {
                !sent.refused && sent.ended.zip(at.entry.time).is_some_and(|(a, b)| a > b)
            }
            _ => used == IdUse::Open,
        };
        if !open {
            return report.pass(&UNIQUE_INFLIGHT, at);
        }
        let first = message.raw.json().member("id").and_then(|id| at.pending.find(at.side, id));
        let first = first.filter(|first| first.location() != at.location());
        if first.is_some_and(|first| first.cancelled.is_some()) {
            return report.inconclusive(&UNIQUE_INFLIGHT, at, "the request that has this id was cancelled");
        }
        let wrong =
            Violation::of(format!("the id {} belongs to a request that is still open", shown_id(message)));
        let wrong = match first {
            Some(first) => wrong.see(first.location(), "the open request"),
            None => wrong,
        };
        report.fail(&UNIQUE_INFLIGHT, at, wrong);
    }

    /// Remembers the exchange of a request, and returns that in which its id was sent before.
    fn note(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) -> Option<Sent> {
        let exchange = at.exchange?;
        if at.side != Some(Side::Client) {
            return None;
        }
        let refused = exchange.status.is_none_or(|status| status >= 300);
        if self.sent.len() >= MOST_TURNED {
            self.sent.clear();
        }
        self.sent.insert(shown_id(message).into(), Sent { refused, ended: exchange.ended })
    }
}

/// Several sessions share an exchange log, and nothing says which of them this is of.
fn is_of_any_session(at: &RuleContext<'_>) -> bool {
    let Some(exchange) = at.exchange else { return false };
    at.facts.mixed || at.facts.session > 0 && header(&exchange.request_headers, "Mcp-Session-Id").is_none()
}

/// Whether an open request of this side with this id asks the same.
fn is_same_again(message: &SeenMessage<'_>, at: &RuleContext<'_>) -> bool {
    let open = message.raw.json().member("id").and_then(|id| at.pending.find(at.side, id));
    open.is_some_and(|open| {
        open.location() != at.location()
            && message.calls(open.method())
            && open.params().map(Json::text) == message.raw.params().map(Json::text)
    })
}
