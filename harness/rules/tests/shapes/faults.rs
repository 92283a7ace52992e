//! Faults: each member once taken out, each value once replaced by one of each other type, at every depth.

use serde_json::{Value, json};

/// A value with one fault.
pub(crate) struct Fault {
    /// Where.
    pub(crate) pointer: String,
    pub(crate) what: String,
    /// None where the whole is missing.
    pub(crate) value: Option<Value>,
}

/// Every fault that a value can have.
pub(crate) fn faults(whole: &Value) -> Vec<Fault> {
    let mut all = Vec::new();
    let mut places = vec![String::new()];
    while let Some(pointer) = places.pop() {
        let Some(here) = whole.pointer(&pointer) else { continue };
        let below = |name: &str| format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        match here {
            Value::Object(members) => places.extend(members.keys().map(|name| below(name))),
            Value::Array(items) => places.extend((0..items.len()).map(|index| below(&index.to_string()))),
            _ => {}
        }
        if pointer.is_empty() {
            continue;
        }
        all.extend(without(whole, &pointer));
        for (name, other) in others(here) {
            let mut value = whole.clone();
            if let Some(place) = value.pointer_mut(&pointer) {
                *place = other;
            }
            all.push(Fault { pointer: pointer.clone(), what: format!("is {name}"), value: Some(value) });
        }
    }
    all
}

/// Without this member; a list may have fewer items.
fn without(whole: &Value, pointer: &str) -> Option<Fault> {
    let (parent, name) = pointer.rsplit_once('/')?;
    let mut value = whole.clone();
    value.pointer_mut(parent)?.as_object_mut()?.remove(&name.replace("~1", "/").replace("~0", "~"))?;
    Some(Fault { pointer: pointer.to_owned(), what: "is missing".to_owned(), value: Some(value) })
}

fn others(value: &Value) -> Vec<(&'static str, Value)> {
    let kind = |value: &Value| match value {
        Value::Number(number) if number.is_f64() => "a fraction",
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    let values =
        [json!(null), json!(true), json!(7), json!(0.5), json!("no such word"), json!([]), json!({})];
    let same = |other: &Value| kind(other) == kind(value) && !value.is_string();
    values
        .into_iter()
        .filter(|other| !same(other) && other != value)
        .map(|other| (kind(&other), other))
        .collect()
}
