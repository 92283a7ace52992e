//! Numbers over sessions whose calls are known.

use super::{Collected, Stats, csv, field, json, text};
use crate::golden::golden;
use crate::run::html::HtmlRenderer;
use formats::{Input, find};

/// A session of a server, in mcp-rec, with calls of tools and the milliseconds that they take; none where they are not answered, and
/// that fail where the tool is called `bad`.
fn session(server: Option<(&str, &str)>, calls: &[(&str, Option<u64>)]) -> String {
    let line = |at: u64, dir: &str, message: &str| {
        format!("{{\"ts\": {}.{:03}, \"dir\": \"{dir}\", \"msg\": {message}}}\n", at / 1000, at % 1000)
    };
    let asked = |at, message: &str| line(at, "client->server", message);
    let answered = |at, id: &str, result: &str| {
        line(at, "server->client", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
    };
    let mut lines = String::new();
    if let Some((name, version)) = server {
        lines += &asked(0, r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{}}"#);
        let info = format!(r#"{{"serverInfo":{{"name":"{name}","version":"{version}"}}}}"#);
        lines += &answered(1, r#""i""#, &info);
    }
    for (id, (tool, took)) in calls.iter().enumerate() {
        let at = 1000 * (id as u64 + 1);
        let call =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
        lines += &asked(at, &call);
        let result = if *tool == "bad" { r#"{"content":[],"isError":true}"# } else { r#"{"content":[]}"# };
        lines += &took.map(|took| answered(at + took, &id.to_string(), result)).unwrap_or_default();
    }
    lines
}

fn collected(sessions: &[String]) -> Stats {
    let mut all = Collected::default();
    for session in sessions {
        let mut reader = session.as_bytes();
        let mut input = Input::new(&mut reader).unwrap();
        all.add("a.jsonl", find("mcp-rec").unwrap(), &mut input).unwrap();
    }
    all.finish()
}

fn usual() -> Stats {
    collected(&[
        session(Some(("s", "1")), &[("add", Some(10)), ("add", Some(30)), ("bad", Some(5))]),
        session(Some(("s", "2")), &[("add", Some(20)), ("add", None)]),
        session(None, &[("<b>", Some(1))]),
    ])
}

#[test]
fn people_programs_and_spreadsheets_get_the_same_numbers() {
    let stats = usual();
    let outputs = [("text", text(&stats, false)), ("csv", csv(&stats)), ("json", json(&stats).unwrap())];
    golden("stats.txt", outputs);
}

#[test]
fn a_recording_that_breaks_off_counts_as_far_as_it_goes() {
    let mut broken = session(Some(("s", "1")), &[("add", Some(10))]);
    broken.push_str("{\"ts\": 9.0, \"dir\": \"cl");
    let stats = collected(&[broken]);
    assert_eq!((stats.recordings, stats.rejected, stats.total.calls), (1, 1, 1));
}

#[test]
fn an_answer_with_a_fault_is_an_answer() {
    let mut session = session(Some(("s", "1")), &[("add", None), ("sub", None)]);
    for (id, outcome) in [(0, r#""result":{"content":[]},"error":null"#), (7, r#""result":{},"error":{}"#)] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#);
        session += &format!("{{\"ts\": 9, \"dir\": \"server->client\", \"msg\": {message}}}\n");
    }
    let stats = collected(&[session]);
    assert_eq!((stats.rejected, stats.total.calls, stats.total.failed, stats.total.unanswered), (1, 2, 0, 1));
}

#[test]
fn the_json_is_as_the_schema_says() {
    let schema: serde_json::Value = serde_json::from_str(include_str!("../../../stats.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for stats in [usual(), collected(&[])] {
        let mut value: serde_json::Value = serde_json::from_str(&json(&stats).unwrap()).unwrap();
        schema.validate(&value).unwrap();
        value["unknown"] = 1.into();
        assert!(!schema.is_valid(&value));
    }
}

#[test]
fn the_page_shows_a_strangers_name_as_text_and_needs_nothing_from_elsewhere() {
    let page = HtmlRenderer::new("1").unwrap().stats(&usual()).unwrap();
    assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"), "{page}");
    assert!(page.contains("default-src 'none'") && !page.contains("src=\"http"));
    // The row with most calls fills the width: three of four answered, one not.
    let good = r#"<rect class="good" x="0" y="0" width="750""#;
    assert!(
        page.contains(good) && page.contains(r#"<rect class="known" x="750" y="0" width="250""#),
        "{page}"
    );
}

#[test]
fn a_long_table_is_folded_so_that_a_phone_shows_its_first_rows() {
    let names: Vec<String> = (0..30).map(|number| format!("tool{number}")).chain([" ".to_owned()]).collect();
    let calls: Vec<_> = names.iter().map(|name| (name.as_str(), None)).collect();
    let page = HtmlRenderer::new("1").unwrap().stats(&collected(&[session(None, &calls)])).unwrap();
    let (open, rest) = page.split_once("<details><summary>11 more</summary>").unwrap();
    let (folded, _) = rest.split_once("</details>").unwrap();
    assert_eq!([open, folded].map(|part| part.matches("<tr><th scope=\"row\">").count()), [20, 11]);
    assert!(page.contains(">(empty)<"));
}

#[test]
fn a_field_is_one_field_and_no_formula() {
    for (text, expected) in [
        ("add", "add"),
        ("a,b", "\"a,b\""),
        ("a\"b", "\"a\"\"b\""),
        ("a\nb\u{1b}[2J", "a b\\u{1b}[2J"),
        ("\t=1", "' =1"),
        ("=1+1", "'=1+1"),
        ("@x,", "\"'@x,\""),
    ] {
        assert_eq!(field(text), expected);
    }
}
