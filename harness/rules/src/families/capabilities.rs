//! Capabilities: what a side serves or asks for has to be declared first.
//!
//! From 2026-07-28 on a client declares its capabilities with each request, and a server asks in its results. Memory: open
//! questions as `ServerRequests` says.

use crate::engine::{
    ClientAnswer, Family, META_CAPABILITIES, MessageKind, Report, Revision, RuleContext, RuleVisitor,
    SeenMessage, ServerRequests, Trigger, Violation, embedded, quoted, server_requests, text_of,
};
use crate::rule::Rule;
use crate::rule_text::{named, read_rules, rules_in};
use transcript::json::{Json, JsonKind};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "capabilities",
    title: "Capabilities and their use",
    rules: &RULES,
    triggers: &[Trigger::Messages],
    visitor: || Box::new(CapabilitiesState::default()),
};

const TEXT: &str = include_str!("capabilities.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

const TOOLS: &Rule = named(&RULES, "cap.server.tools");
const PROMPTS: &Rule = named(&RULES, "cap.server.prompts");
const RESOURCES: &Rule = named(&RULES, "cap.server.resources");
const EMBEDDED: &Rule = named(&RULES, "cap.server.embedded-resources");
const SUBSCRIBE: &Rule = named(&RULES, "cap.server.resources-subscribe");
const COMPLETIONS: &Rule = named(&RULES, "cap.server.completions");
const LOGGING: &Rule = named(&RULES, "cap.server.logging");
const LIST_CHANGED: &Rule = named(&RULES, "cap.server.list-changed");
const ROOTS_CHANGED: &Rule = named(&RULES, "cap.client.list-changed");
const ROOTS: &Rule = named(&RULES, "cap.client.roots");
const SAMPLING: &Rule = named(&RULES, "cap.client.sampling");
const ELICITATION: &Rule = named(&RULES, "cap.client.elicitation");
const NEGOTIATED: &Rule = named(&RULES, "cap.use-only-negotiated");
const ELICITATION_MODE: &Rule = named(&RULES, "cap.elicitation.mode");
const SAMPLING_TOOLS: &Rule = named(&RULES, "cap.sampling.tools");
const SAMPLING_CONTEXT: &Rule = named(&RULES, "cap.sampling.context");

/// What a result to a method shows.
const SERVED: &[(&str, &str, &Rule)] = &[
    ("tools/list", "tools", TOOLS),
    ("tools/call", "tools", TOOLS),
    ("prompts/list", "prompts", PROMPTS),
    ("prompts/get", "prompts", PROMPTS),
    ("resources/list", "resources", RESOURCES),
    ("resources/templates/list", "resources", RESOURCES),
    ("resources/read", "resources", RESOURCES),
    ("resources/subscribe", "resources.subscribe", SUBSCRIBE),
    ("completion/complete", "completions", COMPLETIONS),
    ("logging/setLevel", "logging", LOGGING),
    ("roots/list", "roots", ROOTS),
    ("sampling/createMessage", "sampling", SAMPLING),
    ("elicitation/create", "elicitation", ELICITATION),
];

/// Which capability announces what a side says by itself.
const TELLS: &[(&str, Side, &str, &Rule)] = &[
    ("notifications/tools/list_changed", Side::Server, "tools.listChanged", LIST_CHANGED),
    ("notifications/prompts/list_changed", Side::Server, "prompts.listChanged", LIST_CHANGED),
    ("notifications/resources/list_changed", Side::Server, "resources.listChanged", LIST_CHANGED),
    ("notifications/message", Side::Server, "logging", LOGGING),
    ("notifications/roots/list_changed", Side::Client, "roots.listChanged", ROOTS_CHANGED),
];

#[derive(Default)]
struct CapabilitiesState {
    server_requests: ServerRequests,
}

impl RuleVisitor for CapabilitiesState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        let answers = self.server_requests.see(at);
        let Some(message) = at.message else { return };
        for asked in server_requests(at) {
            // In a session the client has declared once what it can do; later each request does.
            let declared = match message.request() {
                Some(request) => request.meta(META_CAPABILITIES),
                None => at.facts.capabilities(Side::Client),
            };
            if let Some(params) = asked.params {
                asks_client(asked.method, params, declared, at, report);
            }
        }
        match message.kind {
            MessageKind::Result => served(message, at, report),
            MessageKind::Error => wants_url(message, at, report),
            MessageKind::Request => {
                uses(message, at, report);
                answers.iter().for_each(|answer| brought(answer, at, report));
            }
            MessageKind::Notification => tells(message, at, report),
        }
    }
}

/// Who serves a method: the one that is asked.
fn server_of(method: &str) -> Side {
    match method {
        "roots/list" | "sampling/createMessage" | "elicitation/create" => Side::Client,
        _ => Side::Server,
    }
}

/// A result to a request: its server does what it should have declared.
fn served(message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let Some(request) = message.request() else { return };
    let blocks = message.result_of("tools/call").and_then(|result| result.member("content"));
    if let Some(resource) = blocks.into_iter().flat_map(Json::items).find_map(embedded)
        && declares(at, Side::Server, "resources", EMBEDDED, report) == Some(false)
    {
        let wrong = Violation::new("a resource is embedded, and the server does not declare `resources`");
        report.fail(EMBEDDED, at, wrong.inside(resource));
    }
    let served = SERVED.iter().find(|(method, ..)| request.method() == *method);
    let Some((method, path, rule)) = served else { return };
    let side = server_of(method);
    if declares(at, side, path, rule, report) == Some(false) {
        let wrong = format!("`{method}` gets a result, and the {} does not declare `{path}`", side.name());
        report.fail(rule, at, Violation::new(wrong).see(request.location(), "the request"));
    }
}

/// A request: anyone who makes it should have seen that the other side serves it.
fn uses(message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let method = message.method.as_deref().unwrap_or_default();
    let unsubscribe = ("resources/unsubscribe", "resources.subscribe", SUBSCRIBE);
    let mut served = SERVED.iter().chain([&unsubscribe]);
    let Some((_, path, _)) = served.find(|(name, ..)| *name == method) else { return };
    let side = server_of(method);
    // There was no capability for completions at first; and a handshake has rules of its own.
    let none = *path == "completions" && at.revision.is_none_or(|revision| revision < Revision::V2025_03_26);
    if none || side == Side::Server && !at.facts.initialized {
        return;
    }
    if declares(at, side, path, NEGOTIATED, report) == Some(false) {
        let wrong = format!("`{method}` is asked for, and the {} does not declare `{path}`", side.name());
        report.fail(NEGOTIATED, at, wrong);
    }
}

/// An answer that a request brings along: its client does what the same request should have declared.
fn brought(answer: &ClientAnswer<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let Some((method, path, rule)) = SERVED.iter().find(|(method, ..)| answer.method == *method) else {
        return;
    };
    if declares(at, Side::Client, path, rule, report) == Some(false) {
        let wrong = format!("`{method}` is answered, and the request does not declare `{path}`");
        let wrong = Violation::new(wrong).inside(answer.result);
        report.fail(rule, at, wrong.see(answer.request.clone(), "the question"));
    }
}

/// An error that sends the user to addresses.
fn wants_url(message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
    if message.error_code() == Some(-32042)
        && at.revision.is_none_or(Revision::has_handshake)
        && declares(at, Side::Client, "elicitation.url", ELICITATION_MODE, report) == Some(false)
    {
        let wrong = "the error -32042 asks for the mode \"url\", which the client does not declare";
        report.fail(ELICITATION_MODE, at, wrong);
    }
}

fn tells(message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let method = message.method.as_deref().unwrap_or_default();
    let Some((_, side, path, rule)) = TELLS.iter().find(|(name, ..)| *name == method) else { return };
    if at.side == Some(*side) && declares(at, *side, path, rule, report) == Some(false) {
        let wrong = format!("`{method}` is sent, and the {} does not declare `{path}`", side.name());
        report.fail(rule, at, wrong);
    }
}

/// Whether a side declares it: where it does, the rule is kept, and where nothing shows, it cannot be known.
fn declares(
    at: &RuleContext<'_>,
    side: Side,
    path: &str,
    rule: &'static Rule,
    report: &mut Report,
) -> Option<bool> {
    let redacted = || at.facts.capabilities(side).is_some_and(|capabilities| at.redacted(capabilities));
    let declares = at.facts.declares(side, path).filter(|&declares| declares || !redacted());
    match declares {
        Some(true) => report.pass(rule, at),
        Some(false) => {}
        None => {
            let why = match side {
                Side::Client => "the client's capabilities are not in the recording",
                Side::Server => "the server's capabilities are not in the recording",
            };
            report.inconclusive(rule, at, why);
        }
    }
    declares
}

/// A request to the client: it may use no more than what the client declares beneath the feature.
fn asks_client<'m>(
    method: &str,
    params: Json<'m>,
    declared: Option<Json<'_>>,
    at: &RuleContext<'m>,
    report: &mut Report,
) {
    let (feature, rules): (_, &[&'static Rule]) = match method {
        "elicitation/create" => ("elicitation", &[ELICITATION_MODE]),
        "sampling/createMessage" => ("sampling", &[SAMPLING_TOOLS, SAMPLING_CONTEXT]),
        _ => return,
    };
    let Some(declared) = declared else {
        for rule in rules {
            report.inconclusive(rule, at, "the client's capabilities are not in the recording");
        }
        return;
    };
    // Without the feature itself it is asked for in vain, whatever stands beneath it.
    let Some(feature) = declared.member(feature).filter(|value| value.kind() == JsonKind::Object) else {
        return;
    };
    let has =
        |name: &str| feature.member(name).is_some_and(|value| !matches!(value.text(), "false" | "null"));
    if method == "elicitation/create" {
        let mode = params.member("mode").and_then(text_of).unwrap_or_else(|| "form".into());
        let kept = has(&mode) || *mode == *"form" && !has("url");
        return report.check(ELICITATION_MODE, at, kept, || {
            let wrong =
                Violation::new(format!("the mode is {}, which the client does not declare", quoted(&mode)));
            wrong.inside(params.member("mode").unwrap_or(params))
        });
    }
    if let Some(tools) = params.member("tools").or_else(|| params.member("toolChoice")) {
        report.check(SAMPLING_TOOLS, at, has("tools"), || {
            Violation::new("tools are handed over, and the client does not declare `sampling.tools`")
                .inside(tools)
        });
    }
    if let Some(context) = params.member("includeContext")
        && !context.as_text().is_some_and(|context| context.is("none"))
    {
        report.check(SAMPLING_CONTEXT, at, has("context"), || {
            let wrong =
                Violation::new("context is asked for, and the client does not declare `sampling.context`");
            wrong.inside(context)
        });
    }
}
