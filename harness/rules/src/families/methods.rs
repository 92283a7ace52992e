//! Methods: who may send each, and in which revisions there is one.

use crate::engine::{
    Direction, Family, META_VERSION, MessageKind, Method, Report, Revision, RuleContext, RuleVisitor,
    SeenMessage, Trigger,
};
use crate::rule::{Need, Rule};
use crate::rule_text::{named, read_rules, rules_in};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "methods",
    title: "Methods",
    rules: &RULES,
    triggers: &[Trigger::Kinds(&[MessageKind::Request, MessageKind::Notification])],
    visitor: || Box::new(MethodsState),
};

const TEXT: &str = include_str!("methods.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

const DIRECTION: &Rule = named(&RULES, "jsonrpc.method.direction");
const FEATURE_DIRECTION: &Rule = named(&RULES, "client-feature.direction");
const REVISION: &Rule = named(&RULES, "jsonrpc.method.revision");
const REMOVED: &Rule = named(&RULES, "ping.removed");

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

struct MethodsState;

impl RuleVisitor for MethodsState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        let Some(message) = at
            .message
            .as_ref()
            .filter(|message| matches!(message.kind, MessageKind::Request | MessageKind::Notification))
        else {
            return;
        };
        if let Some(method) = message.known {
            direction(method, at, report);
            revision(method, at, report);
            removed(method.name, message, at, report);
        }
    }
}

fn direction(method: &Method, at: &RuleContext<'_>, report: &mut Report) {
    let Method { name: method, spans, .. } = *method;
    let here = spans.iter().filter(|known| at.revision.is_none_or(|revision| known.span.has(revision)));
    let mut senders = here.map(|known| known.direction);
    // A client that tells of progress has a rule of its own.
    let Some(direction) = senders.next().filter(|_| method != "notifications/progress") else { return };
    let Some(only) = direction.only().filter(|_| senders.all(|other| other == direction)) else { return };
    let rule = match method {
        "sampling/createMessage" | "roots/list" | "elicitation/create" => FEATURE_DIRECTION,
        _ => DIRECTION,
    };
    // Where the recording does not say who spoke, the method is what tells it.
    let Some(side) = at.entry.side else { return report.inconclusive(rule, at, lack()) };
    debug_assert!(direction != Direction::Both, "either may send what has no one side");
    report.check(rule, at, side == only, || {
        format!("`{method}` is sent by the {}, and belongs to the {}", side.name(), only.name())
    });
}

fn lack() -> String {
    format!("such recordings do not carry {}", Need::Direction.lack())
}

fn revision(method: &Method, at: &RuleContext<'_>, report: &mut Report) {
    let Method { name: method, spans, .. } = *method;
    let has = |revision: Revision| spans.iter().any(|known| known.span.has(revision));
    let begun = at.facts.initialized;
    match at.revision {
        // A client that tries the newest revision first may do so over any transport.
        Some(_) if method == "server/discover" && !begun => {}
        Some(revision) if !has(revision) && !begun && at.exchange.is_none() => {
            report.inconclusive(REVISION, at, "the handshake is not in the recording");
        }
        Some(revision) => report.check(REVISION, at, has(revision), || {
            format!("`{method}` is not a method of {revision}, which was negotiated")
        }),
        None if Revision::ALL.into_iter().filter(|revision| revision.has_handshake()).all(has) => {
            report.pass(REVISION, at);
        }
        None => {}
    }
}

fn removed(method: &str, message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
    if !GONE.contains(&method) {
        return report.pass(REMOVED, at);
    }
    // A client that finds an older server goes back to a handshake, which says nothing of 2026-07-28.
    let modern = message.meta(META_VERSION).is_some();
    let falls_back = at.facts.handshake
        || method == "initialize"
        || at.side == Some(Side::Server) && message.kind == MessageKind::Request && method != "ping";
    if modern || !falls_back {
        report.fail(REMOVED, at, format!("`{method}` is sent, which was removed"));
    }
}
