//! `inspector`: an array of messages, or an object with such an array under `events`; an item may be an entry of the
//! MCP Inspector's own export (clauses INS-SHAPE, INS-EXPORT).
//!
//! Bare messages come one by one and cost the memory of the largest. An export folds an answer into its request, so
//! from its first entry on everything is held and put in order by time.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the process and its exit. As bare
//! messages it carries no sides and no times either; as an export both, but its times are also its order: a session
//! whose times run backwards or are missing goes out with the time before instead, and where none is known at all,
//! with the Unix epoch. Members of an entry that are not named in the clause are lost, `duration` among them:
//! nothing is folded when written.

mod read;
mod write;

use crate::format::{Capabilities, Format, Items};
use crate::head::Head;
use crate::writing::Spelling;
use transcript::json::JsonKind;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    items: Items::List(&[]),
    messages: &[&["message"], &["response"], &[]],
    scripts: &[None],
    clauses: &["INS-"],
    ..Format::new(
        ["inspector", "inspector.json", "an array of messages, or an export of the MCP Inspector"],
        sniff,
        read::read,
        Spelling::Document(write::write),
    )
};

fn sniff(head: &Head) -> bool {
    head.kind() == Some(JsonKind::Array) && !head.is_odd_list() || head.has("events") && !head.has("jsonrpc")
}

/// Why a file that looks a little like one of these is none.
pub(crate) fn why_not(head: &Head) -> Option<&'static str> {
    head.is_odd_list().then_some(
        "it begins with `[` as a list does, and what follows is not a message but looks like a log",
    )
}

#[cfg(test)]
mod tests {
    use crate::small::{lines, means, messages, read, rejects, trace, written};
    use crate::{Input, ReadOptions, detect, find, meaning};
    use proptest::prelude::*;
    use transcript::rejection::Code;
    use transcript::session::{Content, Side};

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    /// What a reading hands on, in short: pointer, time and side of each message.
    fn entries(text: &str) -> Vec<(String, Option<i64>, Option<Side>)> {
        let mut entries = Vec::new();
        (find("inspector").unwrap().read)(
            &mut Input::new(&mut text.as_bytes()).unwrap(),
            ReadOptions::default(),
            &mut |entry| {
                let Content::Message(message) = &entry.content else { panic!("{entry:?}") };
                assert!(text[usize::try_from(entry.location.offset).unwrap()..].starts_with(message.text()));
                entries.push((entry.location.pointer(), entry.time, entry.side));
                Ok(())
            },
        )
        .unwrap();
        entries
    }

    #[test]
    fn an_array_and_an_object_with_events_are_the_same() {
        let lines = means("jsonrpc", &format!("{PING}\n{PONG}"));
        for text in [
            format!("[{PING},{PONG}]"),
            format!(" [\n {PING}\r\n,\t{PONG} ]\n"),
            format!("{{\"events\":[{PING},{PONG}]}}"),
            format!("{{\"v\":{{\"events\":7}},\"\\u0065vents\" : [ {PING} , {PONG} ],\"x\":[1]}} "),
        ] {
            assert_eq!(means("inspector", &text), lines, "{text}");
        }
        assert_eq!(means("inspector", "[]"), means("jsonrpc", ""));
        assert_eq!(means("inspector", "{\"events\":[ ]}"), means("jsonrpc", ""));
    }

    #[test]
    fn an_export_is_put_in_order_by_its_times() {
        let message = |method: &str| format!(r#"{{"jsonrpc":"2.0","method":"{method}"}}"#);
        let (a, b, c, d) = (message("a"), message("b"), message("c"), message("d"));
        let text = format!(
            r#"{{"events":[{a},
            {{"timestamp":"1970-01-01T00:00:02.000Z","origin":"client","message":{PING},"duration":999.7,"response":{PONG}}},
            {b},
            {{"timestamp":2500,"origin":"server","message":{c},"response":null}},
            {{"timestamp":3000,"origin":"proxy","message":{d}}},
            {{"timestamp":"1970-01-01T00:00:01.000Z","duration":5,"response":{PONG},"message":{PING}}},
            {{"timestamp":"1970-01-01T00:00:02.9998Z","message":{PONG}}}
            ]}}"#
        );
        let expected = [
            ("/events/0", None, None),
            ("/events/5/message", Some(1000), None),
            ("/events/5/response", Some(1005), None),
            ("/events/1/message", Some(2000), Some(Side::Client)),
            ("/events/2", None, None),
            ("/events/3/message", Some(2500), Some(Side::Server)),
            ("/events/1/response", Some(2999), Some(Side::Server)),
            ("/events/6/message", Some(2999), None),
            ("/events/4/message", Some(3000), None),
        ];
        assert_eq!(entries(&text), expected.map(|(pointer, time, side)| (pointer.to_owned(), time, side)));
    }

    #[test]
    fn an_entry_without_a_time_stands_with_the_one_before() {
        let text = format!(
            r#"[{{"message":{PING},"response":{PONG},"duration":900}},{PONG},{{"message":{PING},"timestamp":"soon"}}]"#
        );
        let pointers: Vec<_> = entries(&text).into_iter().map(|entry| entry.0).collect();
        assert_eq!(pointers, ["/0/message", "/0/response", "/1", "/2/message"]);
        let text = format!(
            r#"[{{"message":{PING},"timestamp":5}},{{"message":{PONG}}},{PING},{{"message":{PONG},"timestamp":3}}]"#
        );
        let pointers: Vec<_> = entries(&text).into_iter().map(|entry| entry.0).collect();
        assert_eq!(pointers, ["/3/message", "/0/message", "/1/message", "/2"]);
    }

    #[test]
    fn a_message_with_a_message_of_its_own_is_a_message() {
        let odd = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1},"message":"failed"}"#;
        assert_eq!(means("inspector", &format!("[{odd}]")), means("jsonrpc", odd));
        let faulty = format!(r#"[{{"jsonrpc":"1.0","method":"x","message":{PING}}}]"#);
        assert_eq!(
            rejects("inspector", &faulty),
            (Code::InvalidVersion, "JRP-VERSION", 1, 13, "/0".to_owned())
        );
    }

    #[test]
    fn the_question_asked_meanwhile_stands_before_the_answer() {
        let text = r#"[
{"timestamp":0,"origin":"client","duration":900,
 "message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book"}},
 "response":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}},
{"timestamp":300,"origin":"server","duration":200,
 "message":{"jsonrpc":"2.0","id":1,"method":"elicitation/create"},
 "response":{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}}]"#;
        let expected = "{\"events\": [\n\
            {\"kind\": \"tool_call\", \"id\": \"1\", \"tool\": \"book\"},\n\
            {\"kind\": \"request\", \"id\": \"1\", \"method\": \"elicitation/create\"},\n\
            {\"kind\": \"result\", \"id\": \"1\", \"answers\": 1, \"result\": {\"action\":\"decline\"}},\n\
            {\"kind\": \"result\", \"id\": \"1\", \"answers\": 0, \"result\": {\"content\":[]}}\n\
            ],\n\"authorization_discovery\": null}\n";
        assert_eq!(means("inspector", text), expected);
    }

    #[test]
    fn what_is_no_such_document_is_refused_at_its_place() {
        let call = r#"{"jsonrpc":"2.0","method":"tools/call","id":7,"params":{"name":"n"}}"#;
        let (document, twice) = ((Code::WrongDocument, "INS-SHAPE"), (Code::AmbiguousMember, "SRV-TWICE"));
        let (cut, broken) = ((Code::Truncated, "SRV-BYTES"), (Code::InvalidJson, "SRV-BYTES"));
        let noise = (Code::NotAMessage, "JRP-LINE");
        for (text, (code, clause), line, column, pointer) in [
            (String::new(), cut, 1, 1, ""),
            (" \n".to_owned(), cut, 2, 1, ""),
            ("7".to_owned(), document, 1, 2, ""),
            ("7 7".to_owned(), broken, 1, 3, ""),
            (format!("{PING}\n{PONG}"), broken, 2, 1, ""),
            ("nope".to_owned(), broken, 1, 2, ""),
            (r#"{"history":[]}"#.to_owned(), document, 1, 15, ""),
            ("{}".to_owned(), document, 1, 3, ""),
            (r#"{"events":7}"#.to_owned(), document, 1, 11, ""),
            (r#"{"events":nope}"#.to_owned(), broken, 1, 12, ""),
            (r#"{"events":"#.to_owned(), cut, 1, 11, ""),
            (r#"{"events":[],"events":[]}"#.to_owned(), twice, 1, 14, ""),
            (format!("[{PING}"), cut, 1, 42, ""),
            (format!("[{PING},\n"), cut, 2, 1, ""),
            ("[{\"jsonrpc\":".to_owned(), cut, 1, 13, ""),
            (format!("[{PING} {PONG}]"), broken, 1, 43, ""),
            (format!("[{PING},]"), broken, 1, 43, ""),
            (format!("[{PING}]\n[]"), broken, 2, 1, ""),
            (format!("[{PING},\n7]"), noise, 2, 1, "/1"),
            (format!("[{PING},\n [{PONG}]]"), (Code::Batch, "JRP-LINE"), 2, 2, "/1"),
            ("[{}]".to_owned(), (Code::NotAMessage, "JRP-SHAPE"), 1, 2, "/0"),
            (
                r#"{"events":[{"message":{"jsonrpc":"2.0","id":true,"result":1}}]}"#.to_owned(),
                (Code::InvalidId, "ID-REJECT"),
                1,
                45,
                "/events/0/message",
            ),
            (
                format!(r#"[{{"message":{PING},"response":[{PONG}]}}]"#),
                (Code::Batch, "JRP-LINE"),
                1,
                65,
                "/0/response",
            ),
            (r#"[{"message":null}]"#.to_owned(), noise, 1, 13, "/0/message"),
            (format!(r#"[{{"message":{PING},"origin":"client","origin":"server"}}]"#), twice, 1, 72, "/0"),
            (format!("[{call},\n{call}]"), (Code::DuplicateCallId, "COR-DUPLICATE"), 2, 45, "/1"),
            (
                format!("[{{\"message\":{call}}},\n{{\"message\":\n{call}}}]"),
                (Code::DuplicateCallId, "COR-DUPLICATE"),
                3,
                45,
                "/1/message",
            ),
            (
                format!("[{{\"message\":{call}}},{{\"message\":{{\n{}}}]", &call[1..]),
                (Code::DuplicateCallId, "COR-DUPLICATE"),
                2,
                44,
                "/1/message",
            ),
        ] {
            assert_eq!(
                rejects("inspector", &text),
                (code, clause, line, column, pointer.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn leniency_passes_over_noise_and_nothing_else() {
        let text = format!(r#"[7,{PING},{{"timestamp":1,"message":"hello"}},{PONG},null]"#);
        let meaning = read("inspector", &text, true).unwrap();
        assert_eq!((meaning.totals.events, meaning.totals.noise), (2, 3));
        for faulty in ["[[]]", "[nope]", "[7", "7", r#"[{"jsonrpc":"1.0"}]"#] {
            assert!(read("inspector", faulty, true).is_err(), "{faulty}");
        }
    }

    #[test]
    fn a_list_far_larger_than_the_window_is_read_whole() {
        let long = format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#, "é".repeat(1_500_000));
        let text = format!("{{\"events\":[{}{long},\n{PONG}]}}", format!("{PING} ,\n").repeat(50_000));
        assert_eq!(read("inspector", &text, false).unwrap().totals.events, 50_002);
        let place =
            rejects("inspector", &text.replace(",\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", ",\n7"));
        assert_eq!(place, (Code::NotAMessage, "JRP-LINE", 50_002, 1, "/events/50001".to_owned()));
    }

    /// A reader that gives a byte at a time, so that the window ends everywhere once.
    struct Drops<'a>(&'a [u8]);

    impl std::io::Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            (buffer[0], self.0) = (*first, rest);
            Ok(1)
        }
    }

    #[test]
    fn a_document_is_the_same_in_drops_and_cut_anywhere_it_is_truncated() {
        let format = find("inspector").unwrap();
        for text in [
            format!("[ {PING} ,\n{{\"timestamp\":1.5, \"message\":{PONG} }} ]"),
            format!("{{ \"a\" : -1 , \"events\" : [ {PING} , {PONG} ] , \"é\" : [ {{}} ] }}"),
        ] {
            let whole = meaning(format, &mut Drops(text.as_bytes()), ReadOptions::default());
            assert_eq!(whole.unwrap().text, means("inspector", &text));
            for cut in (0..text.len()).filter(|&cut| text.is_char_boundary(cut)) {
                assert_eq!(rejects("inspector", &text[..cut]).0, Code::Truncated, "{}", &text[..cut]);
            }
        }
    }

    #[test]
    fn bare_messages_go_out_where_nothing_else_is_known() {
        let text = written("jsonrpc", &format!("{PING}\n{PONG}\n"), "inspector");
        assert_eq!(text, format!("[\n{PING},\n{PONG}\n]\n"));
        assert_eq!(written("jsonrpc", "", "inspector"), "[\n]\n");
    }

    #[test]
    fn an_export_goes_out_where_sides_and_times_are_known() {
        let text = format!(
            "{{\"v\":1,\"type\":\"meta\",\"startedAt\":\"x\",\"label\":\"l\",\"command\":[]}}\n\
             {{\"dir\":\"in\",\"raw\":{PING}}}\n\
             {{\"dir\":\"out\",\"t\":\"2026-05-12T23:00:00.200Z\",\"raw\":{PONG}}}\n\
             {{\"dir\":\"out\",\"t\":\"2026-05-12T23:00:00.100Z\",\"raw\":{{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}}}}\n"
        );
        let time = "\"timestamp\":\"2026-05-12T23:00:00.200Z\"";
        let expected = format!(
            "[\n{{\"id\":\"1\",{time},\"direction\":\"request\",\"origin\":\"client\",\"message\":{PING}}},\n\
             {{\"id\":\"2\",{time},\"direction\":\"response\",\"origin\":\"server\",\"message\":{PONG}}},\n\
             {{\"id\":\"3\",{time},\"direction\":\"notification\",\"origin\":\"server\",\
             \"message\":{{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"x\"}}}}\n]\n"
        );
        assert_eq!(written("mcp-replay", &text, "inspector"), expected);
    }

    #[test]
    fn it_is_told_from_its_outermost_value() {
        for text in ["[", " [{}]", r#"{"id":"x","events":[],"params":{}}"#, r#"{"result":1,"events":[]}"#] {
            let found = detect(&mut Input::new(&mut text.as_bytes()).unwrap()).unwrap();
            assert_eq!(found.map(|format| format.name), Some("inspector"), "{text}");
        }
        let line = r#"{"jsonrpc":"2.0","method":"x","events":[]}"#;
        let found = detect(&mut Input::new(&mut line.as_bytes()).unwrap()).unwrap();
        assert_eq!(found.map(|format| format.name), Some("jsonrpc"));
    }

    /// Entries with and without sides, times and folded answers, and bare messages among them.
    fn mixed() -> impl Strategy<Value = String> {
        let entry = (
            any::<bool>(),
            prop::option::of(0..30u8),
            prop::option::of(any::<bool>()),
            prop::option::of(0..9u8),
        );
        (messages(), prop::collection::vec(entry, 12)).prop_map(|(messages, entries)| {
            let items: Vec<_> = messages
                .iter()
                .zip(entries)
                .map(|(message, (bare, time, client, took))| {
                    if bare {
                        return message.clone();
                    }
                    let mut item = format!("{{\"message\":{message}");
                    if let Some(time) = time {
                        item += &format!(",\"timestamp\":{time}");
                    }
                    if let Some(client) = client {
                        item += if client { ",\"origin\":\"client\"" } else { ",\"origin\":\"server\"" };
                    }
                    if let Some(took) = took {
                        item += &format!(",\"duration\":{took},\"response\":{PONG}");
                    }
                    item + "}"
                })
                .collect();
            format!("[{}]", items.join(","))
        })
    }

    proptest! {
        #[test]
        fn lines_mean_the_same_as_bare_messages(text in lines()) {
            let array = written("jsonrpc", &text, "inspector");
            prop_assert_eq!(means("inspector", &array), means("jsonrpc", &text));
            prop_assert_eq!(written("inspector", &array, "inspector"), array);
        }

        #[test]
        fn a_trace_means_the_same_as_an_export(text in trace()) {
            let export = written("mcp-replay", &text, "inspector");
            prop_assert_eq!(means("inspector", &export), means("mcp-replay", &text));
            prop_assert_eq!(means("mcp-replay", &written("inspector", &export, "mcp-replay")), means("mcp-replay", &text));
        }

        #[test]
        fn an_export_written_again_means_the_same_and_stays_as_it_is(text in mixed()) {
            let once = written("inspector", &text, "inspector");
            prop_assert_eq!(means("inspector", &once), means("inspector", &text));
            prop_assert_eq!(written("inspector", &once, "inspector"), once);
        }
    }
}
