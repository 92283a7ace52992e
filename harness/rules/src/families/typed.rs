//! The shape of each message by the schema of its revision.
//!
//! Knows: how a value is held to the tables, and where in it the fault stands. Refuses to know: the shapes themselves,
//! and what is wrong with a message beyond its shape.

use super::tool_output::whole_result;
use super::typed_tables::{Member, PARAMS, RESULTS, SchemaType, Shape};
use crate::engine::{
    ContentFault, Family, MessageKind, Report, Revision, RuleContext, RuleVisitor, Trigger, Violation, block,
    shown, string_of,
};
use crate::rule::Rule;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "typed",
    title: "The shapes of messages",
    rules: &[&TYPED],
    triggers: &[Trigger::Kinds(&[MessageKind::Request, MessageKind::Notification, MessageKind::Result])],
    visitor: || Box::new(TypedState),
};

static TYPED: Rule = Rule {
    id: "jsonrpc.schema.typed",
    source: "schema of the revision",
    title: "Params and results have the members that the schema of their revision gives them",
    why: "Typed receivers refuse the whole message for one member that is missing or of another type. Null is a \
          type of its own, and no way to leave a member out.",
    fix: "Send what is shown in the type that is named; leave out what you do not have.",
    ..Rule::BLANK
};

struct TypedState;

impl RuleVisitor for TypedState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        let Some(message) = &at.message else { return };
        let shaped = |table: &'static [(&str, Shape)], method: &str| {
            table.iter().find(|(name, _)| *name == method).map(|(_, shape)| *shape)
        };
        let fault = if let Some(method) = message.method.as_deref() {
            let Some(shape) = shaped(PARAMS, method) else { return };
            match message.raw.params() {
                // That params are an object has a rule of its own.
                Some(params) if params.kind() != JsonKind::Object => return,
                Some(params) => members(shape, params, at.revision),
                None => match needed(shape, at.revision) {
                    Some(name) => {
                        Err((format!("`{method}` has no params, and needs `{name}`"), message.raw.json()))
                    }
                    None => Ok(()),
                },
            }
        } else {
            let Some(method) = message.request().map(|request| request.method()) else { return };
            let Some(shape) = shaped(RESULTS, method) else { return };
            let Some(result) = whole_result(message, method) else { return };
            members(shape, result, at.revision)
        };
        match fault {
            Ok(()) => report.pass(&TYPED, at),
            Err((wrong, location)) => report.fail(&TYPED, at, Violation::of(wrong).inside(location)),
        }
    }
}

/// The first member that the revision needs. What is needed by some revisions alone is not where none is known.
fn needed(shape: Shape, revision: Option<Revision>) -> Option<&'static str> {
    shape.iter().find(|member| member.needed && applies(member, revision)).map(|member| member.name)
}

fn applies(member: &Member, revision: Option<Revision>) -> bool {
    match revision {
        Some(revision) => member.span.has(revision),
        None => member.span == crate::engine::Span::ALL,
    }
}

fn members<'v>(shape: Shape, value: Json<'v>, revision: Option<Revision>) -> Result<(), ContentFault<'v>> {
    for member in shape.iter().filter(|member| applies(member, revision)) {
        match value.member(member.name) {
            Some(part) => one(member.name, member.expected, part, revision)?,
            None if member.needed => return Err((format!("`{}` is missing", member.name), value)),
            None => {}
        }
    }
    Ok(())
}

fn one<'v>(
    name: &str,
    expected: SchemaType,
    value: Json<'v>,
    revision: Option<Revision>,
) -> Result<(), ContentFault<'v>> {
    let kind = value.kind();
    let is = |wanted: JsonKind| {
        if kind == wanted {
            Ok(())
        } else {
            Err((format!("`{name}` is {}, and not {}", kind.name(), wanted.name()), value))
        }
    };
    match expected {
        SchemaType::Any => Ok(()),
        SchemaType::Text => is(JsonKind::String),
        SchemaType::Number => is(JsonKind::Number),
        SchemaType::Bool => match value.text() {
            "true" | "false" => Ok(()),
            _ => Err((format!("`{name}` is {}, and neither true nor false", kind.name()), value)),
        },
        SchemaType::Object => is(JsonKind::Object),
        SchemaType::Word(words) => {
            is(JsonKind::String)?;
            if string_of(value).is_some_and(|word| words.contains(&&*word)) {
                return Ok(());
            }
            Err((format!("`{name}` is {}, and none of {}", shown(value), words.join(", ")), value))
        }
        SchemaType::Is(shape) => {
            is(JsonKind::Object)?;
            members(shape, value, revision)
        }
        SchemaType::Within(shape) if kind == JsonKind::Object => members(shape, value, revision),
        SchemaType::Within(_) => Ok(()),
        SchemaType::List(expected) => {
            is(JsonKind::Array)?;
            value.items().try_for_each(|item| one(name, *expected, item, revision))
        }
        SchemaType::Map(expected) => {
            is(JsonKind::Object)?;
            value.members().try_for_each(|(key, part)| {
                one(&String::from_utf8_lossy(&key.decode()), *expected, part, revision)
            })
        }
        SchemaType::Block => block(value, revision),
        SchemaType::Spoken => {
            let tools = revision.is_none_or(|revision| revision >= Revision::V2025_11_25);
            if kind == JsonKind::Array && tools {
                return value.items().try_for_each(|item| spoken(item, tools, revision));
            }
            spoken(value, tools, revision)
        }
    }
}

/// A block as models exchange it: no resources, and from 2025-11-25 on the use of tools.
fn spoken(value: Json<'_>, tools: bool, revision: Option<Revision>) -> Result<(), ContentFault<'_>> {
    use super::typed_tables::{TOOL_RESULT, TOOL_USE};
    let expected = value.member("type").and_then(string_of).unwrap_or_default();
    match expected.as_str() {
        "tool_use" if tools => members(TOOL_USE, value, revision),
        "tool_result" if tools => members(TOOL_RESULT, value, revision),
        "resource" | "resource_link" => {
            let location = value.member("type").unwrap_or(value);
            Err((format!("content of the type `{expected}` is not one that models exchange"), location))
        }
        _ => block(value, revision),
    }
}
