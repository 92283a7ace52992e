//! `mcp-rec`: what `mcp-rec record` (0.1, PyPI) keeps of a server's stdio traffic, a line a message:
//! `{"ts": 1795322377.386, "dir": "client->server", "msg": {…}}`.
//!
//! A line of a server's stdout that is not JSON stands there as `{"_raw": …, "_unparsed": true}`. It is not a message
//! (RPL-NOISE): it rejects the file, or is passed over where leniency is asked for.
//!
//! The recorder appends to its file and marks no beginning, so that two recordings under one name are one file in which
//! nothing tells them apart. It is read as the one session that a transcript is; where the second recording calls a
//! tool under an id of the first, which is nearly always, COR-DUPLICATE rejects it at that line.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the command and how it ended; times finer
//! than a millisecond are not written. The recorder itself has put every message through Python's JSON: of a member
//! that stood twice only the last is there, `-0` is `0`, `1e400` has become `Infinity`, which is not JSON, a line with
//! nothing but `null` is gone, and bytes that were not UTF-8 are U+FFFD.

mod read;
mod write;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    caveat: "mcp-rec appends without a mark: two recordings under one name are read as one session",
    messages: &[&["msg"]],
    ..Format::new(
        ["mcp-rec", "mcp-rec.jsonl", "lines of mcp-rec, with times and directions"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("msg") && read::DIRECTIONS.iter().any(|(name, _)| head.text("dir") == Some(name))
}

#[cfg(test)]
mod tests {
    use crate::small::{lines, means, read, rejects, trace, written};
    use crate::{Input, detect};
    use proptest::prelude::*;
    use transcript::rejection::Code;

    /// From `mcp-rec record -- python server.py` (mcp-rec 0.1.1, a server and a client of the Python SDK 2.3.0, 22
    /// November 2026): the handshake's noise and a call with progress; the rest is cut.
    const RECORDED: &str = r#"{"ts": 1795322377.3510334, "dir": "server->client", "msg": {"_raw": "bench server ready", "_unparsed": true}}
{"ts": 1795322377.4732823, "dir": "client->server", "msg": {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "slow", "arguments": {"steps": 2}, "_meta": {"progressToken": 4}}}}
{"ts": 1795322377.4750726, "dir": "server->client", "msg": {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 4, "progress": 1, "total": 2}}}
{"ts": 1795322377.4764144, "dir": "server->client", "msg": {"jsonrpc": "2.0", "id": 4, "result": {"content": [{"text": "done", "type": "text"}], "isError": false, "structuredContent": {"result": "done"}}}}
"#;
    const PING: &str =
        r#"{"ts": 1.5, "dir": "client->server", "msg": {"jsonrpc": "2.0", "id": 0, "method": "ping"}}"#;
    const PONG: &str = r#"{"msg":{"jsonrpc":"2.0","id":0,"result":{}},"dir":"server->client","ts":"later"}"#;

    #[test]
    fn a_recording_is_read_and_its_noise_is_refused_or_passed_over() {
        assert_eq!(rejects("mcp-rec", RECORDED), (Code::NotAMessage, "RPL-NOISE", 1, 60, "/msg".to_owned()));
        let meaning = read("mcp-rec", RECORDED, true).unwrap();
        let expected = "{\"events\": [\n\
            {\"kind\": \"tool_call\", \"id\": \"4\", \"tool\": \"slow\", \"arguments\": {\"steps\":2}},\n\
            {\"kind\": \"notification\", \"method\": \"notifications/progress\", \"params\": {\"progressToken\":4,\"progress\":1,\"total\":2}},\n\
            {\"kind\": \"result\", \"id\": \"4\", \"answers\": 0, \"result\": {\"content\":[{\"text\":\"done\",\"type\":\"text\"}],\"isError\":false,\"structuredContent\":{\"result\":\"done\"}}}\n\
            ],\n\"authorization_discovery\": null}\n";
        assert_eq!((&*meaning.text, meaning.totals.noise), (expected, 1));
    }

    #[test]
    fn a_second_recording_in_the_file_is_refused_at_its_first_known_call() {
        let session = RECORDED.split_once('\n').unwrap().1;
        let (code, clause, line, _, pointer) = rejects("mcp-rec", &format!("{session}{session}"));
        assert_eq!((code, clause, line, &*pointer), (Code::DuplicateCallId, "COR-DUPLICATE", 4, "/msg"));
        let pings = format!("{PING}\n{PONG}\n");
        assert!(means("mcp-rec", &format!("{pings}{pings}")).contains("\"answers\": 2"));
    }

    #[test]
    fn ids_belong_to_their_requestor_and_members_come_in_any_order() {
        let asked = PING.replace("client->server", "server->client");
        let reply = PONG.replace("server->client", "client->server");
        let text = means("mcp-rec", &[PING, &asked, &reply, PONG].join("\r\n\r\n"));
        let bound: Vec<_> = text.split("\"answers\": ").skip(1).map(|rest| &rest[..1]).collect();
        assert_eq!(bound, ["1", "0"]);
        assert_eq!(means("mcp-rec", ""), means("jsonrpc", ""));
    }

    #[test]
    fn what_is_no_recording_is_refused_at_its_place() {
        for (bad, code, clause, column, pointer) in [
            ("[]", Code::NotAMessage, "JRP-LINE", 1, ""),
            ("ready", Code::InvalidJson, "JRP-LINE", 1, ""),
            (r#"{"ts":1}"#, Code::NotAMessage, "JRP-LINE", 1, ""),
            (r#"{"dir":"client->server"}"#, Code::MissingRaw, "SRV-BYTES", 1, ""),
            (r#"{"msg":{}}"#, Code::MissingDir, "SRV-BYTES", 1, ""),
            (r#"{"msg":{},"dir":"in"}"#, Code::MissingDir, "SRV-BYTES", 17, "/dir"),
            (r#"{"msg":{},"dir":null}"#, Code::MissingDir, "SRV-BYTES", 17, "/dir"),
            (r#"{"msg":{},"dir":1,"d\u0069r":1}"#, Code::AmbiguousMember, "SRV-TWICE", 19, ""),
            (r#"{"msg":{},"msg":{},"dir":""}"#, Code::AmbiguousMember, "SRV-TWICE", 11, ""),
            (r#"{"dir":"client->server","msg":42}"#, Code::NotAMessage, "RPL-NOISE", 31, "/msg"),
            (
                r#"{"dir":"client->server","msg":{"jsonrpc":"2.0"}}"#,
                Code::NotAMessage,
                "JRP-SHAPE",
                31,
                "/msg",
            ),
            (r#"{"dir":"client->server","msg":[]}"#, Code::Batch, "RPL-NOISE", 31, "/msg"),
            (r#"{"dir":"client->server","msg":{"a":Infinity}}"#, Code::InvalidJson, "JRP-LINE", 36, ""),
            (r#"{"dir":"client->server","ms"#, Code::Truncated, "SRV-BYTES", 28, ""),
        ] {
            let text = format!("{PING}\n{bad}");
            assert_eq!(rejects("mcp-rec", &text), (code, clause, 2, column, pointer.to_owned()), "{bad}");
        }
    }

    #[test]
    fn a_recording_written_again_keeps_its_times_to_the_millisecond() {
        let session = RECORDED.split_once('\n').unwrap().1;
        let once = written("mcp-rec", session, "mcp-rec");
        assert!(
            once.starts_with(r#"{"ts": 1795322377.473, "dir": "client->server", "msg": {"jsonrpc":"2.0","#)
        );
        assert_eq!(written("mcp-rec", &once, "mcp-rec"), once);
        let before = r#"{"ts": -1.25, "dir": "server->client", "msg": {"jsonrpc":"2.0","method":"a"}}"#;
        assert_eq!(written("mcp-rec", before, "mcp-rec"), format!("{}\n", before.replace("1.25", "1.250")));
    }

    #[test]
    fn it_is_told_from_its_first_line() {
        for (line, name) in [
            (PING, Some("mcp-rec")),
            (RECORDED, Some("mcp-rec")),
            (r#"{"ts":1,"dir":"client->server"}"#, None),
            (r#"{"ts":1,"dir":"in","msg":{}}"#, None),
            (r#"{"t":1,"dir":"in","msg":{}}"#, Some("mcp-replay")),
        ] {
            let mut bytes = line.as_bytes();
            let found = detect(&mut Input::new(&mut bytes).unwrap()).unwrap();
            assert_eq!(found.map(|format| format.name), name, "{line}");
        }
    }

    proptest! {
        #[test]
        fn lines_mean_the_same_as_a_recording(text in lines()) {
            prop_assert_eq!(means("mcp-rec", &written("jsonrpc", &text, "mcp-rec")), means("jsonrpc", &text));
        }

        #[test]
        fn a_trace_means_the_same_as_a_recording(text in trace()) {
            let once = written("mcp-replay", &text, "mcp-rec");
            prop_assert_eq!(means("mcp-rec", &once), means("mcp-replay", &text));
            prop_assert_eq!(written("mcp-rec", &once, "mcp-rec"), once);
        }
    }
}
