//! Arguments of tools: made from a schema, mutated, and made less. Everything depends on the seed.

use generators::rng::Rng;
use generators::values::{NAMES, NUMBERS, TEXTS};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// How deep a schema is followed.
const DEEPEST: u32 = 8;

/// How many bytes of arguments are made: what a schema refers to may branch at each level.
const LARGEST: usize = 1 << 20;

/// What long texts and lists are made of, repeated so often.
const LONG: usize = 10_000;

/// Arguments that a schema accepts, or nearly.
pub(super) fn made(schema: &Value, rng: &mut Rng) -> Value {
    let mut left = LARGEST;
    match value(schema, schema, rng, 0, &mut left) {
        Value::Object(map) => Value::Object(map),
        _ => json!({}),
    }
}

/// A value, unless enough is made.
fn value(schema: &Value, root: &Value, rng: &mut Rng, depth: u32, left: &mut usize) -> Value {
    if *left == 0 {
        return Value::Null;
    }
    let value = chosen(schema, root, rng, depth, left);
    *left = left.saturating_sub(value.to_string().len());
    value
}

fn chosen(schema: &Value, root: &Value, rng: &mut Rng, depth: u32, left: &mut usize) -> Value {
    if depth > DEEPEST || rng.one_in(12) {
        return any(rng);
    }
    if let Some(target) = schema["$ref"].as_str() {
        let target = target.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.map_or(Value::Null, |target| value(target, root, rng, depth + 1, left));
    }
    for choices in ["enum", "examples"] {
        if let Some(choice) = schema[choices].as_array().and_then(|list| rng.pick(list)) {
            return choice.clone();
        }
    }
    for choices in ["anyOf", "oneOf", "allOf"] {
        if let Some(choice) = schema[choices].as_array().and_then(|list| rng.pick(list)) {
            return value(choice, root, rng, depth + 1, left);
        }
    }
    let kinds = schema["type"].as_array().and_then(|kinds| rng.pick(kinds)).unwrap_or(&schema["type"]);
    match kinds.as_str() {
        Some("string") => text(rng),
        Some("integer") => {
            let bound = |name: &str| schema[name].as_i64();
            let plain = [0, 1, -1, 7, 255, 65_536, i64::from(i32::MAX), i64::from(i32::MIN), (1 << 53) + 1];
            let near = [bound("minimum"), bound("maximum")].into_iter().flatten();
            let near = near.flat_map(|it| [it, it.saturating_sub(1), it.saturating_add(1)]);
            let all: Vec<i64> = plain.into_iter().chain(near).collect();
            rng.pick(&all).map_or(Value::Null, |it| json!(it))
        }
        Some("number") => spelled(NUMBERS, rng),
        Some("boolean") => json!(rng.one_in(2)),
        Some("null") => Value::Null,
        Some("array") => {
            let count = if rng.one_in(20) { LONG / 10 } else { rng.below(4) };
            let depth = if count > 4 { DEEPEST } else { depth };
            (0..count).map(|_| value(&schema["items"], root, rng, depth + 1, left)).collect()
        }
        _ => {
            let mut made = Map::new();
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let required: BTreeSet<&str> = required.collect();
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let is_left_out = if required.contains(&**name) { rng.one_in(20) } else { rng.one_in(2) };
                if !is_left_out {
                    made.insert(name.clone(), value(property, root, rng, depth + 1, left));
                }
            }
            if rng.one_in(10)
                && let Value::String(name) = spelled(NAMES, rng)
            {
                made.insert(name, any(rng));
            }
            Value::Object(made)
        }
    }
}

/// Any value at all.
fn any(rng: &mut Rng) -> Value {
    match rng.below(7) {
        0 => Value::Null,
        1 => json!(true),
        2 => spelled(NUMBERS, rng),
        3 => json!([]),
        4 => json!({}),
        5 => (0..100).fold(json!(0), |inner, _| json!([inner])),
        _ => text(rng),
    }
}

fn text(rng: &mut Rng) -> Value {
    match rng.below(6) {
        0 => json!("x".repeat(LONG)),
        1 => json!("../../../../etc/hosts"),
        2 => json!("%s%n'\"; -- $(true) {{7*7}}"),
        _ => spelled(TEXTS, rng),
    }
}

/// One of the spellings that can be sent.
fn spelled(table: &[&str], rng: &mut Rng) -> Value {
    rng.pick(table).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// The same arguments with one value, or one name, changed.
pub(super) fn mutated(arguments: &Value, rng: &mut Rng) -> Value {
    let mut mutant = arguments.clone();
    let places = places(&mutant);
    let Some(place) = rng.pick(&places) else { return mutant };
    if rng.one_in(3) && take(&mut mutant, place) {
        return mutant;
    }
    if let Some(found) = mutant.pointer_mut(place) {
        *found = any(rng);
    }
    // Arguments are an object.
    if mutant.is_object() { mutant } else { json!({}) }
}

/// Every way to make less of arguments by one step, the largest steps first.
pub(super) fn less(arguments: &Value) -> impl Iterator<Item = Value> {
    // Each is as large as the arguments, so that only those of one place are held.
    places(arguments).into_iter().flat_map(|place| {
        let mut found = Vec::new();
        let mut without = arguments.clone();
        if take(&mut without, &place) {
            found.push(without);
        }
        let smaller: Vec<Value> = match arguments.pointer(&place) {
            Some(Value::String(text)) if !text.is_empty() => {
                let count = text.chars().count();
                let half: String = text.chars().take(count / 2).collect();
                let end: String = text.chars().skip(count.div_ceil(2)).collect();
                vec![json!(half), json!(end)]
            }
            Some(Value::Array(items)) if items.len() > 1 => {
                vec![json!(items[..items.len() / 2]), json!(items[items.len() / 2..])]
            }
            Some(Value::Number(number)) if number.as_f64().is_some_and(|it| it != 0.0) => {
                let half = number.as_i64().map(|it| json!(it / 2));
                [Some(json!(0)), half].into_iter().flatten().collect()
            }
            _ => Vec::new(),
        };
        for value in smaller {
            let mut with = arguments.clone();
            with.pointer_mut(&place).into_iter().for_each(|at| *at = value.clone());
            found.push(with);
        }
        found
    })
}

/// The pointers of the values in arguments, outer ones first.
fn places(arguments: &Value) -> Vec<String> {
    /// How many are looked at.
    const MOST: usize = 200;
    let (mut found, mut next) = (vec![String::new()], 0);
    while let Some(place) = found.get(next).cloned().filter(|_| found.len() < MOST) {
        match arguments.pointer(&place) {
            Some(Value::Object(map)) => found.extend(
                map.keys().map(|name| format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))),
            ),
            Some(Value::Array(items)) => found.extend((0..items.len()).map(|at| format!("{place}/{at}"))),
            _ => {}
        }
        next += 1;
    }
    found.truncate(MOST);
    found.split_off(1)
}

/// Takes the value at a place out; whether there was one.
fn take(arguments: &mut Value, place: &str) -> bool {
    let Some((parent, name)) = place.rsplit_once('/') else { return false };
    match arguments.pointer_mut(parent) {
        Some(Value::Object(map)) => map.remove(&name.replace("~1", "/").replace("~0", "~")).is_some(),
        Some(Value::Array(items)) => match name.parse::<usize>() {
            Ok(at) if at < items.len() => {
                items.remove(at);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{less, made, mutated};
    use generators::rng::Rng;
    use serde_json::{Map, json};

    #[test]
    fn the_same_seed_makes_the_same_arguments() {
        let schema = json!({
            "type": "object", "required": ["a"],
            "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {"type": "integer"}}},
        });
        let all = |seed: u64| {
            let mut rng = Rng::new(seed);
            (0..50).map(|_| made(&schema, &mut rng)).collect::<Vec<_>>()
        };
        assert_eq!(all(1), all(1));
        assert_ne!(all(1), all(2));
        assert!(all(1).iter().all(serde_json::Value::is_object));
        let given = json!({"a": "b", "c": [1, {"d": 2}]});
        let mutants: Vec<_> = (0..50).map(|seed| mutated(&given, &mut Rng::new(seed))).collect();
        assert!(mutants.iter().all(serde_json::Value::is_object) && mutants.iter().any(|it| *it != given));
        let bounds = json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX});
        let names = (0..500).map(|name| (name.to_string(), json!({"$ref": "#"})));
        let properties: Map<_, _> = names.chain([("n".to_owned(), bounds)]).collect();
        let schema = json!({"properties": properties});
        assert!(
            (0..50).all(|seed| made(&schema, &mut Rng::new(seed)).to_string().len() < 2 * super::LARGEST)
        );
    }

    #[test]
    fn less_is_smaller_by_one_step() {
        let steps: Vec<_> = less(&json!({"a": "xy", "b": [1, 2]})).collect();
        for expected in [
            json!({"b": [1, 2]}),
            json!({"a": "x", "b": [1, 2]}),
            json!({"a": "y", "b": [1, 2]}),
            json!({"a": "xy"}),
            json!({"a": "xy", "b": [1]}),
            json!({"a": "xy", "b": [0, 2]}),
        ] {
            assert!(steps.contains(&expected), "{expected}");
        }
        assert_eq!(less(&json!({})).count(), 0);
        assert!(less(&json!({"a": vec![0; 100_000]})).count() < 1_000);
    }
}
