//! Keywords that bound a value by a number, and those that a value satisfies or does not.

use super::effect::{Effect, truth};
use transcript::json::{Json, same_number};

/// Whether a larger number accepts more; none for keywords of which one value says nothing about another one.
const BOUNDS: [(&str, Option<bool>); 12] = [
    ("exclusiveMaximum", Some(true)),
    ("exclusiveMinimum", Some(false)),
    ("maxItems", Some(true)),
    ("maxLength", Some(true)),
    ("maxProperties", Some(true)),
    ("maximum", Some(true)),
    ("minItems", Some(false)),
    ("minLength", Some(false)),
    ("minProperties", Some(false)),
    ("minimum", Some(false)),
    ("multipleOf", None),
    ("pattern", None),
];

/// How they changed.
pub(super) fn bounds(old: Json<'_>, new: Json<'_>) -> Vec<(Effect, String)> {
    let mut found = Vec::new();
    for (name, upper) in BOUNDS {
        let [before, after] =
            [old, new].map(|schema| schema.member(name).filter(|value| !is_idle(name, *value)));
        let effect = match (before, after) {
            (None, None) => continue,
            (Some(before), Some(after)) if before.same(after) => continue,
            (None, Some(_)) => Effect::Narrower,
            (Some(_), None) => Effect::Wider,
            (Some(before), Some(after)) => match (upper, before.as_number(), after.as_number()) {
                (Some(upper), Some(before), Some(after)) => match larger(before, after) {
                    None if same_number(before, after) => continue,
                    None => Effect::Unknown,
                    Some(larger) if larger == upper => Effect::Wider,
                    Some(_) => Effect::Narrower,
                },
                // In drafts before 6 the exclusive bounds were booleans.
                _ => Effect::Unknown,
            },
        };
        found.push((effect, changed(name, old, new)));
    }
    let unique = |schema: Json<'_>| schema.member("uniqueItems").is_some_and(|value| value.text() == "true");
    match (unique(old), unique(new)) {
        (false, true) => found.push((Effect::Narrower, "items must be unique now".to_owned())),
        (true, false) => found.push((Effect::Wider, "items no longer need to be unique".to_owned())),
        _ => {}
    }
    found
}

/// Whether this value of a keyword refuses nothing.
pub(super) fn is_idle(name: &str, value: Json<'_>) -> bool {
    match name {
        "minItems" | "minLength" | "minProperties" => {
            value.as_number().is_some_and(|least| same_number(least, "0"))
        }
        "uniqueItems" => value.text() == "false",
        "additionalProperties" | "items" => truth(value) == Some(true),
        "properties" => truth(value).is_some(),
        _ => false,
    }
}

/// Whether the second number is larger; none where they are equal, or closer than a double can tell.
fn larger(before: &str, after: &str) -> Option<bool> {
    let (before, after): (f64, f64) = (before.parse().ok()?, after.parse().ok()?);
    (before != after).then_some(after > before)
}

fn changed(name: &str, old: Json<'_>, new: Json<'_>) -> String {
    let spelled = |schema: Json<'_>| schema.member(name).map(|value| value.text().to_owned());
    match (spelled(old), spelled(new)) {
        (Some(before), Some(after)) => format!("`{name}` was {before} and is {after}"),
        (None, Some(after)) => format!("`{name}` is {after} now"),
        (Some(before), None) => format!("`{name}` was {before}, and is gone"),
        (None, None) => String::new(),
    }
}
