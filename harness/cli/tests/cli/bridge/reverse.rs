//! `record --to URL`: a server over HTTP, which a test plays with plain sockets, as one over stdio.

use super::bench::{LONG, Told, concord, hello, said};
use rustix::process::Signal;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use tempfile::TempDir;

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
/// A request, and its answer.
const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
const WELCOME: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;

/// Another request of the same session: ids are not used twice.
fn ping(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

/// A request that waits for its answer.
struct Asked {
    stream: TcpStream,
    head: String,
    body: String,
}

impl Asked {
    fn has(&self, header: &str) -> bool {
        self.head.to_lowercase().contains(&format!("\r\n{}\r\n", header.to_lowercase()))
    }

    fn answer(mut self, status: &str, headers: &str, body: &str) {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n");
        self.stream.write_all((head + body).as_bytes()).unwrap();
    }

    fn json(self, headers: &str, body: &str) {
        self.answer("200 OK", &format!("Content-Type: application/json\r\n{headers}"), body);
    }

    /// Begins a stream, which ends when what comes back is dropped.
    fn stream(mut self, events: &str) -> TcpStream {
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n";
        self.stream.write_all((head.to_owned() + events).as_bytes()).unwrap();
        self.stream
    }
}

/// A recorder between a client over stdio and a server over HTTP, both of which a test plays.
struct Reverse {
    folder: TempDir,
    told: Told,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    asked: Receiver<Asked>,
}

impl Reverse {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (sender, asked) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap() > 0 {}
                let length = head.to_lowercase();
                let length = length.split("\r\n").find_map(|line| line.strip_prefix("content-length: "));
                let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
                reader.read_exact(&mut body).unwrap();
                let body = String::from_utf8(body).unwrap();
                let _ = sender.send(Asked { stream: reader.into_inner(), head, body });
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
        command.current_dir(folder.path()).args(["record", "-o", "trace.jsonl", "--to", &url]);
        let mut told = Told::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let (to, from) = (told.child.stdin.take(), BufReader::new(told.child.stdout.take().unwrap()));
        Self { folder, told, to, from, asked }
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
        let asked = self.asked.recv_timeout(LONG).unwrap();
        assert!(asked.head.starts_with(first), "{first}: {}", asked.head);
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

    /// Ends it; its exit code, what it said, and the recording, in which `check` finds nothing of the recorder's.
    fn end(mut self, signal: Option<Signal>) -> (Option<i32>, String, String) {
        drop(signal.is_none().then(|| self.to.take()));
        let (code, seen) = self.told.end(signal);
        let check =
            concord(&["check", "--profile", "recorder", "--strict", "trace.jsonl"], self.folder.path());
        assert!(check.status.success(), "{}", said(&check));
        (code, seen, fs::read_to_string(self.folder.path().join("trace.jsonl")).unwrap())
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
    let (code, seen, trace) = reverse.end(None);
    assert_eq!(code, Some(0), "{seen}");
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
    let (code, seen, _) = reverse.end(None);
    assert_eq!(code, Some(0), "{seen}");
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
    let (code, seen, trace) = reverse.end(None);
    assert_eq!(code, Some(1), "{seen}");
    assert!(seen.contains("a message was not taken: HTTP 500 Internal Server Error"), "{seen}");
    assert!(seen.contains("does not know the session any more: HTTP 404 Not Found"), "{seen}");
    assert!(seen.contains("lines and bodies that are not messages were not passed on: 2"), "{seen}");
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
    let (code, seen, _) = reverse.end(None);
    assert_eq!(code, Some(1), "{seen}");
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
        let (code, seen, _) = reverse.end(None);
        assert_eq!(code, Some(0), "{endpoint}: {seen}");
    }
}

#[test]
fn a_signal_ends_the_session_at_the_server_too() {
    let (mut reverse, listening) = Reverse::session();
    let _listening = listening.stream("");
    reverse.say(PING);
    let _silent = reverse.next("POST /mcp");
    rustix::process::kill_process(rustix::process::Pid::from_child(&reverse.told.child), Signal::TERM)
        .unwrap();
    reverse.next("DELETE /mcp").answer("200 OK", "", "");
    let error = reverse.hear();
    assert!(error.contains("\"id\":7") && error.contains("ended before the server answered"), "{error}");
    let (code, seen, trace) = reverse.end(None);
    assert_eq!(code, Some(143), "{seen}");
    assert!(trace.lines().last().unwrap().contains("\"exitCode\":143"), "{trace}");
}

#[test]
fn where_nobody_listens_the_request_gets_an_error_and_the_program_ends() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (url, why) = (format!("http://{free}/mcp"), format!("http://{free} cannot be reached: "));
    for (file, line, is_answered) in [("a", &hello("2025-11-25")[..], true), ("b", INITIALIZED, false)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
        command.current_dir(folder.path()).args(["record", "-o", file, "--to", &url]);
        let mut told = Told::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
        let mut to = told.child.stdin.take().unwrap();
        writeln!(to, "{line}").unwrap();
        let mut heard = String::new();
        told.child.stdout.take().unwrap().read_to_string(&mut heard).unwrap();
        let (code, seen) = told.end(None);
        assert_eq!(code, Some(3), "{seen}");
        assert!(seen.contains(&why), "{seen}");
        assert_eq!(heard.contains("\"id\":0") && heard.contains(&why), is_answered, "{heard}");
    }
    for (arguments, part) in [
        (&["--to", "ftp://127.0.0.1/"][..], "is not a server's URL"),
        (&["--to", "http://127.0.0.1:1/", "--", "sh"], "CMD"),
        (&["--to", "http://127.0.0.1:1/", "--allow-host", "x"], "--listen"),
    ] {
        let output = concord(&[&["record", "-o", "c.jsonl"], arguments].concat(), folder.path());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", said(&output));
        assert!(said(&output).contains(part), "{arguments:?}: {}", said(&output));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}
