//! `mcp-replay`: a trace of one server's stdio traffic, version 1 (clauses RPL-META to RPL-REDACT).
//!
//! A `meta` line, a line for each message with its time and its direction, an `end` line. The format grew under the
//! same version: lines of other directions and types belong to other producers and are passed over.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; times finer than a millisecond. What other
//! producers added, members of lines and lines that are passed over, is written again. A session that has no time for its first messages gets the time of its beginning for them.

mod frame;
mod read;
mod write;

pub use frame::trace_start;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, process: true, ..Capabilities::MESSAGES },
    messages: &[&["raw"]],
    scripts: &[None],
    live: true,
    paired: true,
    clauses: &["RPL-"],
    ..Format::new(
        ["mcp-replay", "mcp-replay.jsonl", "a trace of stdio traffic, with times and directions"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

/// A trace that lost its head is still one: the reader says what is missing.
fn sniff(head: &Head) -> bool {
    head.text("type") == Some("meta") || is_like(head) && why_not(head).is_none()
}

fn is_like(head: &Head) -> bool {
    head.has("t") && ["type", "dir", "raw"].iter().any(|name| head.has(name))
}

/// Why a file that looks a little like one of these is none.
pub(crate) fn why_not(head: &Head) -> Option<&'static str> {
    let known = |dir: &str| matches!(dir, "in" | "out" | "event" | "command" | "telemetry");
    let foreign = !head.has("type") && head.text("dir").is_some_and(|dir| !known(dir));
    (foreign && (is_like(head) || head.has("raw") || head.has("msg")))
        .then_some("the `dir` of its first line is neither `in` nor `out`")
}

#[cfg(test)]
mod tests {
    use crate::small::{lines, means, read, rejects, trace, written};
    use crate::{Head, detect};
    use proptest::prelude::*;
    use transcript::rejection::Code;

    const META: &str =
        r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"l","command":["c"]}"#;
    const PING: &str =
        r#"{"t":"2026-05-12T23:00:00.100Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"ping"}}"#;
    const PONG: &str = r#"{"raw":{"jsonrpc":"2.0","id":0,"result":{}},"dir":"out"}"#;
    const END: &str = r#"{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#;
    const PAIR: &str = "{\"events\": [\n{\"kind\": \"request\", \"id\": \"0\", \"method\": \"ping\"},\n\
        {\"kind\": \"result\", \"id\": \"0\", \"answers\": 0, \"result\": {}}\n],\n\
        \"authorization_discovery\": null}\n";

    fn trace_of(lines: &[&str]) -> String {
        lines.join("\n")
    }

    #[test]
    fn message_lines_are_read_and_others_are_passed_over() {
        assert_eq!(means("mcp-replay", &trace_of(&[META, PING, PONG, END])), PAIR);
        let others = [
            META,
            r#"{"t":"x","type":"turn","role":"user","blocks":[{"type":"text"}]}"#,
            r#"{"dir":"event","raw":{"id":0,"result":1},"t":"2026-05-12T23:00:00Z"}"#,
            r#"{"raw":{"jsonrpc":"1.0","id":{}},"raw":[],"dir":"telemetry"}"#,
            r#"{"raw":42,"dir":"command"}"#,
            PING,
            r#"{"type":"mark","raw":{"jsonrpc":"2.0","id":0,"result":7}}"#,
            r#"{"corr_id":"c"}"#,
            "",
            r#" {"type":null,"kind":"llm.request","dir":"\u006fut","raw":{"jsonrpc":"2.0","id":0,"result":{}},"attest":{}} "#,
            END,
            r#"{"type":"turn"}"#,
        ];
        assert_eq!(means("mcp-replay", &trace_of(&others)), PAIR);
        // No `end`: a recorder that was killed.
        assert_eq!(means("mcp-replay", &trace_of(&[META, PING, PONG])), PAIR);
    }

    #[test]
    fn ids_belong_to_their_requestor() {
        let asked_back = r#"{"dir":"out","raw":{"jsonrpc":"2.0","id":0,"method":"roots/list"}}"#;
        let reply = r#"{"dir":"in","raw":{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}}"#;
        let text = means("mcp-replay", &trace_of(&[META, PING, asked_back, reply, PONG]));
        let bound: Vec<_> =
            text.lines().filter_map(|line| Some(line.split_once("\"answers\": ")?.1)).collect();
        assert!(bound[0].starts_with('1') && bound[1].starts_with('0'), "{text}");
    }

    #[test]
    fn what_is_no_trace_is_refused_at_its_place() {
        let long = r#"{"dir":"in","raw":{"jsonrpc":"2.0","id":[],"method":"ping"}}"#;
        for (lines, code, clause, line, column, pointer) in [
            (&[""][..], Code::MissingMeta, "RPL-META", 1, 1, ""),
            (&[PING], Code::MissingMeta, "RPL-META", 1, 1, ""),
            (&[r#"{"type":"turn"}"#, META], Code::MissingMeta, "RPL-META", 1, 1, ""),
            (
                &[r#"{"v":1,"type":"meta","startedAt":"x","label":"l"}"#],
                Code::MissingMeta,
                "RPL-META",
                1,
                1,
                "",
            ),
            (
                &[r#"{"type":"meta","startedAt":"x","label":"l","command":[]}"#],
                Code::MissingMeta,
                "RPL-META",
                1,
                1,
                "",
            ),
            (&[META, "", META], Code::SecondMeta, "RPL-META", 3, 1, ""),
            (&[r#"{"v":2,"type":"meta"}"#], Code::UnsupportedVersion, "RPL-VERSION", 1, 6, "/v"),
            (&[r#"{"v":"1","type":"meta"}"#], Code::UnsupportedVersion, "RPL-VERSION", 1, 6, "/v"),
            (&[r#"{"v":1,"type":"meta","v":1}"#], Code::AmbiguousMember, "SRV-TWICE", 1, 22, ""),
            (&[META, r#"{"dir":"in","t":"x"}"#], Code::MissingRaw, "RPL-MESSAGE", 2, 1, ""),
            (&[META, r#"{"raw":{}}"#], Code::MissingDir, "RPL-MESSAGE", 2, 1, ""),
            (&[META, r#"{"raw":{},"dir":null}"#], Code::MissingDir, "RPL-MESSAGE", 2, 1, ""),
            (&[META, END, PING], Code::AfterEnd, "RPL-END", 3, 1, ""),
            (&[META, r#"{"dir":"in","raw":42}"#], Code::NotAMessage, "RPL-NOISE", 2, 19, "/raw"),
            (&[META, r#"{"dir":"in","raw":null}"#], Code::NotAMessage, "RPL-NOISE", 2, 19, "/raw"),
            (&[META, r#"{"dir":"in","raw":"{}"}"#], Code::NotAMessage, "RPL-NOISE", 2, 19, "/raw"),
            (
                &[META, r#"{"dir":"in","raw":{"id":0,"msg":"é"}}"#],
                Code::NotAMessage,
                "RPL-NOISE",
                2,
                19,
                "/raw",
            ),
            (
                &[META, r#"{"dir":"in","raw":{"jsonrpc":"2.0"}}"#],
                Code::NotAMessage,
                "JRP-SHAPE",
                2,
                19,
                "/raw",
            ),
            (&[META, r#"{"raw":[],"dir":"in"}"#], Code::Batch, "RPL-NOISE", 2, 8, "/raw"),
            (&[META, long], Code::InvalidId, "ID-REJECT", 2, 41, "/raw"),
            (&[META, r#"{"dir":"in","dir":"out"}"#], Code::AmbiguousMember, "SRV-TWICE", 2, 13, ""),
            (&[META, r#"{"raw":1,"r\u0061w":1,"dir":"in"}"#], Code::AmbiguousMember, "SRV-TWICE", 2, 10, ""),
            (&[META, r#"{"type":"a","type":"b"}"#], Code::AmbiguousMember, "SRV-TWICE", 2, 13, ""),
            (&[META, r#"{"type":7}"#], Code::WrongType, "SRV-BYTES", 2, 9, "/type"),
            (&[META, "[]", PING], Code::NotAMessage, "JRP-LINE", 2, 1, ""),
            (&[META, "listening"], Code::InvalidJson, "SRV-BYTES", 2, 1, ""),
            (&[META, r#"{"dir":"event","raw":{"a":}}"#], Code::InvalidJson, "SRV-BYTES", 2, 27, ""),
            (&[META, r#"{"dir":"in","#, PING], Code::InvalidJson, "SRV-BYTES", 2, 13, ""),
            (&[META, r#"{"dir":"in","raw":{"js"#], Code::Truncated, "SRV-BYTES", 2, 23, ""),
        ] {
            let text = trace_of(lines);
            let expected = (code, clause, line, column, pointer.to_owned());
            assert_eq!(rejects("mcp-replay", &text), expected, "{text}");
        }
    }

    #[test]
    fn a_last_line_that_is_cut_is_truncated() {
        let text = trace_of(&[META, PING, PONG]);
        for cut in text.len() - PONG.len() + 1..text.len() {
            assert_eq!(rejects("mcp-replay", &text[..cut]).0, Code::Truncated, "{}", &text[..cut]);
        }
    }

    #[test]
    fn a_second_call_with_an_id_is_refused_at_that_id() {
        let call =
            r#"{"dir":"in","raw":{"jsonrpc":"2.0","method":"tools/call","id":1,"params":{"name":"n"}}}"#;
        let expected = (Code::DuplicateCallId, "COR-DUPLICATE", 3, 63, "/raw".to_owned());
        assert_eq!(rejects("mcp-replay", &trace_of(&[META, call, call])), expected);
    }

    #[test]
    fn leniency_passes_over_noise_and_nothing_else() {
        let noisy = trace_of(&["listening", PING, "[]", r#"{"dir":"in","raw":true}"#, PONG, "{\"dir\""]);
        let meaning = read("mcp-replay", &noisy, true).unwrap();
        assert_eq!((&*meaning.text, meaning.totals.noise), (PAIR, 5));
        for faulty in [
            trace_of(&["listening"]),
            trace_of(&[META, r#"{"dir":"in","raw":[]}"#]),
            trace_of(&[META, r#"{"dir":"in","raw":{"jsonrpc":"2.0","method":7}}"#]),
            trace_of(&[META, END, PING]),
            trace_of(&[PING, META]),
        ] {
            assert!(read("mcp-replay", &faulty, true).is_err(), "{faulty}");
        }
    }

    #[test]
    fn a_session_goes_out_with_its_own_head_and_end() {
        let text = trace_of(&[META, PING, PONG, END]);
        let pong =
            r#"{"t":"2026-05-12T23:00:00.100Z","dir":"out","raw":{"jsonrpc":"2.0","id":0,"result":{}}}"#;
        let expected = trace_of(&[META, PING, pong, END, ""]);
        assert_eq!(written("mcp-replay", &text, "mcp-replay"), expected);
    }

    #[test]
    fn what_other_producers_added_goes_out_again() {
        let meta = META.replace("\"v\":1", "\"v\":1,\"source\":\"tape@2\"");
        let ping = PING.replace(
            "\"raw\"",
            "\"kind\":\"mcp.request\",\"corr_id\":\"c\",\"attest\":{\"n\":1e400},\"raw\"",
        );
        let turn = r#"{"t":"2026-05-12T23:00:00.200Z","type":"turn","role":"user","blocks":[]}"#;
        let event = r#"{"t":"2026-05-12T23:00:00.300Z","dir":"event","kind":"stdio.noise","raw":{"id":0}}"#;
        let text = trace_of(&[&meta, &ping, turn, event, END, ""]);
        assert_eq!(written("mcp-replay", &text, "mcp-replay"), text);
        // Another format has no place for it, and that is said.
        let session = crate::small::session("mcp-replay", &text);
        let lost = |to: &str| {
            let losses = session.losses(crate::find(to).unwrap());
            losses
                .into_iter()
                .map(|loss| loss.what)
                .filter(|what| what.contains("added") || what.contains("passed"))
                .collect::<Vec<_>>()
        };
        assert_eq!(lost("mcp-replay"), Vec::<String>::new());
        let expected =
            ["members that other producers added to the lines of messages (1)", "what was passed over (2)"];
        assert_eq!(lost("har"), expected);
    }

    #[test]
    fn nobody_believes_times_that_a_converter_made_up() {
        let lines = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        let trace = written("jsonrpc", lines, "mcp-replay");
        assert!(trace.contains("\"times\""), "{trace}");
        let session = crate::small::session("mcp-replay", &trace);
        assert!(session.entries.iter().all(|entry| entry.time.is_none()), "{session:?}");
        assert_eq!(written("mcp-replay", &trace, "mcp-replay"), trace, "the mark stays");
        let real = crate::small::session("mcp-replay", &trace.replace(",\"times\"", ""));
        assert!(real.entries.iter().all(|entry| entry.time.is_some()), "{real:?}");
    }

    #[test]
    fn a_session_without_head_and_end_gets_plain_ones() {
        let lines = "{\"jsonrpc\": \"2.0\", \"id\": 1.0, \"method\": \"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":1.0,\"result\":{}}";
        let expected = r#"{"v":1,"type":"meta","startedAt":"1970-01-01T00:00:00.000Z","label":"converted","command":[],"_made_up":["start","times"]}
{"t":"1970-01-01T00:00:00.000Z","dir":"in","raw":{"jsonrpc":"2.0","id":1.0,"method":"ping"}}
{"t":"1970-01-01T00:00:00.000Z","dir":"out","raw":{"jsonrpc":"2.0","id":1.0,"result":{}}}
{"t":"1970-01-01T00:00:00.000Z","type":"end","reason":"imported","durationMs":0,"_made_up":["end"]}
"#;
        assert_eq!(written("jsonrpc", lines, "mcp-replay"), expected);
        let killed = written("mcp-replay", &trace_of(&[META, PING]), "mcp-replay");
        let end = r#"{"t":"2026-05-12T23:00:00.100Z","type":"end","reason":"imported","durationMs":100,"_made_up":["end"]}"#;
        assert_eq!(killed.lines().last(), Some(end));
    }

    #[test]
    fn a_trace_is_told_from_its_first_line_even_without_its_head() {
        for line in [META, PING, END, r#"{"t":"x","type":"turn"}"#] {
            let mut bytes = line.as_bytes();
            let found = detect(&mut crate::Input::new(&mut bytes).unwrap()).unwrap();
            assert_eq!(found.map(|format| format.name), Some("mcp-replay"), "{line}");
        }
        assert!(!super::sniff(&Head::default()));
        let foreign = r#"{"t":1,"dir":"up","raw":{"jsonrpc":"2.0","method":"ping"}}"#;
        for (text, nearest) in
            [(foreign, "mcp-replay"), ("[2025-01-02] up", "inspector"), ("[26682] up", "inspector")]
        {
            let found = detect(&mut crate::Input::new(&mut text.as_bytes()).unwrap()).unwrap();
            assert!(found.is_none(), "{text} is told as {found:?}");
            let hint = crate::nearest(text).unwrap();
            assert!(hint.starts_with(nearest), "{hint}");
        }
    }

    proptest! {
        #[test]
        fn lines_mean_the_same_as_a_trace(text in lines()) {
            prop_assert_eq!(means("mcp-replay", &written("jsonrpc", &text, "mcp-replay")), means("jsonrpc", &text));
        }

        #[test]
        fn a_trace_written_again_means_the_same_and_stays_as_it_is(text in trace()) {
            let once = written("mcp-replay", &text, "mcp-replay");
            prop_assert_eq!(means("mcp-replay", &once), means("mcp-replay", &text));
            prop_assert_eq!(written("mcp-replay", &once, "mcp-replay"), once);
        }
    }
}
