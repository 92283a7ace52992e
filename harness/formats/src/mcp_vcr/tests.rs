//! Transcripts as the recorder writes them.

use crate::small::{lines, means, read, rejects, session, trace, written};
use crate::{Input, detect, nearest};
use proptest::prelude::*;
use transcript::rejection::Code;
use transcript::session::Side;

const NAME: &str = "mcp-vcr";

/// From `mcp-vcr record -o … -- python server.py` (mcp-vcr 0.2.2 with PyYAML 6.0.3, a server of the Python SDK 1.30.0, 23 November
/// 2026), cut to a call.
const RECORDED: &str = r#"messages:
- dir: c2s
  payload:
    id: four
    jsonrpc: '2.0'
    method: tools/call
    params:
      arguments:
        question: "Gr\xFC\xDFe, \u4E16\u754C \u2028 \U0001F680 \"yes\": no # 1.0\n- null\
          \n"
      name: ask
  t: 1840
- dir: s2c
  payload:
    id: four
    jsonrpc: '2.0'
    result:
      content:
      - text: '0x1F'
        type: text
      isError: false
      structuredContent:
        result: 9007199254740993
        size: 1.0e+20
        none: []
  t: 1853
meta:
  client_hint: logs
  recorded_at: '2026-11-23T12:09:45.013942Z'
  version: 1
"#;
const PING: &str = "- dir: c2s\n  payload: {id: 1, jsonrpc: '2.0', method: ping}\n  t: 0\n";

#[test]
fn a_recording_is_read_with_who_sent_what_and_when() {
    let expected = "{\"events\": [\n\
        {\"kind\": \"tool_call\", \"id\": \"four\", \"tool\": \"ask\", \"arguments\": {\"question\":\"Grüße, 世界 \u{2028} 🚀 \\\"yes\\\": no # 1.0\\n- null\\n\"}},\n\
        {\"kind\": \"result\", \"id\": \"four\", \"answers\": 0, \"result\": {\"content\":[{\"text\":\"0x1F\",\"type\":\"text\"}],\"isError\":false,\"structuredContent\":{\"result\":9007199254740993,\"size\":1.0e+20,\"none\":[]}}}\n\
        ],\n\"authorization_discovery\": null}\n";
    let known: Vec<_> =
        session(NAME, RECORDED).entries.iter().map(|entry| (entry.side, entry.time)).collect();
    assert_eq!(known, [(Some(Side::Client), Some(1840)), (Some(Side::Server), Some(1853))]);
    assert_eq!(means(NAME, RECORDED), expected);
    assert_eq!(means(NAME, &RECORDED.replace('\n', "\r\n")), expected);
    // A recorder that was killed leaves the beginning of its metadata first.
    let (messages, meta) = RECORDED.split_at(RECORDED.find("meta:").unwrap());
    assert_eq!(means(NAME, &format!("# by hand\n---\n{meta}{messages}")), expected);
    let indented =
        messages.replace("\n- ", "\n  - ").replace("\n  ", "\n    ").replace("\n    - dir", "\n  - dir");
    assert_eq!(means(NAME, &indented), expected);
}

#[test]
fn what_is_no_transcript_is_refused_at_its_place() {
    let item = |payload: &str| format!("messages:\n- dir: c2s\n  payload: {payload}\n  t: 0\n");
    let of = "/messages/0";
    for (text, code, clause, line, column, pointer) in [
        (String::new(), Code::Truncated, "SRV-BYTES", 1, 1, ""),
        ("mess".to_owned(), Code::Truncated, "SRV-BYTES", 1, 1, ""),
        ("mess\n".to_owned(), Code::InvalidJson, "SRV-BYTES", 1, 1, ""),
        ("messages: []\n\0\0\0".to_owned(), Code::InvalidJson, "SRV-BYTES", 2, 1, ""),
        ("\0messages: []\n".to_owned(), Code::InvalidJson, "SRV-BYTES", 1, 1, ""),
        (item("{}\0"), Code::InvalidJson, "SRV-BYTES", 3, 14, ""),
        ("messages:\n- {\"dir\": \"c2s\", \"t\": 0]".to_owned(), Code::InvalidJson, "SRV-BYTES", 2, 24, of),
        ("messages:\n- {\"dir\": \"c2s\", \"t\": ".to_owned(), Code::Truncated, "SRV-BYTES", 2, 23, of),
        ("messages:".to_owned(), Code::Truncated, "SRV-BYTES", 1, 1, ""),
        ("messages: [".to_owned(), Code::Truncated, "SRV-BYTES", 1, 12, ""),
        ("messages: [}\n".to_owned(), Code::InvalidJson, "SRV-BYTES", 1, 12, ""),
        ("meta:\n  version: 1\n".to_owned(), Code::MissingEntries, "SRV-BYTES", 3, 1, ""),
        ("meta:\n  version: 2\n".to_owned(), Code::UnsupportedVersion, "SRV-BYTES", 1, 1, ""),
        ("messages: {}\n".to_owned(), Code::MissingEntries, "SRV-BYTES", 1, 1, ""),
        ("messages: []\nmessages: []\n".to_owned(), Code::AmbiguousMember, "SRV-TWICE", 2, 1, ""),
        ("messages: []\n---\n".to_owned(), Code::WrongDocument, "SRV-BYTES", 2, 1, ""),
        ("messages:\n- 7\n".to_owned(), Code::InvalidEntry, "SRV-BYTES", 2, 1, of),
        ("messages:\n- dir: up\n  t: 0\n".to_owned(), Code::MissingDir, "SRV-BYTES", 2, 1, of),
        ("messages:\n- dir: c2s\n  t: 0\n".to_owned(), Code::InvalidEntry, "SRV-BYTES", 2, 1, of),
        (
            "messages:\n- dir: c2s\n  dir: c2s\n  t: 0\n".to_owned(),
            Code::AmbiguousMember,
            "SRV-TWICE",
            2,
            1,
            of,
        ),
        ("messages:\n- dir: c2s\n  payload: {a: 1}\n".to_owned(), Code::Truncated, "SRV-BYTES", 2, 1, of),
        (item("{a: 1}"), Code::NotAMessage, "JRP-SHAPE", 3, 3, "/messages/0/payload"),
        (item("[]"), Code::Batch, "ENV-SINGLE", 3, 3, "/messages/0/payload"),
        (item("{a: 1"), Code::InvalidJson, "SRV-BYTES", 4, 4, of),
        (item("{a: 0x1F}"), Code::InvalidJson, "SRV-BYTES", 3, 16, of),
        (item("{a: *b}"), Code::InvalidJson, "SRV-BYTES", 3, 16, of),
        (item("{a: !!binary b}"), Code::InvalidJson, "SRV-BYTES", 3, 16, of),
        (item("{no: 1}"), Code::InvalidJson, "SRV-BYTES", 3, 13, of),
        (item("{[a]: 1}"), Code::InvalidJson, "SRV-BYTES", 3, 13, of),
        (format!("messages:\n{PING}  "), Code::NotAMessage, "", 0, 0, ""),
    ] {
        if code == Code::NotAMessage && clause.is_empty() {
            assert!(means(NAME, &text).contains("ping"));
            continue;
        }
        assert_eq!(rejects(NAME, &text), (code, clause, line, column, pointer.to_owned()), "{text}");
    }
    let noisy = item("{a: 1}") + PING;
    let meaning = read(NAME, &noisy, true).unwrap();
    assert_eq!((meaning.totals.events, meaning.totals.noise), (1, 1));
}

#[test]
fn what_is_written_is_json_that_yaml_reads_alike() {
    let said = r#"{"jsonrpc":"2.0","method":"a","params":{"n":[1.0e+5,-0,12],"s":"\/\"\\ é🚀","é":{}}}"#;
    let text = written("jsonrpc", said, NAME);
    assert!(text.contains(said), "{text}");
    // Over two lines, the item is read as YAML.
    let block = text.replace("- {\"dir\"", "- {\n  \"dir\"");
    assert_eq!(means(NAME, &block), means(NAME, &text).replace("\\/", "/"));
    let tagged = text.replace("- {\"dir\"", "- !!map\n  {\"dir\"");
    assert!(read(NAME, &tagged, false).is_err());
}

#[test]
fn it_is_told_from_its_lines() {
    for (text, name) in [
        (RECORDED, Some(NAME)),
        ("meta:\n  version: 1\nmessages:\n", Some(NAME)),
        ("messages:\n  - payload: {}\n    dir: s2c\n", Some(NAME)),
        ("messages:\n- role: user\n", None),
        ("dir: c2s\n", None),
    ] {
        let found = detect(&mut Input::new(&mut text.as_bytes()).unwrap()).unwrap();
        assert_eq!(found.map(|format| format.name), name, "{text}");
    }
    let hint = nearest("messages:\n- role: user\n").unwrap();
    assert!(hint.contains(NAME) && hint.contains("`dir`"), "{hint}");
}

proptest! {
    #[test]
    fn lines_mean_the_same_as_a_transcript(text in lines()) {
        prop_assert_eq!(means(NAME, &written("jsonrpc", &text, NAME)), means("jsonrpc", &text));
    }

    #[test]
    fn a_trace_means_the_same_as_a_transcript(text in trace()) {
        let once = written("mcp-replay", &text, NAME);
        prop_assert_eq!(means(NAME, &once), means("mcp-replay", &text));
        prop_assert_eq!(written(NAME, &once, NAME), once);
    }
}
