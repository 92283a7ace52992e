//! Methods: who may send each, and in which revisions there is one.

use crate::engine::{
    Direction, Family, META_VERSION, MessageKind, Method, OnMessage, Revision, RuleContext, SeenMessage,
    Span, Trigger, lacks,
};
use crate::rule::{Level, Need, Rule};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "methods",
    title: "Methods",
    rules: &[&DIRECTION, &FEATURE_DIRECTION, &REVISION, &REMOVED],
    triggers: &[Trigger::Kinds(&[MessageKind::Request, MessageKind::Notification])],
    visitor: || Box::new(OnMessage(judge)),
};

static DIRECTION: Rule = Rule {
    id: "jsonrpc.method.direction",
    source: "schema, ClientRequest, ClientNotification, ServerRequest and ServerNotification",
    title: "A method is sent by the side that the specification assigns it to",
    why: "The other side has no handler for it, and answers that there is no such method.",
    fix: "Send it from the other side, or check whether client and server were mixed up.",
    ..Rule::BLANK
};

static FEATURE_DIRECTION: Rule = Rule {
    id: "client-feature.direction",
    span: Span::SESSIONS,
    source: "schema, ServerRequest",
    title: "Samples, roots and elicitations are asked for by the server",
    why: "They are what a client offers; a server has no user to ask and no roots.",
    fix: "Send the request from the server, during the call that it is for.",
    ..Rule::BLANK
};

static REVISION: Rule = Rule {
    id: "jsonrpc.method.revision",
    raised: Some((Revision::V2025_06_18, Level::Must)),
    span: Span::SESSIONS,
    source: "basic/lifecycle#operation",
    title: "A method of the specification belongs to the negotiated revision",
    why: "A peer of that revision does not know it, and refuses it or stays silent.",
    fix: "Negotiate a revision that has the method, or do without it.",
    ..Rule::BLANK.should()
};

static REMOVED: Rule = Rule {
    id: "ping.removed",
    span: Span::MODERN,
    source: "changelog",
    title: "Methods that were removed with sessions are not sent",
    why: "Since 2026-07-28 nobody answers them: pings, subscriptions to a resource, the log level of a session.",
    fix: "Send what a request needs in its `_meta`, and use `subscriptions/listen` to hear of changes.",
    ..Rule::BLANK.should()
};

/// What went with the sessions, and is not judged elsewhere.
const GONE: &[&str] = &[
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "notifications/initialized",
    "notifications/roots/list_changed",
    "notifications/elicitation/complete",
];

fn judge(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    if let Some(method) = message.known
        && matches!(message.kind, MessageKind::Request | MessageKind::Notification)
    {
        direction(method, at);
        revision(method, at);
        removed(method.name, message, at);
    }
}

fn direction(method: &Method, at: &RuleContext<'_>) {
    let Method { name: method, spans, .. } = *method;
    let here = spans.iter().filter(|known| at.revision.is_none_or(|revision| known.span.has(revision)));
    let mut senders = here.map(|known| known.direction);
    // A client that tells of progress has a rule of its own.
    let Some(direction) = senders.next().filter(|_| method != "notifications/progress") else { return };
    let Some(only) = direction.only().filter(|_| senders.all(|other| other == direction)) else { return };
    let rule = match method {
        "sampling/createMessage" | "roots/list" | "elicitation/create" => &FEATURE_DIRECTION,
        _ => &DIRECTION,
    };
    // Where the recording does not say who spoke, the method is what tells it.
    let Some(side) = at.entry.side else { return at.inconclusive(rule, lacks(Need::Direction)) };
    debug_assert!(direction != Direction::Both, "either may send what has no one side");
    at.check(rule, side == only, || {
        format!("`{method}` is sent by the {}, and belongs to the {}", side.name(), only.name())
    });
}

fn revision(method: &Method, at: &RuleContext<'_>) {
    let Method { name: method, spans, .. } = *method;
    let has = |revision: Revision| spans.iter().any(|known| known.span.has(revision));
    let begun = at.facts.negotiated.initialized;
    match at.revision {
        // A client that tries the newest revision first may do so over any transport.
        Some(_) if method == "server/discover" && !begun => {}
        Some(revision) if !has(revision) && !begun && at.exchange.is_none() => {
            at.inconclusive(&REVISION, "the handshake is not in the recording");
        }
        Some(revision) => at.check(&REVISION, has(revision), || {
            format!("`{method}` is not a method of {revision}, which was negotiated")
        }),
        None if Revision::ALL.into_iter().filter(|revision| revision.has_handshake()).all(has) => {
            at.pass(&REVISION);
        }
        None => {}
    }
}

fn removed(method: &str, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    if !GONE.contains(&method) {
        return at.pass(&REMOVED);
    }
    // A client that finds an older server goes back to a handshake, which says nothing of 2026-07-28.
    let modern = message.meta(META_VERSION).is_some();
    let falls_back = at.facts.handshake
        || method == "initialize"
        || at.side == Some(Side::Server) && message.kind == MessageKind::Request && method != "ping";
    if modern || !falls_back {
        at.fail(&REMOVED, format!("`{method}` is sent, which was removed"));
    }
}
