//! `record --listen -- CMD`: a server over stdio that clients reach over Streamable HTTP. Clients are plain sockets, so that
//! nothing of what is judged here is also what judges.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod reverse;

use crate::sockets::{Answer, BOTH, Connection, JSON, PING, Running, ask, connected, request};
use crate::support::{concord, file, ran};
use rustix::process::Signal;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;

const NEWEST: &str = "2025-11-25";

/// `check` finds nothing, and `read` these numbers of messages in the recordings.
fn is_right(folder: &Path, recordings: &[(&str, usize)]) {
    for (name, messages) in recordings {
        ran(folder, &["check", "--strict", name], &[]);
        let read = ran(folder, &["read", name], &[]);
        assert_eq!(read.matches("\"kind\": ").count(), *messages, "{name}: {read}");
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), recordings.len());
}

fn hello(version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

fn call(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"progressToken":"p"}}}}}}"#
    )
}

/// A recorder in front of a server over stdio.
struct Bridge {
    folder: TempDir,
    running: Running,
    at: String,
}

impl Bridge {
    fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut program = concord(["record", "--listen", "0"]);
        program.current_dir(folder.path()).stdout(Stdio::null()).args(options);
        let mut running = Running::start(program.args(["--", "python3", &file("cli/bridge/peer.py")]));
        let line = running.until("Serving ");
        let at = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Self { folder, running, at }
    }

    /// Ends it with this code; all that it said, and where its files are. No server is left.
    #[track_caller]
    fn ends(self, code: i32) -> (String, TempDir) {
        self.running.signal(Signal::INT);
        let seen = self.running.ends(code, &[]);
        for pid in seen.lines().filter_map(|line| line.strip_prefix("the server is ")) {
            let left = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            assert!(!left.contains("peer.py"), "{pid}: {left}");
        }
        (seen, self.folder)
    }

    /// Sends a request; the connection.
    fn send(&self, first: &str, headers: &str, body: &str) -> Connection {
        connected(&self.at, request(first, headers, body).as_bytes())
    }

    fn ask(&self, first: &str, headers: &str, body: &str) -> Answer {
        ask(&self.at, first, headers, body)
    }

    /// Posts a message in a session.
    fn post(&self, session: &str, body: &str) -> Answer {
        self.ask("POST /mcp", &format!("{BOTH}{JSON}{session}"), body)
    }

    /// Initializes a session of a revision; the header of its id.
    fn session(&self, version: &str) -> String {
        let answer = self.post("", &hello(version));
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.header("mcp-session-id").unwrap();
        let session = format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: {version}\r\n");
        let answer = self.post(&session, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!((answer.status, &*answer.body), (202, ""));
        session
    }
}

#[test]
fn a_session_is_served_and_recorded() {
    let bridge = Bridge::start(&["-o", "session.har"]);
    let session = bridge.session(NEWEST);
    let listed = bridge.post(&session, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!((listed.status, listed.header("content-type").as_deref()), (200, Some("application/json")));
    assert!(listed.body.starts_with(r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": "#), "{listed:?}");
    // A message between a request and its answer makes a stream of them, which can be resumed from its beginning.
    let response = bridge.post(&session, &call(2, "progress"));
    assert_eq!(response.header("content-type").as_deref(), Some("text/event-stream"));
    let events: Vec<&str> = response.body.split("\n\n").map(str::trim).filter(|it| !it.is_empty()).collect();
    let [first, progress, answer] = &events[..] else { panic!("{response:?}") };
    let stream = first.strip_prefix("id: ").and_then(|it| it.strip_suffix("-0\ndata:")).unwrap();
    assert!(progress.starts_with(&format!("id: {stream}-1\ndata: ")), "{response:?}");
    assert!(progress.contains(r#""params": {"progressToken": "p", "progress": 1}"#), "{response:?}");
    assert!(
        answer.starts_with(&format!("id: {stream}-2\ndata: ")) && answer.contains(r#""id": 2"#),
        "{response:?}"
    );
    let ended = bridge.ask("DELETE /mcp", &session, "");
    assert_eq!((ended.status, &*ended.body), (200, ""));
    let over = bridge.post(&session, r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
    assert_eq!(over.status, 404, "{over:?}");
    let (seen, folder) = bridge.ends(0);
    assert!(seen.contains("the server is ") && seen.contains("session.har: 6 exchanges"), "{seen}");
    let read = ran(folder.path(), &["read", "session.har"], &[]);
    // The request behind the end of the session is in the recording, and unanswered.
    assert_eq!(read.matches("\"kind\": ").count(), 9, "{read}");
}

#[test]
fn what_the_protocol_does_not_allow_is_refused() {
    let bridge = Bridge::start(&["-o", "session.har"]);
    let session = bridge.session(NEWEST);
    let ping = PING;
    let (id, _) = session.split_once("\r\n").unwrap();
    let [id, unknown] = [format!("{id}\r\n"), "Mcp-Session-Id: x\r\n".to_owned()];
    let of = |headers: &str| format!("{BOTH}{JSON}{headers}");
    for (first, headers, body, status, part) in [
        ("POST /mcp", of(&unknown), ping, 404, "initialize again"),
        ("POST /mcp", of(""), ping, 400, "no Mcp-Session-Id"),
        (
            "POST /mcp",
            of(&format!("{id}MCP-Protocol-Version: 1999-01-01\r\n")),
            ping,
            400,
            "names a revision",
        ),
        ("POST /mcp", of("MCP-Protocol-Version: 1999-01-01\r\n"), &hello(NEWEST), 400, "names a revision"),
        ("POST /mcp", format!("Accept: application/json\r\n{JSON}{id}"), ping, 406, "text/event-stream"),
        ("POST /mcp", format!("{BOTH}Content-Type: text/plain\r\n{id}"), ping, 415, "application/json"),
        ("POST /mcp", of(&id), "{", 400, "not a message"),
        ("POST /mcp", of(&id), "[]", 400, "not a message"),
        ("POST /mcp", of(&id), &format!("[{ping}, {}]", call(2, "pid")), 400, "batches"),
        ("POST /mcp", of(&format!("{id}Origin: http://evil.example\r\n")), ping, 403, "evil.example"),
        ("POST /mcp", of(&format!("{id}Host: evil.example\r\n")), ping, 403, "evil.example"),
        ("GET /mcp", format!("Accept: application/json\r\n{id}"), "", 406, "text/event-stream"),
        ("GET /mcp", format!("{BOTH}{id}Last-Event-ID: 7-1\r\n"), "", 400, "no such event"),
        ("GET /mcp", format!("{BOTH}{id}Last-Event-ID: x\r\n"), "", 400, "no such event"),
        ("GET /mcp", format!("{BOTH}{unknown}"), "", 404, "initialize again"),
        ("DELETE /mcp", unknown.clone(), "", 404, "initialize again"),
        ("PUT /mcp", of(&id), ping, 405, "belongs here"),
        ("POST /other", of(&id), ping, 404, "/mcp"),
    ] {
        let answer = bridge.ask(first, &headers, body);
        assert_eq!(answer.status, status, "{first} {headers} {body}: {answer:?}");
        assert!(answer.body.contains(part), "{first} {headers} {body}: {answer:?}");
    }
    assert_eq!(bridge.post(&id, ping).status, 200, "an older client does not name the revision");
    let refused = bridge.post("", &hello("refused"));
    assert_eq!((refused.status, refused.header("mcp-session-id")), (200, None));
    assert!(refused.body.contains("-32602"), "{refused:?}");
    bridge.ends(0);
}

#[test]
fn a_stream_goes_on_where_it_broke_off() {
    let bridge = Bridge::start(&["-o", "session.har"]);
    let session = bridge.session(NEWEST);
    let headers = format!("{BOTH}{session}");
    let mut listening = bridge.send("GET /mcp", &headers, "");
    assert!(listening.head().starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(listening.event(), ("0-0".to_owned(), String::new()));
    assert!(bridge.post(&session, &call(1, "news")).body.contains("told"));
    let (news, data) = listening.event();
    assert!(news == "0-1" && data.contains("list_changed"), "{news}: {data}");
    // What comes while nobody listens waits.
    drop(listening);
    let mut holding = bridge.send("POST /mcp", &format!("{headers}{JSON}"), &call(2, "hold"));
    holding.head();
    let [(first, _), (held, data)] = [holding.event(), holding.event()];
    assert!(data.contains("\"held\""), "{data}");
    drop(holding);
    assert!(bridge.post(&session, &call(3, "release")).body.contains("let go"));
    let resumed = |last: &str| {
        let mut stream = bridge.send("GET /mcp", &format!("{headers}Last-Event-ID: {last}\r\n"), "");
        stream.head();
        stream
    };
    let mut answer = resumed(&held);
    assert!(answer.event().1.contains("released"));
    assert_eq!(answer.rest(), 0, "it ends with the answer");
    let mut again = resumed(&first);
    assert_eq!(again.event().0, held);
    assert!(again.event().1.contains("released"));
    assert!(bridge.post(&session, &call(4, "news")).body.contains("told"));
    let mut listening = resumed(&news);
    assert_eq!(listening.event().0, "0-2");
    bridge.ends(0);
}

#[test]
fn what_the_server_asks_is_answered_by_its_client() {
    let bridge = Bridge::start(&["-o", "session.jsonl"]);
    let session = bridge.session("2025-06-18");
    let mut asking = bridge.send("POST /mcp", &format!("{BOTH}{JSON}{session}"), &call(1, "ask"));
    asking.head();
    let (id, asked) = asking.event();
    // A client of this revision gets no event without data.
    assert!(id.ends_with("-1") && asked.contains("roots/list"), "{id} {asked}");
    let given = bridge.post(&session, r#"{"jsonrpc":"2.0","id":"s1","result":{"roots":[]}}"#);
    assert_eq!(given.status, 202);
    assert!(asking.event().1.contains(r#"answered with {\"roots\": []}"#));
    assert_eq!(asking.rest(), 0);
    let (seen, folder) = bridge.ends(0);
    assert!(seen.contains("the server was let end"), "{seen}");
    is_right(folder.path(), &[("session.jsonl", 7)]);
    let first = fs::read_to_string(folder.path().join("session.jsonl")).unwrap();
    assert!(first.contains("\"label\":\"python3\"") && first.contains("streamable-http"), "{first}");
}

#[test]
fn batches_are_passed_on_for_clients_of_the_revision_that_has_them() {
    let bridge = Bridge::start(&["-o", "session.har"]);
    let session = bridge.session("2025-03-26");
    let batch = format!("[{},\n {}]", call(1, "pid"), r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    let answer = bridge.post(&session, &batch);
    assert_eq!(answer.header("content-type").as_deref(), Some("text/event-stream"));
    assert!(
        answer.body.contains(r#""id": 1"#) && answer.body.contains(r#""id": 2, "result": {}"#),
        "{answer:?}"
    );
    bridge.ends(0);
}

#[test]
fn a_server_that_ends_is_told_of_and_only_its_own_session_is_over() {
    let mut bridge = Bridge::start(&["-o", "session.har"]);
    let [first, second] = [bridge.session(NEWEST), bridge.session(NEWEST)];
    let answer = bridge.post(&first, &call(1, "exit"));
    assert_eq!(answer.status, 200);
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"mcp-concord record: the server ended with exit code 3"}}"#;
    assert_eq!(answer.body, error);
    let id = first.split(['\r', ' ']).nth(1).unwrap();
    let line = bridge.running.until("the server ended with exit code 3, and 1 request was open");
    assert!(line.contains(&format!("the session {id} is over")), "{line}");
    assert_eq!(bridge.post(&first, &call(2, "pid")).status, 404);
    assert_eq!(bridge.post(&second, &call(2, "pid")).status, 200);
    bridge.session(NEWEST);
    let (seen, folder) = bridge.ends(1);
    assert!(seen.contains("the server's last words"), "{seen}");
    is_right_but_for_the_end(folder.path());
}

/// The three sessions of a recording in which the first one ended early.
fn is_right_but_for_the_end(folder: &Path) {
    for name in ["session.har", "session-2.har", "session-3.har"] {
        ran(folder, &["check", "--profile", "recorder", "--strict", name], &[]);
    }
    assert!(ran(folder, &["read", "session.har"], &[]).contains("-32603"));
}

#[test]
fn a_shared_server_keeps_its_clients_apart() {
    let mut bridge = Bridge::start(&["-o", "session.har", "--shared"]);
    let [first, second] = [bridge.session(NEWEST), bridge.session(NEWEST)];
    let pid = |session: &str| bridge.post(session, &call(1, "pid")).body;
    assert_eq!(pid(&first), pid(&second), "one process, and each answer has the id of its request");
    // Two requests of one id and one token are open at once.
    let open = |session: &str| {
        let mut holding = bridge.send("POST /mcp", &format!("{BOTH}{JSON}{session}"), &call(2, "hold"));
        holding.head();
        holding
    };
    let mut holding = [open(&first), open(&second)];
    for stream in &mut holding {
        assert_eq!(stream.event().1, "");
        assert!(stream.event().1.contains("held"));
    }
    // The one that was held last is let go first.
    for (stream, session) in holding.iter_mut().rev().zip([&first, &second]) {
        assert!(bridge.post(session, &call(3, "release")).body.contains("let go"));
        let (_, answer) = stream.event();
        assert!(answer.contains(r#""id": 2"#) && answer.contains("released"), "{answer}");
    }
    let response = bridge.post(&second, &call(3, "progress"));
    assert!(
        response.body.contains(r#""progressToken": "p""#) && response.body.contains(r#""id": 3"#),
        "{response:?}"
    );
    assert_eq!(bridge.ask("DELETE /mcp", &first, "").status, 200);
    assert_eq!(bridge.post(&second, &call(4, "pid")).status, 200, "the others go on");
    assert_eq!(bridge.post(&second, &call(5, "exit")).status, 200);
    bridge.running.until("exit code 3");
    assert_eq!(bridge.post(&second, &call(6, "pid")).status, 404);
    bridge.session(NEWEST);
    let (seen, _) = bridge.ends(1);
    assert_eq!(seen.matches("the server is ").count(), 2, "{seen}");
}

#[test]
fn what_is_not_passed_on_is_counted() {
    let bridge = Bridge::start(&["-o", "session.har"]);
    let session = bridge.session(NEWEST);
    assert!(bridge.post(&session, &call(1, "noise")).body.contains("said"));
    assert!(bridge.post(&session, &call(2, "news")).body.contains("told"));
    assert_eq!(bridge.ask("DELETE /mcp", &session, "").status, 200);
    let (seen, folder) = bridge.ends(0);
    for part in [
        "lines of the server that are not messages were not passed on: 1",
        "answers of the server to no request were not passed on: 1",
        "messages of the server waited for a client to read them, and none did: 1",
    ] {
        assert!(seen.contains(part), "{seen}");
    }
    is_right(folder.path(), &[("session.har", 7)]);
}
