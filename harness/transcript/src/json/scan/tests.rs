//! The scanner beside another reader of JSON, and where it stops.

use super::super::Json;
use proptest::prelude::*;

#[test]
fn agrees_with_serde_json_on_what_is_json() {
    let texts = [
        "",
        " ",
        "{",
        "}",
        "[",
        "]",
        "{}",
        "[]",
        "[1]",
        "[1,]",
        "[,1]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{,}",
        "{\"a\" : 1 , \"b\":[ ]}",
        "nul",
        "null",
        "nulll",
        "tru",
        "true",
        "false",
        "fals",
        "01",
        "-",
        "-0",
        "-01",
        "1.",
        ".5",
        "1.5",
        "1e",
        "1e+",
        "1e5",
        "1E-5",
        "+1",
        "\"",
        "\"a",
        "\"a\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u00e9\"",
        "\"\t\"",
        "\"\u{7f}\"",
        "\"\u{1f}\"",
        "[[[]]]",
        "[[[]]",
        "[{}]",
        "[}",
        "{]",
        "[1 2]",
        "{\"a\":1 \"b\":2}",
        "\u{a0}1",
        "1 1",
        "{\"a\":{\"b\":[1,{\"c\":\"d\"}]},\"e\":\"fffffffffffff\\\"\"}",
        "'a'",
        "NaN",
        "Infinity",
        "// x",
        "[1]x",
        "{1:2}",
    ];
    for text in texts {
        let theirs = serde_json::from_str::<&serde_json::value::RawValue>(text).is_ok();
        assert_eq!(Json::parse(text).is_ok(), theirs, "{text:?}");
    }
}

#[test]
fn lone_surrogate_escapes_are_json() {
    assert!(Json::parse(r#""\ud83d""#).is_ok());
}

#[test]
fn an_ended_text_is_told_from_a_wrong_one() {
    for text in ["{\"a\":[1,", "\"abc", "tr", "-", "[", "1e", "\"\\u00", "{\"a\""] {
        assert!(Json::parse(text).unwrap_err().ended, "{text}");
    }
    for (text, at) in [("[1,]", 3), ("{\"a\" 1}", 5), ("\"\\x\"", 2), ("[1}", 2), ("\"12345678\n\"", 9)] {
        let fault = Json::parse(text).unwrap_err();
        assert_eq!((fault.at, fault.ended), (at, false), "{text}: {fault:?}");
    }
}

#[test]
fn depth_is_kept_past_a_word_of_bits() {
    for depth in [63, 64, 65, 127, 128, 129, 1000] {
        let mixed = "[{\"a\":".repeat(depth) + "1" + &"}]".repeat(depth);
        assert!(Json::parse(&mixed).is_ok(), "{depth}");
        let crossed = "[{\"a\":".repeat(depth) + "1" + &"]}".repeat(depth);
        assert!(Json::parse(&crossed).is_err(), "{depth}");
    }
}

proptest! {
    #[test]
    fn agrees_with_serde_json_on_damaged_json(
        text in r#"[ \[\]{}:,"\\a0-9.eE+tfnu-]{0,24}"#,
    ) {
        let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
        prop_assert_eq!(Json::parse(&text).is_ok(), theirs, "{:?}", text);
    }

    #[test]
    fn every_string_reads_back(content in any::<String>()) {
        let text = serde_json::to_string(&content).unwrap();
        let json = Json::parse(&text).unwrap();
        prop_assert!(json.as_text().unwrap().is(&content));
    }
}
