//! The server over HTTP.

use super::sockets::{
    CALL, CHANGED, DONE, INITIALIZE, LOG, READY, SESSION, Server, initialize, session, until, whole,
};
use super::{Folder, concord, tells};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use wire::play::journal::{self, Direction, Event};

#[test]
fn a_session_is_served_and_ended() {
    let folder = Folder::new();
    let journal = folder.path("journal");
    let path = journal.display().to_string();
    let server = Server::start(&session(&folder, SESSION), &["--journal", &path]);
    let id = initialize(&server);
    let named = ("Mcp-Session-Id", &*id);
    let (head, body) = server.post(&[named], READY);
    assert!(head.starts_with("http/1.1 202 accepted") && body.is_empty(), "{head}\n{body}");
    let headers = [named, ("Accept", "text/event-stream"), ("MCP-Protocol-Version", "2025-11-25")];
    let mut get = server.ask("GET", "/mcp", &headers, "");
    until(&mut get, &format!("id: get-0\ndata: {CHANGED}\n\n"));
    let (_, body) = server.post(&[named], &CALL.replace("\"id\":1", "\"id\":\"x\""));
    let done = DONE.replace("\"id\":1", "\"id\":\"x\"");
    assert_eq!(body, format!("id: 4-0\ndata: {LOG}\n\nid: 4-1\ndata: {done}\n\n"));
    let (head, _) = whole(server.ask("DELETE", "/mcp", &headers, ""));
    assert!(head.starts_with("http/1.1 200 ok"), "{head}");
    tells(&server.end(), 0, &["4 messages sent, 3 received, 0 mismatches"]);

    let notes = journal::read(&journal).unwrap();
    let asked: Vec<_> = notes
        .iter()
        .filter_map(|note| match &note.event {
            Event::Asked { way: Direction::Received, exchange, method, target, .. } => {
                Some(format!("{exchange} {method} {target}"))
            }
            _ => None,
        })
        .collect();
    assert_eq!(asked, ["0 POST /mcp", "1 POST /mcp", "2 GET /mcp", "3 POST /mcp", "4 DELETE /mcp"]);
    let sent = |number: u64| -> Vec<u8> {
        let part = |note: &journal::Entry| match &note.event {
            Event::Bytes { way: Direction::Sent, exchange, bytes } if *exchange == Some(number) => {
                bytes.0.clone()
            }
            _ => Vec::new(),
        };
        notes.iter().flat_map(part).collect()
    };
    assert_eq!(sent(3), body.as_bytes());
    assert_eq!(sent(2), format!("id: get-0\ndata: {CHANGED}\n\n").as_bytes());
    let ended = Event::Ended { way: Direction::Sent, exchange: Some(3), broken: None };
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
    until(&mut get, "\r\n\r\n");
    // All of them at once, if the stream had begun when the last one was due.
    let since = Instant::now();
    until(&mut get, "id: get-4\ndata: ");
    assert!(since.elapsed() > Duration::from_millis(600), "{:?}", since.elapsed());
    whole(server.ask("DELETE", "/mcp", &headers, ""));
    tells(&server.end(), 0, &["6 messages sent, 2 received, 0 mismatches"]);
}

#[test]
fn what_a_client_leaves_out_is_told() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[..3]), &["--timeout", "5"]);
    let id = initialize(&server);
    let (head, _) = server.post(&[], READY);
    assert!(head.starts_with("http/1.1 400 "), "{head}");
    let (head, _) = server.post(&[("Mcp-Session-Id", "other")], READY);
    assert!(head.starts_with("http/1.1 404 "), "{head}");
    let bare = [("Mcp-Session-Id", &*id)];
    let (head, _) = whole(server.ask("POST", "/mcp", &bare, READY));
    assert!(head.starts_with("http/1.1 202 "), "{head}");
    let (head, _) = whole(server.ask("DELETE", "/mcp", &bare, ""));
    assert!(head.starts_with("http/1.1 200 "), "{head}");
    tells(
        &server.end(),
        1,
        &[
            "a POST names no session",
            "a POST names another session",
            "a POST does not say that it holds application/json",
            "a POST does not accept both application/json and text/event-stream",
            "a POST does not name the revision in mcp-protocol-version",
            "1 message sent, 2 received",
        ],
    );
}

#[test]
fn a_client_that_goes_on_talking_is_left() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, SESSION), &["--timeout", "1"]);
    let id = initialize(&server);
    let talk = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    assert!(server.post_without_end(&id, talk) > 1, "it is left before it has talked");
    tells(&server.end(), 1, &["what came for 1 second is not in the session"]);
}

#[test]
fn a_foreign_page_and_an_unknown_revision_are_refused() {
    for mode in [&[][..], &["--match", "request"]] {
        let folder = Folder::new();
        let flags = [&["--timeout", "5", "--allow-host", "dev.example"], mode].concat();
        let server = Server::start(&session(&folder, &SESSION[..3]), &flags);
        for (header, value, status) in [
            ("Host", "evil.example:80", "403"),
            ("Origin", "https://evil.example", "403"),
            ("Origin", "null", "403"),
            ("Origin", "http://localhost.evil.example", "403"),
            ("MCP-Protocol-Version", "banana", "400"),
        ] {
            let json = ("Content-Type", "application/json");
            let (head, _) = whole(server.ask("POST", "/mcp", &[json, (header, value)], INITIALIZE));
            assert!(head.starts_with(&format!("http/1.1 {status} ")), "{mode:?} {header} {value}: {head}");
        }
        let allowed = [("Host", "dev.example:1"), ("Origin", "http://localhost:6274")];
        let (head, _) = server.post(&allowed, INITIALIZE);
        assert!(head.starts_with("http/1.1 200 "), "{mode:?}: {head}");
        let told = [
            "a POST names the host evil.example:80",
            "comes from the origin https://evil.example",
            "names the revision banana",
        ];
        let output = if mode.is_empty() { server.end() } else { server.interrupt() };
        tells(&output, 1, &told);
    }
}

#[test]
fn an_answer_is_one_body_where_that_is_asked_for() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--answers", "json", "--chunk", "5"]);
    let mut get = server.ask("GET", "/mcp", &[("Accept", "text/event-stream")], "");
    until(&mut get, "\r\n\r\n");
    let (head, body) = server.post(&[], CALL);
    assert!(head.contains("content-type: application/json") && head.contains("content-length: 48"), "{head}");
    assert_eq!(body, DONE);
    // What the server says of its own has no other way; it is cut into pieces of five bytes.
    until(&mut get, "\r\n5\r\nid: g\r\n".trim_start());
    drop(get);
    tells(&server.end(), 0, &["0 mismatches"]);
}

#[test]
fn a_refusal_is_that_of_the_recording() {
    let case = Path::new("recorded/python1-http-refused");
    let server = Server::start(case, &["--timeout", "0.5", "--ignore", "/params"]);
    let (head, body) = server.post(&[], &INITIALIZE.replace("2.0\",", "2.0\", "));
    assert!(head.starts_with("http/1.1 401 ") && body.is_empty(), "{head}");
    assert!(head.contains("www-authenticate: bearer ") && head.contains("resource_metadata="), "{head}");
    let (head, body) = server.post(&[], INITIALIZE);
    assert!(head.starts_with("http/1.1 200 ") && head.contains("application/json"), "{head}");
    assert!(body.contains("\"protocolVersion\""), "{body}");
    tells(&server.end(), 1, &["a message is missing: nothing arrived for 0.5 seconds"]);
}

#[test]
fn a_stream_is_taken_up_behind_an_event() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, SESSION), &[]);
    let id = initialize(&server);
    let named =
        [("Mcp-Session-Id", &*id), ("MCP-Protocol-Version", "2025-11-25"), ("Accept", "text/event-stream")];
    server.post(&named[..1], READY);
    let get = |last: &str| server.ask("GET", "/mcp", &[&named[..], &[("Last-Event-ID", last)]].concat(), "");
    let mut stream = server.ask("GET", "/mcp", &named, "");
    until(&mut stream, "\n\n");
    let (head, _) = whole(get("nobody"));
    assert!(head.starts_with("http/1.1 400 "), "{head}");
    let (_, body) = server.post(&named[..1], CALL);
    assert!(body.ends_with(&format!("{DONE}\n\n")), "{body}");
    let (head, body) = whole(get("4-0"));
    assert!(head.contains("text/event-stream"), "{head}");
    assert_eq!(body, format!("id: 4-1\ndata: {DONE}\n\n"));
    whole(server.ask("DELETE", "/mcp", &named, ""));
    tells(&server.end(), 1, &["a client resumed after an event that was never sent", "1 mismatch\n"]);
}

#[test]
fn an_event_is_delivered_again() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--redeliver"]);
    let (_, body) = server.post(&[], CALL);
    assert_eq!(body, format!("id: 0-0\ndata: {LOG}\n\n"), "the stream breaks");
    let headers = [("Accept", "text/event-stream"), ("Last-Event-ID", "0-0")];
    let (_, body) = whole(server.ask("GET", "/mcp", &headers, ""));
    assert_eq!(body, format!("id: 0-0\ndata: {LOG}\n\nid: 0-1\ndata: {DONE}\n\n"));
    tells(&server.end(), 0, &["0 mismatches"]);

    // A client of ours comes back by itself, and takes the event for one.
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--redeliver"]);
    let url = format!("http://{}/mcp", server.at);
    let client = super::client(&folder.path("trace.jsonl"), &["--to", &url]).output().unwrap();
    tells(
        &client,
        0,
        &["skipped an event that was delivered again", "1 message sent, 2 received, 0 mismatches"],
    );
    tells(&server.end(), 0, &["0 mismatches"]);
}

#[test]
fn events_are_joined_in_one_part() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--merge"]);
    let headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
    let mut stream = server.ask("POST", "/mcp", &headers, CALL);
    let both = format!("id: 0-0\ndata: {LOG}\n\nid: 0-1\ndata: {DONE}\n\n");
    until(&mut stream, &format!("\r\n\r\n{:X}\r\n{both}\r\n0\r\n\r\n", both.len()));
    drop(stream);
    tells(&server.end(), 0, &["0 mismatches"]);
}

#[test]
fn the_older_transport_has_one_stream() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--transport", "http-sse"]);
    let mut stream = server.ask("GET", "/sse", &[("Accept", "text/event-stream")], "");
    until(&mut stream, "\r\n\r\n");
    until(&mut stream, "event: endpoint\ndata: /messages?sessionId=1\n\n");
    let headers = [("Content-Type", "application/json")];
    let (head, body) = whole(server.ask("POST", "/messages?sessionId=1", &headers, CALL));
    assert!(head.starts_with("http/1.1 202 ") && body == "Accepted", "{head}\n{body}");
    until(&mut stream, &format!("data: {LOG}\n\n"));
    until(&mut stream, &format!("data: {DONE}\n\n"));
    drop(stream);
    tells(&server.end(), 0, &["0 mismatches"]);
}

#[test]
fn a_client_that_vanishes_is_missed() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--timeout", "0.5"]);
    let mut stream = TcpStream::connect(&server.at).unwrap();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 80\r\n\r\n{\"jsonrpc\"").unwrap();
    drop(stream);
    tells(
        &server.end(),
        1,
        &[
            "a request broke off",
            "a message is missing: nothing arrived for 0.5 seconds",
            "trace.jsonl:2 /raw",
        ],
    );
}

#[test]
fn an_end_in_the_middle_is_told_at_once() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, SESSION), &["--timeout", "600"]);
    let id = initialize(&server);
    let headers = [("Mcp-Session-Id", &*id), ("MCP-Protocol-Version", "2025-11-25")];
    whole(server.ask("DELETE", "/mcp", &headers, ""));
    tells(
        &server.end(),
        1,
        &["a message is missing: the client has ended the session", "trace.jsonl:4 /raw"],
    );
    let server = Server::start(&session(&folder, SESSION), &["--transport", "http-sse", "--timeout", "600"]);
    let mut stream = server.ask("GET", "/sse", &[("Accept", "text/event-stream")], "");
    until(&mut stream, "\n\n");
    drop(stream);
    tells(
        &server.end(),
        1,
        &["a message is missing: the client has ended the session", "trace.jsonl:2 /raw"],
    );
}

#[test]
fn an_early_close_ends_the_connection() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--close-after", "1"]);
    let (_, body) = server.post(&[], CALL);
    assert_eq!(body, format!("id: 0-0\ndata: {LOG}\n\n"));
    let at = server.at.clone();
    tells(&server.end(), 0, &["1 message sent, 1 received, 0 mismatches"]);
    assert!(TcpStream::connect(at).is_err());
}

#[test]
fn a_body_that_is_too_long_is_refused() {
    let folder = Folder::new();
    let server = Server::start(&session(&folder, &SESSION[4..]), &["--timeout", "2"]);
    let mut stream = TcpStream::connect(&server.at).unwrap();
    write!(stream, "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n", 100 << 20).unwrap();
    let part = vec![b'x'; 1 << 20];
    (0..100).for_each(|_| stream.write_all(&part).unwrap());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    server.post(&[], CALL);
    tells(
        &server.end(),
        1,
        &["skipped a message of 104857600 bytes, which is too large to hold", "1 received, 1 mismatch"],
    );
}

#[test]
fn where_it_cannot_begin_it_says_why() {
    let folder = Folder::new();
    let path = session(&folder, SESSION).display().to_string();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (flags, part) in [
        (&["--as", "server", "--listen", &*taken][..], "is in use by another program"),
        (&["--as", "server", "--listen", "here"], "is not an address"),
        (&["--as", "server", "--listen", "0", "--noise", "x"], "work only over stdio"),
        (&["--as", "server", "--to", "http://127.0.0.1:1"], "a server does not connect"),
        (&["--as", "client", "--listen", "0"], "a client does not listen"),
        (&["--as", "server", "--redeliver"], "--listen"),
        (&["--as", "client", "--to", "http://127.0.0.1:1", "--merge"], "has nothing to join"),
        (&["--as", "server", "--listen", "0", "--merge", "--redeliver"], "cannot be used with"),
        (&["--as", "server", "--transport", "http-sse"], "--transport needs HTTP"),
        (&["--as", "client", "--to", "127.0.0.1:1"], "is not a server's URL"),
        (&["--as", "client", "--to", "http://127.0.0.1:1", "--half-line-at-end"], "work only over stdio"),
    ] {
        let output = concord().arg("play").arg(&path).args(flags).output().unwrap();
        tells(&output, 2, &[part]);
    }
}
