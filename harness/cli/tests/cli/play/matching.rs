//! `--match request` over both HTTP transports, also with a live server behind it.

use super::{Folder, Server};
use crate::sockets::Answer;
use crate::support::{concord, ended};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"c"}}}"#;
const INITIALIZED: &str =
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s"}}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const LISTED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#;
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#;
const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"é"}}"#;
const AGAIN: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"content":[],"again":1}}"#;

/// A call of a tool with this id.
fn call(id: &str, tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}"}}}}"#)
}

/// A recording in mcp-rec of these messages, those of the server after `<`.
fn recording(folder: &Folder, name: &str, messages: &[&str]) -> PathBuf {
    let path = folder.path(name);
    let line = |(at, text): (usize, &&str)| {
        let (dir, text) =
            text.strip_prefix('<').map_or(("client->server", *text), |text| ("server->client", text));
        format!("{{\"ts\": {at}.000, \"dir\": \"{dir}\", \"msg\": {text}}}\n")
    };
    fs::write(&path, messages.iter().enumerate().map(line).collect::<String>()).unwrap();
    path
}

fn usual(folder: &Folder) -> PathBuf {
    let answered = |text: &str| format!("<{text}");
    let texts = [
        INITIALIZE.to_owned(),
        answered(INITIALIZED),
        LIST.to_owned(),
        answered(LISTED),
        call("2", "a"),
        answered(LOG),
        answered(DONE),
        answered(CHANGED),
        call("3", "a"),
        answered(AGAIN),
    ];
    recording(folder, "session.jsonl", &texts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The id that a client gets over Streamable HTTP.
fn open(server: &Server) -> String {
    let answer = server.post(&[], INITIALIZE);
    assert!(answer.body.contains(INITIALIZED), "{answer:?}");
    answer.header("mcp-session-id").unwrap()
}

#[test]
fn many_clients_are_answered_at_once_each_from_the_beginning() {
    let folder = Folder::new();
    let server = Server::start(&usual(&folder), &["--match", "request", "--answers", "json"]);
    let (one, two) = (open(&server), open(&server));
    assert_ne!(one, two);
    let ask = |id: &str, number: &str| server.post(&[("Mcp-Session-Id", id)], &call(number, "a")).body;
    assert_eq!(ask(&one, "7"), DONE.replace(":2,", ":7,"));
    assert_eq!(ask(&two, "8"), DONE.replace(":2,", ":8,"));
    assert_eq!(ask(&one, "9"), AGAIN.replace(":3,", ":9,"));
    let headers = [("Mcp-Session-Id", &*one), ("Accept", "text/event-stream")];
    let mut get = server.ask("GET", "/mcp", &headers, "");
    get.until(&format!("data: {CHANGED}\n\n"));
    assert_eq!(server.ask("DELETE", "/mcp", &headers, "").answer().status, 200);
    assert_eq!(server.post(&[("Mcp-Session-Id", &one)], LIST).status, 404);
    assert_eq!(server.post(&[], LIST).status, 400);
    assert_eq!(server.post(&[("Mcp-Session-Id", &two)], LIST).body, LISTED);
    server.interrupted(1, &["names no session that is open", "names no session\n", "2 mismatches"]);

    let server = Server::start(&usual(&folder), &["--match", "request"]);
    let id = open(&server);
    let Answer { head, body, .. } = server.post(&[("Mcp-Session-Id", &id)], &call("\"x\"", "a"));
    assert!(head.contains("text/event-stream"), "{head}");
    let data: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(data, [LOG, &DONE.replace(":2,", ":\"x\",")]);
    server.interrupted(0, &["0 mismatches"]);
}

#[test]
fn clients_over_http_and_sse_have_a_stream_each() {
    let folder = Folder::new();
    let flags = ["--match", "request", "--transport", "http-sse"];
    let server = Server::start(&usual(&folder), &flags);
    let mut streams = Vec::new();
    for _ in 0..2 {
        let mut get = server.ask("GET", "/sse", &[("Accept", "text/event-stream")], "");
        let endpoint = get.until("\n\n");
        let path = endpoint.split("data: ").nth(1).unwrap().split('\n').next().unwrap().to_owned();
        streams.push((get, path));
    }
    assert_ne!(streams[0].1, streams[1].1);
    for (get, path) in &mut streams {
        let posted = server.ask("POST", path, &[("Content-Type", "application/json")], &call("5", "a"));
        assert_eq!(posted.answer().status, 202);
        get.until(&format!("data: {}\n\n", DONE.replace(":2,", ":5,")));
    }
    server.interrupted(0, &["0 mismatches"]);
}

/// A recording of a server that knows the tool `b`, and the command that plays it.
fn live(folder: &Folder) -> String {
    let texts = [INITIALIZE.to_owned(), format!("<{INITIALIZED}"), call("2", "b"), format!("<{DONE}")];
    let behind = recording(folder, "behind", &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let program = env!("CARGO_BIN_EXE_mcp-concord");
    format!("'{program}' -q play --as server --match request '{}'", behind.display())
}

#[test]
fn every_client_over_http_has_a_live_server_and_all_that_is_new_is_added() {
    let folder = Folder::new();
    let (session, command) = (usual(&folder), live(&folder));
    let before = fs::read_to_string(&session).unwrap();
    let server = Server::start(&session, &["--match", "request", "--record-new", &command]);
    for number in ["7", "8"] {
        let id = open(&server);
        let Answer { head, body, .. } = server.post(&[("Mcp-Session-Id", &id)], &call(number, "b"));
        assert!(head.contains("text/event-stream"), "{head}");
        assert!(body.contains(&DONE.replace(":2,", &format!(":{number},"))), "{body}");
    }
    server.interrupted(0, &["2 messages of the client added", "0 mismatches"]);
    let grown = fs::read_to_string(&session).unwrap();
    let added = grown.strip_prefix(&before).unwrap();
    assert_eq!(added.lines().count(), 4, "{added}");
}

#[test]
fn what_is_new_is_kept_when_the_mock_is_told_to_end() {
    let folder = Folder::new();
    let (session, command) = (usual(&folder), live(&folder));
    let mut mock = concord(["play", "--as", "server", "--match", "request", "--record-new", &command]);
    let mut mock = mock.arg(&session).stdin(Stdio::piped()).spawn().unwrap();
    let mut to = mock.stdin.take().unwrap();
    to.write_all((call("5", "b") + "\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(mock.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("\"id\":5,\"result\""), "{answer}");
    let kill = Command::new("kill").args(["-TERM", &mock.id().to_string()]).status();
    assert!(kill.unwrap().success());
    ended(&mock.wait_with_output().unwrap(), 143, &["1 message of the client added", "interrupted"]);
    drop(to);
    assert!(fs::read_to_string(&session).unwrap().contains("\"name\":\"b\""));
}
