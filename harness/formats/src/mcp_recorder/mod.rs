//! `mcp-recorder`: the cassette of mcp-recorder (0.5, PyPI): `version`, `metadata`, and `interactions`, each with the
//! `request` of a client and the `response` that came to it.
//!
//! An interaction is read as its request and then its response. The recorder adds one when it is over, so that calls
//! which overlapped stand in the order of their ends. Of an event stream it keeps the first event alone as the
//! response, whatever that is: a call whose progress came first holds the notification and has no answer. Answers to a
//! GET, every later event, and batches are gone. `lifecycle` interactions (GET, DELETE) hold no message and are passed
//! over. A response under an HTTP error status that is not JSON-RPC at all carries no message (ENV-NULL).
//!
//! Cannot carry: times, HTTP but for a status, SSE event names and ids, the process, an authorization challenge. What a
//! server says by itself has no place with a request: it is written as an interaction without one, which mcp-recorder's
//! model of a cassette allows and its replay never sends. The recorder itself has put every message through Python's
//! JSON: of a member that stood twice only the last is there, `-0` is `0`, `1e400` has become `Infinity`, which is no
//! JSON.

mod read;
mod write;

use crate::format::{Format, Items};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    caveat: "mcp-recorder keeps the first event of a stream as its response, and interactions in the order of their ends",
    items: Items::List(&["interactions"]),
    messages: &[&["request"], &["response"]],
    ..Format::new(
        ["mcp-recorder", "mcp-recorder.json", "a cassette of mcp-recorder: requests, each with its response"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("interactions") && !["jsonrpc", "events", "entries", "log"].iter().any(|name| head.has(name))
}

#[cfg(test)]
mod tests {
    use crate::small::{lines, means, read, rejects, trace, written};
    use crate::{Input, OwnedContent, ReadOptions, Session, detect, find};
    use proptest::prelude::*;
    use transcript::rejection::Code;

    /// From `mcp-recorder record --target http://…` (mcp-recorder 0.5.0 with starlette 0.52.1, a server and a client of
    /// the Python SDK 2.3.0 over Streamable HTTP, 22 November 2026), cut to a call, a call with progress, and the ends.
    const RECORDED: &str = r#"{
  "version": "1.0",
  "metadata": {
    "recorded_at": "2026-11-22T04:57:38.982450+00:00",
    "server_url": "http://127.0.0.2:8931",
    "transport_type": "http",
    "protocol_version": "2025-11-25",
    "server_info": {"name": "bench", "version": ""}
  },
  "interactions": [
    {"type": "notification", "request": {"jsonrpc": "2.0", "method": "notifications/initialized"}, "response": null,
      "response_is_sse": false, "response_status": 202, "latency_ms": 3, "http_method": null, "http_path": null},
    {"type": "jsonrpc_request", "request": {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
      "params": {"name": "add", "arguments": {"a": 1, "b": 2}}},
      "response": {"jsonrpc": "2.0", "id": 2, "result": {"isError": false}},
      "response_is_sse": true, "response_status": 200, "latency_ms": 12, "http_method": null, "http_path": null},
    {"type": "jsonrpc_request", "request": {"jsonrpc": "2.0", "id": 4, "method": "tools/call",
      "params": {"name": "slow", "arguments": {"steps": 2}, "_meta": {"progressToken": 4}}},
      "response": {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 4, "progress": 1}},
      "response_is_sse": true, "response_status": 200, "latency_ms": 20, "http_method": null, "http_path": null},
    {"type": "lifecycle", "request": null, "response": null, "response_is_sse": false, "response_status": 200,
      "latency_ms": 2, "http_method": "DELETE", "http_path": "/mcp"}
  ]
}
"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    fn cassette(interactions: &str) -> String {
        format!(r#"{{"version":"1.0","interactions":[{interactions}]}}"#)
    }

    #[test]
    fn a_call_whose_progress_came_first_has_no_answer() {
        let meaning = read("mcp-recorder", RECORDED, false).unwrap();
        let expected = "{\"events\": [\n\
            {\"kind\": \"notification\", \"method\": \"notifications/initialized\"},\n\
            {\"kind\": \"tool_call\", \"id\": \"2\", \"tool\": \"add\", \"arguments\": {\"a\":1,\"b\":2}},\n\
            {\"kind\": \"result\", \"id\": \"2\", \"answers\": 1, \"result\": {\"isError\":false}},\n\
            {\"kind\": \"tool_call\", \"id\": \"4\", \"tool\": \"slow\", \"arguments\": {\"steps\":2}},\n\
            {\"kind\": \"notification\", \"method\": \"notifications/progress\", \"params\": {\"progressToken\":4,\"progress\":1}}\n\
            ],\n\"authorization_discovery\": null}\n";
        assert_eq!((&*meaning.text, meaning.totals.unanswered), (expected, 1));
    }

    #[test]
    fn what_carries_no_message_is_no_event() {
        let only = format!(r#"{{"request":{PING}}}"#);
        let lines = means("jsonrpc", PING);
        for silent in [
            r#"{"type":"lifecycle","http_method":"GET"}"#,
            r#"{"type":"jsonrpc_request","request":null,"response":null,"response_status":200}"#,
            r#"{"response":{"error":"invalid_token"},"response_status":401,"x":{"request":1}}"#,
            "{}",
        ] {
            for text in [format!("{silent},{only}"), format!("{only} , {silent}")] {
                assert_eq!(means("mcp-recorder", &cassette(&text)), lines, "{text}");
            }
        }
        let reversed =
            format!(r#" {{"interactions":[{{"response":{PONG},"request":{PING}}}],"version":"1.9"}} "#);
        assert_eq!(means("mcp-recorder", &reversed), means("jsonrpc", &format!("{PING}\n{PONG}")));
        assert_eq!(means("mcp-recorder", r#"{"interactions":[]}"#), means("jsonrpc", ""));
    }

    #[test]
    fn what_is_no_cassette_is_refused_at_its_place() {
        for (text, code, clause, column, pointer) in [
            ("", Code::Truncated, "SRV-BYTES", 1, ""),
            ("[]", Code::WrongDocument, "SRV-BYTES", 1, ""),
            ("{}", Code::MissingEntries, "SRV-BYTES", 3, ""),
            (r#"{"interactions":{}}"#, Code::MissingEntries, "SRV-BYTES", 17, "/interactions"),
            (r#"{"interactions":[],"interactions":[]}"#, Code::AmbiguousMember, "SRV-TWICE", 35, ""),
            (r#"{"version":"2.0","interactions":[]}"#, Code::UnsupportedVersion, "SRV-BYTES", 12, "/version"),
            (r#"{"version":1,"interactions":[]}"#, Code::UnsupportedVersion, "SRV-BYTES", 12, "/version"),
            (r#"{"interactions":[7]}"#, Code::InvalidEntry, "SRV-BYTES", 18, "/interactions/0"),
            (
                r#"{"interactions":[{"request":7}]}"#,
                Code::NotAMessage,
                "JRP-LINE",
                29,
                "/interactions/0/request",
            ),
            (
                r#"{"interactions":[{},{"request":[]}]}"#,
                Code::Batch,
                "ENV-SINGLE",
                32,
                "/interactions/1/request",
            ),
            (
                r#"{"interactions":[{"response":{"a":1}}]}"#,
                Code::NotAMessage,
                "JRP-SHAPE",
                30,
                "/interactions/0/response",
            ),
            (
                r#"{"interactions":[{"request":null,"request":1}]}"#,
                Code::AmbiguousMember,
                "SRV-TWICE",
                34,
                "/interactions/0",
            ),
            (
                r#"{"interactions":[{"request":{"jsonrpc":"2.0","id":[],"method":"a"}}]}"#,
                Code::InvalidId,
                "ID-REJECT",
                51,
                "/interactions/0/request",
            ),
            (r#"{"interactions":[{"request":null}"#, Code::Truncated, "SRV-BYTES", 34, ""),
            (r#"{"interactions":[]} x"#, Code::InvalidJson, "SRV-BYTES", 21, ""),
        ] {
            assert_eq!(
                rejects("mcp-recorder", text),
                (code, clause, 1, column, pointer.to_owned()),
                "{text}"
            );
        }
        let call = r#"{"request":{"jsonrpc":"2.0","method":"tools/call","id":7,"params":{"name":"n"}}}"#;
        let (code, clause, _, _, pointer) = rejects("mcp-recorder", &cassette(&format!("{call},{call}")));
        assert_eq!(
            (code, clause, &*pointer),
            (Code::DuplicateCallId, "COR-DUPLICATE", "/interactions/1/request")
        );
    }

    #[test]
    fn leniency_passes_over_what_is_no_message() {
        let text = cassette(&format!(r#"{{"request":42,"response":{{"a":1}}}},{{"request":{PING}}}"#));
        let meaning = read("mcp-recorder", &text, true).unwrap();
        assert_eq!((meaning.text, meaning.totals.noise), (means("jsonrpc", PING), 2));
        assert!(read("mcp-recorder", &cassette(r#"{"request":[]}"#), true).is_err());
    }

    #[test]
    fn an_answer_is_written_with_its_request_and_the_rest_by_itself() {
        let asked = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
        let text = written("jsonrpc", &[PING, PONG, asked, PONG, PING].join("\n"), "mcp-recorder");
        let interactions: Vec<_> = text.lines().filter(|line| line.contains("\"type\"")).collect();
        let starts = [
            format!(r#"    {{"type": "jsonrpc_request", "request": {PING}, "response": {PONG}, "#),
            format!(r#"    {{"type": "jsonrpc_request", "request": null, "response": {asked}, "#),
            format!(r#"    {{"type": "jsonrpc_request", "request": {PONG}, "response": null, "#),
            format!(r#"    {{"type": "jsonrpc_request", "request": {PING}, "response": null, "#),
        ];
        assert_eq!(interactions.len(), starts.len(), "{text}");
        for (interaction, start) in interactions.iter().zip(starts) {
            assert!(interaction.starts_with(&start), "{interaction}");
        }
        let mut bytes = text.as_bytes();
        let mut input = Input::new(&mut bytes).unwrap();
        let session =
            Session::read(find("mcp-recorder").unwrap(), &mut input, ReadOptions::default()).unwrap();
        let messages = session.entries.iter().filter(|entry| matches!(entry.what, OwnedContent::Message(..)));
        assert_eq!(messages.filter(|entry| entry.inferred).count(), 0);
    }

    #[test]
    fn it_is_told_from_its_members() {
        for (text, name) in [
            (RECORDED, Some("mcp-recorder")),
            (r#"{"interactions":[]}"#, Some("mcp-recorder")),
            (r#"{"interactions":[],"events":[]}"#, Some("inspector")),
        ] {
            let mut bytes = text.as_bytes();
            let found = detect(&mut Input::new(&mut bytes).unwrap()).unwrap();
            assert_eq!(found.map(|format| format.name), name, "{text}");
        }
    }

    proptest! {
        #[test]
        fn lines_mean_the_same_as_a_cassette(text in lines()) {
            prop_assert_eq!(means("mcp-recorder", &written("jsonrpc", &text, "mcp-recorder")), means("jsonrpc", &text));
        }

        #[test]
        fn a_trace_means_the_same_as_a_cassette(text in trace()) {
            let once = written("mcp-replay", &text, "mcp-recorder");
            prop_assert_eq!(means("mcp-recorder", &once), means("mcp-replay", &text));
            prop_assert_eq!(written("mcp-recorder", &once, "mcp-recorder"), once);
        }
    }
}
