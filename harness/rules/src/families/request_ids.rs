//! The ids of requests: whether each is new, or free again.
//!
//! Ids belong to the side that asked, and HTTP may turn a request away so that it is sent again. Memory: the exchanges of the
//! last [`MOST_TURNED`] ids that were sent over HTTP, and the ids of tool calls and of requests that need no session as
//! `transcript::call_ids` keeps them, up to [`MOST_CALLS`] each.

use super::correlation::{is_redacted, shown_id};
use super::modern::{client_of, may_be_one};
use crate::engine::{
    Family, IdUse, META_VERSION, MessageKind, RuleContext, RuleVisitor, SeenMessage, Span, Trigger, Violation,
};
use crate::rule::Rule;
use std::collections::BTreeMap;
use transcript::call_ids::CallIds;
use transcript::json::Json;
use transcript::message::Id;
use transcript::session::{Side, header};

pub(super) const FAMILY: Family = Family {
    name: "request-ids",
    title: "The ids of requests",
    rules: &[&UNIQUE_SESSION, &UNIQUE_INFLIGHT, &CALL_AGAIN],
    triggers: &[Trigger::Kinds(&[MessageKind::Request]), Trigger::Contexts],
    visitor: || Box::new(RequestIdsState::default()),
};

static UNIQUE_SESSION: Rule = Rule {
    id: "jsonrpc.id.unique-session",
    relational: true,
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

static CALL_AGAIN: Rule = Rule {
    id: "rec.call-id.again",
    source: "reading contract, COR-DUPLICATE",
    title: "No two tool calls of a recording share an id, even across sides or sessions",
    why: "Importers tell calls apart by their ids and refuse the recording, also where the protocol allows the id: in \
          another session, from the other side, as a string beside a number, or once it is free again.",
    fix: "Write one file for each session, and number its calls consecutively.",
    ..Rule::BLANK.info().recorder()
};

/// The most ids that were sent over HTTP that are remembered with what came of their exchanges.
const MOST_TURNED: usize = 10_000;

/// The most ids of tool calls that are remembered; ids that count up are remembered as one.
const MOST_CALLS: usize = 100_000;

#[derive(Default)]
struct RequestIdsState {
    session: u64,
    /// For ids of each client: how the exchange ended in which each was sent last.
    sent: BTreeMap<Box<str>, Sent>,
    /// In an envelope: HTTP refused something.
    refused: bool,
    /// A recording that does not tell sessions apart holds a second `initialize`.
    restarted: bool,
    handshakes: u64,
    /// The ids of all tool calls of the recording, up to [`MOST_CALLS`].
    calls: CallIds,
    /// The ids of requests that need no session, up to as many.
    modern: CallIds,
}

#[derive(Clone, Copy)]
struct Sent {
    refused: bool,
    /// Refused so that the same request comes again (COR-FIRST).
    turned_away: bool,
    ended: Option<i64>,
}

impl RuleVisitor for RequestIdsState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        if at.facts.session != self.session {
            let (calls, modern) = (std::mem::take(&mut self.calls), std::mem::take(&mut self.modern));
            *self = Self { session: at.facts.session, calls, modern, ..Self::default() };
        }
        self.refused |= at.exchange.is_none()
            && at.entry.context.and_then(|context| context.status).is_some_and(|status| status >= 400);
        if let Some(message) = at.message.filter(|message| message.kind == MessageKind::Request) {
            self.request(message, at);
        }
    }
}

impl RequestIdsState {
    fn request(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if message.calls("initialize") {
            self.handshakes += 1;
            let kind = at.facts.recording.kind;
            let piped = kind.trace && at.facts.over_stdio() == Some(true);
            self.restarted |= self.handshakes > 1 && !piped && !kind.exchanges;
        }
        if !matches!(message.raw.id(), Id::Text(_) | Id::Number(_)) {
            return;
        }
        let before = self.note(message, at);
        let reported = self.judge(message, before, at);
        if let Some(id) = message.raw.id().key().filter(|_| message.meta(META_VERSION).is_some())
            && self.modern.remembered() < MOST_CALLS
        {
            self.modern.insert(&id);
        }
        self.call(message, reported || before.is_some_and(|sent| sent.turned_away), at);
    }

    /// A tool call whose id another one had, unless that is `reported` already.
    fn call(&mut self, message: &SeenMessage<'_>, reported: bool, at: &RuleContext<'_>) {
        let Some(id) = message.raw.id().key().filter(|_| message.calls("tools/call")) else { return };
        if self.calls.remembered() >= MOST_CALLS {
            return;
        }
        let first = self.calls.insert(&id);
        at.check(&CALL_AGAIN, first || reported, || {
            format!("another tool call of the recording has the id {}", shown_id(message))
        });
    }

    /// Judges the id of a request; whether a rule was broken, or the id is not in the recording.
    fn judge(&self, message: &SeenMessage<'_>, before: Option<Sent>, at: &RuleContext<'_>) -> bool {
        if is_redacted(message, at) {
            at.inconclusive(&UNIQUE_SESSION, "the recorder took out the id");
            return true;
        }
        let Some(used) = at.pending.last_use() else { return false };
        let why = match used {
            IdUse::Fresh if at.pending.full().is_some() => at.pending.full(),
            _ if used != IdUse::Fresh && at.side.is_none() => Some("nothing says whose requests these are"),
            _ if used != IdUse::Fresh && is_of_any_session(message, at) => {
                Some("the recording holds several sessions, or began late, and does not tell whose this is")
            }
            _ if used != IdUse::Fresh && at.facts.handshake && self.is_modern(message) => {
                Some("a request that needs no session has the id as well")
            }
            _ if used != IdUse::Fresh && self.restarted => {
                Some("the recording may hold several sessions; one file per session would show it")
            }
            _ if used == IdUse::Open && before.is_none() && is_same_again(message, at) => Some(SAME_AGAIN),
            _ if used != IdUse::Fresh && self.refused => {
                Some("a request that HTTP turned away may come again")
            }
            _ => None,
        };
        if let Some(why) = why {
            at.inconclusive(&UNIQUE_SESSION, why);
            at.inconclusive(&UNIQUE_INFLIGHT, why);
            return false;
        }
        let turned_away = before.is_some_and(|sent| sent.refused);
        let unique = used == IdUse::Fresh || turned_away;
        at.check(&UNIQUE_SESSION, unique, || {
            let open = if used == IdUse::Open { ", and that request is still open" } else { "" };
            let wrong = format!("the id {} was used before by this side{open}", shown_id(message));
            // Only another `initialize` would make it new.
            Violation::new(wrong).unless_said_by(Some(Side::Client))
        });
        let open = Self::inflight(message, is_open(used, before, at), at);
        let has = |rule: &Rule| at.revision.is_some_and(|revision| rule.span.has(revision));
        !unique && (at.facts.handshake || has(&UNIQUE_SESSION)) || open && has(&UNIQUE_INFLIGHT)
    }

    /// Whether a request needs no session, or one that has its id.
    fn is_modern(&self, message: &SeenMessage<'_>) -> bool {
        message.meta(META_VERSION).is_some() || message.raw.id().key().is_some_and(|id| self.modern.has(&id))
    }

    /// Whether the id is that of an open request of the same client, for certain.
    fn inflight(message: &SeenMessage<'_>, open: bool, at: &RuleContext<'_>) -> bool {
        if !open {
            at.pass(&UNIQUE_INFLIGHT);
            return false;
        }
        let first = message.raw.id_value().and_then(|id| at.pending.find(at.side, id));
        let first = first.filter(|first| first.location() != at.location());
        let asked_by = first.and_then(|first| client_of(|name| first.meta(name)));
        let same = may_be_one(asked_by, client_of(|name| message.meta(name)));
        let another = !same && at.facts.over_stdio() != Some(true);
        if another || first.is_some_and(|first| first.cancelled.is_some()) {
            let why = "the request that has this id was cancelled, or is of another client";
            at.inconclusive(&UNIQUE_INFLIGHT, why);
            return false;
        }
        let wrong =
            Violation::new(format!("the id {} belongs to a request that is still open", shown_id(message)));
        at.fail(&UNIQUE_INFLIGHT, wrong.see(first.map(|first| first.location()), "the open request"));
        true
    }

    /// Remembers the exchange of a request, and returns that in which its id was sent before.
    fn note(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) -> Option<Sent> {
        let exchange = at.exchange?;
        if at.side != Some(Side::Client) {
            return None;
        }
        if self.sent.len() >= MOST_TURNED {
            self.sent.clear();
        }
        let sent =
            Sent { refused: exchange.refused(), turned_away: exchange.turned_away(), ended: exchange.ended };
        let client = client_of(|name| message.meta(name)).unwrap_or_default();
        self.sent.insert(format!("{} {client}", shown_id(message)).into(), sent)
    }
}

/// Whether the request that had the id before is still open. Over HTTP it is over when its exchange is, whether it was
/// answered or its stream was closed.
fn is_open(used: IdUse, before: Option<Sent>, at: &RuleContext<'_>) -> bool {
    match (before, at.exchange) {
        (Some(sent), Some(_)) => !sent.refused && sent.ended.zip(at.entry.time).is_some_and(|(a, b)| a > b),
        _ => used == IdUse::Open,
    }
}

/// Several sessions share an exchange log, or may where a recording of HTTP begins late, and nothing says which of them this is of.
fn is_of_any_session(message: &SeenMessage<'_>, at: &RuleContext<'_>) -> bool {
    let exchange = at.exchange.map(|exchange| &exchange.request_headers);
    let Some(headers) = exchange.or(at.entry.context.map(|context| &context.headers)) else { return false };
    let late = !at.facts.handshake && message.meta(META_VERSION).is_none();
    let several = at.facts.session > 0 || late;
    at.facts.mixed || several && header(headers, "Mcp-Session-Id").is_none()
}

pub(super) const SAME_AGAIN: &str =
    "the same request word for word, unanswered before: HTTP may have turned it away; a HAR would show it";

/// Whether an open request of this side with this id asks the same, and may have been turned away.
pub(super) fn is_same_again(message: &SeenMessage<'_>, at: &RuleContext<'_>) -> bool {
    let open = message.raw.id_value().and_then(|id| at.pending.find(at.side, id));
    // A trace of HTTP may name a server's command, too, and what begins a session is what HTTP turns away.
    let may_be_http = at.facts.over_stdio() != Some(true) || message.calls("initialize");
    open.is_some_and(|open| {
        may_be_http
            && open.entry_location() != &at.entry.location
            && message.calls(open.method())
            && open.params().map(Json::text) == message.raw.params().map(Json::text)
    })
}
