//! Spans of small sessions, by the semantic conventions for MCP and the JSON of OTLP.

use super::{notes, write};
use crate::golden::golden;
use formats::{ReadOptions, Session, find};
use serde_json::Value;
use std::collections::BTreeSet;

/// The spans of a session, and what they do not show.
fn spans(format: &str, text: &str) -> [String; 2] {
    let format = find(format).unwrap();
    let session = Session::of(format, text.as_bytes(), ReadOptions::default()).unwrap();
    let mut out = Vec::new();
    write(&session, &mut out).unwrap();
    let spans = String::from_utf8(out).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION");
    [spans, notes(&session, format).join("\n")]
}

const TRACE: &str = include_str!("../../../tests/otlp.jsonl");

/// An exchange tells of the server and the session, and its URL of somebody's password.
const HAR: &str = r#"{"log":{"version":"1.2","creator":{"name":"c","version":"1"},"entries":[{"startedDateTime":"2026-09-01T10:00:00.000Z","time":20,
    "request":{"method":"POST","url":"https://u:p@mcp.example.com:8443/mcp?a=b","headers":[{"name":"mcp-session-id","value":"s1"}],"postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}},
    "response":{"status":200,"headers":[],"content":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"}}}]}}"#;

/// Without times, and with an id that is not a string.
const LINES: &str = "{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"result\":{}}\n";

#[test]
fn a_request_is_a_span_with_the_attributes_of_the_conventions() {
    let sessions = [
        ("trace", "mcp-replay", TRACE),
        ("archive", "har", HAR),
        ("lines", "jsonrpc", LINES),
        ("nothing", "jsonrpc", ""),
    ];
    let of_one = |(name, format, text)| {
        let [spans, notes] = spans(format, text);
        assert!(!spans.contains("secret") && !spans.contains("u:p"), "{spans}");
        [(format!("spans of {name}"), spans), (format!("notes on {name}"), notes)]
    };
    golden("otlp.txt", sessions.into_iter().flat_map(of_one));
}

#[test]
fn ids_follow_from_the_messages_and_no_two_spans_share_one() {
    let [first, _] = spans("mcp-replay", TRACE);
    assert_eq!(first, spans("mcp-replay", TRACE)[0]);
    let [other, _] = spans("mcp-replay", &TRACE.replace("secret", "secrets"));
    let ids = |text: &str, key: &str| -> BTreeSet<String> {
        let document: Value = serde_json::from_str(text).unwrap();
        let resources = document["resourceSpans"].as_array().unwrap().iter();
        let spans = resources.flat_map(|it| it["scopeSpans"][0]["spans"].as_array().unwrap());
        spans.map(|span| span[key].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!((ids(&first, "spanId").len(), ids(&first, "traceId").len()), (5, 2));
    assert!(ids(&first, "spanId").is_disjoint(&ids(&other, "spanId")));
    for (key, length) in [("spanId", 16), ("traceId", 32)] {
        let is_hex = |id: &String| id.len() == length && id.bytes().all(|it| it.is_ascii_hexdigit());
        assert!(ids(&first, key).iter().all(is_hex), "{first}");
    }
}
