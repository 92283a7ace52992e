//! Lines as the sources of the recorders write them.

use crate::small::{lines, means, read, rejects, trace, written};
use crate::{Input, ReadOptions, detect, find, nearest};
use proptest::prelude::*;
use transcript::rejection::Code;
use transcript::session::{Content, Side};

const NAME: &str = "directed-jsonl";

/// As mcp-cassette has it.
const CASSETTE: &str = r#"{"type":"header","cassetteVersion":1,"recorder":"mcp-cassette@0.1.2","startedAt":"2026-08-15T14:02:44.380Z","transport":"stdio","command":["node"],"redaction":{"applied":true}}
{"type":"frame","t":4,"dir":"c2s","frame":{"jsonrpc":"2.0","id":1,"method":"ping"}}
{"type":"frame","t":85,"dir":"s2c","frame":{"jsonrpc":"2.0","id":1,"result":{}}}
"#;
/// As mcpsnoop has it.
const SNOOPED: &str = r#"{"session_id":"a","server_label":"s","seq":0,"ts":"2026-08-15T14:02:44.380Z","direction":"meta","transport":"stdio","raw":{"command":["node"]}}
{"session_id":"a","server_label":"s","seq":1,"ts":"2026-08-15T14:02:44.384123456Z","direction":"c2s","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}
{"session_id":"a","server_label":"s","seq":2,"ts":"2026-08-15T16:02:44.400+02:00","direction":"stderr","transport":"stdio","text":"ready"}
{"session_id":"a","server_label":"s","seq":3,"ts":"2026-08-15T14:02:44.465Z","direction":"s2c","transport":"stdio","raw":{"jsonrpc":"2.0","id":1,"result":{}}}
"#;
/// As the mcp-recorder that is written in TypeScript has it.
const SUMMED: &str = r#"{"seq":0,"t":1786802564.384,"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}
{"seq":1,"t":1786802564.465,"dir":"s2c","msg":{"jsonrpc":"2.0","id":1,"result":{}}}
{"type":"summary","startedAt":1786802564.384,"endedAt":1786802564.465,"requests":1,"server":{"command":"npx"}}
"#;

/// What a reading hands on of messages: pointer, time and side.
fn messages(text: &str) -> Vec<(&'static str, Option<i64>, Option<Side>)> {
    let mut found = Vec::new();
    let mut bytes = text.as_bytes();
    let mut input = Input::new(&mut bytes).unwrap();
    let read = (find(NAME).unwrap().read)(&mut input, ReadOptions::default(), &mut |entry| {
        if let Content::Message(_) = &entry.content {
            found.push((entry.location.root, entry.time, entry.side));
        }
        Ok(())
    });
    read.unwrap();
    found
}

#[test]
fn one_session_of_three_recorders_is_one() {
    let pair = means(
        "jsonrpc",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
    );
    for (text, root) in [(CASSETTE, "/frame"), (SNOOPED, "/raw"), (SUMMED, "/msg")] {
        assert_eq!(means(NAME, text), pair);
        assert_eq!(means(NAME, &format!("\u{feff}{}", text.replace('\n', "\r\n\r\n"))), pair);
        let asked = (root, Some(1_786_802_564_384), Some(Side::Client));
        let told = (root, Some(1_786_802_564_465), Some(Side::Server));
        assert_eq!(messages(text), [asked, told], "{text}");
        assert_eq!(read(NAME, text, false).unwrap().totals.noise, 0);
    }
}

#[test]
fn names_and_times_come_in_all_their_forms() {
    let rest = r#"{"jsonrpc":"2.0","method":"a"}"#;
    for (line, time, side) in [
        (format!(r#"{{"direction":"client_to_server","message":{rest}}}"#), None, Side::Client),
        (
            format!(r#"{{"payload":{rest},"t":1786802564384,"d\u0069r":"server_to_client"}}"#),
            Some(1_786_802_564_384),
            Side::Server,
        ),
        (format!(r#"{{"direction":"server->client","body":{rest},"time":"yesterday"}}"#), None, Side::Server),
        (
            format!(r#"{{"direction":"client-to-server","raw":{rest},"timestamp":-12.4}}"#),
            Some(-12),
            Side::Client,
        ),
        (format!(r#"{{"dir":"s2c","msg":{rest},"ts":1e400}}"#), Some(i64::MAX), Side::Server),
    ] {
        let found = messages(&line);
        assert_eq!((found[0].1, found[0].2), (time, Some(side)), "{line}");
    }
}

#[test]
fn a_second_session_is_refused_by_name() {
    let two = format!("{SNOOPED}{}", SNOOPED.replace(r#"session_id":"a""#, r#"session_id":"b""#));
    let rejection = read(NAME, &two, true).unwrap_err().to_string();
    assert!(rejection.contains(r#"jq -c 'select(.session_id == "a")'"#), "{rejection}");
    let (code, clause, line, column, _) = rejects(NAME, &two);
    assert_eq!((code, clause, line, column), (Code::WrongDocument, "EQ-COUNT", 6, 15));
}

#[test]
fn what_is_no_recording_is_refused_at_its_place() {
    let ping = r#"{"dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#;
    for (bad, code, clause, column, pointer) in [
        ("[]", Code::NotAMessage, "JRP-LINE", 1, ""),
        ("ready", Code::InvalidJson, "JRP-LINE", 1, ""),
        (r#"{"dir":"c2s"}"#, Code::NotAMessage, "RPL-NOISE", 1, ""),
        (r#"{"type":"raw","dir":"s2c","data":"ready"}"#, Code::NotAMessage, "RPL-NOISE", 1, ""),
        (r#"{"type":"chunks","dir":"s2c","id":7,"chunks":[]}"#, Code::NotAMessage, "RPL-NOISE", 1, ""),
        (r#"{"msg":{"jsonrpc":"2.0","method":"a"}}"#, Code::MissingDir, "SRV-BYTES", 1, ""),
        (r#"{"jsonrpc":"2.0","method":"a","dir":"c2s"}"#, Code::NotAMessage, "RPL-NOISE", 1, ""),
        (r#"{"msg":{},"dir":7}"#, Code::MissingDir, "SRV-BYTES", 17, ""),
        (r#"{"msg":{},"dir":"c2s","direction":"c2s"}"#, Code::AmbiguousMember, "SRV-TWICE", 23, ""),
        (r#"{"dir":"c2s","msg":{},"raw":{}}"#, Code::AmbiguousMember, "SRV-TWICE", 23, ""),
        (r#"{"dir":"c2s","msg":"{\"jsonrpc\":\"2.0\"}"}"#, Code::NotAMessage, "RPL-NOISE", 20, "/msg"),
        (r#"{"dir":"c2s","msg":{"jsonrpc":"2.0","id":[]}}"#, Code::InvalidId, "ID-REJECT", 42, "/msg"),
        (r#"{"dir":"c2s","msg":[]}"#, Code::Batch, "RPL-NOISE", 20, "/msg"),
        (r#"{"dir":"c2s","ms"#, Code::Truncated, "SRV-BYTES", 17, ""),
        ("a\0b", Code::InvalidJson, "JRP-LINE", 1, ""),
    ] {
        let expected = (code, clause, 2, column, pointer.to_owned());
        assert_eq!(rejects(NAME, &format!("{ping}\n{bad}")), expected, "{bad}");
    }
    let noisy = format!("{ping}\n{{\"type\":\"raw\",\"dir\":\"s2c\",\"data\":\"ready\"}}\n");
    assert_eq!(read(NAME, &noisy, true).unwrap().totals.noise, 1);
    let call = r#"{"dir":"c2s","msg":{"jsonrpc":"2.0","method":"tools/call","id":7,"params":{"name":"n"}}}"#;
    let (code, clause, line, ..) = rejects(NAME, &format!("{call}\n{call}"));
    assert_eq!((code, clause, line), (Code::DuplicateCallId, "COR-DUPLICATE", 2));
}

/// From `mcp-vcr record --format ndjson` (mcp-vcr 0.2.2, 23 November 2026), cut.
const VCR: &str = r#"{"_type": "meta", "version": 1, "recorded_at": "2026-11-23T12:09:50.596223Z", "session_id": "130c408a", "server_command": ["python", "server.py"], "schema_version": "1.0"}
{"t": 303, "dir": "c2s", "payload": {"jsonrpc": "2.0", "id": 9, "method": "ping", "params": {}}}
{"t": 1779, "dir": "s2c", "payload": {"jsonrpc": "2.0", "id": 9, "result": {}}}
"#;

#[test]
fn a_transcript_of_mcp_vcr_counts_from_its_header() {
    let expected = "{\"events\": [\n\
        {\"kind\": \"request\", \"id\": \"9\", \"method\": \"ping\", \"params\": {}},\n\
        {\"kind\": \"result\", \"id\": \"9\", \"answers\": 0, \"result\": {}}\n\
        ],\n\"authorization_discovery\": null}\n";
    assert_eq!(means(NAME, VCR), expected);
    assert!(written(NAME, VCR, NAME).starts_with(r#"{"ts":"2026-11-23T12:09:50.899Z","dir":"c2s""#));
}

#[test]
fn a_recording_written_again_stays_as_it_is() {
    let once = written(NAME, CASSETTE, NAME);
    assert_eq!(
        once.lines().next(),
        Some(
            r#"{"ts":"2026-08-15T14:02:44.384Z","dir":"c2s","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#
        )
    );
    assert_eq!(written(NAME, &once, NAME), once);
    let timeless = "{\"dir\":\"c2s\",\"msg\":{\"jsonrpc\":\"2.0\",\"method\":\"a\"}}\n";
    assert_eq!(written(NAME, timeless, NAME), timeless);
}

#[test]
fn it_is_told_from_its_first_line() {
    let line = |rest: &str| format!(r#"{{{rest},"msg":{{"jsonrpc":"2.0","method":"a"}}}}"#);
    for (text, name) in [
        (CASSETTE.to_owned(), Some(NAME)),
        (SNOOPED.to_owned(), Some(NAME)),
        (SUMMED.to_owned(), Some(NAME)),
        (VCR.to_owned(), Some(NAME)),
        (line(r#""dir":"client->server""#), Some("mcp-rec")),
        (line(r#""t":1,"dir":"in""#), Some("mcp-replay")),
        (line(r#""direction":"in""#), None),
        (line(r#""dir":"up""#), None),
        (r#"{"jsonrpc":"2.0","method":"a","dir":"c2s"}"#.to_owned(), Some("jsonrpc")),
        (r#"{"direction":"s2c"}"#.to_owned(), None),
    ] {
        let found = detect(&mut Input::new(&mut text.as_bytes()).unwrap()).unwrap();
        assert_eq!(found.map(|format| format.name), name, "{text}");
    }
    for (text, words) in [
        (line(r#""direction":"request""#), "none that says for certain who sent what"),
        (r#"{"direction":"s2c"}"#.to_owned(), "a direction and no message"),
    ] {
        let hint = nearest(&text).unwrap();
        assert!(hint.contains(NAME) && hint.contains(words), "{hint}");
    }
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
