//! The shape of each message by the schema of its revision.
//!
//! Knows: how a value is held to the tables, and where in it the fault stands. Refuses to know: the shapes themselves,
//! and what is wrong with a message beyond its shape.

use super::tool_output::whole_result;
use super::typed_tables::{Member, PARAMS, RESULTS, Shape, Sort};
use crate::engine::{Fault, Found, Moment, Revision, Sort as Heard, Wrong, block, shown, string_of};
use crate::family::{Family, Hears, Watch};
use crate::rule::Rule;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "typed",
    title: "The shapes of messages",
    rules: &[&TYPED],
    hears: &[Hears::Each(&[Heard::Request, Heard::Notification, Heard::Result])],
    watch: || Box::new(Watching),
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

struct Watching;

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        let Some(said) = &at.said else { return };
        let shaped = |table: &'static [(&str, Shape)], method: &str| {
            table.iter().find(|(name, _)| *name == method).map(|(_, shape)| *shape)
        };
        let fault = if let Some(method) = said.method.as_deref() {
            let Some(shape) = shaped(PARAMS, method) else { return };
            match said.message.params() {
                // That params are an object has a rule of its own.
                Some(params) if params.kind() != JsonKind::Object => return,
                Some(params) => members(shape, params, at.revision),
                None => match needed(shape, at.revision) {
                    Some(name) => {
                        Err((format!("`{method}` has no params, and needs `{name}`"), said.message.json()))
                    }
                    None => Ok(()),
                },
            }
        } else {
            let Some(method) = said.asked().map(|asked| asked.method()) else { return };
            let Some(shape) = shaped(RESULTS, method) else { return };
            let Some(result) = whole_result(said, method) else { return };
            members(shape, result, at.revision)
        };
        match fault {
            Ok(()) => found.held(&TYPED, at),
            Err((wrong, place)) => found.broke(&TYPED, at, Wrong::of(wrong).inside(place)),
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

fn members<'v>(shape: Shape, value: Json<'v>, revision: Option<Revision>) -> Result<(), Fault<'v>> {
    for member in shape.iter().filter(|member| applies(member, revision)) {
        match value.member(member.name) {
            Some(part) => one(member.name, member.sort, part, revision)?,
            None if member.needed => return Err((format!("`{}` is missing", member.name), value)),
            None => {}
        }
    }
    Ok(())
}

fn one<'v>(name: &str, sort: Sort, value: Json<'v>, revision: Option<Revision>) -> Result<(), Fault<'v>> {
    let kind = value.kind();
    let is = |wanted: JsonKind| {
        if kind == wanted {
            Ok(())
        } else {
            Err((format!("`{name}` is {}, and not {}", kind.name(), wanted.name()), value))
        }
    };
    match sort {
        Sort::Any => Ok(()),
        Sort::Text => is(JsonKind::String),
        Sort::Number => is(JsonKind::Number),
        Sort::Bool => match value.text() {
            "true" | "false" => Ok(()),
            _ => Err((format!("`{name}` is {}, and neither true nor false", kind.name()), value)),
        },
        Sort::Object => is(JsonKind::Object),
        Sort::Word(words) => {
            is(JsonKind::String)?;
            if string_of(value).is_some_and(|word| words.contains(&&*word)) {
                return Ok(());
            }
            Err((format!("`{name}` is {}, and none of {}", shown(value), words.join(", ")), value))
        }
        Sort::Is(shape) => {
            is(JsonKind::Object)?;
            members(shape, value, revision)
        }
        Sort::Within(shape) if kind == JsonKind::Object => members(shape, value, revision),
        Sort::Within(_) => Ok(()),
        Sort::List(sort) => {
            is(JsonKind::Array)?;
            value.items().try_for_each(|item| one(name, *sort, item, revision))
        }
        Sort::Map(sort) => {
            is(JsonKind::Object)?;
            value.members().try_for_each(|(key, part)| {
                one(&String::from_utf8_lossy(&key.decode()), *sort, part, revision)
            })
        }
        Sort::Block => block(value, revision),
        Sort::Spoken => {
            let tools = revision.is_none_or(|revision| revision >= Revision::V2025_11_25);
            if kind == JsonKind::Array && tools {
                return value.items().try_for_each(|item| spoken(item, tools, revision));
            }
            spoken(value, tools, revision)
        }
    }
}

/// A block as models exchange it: no resources, and from 2025-11-25 on the use of tools.
fn spoken(value: Json<'_>, tools: bool, revision: Option<Revision>) -> Result<(), Fault<'_>> {
    use super::typed_tables::{TOOL_RESULT, TOOL_USE};
    let sort = value.member("type").and_then(string_of).unwrap_or_default();
    match sort.as_str() {
        "tool_use" if tools => members(TOOL_USE, value, revision),
        "tool_result" if tools => members(TOOL_RESULT, value, revision),
        "resource" | "resource_link" => {
            let place = value.member("type").unwrap_or(value);
            Err((format!("content of the type `{sort}` is none that models exchange"), place))
        }
        _ => block(value, revision),
    }
}
