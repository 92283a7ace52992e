//! `vscode-log`: the log that VS Code keeps of an MCP server, as its output channel shows it and its log folder has it:
//! `2026-10-05 09:49:21.377 [debug] [editor -> server] {…}`.
//!
//! Both generations write the same text. The first puts messages under the level `debug`; later ones under whichever
//! level is set for the server, which is `info` where the server is run for debugging. The level is not looked at. Lines
//! of anything else (connection states, the server's stderr, text that goes on over several lines) are passed over.
//!
//! The log has no mark between two runs of a server, and VS Code counts from 1 in each. The file is read as the one
//! session that a transcript is; where a later run calls a tool under an id of an earlier one, COR-DUPLICATE rejects it.
//! A log that VS Code kept under a higher level has no messages, and is read as a session without any. A last line that
//! has no end may have been cut off, and is refused unless it is a whole message or a connection state.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the process; the zone of its times, which
//! are the editor's local time and are taken for UTC. VS Code itself has put every message through JavaScript's JSON:
//! `9007199254740993` is another number, `1.0` is `1`, `1e400` is `null`, and of a member that stood twice the last is
//! there.
//!
//! The text is that of `McpServerRequestHandler` in VS Code's source, and of logs of VS Code 1.107 and 1.138 that people
//! have published.

mod read;
mod write;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    caveat: "the times of VS Code's log have no zone and are taken for UTC",
    ..Format::new(
        ["vscode-log", "vscode.log", "VS Code's log of a server, with times and directions"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

fn sniff(head: &Head) -> bool {
    head.lines().next().is_some_and(|line| read::stamped(line).is_some())
}

#[cfg(test)]
mod tests {
    use crate::small::{lines, means, read, rejects, trace, written};
    use crate::{Input, detect};
    use proptest::prelude::*;
    use transcript::rejection::Code;

    /// Put together from what VS Code 1.138 logged of a server at the level `debug`, shortened by hand.
    const LOGGED: &str = r#"2026-10-05 09:49:21.338 [info] Connection state: Starting
2026-10-05 09:49:21.354 [info] Starting server from LocalProcess extension host
2026-10-05 09:49:21.377 [debug] [editor -> server] {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":"Visual Studio Code","version":"1.138.0"}}}
2026-10-05 09:49:21.380 [warning] [server stderr] not yet
  [ready soon]
2026-10-05 09:49:21.400 [debug] [server -> editor] {"error":{"code":-32601,"message":"Method not found"},"id":1,"jsonrpc":"2.0"}
2026-10-05 09:49:21.410 [info] Connection state: Error
"#;
    const PING: &str =
        r#"2026-01-06 14:50:03.640 [info] [editor -> server] {"jsonrpc":"2.0","id":1,"method":"ping"}"#;

    #[test]
    fn messages_are_read_whatever_their_level_and_the_rest_is_passed_over() {
        let expected = "{\"events\": [\n\
            {\"kind\": \"request\", \"id\": \"1\", \"method\": \"initialize\", \"params\": {\"clientInfo\":{\"name\":\"Visual Studio Code\",\"version\":\"1.138.0\"}}},\n\
            {\"kind\": \"error\", \"id\": \"1\", \"answers\": 0, \"error\": {\"code\":-32601,\"message\":\"Method not found\"}}\n\
            ],\n\"authorization_discovery\": null}\n";
        assert_eq!(means("vscode-log", LOGGED), expected);
        assert_eq!(means("vscode-log", &LOGGED.replace("[debug]", "[info]").replace('\n', "\r\n")), expected);
        let silent: String = LOGGED.lines().take(2).map(|line| format!("{line}\n")).collect();
        assert_eq!(means("vscode-log", &silent), means("jsonrpc", ""));
    }

    #[test]
    fn ids_belong_to_their_requestor() {
        let say = |mark: &str, rest: &str| {
            format!("2026-01-06 14:50:03.640 [trace] [{mark}] {{\"jsonrpc\":\"2.0\",\"id\":1,{rest}}}\n")
        };
        let text = say("editor -> server", "\"method\":\"ping\"")
            + &say("server -> editor", "\"method\":\"roots/list\"")
            + &say("editor -> server", "\"result\":{}")
            + &say("server -> editor", "\"result\":{}");
        let text = means("vscode-log", &text);
        let bound: Vec<_> = text.split("\"answers\": ").skip(1).map(|rest| &rest[..1]).collect();
        assert_eq!(bound, ["1", "0"]);
    }

    #[test]
    fn what_is_no_log_is_refused_at_its_place() {
        let at = "2026-01-06 14:50:03.640 [info] [server -> editor] ";
        for (bad, code, clause, column) in [
            (format!("{at}42\n"), Code::NotAMessage, "RPL-NOISE", 51),
            (
                format!("{at}{{\"jsonrpc\":\"2.0\",\"id\":[],\"result\":1}}\n"),
                Code::InvalidId,
                "ID-REJECT",
                73,
            ),
            (format!("{at}{{\"jsonrpc\":\n"), Code::InvalidJson, "JRP-LINE", 62),
            (format!("{at}{{\"jsonrpc\":"), Code::Truncated, "SRV-BYTES", 62),
            (format!("{PING} x\n"), Code::InvalidJson, "JRP-LINE", 92),
            (" [editor -> server] {}\n".into(), Code::NotAMessage, "JRP-LINE", 1),
            ("a\0b\n".into(), Code::InvalidJson, "SRV-BYTES", 2),
            ("2026-01-06 14:50:03.640 [info] Connection sta".into(), Code::Truncated, "SRV-BYTES", 46),
            ("2026-01-06 14:5".into(), Code::Truncated, "SRV-BYTES", 16),
        ] {
            let expected = (code, clause, 2, column, String::new());
            assert_eq!(rejects("vscode-log", &format!("{PING}\n{bad}")), expected, "{bad}");
        }
        for (text, code) in
            [("", Code::Truncated), ("[]\n", Code::InvalidJson), ("ready\n", Code::InvalidJson)]
        {
            assert_eq!(rejects("vscode-log", text).0, code, "{text}");
        }
        let call = PING.replace("\"ping\"", r#""tools/call","params":{"name":"n"}"#);
        let (code, clause, line, column, _) = rejects("vscode-log", &format!("{call}\n{call}"));
        assert_eq!((code, clause, line, column), (Code::DuplicateCallId, "COR-DUPLICATE", 2, 73));
    }

    #[test]
    fn a_last_line_without_its_end_may_be_a_message_or_a_state() {
        for last in ["", "2026-01-06 14:50:04.000 [info] Connection state: Stopped"] {
            let text = format!("{PING}\n{last}");
            assert_eq!(means("vscode-log", text.trim_end()), means("vscode-log", &format!("{PING}\n")));
        }
        let noisy = format!("{PING}\n2026-01-06 14:50:03.640 [info] [server -> editor] null\n");
        let meaning = read("vscode-log", &noisy, true).unwrap();
        assert_eq!((meaning.totals.events, meaning.totals.noise), (1, 1));
    }

    #[test]
    fn a_log_written_again_keeps_its_messages_and_times() {
        let once = written("vscode-log", LOGGED, "vscode-log");
        let kept: Vec<_> = LOGGED.lines().filter(|line| line.contains("[debug]")).collect();
        assert_eq!(once.lines().skip(1).collect::<Vec<_>>(), kept);
        assert_eq!(written("vscode-log", &once, "vscode-log"), once);
    }

    #[test]
    fn it_is_told_from_its_first_line() {
        for (text, name) in [
            (LOGGED, Some("vscode-log")),
            (PING, Some("vscode-log")),
            ("2026-01-06 14:50:03 [info] x\n", None),
            ("2026-01-06T14:50:03.640 [info] x\n", None),
            ("2026-01-06 14:50:03.640 info x\n", None),
            ("20260106", None),
        ] {
            let mut bytes = text.as_bytes();
            let found = detect(&mut Input::new(&mut bytes).unwrap()).unwrap();
            assert_eq!(found.map(|format| format.name), name, "{text}");
        }
    }

    proptest! {
        #[test]
        fn lines_mean_the_same_as_a_log(text in lines()) {
            prop_assert_eq!(means("vscode-log", &written("jsonrpc", &text, "vscode-log")), means("jsonrpc", &text));
        }

        #[test]
        fn a_trace_means_the_same_as_a_log(text in trace()) {
            let once = written("mcp-replay", &text, "vscode-log");
            prop_assert_eq!(means("vscode-log", &once), means("mcp-replay", &text));
            prop_assert_eq!(written("vscode-log", &once, "vscode-log"), once);
        }
    }
}
