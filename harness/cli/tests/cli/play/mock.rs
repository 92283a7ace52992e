//! `--match request`: over stdio, over both HTTP transports, and with a live server behind it.

use super::sockets::{Server, until, whole};
use super::{Folder, concord, tells};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

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

/// What a mock of a session says to a client that says `input` and closes.
fn mock(session: &Path, flags: &[&str], input: &[&str]) -> Output {
    let mut command = concord();
    command.args(["play", "--as", "server", "--match", "request"]).arg(session).args(flags);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that was refused reads nothing.
    let _ = child.stdin.take().unwrap().write_all((input.join("\n") + "\n").as_bytes());
    child.wait_with_output().unwrap()
}

/// The lines of the standard output.
fn lines(output: &Output) -> Vec<String> {
    String::from_utf8_lossy(&output.stdout).lines().map(ToOwned::to_owned).collect()
}

#[test]
fn requests_are_answered_in_any_order_over_stdio() {
    let folder = Folder::new();
    let calls = ["\"x\"", "5", "6"].map(|id| call(id, "a"));
    let list = LIST.replace(":1", ":9");
    let output = mock(&usual(&folder), &[], &[&calls[0], &list, &calls[1], &calls[2], INITIALIZE]);
    tells(&output, 0, &["7 messages sent, 5 received, 0 mismatches"]);
    let again = |id: &str| AGAIN.replace(":3,", &format!(":{id},"));
    assert_eq!(
        lines(&output),
        [
            LOG.to_owned(),
            DONE.replace(":2,", ":\"x\","),
            CHANGED.to_owned(),
            LISTED.replace(":1,", ":9,"),
            again("5"),
            again("6"),
            INITIALIZED.to_owned(),
        ]
    );
    let output = mock(&usual(&folder), &["--once"], &[&calls[0], &calls[1], &calls[2]]);
    tells(&output, 1, &["it was asked 2 times before", "1 mismatch"]);
    let output = mock(&usual(&folder), &[], &[&call("1", "b"), "no message"]);
    tells(&output, 1, &["the nearest one has \"a\" at /tool, not \"b\"", "session.jsonl:5", "2 mismatches"]);
    assert_eq!(lines(&output).len(), 2, "both are answered");
}

#[test]
fn what_cannot_be_a_mock_is_refused_in_a_sentence() {
    let folder = Folder::new();
    let (usual, mut half) = (usual(&folder), fs::read(usual(&folder)).unwrap());
    half.truncate(half.len() - 9);
    fs::write(folder.path("half"), half).unwrap();
    fs::write(folder.path("words"), "no recording").unwrap();
    let two = [INITIALIZE, &format!("<{INITIALIZED}")].map(ToOwned::to_owned);
    let other = two.clone().map(|text| text.replace(":0,", ":7,").replace("\"s\"", "\"z\""));
    let all: Vec<&str> = two.iter().chain(&other).map(String::as_str).collect();
    let servers = recording(&folder, "servers", &all);
    let unanswered = recording(&folder, "unanswered", &[INITIALIZE]);
    let (half, words) = (folder.path("half"), folder.path("words"));
    let har = Path::new("recorded/everything-http-interrupted");
    for (session, flags, why) in [
        (&*half, &[][..], "half"),
        (&words, &[], "words"),
        (&folder.path("none"), &[], "none"),
        (&servers, &[], "several servers (s, z)"),
        (&unanswered, &[], "no request with its answer"),
        (&usual, &["--merge"], "--merge"),
        (&usual, &["--update"], "--record-new"),
        (&usual, &["--record-new", "'"], "--record-new"),
        (&usual, &["--record-new", ""], "is empty"),
        (har, &["--record-new", "x"], "a file of its own"),
        (Path::new("-"), &[], "name the session as a file"),
    ] {
        tells(&mock(session, flags, &[LIST]), 2, &[why]);
    }
    let mut follows = concord();
    follows.args(["play", "--as", "server", "--once"]).arg(&usual).stdin(Stdio::null());
    tells(&follows.output().unwrap(), 2, &["belong to --match request"]);
    let mut client = concord();
    client.args(["play", "--as", "client", "--match", "request"]).arg(&usual).args(["--", "true"]);
    tells(&client.output().unwrap(), 2, &["needs --as server"]);
    let archive = folder.path("session.har");
    fs::write(&archive, include_bytes!("../../../../../cases/recorded/everything-http-interrupted/har.har"))
        .unwrap();
    tells(
        &mock(&archive, &["--record-new", "x"], &[LIST]),
        2,
        &["nothing can be added to a recording in har"],
    );
}

#[test]
fn what_is_new_is_added_and_everything_is_renewed() {
    let folder = Folder::new();
    let session = usual(&folder);
    let before = fs::read_to_string(&session).unwrap();
    let live: Vec<String> = vec![
        INITIALIZE.to_owned(),
        format!("<{INITIALIZED}"),
        call("2", "b"),
        format!("<{LOG}"),
        format!("<{DONE}"),
        LIST.to_owned(),
        "<".to_owned() + &LISTED.replace("[]", "[{}]"),
    ];
    let behind = recording(&folder, "behind", &live.iter().map(String::as_str).collect::<Vec<_>>());
    let program = env!("CARGO_BIN_EXE_mcp-concord");
    let server = format!("'{program}' play --as server --match request '{}'", behind.display());
    let asked = [INITIALIZE, LIST, &call("2", "b")];

    let output = mock(&session, &["--record-new", &server], &asked);
    tells(&output, 0, &["1 message of the client added", "4 messages sent, 3 received"]);
    let grown = fs::read_to_string(&session).unwrap();
    assert!(grown.starts_with(&before), "{grown}");
    let added = grown.strip_prefix(&before).unwrap();
    assert_eq!(added.lines().count(), 3, "{added}");
    assert!(added.contains(&call("4", "b")) || added.contains("\"id\":4"), "its id is its own: {added}");
    // Without the live server it is known now.
    let again = mock(&session, &[], &asked);
    tells(&again, 0, &["0 mismatches"]);
    let sorted = |output: &Output| {
        let mut lines = lines(output);
        lines.sort();
        lines
    };
    assert_eq!(sorted(&again), sorted(&output));

    tells(
        &mock(&session, &["--record-new", &server, "--update"], &asked),
        0,
        &["3 messages of the client renewed"],
    );
    let renewed = mock(&session, &[], &[LIST, &call("8", "a")]);
    tells(&renewed, 0, &[]);
    assert_eq!(lines(&renewed)[0], LISTED.replace("[]", "[{}]"));
    assert_eq!(lines(&renewed)[2], DONE.replace(":2,", ":8,"), "what nobody asked is still there");
    assert_eq!(fs::read_dir(folder.0.path()).unwrap().count(), 2, "nothing is left aside");
}

#[test]
fn a_live_server_that_fails_is_told_of_and_the_recording_stays() {
    let folder = Folder::new();
    let session = usual(&folder);
    let before = fs::read(&session).unwrap();
    for (server, code, why) in [
        ("no-such-program", 3, "there is no program `no-such-program`"),
        ("sh -c 'exit 3'", 1, "the live server ended with exit code 3"),
        ("echo words", 1, "the live server wrote it"),
    ] {
        let output = mock(&session, &["--record-new", server], &[INITIALIZE, &call("5", "b"), LIST]);
        tells(&output, code, &[why]);
        let answered = lines(&output);
        assert_eq!(answered.len(), 3, "{answered:?}");
        assert!(answered.iter().any(|line| line.contains("\"id\":5,\"error\"")), "{answered:?}");
        assert_eq!(fs::read(&session).unwrap(), before);
    }
    let silent = mock(&session, &["--record-new", "sleep 60", "--timeout", "1"], &[&call("5", "b")]);
    tells(&silent, 1, &["the live server has said nothing for 1 s"]);
}

/// The id that a client gets over Streamable HTTP.
fn open(server: &Server) -> String {
    let (head, body) = server.post(&[], INITIALIZE);
    assert!(body.contains(INITIALIZED), "{head}\n{body}");
    let line = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
    line.unwrap().to_owned()
}

#[test]
fn many_clients_are_answered_at_once_each_from_the_beginning() {
    let folder = Folder::new();
    let server = Server::start(&usual(&folder), &["--match", "request", "--answers", "json"]);
    let (one, two) = (open(&server), open(&server));
    assert_ne!(one, two);
    let ask = |id: &str, number: &str| server.post(&[("Mcp-Session-Id", id)], &call(number, "a")).1;
    assert_eq!(ask(&one, "7"), DONE.replace(":2,", ":7,"));
    assert_eq!(ask(&two, "8"), DONE.replace(":2,", ":8,"));
    assert_eq!(ask(&one, "9"), AGAIN.replace(":3,", ":9,"));
    let headers = [("Mcp-Session-Id", &*one), ("Accept", "text/event-stream")];
    let mut get = server.ask("GET", "/mcp", &headers, "");
    until(&mut get, &format!("data: {CHANGED}\n\n"));
    assert!(whole(server.ask("DELETE", "/mcp", &headers, "")).0.starts_with("http/1.1 200"));
    assert!(server.post(&[("Mcp-Session-Id", &one)], LIST).0.starts_with("http/1.1 404"));
    assert!(server.post(&[], LIST).0.starts_with("http/1.1 400"));
    assert_eq!(server.post(&[("Mcp-Session-Id", &two)], LIST).1, LISTED);
    tells(&server.interrupt(), 1, &["names no session that is open", "names no session\n", "2 mismatches"]);

    let server = Server::start(&usual(&folder), &["--match", "request"]);
    let id = open(&server);
    let (head, body) = server.post(&[("Mcp-Session-Id", &id)], &call("\"x\"", "a"));
    assert!(head.contains("text/event-stream"), "{head}");
    let data: Vec<&str> = body.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert_eq!(data, [LOG, &DONE.replace(":2,", ":\"x\",")]);
    tells(&server.interrupt(), 0, &["0 mismatches"]);
}

#[test]
fn clients_over_http_and_sse_have_a_stream_each() {
    let folder = Folder::new();
    let flags = ["--match", "request", "--transport", "http-sse"];
    let server = Server::start(&usual(&folder), &flags);
    let mut streams = Vec::new();
    for _ in 0..2 {
        let mut get = server.ask("GET", "/sse", &[("Accept", "text/event-stream")], "");
        let endpoint = until(&mut get, "\n\n");
        let path = endpoint.split("data: ").nth(1).unwrap().split('\n').next().unwrap().to_owned();
        streams.push((get, path));
    }
    assert_ne!(streams[0].1, streams[1].1);
    for (get, path) in &mut streams {
        let (head, _) =
            whole(server.ask("POST", path, &[("Content-Type", "application/json")], &call("5", "a")));
        assert!(head.starts_with("http/1.1 202"), "{head}");
        until(get, &format!("data: {}\n\n", DONE.replace(":2,", ":5,")));
    }
    tells(&server.interrupt(), 0, &["0 mismatches"]);
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
        let (head, body) = server.post(&[("Mcp-Session-Id", &id)], &call(number, "b"));
        assert!(head.contains("text/event-stream"), "{head}");
        assert!(body.contains(&DONE.replace(":2,", &format!(":{number},"))), "{body}");
    }
    tells(&server.interrupt(), 0, &["2 messages of the client added", "0 mismatches"]);
    let grown = fs::read_to_string(&session).unwrap();
    let added = grown.strip_prefix(&before).unwrap();
    assert_eq!(added.lines().count(), 4, "{added}");
    tells(&mock(&session, &["--once"], &[&call("1", "b"), &call("2", "b")]), 0, &["0 mismatches"]);
}

#[test]
fn what_is_new_is_kept_when_the_mock_is_told_to_end() {
    let folder = Folder::new();
    let (session, command) = (usual(&folder), live(&folder));
    let mut mock = concord();
    mock.args(["play", "--as", "server", "--match", "request"])
        .arg(&session)
        .args(["--record-new", &command]);
    let mut mock = mock.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut to = mock.stdin.take().unwrap();
    to.write_all((call("5", "b") + "\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(mock.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("\"id\":5,\"result\""), "{answer}");
    let kill = std::process::Command::new("kill").args(["-TERM", &mock.id().to_string()]).status();
    assert!(kill.unwrap().success());
    tells(&mock.wait_with_output().unwrap(), 143, &["1 message of the client added", "interrupted"]);
    drop(to);
    assert!(fs::read_to_string(&session).unwrap().contains("\"name\":\"b\""));
}
