//! The keywords of JSON Schema by what is known of them, and those that name values: `type`, `enum`, `const`.

use super::effect::{Effect, strings};
use std::collections::{BTreeSet, HashMap};
use transcript::json::{Json, JsonKind, Tree};

/// Keywords that accept and refuse nothing, and that nobody reads: `$defs` is compared where it is used.
const SILENT: [&str; 5] = ["$comment", "$defs", "$id", "$schema", "definitions"];

/// Keywords that accept and refuse nothing, and that are read.
const ANNOTATIONS: [&str; 10] = [
    "contentEncoding",
    "contentMediaType",
    "default",
    "deprecated",
    "description",
    "examples",
    "format",
    "readOnly",
    "title",
    "writeOnly",
];

/// Whether a keyword accepts and refuses nothing.
pub(super) fn is_annotation(name: &str) -> bool {
    SILENT.contains(&name) || ANNOTATIONS.contains(&name)
}

/// Whether a change of a keyword needs no word of its own.
pub(super) fn is_compared(name: &str) -> bool {
    SILENT.contains(&name) || COMPARED.contains(&name)
}

/// Keywords that are compared by their meaning.
const COMPARED: [&str; 24] = [
    "$ref",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "type",
    "uniqueItems",
];

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// How `type`, `enum` and `const` changed.
pub(super) fn values(old: Json<'_>, new: Json<'_>) -> Vec<(Effect, String)> {
    let mut found = Vec::new();
    let [(before, listed_before), (after, listed_after)] =
        [old, new].map(|schema| (types(schema), listed(schema)));
    let [possible_before, possible_after] = [old, new].map(possible);
    for (effect, from, to, words) in [
        (Effect::Narrower, &possible_before, &after, "is no longer accepted"),
        (Effect::Wider, &possible_after, &before, "is accepted now"),
    ] {
        let lost: Vec<&str> = from.difference(to).copied().collect();
        if !lost.is_empty() {
            found.push((effect, format!("the type {} {words}", lost.join(", "))));
        }
    }
    match (listed_before, listed_after) {
        (None, None) => {}
        (None, Some(values)) => {
            found.push((
                Effect::Narrower,
                format!("only listed values are accepted now: {}", spelled(&values)),
            ));
        }
        (Some(values), None) => {
            found.push((Effect::Wider, format!("no longer only these values: {}", spelled(&values))));
        }
        (Some(before), Some(after)) => {
            let [before, after] = [before, after].map(by_form);
            for (effect, from, to, words) in [
                (Effect::Narrower, &before, &after, "is no longer accepted"),
                (Effect::Wider, &after, &before, "is accepted now"),
            ] {
                let mut lost: Vec<_> = from.iter().filter(|(form, _)| !to.contains_key(*form)).collect();
                if !lost.is_empty() {
                    lost.sort_by_key(|(_, (number, _))| *number);
                    let lost: Vec<Json<'_>> = lost.into_iter().map(|(_, (_, value))| *value).collect();
                    found.push((effect, format!("{} {words}", spelled(&lost))));
                }
            }
        }
    }
    found
}

/// The types that `type` allows.
pub(super) fn types(schema: Json<'_>) -> BTreeSet<&'static str> {
    let Some(named) = schema.member("type") else { return TYPES.into() };
    let names = match named.kind() {
        JsonKind::Array => strings(Some(named)),
        _ => named.as_text().and_then(|name| Some(name.to_str()?.into_owned())).into_iter().collect(),
    };
    TYPES
        .into_iter()
        .filter(|name| names.contains(*name) || *name == "integer" && names.contains("number"))
        .collect()
}

/// The types that a value can have: of listed values, theirs.
pub(super) fn possible(schema: Json<'_>) -> BTreeSet<&'static str> {
    let types = types(schema);
    match listed(schema) {
        Some(values) => values.iter().filter_map(|value| kind(*value, &types)).collect(),
        None => types,
    }
}

/// The values that `enum` or `const` lists.
pub(super) fn listed(schema: Json<'_>) -> Option<Vec<Json<'_>>> {
    let constant = schema.member("const");
    match (schema.member("enum"), constant) {
        (Some(values), None) => Some(values.items().collect()),
        (values, Some(constant)) => {
            let fits = values.is_none_or(|values| values.items().any(|value| value.same(constant)));
            Some(Some(constant).filter(|_| fits).into_iter().collect())
        }
        (None, None) => None,
    }
}

/// The type of a value, if these types have it.
pub(super) fn kind(value: Json<'_>, types: &BTreeSet<&'static str>) -> Option<&'static str> {
    let name = match value.kind() {
        JsonKind::Null => "null",
        JsonKind::Bool => "boolean",
        JsonKind::String => "string",
        JsonKind::Array => "array",
        JsonKind::Object => "object",
        JsonKind::Number if is_digits(value.text()) => "integer",
        JsonKind::Number if types.contains("number") => "number",
        // 1.0 is an integer, however it is spelled.
        JsonKind::Number => "integer",
    };
    types.contains(name).then_some(name)
}

/// Whether a number is spelled as an integer.
pub(super) fn is_digits(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Values by their normal forms, with their numbers.
pub(super) fn by_form(values: Vec<Json<'_>>) -> HashMap<Vec<u8>, (usize, Json<'_>)> {
    let formed = |(number, value)| (Tree::new(value).normal_form(), (number, value));
    values.into_iter().enumerate().map(formed).collect()
}

/// Values of a list up to this number are spelled.
const SPELLED: usize = 50;

fn spelled(values: &[Json<'_>]) -> String {
    let mut words: Vec<String> = values.iter().take(SPELLED).map(|value| brief(*value)).collect();
    if let Some(more) = values.len().checked_sub(SPELLED).filter(|more| *more > 0) {
        words.push(format!("and {more} more"));
    }
    words.join(", ")
}

/// A value in a few words.
pub(super) fn brief(value: Json<'_>) -> String {
    let text: String = value.text().chars().take(60).collect();
    if text.len() < value.text().len() { format!("{text}…") } else { text }
}
