//! `mcporter`: the NDJSON of `mcporter record` (0.12, npm): each message as mcporter's client sent or got it, with
//! `"_meta": {"dir": "send", "server": "bench", "ts": "…"}` put into its outermost object.
//!
//! That `_meta` is the recorder's and is taken off before anybody sees the message. Lines of the dir `lifecycle`, such
//! as `$transport/start`, look like notifications and were never sent: they are passed over, and so is any other dir
//! but `send` and `recv`, as mcporter's own replay does.
//!
//! mcporter writes all servers of a run into one file. Their ids have nothing to do with each other, and a transcript
//! is one session: a file with a second server is refused by both names, with the way to take one out. Several
//! connections to one server are read as the one session of the file, since an attempt at HTTP that was followed by one
//! at SSE looks the same; where they call tools under the same id, COR-DUPLICATE rejects the file.
//!
//! Cannot carry: a member `_meta` of a message's own outermost object, which the recorder overwrites; anything of HTTP
//! or SSE, and so no authorization challenge; the process. A server's name is not carried over from other formats. The
//! recorder itself has put every message through JavaScript's JSON: `9007199254740993` is another number, `1.0` is `1`,
//! `1e400` is `null`, of a member that stood twice the last is there, and what a server printed beside its messages is
//! gone.

mod read;
mod write;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    messages: &[&[]],
    ..Format::new(
        ["mcporter", "mcporter.jsonl", "NDJSON of mcporter, of one server, with times and directions"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

/// The first line of a recording is the start of a transport.
fn sniff(head: &Head) -> bool {
    head.has("_meta") && head.text("method").is_some_and(|method| method.starts_with("$transport/"))
}

#[cfg(test)]
mod tests {
    use crate::small::{lines, means, read, rejects, trace, written};
    use crate::{Input, ReadOptions, detect, find};
    use proptest::prelude::*;
    use transcript::rejection::Code;
    use transcript::session::{Content, Side};

    /// From `mcporter record` (mcporter 0.12.3 on Node 24.21, a server of the Python SDK 2.3.0, 22 November 2026):
    /// `MCPORTER_RECORD=one mcporter call bench.slow steps=2`. The listing of tools is cut.
    const RECORDED: &str = r#"{"jsonrpc":"2.0","method":"$transport/start","_meta":{"dir":"lifecycle","server":"bench","ts":"2026-11-22T04:50:40.905Z"}}
{"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"mcporter","version":"0.12.3"}},"jsonrpc":"2.0","id":0,"_meta":{"dir":"send","server":"bench","ts":"2026-11-22T04:50:40.918Z"}}
{"jsonrpc":"2.0","id":0,"result":{"capabilities":{},"protocolVersion":"2025-11-25","serverInfo":{"name":"bench","version":""}},"_meta":{"dir":"recv","server":"bench","ts":"2026-11-22T04:50:42.679Z"}}
{"method":"notifications/initialized","jsonrpc":"2.0","_meta":{"dir":"send","server":"bench","ts":"2026-11-22T04:50:42.690Z"}}
{"method":"tools/call","params":{"name":"slow","arguments":{"steps":2}},"jsonrpc":"2.0","id":2,"_meta":{"dir":"send","server":"bench","ts":"2026-11-22T04:50:42.718Z"}}
{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"done","type":"text"}],"isError":false},"_meta":{"dir":"recv","server":"bench","ts":"2026-11-22T04:50:42.725Z"}}
{"jsonrpc":"2.0","method":"$transport/close","_meta":{"dir":"lifecycle","server":"bench","ts":"2026-11-22T04:50:42.729Z"}}
"#;
    const START: &str = r#"{"jsonrpc":"2.0","method":"$transport/start","_meta":{"dir":"lifecycle","server":"s","ts":"1970-01-01T00:00:01.000Z"}}"#;
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping","_meta":{"dir":"send","server":"s","ts":"1970-01-01T00:00:02.000Z"}}"#;

    /// What a reading hands on of messages: text, time and side.
    fn messages(text: &str) -> Vec<(String, Option<i64>, Option<Side>)> {
        let mut found = Vec::new();
        let mut bytes = text.as_bytes();
        let mut input = Input::new(&mut bytes).unwrap();
        let read = (find("mcporter").unwrap().read)(&mut input, ReadOptions::default(), &mut |entry| {
            if let Content::Message(message) = &entry.content {
                found.push((message.text().to_owned(), entry.time, entry.side));
            }
            Ok(())
        });
        read.unwrap();
        found
    }

    #[test]
    fn a_recording_is_read_without_what_the_recorder_added() {
        let meaning = read("mcporter", RECORDED, false).unwrap();
        let expected = "{\"events\": [\n\
            {\"kind\": \"request\", \"id\": \"0\", \"method\": \"initialize\", \"params\": {\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"mcporter\",\"version\":\"0.12.3\"}}},\n\
            {\"kind\": \"result\", \"id\": \"0\", \"answers\": 0, \"result\": {\"capabilities\":{},\"protocolVersion\":\"2025-11-25\",\"serverInfo\":{\"name\":\"bench\",\"version\":\"\"}}},\n\
            {\"kind\": \"notification\", \"method\": \"notifications/initialized\"},\n\
            {\"kind\": \"tool_call\", \"id\": \"2\", \"tool\": \"slow\", \"arguments\": {\"steps\":2}},\n\
            {\"kind\": \"result\", \"id\": \"2\", \"answers\": 3, \"result\": {\"content\":[{\"text\":\"done\",\"type\":\"text\"}],\"isError\":false}}\n\
            ],\n\"authorization_discovery\": null}\n";
        assert_eq!((&*meaning.text, meaning.totals.noise), (expected, 0));
        let (text, time, side) = &messages(RECORDED)[2];
        assert_eq!(text, r#"{"method":"notifications/initialized","jsonrpc":"2.0"}"#);
        assert_eq!((*time, *side), (Some(1_795_323_042_690), Some(Side::Client)));
    }

    #[test]
    fn the_recorders_member_goes_wherever_it_stands() {
        let message = r#"{"jsonrpc":"2.0","method":"a"}"#;
        for line in [
            r#" {"_meta":{"dir":"recv"} , "jsonrpc":"2.0","method":"a"} "#,
            r#"{"jsonrpc":"2.0" , "_m\u0065ta" : {"x":1,"dir":"r\u0065cv","ts":7} ,"method":"a"}"#,
            r#"{"jsonrpc":"2.0","method":"a","_meta":{"dir":"recv","server":null}}"#,
        ] {
            let (text, time, side) = messages(line).remove(0);
            assert_eq!(
                (text.replace(' ', ""), time, side),
                (message.into(), None, Some(Side::Server)),
                "{line}"
            );
        }
    }

    #[test]
    fn what_is_no_recording_is_refused_at_its_place() {
        for (bad, code, clause, column) in [
            ("[]", Code::NotAMessage, "JRP-LINE", 1),
            ("ready", Code::InvalidJson, "JRP-LINE", 1),
            ("{}", Code::NotAMessage, "JRP-LINE", 1),
            (r#"{"_meta":{"dir":"recv"}}"#, Code::NotAMessage, "JRP-SHAPE", 1),
            (r#"{"jsonrpc":"2.0","method":"a"}"#, Code::MissingDir, "SRV-BYTES", 1),
            (r#"{"jsonrpc":"2.0","method":"a","_meta":7}"#, Code::MissingDir, "SRV-BYTES", 31),
            (r#"{"jsonrpc":"2.0","method":"a","_meta":{"dir":1}}"#, Code::MissingDir, "SRV-BYTES", 31),
            (r#"{"_meta":{"dir":"send"},"_meta":{}}"#, Code::AmbiguousMember, "SRV-TWICE", 25),
            (r#"{"_meta":{"dir":"send","dir":"recv"}}"#, Code::AmbiguousMember, "SRV-TWICE", 2),
            (r#"{"_meta":{"dir":"send"},"jsonrpc":"2.0","id":[]}"#, Code::InvalidId, "ID-REJECT", 46),
            (r#"{"id":[],"_meta":{"dir":"send"},"jsonrpc":"2.0"}"#, Code::InvalidId, "ID-REJECT", 7),
            (r#"{"jsonrpc":"2.0","id":1,"_meta"#, Code::Truncated, "SRV-BYTES", 31),
        ] {
            let text = format!("{START}\n{bad}");
            assert_eq!(rejects("mcporter", &text), (code, clause, 2, column, String::new()), "{bad}");
        }
        assert_eq!(rejects("mcporter", "").0, Code::Truncated);
        let call =
            r#"{"_meta":{"dir":"send"},"jsonrpc":"2.0","method":"tools/call","id":7,"params":{"name":"n"}}"#;
        let expected = (Code::DuplicateCallId, "COR-DUPLICATE", 2, 68, String::new());
        assert_eq!(rejects("mcporter", &format!("{call}\n{call}")), expected);
    }

    #[test]
    fn several_servers_are_refused_by_name() {
        let text = format!("{START}\n{PING}\n{}\n", PING.replace("\"s\"", "\"other\\\"\""));
        let rejection = read("mcporter", &text, true).unwrap_err().to_string();
        for words in ["`s`", "`other\\\"`", "jq -c 'select(._meta.server == \"s\")'"] {
            assert!(rejection.contains(words), "{rejection}");
        }
        let (code, clause, line, column, _) = rejects("mcporter", &text);
        assert_eq!((code, clause, line, column), (Code::WrongDocument, "EQ-COUNT", 3, 41));
        assert!(means("mcporter", &format!("{START}\n{PING}\n{START}\n{PING}\n")).contains("ping"));
    }

    #[test]
    fn a_recording_written_again_stays_as_it_is() {
        let once = written("mcporter", RECORDED, "mcporter");
        let moved = RECORDED.replace(r#""server":"bench""#, r#""server":"converted""#);
        // The start of a session that is written is its first message.
        let moved: Vec<_> = moved.lines().skip(1).take(5).collect();
        assert_eq!(once.lines().skip(1).take(5).collect::<Vec<_>>(), moved);
        assert_eq!(written("mcporter", &once, "mcporter"), once);
        let own = r#"{"_meta":{"dir":"mine"},"jsonrpc":"2.0","_meta":1,"method":"a"}"#;
        let expected = r#"{"jsonrpc":"2.0","method":"a","_meta":{"dir":"send","server":"converted","ts":"1970-01-01T00:00:00.000Z"}}"#;
        assert_eq!(written("jsonrpc", own, "mcporter").lines().nth(1), Some(expected));
    }

    #[test]
    fn it_is_told_from_its_first_line() {
        for (line, name) in [
            (START, Some("mcporter")),
            (PING, Some("jsonrpc")),
            (r#"{"jsonrpc":"2.0","method":"$transport/start"}"#, Some("jsonrpc")),
        ] {
            let mut bytes = line.as_bytes();
            let found = detect(&mut Input::new(&mut bytes).unwrap()).unwrap();
            assert_eq!(found.map(|format| format.name), name, "{line}");
        }
    }

    proptest! {
        #[test]
        fn lines_mean_the_same_as_a_recording(text in lines()) {
            prop_assert_eq!(means("mcporter", &written("jsonrpc", &text, "mcporter")), means("jsonrpc", &text));
        }

        #[test]
        fn a_trace_means_the_same_as_a_recording(text in trace()) {
            let once = written("mcp-replay", &text, "mcporter");
            prop_assert_eq!(means("mcporter", &once), means("mcp-replay", &text));
            prop_assert_eq!(written("mcporter", &once, "mcporter"), once);
        }
    }
}
