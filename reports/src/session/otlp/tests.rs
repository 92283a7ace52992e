//! Spans of small sessions, by the semantic conventions for MCP and the JSON of OTLP.

use super::{notes, write};
use crate::golden::golden;
use formats::{Format, ReadOptions, Session, find};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn session(format: &str, text: &str) -> (Session, &'static Format) {
    let format = find(format).unwrap();
    (Session::of(format, text.as_bytes(), ReadOptions::default()).unwrap(), format)
}

fn document(session: &Session) -> Value {
    let mut out = Vec::new();
    write(session, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// The spans, each with the name of the service that reports it.
fn spans(document: &Value) -> Vec<(&str, &Value)> {
    let resources = document["resourceSpans"].as_array().unwrap();
    resources
        .iter()
        .flat_map(|resource| {
            let name = resource["resource"]["attributes"][0]["value"]["stringValue"].as_str().unwrap();
            let spans = resource["scopeSpans"][0]["spans"].as_array().unwrap();
            spans.iter().map(move |span| (name, span))
        })
        .collect()
}

/// An attribute's value, as text.
fn attribute<'v>(span: &'v Value, key: &str) -> Option<&'v str> {
    let found = span["attributes"].as_array()?.iter().find(|it| it["key"] == key)?;
    found["value"].as_object()?.values().next()?.as_str()
}

const TRACE: &str = include_str!("../../../tests/otlp.jsonl");

#[test]
fn a_request_is_a_span_with_the_attributes_of_the_conventions() {
    let (session, format) = session("mcp-replay", TRACE);
    let mut out = Vec::new();
    write(&session, &mut out).unwrap();
    let spans = String::from_utf8(out).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION");
    assert!(!spans.contains("secret"));
    golden("otlp.txt", [("spans", spans), ("notes", notes(&session, format).join("\n"))]);
}

#[test]
fn ids_follow_from_the_messages_and_no_two_spans_share_one() {
    let (first, _) = session("mcp-replay", TRACE);
    let (second, _) = session("mcp-replay", TRACE);
    assert_eq!(document(&first), document(&second));
    let (other, _) = session("mcp-replay", &TRACE.replace("secret", "secrets"));
    let ids = |document: &Value, key: &str| -> BTreeSet<String> {
        spans(document).iter().map(|(_, span)| span[key].as_str().unwrap().to_owned()).collect()
    };
    let (first, other) = (document(&first), document(&other));
    assert_eq!((ids(&first, "spanId").len(), ids(&first, "traceId").len()), (5, 2));
    assert!(ids(&first, "spanId").is_disjoint(&ids(&other, "spanId")));
    for (key, length) in [("spanId", 16), ("traceId", 32)] {
        let is_hex = |id: &String| id.len() == length && id.bytes().all(|it| it.is_ascii_hexdigit());
        assert!(ids(&first, key).iter().all(is_hex), "{first}");
    }
}

#[test]
fn an_exchange_tells_of_the_server_and_the_session() {
    let har = r#"{"log":{"version":"1.2","creator":{"name":"c","version":"1"},"entries":[{"startedDateTime":"2026-09-01T10:00:00.000Z","time":20,
        "request":{"method":"POST","url":"https://u:p@mcp.example.com:8443/mcp?a=b","headers":[{"name":"mcp-session-id","value":"s1"}],"postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}},
        "response":{"status":200,"headers":[],"content":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"}}}]}}"#;
    let (session, _) = session("har", har);
    let document = document(&session);
    let (service, ping) = spans(&document)[0];
    assert_eq!(service, "unknown_service:mcp-client");
    for (key, value) in [
        ("mcp.session.id", "s1"),
        ("network.transport", "tcp"),
        ("network.protocol.name", "http"),
        ("server.address", "mcp.example.com"),
        ("server.port", "8443"),
    ] {
        assert_eq!(attribute(ping, key), Some(value), "{ping}");
    }
    assert!(!document.to_string().contains("u:p"));
}

#[test]
fn a_recording_without_times_or_requests_says_so() {
    let lines = "{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"result\":{}}\n";
    let (said, format) = session("jsonrpc", lines);
    let document_of = document(&said);
    let (_, ping) = spans(&document_of)[0];
    assert_eq!(
        (&ping["startTimeUnixNano"], &ping["endTimeUnixNano"]),
        (&json!("1000000"), &json!("2000000"))
    );
    assert_eq!(attribute(ping, "network.transport"), None);
    let said = notes(&said, format).join("\n");
    assert!(said.contains("jsonrpc has no times") && said.contains("was inferred"), "{said}");
    let (silent, format) = session("jsonrpc", "");
    assert_eq!(document(&silent), json!({"resourceSpans": []}));
    assert_eq!(notes(&silent, format).len(), 1);
}
