//! From logs that people have published, shortened by hand.

use crate::small::{lines, means, read, rejects, trace, written};
use crate::{Input, detect, nearest};
use proptest::prelude::*;
use transcript::rejection::Code;

const NAME: &str = "claude-desktop-log";

/// The file of one server, since 2025.
const OWN: &str = r#"2026-03-01T09:39:03.047Z [my files] [info] Initializing server... { metadata: undefined }
2026-03-01T09:39:03.073Z [my files] [info] Using MCP server command: npx with args and path: {
  metadata: {
    args: [ '-y', [length]: 1 ]
  }
} %o
2026-03-01T09:39:03.203Z [my files] [info] Message from client: {"method":"initialize","params":{},"jsonrpc":"2.0","id":0} { metadata: undefined }
Secure MCP Filesystem Server running on stdio: {"jsonrpc":"2.0","id":0,"result":{}}
2026-03-01T09:39:14.435Z [my files] [info] Message from server: {"jsonrpc":"2.0","id":0,"result":{}} { metadata: undefined }
2026-03-01T09:39:14.500Z [my files] [error] Unexpected token 'r', "ready" is not valid JSON { metadata: { context: 'connection', stack: undefined } }
2026-03-01T09:39:49.983Z [my files] [info] Client transport closed { metadata: undefined }
"#;
const EVENTS: &str = "{\"events\": [\n\
    {\"kind\": \"request\", \"id\": \"0\", \"method\": \"initialize\", \"params\": {}},\n\
    {\"kind\": \"result\", \"id\": \"0\", \"answers\": 0, \"result\": {}}\n\
    ],\n\"authorization_discovery\": null}\n";

/// The same in the file of all servers.
fn in_all(text: &str) -> String {
    text.replace("[my files] [info]", "[info] [my files]").replace(" { metadata: undefined }", "")
}

/// Messages of a server: its name, a mark and the rest.
fn said(server: &str, mark: &str, rest: &str) -> String {
    format!(
        "2026-03-01T09:40:00.000Z [{server}] [info] Message from {mark}: {{\"jsonrpc\":\"2.0\",{rest}}}\n"
    )
}

#[test]
fn both_layouts_are_read_and_other_lines_passed_over() {
    assert_eq!(means(NAME, OWN), EVENTS);
    assert_eq!(means(NAME, &in_all(OWN)), EVENTS);
    for odd in [
        OWN.replace('\n', "\r\n"),
        format!("\u{feff}{OWN}"),
        OWN.replace(" { metadata: undefined }\n", "  \n"),
    ] {
        assert_eq!(means(NAME, &odd), EVENTS);
    }
    let silent: String = OWN.lines().take(2).map(|line| format!("{line}\n")).collect();
    assert_eq!(means(NAME, &silent), means("jsonrpc", ""));
}

#[test]
fn a_message_behind_what_a_server_printed_is_one() {
    let printed = OWN.replace("2026-03-01T09:39:14.435Z", "Z [é loading...2026-03-01T09:39:14.435Z");
    assert_eq!(means(NAME, &printed), EVENTS);
    // What has no time is the server's own.
    let own = OWN.replace("Secure MCP", "[7] Message from server: {} Secure MCP");
    assert_eq!(means(NAME, &own), EVENTS);
}

#[test]
fn a_shortened_message_is_missing() {
    let call = said("s", "client", r#""id":1,"method":"tools/call","params":{"name":"n"}"#);
    // How many messages there are, and how many are missing, where the answer is this.
    let read = |front: &str, back: &str| {
        let at = "2026-03-01T09:40:01.000Z [s] [info] Message from server: ";
        let text = format!("{call}{at}{front}...[99 chars truncated]...{back} {{ metadata: undefined }}\n");
        let totals = read(NAME, &text, false).unwrap().totals;
        (totals.events, totals.missing, totals.unanswered)
    };
    let (front, back) = (r#"{"jsonrpc":"2.0","id":1,"result":{"a":"é😀"#, r#""}}"#);
    let filled = |units: usize| format!("{}{back}", "x".repeat(units - back.len()));
    let units = front.encode_utf16().count();
    assert_eq!(read(front, &filled(units)), (1, 1, 1));
    // What is left need not be JSON.
    assert_eq!(read(front, &"]".repeat(units)), (1, 1, 1));
    // Text of which the log has all.
    assert_eq!(read(front, &filled(units - 1)), (2, 0, 0));
    assert_eq!(read(front, &filled(units + 1)), (2, 0, 0));
}

#[test]
fn several_servers_are_refused_by_name() {
    let two = OWN.to_owned() + &said("other [x]", "client", r#""id":0,"method":"ping""#);
    let rejection = read(NAME, &two, true).unwrap_err().to_string();
    for words in ["`my files`", "`other [x]`", "grep -F ' [my files] '"] {
        assert!(rejection.contains(words), "{rejection}");
    }
    let (code, clause, line, ..) = rejects(NAME, &two);
    assert_eq!((code, clause, line), (Code::WrongDocument, "EQ-COUNT", 12));
    // A server of which nothing but its start is told says nothing.
    let started = format!(
        "{OWN}2026-03-01T09:40:00.000Z [other] [info] Initializing server...\n{}",
        said("my files", "client", r#""id":1,"method":"ping""#)
    );
    assert!(means(NAME, &started).contains("ping"));
}

#[test]
fn another_run_is_refused_with_the_lines_to_keep() {
    let rejection = read(NAME, &format!("{OWN}{OWN}"), true).unwrap_err().to_string();
    assert!(
        rejection.contains("on line 12") && rejection.contains("head -n 11 or tail -n +12"),
        "{rejection}"
    );
    let (code, clause, line, ..) = rejects(NAME, &format!("{OWN}{OWN}"));
    assert_eq!((code, clause, line), (Code::WrongDocument, "EQ-COUNT", 18));
    // A start that came to nothing.
    let start: String = OWN.lines().take(1).map(|line| format!("{line}\n")).collect();
    assert_eq!(means(NAME, &format!("{start}{OWN}{start}")), EVENTS);
}

#[test]
fn what_is_no_log_is_refused_at_its_place() {
    let at = "2026-03-01T09:39:03.203Z [s] [info] Message from server: ";
    for (bad, code, clause, column) in [
        (format!("{at}42\n"), Code::NotAMessage, "RPL-NOISE", 58),
        (format!("{at}{{\"jsonrpc\":\"2.0\",\"id\":[],\"result\":1}}\n"), Code::InvalidId, "ID-REJECT", 80),
        (format!("{at}{{\"jsonrpc\":\n"), Code::InvalidJson, "JRP-LINE", 69),
        (format!("{at}{{\"jsonrpc\":"), Code::Truncated, "SRV-BYTES", 69),
        (format!("{at}{{}} {{ metadata: no }}\n"), Code::InvalidJson, "JRP-LINE", 61),
        ("a\0b\n".into(), Code::InvalidJson, "SRV-BYTES", 2),
        ("2026-03-01T09:39:03.203Z [s] [info] Client trans".into(), Code::Truncated, "SRV-BYTES", 49),
        ("printed".into(), Code::Truncated, "SRV-BYTES", 8),
    ] {
        let expected = (code, clause, 2, column, String::new());
        let first = said("s", "client", r#""id":1,"method":"ping""#);
        assert_eq!(rejects(NAME, &format!("{first}{bad}")), expected, "{bad}");
    }
    for (text, code) in [("", Code::Truncated), ("[]\n", Code::InvalidJson), ("ready\n", Code::InvalidJson)] {
        assert_eq!(rejects(NAME, text).0, code, "{text}");
    }
    for said in ["Initializing server...", "Server started and connected successfully"] {
        let last = format!("{OWN}2026-03-01T09:39:50.000Z [my files] [info] {said}");
        assert_eq!(means(NAME, &last), EVENTS);
    }
    for whole in [OWN, &OWN.replace("{ metadata: undefined }", ""), &in_all(OWN)] {
        let whole = whole.trim_end();
        assert_eq!(means(NAME, whole), EVENTS, "{whole}");
    }
}

#[test]
fn a_log_written_again_keeps_its_messages_and_times() {
    let once = written(NAME, OWN, NAME);
    let plain = OWN.replace("my files", "converted").replace(" { metadata: undefined }", "");
    let kept: Vec<_> = plain.lines().filter(|line| line.contains("] Message from")).collect();
    assert_eq!(once.lines().skip(1).collect::<Vec<_>>(), kept);
    assert_eq!(written(NAME, &once, NAME), once);
}

#[test]
fn it_is_told_from_its_lines() {
    let late = OWN.replace("Initializing server...", "Shutting down server...");
    for (text, name) in [
        (OWN, Some(NAME)),
        (&*in_all(OWN), Some(NAME)),
        (&*late, Some(NAME)),
        ("2026-03-01T09:39:03.047Z [info] [s] ready\n", None),
        (&*format!("npm warn\n{OWN}"), None),
        (&*OWN.replace('T', " "), None),
    ] {
        let found = detect(&mut Input::new(&mut text.as_bytes()).unwrap()).unwrap();
        assert_eq!(found.map(|format| format.name), name, "{text}");
    }
    for (text, words) in [
        ("2026-03-01T09:39:03.047Z [info] [s] ready\n", "no line of its first 64 KiB is a message"),
        (&*format!("npm warn\n{OWN}"), "does not begin with a time, a level and the name"),
    ] {
        let hint = nearest(text).unwrap();
        assert!(hint.contains(NAME) && hint.contains(words), "{hint}");
    }
    assert_eq!(nearest("ready\n"), None);
}

proptest! {
    #[test]
    fn lines_mean_the_same_as_a_log(text in lines()) {
        prop_assert_eq!(means(NAME, &written("jsonrpc", &text, NAME)), means("jsonrpc", &text));
    }

    #[test]
    fn a_trace_means_the_same_as_a_log(text in trace()) {
        let once = written("mcp-replay", &text, NAME);
        prop_assert_eq!(means(NAME, &once), means("mcp-replay", &text));
        prop_assert_eq!(written(NAME, &once, NAME), once);
    }
}
