//! Recordings as the recorder writes them.

use crate::small::{lines, means, read, rejects, session, trace, written};
use crate::{Input, detect, nearest};
use proptest::prelude::*;
use transcript::rejection::Code;
use transcript::session::Side;

const NAME: &str = "agent-vcr";

/// From the recorder of agent-vcr 0.1.0 (a server of the Python SDK 1.30.0, 23 November 2026), cut to a call with progress and
/// an error.
const RECORDED: &str = r#"{
  "format_version": "1.0.0",
  "metadata": {
    "version": "1.0", "recorded_at": "2026-11-23T12:12:27.982328", "transport": "stdio", "client_info": {}, "server_info": {},
    "server_command": "python", "server_args": ["server.py"], "tags": {}, "session_id": null
  },
  "session": {
    "initialize_request": {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": null},
    "initialize_response": {"jsonrpc": "2.0", "id": 0, "result": {"capabilities": {}}, "error": null},
    "capabilities": {},
    "interactions": [
      {
        "sequence": 2, "timestamp": "2026-11-23T12:12:29.905396", "direction": "server_to_client",
        "request": {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "slow", "arguments": {"steps": 2}}},
        "response": {"jsonrpc": "2.0", "id": 3, "result": {"isError": false}, "error": null},
        "notifications": [
          {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "p", "progress": 1.0}},
          {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": null}
        ],
        "latency_ms": 41.61691665649414
      },
      {
        "sequence": 6, "timestamp": "2026-11-23T12:12:29.955413", "direction": "server_to_client",
        "request": {"jsonrpc": "2.0", "id": 7, "method": "resources/read", "params": {"uri": "note://none"}},
        "response": {"jsonrpc": "2.0", "id": 7, "result": null, "error": {"code": 0, "message": "Unknown", "data": null}},
        "notifications": [],
        "latency_ms": 12.624025344848633
      }
    ]
  }
}
"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn recording(interactions: &str) -> String {
    format!(r#"{{"format_version":"1.0.0","metadata":{{}},"session":{{"interactions":[{interactions}]}}}}"#)
}

#[test]
fn a_recording_is_read_without_the_nulls_that_were_added() {
    let expected = "{\"events\": [\n\
        {\"kind\": \"request\", \"id\": \"0\", \"method\": \"initialize\"},\n\
        {\"kind\": \"result\", \"id\": \"0\", \"answers\": 0, \"result\": {\"capabilities\":{}}},\n\
        {\"kind\": \"tool_call\", \"id\": \"3\", \"tool\": \"slow\", \"arguments\": {\"steps\":2}},\n\
        {\"kind\": \"notification\", \"method\": \"notifications/progress\", \"params\": {\"progressToken\":\"p\",\"progress\":1.0}},\n\
        {\"kind\": \"notification\", \"method\": \"notifications/tools/list_changed\"},\n\
        {\"kind\": \"result\", \"id\": \"3\", \"answers\": 2, \"result\": {\"isError\":false}},\n\
        {\"kind\": \"request\", \"id\": \"7\", \"method\": \"resources/read\", \"params\": {\"uri\":\"note://none\"}},\n\
        {\"kind\": \"error\", \"id\": \"7\", \"answers\": 6, \"error\": {\"code\":0,\"message\":\"Unknown\"}}\n\
        ],\n\"authorization_discovery\": null}\n";
    assert_eq!(means(NAME, RECORDED), expected);
    let session = session(NAME, RECORDED);
    let messages = session.entries.iter().filter(|entry| entry.message().is_some());
    let known: Vec<_> = messages.map(|entry| (entry.side, entry.time)).collect();
    let (client, server) = (Some(Side::Client), Some(Side::Server));
    let at = |milliseconds: i64| Some(1_795_435_949_000 + milliseconds);
    assert_eq!(
        known,
        [
            (client, None),
            (server, None),
            (client, at(863)),
            (server, None),
            (server, None),
            (server, at(905)),
            (client, at(942)),
            (server, at(955)),
        ]
    );
}

#[test]
fn what_the_recorder_keeps_nothing_of_is_missing() {
    let found = |text: &str| read(NAME, text, false).unwrap().totals.missing;
    assert_eq!(found(RECORDED), 1);
    assert_eq!(found(&written(NAME, RECORDED, NAME)), 0);
    assert_eq!(found(&recording("")), 0);
}

#[test]
fn a_converter_adds_no_nulls_and_those_that_were_said_stay() {
    let said = r#"{"jsonrpc":"2.0","method":"a","params":null}
{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","data":null}}"#;
    assert_eq!(means(NAME, &written("jsonrpc", said, NAME)), means("jsonrpc", said));
}

#[test]
fn members_may_stand_in_any_order() {
    let text =
        recording(&format!(r#"{{"response":{PONG},"request":{PING}}}],"initialize_request":{PING},"x":[1"#));
    assert_eq!(means(NAME, &text), means("jsonrpc", &[PING, PING, PONG].join("\n")));
}

#[test]
fn a_place_in_a_message_that_lost_a_null_is_its_place_in_the_file() {
    let request = r#"{"params":null,"jsonrpc":"2.0","method":"ping","id":[]}"#;
    let text = recording(&format!(r#"{{"request":{request}}}"#));
    let column = 1 + text.find("[]}}").unwrap() as u64;
    let expected = (Code::InvalidId, "ID-REJECT", 1, column, "/session/interactions/0/request".to_owned());
    assert_eq!(rejects(NAME, &text), expected);
}

#[test]
fn what_is_no_recording_is_refused_at_its_place() {
    for (text, code, clause, column, pointer) in [
        ("", Code::Truncated, "SRV-BYTES", 1, ""),
        ("[]", Code::WrongDocument, "SRV-BYTES", 1, ""),
        (r#"{"session":7}"#, Code::WrongType, "SRV-BYTES", 12, "/session"),
        (r#"{"session":{}}"#, Code::MissingEntries, "SRV-BYTES", 12, "/session"),
        (r#"{"interactions":[]}"#, Code::MissingEntries, "SRV-BYTES", 1, "/session"),
        (r#"{"session":{"interactions":{}}}"#, Code::MissingEntries, "SRV-BYTES", 28, "/session"),
        (
            r#"{"session":{"interactions":[],"interactions":[]}}"#,
            Code::AmbiguousMember,
            "SRV-TWICE",
            32,
            "/session",
        ),
        (r#"{"session":{"interactions":[]},"session":{}}"#, Code::AmbiguousMember, "SRV-TWICE", 33, ""),
        (
            r#"{"format_version":"2.0.0","session":{"interactions":[]}}"#,
            Code::UnsupportedVersion,
            "SRV-BYTES",
            19,
            "/format_version",
        ),
        (
            r#"{"session":{"interactions":[7]}}"#,
            Code::InvalidEntry,
            "SRV-BYTES",
            29,
            "/session/interactions/0",
        ),
        (
            r#"{"session":{"interactions":[{"request":[]}]}}"#,
            Code::Batch,
            "ENV-SINGLE",
            40,
            "/session/interactions/0/request",
        ),
        (
            r#"{"session":{"interactions":[{"notifications":{}}]}}"#,
            Code::InvalidEntry,
            "SRV-BYTES",
            46,
            "/session/interactions/0",
        ),
        (
            r#"{"session":{"interactions":[{"notifications":[ 7]}]}}"#,
            Code::NotAMessage,
            "JRP-LINE",
            48,
            "/session/interactions/0/notifications",
        ),
        (r#"{"session":{"interactions":[{"request":null}"#, Code::Truncated, "SRV-BYTES", 45, ""),
        (r#"{"session":{"interactions":[]}} x"#, Code::InvalidJson, "SRV-BYTES", 33, ""),
    ] {
        assert_eq!(rejects(NAME, text), (code, clause, 1, column, pointer.to_owned()), "{text}");
    }
    let noisy = recording(&format!(r#"{{"request":{{"params":null}}}},{{"request":{PING}}}"#));
    let meaning = read(NAME, &noisy, true).unwrap();
    assert_eq!((meaning.text, meaning.totals.noise), (means("jsonrpc", PING), 1));
}

#[test]
fn a_request_is_written_with_its_notifications_and_its_answer_and_the_rest_alone() {
    let began = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    let begun = r#"{"jsonrpc":"2.0","id":0,"result":{}}"#;
    let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    let asked = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    let lines = [began, begun, told, PING, progress, PONG, progress, asked, PING];
    let text = written("jsonrpc", &lines.join("\n"), NAME);
    let starts = [
        format!(r#""request": {told}, "response": null, "notifications": []"#),
        format!(r#""request": {PING}, "response": {PONG}, "notifications": [{progress}]"#),
        format!(r#""request": null, "response": null, "notifications": [{progress}]"#),
        format!(r#""request": null, "response": {asked}, "notifications": []"#),
        format!(r#""request": {PING}, "response": null, "notifications": []"#),
    ];
    let interactions: Vec<_> = text.lines().filter(|line| line.contains("\"sequence\"")).collect();
    assert_eq!(interactions.len(), starts.len(), "{text}");
    for (interaction, start) in interactions.iter().zip(starts) {
        assert!(interaction.contains(&start), "{interaction}");
    }
    assert!(
        text.contains(&format!("\"initialize_request\": {began},\n    \"initialize_response\": {begun},"))
    );
    assert_eq!(means(NAME, &written("jsonrpc", "", NAME)), means("jsonrpc", ""));
}

#[test]
fn it_is_told_from_its_members() {
    for (text, name) in [
        (RECORDED, Some(NAME)),
        (r#"{"session":{},"metadata":{},"format_version":"1.0.0"}"#, Some(NAME)),
        (r#"{"session":{},"format_version":"1.0.0"}"#, None),
    ] {
        let found = detect(&mut Input::new(&mut text.as_bytes()).unwrap()).unwrap();
        assert_eq!(found.map(|format| format.name), name, "{text}");
    }
    let hint = nearest(r#"{"session":{},"format_version":"1.0.0"}"#).unwrap();
    assert!(hint.contains(NAME) && hint.contains("`metadata`"), "{hint}");
    assert_eq!(nearest(r#"{"session":{}}"#), None);
}

proptest! {
    #[test]
    fn lines_mean_the_same_as_a_recording(text in lines()) {
        prop_assert_eq!(means(NAME, &written("jsonrpc", &text, NAME)), means("jsonrpc", &text));
    }

    #[test]
    fn a_trace_means_the_same_as_a_recording(text in trace()) {
        let once = written("mcp-replay", &text, NAME);
        prop_assert_eq!(means(NAME, &once), means("mcp-replay", &text));
        prop_assert_eq!(written(NAME, &once, NAME), once);
    }
}
