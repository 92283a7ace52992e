//! `record --to URL`: a server over HTTP, which a test plays with plain sockets, as one over stdio. The other way around is in
//! `tests/cmd/record/serving.md`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use crate::sockets::{Asked, Listener, Running};
use crate::support::{concord, ran};
use rustix::process::Signal;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{ChildStdin, ChildStdout, Stdio};
use tempfile::TempDir;

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
/// A request, and its answer.
const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
const WELCOME: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;

fn hello(version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

/// Another request of the same session: ids are not used twice.
fn ping(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

/// A recorder between a client over stdio and a server over HTTP, both of which a test plays.
struct Reverse {
    folder: TempDir,
    running: Running,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    server: Listener,
}

impl Reverse {
    fn start() -> Self {
        let (folder, server) = (tempfile::tempdir().unwrap(), Listener::new());
        let mut command = concord(["record", "-o", "trace.jsonl", "--to", &server.url()]);
        let mut running = Running::start(command.current_dir(folder.path()).stdin(Stdio::piped()));
        let to = running.child.stdin.take();
        let from = BufReader::new(running.child.stdout.take().unwrap());
        Self { folder, running, to, from, server }
    }

    fn say(&mut self, line: &str) {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The next request, which begins so.
    fn next(&self, first: &str) -> Asked {
        let asked = self.server.next();
        assert!(asked.head.starts_with(&first.to_lowercase()), "{first}: {}", asked.head);
        asked
    }

    /// A session with an id; the GET that follows is left to the test.
    fn session() -> (Self, Asked) {
        let mut reverse = Self::start();
        reverse.say(&hello("2025-11-25"));
        let asked = reverse.next("POST /mcp HTTP/1.1\r\n");
        assert!(
            asked.has("Accept: application/json, text/event-stream") && asked.body == hello("2025-11-25")
        );
        assert!(asked.has("Content-Type: application/json") && !asked.head.contains("mcp-session-id"));
        asked.json("Mcp-Session-Id: s1\r\n", WELCOME);
        assert_eq!(reverse.hear(), WELCOME);
        reverse.say(INITIALIZED);
        let asked = reverse.next("POST /mcp");
        assert!(
            asked.has("Mcp-Session-Id: s1") && asked.has("MCP-Protocol-Version: 2025-06-18"),
            "{}",
            asked.head
        );
        assert_eq!(asked.body, INITIALIZED);
        asked.answer("202 Accepted", "", "");
        let listening = reverse.next("GET /mcp");
        assert!(listening.has("Mcp-Session-Id: s1") && listening.has("Accept: text/event-stream"));
        (reverse, listening)
    }

    /// That it ends with this code once its input does, or by itself; what it said, and the recording, in which `check` finds nothing
    /// of the recorder's.
    #[track_caller]
    fn ends(mut self, code: i32) -> (String, String) {
        drop(self.to.take());
        let seen = self.running.ends(code, &[]);
        ran(self.folder.path(), &["check", "--profile", "recorder", "--strict", "trace.jsonl"], &[]);
        (seen, fs::read_to_string(self.folder.path().join("trace.jsonl")).unwrap())
    }
}

#[test]
fn a_server_over_http_is_one_over_stdio() {
    let (mut reverse, listening) = Reverse::session();
    let news = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let mut listening = listening.stream(&format!("id: 1\nevent: message\ndata: {news}\n\n"));
    assert_eq!(reverse.hear(), news);
    reverse.say(PING);
    let asked = reverse.next("POST /mcp");
    assert_eq!(asked.body, PING);
    // What comes on several lines, in a stream and before the answer is a line each.
    let log = "data: {\"jsonrpc\":\"2.0\",\r\ndata: \"method\":\"notifications/message\"}\r\n\r\n: quiet\n\n";
    drop(asked.stream(&format!("{log}data: {PONG}\n\n")));
    assert_eq!(reverse.hear(), r#"{"jsonrpc":"2.0","method":"notifications/message"}"#);
    assert_eq!(reverse.hear(), PONG);
    write!(listening, "data: {{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}}\n\n").unwrap();
    assert!(reverse.hear().contains("roots/list"));
    let given = r#"{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}"#;
    reverse.say(given);
    let asked = reverse.next("POST /mcp");
    assert_eq!(asked.body, given);
    asked.answer("202 Accepted", "", "");
    drop(reverse.to.take());
    let ended = reverse.next("DELETE /mcp");
    assert!(ended.has("Mcp-Session-Id: s1"));
    ended.answer("200 OK", "", "");
    let (_, trace) = reverse.ends(0);
    let lines: Vec<&str> = trace.lines().collect();
    assert!(
        lines[0].contains("\"label\":\"http://127.0.0.1:") && lines[0].contains("\"command\":[]"),
        "{trace}"
    );
    assert!(lines.len() == 11 && lines[10].contains("\"exitCode\":0"), "{trace}");
}

#[test]
fn a_stream_that_breaks_off_is_resumed_where_it_can_be() {
    let (mut reverse, listening) = Reverse::session();
    listening.answer("405 Method Not Allowed", "", "");
    reverse.say(PING);
    drop(reverse.next("POST /mcp").stream("id: a\nretry: 1\ndata: \n\n"));
    let resumed = reverse.next("GET /mcp");
    assert!(resumed.has("Last-Event-ID: a") && resumed.has("Mcp-Session-Id: s1"), "{}", resumed.head);
    drop(resumed.stream(&format!("id: b\ndata: {PONG}\n\n")));
    assert_eq!(reverse.hear(), PONG);
    reverse.say(&ping(8));
    drop(reverse.next("POST /mcp").stream(": nothing\n\n"));
    let error = reverse.hear();
    assert!(error.contains("\"id\":8") && error.contains("closed the stream before it answered"), "{error}");
    reverse.say(&ping(9));
    drop(reverse.next("POST /mcp").stream("id: a\nretry: 1\ndata: \n\n"));
    reverse.next("GET /mcp").answer("400 Bad Request", "", "");
    let error = reverse.hear();
    assert!(error.contains("it cannot be resumed: HTTP 400 Bad Request"), "{error}");
    drop(reverse.to.take());
    reverse.next("DELETE /mcp").answer("405 Method Not Allowed", "", "");
    reverse.ends(0);
}

#[test]
fn what_http_refuses_is_an_error_of_the_request() {
    let (mut reverse, listening) = Reverse::session();
    listening.answer("405 Method Not Allowed", "", "");
    let own = r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"its own"}}"#;
    let cases = [
        (
            "503 Service Unavailable",
            "",
            "try\nlater",
            "mcp-concord record: HTTP 503 Service Unavailable: try later",
        ),
        (
            "401 Unauthorized",
            "WWW-Authenticate: Bearer\r\n",
            "",
            "mcp-concord record: HTTP 401 Unauthorized\"",
        ),
        ("307 Temporary Redirect", "Location: /mcp/\r\n", "", "HTTP 307 Temporary Redirect"),
        ("400 Bad Request", "Content-Type: application/json\r\n", own, "its own"),
        ("200 OK", "Content-Type: text/html\r\n", "<html>", "neither JSON nor a stream of events"),
        ("200 OK", "Content-Type: application/json\r\n", "[]", "did not answer"),
    ];
    for (id, (status, headers, body, expected)) in (1..).zip(cases) {
        reverse.say(&ping(id));
        reverse.next("POST /mcp").answer(status, headers, body);
        let error = reverse.hear();
        let begin = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":"#);
        assert!(error.starts_with(&begin) && error.contains(expected), "{error}");
    }
    // It dies, and what is said then is not lost in silence.
    reverse.say(&ping(9));
    drop(reverse.next("POST /mcp"));
    let error = reverse.hear();
    assert!(error.contains("\"id\":9") && error.contains("cannot be reached: "), "{error}");
    reverse.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#);
    reverse.next("POST /mcp").answer("500 Internal Server Error", "", "");
    reverse.say("this is not a message");
    reverse.say(PING);
    reverse.next("POST /mcp").answer("404 Not Found", "", "no such session");
    assert!(reverse.hear().contains("HTTP 404 Not Found: no such session"));
    let (seen, trace) = reverse.ends(1);
    assert!(seen.contains("a message was not accepted: HTTP 500 Internal Server Error"), "{seen}");
    assert!(seen.contains("no longer knows the session: HTTP 404 Not Found"), "{seen}");
    assert!(seen.contains("lines and bodies not passed on, since they are not messages: 2"), "{seen}");
    assert!(trace.lines().last().unwrap().contains("\"exitCode\":1"), "{trace}");
}

#[test]
fn an_older_server_is_spoken_to_as_it_can() {
    let mut reverse = Reverse::start();
    reverse.say(&hello("2025-11-25"));
    reverse.next("POST /mcp").answer("405 Method Not Allowed", "", "");
    let mut stream = reverse.next("GET /mcp").stream("event: endpoint\ndata: /messages?id=1\n\n");
    let asked = reverse.next("POST /messages?id=1 ");
    assert_eq!(asked.body, hello("2025-11-25"));
    asked.answer("202 Accepted", "", "Accepted");
    write!(stream, "event: message\ndata: {WELCOME}\n\n").unwrap();
    assert_eq!(reverse.hear(), WELCOME);
    reverse.say(INITIALIZED);
    reverse.next("POST /messages?id=1 ").answer("202 Accepted", "", "");
    reverse.say(PING);
    reverse.next("POST /messages?id=1 ").answer("202 Accepted", "", "");
    write!(stream, "data: {PONG}\n\n").unwrap();
    assert_eq!(reverse.hear(), PONG);
    reverse.say(&ping(8));
    reverse.next("POST /messages?id=1 ").answer("202 Accepted", "", "");
    drop(stream);
    assert!(reverse.hear().contains("the server closed its stream"));
    reverse.ends(1);
}

#[test]
fn an_endpoint_at_another_server_is_not_followed() {
    for endpoint in ["http://192.0.2.1/messages", "//192.0.2.1/messages"] {
        let mut reverse = Reverse::start();
        reverse.say(&hello("2025-11-25"));
        reverse.next("POST /mcp").answer("404 Not Found", "", "");
        let _stream = reverse.next("GET /mcp").stream(&format!("event: endpoint\ndata: {endpoint}\n\n"));
        let error = reverse.hear();
        assert!(error.contains("\"id\":0") && error.contains("HTTP 404 Not Found"), "{endpoint}: {error}");
        reverse.ends(0);
    }
}

#[test]
fn a_signal_ends_the_session_at_the_server_too() {
    let (mut reverse, listening) = Reverse::session();
    let _listening = listening.stream("");
    reverse.say(PING);
    let _silent = reverse.next("POST /mcp");
    reverse.running.signal(Signal::TERM);
    reverse.next("DELETE /mcp").answer("200 OK", "", "");
    let error = reverse.hear();
    assert!(error.contains("\"id\":7") && error.contains("ended before the server answered"), "{error}");
    let (_, trace) = reverse.ends(143);
    assert!(trace.lines().last().unwrap().contains("\"exitCode\":143"), "{trace}");
}

#[test]
fn where_nobody_listens_the_request_gets_an_error_and_the_program_ends() {
    let folder = tempfile::tempdir().unwrap();
    let server = Listener::new();
    let (url, why) = (server.url(), format!("http://{} cannot be reached: ", server.at()));
    drop(server);
    for (file, line, is_answered) in [("a", &hello("2025-11-25")[..], true), ("b", INITIALIZED, false)] {
        let mut command = concord(["record", "-o", file, "--to", &url]);
        let mut running = Running::start(command.current_dir(folder.path()).stdin(Stdio::piped()));
        let mut to = running.child.stdin.take().unwrap();
        writeln!(to, "{line}").unwrap();
        let mut heard = String::new();
        running.child.stdout.take().unwrap().read_to_string(&mut heard).unwrap();
        running.ends(3, &[&why]);
        assert_eq!(heard.contains("\"id\":0") && heard.contains(&why), is_answered, "{heard}");
    }
}
