//! What is said of single changes, and a comparison of schemas that is held against a validator.

use super::{Departure, Effect, compare};
use proptest::prelude::*;
use serde_json::{Value, json};
use transcript::json::Json;

fn departures(old: &Value, new: &Value) -> Vec<Departure> {
    let (old, new) = (old.to_string(), new.to_string());
    compare(Json::parse(&old).unwrap(), Json::parse(&new).unwrap())
}

// Of server-filesystem: what one schema accepted is split in two, and one value of it is lost. The rest is accepted as before.
#[test]
fn a_branch_that_lost_a_part_is_not_said_to_be_lost() {
    let old = json!({"enum": ["image", "audio", "blob"]});
    let new = json!({"anyOf": [{"enum": ["image", "audio"]}, {"type": "object"}]});
    let lost = departures(&old, &new).into_iter().find(|departure| departure.effect == Effect::Narrower);
    let what = "branch 0 no longer accepts all that it did: {\"enum\":[\"image\",\"audio\",\"blob\"]}";
    assert_eq!(lost.expect("it lost `blob`").what, what);
}

/// Blocks of three lines: two schemas, and each effect with its place.
const CHANGES: &str = include_str!("../../tests/schemas.txt");

#[test]
fn each_change_has_its_effect_and_its_place() {
    let lines: Vec<&str> =
        CHANGES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    for block in lines.chunks(3) {
        let [old, new] = [block[0], block[1]].map(|schema| Json::parse(schema).unwrap());
        let shown = |it: Departure| format!("{:?} {}", it.effect, it.pointer).trim_end().to_owned();
        let found: Vec<String> = compare(old, new).into_iter().map(shown).collect();
        assert_eq!(format!("= {}", found.join(", ")).trim_end(), block[2], "{old:?} and {new:?}");
    }
    assert!(lines.len() > 80 && lines.len().is_multiple_of(3), "{}", lines.len());
}

/// Branches of branches are compared each with each: that ends, and says so.
#[test]
fn the_work_is_bounded() {
    let mut nested = [json!({"type": "string"}), json!({"type": "null"})];
    for depth in 0..8 {
        nested = nested.map(|one| json!({"anyOf": [{"items": one, "minItems": depth}, {"items": one, "maxItems": depth}, one]}));
    }
    let [old, new] = nested;
    let found = departures(&old, &new);
    assert!(found.iter().any(|departure| departure.effect == Effect::Unknown), "{found:?}");
}

/// Small schemas that share their words.
fn schemas() -> impl Strategy<Value = Value> {
    let name = || prop_oneof![Just("a"), Just("b")];
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!(false)),
        proptest::sample::subsequence(
            vec!["string", "integer", "number", "null", "object", "array", "boolean"],
            1..4
        )
        .prop_map(|types| json!({ "type": types })),
        proptest::sample::subsequence(values(), 1..4).prop_map(|values| json!({ "enum": values })),
        (0..3).prop_map(|bound| json!({ "minimum": bound })),
        (0..3).prop_map(|bound| json!({ "exclusiveMaximum": bound })),
        (0..3).prop_map(|bound| json!({ "maxLength": bound })),
        (0..3).prop_map(|bound| json!({ "minItems": bound, "type": "array" })),
        Just(json!({ "type": "array", "uniqueItems": true })),
        Just(json!({ "multipleOf": 2 })),
        Just(json!({ "$ref": "#/$defs/d" })),
    ];
    let inner = leaf.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            (name(), inner.clone()).prop_map(|(name, schema)| json!({ "properties": { name: schema } })),
            (name(), inner.clone(), inner.clone()).prop_map(|(name, schema, rest)| {
                json!({ "properties": { name: schema }, "additionalProperties": rest })
            }),
            name().prop_map(|name| json!({ "type": "object", "required": [name] })),
            inner.clone().prop_map(|schema| json!({ "items": schema })),
            inner.clone().prop_map(|schema| json!({ "not": schema })),
            proptest::collection::vec(inner.clone(), 1..4).prop_map(|all| json!({ "anyOf": all })),
            proptest::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({ "oneOf": all })),
            proptest::collection::vec(inner, 1..3).prop_map(|all| json!({ "allOf": all })),
        ]
    });
    (inner, prop_oneof![Just(json!({"type": "string"})), Just(json!({"type": ["string", "null"]}))]).prop_map(
        |(schema, defined)| match schema {
            Value::Object(mut members) => {
                members.insert("$defs".to_owned(), json!({ "d": defined }));
                Value::Object(members)
            }
            other => other,
        },
    )
}

fn values() -> Vec<Value> {
    let values = json!([
        null, true, 0, 1, 2.0, 1.5, "", "ab", [], [1], [1, 1], [null, "a"],
        {}, {"a": 1}, {"a": "ab"}, {"b": null}, {"a": [], "b": 1.5}, {"a": null, "c": true}
    ]);
    values.as_array().unwrap().clone()
}

/// A pair: two schemas, a schema and a neighbour that has one of its parts changed, or lists of the same two.
fn pairs() -> impl Strategy<Value = (Value, Value)> {
    let list = || prop_oneof![Just("allOf"), Just("anyOf"), Just("oneOf")];
    prop_oneof![
        (schemas(), schemas()),
        (schemas(), schemas(), list(), list()).prop_map(|(one, other, name, another)| {
            let defined = json!({ "d": { "type": "string" } });
            (
                json!({ name: [one, other], "$defs": defined }),
                json!({ another: [other, one], "$defs": defined }),
            )
        }),
        (schemas(), schemas()).prop_map(|(one, other)| {
            let mut both = one.clone();
            if let (Value::Object(both), Value::Object(other)) = (&mut both, other) {
                for (name, value) in other {
                    both.entry(name).or_insert(value);
                }
            }
            (one, both)
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// What is not said of a pair does not happen: a validator that knows nothing of this agrees on every value.
    #[test]
    fn what_is_not_told_does_not_happen((old, new) in pairs()) {
        let found = departures(&old, &new);
        let reported = |effects: &[Effect]| found.iter().any(|departure| effects.contains(&departure.effect));
        let [before, after] = [&old, &new].map(|schema| jsonschema::draft202012::new(schema).unwrap());
        for value in values() {
            let (was, is) = (before.is_valid(&value), after.is_valid(&value));
            let narrowed = reported(&[Effect::Narrower, Effect::Unknown, Effect::Described]);
            prop_assert!(narrowed || !was || is, "{value} is refused now: {found:?}");
            let widened = reported(&[Effect::Wider, Effect::Unknown, Effect::Admitted, Effect::Undescribed]);
            prop_assert!(widened || was || !is, "{value} is accepted now: {found:?}");
        }
        prop_assert!(departures(&old, &old).is_empty());
    }
}
