//! Two recorders over one session, one in front of the other, over stdio and both HTTP transports, in every format that
//! `record` writes: both recordings are of the same session.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use app::{DiffOptions, Outcome, Recording, answer};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const SESSION: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"n":9007199254740993},"_meta":{"progressToken":1}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5}}"#,
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\u00e9"}]}}"#,
    r#"{"jsonrpc":"2.0","id":"b","method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":"b","error":{"code":-32601,"message":"no"}}"#,
];

fn concord() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A program that listens: where, and what it says until it ends.
struct Listening {
    child: Child,
    at: String,
    rest: thread::JoinHandle<String>,
}

impl Listening {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut errors, mut said) = (BufReader::new(child.stderr.take().unwrap()), String::new());
        // A server that it starts may be the first to say something.
        let at = loop {
            let begun = said.len();
            assert!(errors.read_line(&mut said).unwrap() > 0, "{said}");
            if let Some((_, rest)) = said[begun..].split_once("http://") {
                break rest.split('/').next().unwrap_or(rest).to_owned();
            }
        };
        let rest = thread::spawn(move || {
            let mut rest = String::new();
            errors.read_to_string(&mut rest).unwrap();
            rest
        });
        Self { child, at, rest }
    }

    /// Tells it to end, where it does not do so by itself.
    fn end(mut self, tell: bool) {
        if tell {
            kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        }
        let status = self.child.wait().unwrap();
        let rest = self.rest.join().unwrap();
        assert!(status.success(), "{status}: {rest}");
    }
}

/// Which formats record the session, each with the next one behind it.
fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let names = || formats::written().map(|format| format.name);
    names().zip(names().cycle().skip(1))
}

/// Every recording of the folder is of the session that was played. `diff` says so of each and the next one, and the library that
/// it is made of, of each and every one.
fn all_the_same(recordings: &[(&str, PathBuf)]) {
    assert_eq!(recordings.len(), 2 * formats::written().count());
    for ((left, a), (right, b)) in recordings.iter().zip(recordings.iter().cycle().skip(1)) {
        let output = concord().arg("diff").args([a, b]).output().unwrap();
        let text = told(&output);
        let same = output.status.success() && text.contains("the same session: 8 events");
        assert!(same, "{left} {right}: {text}");
    }
    let texts: Vec<_> = recordings.iter().map(|(format, path)| (*format, fs::read(path).unwrap())).collect();
    for (left, a) in &texts {
        for (right, b) in &texts {
            let recordings = [Recording::new(left, a), Recording::new(right, b)];
            let found = answer(&DiffOptions::default(), recordings).unwrap();
            assert!(found.outcome == Outcome::Well, "{left} {right}: {}", found.text());
        }
    }
}

fn session(folder: &Path) -> PathBuf {
    let path = folder.join("session.jsonl");
    fs::write(&path, SESSION.join("\n") + "\n").unwrap();
    path
}

#[test]
fn two_recorders_over_stdio_record_one_session() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    let mut recordings = Vec::new();
    for (outer, inner) in pairs() {
        let (a, b) = (folder.path().join(format!("a.{outer}")), folder.path().join(format!("b.{inner}")));
        let program = env!("CARGO_BIN_EXE_mcp-concord");
        let mut command = concord();
        command.args(["play", "--as", "client"]).arg(&session).arg("--");
        command.args([program, "record", "--format", outer, "-o"]).arg(&a).arg("--");
        command.args([program, "record", "--format", inner, "-o"]).arg(&b).arg("--");
        let output = command.args([program, "play", "--as", "server"]).arg(&session).output().unwrap();
        assert!(output.status.success(), "{outer} {inner}: {}", told(&output));
        recordings.extend([(outer, a), (inner, b)]);
    }
    all_the_same(&recordings);
}

#[test]
fn two_recorders_over_streamable_http_record_one_session() {
    over_http("streamable-http", "mcp");
}

#[test]
fn two_recorders_over_http_sse_record_one_session() {
    over_http("http-sse", "sse");
}

/// A recorder of a session over stdio, which hands it on over HTTP, and one that hands it back: each way around.
#[test]
fn two_recorders_between_stdio_and_http_record_one_session() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    let program = env!("CARGO_BIN_EXE_mcp-concord");
    let mut recordings = Vec::new();
    for (outer, inner) in pairs() {
        let (a, b) = (folder.path().join(format!("a.{outer}")), folder.path().join(format!("b.{inner}")));
        let record = |format: &str, out: &Path| {
            let words = [program, "record", "--format", format, "-o"].map(ToOwned::to_owned);
            words.into_iter().chain([out.display().to_string()]).collect::<Vec<_>>()
        };
        // From stdio to HTTP to stdio.
        let mut command = Command::new(program);
        command
            .args(&record(inner, &b)[1..])
            .args(["--listen", "0", "--", program, "play", "--as", "server"]);
        let bridge = Listening::start(command.arg(&session));
        let mut client = concord();
        client.args(["play", "--as", "client"]).arg(&session).arg("--").args(record(outer, &a));
        let output = client.args(["--to", &format!("http://{}/mcp", bridge.at)]).output().unwrap();
        assert!(output.status.success(), "{outer} {inner}: {}", told(&output));
        bridge.end(true);
        recordings.extend([(outer, a), (inner, b)]);
    }
    all_the_same(&recordings);
}

#[test]
fn two_recorders_between_http_and_stdio_record_one_session() {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    let program = env!("CARGO_BIN_EXE_mcp-concord");
    let mut recordings = Vec::new();
    for (outer, inner) in pairs() {
        let (a, b) = (folder.path().join(format!("a.{outer}")), folder.path().join(format!("b.{inner}")));
        let mut command = concord();
        let server =
            Listening::start(command.args(["play", "--as", "server", "--listen", "0"]).arg(&session));
        let mut command = concord();
        command.args(["record", "--format", outer, "-o"]).arg(&a).args(["--listen", "0", "--", program]);
        command.args(["record", "--format", inner, "-o"]).arg(&b);
        let bridge = Listening::start(command.args(["--to", &format!("http://{}/mcp", server.at)]));
        let to = format!("http://{}/mcp", bridge.at);
        let output = concord().args(["play", "--as", "client", "--to", &to]).arg(&session).output().unwrap();
        assert!(output.status.success(), "{outer} {inner}: {}", told(&output));
        server.end(false);
        // The inner recorder ends with its session, and writes its file then.
        let since = Instant::now();
        while !b.exists() {
            assert!(since.elapsed() < Duration::from_secs(120), "{outer} {inner}");
            thread::yield_now();
        }
        bridge.end(true);
        recordings.extend([(outer, a), (inner, b)]);
    }
    all_the_same(&recordings);
}

/// Every pair of recorders in front of a player, over a transport that begins at this path.
fn over_http(transport: &str, path: &str) {
    let folder = tempfile::tempdir().unwrap();
    let session = session(folder.path());
    let mut recordings = Vec::new();
    for (outer, inner) in pairs() {
        let (a, b) = (folder.path().join(format!("a.{outer}")), folder.path().join(format!("b.{inner}")));
        let mut command = concord();
        let server = Listening::start(
            command.args(["play", "--as", "server", "--transport", transport, "--listen", "0"]).arg(&session),
        );
        let recorder = |format: &str, out: &Path, to: &str| {
            let mut command = concord();
            command.args([
                "record",
                "--listen",
                "0",
                "--to",
                &format!("http://{to}/{path}"),
                "--format",
                format,
                "-o",
            ]);
            Listening::start(command.arg(out))
        };
        let second = recorder(inner, &b, &server.at);
        let first = recorder(outer, &a, &second.at);
        let to = format!("http://{}/{path}", first.at);
        let mut client = concord();
        client.args(["play", "--as", "client", "--transport", transport, "--to", &to]);
        let output = client.arg(&session).output().unwrap();
        assert!(output.status.success(), "{outer} {inner}: {}", told(&output));
        server.end(false);
        first.end(true);
        second.end(true);
        recordings.extend([(outer, a), (inner, b)]);
    }
    all_the_same(&recordings);
}
