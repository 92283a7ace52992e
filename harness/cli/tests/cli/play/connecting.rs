//! The client over HTTP, in front of a server that is a plain socket with a script.

use super::{Folder, client};
use crate::sockets::{EVENTS, JSON, Listener};
use crate::support::ended;
use serde_json::json;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Child;
use std::thread;
use std::time::Duration;

const CALL: &str = r#"{"jsonrpc":"2.0", "id":1,"method":"tools/call","params":{"name":"a"}}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A server of which each answer is said by a test, and a client of a session in front of it.
struct Stand {
    folder: Folder,
    listener: Listener,
    session: PathBuf,
}

impl Stand {
    fn new(lines: &[&str]) -> Self {
        let folder = Folder::new();
        let session = folder.session(lines);
        Self { folder, listener: Listener::new(), session }
    }

    fn start(&self, flags: &[&str]) -> Child {
        client(&self.session, &["--to", &self.listener.url()]).args(flags).spawn().unwrap()
    }

    fn answer(&self, status: &str, headers: &str, body: &str) -> String {
        self.listener.next().answer(status, headers, body)
    }
}

#[track_caller]
fn ends(child: Child, code: i32, parts: &[&str]) {
    ended(&child.wait_with_output().unwrap(), code, parts);
}

#[test]
fn each_message_is_a_post() {
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    let initialized = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#;
    let stand = Stand::new(&[initialize, initialized, NOTE, CALL, DONE]);
    let child = stand.start(&["--chunk", "7"]);
    let asked = stand.answer("200 OK", &format!("{JSON}Mcp-Session-Id: s1\r\n"), initialized);
    assert!(asked.starts_with("post /mcp ") && asked.ends_with(initialize), "{asked}");
    assert!(asked.contains("accept: application/json, text/event-stream\r\n"), "{asked}");
    assert!(!asked.contains("mcp-session-id") && !asked.contains("mcp-protocol-version"), "{asked}");
    let asked = stand.answer("202 Accepted", "", "");
    assert!(asked.ends_with(NOTE), "{asked}");
    for part in ["mcp-session-id: s1\r\n", "mcp-protocol-version: 2025-11-25\r\n"] {
        assert!(asked.contains(part), "{asked}");
    }
    let asked =
        stand.answer("200 OK", EVENTS, &format!(": hello\n\nid: 1\ndata:\n\nid: 2\ndata: {DONE}\n\n"));
    assert!(asked.ends_with(CALL), "{asked}");
    let asked = stand.answer("405 Method Not Allowed", "", "");
    assert!(asked.starts_with("delete /mcp ") && asked.contains("mcp-session-id: s1\r\n"), "{asked}");
    ends(child, 0, &["3 messages sent, 2 received, 0 mismatches"]);
}

#[test]
fn a_stream_that_goes_on_without_what_is_awaited_is_left() {
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
    for (part, why) in [
        (format!("data: {log}\n\n"), "nothing that came for 1 second is in the session"),
        (": still here\n\n".to_owned(), "nothing arrived for 1 second"),
    ] {
        let stand = Stand::new(&[CALL, DONE]);
        let child = stand.start(&["--timeout", "1"]);
        let mut stream = stand.listener.next().stream("");
        // Until the client lets go.
        while stream.write_all(part.as_bytes()).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
        ends(child, 1, &[why]);
    }
}

#[test]
fn the_body_of_a_refused_get_is_awaited_on_no_stream() {
    let refusal = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Method not allowed."},"id":null}"#;
    let exchange = |time: u64, method: &str, asked: Option<&str>, status: u64, said: &str| {
        let mut exchange = json!({
            "startedDateTime": format!("2026-01-01T00:00:0{time}.000Z"), "time": 10,
            "request": {"method": method, "url": "http://h/mcp", "headers": []},
            "response": {"status": status, "headers": [], "content": {"mimeType": "application/json", "text": said}},
        });
        if let Some(text) = asked {
            exchange["request"]["postData"] = json!({"mimeType": "application/json", "text": text});
        }
        exchange
    };
    let mut stand = Stand::new(&[CALL]);
    stand.session = stand.folder.path("session.har");
    let entries = [exchange(0, "GET", None, 405, refusal), exchange(1, "POST", Some(CALL), 200, DONE)];
    std::fs::write(&stand.session, json!({"log": {"version": "1.2", "entries": entries}}).to_string())
        .unwrap();
    let child = stand.start(&["--timeout", "5"]);
    let asked = stand.answer("200 OK", JSON, DONE);
    assert!(asked.starts_with("post "), "{asked}");
    let said = ["1 message not played: the body with which a GET was refused", "1 received, 0 mismatches"];
    ends(child, 0, &said);
}

#[test]
fn what_a_server_does_wrong_is_reported() {
    let other = DONE.replace("[]", "[1]");
    for (status, headers, body, part) in [
        ("200 OK", JSON, &*other, "the message differs at /result/content/0"),
        (
            "200 OK",
            "",
            DONE,
            "the server answered with nothing; expected application/json or text/event-stream",
        ),
        ("500 Oh", JSON, "", "the server answered with status 500; expected 200"),
        ("200 OK", JSON, "oh", "not a message"),
        ("200 OK", JSON, "", "a message is missing: no stream is open on which it could arrive"),
        (
            "200 OK",
            EVENTS,
            "data: {\"half",
            "a message is missing: no stream is open on which it could arrive",
        ),
    ] {
        let stand = Stand::new(&[CALL, DONE]);
        let child = stand.start(&[]);
        stand.answer(status, headers, body);
        ends(child, 1, &[part]);
    }
    let stand = Stand::new(&[NOTE]);
    let child = stand.start(&[]);
    stand.answer("204 No Content", "", "");
    ends(child, 1, &["the server answered with status 204; expected 202", "session.jsonl:1 "]);
}

#[test]
fn a_refusal_that_the_session_has_is_none() {
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#;
    let initialized = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#;
    let failed = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#;
    let stand = Stand::new(&[]);
    let envelope = format!(
        r#"{{"transport":"streamable-http","entries":[{{"request":{initialize}}},
        {{"transport_context":{{"status":401,"headers":{{"WWW-Authenticate":"Bearer"}}}},"response":null}},
        {{"transport_context":{{"headers":{{"Authorization":"Bearer t"}}}},"request":{initialize}}},
        {{"response":{initialized}}},
        {{"transport_context":{{"headers":{{"Authorization":"Bearer t"}}}},"request":{CALL}}},
        {{"transport_context":{{"status":400}},"response":{failed}}}]}}"#
    );
    std::fs::write(&stand.session, envelope).unwrap();
    let child = stand.start(&[]);
    let asked = stand.answer("401 No", JSON, r#"{"error":"invalid_token"}"#);
    assert!(!asked.contains("authorization"), "{asked}");
    let proof = "authorization: bearer t\r\n";
    let asked = stand.answer("200 OK", &format!("{JSON}Mcp-Session-Id: s1\r\n"), initialized);
    assert!(asked.contains(proof), "{asked}");
    stand.answer("400 No", JSON, failed);
    let asked = stand.answer("200 OK", "", "");
    assert!(asked.starts_with("delete ") && asked.contains(proof), "{asked}");
    ends(child, 0, &["3 messages sent, 2 received, 0 mismatches"]);
}

#[test]
fn a_broken_stream_is_taken_up() {
    let stand = Stand::new(&[CALL, DONE]);
    let child = stand.start(&[]);
    stand.answer("200 OK", EVENTS, "id: a\ndata:\n\n");
    let asked = stand.answer("200 OK", EVENTS, &format!("id: b\ndata: {DONE}\n\n"));
    assert!(asked.starts_with("get /mcp ") && asked.contains("last-event-id: a\r\n"), "{asked}");
    ends(child, 0, &["0 mismatches"]);
}

#[test]
fn a_server_that_hangs_is_reported() {
    let stand = Stand::new(&[CALL, DONE]);
    let child = stand.start(&["--timeout", "0.3"]);
    let held = stand.listener.next();
    ends(child, 1, &["a message is missing: nothing arrived for 0.3 seconds"]);
    drop(held);
    let stand = Stand::new(&[NOTE]);
    let child = stand.start(&["--timeout", "0.3"]);
    let held = stand.listener.next();
    ends(child, 1, &["the server has not accepted a message for 0.3 seconds"]);
    drop(held);
    let lost = "the server did not name the endpoint for messages: ";
    let child = stand.start(&["--timeout", "0.3", "--transport", "http-sse"]);
    let held = stand.listener.next();
    ends(child, 1, &[&format!("{lost}nothing arrived for 0.3 seconds")]);
    drop(held);
    let child = stand.start(&["--transport", "http-sse"]);
    stand.answer("200 OK", EVENTS, ": nothing\n\n");
    ends(child, 1, &[&format!("{lost}no stream is open")]);
}

/// What a server says of its own while nobody listens is lost.
#[test]
fn a_client_listens_before_it_makes_a_server_speak() {
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize"}"#;
    let initialized = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#;
    let list_changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let stand = Stand::new(&[initialize, initialized, NOTE, list_changed, CALL, DONE]);
    let event = format!("data: {list_changed}\n\n");
    let head = format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\n");
    let begin = || {
        let child = stand.start(&["--timeout", "1"]);
        stand.answer("200 OK", &format!("{JSON}Mcp-Session-Id: s1\r\n"), initialized);
        let asked = stand.listener.next();
        assert!(asked.head.starts_with("get /mcp ") && asked.has("mcp-session-id: s1"), "{}", asked.head);
        (child, asked.stream)
    };
    let end = |child| {
        let asked = stand.answer("200 OK", JSON, DONE);
        assert!(asked.ends_with(CALL), "{asked}");
        stand.answer("200 OK", "", "");
        ends(child, 0, &["3 messages sent, 3 received, 0 mismatches"]);
    };
    // A server may answer the GET at once, or only when it has something to say.
    for (soon, late) in [(&*head, &*event), ("", &*(head.clone() + &event))] {
        let (child, mut stream) = begin();
        stream.write_all(soon.as_bytes()).unwrap();
        let asked = stand.answer("202 Accepted", "", "");
        assert!(asked.ends_with(NOTE), "{asked}");
        stream.write_all(late.as_bytes()).unwrap();
        end(child);
    }
    // Or it wants to be asked again, after `notifications/initialized`.
    let (child, mut stream) = begin();
    stream.write_all(b"HTTP/1.1 400 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").unwrap();
    drop(stream);
    let mut both = [stand.listener.next(), stand.listener.next()];
    both.sort_by(|one, other| one.head.cmp(&other.head));
    let [again, ready] = both;
    assert!(again.head.starts_with("get /mcp ") && ready.body == NOTE, "{}{}", again.head, ready.body);
    ready.answer("202 Accepted", "", "");
    let mut again = again.stream;
    again.write_all((head + &event).as_bytes()).unwrap();
    end(child);
}

#[test]
fn a_missing_server_is_reported() {
    let stand = Stand::new(&[CALL, DONE]);
    let (at, url) = (stand.listener.at(), stand.listener.url());
    drop(stand.listener);
    let output = client(&stand.session, &["--to", &url]).output().unwrap();
    ended(&output, 3, &[&format!("http://{at} cannot be reached")]);
    drop(stand.folder);
}

#[test]
fn the_older_transport_asks_where_to() {
    asks_where_to(&Stand::new(&[CALL, DONE]));
}

/// The answer is in a stream that began before the request, and `_events` says that it came behind it (HAR-ORDER).
#[test]
fn an_archive_of_the_older_transport_is_played_as_it_passed() {
    let post = json!({"startedDateTime": "2026-01-01T00:00:00.003Z", "time": 1,
        "request": {"method": "POST", "url": "http://h/m?s=1", "headers": [],
            "postData": {"mimeType": "application/json", "text": CALL}},
        "response": {"status": 202, "headers": [], "content": {"size": 0, "mimeType": ""}}});
    let stream = json!({"startedDateTime": "2026-01-01T00:00:00.000Z", "time": 9,
        "request": {"method": "GET", "url": "http://h/sse", "headers": []},
        "response": {"status": 200, "headers": [], "content": {"mimeType": "text/event-stream",
            "text": format!("event: endpoint\ndata: /m?s=1\n\ndata: {DONE}\n\n")}},
        "_events": [{"at": 0, "time": 1.0}, {"at": 30, "time": 5.0}]});
    let archive = json!({"log": {"version": "1.2", "entries": [post, stream]}});
    let mut stand = Stand::new(&[]);
    stand.session.set_extension("har");
    std::fs::write(&stand.session, archive.to_string()).unwrap();
    asks_where_to(&stand);
}

fn asks_where_to(stand: &Stand) {
    let child = stand.start(&["--transport", "http-sse"]);
    let asked = stand.listener.next();
    assert!(asked.head.starts_with("get /mcp ") && asked.has("accept: text/event-stream"), "{}", asked.head);
    let at = stand.listener.at();
    let endpoint = format!("event: endpoint\ndata: http://{at}/m?s=1\n\n");
    let mut stream = asked.stream(&endpoint);
    let asked = stand.answer("202 Accepted", "Content-Type: text/plain\r\n", "Accepted");
    assert!(asked.starts_with("post /m?s=1 ") && asked.ends_with(CALL), "{asked}");
    write!(stream, "event: message\ndata: {DONE}\n\n").unwrap();
    ends(child, 0, &["1 message sent, 1 received, 0 mismatches"]);
}
