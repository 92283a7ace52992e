//! Arguments for a tool, made from its schema: the least that the schema accepts, and what it refuses.

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Value, json};

/// How deep a schema is followed.
const DEEPEST: u32 = 16;

/// How many bytes are made: lists of lists, and references that branch, grow with the power of their depth.
const LARGEST: usize = 1 << 20;

/// What holds a reference to what is not in the schema. No tool has a parameter of this name.
const UNKNOWN: &str = "$ref of mcp-concord";

/// The least arguments that a schema accepts, as far as that is simple: examples, defaults and choices as they are written, and of
/// everything else the smallest.
pub(super) fn accepted(schema: &Value) -> Value {
    let mut left = LARGEST;
    match made(schema, schema, 0, &mut left) {
        Value::Object(arguments) => Value::Object(arguments),
        _ => json!({}),
    }
}

/// What arguments made from a schema have in place of a value, where it refers to what it does not hold: the reference.
pub(super) fn unknown(arguments: &Value) -> Option<&str> {
    let members = arguments.as_object().into_iter().flat_map(Map::values);
    let mut parts = members.chain(arguments.as_array().into_iter().flatten());
    arguments.get(UNKNOWN).and_then(Value::as_str).or_else(|| parts.find_map(unknown))
}

/// Arguments that the schema refuses, and what is wrong with them: a required one is missing, or one is of another type.
/// None where the schema refuses nothing.
pub(super) fn refused(schema: &Value) -> Option<Value> {
    let mut arguments = accepted(schema);
    let map = arguments.as_object_mut()?;
    let required = schema.get("required")?.as_array()?.first()?.as_str()?.to_owned();
    map.remove(&required);
    Some(arguments)
}

/// A value, unless it is too deep or enough is made.
fn made(schema: &Value, root: &Value, depth: u32, left: &mut usize) -> Value {
    if depth > DEEPEST || *left == 0 {
        return Value::Null;
    }
    let value = value(schema, root, depth, left);
    *left = left.saturating_sub(value.to_string().len());
    value
}

fn value(schema: &Value, root: &Value, depth: u32, left: &mut usize) -> Value {
    if let Some(said) = schema.get("$ref").and_then(Value::as_str) {
        let target = said.strip_prefix('#').and_then(|to| root.pointer(to).or_else(|| anchored(root, to)));
        return target.map_or_else(|| json!({UNKNOWN: said}), |target| made(target, root, depth + 1, left));
    }
    let first = |name: &str| schema.get(name).and_then(Value::as_array).and_then(|list| list.first());
    let given = [schema.get("const"), schema.get("default"), first("examples"), first("enum")];
    if let Some(value) = given.into_iter().flatten().next() {
        return value.clone();
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        if let Some(choice) = first(choice).filter(|_| schema.get("properties").is_none()) {
            return made(choice, root, depth + 1, left);
        }
    }
    let count = |name: &str| schema.get(name).and_then(Value::as_u64).unwrap_or(0).min(1 << 10);
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first(),
        kind => kind,
    };
    match kind.and_then(Value::as_str) {
        Some("string") => string(schema, usize::try_from(count("minLength")).unwrap_or_default()),
        Some("integer" | "number") => number(schema),
        Some("boolean") => json!(false),
        Some("null") => Value::Null,
        Some("array") => {
            let items = schema.get("items");
            let mut item = |_| items.map(|items| made(items, root, depth + 1, left)).unwrap_or_default();
            (0..count("minItems")).map(&mut item).collect()
        }
        _ => object(schema, root, depth, left),
    }
}

/// The part of a schema that has this `$anchor`.
fn anchored<'s>(root: &'s Value, name: &str) -> Option<&'s Value> {
    let mut waiting = vec![root];
    while let Some(part) = waiting.pop() {
        match part {
            Value::Object(members) if members.get("$anchor").is_some_and(|anchor| anchor == name) => {
                return Some(part);
            }
            Value::Object(members) => waiting.extend(members.values()),
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    None
}

fn object(schema: &Value, root: &Value, depth: u32, left: &mut usize) -> Value {
    let properties = schema.get("properties");
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let made = required.filter_map(Value::as_str).map(|name| {
        let property = properties.and_then(|properties| properties.get(name));
        let value = property.map(|property| made(property, root, depth + 1, left));
        (name.to_owned(), value.unwrap_or_else(|| json!("concord")))
    });
    Value::Object(made.collect::<Map<_, _>>())
}

/// The least multiple within the bounds, or what is between them where there is none.
fn number(schema: &Value) -> Value {
    let number = |name: &str| schema.get(name).and_then(Value::as_f64);
    let (above, below) = (number("exclusiveMinimum"), number("exclusiveMaximum"));
    let larger = |one: f64, other: Option<f64>| other.map_or(one, |other| one.max(other));
    let least = number("minimum").or(above).map(|least| larger(least, above));
    let most = number("maximum").or(below).map(|most| -larger(-most, below.map(|below| -below)));
    let step = number("multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
    let mut value = match (least, most) {
        (Some(least), _) => (least / step).ceil() * step,
        (None, Some(most)) if most <= step => (most / step).floor() * step,
        _ => step,
    };
    if above.is_some_and(|above| value <= above) {
        value += step;
    } else if least.is_none() && below.is_some_and(|below| value >= below) {
        value -= step;
    }
    if let (Some(least), Some(most)) = (least, most)
        && value >= most
        && schema.get("multipleOf").is_none()
    {
        value = least.midpoint(most);
    }
    // Within the integers that a double holds.
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

fn string(schema: &Value, least: usize) -> Value {
    let pattern = schema.get("pattern").and_then(Value::as_str);
    if let Some(hir) = pattern.and_then(|pattern| regex_syntax::parse(pattern).ok()) {
        let spelled = |more: usize| {
            let mut text = String::new();
            spell(&hir, u32::try_from(more).unwrap_or_default(), &mut text);
            text
        };
        let shortest = spelled(0);
        return json!(if shortest.chars().count() < least { spelled(least) } else { shortest });
    }
    let text = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => "2026-01-01T00:00:00Z",
        Some("date") => "2026-01-01",
        Some("time") => "00:00:00Z",
        Some("email") => "concord@example.com",
        Some("uri" | "url" | "uri-reference") => "https://example.com/",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        Some("ipv4") => "127.0.0.1",
        Some("hostname") => "example.com",
        _ => "concord",
    };
    let most = schema.get("maxLength").and_then(Value::as_u64).and_then(|most| usize::try_from(most).ok());
    let mut text: String = text.chars().take(most.unwrap_or(usize::MAX)).collect();
    while text.chars().count() < least {
        text.push('x');
    }
    json!(text)
}

/// Writes a text that a pattern matches: of each choice the first, and of what may be repeated the least, and that number of times more. A
/// pattern is at most as deep as its parser allows.
fn spell(pattern: &Hir, more: u32, out: &mut String) {
    match pattern.kind() {
        HirKind::Literal(text) => out.push_str(&String::from_utf8_lossy(&text.0)),
        HirKind::Class(Class::Unicode(class)) => {
            // A letter or a digit, where that is allowed.
            let has =
                |it: &char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(it));
            let first = class.ranges().first().map(|range| range.start());
            out.extend(['a', '1', 'A'].into_iter().find(has).or(first));
        }
        HirKind::Repetition(part) => {
            let times = part.min.saturating_add(more).min(part.max.unwrap_or(u32::MAX));
            for _ in 0..times {
                let before = out.len();
                spell(&part.sub, more, out);
                if out.len() == before || out.len() > LARGEST {
                    break;
                }
            }
        }
        HirKind::Capture(part) => spell(&part.sub, more, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| spell(part, more, out)),
        HirKind::Alternation(parts) => parts.iter().take(1).for_each(|part| spell(part, more, out)),
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{LARGEST, accepted, refused};
    use serde_json::{Map, Value, json};

    #[test]
    fn arguments_are_the_least_that_a_schema_accepts() {
        for row in include_str!("arguments.tsv").lines().filter(|row| !row.starts_with('#')) {
            let [schema, least] =
                [0, 1].map(|at| serde_json::from_str(row.split('\t').nth(at).unwrap()).unwrap());
            let least: Value = least;
            assert_eq!(accepted(&schema), least, "{schema}");
        }
    }

    #[test]
    fn a_schema_of_a_few_lines_does_not_fill_the_memory() {
        let list = |items| json!({"type": "array", "minItems": 1000, "items": items});
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let branches = names.map(|name| (name.to_owned(), json!({"$ref": "#"})));
        for schema in [
            json!({"required": ["a"], "properties": {"a": list(list(list(json!({"default": "x".repeat(1000)}))))}}),
            json!({"required": names, "properties": Map::from_iter(branches)}),
        ] {
            assert!(accepted(&schema).to_string().len() < 2 * LARGEST);
        }
    }

    #[test]
    fn what_a_schema_refuses_lacks_what_it_requires() {
        let schema = json!({"type": "object", "required": ["a", "b"], "properties": {"b": {"const": 1}}});
        assert_eq!(refused(&schema), Some(json!({"b": 1})));
        assert_eq!(refused(&json!({"type": "object"})), None);
    }
}
