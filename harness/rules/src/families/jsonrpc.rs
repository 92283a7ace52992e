//! JSON-RPC: what every message must look like by itself.
//!
//! Refuses to know: what stood before a message; that is the business of `correlation`.

use crate::engine::{Found, Moment, Revision, Said, Sort, Span, Wrong, known, shown};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Rule};
use transcript::json::{Json, JsonKind};
use transcript::message::{Id, Message, Refusal};
use transcript::rejection::Code;
use transcript::session::Content;

pub(super) const FAMILY: Family = Family {
    name: "jsonrpc",
    title: "JSON-RPC messages",
    rules: &[
        &VERSION,
        &KIND,
        &PARAMS,
        &ID_TYPE,
        &ID_FRACTION,
        &ID_NULL,
        &ID_MISSING,
        &NOTIFICATION_ID,
        &XOR,
        &RESULT,
        &ERROR_SHAPE,
        &ERROR_CODE,
        &ERROR_ID_NULL,
        &ERROR_ID_ABSENT,
    ],
    hears: &[Hears::All],
    watch: || Box::new(Watching),
};

static VERSION: Rule = Rule {
    id: "jsonrpc.version",
    source: "basic/index#messages; JSON-RPC 2.0, section 4",
    title: "`jsonrpc` is the string \"2.0\"",
    why: "Receivers tell JSON-RPC 2.0 by this member and drop or refuse whatever lacks it.",
    fix: "Write \"jsonrpc\": \"2.0\" into every message.",
    ..Rule::BLANK
};

static KIND: Rule = Rule {
    id: "jsonrpc.kind",
    source: "JSON-RPC 2.0, sections 4 and 5",
    title: "A message is a request, a notification, a result or an error, and only one of them",
    why: "Receivers differ on what a message is that fits two kinds or none: one answers it, another drops it.",
    fix: "Send `method` (with or without `id`), or `id` with `result`, or `id` with `error`.",
    ..Rule::BLANK
};

static PARAMS: Rule = Rule {
    id: "jsonrpc.params.object",
    source: "schema, JSONRPCRequest and JSONRPCNotification",
    title: "`params` is an object where it is there",
    why: "MCP names its parameters; an array or null is refused by typed receivers.",
    fix: "Send an object, or leave `params` out.",
    ..Rule::BLANK
};

static ID_TYPE: Rule = Rule {
    id: "jsonrpc.id.type",
    source: "basic/index#requests",
    title: "An id is a string or an integer",
    why: "No receiver can keep a boolean, an object or a list as the name of a request, and a fraction loses its end.",
    fix: "Count your requests, or use strings.",
    ..Rule::BLANK
};

static ID_FRACTION: Rule = Rule {
    id: "jsonrpc.id.form",
    level: Level::Info,
    source: "basic/index#requests; JSON-RPC 2.0, section 4",
    title: "An integer id is spelled without fraction and exponent",
    why: "`1.0` is the request 1 to one reader, another request to a second, and a notification to a third.",
    fix: "Spell integer ids with digits alone.",
    ..Rule::BLANK
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
    why: "Without an id it is a notification, so that the answer never comes.",
    fix: "Give every request an id.",
    ..Rule::BLANK
};

static NOTIFICATION_ID: Rule = Rule {
    id: "jsonrpc.notification.no-id",
    source: "basic/index#notifications",
    title: "A notification has no id",
    why: "With an id it is a request, which the other side has to answer, mostly with an error.",
    fix: "Leave `id` out of notifications.",
    ..Rule::BLANK
};

static XOR: Rule = Rule {
    id: "jsonrpc.response.xor",
    source: "basic/index#responses; JSON-RPC 2.0, section 5",
    title: "A response has a result or an error, and not both",
    why: "One reader takes it for a success and another for a failure. `\"error\": null` counts as both to many.",
    fix: "Leave the member out that does not apply; null is a value.",
    contested: Some(
        "From 2025-11-25 on the text of MCP no longer says it; JSON-RPC, which binds, still does.",
    ),
    ..Rule::BLANK
};

static RESULT: Rule = Rule {
    id: "jsonrpc.result.object",
    source: "schema, Result",
    title: "`result` is an object",
    why: "Every result of MCP is one, also an empty one; typed receivers refuse null, strings and lists.",
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

static ERROR_CODE: Rule = Rule {
    id: "jsonrpc.error.code-int",
    source: "basic/index#responses",
    title: "An error's code is an integer",
    why: "Receivers compare codes with numbers such as -32602; a string is equal to none.",
    fix: "Send the code as a bare integer.",
    ..Rule::BLANK
};

static ERROR_ID_NULL: Rule = Rule {
    id: "jsonrpc.error.id-null",
    level: Level::Should,
    source: "JSON-RPC 2.0, section 5; schema, JSONRPCError",
    title: "An error has the id of its request rather than null",
    why: "Nobody can tell which request failed, and typed receivers refuse a null id.",
    fix: "Repeat the request's id; leave `id` out from 2025-11-25 on where it could not be read.",
    contested: Some("JSON-RPC demands null where the id could not be read; MCP's schemas allow no null."),
    ..Rule::BLANK
};

static ERROR_ID_ABSENT: Rule = Rule {
    id: "jsonrpc.error.id-absent",
    span: Span::between(Revision::V2024_11_05, Revision::V2025_06_18),
    source: "schema, JSONRPCError",
    title: "An error has an id",
    why: "The schemas of these revisions ask for one; a message without it is no response to their readers.",
    fix: "Repeat the request's id.",
    contested: Some("The text on HTTP bodies lets an error go without an id; the schemas do not."),
    ..Rule::BLANK
};

struct Watching;

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        match (&at.said, &at.entry.content) {
            (Some(said), _) => message(said, at, found),
            (None, Content::Noise(noise)) => fault(&noise.why, &noise.text, at, found),
            _ => {}
        }
    }
}

/// A message that a reader takes for one.
fn message(said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
    for rule in [&VERSION, &KIND, &ID_TYPE] {
        found.held(rule, at);
    }
    let message = &said.message;
    if let Id::Number(number) = message.id() {
        let whole = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        found.check(&ID_FRACTION, at, whole, || format!("the id is written `{number}`"));
    }
    match said.sort {
        Sort::Request | Sort::Notification => call(said, at, found),
        Sort::Result => {
            found.held(&XOR, at);
            if let Some(result) = message.outcome() {
                object(&RESULT, "result", result, at, found);
            }
        }
        Sort::Error => {
            found.held(&XOR, at);
            error(message, at, found);
        }
    }
}

fn call(said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
    let (message, method) = (&said.message, said.method.as_deref().unwrap_or_default());
    if let Some(params) = message.params() {
        object(&PARAMS, "params", params, at, found);
    }
    let is_notification = method.starts_with("notifications/");
    match message.id() {
        Id::Missing if is_notification => found.held(&NOTIFICATION_ID, at),
        Id::Missing if known(method).any(|known| known.request) => {
            found.broke(&ID_MISSING, at, format!("`{method}` asks for an answer and has no id"));
        }
        Id::Missing => {}
        _ if is_notification => {
            found.broke(&NOTIFICATION_ID, at, format!("the notification `{method}` has an id"));
        }
        Id::Null => found.broke(&ID_NULL, at, format!("the request `{method}` has the id null")),
        Id::Text(_) | Id::Number(_) => {
            found.held(&ID_NULL, at);
            found.held(&ID_MISSING, at);
        }
    }
}

fn error(message: &Message<'_>, at: &Moment<'_>, found: &mut Found) {
    match message.id() {
        Id::Null => found.broke(&ERROR_ID_NULL, at, "an error with the id null"),
        Id::Missing => found.broke(&ERROR_ID_ABSENT, at, "an error without an id"),
        Id::Text(_) | Id::Number(_) => {
            found.held(&ERROR_ID_NULL, at);
            found.held(&ERROR_ID_ABSENT, at);
        }
    }
    let Some(error) = message.outcome() else { return };
    if error.kind() != JsonKind::Object {
        let wrong = format!("`error` is {}: {}", error.kind().name(), shown(error));
        return found.broke(&ERROR_SHAPE, at, Wrong::of(wrong).inside(error));
    }
    let (code, text) = (error.member("code"), error.member("message"));
    let lacks = match (code, text) {
        (None, _) => Some("`code`"),
        (_, None) => Some("`message`"),
        (_, Some(text)) if text.kind() != JsonKind::String => Some("a `message` that is a string"),
        _ => None,
    };
    match lacks {
        None => found.held(&ERROR_SHAPE, at),
        Some(what) => {
            found.broke(&ERROR_SHAPE, at, Wrong::of(format!("the error lacks {what}")).inside(error));
        }
    }
    if let Some(code) = code {
        let whole = code.as_number().is_some_and(|number| !number.contains(['.', 'e', 'E']));
        found.check(&ERROR_CODE, at, whole, || {
            Wrong::of(format!("the code is {}: {}", code.kind().name(), shown(code))).inside(code)
        });
    }
}

fn object(rule: &'static Rule, name: &str, value: Json<'_>, at: &Moment<'_>, found: &mut Found) {
    found.check(rule, at, value.kind() == JsonKind::Object, || {
        Wrong::of(format!("`{name}` is {}: {}", value.kind().name(), shown(value))).inside(value)
    });
}

/// An object that was to be a message, and has a fault that no reader passes over.
fn fault(why: &Refusal, text: &str, at: &Moment<'_>, found: &mut Found) {
    let Ok(value) = Json::parse(text) else { return };
    if value.kind() != JsonKind::Object {
        return;
    }
    let has = |name| value.member(name).is_some();
    match why.code {
        Code::InvalidVersion => {
            let wrong = match value.member("jsonrpc") {
                None => Wrong::of("the message has no `jsonrpc`"),
                Some(version) => Wrong::of(format!("`jsonrpc` is {}", shown(version))).inside(version),
            };
            found.broke(&VERSION, at, wrong);
        }
        Code::InvalidId => {
            let id = value.member("id").unwrap_or(value);
            let wrong = format!("the id is {}: {}", id.kind().name(), shown(id));
            found.broke(&ID_TYPE, at, Wrong::of(wrong).inside(id));
        }
        Code::AmbiguousMessage if !has("method") => {
            // Many senders write the one that does not apply as null.
            let null = value.member("error").is_some_and(|error| error.kind() == JsonKind::Null);
            let wrong = Wrong::of("the response has both `result` and `error`");
            found.broke(&XOR, at, if null { wrong.only(Level::Should) } else { wrong });
        }
        Code::AmbiguousMessage => {
            found.broke(&KIND, at, "the message has `method` beside `result` or `error`");
        }
        Code::InvalidMethod => found.broke(&KIND, at, "`method` is no string"),
        Code::NotAMessage if has("jsonrpc") => {
            found.broke(&KIND, at, "the message has neither `method` nor `result` nor `error`");
        }
        _ => {}
    }
}
