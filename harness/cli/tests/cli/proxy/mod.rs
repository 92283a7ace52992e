//! What the recorder forwards over HTTP, byte for byte, and what its archive says of it. Both ends are plain sockets
//! with a script, so that nothing of what is judged here is also what judges.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod bench;
mod redaction;
mod trouble;

use crate::sockets::{Listener, PING, PONG, connected};
use crate::support::{concord, ended, eventually};
use bench::{Bench, json, meaning, post};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fs;
use std::io::{Read as _, Write as _};
use std::sync::atomic::Ordering;
use std::thread;
use wire::proxy::Summary;

#[test]
fn a_request_and_its_answer_pass_and_are_kept() {
    let bench = Bench::new();
    let mut client = bench.send(&post(PING));
    let (mut server, head, body) = bench.receive();
    assert!(head.starts_with("POST /mcp HTTP/1.1\r\n") && body == PING, "{head}");
    // Headers keep their case, but for the host, which is the server's own.
    assert!(head.contains("MCP-Protocol-Version: 2025-11-25\r\n"), "{head}");
    assert!(head.to_lowercase().contains(&format!("host: {}\r\n", bench.server.at())), "{head}");
    server
        .write_all(json(PONG).replace("Content-Type", "mcp-session-id: s\r\nContent-Type").as_bytes())
        .unwrap();
    assert!(client.until(PONG).starts_with("HTTP/1.1 200 OK\r\n"));
    let (summary, entries, _) = bench.end();
    assert_eq!(summary, Summary { exchanges: 1, sessions: 1, ..Summary::default() });
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!((&entry["request"]["postData"]["text"], entry.get("_ended")), (&PING.into(), None));
    assert_eq!(entry["response"]["content"]["text"], PONG);
}

#[test]
fn a_stream_passes_as_it_comes() {
    let bench = Bench::new();
    let mut client = bench.send(&post(PING));
    let (mut server, ..) = bench.receive();
    server
        .write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        )
        .unwrap();
    client.until("\r\n\r\n");
    // Each event is at the client before the server says the next one.
    for event in [": ping\n\n".to_owned(), format!("id: 1\ndata: {PONG}\n\n")] {
        server.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).unwrap();
        client.until(&event);
    }
    server.write_all(b"0\r\n\r\n").unwrap();
    client.until("0\r\n\r\n");
    let (_, entries, folder) = bench.end();
    assert_eq!(entries[0]["_events"].as_array().unwrap().len(), 2, "{entries:?}");
    let read = meaning(&folder.path().join("session.har"));
    assert_eq!(read.matches("\"kind\": ").count(), 2, "{read}");
}

#[test]
fn who_goes_away_is_told_and_tears_the_other_side() {
    let bench = Bench::new();
    let client = bench.send(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
    let (mut server, ..) = bench.receive();
    server.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n").unwrap();
    let path = bench.path();
    eventually("what is open is written before it ends", || {
        fs::read_to_string(&path).unwrap().contains("data: 1")
    });
    drop(client);
    let mut byte = [0];
    eventually("the server sees that the client is gone", || {
        server.write_all(b": ping\n\n").is_err() || matches!(server.read(&mut byte), Ok(0))
    });

    let mut other = bench.send(&post(PING));
    let (mut server, ..) = bench.receive();
    server
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{\"half")
        .unwrap();
    drop(server);
    let mut rest = Vec::new();
    let _ = other.0.read_to_end(&mut rest);
    assert!(rest.ends_with(b"{\"half"), "{}", String::from_utf8_lossy(&rest));
    let (summary, entries, _) = bench.end();
    assert_eq!((summary.exchanges, summary.open), (2, 0));
    let ended: Vec<_> = entries.iter().map(|entry| entry["_ended"].as_str().unwrap()).collect();
    assert_eq!(ended[0], "the client went away");
    assert!(ended[1].starts_with("the server broke off"), "{ended:?}");
    assert_eq!(entries[1]["response"]["content"]["text"], "{\"half");
}

#[test]
fn a_stream_on_which_nothing_came_is_none_that_was_left_out() {
    let bench = Bench::new();
    let mut client = bench.send(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
    let (mut server, ..) = bench.receive();
    server.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n").unwrap();
    client.until("\r\n\r\n");
    let (_, entries, folder) = bench.end();
    assert_eq!(entries[0]["response"]["content"]["text"], "", "{entries:?}");
    let mut check = concord(["check", "--profile", "recorder", "--strict", "--allow-empty"]);
    ended(&check.arg(folder.path().join("session.har")).output().unwrap(), 0, &[]);
}

#[test]
fn a_server_that_is_not_there_is_told_to_the_client() {
    // Any other port may be given to another test.
    let bench = Bench::before("http://127.0.0.1:1/mcp", Listener::new(), |_| ());
    let Bench { folder, at, stop, running, .. } = bench;
    let mut client = connected(&at.to_string(), &post(PING));
    let text = client.until("\n\r\n") + &client.until("\n");
    assert!(text.starts_with("HTTP/1.1 502 ") && text.contains("http://127.0.0.1:1: "), "{text}");
    stop.store(true, Ordering::Relaxed);
    assert_eq!(running.join().unwrap().exchanges, 1);
    let har: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("session.har")).unwrap()).unwrap();
    let entry = &har["log"]["entries"][0];
    assert_eq!(entry["response"]["status"], 0);
    assert!(entry["_ended"].as_str().unwrap().starts_with("no answer: "), "{entry}");
}

#[test]
fn the_messages_of_http_sse_come_back_to_the_recorder() {
    let bench = Bench::new();
    let mut client = bench.send(b"GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let (mut server, head, _) = bench.receive();
    assert!(head.starts_with("GET /sse "), "{head}");
    let event = format!("event: endpoint\ndata: http://{}/messages?s=1\n\n", bench.server.at());
    server.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n").unwrap();
    server.write_all(event.as_bytes()).unwrap();
    client.until("event: endpoint\ndata: /messages?s=1\n\n");
    let (_, entries, _) = bench.end();
    assert_eq!(entries[0]["response"]["content"]["text"], event, "the archive has what the server said");
    assert_eq!(entries[0]["_ended"], "the client went away", "{entries:?}");
}

#[test]
fn a_coding_passes_and_is_undone_in_the_archive() {
    let bench = Bench::new();
    let request =
        String::from_utf8(post(PING)).unwrap().replace("Accept:", "Accept-Encoding: br, gzip\r\nAccept:");
    let mut client = bench.send(request.as_bytes());
    let (mut server, head, _) = bench.receive();
    assert!(head.to_lowercase().contains("accept-encoding: gzip\r\n"), "{head}");
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(PONG.as_bytes()).unwrap();
    let body = encoder.finish().unwrap();
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length:";
    server.write_all(format!("{head} {}\r\n\r\n", body.len()).as_bytes()).unwrap();
    server.write_all(&body).unwrap();
    client.until("\r\n\r\n");
    let mut got = vec![0; body.len()];
    client.0.read_exact(&mut got).unwrap();
    assert_eq!(got, body);
    let (_, entries, _) = bench.end();
    assert_eq!(entries[0]["response"]["content"]["text"], PONG);
}

#[test]
fn large_bodies_pass_whole_in_both_directions() {
    let bench = Bench::new();
    // Both together are less than what may wait for the file, so that a slow disk loses nothing.
    let text = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{{\"_meta\":\"{}\"}}}}",
        "é".repeat(3 << 20)
    );
    let mut client = bench.send(&[]);
    let sent = post(&text);
    let mut writer = client.0.get_ref().try_clone().unwrap();
    let sending = thread::spawn(move || writer.write_all(&sent).unwrap());
    let (mut server, _, body) = bench.receive();
    assert!(body == text);
    sending.join().unwrap();
    let answer = json(&text);
    let sending = thread::spawn(move || {
        server.write_all(answer.as_bytes()).unwrap();
        server
    });
    client.until("\r\n\r\n");
    let mut got = vec![0; text.len()];
    client.0.read_exact(&mut got).unwrap();
    assert!(got == text.as_bytes());
    drop(sending.join().unwrap());
    let (summary, entries, _) = bench.end();
    assert!(summary.is_whole(), "{summary:?}");
    assert!(entries[0]["request"]["postData"]["text"] == text.as_str());
    assert!(entries[0]["response"]["content"]["text"] == text.as_str());
}
