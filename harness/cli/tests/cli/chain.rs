//! Two recorders over one session, one in front of the other, over stdio and both HTTP transports, in every format that
//! `record` writes: both recordings are of the same session.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use crate::sockets::Running;
use crate::support::{PROGRAM, concord, eventually, said};
use app::{DiffOptions, Outcome, Recording, answer};
use rustix::process::Signal;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

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

/// Which formats record the session, each with the next one behind it.
fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    let names = || formats::written().map(|format| format.name);
    names().zip(names().cycle().skip(1))
}

/// Every recording of the folder is of the session that was played. `diff` says so of each and the next one, and the library
/// of each and every one.
fn all_the_same(recordings: &[(&str, PathBuf)]) {
    assert_eq!(recordings.len(), 2 * formats::written().count());
    for ((left, a), (right, b)) in recordings.iter().zip(recordings.iter().cycle().skip(1)) {
        let output = concord(["diff"]).args([a, b]).output().unwrap();
        let text = said(&output);
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

/// Where a pair of recorders writes, and the session that they record.
struct Chain {
    session: PathBuf,
    outer: &'static str,
    inner: &'static str,
    a: PathBuf,
    b: PathBuf,
}

impl Chain {
    /// `record` in the format of the first recorder, or of the second one.
    fn record(&self, first: bool) -> Vec<String> {
        let (format, out) = if first { (self.outer, &self.a) } else { (self.inner, &self.b) };
        let words = [PROGRAM, "record", "--format", format, "-o"].map(ToOwned::to_owned);
        words.into_iter().chain([out.display().to_string()]).collect()
    }

    fn listening(words: &[String], more: &[&str]) -> (Running, String) {
        let mut running = Running::start(Command::new(&words[0]).args(&words[1..]).args(more));
        let at = running.address();
        (running, at)
    }

    /// A server that plays the session over this transport.
    fn server(&self, transport: &str) -> (Running, String) {
        let words = [PROGRAM, "play", "--as", "server", "--transport", transport, "--listen", "0"];
        Self::listening(&words.map(ToOwned::to_owned), &[self.session.to_str().unwrap()])
    }

    /// Has a client play the session, with these words behind.
    fn play(&self, words: &[String]) {
        let mut client = concord(["play", "--as", "client"]);
        let output = client.arg(&self.session).args(words).output().unwrap();
        assert!(output.status.success(), "{} {}: {}", self.outer, self.inner, said(&output));
    }
}

fn terminated(running: Running) {
    running.signal(Signal::TERM);
    running.ends(0, &[]);
}

/// Every pair of recorders around a session; their recordings are all of that session.
fn recorded(around: impl Fn(&Chain)) {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("session.jsonl");
    fs::write(&session, SESSION.join("\n") + "\n").unwrap();
    let mut recordings = Vec::new();
    for (outer, inner) in pairs() {
        let [a, b] =
            [("a", outer), ("b", inner)].map(|(name, it)| folder.path().join(format!("{name}.{it}")));
        let chain = Chain { session: session.clone(), outer, inner, a, b };
        around(&chain);
        recordings.extend([(outer, chain.a), (inner, chain.b)]);
    }
    all_the_same(&recordings);
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn two_recorders_over_stdio_record_one_session() {
    recorded(|chain| {
        let server = words(&[PROGRAM, "play", "--as", "server", chain.session.to_str().unwrap()]);
        let separator = words(&["--"]);
        chain.play(
            &[&separator[..], &chain.record(true), &separator, &chain.record(false), &separator, &server]
                .concat(),
        );
    });
}

#[test]
fn two_recorders_over_streamable_http_record_one_session() {
    over_http("streamable-http", "mcp");
}

#[test]
fn two_recorders_over_http_sse_record_one_session() {
    over_http("http-sse", "sse");
}

/// Every pair of recorders in front of a player, over a transport that begins at this path.
fn over_http(transport: &str, path: &str) {
    recorded(|chain| {
        let (server, mut at) = chain.server(transport);
        let mut recorders = Vec::new();
        for first in [false, true] {
            let to = format!("http://{at}/{path}");
            let (recorder, next) = Chain::listening(&chain.record(first), &["--listen", "0", "--to", &to]);
            recorders.push(recorder);
            at = next;
        }
        chain.play(&words(&["--transport", transport, "--to", &format!("http://{at}/{path}")]));
        server.ends(0, &[]);
        recorders.into_iter().rev().for_each(terminated);
    });
}

/// A recorder of a session over stdio, which hands it on over HTTP, and one that hands it back: each way around.
#[test]
fn two_recorders_between_stdio_and_http_record_one_session() {
    recorded(|chain| {
        let serve =
            ["--listen", "0", "--", PROGRAM, "play", "--as", "server", chain.session.to_str().unwrap()];
        let (bridge, at) = Chain::listening(&chain.record(false), &serve);
        let to = words(&["--to", &format!("http://{at}/mcp")]);
        chain.play(&[words(&["--"]), chain.record(true), to].concat());
        terminated(bridge);
    });
}

#[test]
fn two_recorders_between_http_and_stdio_record_one_session() {
    recorded(|chain| {
        let (server, at) = chain.server("streamable-http");
        let inner = [chain.record(false), words(&["--to", &format!("http://{at}/mcp")])].concat();
        let behind = [words(&["--listen", "0", "--"]), inner].concat();
        let (bridge, at) =
            Chain::listening(&chain.record(true), &behind.iter().map(String::as_str).collect::<Vec<_>>());
        chain.play(&words(&["--to", &format!("http://{at}/mcp")]));
        server.ends(0, &[]);
        // The inner recorder ends with its session, and writes its file then.
        eventually("the inner recording", || chain.b.exists());
        terminated(bridge);
    });
}
