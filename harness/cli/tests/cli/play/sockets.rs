//! A server that plays, asked by plain sockets, so that nothing of what is judged is also what judges.

use super::{Folder, concord};
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::Duration;

pub(super) const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
pub(super) const INITIALIZED: &str =
    r#"{ "jsonrpc":"2.0", "id":0,"result":{"protocolVersion":"2025-11-25","n":1.0} }"#;
pub(super) const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
pub(super) const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
pub(super) const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
pub(super) const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"é"}}"#;
pub(super) const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;

/// A server that runs.
pub(super) struct Server {
    child: Child,
    errors: BufReader<ChildStderr>,
    pub(super) at: String,
}

impl Server {
    pub(super) fn start(session: &Path, flags: &[&str]) -> Self {
        let mut command = concord();
        command.args(["play", "--as", "server"]).arg(session).args(["--listen", "0"]).args(flags);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut errors, mut line) = (BufReader::new(child.stderr.take().unwrap()), String::new());
        errors.read_line(&mut line).unwrap();
        let at = line.split("http://").nth(1).unwrap_or_else(|| panic!("{line}"));
        let at = at.split('/').next().unwrap().to_owned();
        Self { child, errors, at }
    }

    /// A connection on which this was asked.
    pub(super) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
        self.asking(method, path, headers, body).unwrap()
    }

    fn asking(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> io::Result<TcpStream> {
        let mut stream = TcpStream::connect(&self.at)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: {}\r\n", self.at));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        Ok(stream)
    }

    /// Posts the same message of a session again and again, until nobody is there any more. How often it was taken.
    pub(super) fn post_without_end(&self, id: &str, body: &str) -> usize {
        let headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2025-11-25"),
            ("Mcp-Session-Id", id),
        ];
        let post = || {
            let mut answer = Vec::new();
            self.asking("POST", "/mcp", &headers, body)?.read_to_end(&mut answer)
        };
        std::iter::repeat_with(post).take_while(|read| matches!(read, Ok(1..))).count()
    }

    /// The whole answer to a message: its head in lower case, and its body without the lengths of chunks.
    pub(super) fn post(&self, headers: &[(&str, &str)], body: &str) -> (String, String) {
        let plain = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2025-11-25"),
        ];
        whole(self.ask("POST", "/mcp", &[&plain[..], headers].concat(), body))
    }

    /// What is told when Ctrl-C ends it.
    pub(super) fn interrupt(self) -> Output {
        let kill = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        self.end()
    }

    pub(super) fn end(mut self) -> Output {
        let status = self.child.wait().unwrap();
        let mut stderr = Vec::new();
        self.errors.read_to_end(&mut stderr).unwrap();
        Output { status, stdout: Vec::new(), stderr }
    }
}

pub(super) fn whole(mut stream: TcpStream) -> (String, String) {
    let mut text = Vec::new();
    stream.read_to_end(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let head = head.to_lowercase();
    let body = if head.contains("transfer-encoding: chunked") { joined(body) } else { body.to_owned() };
    (head, body)
}

fn joined(mut body: &str) -> String {
    let mut out = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap();
        out.push_str(&rest[..length]);
        body = rest[length..].trim_start_matches("\r\n");
    }
    out
}

/// Reads up to and with `mark`.
pub(super) fn until(stream: &mut TcpStream, mark: &str) -> String {
    let mut seen = Vec::new();
    while !seen.ends_with(mark.as_bytes()) {
        let mut byte = [0];
        let count = stream.read(&mut byte).unwrap();
        assert_eq!(count, 1, "it ended before {mark:?}: {}", String::from_utf8_lossy(&seen));
        seen.push(byte[0]);
    }
    String::from_utf8(seen).unwrap()
}

/// A session of both transports, in a format that tells who says what.
pub(super) fn session(folder: &Folder, lines: &[(&str, &str)]) -> PathBuf {
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

pub(super) const SESSION: &[(&str, &str)] = &[
    ("in", INITIALIZE),
    ("out", INITIALIZED),
    ("in", READY),
    ("out", CHANGED),
    ("in", CALL),
    ("out", LOG),
    ("out", DONE),
];

/// What is said to a client that initializes: the id of the session.
pub(super) fn initialize(server: &Server) -> String {
    let (head, body) = server.post(&[], INITIALIZE);
    assert!(head.starts_with("http/1.1 200 ok") && head.contains("text/event-stream"), "{head}");
    assert_eq!(body, format!("id: 0-0\ndata: {INITIALIZED}\n\n"));
    head.split("mcp-session-id: ").nth(1).unwrap().split("\r\n").next().unwrap().to_owned()
}
