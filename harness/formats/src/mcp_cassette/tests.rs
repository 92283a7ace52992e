//! Cassettes as the recorder writes them.

use crate::small::{lines, means, read, rejects, session, trace, written};
use crate::{Input, detect, nearest};
use proptest::prelude::*;
use transcript::rejection::Code;
use transcript::session::Side;

const NAME: &str = "mcp-cassette";

/// From `mcp-cassette record --cassette … -- python server.py` (mcp-cassette 0.4.0, a server of the Python SDK 1.30.0,
/// 23 November 2026), cut to a call with progress; and a line that the server printed.
const RECORDED: &str = r#"{
  "format_version": 3,
  "recorded_at": "2026-11-23T12:09:56.593402Z",
  "transport": "stdio",
  "server_url": null,
  "session_id": null,
  "protocol_version": "2025-06-18",
  "server_info": {"name": "mock-example", "version": "1.30.0"},
  "redaction": null,
  "messages": [
    {
      "seq": 7, "t_offset_ms": 1894, "sender": "client", "kind": "request", "method": "tools/call", "msg_id": 3,
      "payload": {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "slow", "arguments": {"steps": 2}, "_meta": {"progressToken": "REDACTED"}}},
      "redacted": true, "exchange": null, "channel": null
    },
    {
      "seq": 8, "t_offset_ms": 1910, "sender": "server", "kind": "notification", "method": "notifications/progress", "msg_id": null,
      "payload": {"method": "notifications/progress", "params": {"progressToken": "REDACTED", "progress": 1.0}, "jsonrpc": "2.0"},
      "redacted": true, "exchange": null, "channel": null
    },
    {
      "seq": 9, "t_offset_ms": 1931, "sender": "server", "kind": "response", "method": null, "msg_id": 3,
      "payload": {"jsonrpc": "2.0", "id": 3, "result": {"content": [], "isError": false}},
      "redacted": false, "exchange": null, "channel": null
    }
  ]
}
"#;
const RAW: &str = r#"{"seq": 10, "t_offset_ms": 1940, "sender": "server", "kind": "raw", "method": null, "msg_id": null, "payload": "done", "redacted": false, "exchange": null, "channel": null}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

fn cassette(messages: &str) -> String {
    format!(r#"{{"format_version":1,"messages":[{messages}]}}"#)
}

#[test]
fn a_recording_is_read_with_who_sent_what_and_when() {
    let expected = "{\"events\": [\n\
        {\"kind\": \"tool_call\", \"id\": \"3\", \"tool\": \"slow\", \"arguments\": {\"steps\":2}},\n\
        {\"kind\": \"notification\", \"method\": \"notifications/progress\", \"params\": {\"progressToken\":\"REDACTED\",\"progress\":1.0}},\n\
        {\"kind\": \"result\", \"id\": \"3\", \"answers\": 0, \"result\": {\"content\":[],\"isError\":false}}\n\
        ],\n\"authorization_discovery\": null}\n";
    assert_eq!(means(NAME, RECORDED), expected);
    let known: Vec<_> =
        session(NAME, RECORDED).entries.iter().map(|entry| (entry.side, entry.time)).collect();
    let (client, server) = (Some(Side::Client), Some(Side::Server));
    assert_eq!(known, [(client, Some(1894)), (server, Some(1910)), (server, Some(1931))]);
}

#[test]
fn a_line_that_was_no_message_rejects_or_is_passed_over() {
    let text = RECORDED.replace("    }\n  ]", &format!("    }},\n{RAW}]"));
    let (code, _, line, _, pointer) = rejects(NAME, &text);
    assert_eq!((code, line, &*pointer), (Code::NotAMessage, 26, "/messages/3/payload"));
    let meaning = read(NAME, &text, true).unwrap();
    assert_eq!((meaning.text, meaning.totals.noise), (means(NAME, RECORDED), 1));
}

#[test]
fn what_is_no_cassette_is_refused_at_its_place() {
    let called = r#"{"sender":"client","payload":{"jsonrpc":"2.0","method":"tools/call","id":7,"params":{"name":"n"}}}"#;
    for (text, code, clause, column, pointer) in [
        ("", Code::Truncated, "SRV-BYTES", 1, ""),
        ("[]", Code::WrongDocument, "SRV-BYTES", 1, ""),
        (r#"{"format_version":3}"#, Code::MissingEntries, "SRV-BYTES", 21, ""),
        (r#"{"messages":{}}"#, Code::MissingEntries, "SRV-BYTES", 13, "/messages"),
        (r#"{"messages":[],"messages":[]}"#, Code::AmbiguousMember, "SRV-TWICE", 27, ""),
        (
            r#"{"format_version":4,"messages":[]}"#,
            Code::UnsupportedVersion,
            "SRV-BYTES",
            19,
            "/format_version",
        ),
        (
            r#"{"format_version":"3","messages":[]}"#,
            Code::UnsupportedVersion,
            "SRV-BYTES",
            19,
            "/format_version",
        ),
        (r#"{"messages":[7]}"#, Code::InvalidEntry, "SRV-BYTES", 14, "/messages/0"),
        (r#"{"messages":[{}]}"#, Code::MissingDir, "SRV-BYTES", 14, "/messages/0"),
        (r#"{"messages":[{"sender":"proxy"}]}"#, Code::MissingDir, "SRV-BYTES", 24, "/messages/0"),
        (r#"{"messages":[{"sender":"client"}]}"#, Code::InvalidEntry, "SRV-BYTES", 14, "/messages/0"),
        (
            r#"{"messages":[{"sender":"client","sender":"server"}]}"#,
            Code::AmbiguousMember,
            "SRV-TWICE",
            33,
            "/messages/0",
        ),
        (
            r#"{"messages":[{"sender":"client","payload":[]}]}"#,
            Code::Batch,
            "ENV-SINGLE",
            43,
            "/messages/0/payload",
        ),
        (
            r#"{"messages":[{"sender":"client","payload":{"a":1}}]}"#,
            Code::NotAMessage,
            "JRP-SHAPE",
            43,
            "/messages/0/payload",
        ),
        (r#"{"messages":[{"sender":"client""#, Code::Truncated, "SRV-BYTES", 32, ""),
        (r#"{"messages":[]} x"#, Code::InvalidJson, "SRV-BYTES", 17, ""),
    ] {
        assert_eq!(rejects(NAME, text), (code, clause, 1, column, pointer.to_owned()), "{text}");
    }
    let (code, clause, _, _, pointer) = rejects(NAME, &cassette(&format!("{called},{called}")));
    assert_eq!((code, clause, &*pointer), (Code::DuplicateCallId, "COR-DUPLICATE", "/messages/1/payload"));
}

#[test]
fn it_is_told_from_its_members() {
    for (text, name) in [
        (RECORDED, Some(NAME)),
        (r#"{"messages":[],"format_version":3}"#, Some(NAME)),
        (r#"{"model":"m","messages":[]}"#, None),
        (r#"{"format_version":"1.0.0","messages":[],"events":[]}"#, Some(NAME)),
    ] {
        let found = detect(&mut Input::new(&mut text.as_bytes()).unwrap()).unwrap();
        assert_eq!(found.map(|format| format.name), name, "{text}");
    }
    let hint = nearest(r#"{"model":"m","messages":[{"role":"user"}]}"#).unwrap();
    assert!(hint.contains(NAME) && hint.contains("conversations"), "{hint}");
    assert_eq!(nearest(r#"{"model":"m"}"#), None);
}

#[test]
fn what_is_written_has_all_that_the_recorder_reads() {
    let text = written("jsonrpc", &format!("{PING}\n"), NAME);
    let line = r#"    {"seq": 0, "t_offset_ms": 0, "sender": "client", "kind": "request", "method": "ping", "msg_id": 1, "payload": {"jsonrpc":"2.0","id":1,"method":"ping"}, "redacted": false, "exchange": null, "channel": null}"#;
    assert!(text.contains(line), "{text}");
    assert_eq!(means(NAME, &written("jsonrpc", "", NAME)), means("jsonrpc", ""));
}

proptest! {
    #[test]
    fn lines_mean_the_same_as_a_cassette(text in lines()) {
        prop_assert_eq!(means(NAME, &written("jsonrpc", &text, NAME)), means("jsonrpc", &text));
    }

    #[test]
    fn a_trace_means_the_same_as_a_cassette(text in trace()) {
        let once = written("mcp-replay", &text, NAME);
        prop_assert_eq!(means(NAME, &once), means("mcp-replay", &text));
        prop_assert_eq!(written(NAME, &once, NAME), once);
    }
}
