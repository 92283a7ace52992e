use super::{MAX_INDEXED, index_members};
use crate::json::{Json, OwnedJson};
use proptest::prelude::*;

/// Whether a value says the same of itself as the same text that was not taken apart, all the way down.
fn agrees(apart: Json<'_>, plain: Json<'_>) -> bool {
    let pairs = |value: Json<'_>| -> Vec<_> {
        value.members().map(|(name, value)| (name.raw().to_owned(), value.text().to_owned())).collect()
    };
    let items = |value: Json<'_>| -> Vec<_> { value.items().map(|item| item.text().to_owned()).collect() };
    apart.text() == plain.text()
        && pairs(apart) == pairs(plain)
        && items(apart) == items(plain)
        && apart.members().zip(plain.members()).all(|((name, one), (_, other))| {
            let name = String::from_utf8_lossy(&name.decode()).into_owned();
            apart.member(&name) == plain.member(&name) && agrees(one, other)
        })
        && apart.items().zip(plain.items()).all(|(one, other)| agrees(one, other))
        && apart.member("no such name").is_none()
}

fn check(text: &str) {
    let plain = Json::parse(text).unwrap();
    let mut parts = Vec::new();
    index_members(plain.text(), &mut parts);
    assert!(!parts.is_empty(), "{text}");
    let apart = Json::indexed(plain.text(), &parts);
    assert!(agrees(apart, plain), "{text}");
    let mut replaced = OwnedJson::new(apart);
    for inner in apart.items().chain(apart.members().map(|(_, value)| value)) {
        assert!(agrees(OwnedJson::new(inner).json(), Json::parse(inner.text()).unwrap()), "{text}");
        replaced.replace(inner);
        assert!(agrees(replaced.json(), Json::parse(inner.text()).unwrap()), "{text}");
        assert!(agrees(OwnedJson::unindexed(inner).json(), Json::parse(inner.text()).unwrap()), "{text}");
    }
}

#[test]
fn a_value_that_was_taken_apart_says_what_its_text_says() {
    for text in [
        "1",
        "-1.5e3",
        "\"a\\\"b\"",
        "true",
        "[]",
        "{}",
        "[[],{},[1,[2,{}]], \"x\" ]",
        r#"{"a":1,"a":2,"b":{"a":[1,2,{"c":null}]},"":"","n\u0061me":"x","\\":"\\\\"}"#,
        "{ \"a\" : [ 1 , 2 ] ,\n\t\"b\" : { \"c\" : \"}],:{[\" } , \"d\" : false }",
        "[\"12345678\",\"1234567\\\\\",\"\\\"\",\"é\u{10348}\"]",
    ] {
        check(text);
    }
}

#[test]
fn a_value_in_the_place_of_another_takes_no_more_than_a_few_times_its_size() {
    let long = format!("[{}1]", "1,".repeat(500));
    let parts = super::member_index(&long);
    let long = Json::indexed(&long, &parts);
    let mut kept = OwnedJson::new(long);
    let (text, index) = (kept.text_size(), kept.index_size());
    assert!(text >= long.text().len() && index >= size_of_val(&*parts));
    // A third of it fits into its memory, and stays there.
    let part = long.text()[..400].to_owned() + "]";
    let parts = super::member_index(&part);
    kept.replace(Json::indexed(&part, &parts));
    assert_eq!((kept.text_size(), kept.index_size()), (text, index));
    for small in ["1", "[1,2]"] {
        kept.replace(Json::indexed(small, &super::member_index(small)));
        assert!(kept.text_size() < 100 && kept.index_size() < 200, "{small}");
    }
}

#[test]
fn names_that_may_stand_twice_are_seen_at_any_depth() {
    let may_repeat = |text: &str| {
        let mut parts = Vec::new();
        index_members(text, &mut parts);
        Json::indexed(text, &parts).may_have_duplicates()
    };
    for text in ["1", "{}", r#"{"a":1,"b":{"a":2,"bb":[{"a":1},{"a":1}]}}"#, r#"[{"name":"a"},{"name":"b"}]"#]
    {
        assert!(!may_repeat(text), "{text}");
    }
    for text in [
        r#"{"a":1,"a":1}"#,
        r#"[[{"b":{"a":1,"c":[1,2],"a":2}}]]"#,
        r#"{"Name":1,"name":2}"#,
        r#"{"\u0061":1}"#,
    ] {
        assert!(may_repeat(text), "{text}");
        assert!(Json::parse(text).unwrap().may_have_duplicates(), "{text}");
    }
    let many: Vec<_> = (0..30).map(|number| format!("\"{number}\":1")).collect();
    assert!(may_repeat(&format!("{{{}}}", many.join(","))));
}

#[test]
fn a_name_that_is_nowhere_in_a_value_is_mostly_known_not_to_be() {
    let text = r#"{"outer":[{"_meta":1}],"next":{"n\u0061me":2},"other":[1,{}]}"#;
    let mut parts = Vec::new();
    index_members(text, &mut parts);
    let apart = Json::indexed(text, &parts);
    let inner = |name: &str| apart.member(name).unwrap();
    assert!(apart.may_hold("_meta") && inner("outer").may_hold("_meta") && !inner("other").may_hold("_meta"));
    assert!(inner("next").may_hold("name"), "a name with escapes may be any");
    assert!(Json::parse(text).unwrap().may_hold("nothing"), "nobody took it apart");
}

#[test]
fn a_value_with_too_many_parts_is_left_as_it_is() {
    let text = format!("[{}1]", "1,".repeat(MAX_INDEXED));
    let mut parts = Vec::new();
    index_members(&text, &mut parts);
    assert!(parts.is_empty());
    assert_eq!(Json::indexed(&text, &parts).items().count(), MAX_INDEXED + 1);
    let text = format!("[{}1]", "1,".repeat(MAX_INDEXED - 2));
    index_members(&text, &mut parts);
    assert_eq!(parts.len(), MAX_INDEXED);
}

#[test]
fn depth_is_no_matter() {
    let text = "[".repeat(100_000) + &"]".repeat(100_000);
    let mut parts = Vec::new();
    index_members(&text, &mut parts);
    assert_eq!(parts.len(), 100_000);
    assert_eq!(Json::indexed(&text, &parts).items().next().unwrap().text().len(), 199_998);
}

proptest! {
    #[test]
    fn agrees_on_what_happens_to_be_json(text in r#"[ \[\]{}:,"\\a0-9.eE+tfnu-]{0,24}"#) {
        if Json::parse(&text).is_ok() {
            check(&text);
        }
    }

    #[test]
    fn agrees_on_nested_values(value in nested()) {
        check(&value);
    }
}

fn nested() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        "-?[1-9][0-9]{0,4}",
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let member = (any::<String>(), inner.clone())
            .prop_map(|(name, value)| format!("{} : {value}", serde_json::to_string(&name).unwrap()));
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::vec(member, 0..6).prop_map(|items| format!("{{{}}}", items.join(","))),
        ]
    })
}
