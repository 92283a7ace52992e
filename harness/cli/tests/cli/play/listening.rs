//! The server over HTTP: what it sends byte by byte, when, and for how long.

use super::{CALL, CHANGED, DONE, Folder, INITIALIZE, INITIALIZED, LOG, READY, SESSION, Server, session};
use crate::sockets::{Answer, BOTH, JSON, Listener, connected, request};
use crate::support::{concord, ended};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use wire::play::journal::{self, Direction, JournalEvent};

/// What is said to a client that initializes: the id of the session.
fn initialize(server: &Server) -> String {
    let answer = server.post(&[], INITIALIZE);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.head.contains("text/event-stream"), "{answer:?}");
    assert_eq!(answer.body, format!("id: 0-0\ndata: {INITIALIZED}\n\n"));
    answer.header("mcp-session-id").unwrap()
}

#[test]
fn a_session_is_served_and_ended() {
    let folder = Folder::new();
    let journal = folder.path("journal");
    let path = journal.display().to_string();
    let server = Server::start(&session(&folder, SESSION), &["--journal", &path]);
    let id = initialize(&server);
    let named = ("Mcp-Session-Id", &*id);
    let Answer { head, body, .. } = server.post(&[named], READY);
    assert!(head.starts_with("http/1.1 202 accepted") && body.is_empty(), "{head}\n{body}");
    let headers = [named, ("Accept", "text/event-stream"), ("MCP-Protocol-Version", "2025-11-25")];
    let mut get = server.ask("GET", "/mcp", &headers, "");
    get.until(&format!("id: get-0\ndata: {CHANGED}\n\n"));
    let body = server.post(&[named], &CALL.replace("\"id\":1", "\"id\":\"x\"")).body;
    let done = DONE.replace("\"id\":1", "\"id\":\"x\"");
    assert_eq!(body, format!("id: 4-0\ndata: {LOG}\n\nid: 4-1\ndata: {done}\n\n"));
    let answer = server.ask("DELETE", "/mcp", &headers, "").answer();
    assert_eq!(answer.status, 200, "{answer:?}");
    server.ends(0, &["4 messages sent, 3 received, 0 mismatches"]);

    let notes = journal::read(&journal).unwrap();
    let asked: Vec<_> = notes
        .iter()
        .filter_map(|note| match &note.event {
            JournalEvent::Asked { way: Direction::Received, exchange, method, target, .. } => {
                Some(format!("{exchange} {method} {target}"))
            }
            _ => None,
        })
        .collect();
    assert_eq!(asked, ["0 POST /mcp", "1 POST /mcp", "2 GET /mcp", "3 POST /mcp", "4 DELETE /mcp"]);
    let sent = |number: u64| -> Vec<u8> {
        let part = |note: &journal::Entry| match &note.event {
            JournalEvent::Bytes { way: Direction::Sent, exchange, bytes } if *exchange == Some(number) => {
                bytes.0.clone()
            }
            _ => Vec::new(),
        };
        notes.iter().flat_map(part).collect()
    };
    assert_eq!(sent(3), body.as_bytes());
    assert_eq!(sent(2), format!("id: get-0\ndata: {CHANGED}\n\n").as_bytes());
    let ended = JournalEvent::Ended { way: Direction::Sent, exchange: Some(3), broken: None };
    assert!(notes.iter().any(|note| note.event == ended), "{notes:?}");
}

#[test]
fn whoever_asks_does_not_wait_for_what_is_delayed() {
    let folder = Folder::new();
    let again: Vec<(&str, &str)> = [&SESSION[..3], &[("out", CHANGED); 5]].concat();
    let server = Server::start(&session(&folder, &again), &["--delay", "300"]);
    let id = initialize(&server);
    let named = ("Mcp-Session-Id", &*id);
    server.post(&[named], READY);
    let headers = [named, ("Accept", "text/event-stream"), ("MCP-Protocol-Version", "2025-11-25")];
    let mut get = server.ask("GET", "/mcp", &headers, "");
    get.until("\r\n\r\n");
    // All of them at once, if the stream had begun when the last one was due.
    let since = Instant::now();
    get.until("id: get-4\ndata: ");
    assert!(since.elapsed() > Duration::from_millis(600), "{:?}", since.elapsed());
    server.ask("DELETE", "/mcp", &headers, "").answer();
    server.ends(0, &["6 messages sent, 2 received, 0 mismatches"]);
}

#[test]
fn a_client_that_goes_on_talking_is_left() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, SESSION), &["--timeout", "1"]);
    let id = initialize(&server);
    let talk = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    let head = format!(
        "{BOTH}{JSON}MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {id}\r\nConnection: close\r\n"
    );
    // Until nobody is there any more.
    let post = || {
        let mut stream = TcpStream::connect(&server.at)?;
        stream.write_all(request("POST /mcp", &head, talk).as_bytes())?;
        stream.read_to_end(&mut Vec::new())
    };
    let count = std::iter::repeat_with(post).take_while(|read| matches!(read, Ok(1..))).count();
    assert!(count > 1, "it is left before it has talked");
    server.ends(1, &["for 1 second only messages arrived that the session does not have"]);
}

#[test]
fn an_answer_is_one_body_where_that_is_asked_for() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--answers", "json", "--chunk", "5"]);
    let mut get = server.ask("GET", "/mcp", &[("Accept", "text/event-stream")], "");
    get.until("\r\n\r\n");
    let Answer { head, body, .. } = server.post(&[], CALL);
    assert!(head.contains("content-type: application/json") && head.contains("content-length: 48"), "{head}");
    assert_eq!(body, DONE);
    // What the server says of its own has no other way; it is cut into pieces of five bytes.
    get.until("\r\n5\r\nid: g\r\n".trim_start());
    drop(get);
    server.ends(0, &["0 mismatches"]);
}

#[test]
fn events_are_joined_in_one_part() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--merge"]);
    let headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let mut stream = server.ask("POST", "/mcp", &headers, CALL);
    let both = format!("id: 0-0\ndata: {LOG}\n\nid: 0-1\ndata: {DONE}\n\n");
    stream.until(&format!("\r\n\r\n{:X}\r\n{both}\r\n0\r\n\r\n", both.len()));
    drop(stream);
    server.ends(0, &["0 mismatches"]);
}

#[test]
fn a_client_that_vanishes_is_missed() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--timeout", "0.5"]);
    drop(connected(&server.at, b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 80\r\n\r\n{\"jsonrpc\""));
    server.ends(
        1,
        &[
            "a request broke off",
            "a message is missing: nothing arrived for 0.5 seconds",
            "trace.jsonl:2 /raw",
        ],
    );
}

#[test]
fn an_early_close_ends_the_connection() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--close-after", "1"]);
    let body = server.post(&[], CALL).body;
    assert_eq!(body, format!("id: 0-0\ndata: {LOG}\n\n"));
    let at = server.at.clone();
    server.ends(0, &["1 message sent, 1 received, 0 mismatches"]);
    assert!(TcpStream::connect(at).is_err());
}

#[test]
fn a_body_that_is_too_long_is_refused() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--timeout", "2"]);
    let long = request("POST /mcp", "Host: a\r\n", &"x".repeat(100 << 20));
    let _ = connected(&server.at, long.as_bytes()).0.read_to_end(&mut Vec::new());
    server.post(&[], CALL);
    server.ends(
        1,
        &["skipped a message of 104857600 bytes, which is too large to hold", "1 received, 1 mismatch"],
    );
}

#[test]
fn a_port_that_is_taken_is_named() {
    let (folder, taken) = (Folder::new(), Listener::new());
    let path = session(&folder, SESSION).display().to_string();
    let output = concord(["play", &path, "--as", "server", "--listen", &taken.at()]).output().unwrap();
    ended(&output, 2, &["is in use by another program"]);
}
