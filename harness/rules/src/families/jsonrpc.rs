//! JSON-RPC: what every message must look like by itself.

use crate::engine::{
    Family, MessageKind, Report, RuleContext, RuleVisitor, SeenMessage, Trigger, Violation, shown, string_of,
};
use crate::rule::{Level, Rule};
use crate::rule_text::{named, read_rules, rules_in};
use transcript::json::{Json, JsonKind};
use transcript::message::{Id, Message, Refusal};
use transcript::rejection::Code;
use transcript::session::Content;

pub(super) const FAMILY: Family = Family {
    name: "jsonrpc",
    title: "JSON-RPC messages",
    rules: &RULES,
    triggers: &[Trigger::All],
    visitor: || Box::new(JsonrpcState),
};

const TEXT: &str = include_str!("jsonrpc.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

const VERSION: &Rule = named(&RULES, "jsonrpc.version");
const KIND: &Rule = named(&RULES, "jsonrpc.kind");
const PARAMS: &Rule = named(&RULES, "jsonrpc.params.object");
const ID_TYPE: &Rule = named(&RULES, "jsonrpc.id.type");
const ID_FRACTION: &Rule = named(&RULES, "jsonrpc.id.form");
const ID_NULL: &Rule = named(&RULES, "jsonrpc.id.null");
const ID_MISSING: &Rule = named(&RULES, "jsonrpc.id.missing");
const NOTIFICATION_ID: &Rule = named(&RULES, "jsonrpc.notification.no-id");
const XOR: &Rule = named(&RULES, "jsonrpc.response.xor");
const RESULT: &Rule = named(&RULES, "jsonrpc.result.object");
const ERROR_SHAPE: &Rule = named(&RULES, "jsonrpc.error.shape");
const ERROR_CONCISE: &Rule = named(&RULES, "jsonrpc.error.concise");
const ERROR_CODE: &Rule = named(&RULES, "jsonrpc.error.code-int");

struct JsonrpcState;

impl RuleVisitor for JsonrpcState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        match (at.message, &at.entry.content) {
            (Some(message), _) => check_message(message, at, report),
            (None, Content::Noise(noise)) => fault(&noise.why, &noise.text, at, report),
            _ => {}
        }
    }
}

/// A message that a reader takes for one.
fn check_message(message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
    for rule in [VERSION, KIND, ID_TYPE] {
        report.pass(rule, at);
    }
    let raw = &message.raw;
    if let Id::Number(number) = raw.id() {
        let whole = number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        report.check(ID_FRACTION, at, whole, || format!("the id is written `{number}`"));
    }
    match message.kind {
        MessageKind::Request | MessageKind::Notification => call(message, at, report),
        MessageKind::Result => {
            report.pass(XOR, at);
            if let Some(result) = raw.outcome() {
                object(RESULT, "result", result, at, report);
            }
        }
        MessageKind::Error => {
            report.pass(XOR, at);
            error(raw, at, report);
        }
    }
}

fn call(message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let (raw, method) = (&message.raw, message.method.as_deref().unwrap_or_default());
    if let Some(params) = raw.params() {
        object(PARAMS, "params", params, at, report);
    }
    let is_notification = method.starts_with("notifications/");
    match raw.id() {
        Id::Missing if is_notification => report.pass(NOTIFICATION_ID, at),
        Id::Missing if message.known.is_some_and(|known| known.spans.iter().any(|span| span.request)) => {
            report.fail(ID_MISSING, at, format!("`{method}` asks for an answer and has no id"));
        }
        Id::Missing => {}
        _ if is_notification => {
            report.fail(NOTIFICATION_ID, at, format!("the notification `{method}` has an id"));
        }
        Id::Null => report.fail(ID_NULL, at, format!("the request `{method}` has the id null")),
        Id::Text(_) | Id::Number(_) => {
            report.pass(ID_NULL, at);
            report.pass(ID_MISSING, at);
        }
    }
}

fn error(raw: &Message<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let Some(error) = raw.outcome() else { return };
    if error.kind() != JsonKind::Object {
        let wrong = format!("`error` is {}: {}", error.kind().name(), shown(error));
        return report.fail(ERROR_SHAPE, at, Violation::new(wrong).inside(error));
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
            report.pass(ERROR_SHAPE, at);
            let lines = text.and_then(string_of).map_or(1, |text| text.trim_end().lines().count());
            report.check(ERROR_CONCISE, at, lines <= 1, || {
                Violation::new(format!("the message has {lines} lines")).inside(text.unwrap_or(error))
            });
        }
        Some(what) => {
            report.fail(ERROR_SHAPE, at, Violation::new(format!("the error lacks {what}")).inside(error));
        }
    }
    if let Some(code) = code {
        let whole = code.as_number().is_some_and(|number| !number.contains(['.', 'e', 'E']));
        report.check(ERROR_CODE, at, whole, || {
            Violation::new(format!("the code is {}: {}", code.kind().name(), shown(code))).inside(code)
        });
    }
}

fn object(rule: &'static Rule, name: &str, value: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
    report.check(rule, at, value.kind() == JsonKind::Object, || {
        Violation::new(format!("`{name}` is {}: {}", value.kind().name(), shown(value))).inside(value)
    });
}

/// An object that was to be a message, and has a fault that no reader passes over.
fn fault(why: &Refusal, text: &str, at: &RuleContext<'_>, report: &mut Report) {
    let Ok(value) = Json::parse(text) else { return };
    if value.kind() != JsonKind::Object {
        return;
    }
    let has = |name| value.member(name).is_some();
    match why.code {
        Code::InvalidVersion => {
            let wrong = match value.member("jsonrpc") {
                None => Violation::new("the message has no `jsonrpc`"),
                Some(version) => Violation::new(format!("`jsonrpc` is {}", shown(version))).inside(version),
            };
            report.fail(VERSION, at, wrong);
        }
        Code::InvalidId => {
            let id = value.member("id").unwrap_or(value);
            let wrong = format!("the id is {}: {}", id.kind().name(), shown(id));
            report.fail(ID_TYPE, at, Violation::new(wrong).inside(id));
        }
        Code::AmbiguousMessage if !has("method") => {
            // Many senders write the one that does not apply as null.
            let null = value.member("error").is_some_and(|error| error.kind() == JsonKind::Null);
            let wrong = Violation::new("the response has both `result` and `error`");
            report.fail(XOR, at, if null { wrong.only(Level::Should) } else { wrong });
        }
        Code::AmbiguousMessage => {
            report.fail(KIND, at, "the message has `method` beside `result` or `error`");
        }
        Code::InvalidMethod => report.fail(KIND, at, "`method` is not a string"),
        Code::NotAMessage if has("jsonrpc") => {
            report.fail(KIND, at, "the message has neither `method` nor `result` nor `error`");
        }
        _ => {}
    }
}
