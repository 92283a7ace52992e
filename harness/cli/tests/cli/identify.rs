//! `identify` on the recorded sessions, and at its edges.
//!
//! What each recording shows was read off the recording itself: its requests, their headers, and how each was
//! answered. Envelopes say themselves which transport they are of, also where the session was recorded over stdio.

#![expect(clippy::unwrap_used, reason = "a panic is a test's way to fail")]

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const HTTP: &str = "streamable-http";
const SSE: &str = "http-sse";
const SETTLED: &str = "2025-11-25";
const NAMED: &str = "2026-07-28";

/// What a HAR file shows: transport, revision, requests with a method, GET streams and how many of them are open at the end
/// (no other exchange is), and answers that are JSON, event streams, and accepted.
type Log = (&'static str, &'static str, &'static str, [u64; 3], [u64; 3]);

#[rustfmt::skip]
const LOGS: &[Log] = &[
    ("everything-http",              HTTP, SETTLED, [12, 2, 0], [0, 13, 1]),
    ("everything-http-cancelled-har", HTTP, SETTLED, [6, 1, 0], [0, 5, 2]),
    // The probe names 2026-07-28 and is refused with a 400.
    ("everything-http-discover",     HTTP, SETTLED, [13, 1, 0], [1, 12, 1]),
    ("everything-http-interrupted",  HTTP, SETTLED, [4, 2, 0],  [0, 5, 1]),
    // The first resumed stream is held to the end of the recording, and the second begins just before it.
    ("everything-http-redelivered",  HTTP, SETTLED, [5, 3, 2],  [0, 7, 1]),
    // Eight POSTs, three of which bring results and no method.
    ("everything-http-same-id-har",  HTTP, SETTLED, [5, 1, 0],  [0, 5, 4]),
    // Its client sends MCP-Protocol-Version to the announced endpoint.
    ("everything-sse-har",           SSE,  SETTLED, [12, 1, 0], [0, 1, 12]),
    ("python1-http-json",            HTTP, SETTLED, [10, 1, 0], [9, 1, 1]),
    ("python1-http-refused",         HTTP, SETTLED, [4, 1, 0],  [3, 1, 1]),
    ("python1-http-sse-har",         HTTP, SETTLED, [9, 1, 0],  [0, 8, 3]),
    ("python2-http-json",            HTTP, NAMED,   [9, 0, 0],  [9, 0, 0]),
    ("python2-http-sse-discover",    HTTP, NAMED,   [7, 0, 0],  [5, 2, 0]),
    ("python2-http-sse-har",         HTTP, SETTLED, [9, 1, 0],  [0, 8, 3]),
];

/// Every recorded session, with its revision.
const SESSIONS: &[(&str, &str)] = &[
    ("everything-http", SETTLED),
    ("everything-http-cancelled", SETTLED),
    ("everything-http-discover", SETTLED),
    ("everything-http-interrupted", SETTLED),
    ("everything-http-redelivered", SETTLED),
    ("everything-http-same-id", SETTLED),
    ("everything-sse", SETTLED),
    ("everything-stdio", SETTLED),
    ("everything-stdio-cancelled", SETTLED),
    ("everything-stdio-discover", SETTLED),
    ("everything-stdio-same-id", SETTLED),
    ("filesystem-stdio", SETTLED),
    ("filesystem-stdio-discover", SETTLED),
    ("python1-http-json", SETTLED),
    ("python1-http-sse", SETTLED),
    ("python2-http-json", NAMED),
    ("python2-http-sse", SETTLED),
    ("python2-http-sse-discover", NAMED),
    ("rmcp-stdio", SETTLED),
    ("rmcp-stdio-discover", NAMED),
];

#[test]
fn recorded_har_files_show_transport_revision_and_connections() {
    for (case, transport, revision, [requests, total, active], [json, stream, accepted]) in LOGS {
        let found = identified(case, "har.har");
        assert_eq!(found["transport"], *transport, "{case}");
        assert_eq!(found["revision"], *revision, "{case}");
        assert_eq!(found["requests_total"], *requests, "{case}");
        assert_eq!(found["sse_connections_total"], *total, "{case}");
        assert_eq!(found["sse_connections_active"], *active, "{case}");
        assert_eq!(found["connections_active"], *active, "{case}");
        assert_eq!(found["stream_durations"]["streams"], stream - active, "{case}");
        let expected =
            json!({"json": json, "event_stream": stream, "accepted": accepted, "other": 0, "none": 0});
        assert_eq!(found["responses"], expected, "{case}");
    }
}

#[test]
fn recorded_envelopes_show_their_transport_and_no_connections() {
    for (case, revision) in SESSIONS {
        for (file, transport) in [("streamable-http.json", HTTP), ("http-sse.json", SSE)] {
            let found = identified(case, file);
            assert_eq!(found["transport"], transport, "{case}/{file}");
            assert_eq!(found["revision"], *revision, "{case}/{file}");
            for unknown in [
                "connections_active",
                "stream_durations",
                "both_modes",
                "sse_connections_total",
                "sse_connections_active",
                "responses",
            ] {
                assert_eq!(found[unknown], Value::Null, "{case}/{file}");
            }
        }
        let trace = identified(case, "mcp-replay.jsonl");
        assert_eq!((&trace["transport"], &trace["revision"]), (&Value::Null, &json!(revision)), "{case}");
        // The servers of all recordings were started as programs, over whichever transport.
        let command = json!({"shows": "stdio", "sign": "command-program", "what": "a recorded command that names a program and no URL",
            "line": 1, "pointer": "/command", "weak": true, "more": 0});
        assert_eq!(trace["evidence"][0], command, "{case}");
    }
}

/// The one that answers in JSON, and where it tells of progress on an event stream.
#[test]
fn a_server_of_both_modes_is_named() {
    let found = identified("python2-http-sse-discover", "har.har");
    assert_eq!(found["both_modes"], json!(["http://127.0.0.1:3901/mcp"]));
    assert_eq!(
        identified("everything-http-discover", "har.har")["both_modes"],
        json!([]),
        "a 400 is no mode"
    );
}

#[test]
fn text_says_what_is_unknown_and_why() {
    let trace = concat!(
        r#"{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00Z","label":"a","command":["tap","https://a/mcp"]}"#,
        "\n",
        r#"{"t":"2026-01-01T00:00:01Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}"#,
        "\n",
        r#"{"t":"2026-01-01T00:00:02Z","dir":"in","raw":{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"1999-01-01"}}}"#,
        "\n",
        r#"{"t":"2026-01-01T00:00:03Z","dir":"out","raw":{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-03-26"}}}"#,
        "\n",
    );
    let expected = "\
format           mcp-replay
transport        unknown, perhaps http: the evidence is weak
revision         2025-03-26 (from the result of initialize)
messages         3
requests         unknown (mcp-replay does not carry HTTP exchanges)
open at the end  unknown (mcp-replay does not carry HTTP exchanges)
SSE connections  unknown (mcp-replay does not carry HTTP exchanges)
SSE events       unknown (mcp-replay does not carry SSE events)
responses        unknown (mcp-replay does not carry HTTP exchanges)

evidence
  http        a recorded command that names a URL (weak)                     line 1  /command
  2026-07-28  named in _meta by requests, none of which got a result (weak)  line 2  /raw
  2025-03-26  protocolVersion in the result of initialize                    line 4  /raw
";
    let run = run(&[], trace);
    assert_eq!(String::from_utf8(run.stdout).unwrap(), expected);
    assert_eq!(run.status.code(), Some(0));
}

#[test]
fn exit_codes_tell_a_rejection_from_a_wrong_call() {
    assert_eq!(run(&["--format", "jsonrpc"], "[]\n").status.code(), Some(1));
    assert_eq!(run(&["--format", "no-such"], "").status.code(), Some(2));
    assert_eq!(run(&[], "neither").status.code(), Some(2));
    let rejected = run(&["--output", "json", "--format", "jsonrpc"], "{\"jsonrpc\":\"2.0\"}\n");
    assert_eq!((rejected.status.code(), rejected.stdout.len()), (Some(1), 0));
}

fn identified(case: &str, file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/recorded").join(case).join(file);
    let run = call(&[path.to_str().unwrap(), "--output", "json"]);
    assert_eq!(run.status.code(), Some(0), "{case}/{file}: {}", String::from_utf8_lossy(&run.stderr));
    serde_json::from_slice(&run.stdout).unwrap()
}

fn run(arguments: &[&str], text: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("capture");
    fs::write(&file, text).unwrap();
    call(&[arguments, &[file.to_str().unwrap()]].concat())
}

fn call(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-concord")).arg("identify").args(arguments).output().unwrap()
}
