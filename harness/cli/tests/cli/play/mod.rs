//! `play` over HTTP, and what its journals hold. What it says over stdio is in `tests/cmd/play`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod connecting;
mod journals;
mod listening;
mod matching;

use crate::sockets::{Answer, Connection, Running, connected, request};
use crate::support::concord;
use rustix::process::Signal;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

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

    /// The same when Ctrl-C ends it.
    #[track_caller]
    fn interrupted(self, code: i32, parts: &[&str]) {
        self.running.signal(Signal::INT);
        self.ends(code, parts);
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
