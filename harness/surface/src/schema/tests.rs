//! What is said of single changes, and a comparison of schemas that is held against a validator.

use super::{Departure, Effect, compare};
use proptest::prelude::*;
use serde_json::{Value, json};
use transcript::json::Json;

fn departures(old: &Value, new: &Value) -> Vec<Departure> {
    let (old, new) = (old.to_string(), new.to_string());
    compare(Json::parse(&old).unwrap(), Json::parse(&new).unwrap())
}

fn effects(old: Value, new: Value) -> Vec<(Effect, String)> {
    departures(&old, &new).into_iter().map(|departure| (departure.effect, departure.pointer)).collect()
}

// Of server-filesystem: what one schema accepted is split in two, and one value of it is lost. The rest is accepted as before.
#[test]
fn a_branch_that_lost_a_part_is_not_said_to_be_lost() {
    let old = json!({"enum": ["image", "audio", "blob"]});
    let new = json!({"anyOf": [{"enum": ["image", "audio"]}, {"type": "object"}]});
    let lost = departures(&old, &new).into_iter().find(|departure| departure.effect == Effect::Narrower);
    let what =
        "not all that branch 0 accepted is accepted any more: {\"enum\":[\"image\",\"audio\",\"blob\"]}";
    assert_eq!(lost.expect("it lost `blob`").what, what);
}

/// Two schemas, and each effect with its place.
type Row = (Value, Value, Vec<(Effect, &'static str)>);

#[test]
fn each_change_has_its_effect_and_its_place() {
    use Effect::{Admitted, Annotation, Described, Narrower, Undescribed, Unknown, Wider};
    let table: Vec<Row> = vec![
        (json!({"type": "object"}), json!({"type": "object"}), vec![]),
        (json!({"type": "string"}), json!({"type": "number"}), vec![(Narrower, ""), (Wider, "")]),
        (json!({"type": "integer"}), json!({"type": "number"}), vec![(Wider, "")]),
        (json!({"type": ["string", "null"]}), json!({"type": "string"}), vec![(Narrower, "")]),
        (json!({"enum": ["a", "b"]}), json!({"enum": ["b"]}), vec![(Narrower, "")]),
        (json!({"enum": [1.0]}), json!({"const": 1}), vec![]),
        (json!({"enum": ["a"]}), json!({"type": "string", "enum": ["a", "b"]}), vec![(Wider, "")]),
        (json!({}), json!({"required": ["a"]}), vec![(Narrower, "")]),
        (
            json!({"type": "object"}),
            json!({"type": "object", "required": ["a"]}),
            vec![(Narrower, "/required")],
        ),
        (json!({"minimum": 1}), json!({"minimum": 1.0}), vec![]),
        (json!({"minimum": 1}), json!({"minimum": 2}), vec![(Narrower, "")]),
        (json!({"maxLength": 1}), json!({"maxLength": 2}), vec![(Wider, "")]),
        (json!({"pattern": "a"}), json!({"pattern": "b"}), vec![(Unknown, "")]),
        (json!({"not": {"type": "null"}}), json!({"not": {"type": "string"}}), vec![(Unknown, "/not")]),
        // The same words, and another definition.
        (
            json!({"not": {"$ref": "#/$defs/d"}, "$defs": {"d": {"type": "string"}}}),
            json!({"not": {"$ref": "#/$defs/d"}, "$defs": {"d": {"type": ["string", "null"]}}}),
            vec![(Unknown, "/not")],
        ),
        (
            json!({"items": [{"$ref": "#/$defs/d"}], "$defs": {"d": {"type": "string"}}}),
            json!({"items": [{"$ref": "#/$defs/d"}], "$defs": {"d": {"type": "null"}}}),
            vec![(Unknown, "/items")],
        ),
        (json!({"title": "a"}), json!({"title": "b"}), vec![(Annotation, "/title")]),
        (
            json!({"properties": {"a": {"type": "null"}}}),
            json!({"type": ["object", "array"]}),
            vec![(Narrower, ""), (Undescribed, "/properties/a")],
        ),
        (
            json!({"properties": {}}),
            json!({"properties": {"a/b": {"type": "null"}}}),
            vec![(Described, "/properties/a~1b")],
        ),
        (
            json!({"properties": {}, "additionalProperties": false}),
            json!({"properties": {"a": {"type": "null"}}, "additionalProperties": false}),
            vec![(Admitted, "/properties/a")],
        ),
        (
            json!({"properties": {"a": {}}, "additionalProperties": false}),
            json!({"properties": {}, "additionalProperties": false}),
            vec![(Narrower, "/properties/a")],
        ),
        (
            json!({"items": {"type": "string"}}),
            json!({"items": {"type": ["string", "null"]}}),
            vec![(Wider, "/items")],
        ),
        // As a person would see it, though the schemas share no keyword.
        (
            json!({"type": "string"}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            vec![(Wider, "/anyOf/1")],
        ),
        (
            json!({"anyOf": [{"type": "null"}, {"type": "string"}]}),
            json!({"type": "string"}),
            vec![(Narrower, "/anyOf")],
        ),
        (
            json!({"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 1}]}),
            json!({"anyOf": [{"type": "string", "maxLength": 2}, {"type": "null"}]}),
            vec![(Wider, "/anyOf/0")],
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"type": "null"}]}),
            json!({"oneOf": [{"type": "string"}, {"type": "null"}, {"type": "array"}]}),
            vec![(Wider, "/oneOf/2")],
        ),
        (
            json!({"oneOf": [{"minimum": 1}, {"maximum": 0}]}),
            json!({"oneOf": [{"minimum": 1}, {"maximum": 1}]}),
            vec![(Wider, "/oneOf/1"), (Unknown, "/oneOf")],
        ),
        // What fitted one of them fits two now, and so none.
        (
            json!({"oneOf": [{}]}),
            json!({"oneOf": [{"type": "integer"}, {}]}),
            vec![(Annotation, "/oneOf"), (Unknown, "/oneOf")],
        ),
        (
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}),
            json!({"$ref": "#/definitions/b%20c", "definitions": {"b c": {"type": "null"}}}),
            vec![(Narrower, ""), (Wider, "")],
        ),
        (json!({"$ref": "https://a/b"}), json!({"$ref": "https://a/b"}), vec![]),
        (json!({"$ref": "https://a/b"}), json!({"$ref": "https://a/c"}), vec![(Unknown, "")]),
        (
            json!({"$ref": "#/$defs/list", "$defs": {"list": {"properties": {"next": {"$ref": "#/$defs/list"}, "v": {"minimum": 1}}}}}),
            json!({"$ref": "#/$defs/list", "$defs": {"list": {"properties": {"next": {"$ref": "#/$defs/list"}, "v": {"minimum": 2}}}}}),
            vec![(Narrower, "/properties/v")],
        ),
    ];
    for (old, new, expected) in table {
        let found = effects(old.clone(), new.clone());
        let expected: Vec<_> =
            expected.into_iter().map(|(effect, place)| (effect, place.to_owned())).collect();
        assert_eq!(found, expected, "{old} and {new}");
    }
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
    vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2.0),
        json!(1.5),
        json!(""),
        json!("ab"),
        json!([]),
        json!([1]),
        json!([1, 1]),
        json!([null, "a"]),
        json!({}),
        json!({"a": 1}),
        json!({"a": "ab"}),
        json!({"b": null}),
        json!({"a": [], "b": 1.5}),
        json!({"a": null, "c": true}),
    ]
}

/// A pair: two schemas, or a schema and a neighbour that has one of its parts changed.
fn pairs() -> impl Strategy<Value = (Value, Value)> {
    prop_oneof![
        (schemas(), schemas()),
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
