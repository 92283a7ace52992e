//! `play` over HTTP where times, bytes and signals are the point, and what its journals hold. What else it says is in `tests/cmd/play`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod listening;

use crate::sockets::{Answer, Connection, EVENTS, Listener, Running, connected, request};
use crate::support::{PROGRAM, concord, ended, file};
use rustix::process::Signal;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;
use wire::play::journal::{self, Direction, JournalEvent};

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
const INITIALIZED: &str = r#"{ "jsonrpc":"2.0", "id":0,"result":{"protocolVersion":"2025-11-25","n":1.0} }"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"é"}}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;

/// A folder to play in.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A recording of these messages.
    fn session(&self, lines: &[&str]) -> PathBuf {
        let path = self.path("session.jsonl");
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        path
    }
}

/// A client of a session, up to its server's command.
fn client(session: &Path, flags: &[&str]) -> Command {
    let mut command = concord(["play", "--as", "client"]);
    command.arg(session).args(flags);
    command
}

/// A server that runs.
struct Server {
    running: Running,
    at: String,
}

impl Server {
    fn start(session: &Path, flags: &[&str]) -> Self {
        let mut command = concord(["play", "--as", "server", "--listen", "0"]);
        let mut running = Running::start(command.arg(session).args(flags));
        let at = running.address();
        Self { running, at }
    }

    /// A connection on which this was asked.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Connection {
        let mut lines = "Connection: close\r\n".to_owned();
        if !headers.iter().any(|(name, _)| *name == "Host") {
            lines += &format!("Host: {}\r\n", self.at);
        }
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        connected(&self.at, request(&format!("{method} {path}"), &lines, body).as_bytes())
    }

    /// The whole answer to a message.
    fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        let plain = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2025-11-25"),
        ];
        self.ask("POST", "/mcp", &[&plain[..], headers].concat(), body).answer()
    }

    /// That it ends by itself with this code, and has said each of these parts.
    #[track_caller]
    fn ends(self, code: i32, parts: &[&str]) {
        self.running.ends(code, parts);
    }
}

/// A session of both transports, in a format that tells who says what.
fn session(folder: &Folder, lines: &[(&str, &str)]) -> PathBuf {
    let path = folder.path("trace.jsonl");
    let mut text = concat!(
        r#"{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"a","command":["a"]}"#,
        "\n"
    )
    .to_owned();
    for (dir, raw) in lines {
        text.push_str(&format!("{{\"t\":\"2026-01-01T00:00:00.000Z\",\"dir\":\"{dir}\",\"raw\":{raw}}}\n"));
    }
    std::fs::write(&path, text).unwrap();
    path
}

const SESSION: &[(&str, &str)] = &[
    ("in", INITIALIZE),
    ("out", INITIALIZED),
    ("in", READY),
    ("out", CHANGED),
    ("in", CALL),
    ("out", LOG),
    ("out", DONE),
];

/// What a server says of its own while nobody listens is lost.
#[test]
fn a_client_listens_before_it_makes_a_server_speak() {
    let (folder, listener) = (Folder::new(), Listener::new());
    let session = folder.session(&[INITIALIZE, INITIALIZED, READY, CHANGED, CALL, DONE]);
    let event = format!("data: {CHANGED}\n\n");
    let head = format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\n");
    let begin = || {
        let child = client(&session, &["--to", &listener.url(), "--timeout", "1"]).spawn().unwrap();
        listener.next().json("Mcp-Session-Id: s1\r\n", INITIALIZED);
        let asked = listener.next();
        assert!(asked.head.starts_with("get /mcp ") && asked.has("mcp-session-id: s1"), "{}", asked.head);
        (child, asked.stream)
    };
    let end = |child: Child| {
        assert!(listener.next().json("", DONE).ends_with(CALL));
        listener.next().answer("200 OK", "", "");
        ended(&child.wait_with_output().unwrap(), 0, &["3 messages sent, 3 received, 0 mismatches"]);
    };
    // A server may answer the GET at once, or only when it has something to say.
    for (soon, late) in [(&*head, &*event), ("", &*(head.clone() + &event))] {
        let (child, mut stream) = begin();
        stream.write_all(soon.as_bytes()).unwrap();
        assert!(listener.next().answer("202 Accepted", "", "").ends_with(READY));
        stream.write_all(late.as_bytes()).unwrap();
        end(child);
    }
    // Or it wants to be asked again, after `notifications/initialized`.
    let (child, mut stream) = begin();
    stream.write_all(b"HTTP/1.1 400 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").unwrap();
    drop(stream);
    let mut both = [listener.next(), listener.next()];
    both.sort_by(|one, other| one.head.cmp(&other.head));
    let [again, ready] = both;
    assert!(again.head.starts_with("get /mcp ") && ready.body == READY, "{}{}", again.head, ready.body);
    ready.answer("202 Accepted", "", "");
    let mut again = again.stream;
    again.write_all((head + &event).as_bytes()).unwrap();
    end(child);
}

#[test]
fn journals_hold_what_passed() {
    const LAST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    const PONG: &str = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
    let folder = Folder::new();
    let session = folder.session(&[CALL, DONE, LAST, PONG]);
    let [one, other] = ["client", "server"].map(|name| folder.path(name));
    let [one_text, other_text] = [&one, &other].map(|path| path.display().to_string());
    let flags = ["--journal", &other_text, "--noise", "é"];
    let mut command = client(&session, &["--journal", &one_text, "--", PROGRAM, "play", "--as", "server"]);
    let output = command.arg(&session).args(flags).output().unwrap();
    ended(&output, 1, &["not a message", "é"]);
    let [one, other] = [one, other].map(|path| journal::read(&path).unwrap());
    let bytes = |notes: &[journal::Entry], which: Direction| {
        let mut all = Vec::new();
        for note in notes {
            if let JournalEvent::Bytes { way, bytes, .. } = &note.event
                && *way == which
            {
                all.extend_from_slice(&bytes.0);
            }
        }
        String::from_utf8(all).unwrap()
    };
    assert_eq!(bytes(&one, Direction::Sent), format!("{CALL}\n{LAST}\n"));
    assert_eq!(bytes(&other, Direction::Sent), format!("é\n{DONE}\né\n{PONG}\n"));
    assert_eq!(bytes(&one, Direction::Received), bytes(&other, Direction::Sent));
    assert_eq!(bytes(&other, Direction::Received), bytes(&one, Direction::Sent));
    let has = |notes: &[journal::Entry], event: &JournalEvent| notes.iter().any(|note| note.event == *event);
    assert!(has(&one, &JournalEvent::Exited { code: Some(0), signal: None }), "{one:?}");
    assert!(has(&one, &JournalEvent::Over { sent: 2, received: 2, mismatches: 2 }), "{one:?}");
    assert!(has(&other, &JournalEvent::Over { sent: 2, received: 2, mismatches: 0 }), "{other:?}");
    for notes in [&one, &other] {
        for way in [Direction::Sent, Direction::Received] {
            assert!(has(notes, &JournalEvent::Ended { way, exchange: None, broken: None }), "{notes:?}");
        }
        assert!(matches!(notes[0].event, JournalEvent::Began { .. }));
    }
}

#[test]
fn what_is_new_is_kept_when_the_mock_is_told_to_end() {
    let folder = Folder::new();
    let session = folder.path("session.jsonl");
    std::fs::copy(file("cmd/play/in/recorded.jsonl"), &session).unwrap();
    let live =
        format!("'{PROGRAM}' -q play --as server --match request '{}'", file("cmd/play/in/live.jsonl"));
    let mut mock = concord(["play", "--as", "server", "--match", "request", "--record-new", &live]);
    let mut mock = Running::start(mock.arg(&session).stdin(Stdio::piped()));
    let mut to = mock.child.stdin.take().unwrap();
    to.write_all(CALL.replace("\"a\"", "\"b\"").as_bytes()).unwrap();
    to.write_all(b"\n").unwrap();
    let mut lines = BufReader::new(mock.child.stdout.as_mut().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("\"id\":1,\"result\"")));
    mock.signal(Signal::TERM);
    mock.ends(143, &["1 message of the client added", "interrupted"]);
    drop(to);
    assert!(std::fs::read_to_string(&session).unwrap().contains("\"name\":\"b\""));
}
