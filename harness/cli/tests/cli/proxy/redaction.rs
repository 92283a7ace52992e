//! What is taken out of the archive where somebody asked for it, while the traffic passes as it is.

use super::bench::{Bench, meaning};
use crate::support::{concord, ended, eventually};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use wire::redaction::Redaction;

const CALL: &str = r#"{"jsonrpc":"2.0","id":"token-1","method":"tools/call","params":{"name":"login","arguments":{"token":"secret-a","n":1.0}}}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":"token-1","result":{"content":[{"type":"text","text":"key-42 secret-b key-7"}],"token":["secret-c"]}}"#;

fn asked() -> Redaction {
    let own = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    Redaction::new(&own(&["token", "authorization", "sid"]), &own(&["key-[0-9]+", "secret-b"])).unwrap()
}

#[test]
fn secrets_pass_and_are_not_in_the_archive() {
    let bench = Bench::redacting(asked());
    let head = "POST /mcp?token=secret-d&a=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret-e\r\nCookie: a=1; sid=secret-f\r\n\
                Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length:";
    let mut client = bench.send(format!("{head} {}\r\n\r\n{CALL}", CALL.len()).as_bytes());
    let (mut server, head, body) = bench.receive();
    assert!(
        head.contains("token=secret-d") && head.contains("secret-e") && head.contains("secret-f"),
        "{head}"
    );
    assert!(body == CALL);
    let event = format!("id: token-1\nevent: message\ndata: {DONE}\n\n");
    server
        .write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nSet-Cookie: sid=secret-g; Path=/\r\n\r\n",
        )
        .unwrap();
    server.write_all(event.as_bytes()).unwrap();
    client.until(&event);
    let path = bench.path();
    // The stream is still open, and what is written of it then has no secrets either.
    eventually("an event is written before the stream ends", || {
        fs::read_to_string(&path).unwrap().contains("token-1\\nevent")
    });
    assert!(!fs::read_to_string(&path).unwrap().contains("secret"));
    server.write_all(b": key-1\n\ndata: {\"token\":\"secret-h").unwrap();
    drop(server);
    let mut other = bench.send(
        b"POST /token HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\nsecret-i",
    );
    let (mut server, ..) = bench.receive();
    server.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").unwrap();
    other.until("\r\n\r\n");
    let (summary, entries, folder) = bench.end();
    assert!(summary.is_whole(), "{summary:?}");
    let file = folder.path().join("session.har");
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("secret") && !text.contains("key-"), "{text}");

    // They stand in the order of their ends.
    let path = |entry: &&Value| entry["request"]["url"].as_str().unwrap().contains("/mcp?");
    let (call, other) =
        (entries.iter().find(path).unwrap(), entries.iter().find(|entry| !path(entry)).unwrap());
    assert_eq!(call["request"]["url"].as_str().unwrap().split_once('?').unwrap().1, "token=[REDACTED]&a=1");
    assert_eq!(call["request"]["queryString"][0]["value"], "[REDACTED]");
    let values = |head: &Value| {
        head["headers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["value"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(values(&call["request"]).contains(&"a=1; sid=[REDACTED]".to_owned()), "{call}");
    assert!(values(&call["response"]).contains(&"sid=[REDACTED]; Path=/".to_owned()), "{call}");
    let sent: Value = serde_json::from_str(call["request"]["postData"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&sent["id"], &sent["params"]["arguments"]["token"]),
        (&"token-1".into(), &"[REDACTED]".into())
    );
    // The times of events still say where in the text each one begins.
    let said = call["response"]["content"]["text"].as_str().unwrap();
    let begins: Vec<&str> = call["_events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| said[usize::try_from(event["at"].as_u64().unwrap()).unwrap()..].lines().next().unwrap())
        .collect();
    assert_eq!(begins, ["id: token-1", ": [REDACTED]"]);
    assert!(said.ends_with("data: [REDACTED]"), "{said}");
    assert_eq!(other["request"]["postData"]["text"], "[REDACTED]");

    let read = meaning(&file);
    assert!(read.contains("\"answers\": 0") && read.contains("[REDACTED] [REDACTED] [REDACTED]"), "{read}");
    ended(&concord(["check", "--profile", "recorder"]).arg(&file).output().unwrap(), 0, &[]);
}
