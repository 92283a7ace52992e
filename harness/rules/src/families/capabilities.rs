//! Capabilities: what a side serves or asks for has to be declared first.
//!
//! From 2026-07-28 on a client declares its capabilities with each request, and a server asks in its results. Memory: open
//! questions as `ServerRequests` says.

mod modes;

use crate::engine::{
    ClientAnswer, Family, FindingLocation, META_CAPABILITIES, MessageKind, Revision, RuleContext,
    RuleVisitor, SeenMessage, ServerRequests, Span, Trigger, Violation, embedded, server_requests,
};
use crate::rule::{Level, Rule};
use modes::{ELICITATION_MODE, NOT_SHOWN, SAMPLING_CONTEXT, SAMPLING_TOOLS, asks_client};
use transcript::json::{Json, JsonKind};
use transcript::rejection::Rejection;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "capabilities",
    title: "Capabilities and their use",
    rules: &[
        &TOOLS,
        &PROMPTS,
        &RESOURCES,
        &EMBEDDED,
        &SUBSCRIBE,
        &COMPLETIONS,
        &LOGGING,
        &LIST_CHANGED,
        &ROOTS_CHANGED,
        &ROOTS,
        &SAMPLING,
        &ELICITATION,
        &NEGOTIATED,
        &ELICITATION_MODE,
        &SAMPLING_TOOLS,
        &SAMPLING_CONTEXT,
    ],
    triggers: &[Trigger::Messages],
    visitor: || Box::new(CapabilitiesState::default()),
};

/// What the rules on servers that serve have in common.
const SERVES: Rule = Rule {
    why: "Clients that go by the capabilities never ask for it, and others find it by luck.",
    ..Rule::BLANK.server()
};

static TOOLS: Rule = Rule {
    id: "cap.server.tools",
    source: "server/tools#capabilities",
    title: "A server that serves tools declares `tools`",
    fix: "Declare `tools` in the capabilities.",
    ..SERVES
};

static PROMPTS: Rule = Rule {
    id: "cap.server.prompts",
    source: "server/prompts#capabilities",
    title: "A server that serves prompts declares `prompts`",
    fix: "Declare `prompts` in the capabilities.",
    ..SERVES
};

static RESOURCES: Rule = Rule {
    id: "cap.server.resources",
    source: "server/resources#capabilities",
    title: "A server that serves resources declares `resources`",
    fix: "Declare `resources` in the capabilities.",
    ..SERVES
};

static EMBEDDED: Rule = Rule {
    id: "cap.server.embedded-resources",
    span: Span::from(Revision::V2025_06_18),
    source: "server/tools#embedded-resources",
    title: "A server whose tools embed resources declares `resources`",
    fix: "Declare `resources` in the capabilities.",
    ..SERVES.should()
};

static SUBSCRIBE: Rule = Rule {
    id: "cap.server.resources-subscribe",
    raised: Some((Revision::V2025_06_18, Level::Must)),
    span: Span::SESSIONS,
    source: "basic/lifecycle#operation",
    title: "A server that takes subscriptions to resources declares `resources.subscribe`",
    fix: "Declare `\"resources\": {\"subscribe\": true}`, or answer that there is no such method.",
    ..SERVES.should()
};

static COMPLETIONS: Rule = Rule {
    id: "cap.server.completions",
    span: Span::from(Revision::V2025_03_26),
    source: "server/utilities/completion#capabilities",
    title: "A server that completes arguments declares `completions`",
    fix: "Declare `completions` in the capabilities.",
    ..SERVES
};

static LOGGING: Rule = Rule {
    id: "cap.server.logging",
    source: "server/utilities/logging#capabilities",
    title: "A server that sends log messages declares `logging`",
    why: "A client that does not know of them may drop them, or take them for an error.",
    fix: "Declare `logging` in the capabilities, or log to stderr.",
    ..SERVES
};

static LIST_CHANGED: Rule = Rule {
    id: "cap.server.list-changed",
    span: Span::SESSIONS,
    source: "server/tools#list-changed-notification",
    title: "A server that reports changed lists declares `listChanged` for them",
    why: "Clients register for changes where they are announced; others miss them.",
    fix: "Declare `\"listChanged\": true` beside the feature.",
    ..SERVES.should()
};

static ROOTS_CHANGED: Rule = Rule {
    id: "cap.client.list-changed",
    raised: Some((Revision::V2025_06_18, Level::Must)),
    span: Span::SESSIONS,
    source: "basic/lifecycle#operation; client/roots#root-list-changes",
    title: "A client that reports changed roots declares `roots.listChanged`",
    why: "Servers keep the roots of a client that announces no changes, and ignore the notification.",
    fix: "Declare `\"roots\": {\"listChanged\": true}`.",
    ..CLIENT_SERVES.should()
};

/// What the rules on clients that serve have in common.
const CLIENT_SERVES: Rule = Rule {
    why: "Servers that go by the capabilities never ask for it, and do without.",
    ..Rule::BLANK.client()
};

static ROOTS: Rule = Rule {
    id: "cap.client.roots",
    source: "client/roots#capabilities",
    title: "A client that lists roots declares `roots`",
    fix: "Declare `roots` in the capabilities.",
    ..CLIENT_SERVES
};

static SAMPLING: Rule = Rule {
    id: "cap.client.sampling",
    source: "client/sampling#capabilities",
    title: "A client that samples declares `sampling`",
    fix: "Declare `sampling` in the capabilities.",
    ..CLIENT_SERVES
};

static ELICITATION: Rule = Rule {
    id: "cap.client.elicitation",
    span: Span::from(Revision::V2025_06_18),
    source: "client/elicitation#capabilities",
    title: "A client that asks its user for a server declares `elicitation`",
    fix: "Declare `elicitation` in the capabilities.",
    ..CLIENT_SERVES
};

static NEGOTIATED: Rule = Rule {
    id: "cap.use-only-negotiated",
    raised: Some((Revision::V2025_06_18, Level::Must)),
    span: Span::SESSIONS,
    source: "basic/lifecycle#operation",
    title: "A side asks only for what the other side has declared",
    why: "Some peers answer with an error, some not at all, and some take it for an attack and hang up.",
    fix: "Look at the capabilities of the handshake before sending the request.",
    ..Rule::BLANK.should()
};

/// What a result to a method shows.
const SERVED: &[(&str, &str, &Rule)] = &[
    ("tools/list", "tools", &TOOLS),
    ("tools/call", "tools", &TOOLS),
    ("prompts/list", "prompts", &PROMPTS),
    ("prompts/get", "prompts", &PROMPTS),
    ("resources/list", "resources", &RESOURCES),
    ("resources/templates/list", "resources", &RESOURCES),
    ("resources/read", "resources", &RESOURCES),
    ("resources/subscribe", "resources.subscribe", &SUBSCRIBE),
    ("completion/complete", "completions", &COMPLETIONS),
    ("logging/setLevel", "logging", &LOGGING),
    ("roots/list", "roots", &ROOTS),
    ("sampling/createMessage", "sampling", &SAMPLING),
    ("elicitation/create", "elicitation", &ELICITATION),
];

/// Which capability announces what a side says by itself.
const TELLS: &[(&str, Side, &str, &Rule)] = &[
    ("notifications/tools/list_changed", Side::Server, "tools.listChanged", &LIST_CHANGED),
    ("notifications/prompts/list_changed", Side::Server, "prompts.listChanged", &LIST_CHANGED),
    ("notifications/resources/list_changed", Side::Server, "resources.listChanged", &LIST_CHANGED),
    ("notifications/message", Side::Server, "logging", &LOGGING),
    ("notifications/roots/list_changed", Side::Client, "roots.listChanged", &ROOTS_CHANGED),
];

const LOGGED_EARLY: &str = "`notifications/message` is sent, and the server does not declare `logging`";

const SERVER_NOT_SHOWN: &str = "the server's capabilities are not in the recording";

#[derive(Default)]
struct CapabilitiesState {
    server_requests: ServerRequests,
    /// The first log message before the server said what it can do.
    logged: Option<FindingLocation>,
}

impl RuleVisitor for CapabilitiesState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let answers = self.server_requests.see(at);
        if let Some(logged) =
            self.logged.take_if(|_| at.facts.negotiated.capabilities(Side::Server).is_some())
            && declares(at, Side::Server, "logging", &LOGGING) == Some(false)
        {
            at.fail(&LOGGING, Violation::new(LOGGED_EARLY).at(logged));
        }
        for asked in server_requests(at) {
            // In a session the client has declared once what it can do; later each request does.
            let declared = match message.request() {
                Some(request) => request.meta(META_CAPABILITIES),
                None => at.facts.negotiated.capabilities(Side::Client),
            };
            if let Some(params) = asked.params {
                asks_client(asked.method, params, declared, at);
            }
        }
        match message.kind {
            MessageKind::Result => served(message, at),
            MessageKind::Error => wants_url(message, at),
            MessageKind::Request => {
                uses(message, at);
                answers.iter().for_each(|answer| brought(answer, at));
            }
            MessageKind::Notification if logs_early(message, at) => {
                self.logged.get_or_insert_with(|| at.location());
            }
            MessageKind::Notification => tells(message, at),
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>) {
        if self.logged.is_some() {
            at.inconclusive(&LOGGING, SERVER_NOT_SHOWN);
        }
    }
}

/// Whether a server logs before it says what it can do.
fn logs_early(message: &SeenMessage<'_>, at: &RuleContext<'_>) -> bool {
    at.side == Some(Side::Server)
        && message.calls("notifications/message")
        && !is_standard_error(message)
        && at.facts.negotiated.capabilities(Side::Server).is_none()
}

/// Who serves a method: the one that is asked.
fn server_of(method: &str) -> Side {
    match method {
        "roots/list" | "sampling/createMessage" | "elicitation/create" => Side::Client,
        _ => Side::Server,
    }
}

/// A result to a request: its server does what it should have declared.
fn served(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let Some(request) = message.request() else { return };
    let blocks = message.result_of("tools/call").and_then(|result| result.member("content"));
    if let Some(resource) = blocks.into_iter().flat_map(Json::items).find_map(embedded)
        && declares(at, Side::Server, "resources", &EMBEDDED) == Some(false)
    {
        let wrong = Violation::new("a resource is embedded, and the server does not declare `resources`");
        at.fail(&EMBEDDED, wrong.inside(resource));
    }
    let served = SERVED.iter().find(|(method, ..)| request.method() == *method);
    let Some((method, path, rule)) = served else { return };
    let side = server_of(method);
    if declares(at, side, path, rule) == Some(false) {
        if side == Side::Server && lists_nothing(message) {
            return at.inconclusive(
                rule,
                "the list is empty, as libraries answer for what a server does not have",
            );
        }
        let wrong = format!("`{method}` gets a result, and the {} does not declare `{path}`", side.name());
        at.fail(rule, Violation::new(wrong).of(request));
    }
}

/// Whether a result is a list of nothing, and names no page behind it.
fn lists_nothing(message: &SeenMessage<'_>) -> bool {
    let members = || message.raw.outcome().into_iter().flat_map(Json::members);
    let mut lists = members().filter(|(_, value)| value.kind() == JsonKind::Array).peekable();
    lists.peek().is_some()
        && lists.all(|(_, list)| list.items().next().is_none())
        && members().all(|(name, _)| !name.is("nextCursor"))
}

/// A request: anyone who makes it should have seen that the other side serves it.
fn uses(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let method = message.method.as_deref().unwrap_or_default();
    let unsubscribe = ("resources/unsubscribe", "resources.subscribe", &SUBSCRIBE);
    let mut served = SERVED.iter().chain([&unsubscribe]);
    let Some((_, path, _)) = served.find(|(name, ..)| *name == method) else { return };
    let side = server_of(method);
    // Who serves a method itself has nothing to declare, and is in the wrong direction.
    if at.side == Some(side) {
        return;
    }
    // There was no capability for completions at first; and a handshake has rules of its own.
    let none = *path == "completions" && at.revision.is_none_or(|revision| revision < Revision::V2025_03_26);
    if none || side == Side::Server && !at.facts.negotiated.initialized {
        return;
    }
    if declares(at, side, path, &NEGOTIATED) == Some(false) {
        let wrong = format!("`{method}` is asked for, and the {} does not declare `{path}`", side.name());
        at.fail(&NEGOTIATED, wrong);
    }
}

/// An answer that a request brings along: its client does what the same request should have declared.
fn brought(answer: &ClientAnswer<'_>, at: &RuleContext<'_>) {
    let served = SERVED.iter().find(|(method, ..)| answer.method == *method);
    let Some((method, path, rule)) = served else { return };
    if declares(at, Side::Client, path, rule) == Some(false) {
        let wrong =
            Violation::new(format!("`{method}` is answered, and the request does not declare `{path}`"));
        at.fail(rule, wrong.inside(answer.result).see(answer.request.clone(), "the question"));
    }
}

/// An error that sends the user to addresses.
fn wants_url(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    if message.error_code() == Some(-32042)
        && at.revision.is_none_or(Revision::has_handshake)
        && declares(at, Side::Client, "elicitation.url", &ELICITATION_MODE) == Some(false)
    {
        let wrong = "the error -32042 asks for the mode \"url\", which the client does not declare";
        at.fail(&ELICITATION_MODE, wrong);
    }
}

fn tells(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let method = message.method.as_deref().unwrap_or_default();
    let Some((_, side, path, rule)) = TELLS.iter().find(|(name, ..)| *name == method) else { return };
    if is_standard_error(message) {
        return at.inconclusive(rule, "the MCP Inspector passes a server's standard error on like that");
    }
    if at.side == Some(*side) && declares(at, *side, path, rule) == Some(false) {
        at.fail(rule, format!("`{method}` is sent, and the {} does not declare `{path}`", side.name()));
    }
}

/// Whether this is how the MCP Inspector's proxy passes on what a server prints on its standard error.
fn is_standard_error(message: &SeenMessage<'_>) -> bool {
    let Some(params) = message.raw.params() else { return false };
    let logger = params.member("logger").and_then(Json::as_text);
    let mut data = params.member("data").into_iter().flat_map(Json::members);
    let only = data.next().is_some_and(|(name, _)| name.is("message")) && data.next().is_none();
    logger.is_some_and(|logger| logger.is("stdio")) && only
}

/// Whether a side declares it: where it does, the rule is kept, and where nothing shows, it cannot be known.
fn declares(at: &RuleContext<'_>, side: Side, path: &str, rule: &'static Rule) -> Option<bool> {
    let redacted =
        || at.facts.negotiated.capabilities(side).is_some_and(|capabilities| at.redacted(capabilities));
    let declares = at.facts.declares(side, path).filter(|&declares| declares || !redacted());
    match (declares, side) {
        (Some(true), _) => at.pass(rule),
        (Some(false), _) => {}
        (None, Side::Client) => at.inconclusive(rule, NOT_SHOWN),
        (None, Side::Server) => at.inconclusive(rule, SERVER_NOT_SHOWN),
    }
    declares
}
