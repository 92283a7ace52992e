//! `marked-text`: lines of text that begin with a mark which says who sent the message behind it: `-->` and `<--`, as the
//! JSON-RPC specification writes its examples, `>>>` and `<<<`, `→` and `←`, and `STDIN:`, `STDOUT:` and `STDERR:`, as
//! goose records its servers.
//!
//! What points right, and `STDIN:`, was sent to the server. A program that logs from a server's point of view writes it
//! the other way round, and nothing in the file tells. A line behind `STDERR:` is passed over (RPL-DIR). A line without a
//! mark rejects the file, or is passed over where leniency is asked for: as a message whose direction is not known where
//! it begins as JSON does, and otherwise as noise (RPL-NOISE). A message that goes on over several lines is refused on
//! the first.
//!
//! Cannot carry: times; anything of HTTP or SSE, and so no authorization challenge; the process. goose writes down what
//! passed, byte for byte but for bytes that are not UTF-8.

mod read;

use crate::format::Format;
use crate::head::Head;
use crate::writing::{Opening, Spelling, Spoken, WriteLines};
use read::{MARKS, Marked};
use std::io::{self, Write as _};
use transcript::json::write_compact;
use transcript::session::Side;

/// The format.
pub(crate) static FORMAT: Format = Format::new(
    ["marked-text", "marked.txt", "lines with `-->` and `<--`, `>>>` and `<<<`, or `STDIN:` and `STDOUT:`"],
    sniff,
    read::read,
    Spelling::Lines(lines),
);

/// The first line has a mark, and the first marked message is one of JSON-RPC: arrows stand in many texts.
fn sniff(head: &Head) -> bool {
    head.lines().next().is_some_and(|line| Marked::of(line).is_some()) && has_message(head)
}

fn has_message(head: &Head) -> bool {
    let sent = |line| Marked::of(line).filter(|marked| marked.side.is_some());
    head.lines()
        .find_map(sent)
        .is_some_and(|marked| marked.rest.starts_with('{') && marked.rest.contains("\"jsonrpc\""))
}

/// Why a file that looks a little like one of these is none.
pub(crate) fn why_not(head: &Head) -> Option<&'static str> {
    (has_message(head) && !sniff(head)).then_some("its first line has no mark of a direction")
}

fn lines(_: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines)
}

struct Lines;

impl WriteLines for Lines {
    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        let [(to_server, _), (to_client, _), ..] = MARKS;
        write!(line, "{} ", if spoken.side == Side::Server { to_client } else { to_server })?;
        write_compact(spoken.message.json(), line);
        line.push(b'\n');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::small::{lines, means, read, rejects, trace, written};
    use crate::{Input, detect, nearest};
    use proptest::prelude::*;
    use transcript::rejection::Code;

    const NAME: &str = "marked-text";

    /// As goose records a server.
    const RECORDED: &str = r#"STDERR: 
STDIN: {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}
STDERR: <-- {"jsonrpc":"2.0","id":0,"result":{}}
STDOUT: {"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"mymcp","version":"2.14.4"}}}
STDIN: {"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

    #[test]
    fn marks_say_who_sent_what() {
        let expected = "{\"events\": [\n\
            {\"kind\": \"request\", \"id\": \"0\", \"method\": \"initialize\", \"params\": {}},\n\
            {\"kind\": \"result\", \"id\": \"0\", \"answers\": 0, \"result\": {\"serverInfo\":{\"name\":\"mymcp\",\"version\":\"2.14.4\"}}},\n\
            {\"kind\": \"notification\", \"method\": \"notifications/initialized\"}\n\
            ],\n\"authorization_discovery\": null}\n";
        for (client, server) in [("STDIN:", "STDOUT:"), ("-->", "<--"), (">>>  ", "<<<"), ("→\t", "  ←")]
        {
            let text = RECORDED.replace("STDIN: ", client).replace("STDOUT: ", server);
            assert_eq!(means(NAME, &text), expected, "{text}");
            assert_eq!(means(NAME, &text.replace('\n', "\r\n\r\n")), expected, "{text}");
            assert_eq!(means(NAME, &format!("\u{feff}{}", text.trim_end())), expected, "{text}");
        }
        let ask = |mark: &str, rest: &str| format!("{mark} {{\"jsonrpc\":\"2.0\",\"id\":1,{rest}}}\n");
        let text = ask("-->", "\"method\":\"ping\"")
            + &ask("<--", "\"method\":\"roots/list\"")
            + &ask("-->", "\"result\":{}")
            + &ask("<--", "\"result\":{}");
        let text = means(NAME, &text);
        let bound: Vec<_> = text.split("\"answers\": ").skip(1).map(|rest| &rest[..1]).collect();
        assert_eq!(bound, ["1", "0"]);
        assert_eq!(means(NAME, ""), means("jsonrpc", ""));
    }

    #[test]
    fn what_is_no_line_of_it_is_refused_at_its_place() {
        for (bad, code, clause, column) in [
            ("{\"jsonrpc\":\"2.0\",\"method\":\"a\"}", Code::MissingDir, "SRV-BYTES", 1),
            ("ready\n", Code::NotAMessage, "RPL-NOISE", 1),
            ("--{}\n", Code::NotAMessage, "RPL-NOISE", 1),
            ("STDOUT: ready\n", Code::InvalidJson, "JRP-LINE", 9),
            ("STDOUT: 42\n", Code::NotAMessage, "RPL-NOISE", 9),
            ("--> {\n", Code::InvalidJson, "JRP-LINE", 6),
            ("--> {\"jsonrpc\":\"2.0\"", Code::Truncated, "SRV-BYTES", 21),
            ("-->", Code::Truncated, "SRV-BYTES", 4),
            ("<-", Code::Truncated, "SRV-BYTES", 3),
            ("--> {} x\n", Code::InvalidJson, "JRP-LINE", 8),
            ("--> []\n", Code::Batch, "RPL-NOISE", 5),
            ("<-- {\"jsonrpc\":\"2.0\",\"id\":[],\"result\":1}\n", Code::InvalidId, "ID-REJECT", 27),
            ("STDERR: a\0b\n", Code::InvalidJson, "SRV-BYTES", 10),
        ] {
            let first = "--> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
            let expected = (code, clause, 2, column, String::new());
            assert_eq!(rejects(NAME, &format!("{first}\n{bad}")), expected, "{bad}");
        }
        let noisy = RECORDED.replace("STDERR: \n", "STDERR: \n[loading]\n");
        assert_eq!(read(NAME, &noisy, true).unwrap().totals.noise, 1);
    }

    #[test]
    fn it_is_told_from_its_first_line_and_its_first_message() {
        for (text, name) in [
            (RECORDED, Some(NAME)),
            ("\n--> {\"jsonrpc\": \"2.0\"", Some(NAME)),
            ("STDERR: a\n", None),
            (">>> {'jsonrpc': 1}\n", None),
            (">>> print(1)\n<<< {\"jsonrpc\":\"2.0\"}\n", None),
            ("# Notes\n--> {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n", None),
        ] {
            let found = detect(&mut Input::new(&mut text.as_bytes()).unwrap()).unwrap();
            assert_eq!(found.map(|format| format.name), name, "{text}");
        }
        let hint = nearest("# Notes\n--> {\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n").unwrap();
        assert!(hint.contains(NAME) && hint.contains("no mark of a direction"), "{hint}");
        assert_eq!(nearest(">>> print(1)\n"), None);
    }

    proptest! {
        #[test]
        fn lines_mean_the_same_as_marked_ones(text in lines()) {
            prop_assert_eq!(means(NAME, &written("jsonrpc", &text, NAME)), means("jsonrpc", &text));
        }

        #[test]
        fn a_trace_means_the_same_as_marked_lines(text in trace()) {
            let once = written("mcp-replay", &text, NAME);
            prop_assert_eq!(means(NAME, &once), means("mcp-replay", &text));
            prop_assert_eq!(written(NAME, &once, NAME), once);
        }
    }
}
