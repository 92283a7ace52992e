//! JSON-RPC: what every message must look like by itself. Memory: that of [`RecentTexts`], and up to [`MOST_ALIKE`] findings.

use crate::engine::{
    Family, HeldFinding, MessageKind, Method, RecentTexts, RuleContext, RuleVisitor, SeenMessage, Trigger,
    Violation, per_session, shown, string_of,
};
use crate::rule::{Level, Rule};
use transcript::batch;
use transcript::json::{Json, JsonKind, JsonString, Tree};
use transcript::message::{Id, Message, Refusal, resembles_message};
use transcript::rejection::Code;
use transcript::session::{Content, Noise};

pub(super) const FAMILY: Family = Family {
    name: "jsonrpc",
    title: "JSON-RPC messages",
    rules: &[
        &VERSION,
        &KIND,
        &PARAMS,
        &ID_TYPE,
        &ID_FORM,
        &ID_NULL,
        &ID_MISSING,
        &NOTIFICATION_ID,
        &XOR,
        &RESULT,
        &ERROR_SHAPE,
        &ERROR_CODE,
        &ERROR_CONCISE,
    ],
    triggers: &[Trigger::All],
    visitor: per_session::<JsonRpcState>,
};

static VERSION: Rule = Rule {
    id: "jsonrpc.version",
    source: "basic/index#messages; JSON-RPC 2.0, section 4",
    title: "`jsonrpc` is the string \"2.0\"",
    why: "Receivers recognize JSON-RPC 2.0 by this member and drop or refuse whatever lacks it.",
    fix: "Write \"jsonrpc\": \"2.0\" into every message.",
    ..Rule::BLANK
};

static KIND: Rule = Rule {
    id: "jsonrpc.kind",
    source: "JSON-RPC 2.0, sections 4 and 5",
    title: "A message is a request, a notification, a result or an error, and only one of them",
    why: "Receivers disagree on a message that fits two kinds or none: one answers it, another drops it.",
    fix: "Send `method` (with or without `id`), or `id` with `result`, or `id` with `error`.",
    ..Rule::BLANK
};

static PARAMS: Rule = Rule {
    id: "jsonrpc.params.object",
    source: "schema, JSONRPCRequest and JSONRPCNotification",
    title: "`params`, where present, is an object",
    why: "MCP names its parameters; an array or null is refused by typed receivers.",
    fix: "Send an object, or leave `params` out.",
    ..Rule::BLANK
};

static ID_TYPE: Rule = Rule {
    id: "jsonrpc.id.type",
    source: "basic/index#requests",
    title: "An id is a string or an integer",
    why: "Receivers cannot use a boolean, an object or a list as the name of a request, and a fraction loses digits.",
    fix: "Count your requests, or use strings.",
    ..Rule::BLANK
};

static ID_FORM: Rule = Rule {
    id: "jsonrpc.id.form",
    source: "basic/index#requests; JSON-RPC 2.0, section 4",
    title: "An integer id is spelled without fraction and exponent",
    why: "`1.0` is the request 1 to one reader, another request to a second, and a notification to a third.",
    fix: "Spell integer ids with digits only.",
    ..Rule::BLANK.info()
};

static ID_NULL: Rule = Rule {
    id: "jsonrpc.id.null",
    source: "basic/index#requests",
    title: "A request's id is not null",
    why: "Nobody can answer it: some servers take it for a notification and stay silent, others refuse it.",
    fix: "Give the request an id, or leave `id` out if it is a notification.",
    ..Rule::BLANK
};

static ID_MISSING: Rule = Rule {
    id: "jsonrpc.id.missing",
    source: "basic/index#requests",
    title: "A method that asks for an answer comes with an id",
    why: "Without an id it is a notification, so the answer never comes.",
    fix: "Give every request an id.",
    ..Rule::BLANK
};

static NOTIFICATION_ID: Rule = Rule {
    id: "jsonrpc.notification.no-id",
    source: "basic/index#notifications",
    title: "A notification has no id",
    why: "With an id it is a request, which the other side has to answer, usually with an error.",
    fix: "Leave `id` out of notifications.",
    ..Rule::BLANK
};

static XOR: Rule = Rule {
    id: "jsonrpc.response.xor",
    source: "basic/index#responses; JSON-RPC 2.0, section 5",
    title: "A response has a result or an error, and not both",
    why: "One reader takes it for a success and another for a failure. `\"error\": null` counts as both to many.",
    fix: "Leave out the member that does not apply; null is a value.",
    contested: Some(
        "From 2025-11-25 on the text of MCP no longer says it; JSON-RPC, which binds, still does.",
    ),
    softened: Some("a warning where the member that does not apply is null"),
    ..Rule::BLANK
};

static RESULT: Rule = Rule {
    id: "jsonrpc.result.object",
    source: "schema, Result",
    title: "`result` is an object",
    why: "Every MCP result is one, even an empty one; typed receivers refuse null, strings and lists.",
    fix: "Answer with {} where there is nothing to say.",
    ..Rule::BLANK
};

static ERROR_SHAPE: Rule = Rule {
    id: "jsonrpc.error.shape",
    source: "basic/index#responses",
    title: "`error` is an object with a `code` and a `message`",
    why: "Clients show the message and decide by the code; a bare string leaves them with neither.",
    fix: "Send {\"code\": …, \"message\": …}.",
    ..Rule::BLANK
};

static ERROR_CONCISE: Rule = Rule {
    id: "jsonrpc.error.concise",
    source: "schema, Error",
    title: "The message of an error is one line",
    why: "Clients show it in one line, and log it; a stack trace also reveals more about the server than it should.",
    fix: "Say in one sentence what is wrong, and put details into `data`.",
    ..Rule::BLANK.should()
};

static ERROR_CODE: Rule = Rule {
    id: "jsonrpc.error.code-int",
    source: "basic/index#responses",
    title: "An error's code is an integer",
    why: "Receivers compare codes with numbers such as -32602; a string is equal to none.",
    fix: "Send the code as a bare integer.",
    ..Rule::BLANK
};

/// The most objects that only look somewhat like messages of which findings are kept.
pub(super) const MOST_ALIKE: usize = 1_000;

#[derive(Default)]
struct JsonRpcState {
    /// The ids of requests that none may have. Who answers has to repeat them.
    bad_ids: RecentTexts,
    /// What is wrong with objects that only look somewhat like messages, as long as nothing of JSON-RPC is in the file: it may be
    /// another program's log.
    alike: Vec<HeldFinding>,
}

impl RuleVisitor for JsonRpcState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        match (at.message, &at.entry.content) {
            (Some(message), _) => check_message(message, at),
            (None, Content::Noise(noise)) if at.facts.messages == 0 && is_alike(noise, at) => {
                let held = Violation::new(NO_VERSION).held(&VERSION, at);
                self.alike.extend((self.alike.len() < MOST_ALIKE).then_some(held));
            }
            (None, Content::Noise(noise)) if is_bare_object(noise, at) => {
                at.fail(&KIND, "the object has nothing of a message");
            }
            (None, Content::Noise(noise)) => fault(&noise.why, &noise.text, &mut self.bad_ids, at),
            (None, Content::Event) => bare_event(at),
            _ => {}
        }
        if at.facts.messages > 0 {
            self.alike.drain(..).for_each(|held| held.certain(at));
        }
    }
}

/// Whether a line that is not JSON-RPC has only a member whose name a message has, too, with a value that no message has there.
pub(super) fn is_alike(noise: &Noise<'_>, at: &RuleContext<'_>) -> bool {
    let Ok(value) = Json::parse(&noise.text) else { return false };
    let is_named = |name: JsonString<'_>| {
        name.to_str().is_some_and(|name| name.contains('/') || Method::find(&name).is_some())
    };
    let has = |name| value.member(name).is_some();
    at.facts.recording.kind.bare_lines
        && noise.why.code == Code::InvalidVersion
        && !["jsonrpc", "id", "params", "result"].into_iter().any(has)
        && !value.member("method").and_then(Json::as_text).is_some_and(is_named)
        && value.member("error").is_none_or(|error| error.kind() != JsonKind::Object)
}

const NO_VERSION: &str = "the message has no `jsonrpc`";

/// A message that a reader takes for one.
fn check_message(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    at.pass(&VERSION);
    at.pass(&KIND);
    let raw = &message.raw;
    match raw.id() {
        // Who answers has to repeat it.
        Id::Number(number) if !is_integer(number) && message.method.is_some() => {
            at.fail(&ID_TYPE, format!("the id is a fraction: {number}"));
        }
        Id::Number(number) if is_integer(number) => {
            at.pass(&ID_TYPE);
            let digits = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            at.check(&ID_FORM, digits, || format!("the id is written `{number}`"));
        }
        _ => at.pass(&ID_TYPE),
    }
    match message.kind {
        MessageKind::Request | MessageKind::Notification => call(message, at),
        MessageKind::Result => {
            at.pass(&XOR);
            // What answers nothing, by its id, needs no form.
            if let Some(result) = raw.outcome().filter(|_| raw.written_id().is_some()) {
                object(&RESULT, "result", result, at);
            }
        }
        MessageKind::Error => {
            at.pass(&XOR);
            error(raw, at);
        }
    }
}

fn call(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let (raw, method) = (&message.raw, message.method.as_deref().unwrap_or_default());
    if let Some(params) = raw.params() {
        object(&PARAMS, "params", params, at);
    }
    let is_notification = method.starts_with("notifications/");
    match raw.id() {
        Id::Missing if is_notification => at.pass(&NOTIFICATION_ID),
        Id::Missing if message.known.is_some_and(|known| known.spans.iter().any(|span| span.request)) => {
            at.fail(&ID_MISSING, format!("`{method}` asks for an answer and has no id"));
        }
        Id::Missing => {}
        _ if is_notification => at.fail(&NOTIFICATION_ID, format!("the notification `{method}` has an id")),
        Id::Null => at.fail(&ID_NULL, format!("the request `{method}` has the id null")),
        Id::Text(_) | Id::Number(_) => {
            at.pass(&ID_NULL);
            at.pass(&ID_MISSING);
        }
    }
}

fn error(raw: &Message<'_>, at: &RuleContext<'_>) {
    let Some(error) = raw.outcome() else { return };
    if error.kind() != JsonKind::Object {
        return at.fail(&ERROR_SHAPE, Violation::kind("`error`", error));
    }
    let (code, text) = (error.member("code"), error.member("message"));
    let lacks = match (code, text) {
        (None, _) => Some("`code`"),
        (_, None) => Some("`message`"),
        (_, Some(text)) if text.kind() != JsonKind::String => Some("a `message` that is a string"),
        _ => None,
    };
    match lacks {
        None => {
            at.pass(&ERROR_SHAPE);
            let lines = text.and_then(string_of).map_or(1, |text| text.trim_end().lines().count());
            at.check(&ERROR_CONCISE, lines <= 1, || {
                Violation::new(format!("the message has {lines} lines")).inside(text.unwrap_or(error))
            });
        }
        Some(what) => at.fail(&ERROR_SHAPE, Violation::new(format!("the error lacks {what}")).inside(error)),
    }
    if let Some(code) = code {
        at.check(&ERROR_CODE, code.as_number().is_some_and(is_integer), || Violation::kind("the code", code));
    }
}

/// Whether a number is an integer, as `1.0` is; where it has an exponent, that is not looked into.
pub(super) fn is_integer(number: &str) -> bool {
    number.contains(['e', 'E'])
        || number.split_once('.').is_none_or(|(_, fraction)| fraction.bytes().all(|byte| byte == b'0'))
}

fn object(rule: &'static Rule, name: &str, value: Json<'_>, at: &RuleContext<'_>) {
    if !at.facts.knows_mcp && at.facts.other_method.is_some() {
        return at.inconclusive(rule, "no method of MCP was called before, and JSON-RPC has other users");
    }
    at.check(rule, value.kind() == JsonKind::Object, || Violation::kind(&format!("`{name}`"), value));
}

/// An event that is to carry a message, and carries an object that is none.
fn bare_event(at: &RuleContext<'_>) {
    let data = at.message_data().filter(|_| at.is_event_for_messages());
    let value = data.and_then(|data| Json::parse(data).ok());
    // An empty one is how some servers replay an event that had no data.
    if value.is_some_and(|value| value.members().next().is_some()) {
        at.fail(&KIND, "the data of the event is an object without anything of a message");
    }
}

/// Whether an object that has nothing of a message was sent as one: it stands where the recording has a message, of whom is known,
/// and has others as they were. What a process printed is reported as such.
pub(super) fn is_bare_object(noise: &Noise<'_>, at: &RuleContext<'_>) -> bool {
    let kind = at.facts.recording.kind;
    let has_slot = at.entry.side.is_some() && !kind.trace && !kind.bare_lines && !kind.bare_list;
    let is_bare = |value: Json<'_>| value.members().next().is_some() && !resembles_message(value);
    let is_alone = noise.why.code == Code::NotAMessage && noise.why.clause != batch::CLAUSE;
    has_slot && is_alone && at.facts.messages > 0 && Json::parse(&noise.text).is_ok_and(is_bare)
}

/// An object that was to be a message, and has a fault that no reader passes over.
fn fault(why: &Refusal, text: &str, bad_ids: &mut RecentTexts, at: &RuleContext<'_>) {
    let Ok(value) = Json::parse(text) else { return };
    if value.kind() != JsonKind::Object {
        return;
    }
    let has = |name| value.member(name).is_some();
    match why.code {
        Code::InvalidVersion => {
            let wrong = match value.member("jsonrpc") {
                None => Violation::new(NO_VERSION),
                Some(version) => Violation::new(format!("`jsonrpc` is {}", shown(version))).inside(version),
            };
            at.fail(&VERSION, wrong);
        }
        Code::InvalidId => {
            let id = value.member("id").unwrap_or(value);
            let normal = Tree::new(id).normal_form();
            let normal = String::from_utf8_lossy(&normal);
            if has("method") {
                bad_ids.note(&normal);
            } else if bad_ids.has(&normal) {
                return;
            }
            at.fail(&ID_TYPE, Violation::kind("the id", id));
        }
        Code::AmbiguousMessage if !has("method") => {
            // Many senders write the one that does not apply as null.
            let is_null = |name| value.member(name).is_some_and(|value| value.kind() == JsonKind::Null);
            let wrong = Violation::new("the response has both `result` and `error`");
            let softened = is_null("error") || is_null("result");
            at.fail(&XOR, if softened { wrong.only(Level::Should) } else { wrong });
        }
        Code::AmbiguousMessage => at.fail(&KIND, "the message has `method` beside `result` or `error`"),
        Code::InvalidMethod => at.fail(&KIND, "`method` is not a string"),
        Code::NotAMessage if has("jsonrpc") => {
            at.fail(&KIND, "the message has neither `method` nor `result` nor `error`");
        }
        _ => {}
    }
}
