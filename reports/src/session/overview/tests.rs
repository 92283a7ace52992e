use super::{Collector, Overview, json, text};
use crate::golden::golden;
use formats::{Input, find};
use rules::{CheckOptions, check_beside};

fn overview_of(format: &str, recording: &str) -> Overview {
    let mut bytes = recording.as_bytes();
    let (format, mut input) = (find(format).unwrap(), Input::new(&mut bytes).unwrap());
    let mut seen = Collector::new(format);
    let judged = check_beside(format, &mut input, &CheckOptions::default(), &mut |entry| seen.take(entry));
    Overview::new("a file.jsonl", format, seen, &judged.unwrap())
}

fn trace(lines: &[(u64, &str, &str)]) -> String {
    let at = "2026-01-02T03:04:05";
    let meta = format!(r#"{{"v":1,"type":"meta","startedAt":"{at}.000Z","label":"s","command":["s"]}}"#);
    let line = |(time, dir, raw): &(u64, &str, &str)| {
        format!(r#"{{"t":"{at}.{time:03}Z","dir":"{dir}","raw":{raw}}}"#)
    };
    [meta].into_iter().chain(lines.iter().map(line)).collect::<Vec<_>>().join("\n")
}

fn session() -> Overview {
    let call = |id: u32, tool: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
    };
    let result =
        |id: u32, more: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]{more}}}}}"#);
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let welcome = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s\u001b[31m"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    overview_of(
        "mcp-replay",
        &trace(&[
            (0, "in", hello),
            (7, "out", welcome),
            (8, "in", ready),
            (10, "in", &call(1, "a")),
            (20, "in", &call(2, "b")),
            (40, "out", &result(1, "")),
            (50, "in", &call(3, "a")),
            (90, "out", &result(3, r#","isError":true"#)),
            (95, "out", r#"{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"x"}}"#),
        ]),
    )
}

#[test]
fn what_was_called_what_failed_and_what_to_type_next() {
    let outputs = [
        ("page", text::page(&session(), false)),
        ("page in colours", text::page(&session(), true)),
        ("rows", text::rows(&[session(), session()], 2, false)),
        ("json", json(&[session()]).unwrap()),
    ];
    assert!(!outputs[0].1.contains('\u{1b}'), "{}", outputs[0].1);
    golden("overview.txt", outputs);
}

#[test]
fn the_json_is_as_the_schema_says() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../overview.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let mut value = serde_json::to_value([session()]).unwrap();
    schema.validate(&value).unwrap();
    value[0]["unknown"] = 1.into();
    assert!(!schema.is_valid(&value));
}

/// A stream without times stands before what it answers.
#[test]
fn answers_on_a_stream_of_http_sse_are_to_what_is_posted_later() {
    let entry = |method: &str, path: &str, asked: &str, kind: &str, answer: &str| {
        serde_json::json!({
            "startedDateTime": "2026-01-01T00:00:00.000Z",
            "time": 1,
            "request": {"method": method, "url": format!("http://h{path}"), "headers": [], "postData": {"text": asked}},
            "response": {"status": 200, "headers": [], "content": {"mimeType": kind, "text": answer}},
        })
    };
    let stream = "event: endpoint\ndata: /m\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n";
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let entries = [
        entry("GET", "/sse", "", "text/event-stream", stream),
        entry("POST", "/m", ask, "text/plain", "Accepted"),
    ];
    let har = serde_json::json!({"log": {"version": "1.2", "entries": entries}});
    let overview = overview_of("har", &har.to_string());
    assert_eq!((overview.unanswered.total, overview.counts.orphans), (0, 0));
}
