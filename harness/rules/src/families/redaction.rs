//! What a recorder took out, and whether it left the messages whole.
//!
//! The texts that recorders write in place of what they took out, and where in a message an object or a list has to
//! stand.

use crate::engine::{Family, OnStep, RuleContext, SeenMessage, Trigger, Violation};
use crate::rule::Rule;
use transcript::json::{Json, JsonKind};
use transcript::session::{Content, Noise};

pub(super) const FAMILY: Family = Family {
    name: "redaction",
    title: "What a recorder took out",
    rules: &[&ENVELOPE, &TYPED],
    triggers: &[Trigger::All],
    visitor: || Box::new(OnStep(judge)),
};

static ENVELOPE: Rule = Rule {
    id: "rec.redaction.envelope",
    source: "mcp-replay v1, redaction",
    title: "Redaction keeps `jsonrpc`, `id` and `method`",
    why: "Without them it is not clear what a message is, or what it answers; two ids become one.",
    fix: "Redact inside params, result and error, and nowhere else.",
    ..Rule::BLANK.recorder()
};

static TYPED: Rule = Rule {
    id: "rec.redaction.typed",
    source: "mcp-replay v1, redaction",
    title: "Redaction puts no text where an object or a list belongs",
    why: "Typed readers refuse the message as if its sender had been wrong, and schemas with holes check nothing.",
    fix: "Replace only strings, deep inside, and keep objects, lists and schemas.",
    ..Rule::BLANK.recorder()
};

/// What stands in params, in a result or in an error, and is an object or a list wherever the specification names it.
const NEVER_TEXT: &[&str] = &[
    "_meta",
    "argument",
    "arguments",
    "capabilities",
    "clientInfo",
    "completion",
    "content",
    "contents",
    "inputRequests",
    "inputResponses",
    "messages",
    "modelPreferences",
    "prompts",
    "requestedSchema",
    "resourceTemplates",
    "resources",
    "roots",
    "serverInfo",
    "structuredContent",
    "task",
    "tasks",
    "tools",
];

fn judge(at: &RuleContext<'_>) {
    match (at.message, &at.entry.content) {
        (Some(message), _) if at.redacted(message.raw.json()) => check_message(message, at),
        (None, Content::Noise(noise)) => spoilt(noise, at),
        _ => {}
    }
}

fn check_message(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let json = message.raw.json();
    let gone = |name: &str| json.member(name).filter(|value| is_marker(*value, at));
    let lost = ["id", "method"].into_iter().find_map(|name| Some((name, gone(name)?)));
    at.without(&ENVELOPE, lost, |(name, value)| {
        Violation::new(format!("the {name} was taken out")).inside(value)
    });
    let hole = ["params", "result", "error"].into_iter().find_map(|part| {
        let value = json.member(part)?;
        if is_marker(value, at) { Some((part.to_owned(), value)) } else { hole_in(value, at) }
    });
    at.without(&TYPED, hole, |(name, value)| {
        let wrong = format!("`{name}` was replaced by a text, and is an object or a list");
        Violation::new(wrong).inside(value)
    });
}

/// A place in params or a result where a text stands and must not.
fn hole_in<'m>(value: Json<'m>, at: &RuleContext<'_>) -> Option<(String, Json<'m>)> {
    for (name, value) in value.members() {
        if is_marker(value, at) && NEVER_TEXT.iter().any(|never| name.is(never)) {
            return Some((String::from_utf8_lossy(&name.decode()).into_owned(), value));
        }
    }
    value.member("tools").into_iter().flat_map(Json::items).find_map(|tool| tool_hole(tool, at))
}

/// A tool whose schemas have holes: a property's schema is an object, and no text.
fn tool_hole<'m>(tool: Json<'m>, at: &RuleContext<'_>) -> Option<(String, Json<'m>)> {
    if is_marker(tool, at) {
        return Some(("tools".to_owned(), tool));
    }
    for name in ["inputSchema", "outputSchema", "annotations"] {
        let Some(schema) = tool.member(name) else { continue };
        if is_marker(schema, at) {
            return Some((name.to_owned(), schema));
        }
        let properties = schema.member("properties").filter(|_| name != "annotations");
        let Some(properties) = properties else { continue };
        let mut members = properties.members();
        if is_marker(properties, at) {
            return Some(("properties".to_owned(), properties));
        }
        if let Some((property, schema)) = members.find(|(_, schema)| is_marker(*schema, at)) {
            let property = String::from_utf8_lossy(&property.decode()).into_owned();
            return Some((format!("{name}.properties.{property}"), schema));
        }
    }
    None
}

/// A message that no reader takes for one, since what makes it one was taken out.
fn spoilt(noise: &Noise<'_>, at: &RuleContext<'_>) {
    let Ok(value) = Json::parse(&noise.text) else { return };
    if value.kind() == JsonKind::Object
        && value.member("jsonrpc").is_some_and(|version| is_marker(version, at))
    {
        at.fail(&ENVELOPE, "the version of JSON-RPC was taken out");
    }
}

/// Whether a value is nothing but what a recorder writes in place of what it took out.
fn is_marker(value: Json<'_>, at: &RuleContext<'_>) -> bool {
    let Some(text) = value.as_text() else { return false };
    at.facts.recording.markers.iter().any(|marker| text.is(marker))
}
