//! Conformance files as the Go SDK has them, and as they are written here.

use crate::small::{lines, means, read, rejects, trace, written};
use crate::{Input, detect, nearest};
use proptest::prelude::*;
use transcript::rejection::Code;

const NAME: &str = "txtar";

/// After the files in mcp/testdata/conformance of the Go SDK.
const FILE: &str = r#"A tool that asks.

-- tools --
ask

-- client --
{
  "jsonrpc": "2.0",
  "id": 1,
  "method": "initialize",
  "params": {}
}
{ "jsonrpc": "2.0", "method": "notifications/initialized" }
{ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "ask" } }
{ "jsonrpc": "2.0", "id": 1, "result": { "roots": [] } }
{ "jsonrpc": "2.0", "id": 3, "method": "ping" }

-- server --
{
	"jsonrpc": "2.0",
	"id": 1,
	"result": {}
}
{ "jsonrpc": "2.0", "id": 1, "method": "roots/list" }
{ "jsonrpc": "2.0", "id": 2, "result": { "content": [] } }
{ "jsonrpc": "2.0", "id": 3, "result": {} }
{ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }
"#;

#[test]
fn messages_come_in_the_order_in_which_the_file_is_run() {
    let expected = "{\"events\": [\n\
        {\"kind\": \"request\", \"id\": \"1\", \"method\": \"initialize\", \"params\": {}},\n\
        {\"kind\": \"result\", \"id\": \"1\", \"answers\": 0, \"result\": {}},\n\
        {\"kind\": \"notification\", \"method\": \"notifications/initialized\"},\n\
        {\"kind\": \"tool_call\", \"id\": \"2\", \"tool\": \"ask\"},\n\
        {\"kind\": \"request\", \"id\": \"1\", \"method\": \"roots/list\"},\n\
        {\"kind\": \"result\", \"id\": \"1\", \"answers\": 4, \"result\": {\"roots\":[]}},\n\
        {\"kind\": \"result\", \"id\": \"2\", \"answers\": 3, \"result\": {\"content\":[]}},\n\
        {\"kind\": \"request\", \"id\": \"3\", \"method\": \"ping\"},\n\
        {\"kind\": \"result\", \"id\": \"3\", \"answers\": 7, \"result\": {}},\n\
        {\"kind\": \"notification\", \"method\": \"notifications/tools/list_changed\"}\n\
        ],\n\"authorization_discovery\": null}\n";
    assert_eq!(means(NAME, FILE), expected);
    assert_eq!(means(NAME, &FILE.replace('\n', "\r\n")), expected);
    let (client, server) = FILE.split_at(FILE.find("-- server --").unwrap());
    let swapped = format!("{server}{}", &client[client.find("-- client --").unwrap()..]);
    assert_eq!(means(NAME, &swapped), expected);
}

#[test]
fn more_than_two_sections_stand_in_the_order_of_the_session() {
    let ask = |id: u8| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
    let answer = |id: u8| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n");
    let said = [ask(1), ask(2), answer(1), answer(2)].concat();
    assert_eq!(means(NAME, &written("jsonrpc", &said, NAME)), means("jsonrpc", &said));
    let two = format!("-- client --\n{}{}-- server --\n{}{}", ask(1), ask(2), answer(1), answer(2));
    let apart = [ask(1), answer(1), ask(2), answer(2)].concat();
    assert_eq!(means(NAME, &two), means("jsonrpc", &apart));
}

#[test]
fn what_is_no_archive_is_refused_at_its_place() {
    for (text, code, clause, line, column) in [
        ("", Code::Truncated, "SRV-BYTES", 1, 1),
        ("a\n-- tools --\n", Code::Truncated, "SRV-BYTES", 3, 1),
        ("a\0\n-- client --\n", Code::InvalidJson, "SRV-BYTES", 1, 2),
        ("-- client --\n-", Code::Truncated, "SRV-BYTES", 2, 2),
        ("-- client --\n-- serv", Code::Truncated, "SRV-BYTES", 2, 8),
        ("-- client --\n-- serv\n", Code::InvalidJson, "SRV-BYTES", 2, 2),
        ("-- client --\n{", Code::Truncated, "SRV-BYTES", 2, 2),
        ("-- client --\n{\n-- server --\n", Code::InvalidJson, "SRV-BYTES", 3, 1),
        ("-- client --\nping\n", Code::InvalidJson, "SRV-BYTES", 2, 1),
        ("-- client --\n{}\n 7\n", Code::NotAMessage, "JRP-SHAPE", 2, 1),
        ("-- client --\n\n [{}]\n", Code::Batch, "ENV-SINGLE", 3, 2),
    ] {
        assert_eq!(rejects(NAME, text), (code, clause, line, column, String::new()), "{text}");
    }
    let noisy = "-- client --\n{} 7\n{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n";
    let meaning = read(NAME, noisy, true).unwrap();
    assert_eq!((meaning.totals.events, meaning.totals.noise), (1, 2));
}

#[test]
fn it_is_told_from_its_sections() {
    for (text, name) in
        [(FILE, Some(NAME)), ("-- server --\n", Some(NAME)), ("-- tools --\n", None), ("--client--\n", None)]
    {
        let found = detect(&mut Input::new(&mut text.as_bytes()).unwrap()).unwrap();
        assert_eq!(found.map(|format| format.name), name, "{text}");
    }
    let hint = nearest("-- in --\n{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n").unwrap();
    assert!(hint.contains(NAME) && hint.contains("sections"), "{hint}");
}

proptest! {
    #[test]
    fn lines_mean_the_same_as_an_archive(text in lines()) {
        prop_assert_eq!(means(NAME, &written("jsonrpc", &text, NAME)), means("jsonrpc", &text));
    }

    #[test]
    fn a_trace_means_the_same_as_an_archive(text in trace()) {
        let once = written("mcp-replay", &text, NAME);
        prop_assert_eq!(means(NAME, &once), means("mcp-replay", &text));
        prop_assert_eq!(written(NAME, &once, NAME), once);
    }
}
