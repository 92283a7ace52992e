//! Peers that hang, that are several, that come back, and that speak no HTTP.

use super::bench::{Bench, json, meaning, post};
use crate::sockets::{PING, PONG};
use crate::support::eventually;
use serde_json::Value;
use std::fs;
use std::io::{Read as _, Write as _};
use std::time::Duration;
use wire::AllowedHosts;

/// The archive as it stands now; none where it is just being written.
fn entries(bench: &Bench) -> Option<Vec<Value>> {
    let har: Value = serde_json::from_str(&fs::read_to_string(bench.path()).ok()?).ok()?;
    har["log"]["entries"].as_array().cloned()
}

#[test]
fn a_server_that_hangs_is_given_up_by_its_client_and_kept() {
    let bench = Bench::new();
    let client = bench.send(&post(PING));
    let (mut server, ..) = bench.receive();
    drop(client);
    eventually("the exchange has ended before the recording does", || {
        entries(&bench)
            .is_some_and(|found| found.iter().any(|entry| entry["_ended"] == "the client went away"))
    });
    let mut byte = [0];
    assert!(matches!(server.read(&mut byte), Ok(0) | Err(_)), "the server sees that nobody waits any more");
    let (summary, entries, folder) = bench.end();
    assert_eq!((summary.exchanges, summary.open, summary.is_whole()), (1, 0, true));
    assert_eq!(
        (&entries[0]["response"]["status"], &entries[0]["request"]["postData"]["text"]),
        (&0.into(), &PING.into())
    );
    assert_eq!(meaning(&folder.path().join("session.har")).matches("\"kind\": ").count(), 1);
}

#[test]
fn two_sessions_at_once_are_told_apart() {
    let bench = Bench::new();
    let mut clients = ["one", "two"].map(|name| {
        let named = format!("Mcp-Session-Id: {name}\r\nAccept:");
        bench.send(String::from_utf8(post(PING)).unwrap().replace("Accept:", &named).as_bytes())
    });
    // The later one is answered first, whichever that is.
    let mut servers = [bench.receive(), bench.receive()];
    servers.reverse();
    for (server, head, _) in &mut servers {
        let name = if head.contains(": one\r\n") { "one" } else { "two" };
        let answer = json(&PONG.replace("{}", &format!("{{\"of\":\"{name}\"}}")));
        server
            .write_all(
                answer.replace("Content-Type", &format!("mcp-session-id: {name}\r\nContent-Type")).as_bytes(),
            )
            .unwrap();
    }
    for (client, name) in clients.iter_mut().zip(["one", "two"]) {
        client.until(&format!("{{\"of\":\"{name}\"}}}}"));
    }
    let (summary, entries, _) = bench.end();
    assert_eq!((summary.exchanges, summary.sessions), (2, 2));
    assert!(summary.to_string().contains("of 2 sessions"), "{summary}");
    for entry in &entries {
        let sent = entry["request"]["headers"].as_array().unwrap().iter();
        let name = sent.clone().find(|header| header["name"] == "mcp-session-id").unwrap()["value"]
            .as_str()
            .unwrap();
        let text = entry["response"]["content"]["text"].as_str().unwrap();
        assert!(text.contains(&format!("{{\"of\":\"{name}\"}}")), "{name}: {text}");
    }
}

#[test]
fn what_is_no_http_is_counted_said_once_and_stops_nobody() {
    let bench = Bench::new();
    let bomb = format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\nX-Bomb: {}", "a".repeat(1 << 20));
    let many: String = (0..2000).map(|number| format!("X-{number}: a\r\n")).collect();
    let many = format!("GET /mcp HTTP/1.1\r\nHost: localhost\r\n{many}\r\n");
    let hello = "\u{16}\u{3}\u{1}\u{0}\u{5}hello\r\n\r\n".to_owned();
    for bytes in [&bomb, &many, &bomb, &hello] {
        let mut client = std::net::TcpStream::connect(bench.at).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        // The recorder may answer, and close, before it has seen all of it.
        let _ = client.write_all(bytes.as_bytes());
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    }
    let mut client = bench.send(&post(PING));
    let (mut server, ..) = bench.receive();
    server.write_all(json(PONG).as_bytes()).unwrap();
    client.until(PONG);
    let said = std::sync::Arc::clone(&bench.said);
    let (summary, entries, _) = bench.end();
    assert_eq!((summary.refused, summary.exchanges, entries.len()), (4, 1, 1), "{summary}");
    assert!(summary.is_whole() && summary.to_string().contains("4 connections refused"), "{summary}");
    let said = said.lock().unwrap();
    assert!(said.iter().all(|text| text.contains("is not HTTP")), "{said:?}");
    assert_eq!(
        said.len(),
        2,
        "too large, twice, too many of them, and no HTTP at all, each said once: {said:?}"
    );
}

#[test]
fn a_page_of_another_site_does_not_reach_the_server() {
    let bench = Bench::with(|proxy| {
        let here = proxy.address().unwrap();
        proxy.hosts = AllowedHosts::new(here, &["dev.example".to_owned()]);
    });
    let usual = String::from_utf8(post(PING)).unwrap();
    let host = |lines: &str| usual.replace("Host: localhost\r\n", lines);
    for (request, why) in [
        (host("Host: evil.example\r\n"), "names the host evil.example"),
        (host(""), "names no host"),
        (host("Host: localhost\r\nHost: localhost\r\n"), "names several hosts"),
        (
            host("Host: localhost\r\nOrigin: https://evil.example\r\n"),
            "comes from the origin https://evil.example",
        ),
        (host("Host: localhost\r\nOrigin: null\r\n"), "comes from the origin null"),
    ] {
        let mut client = bench.send(request.as_bytes());
        let answer = client.until("\r\n\r\n") + &client.until("\n");
        assert!(answer.starts_with("HTTP/1.1 403 ") && answer.contains(why), "{why}: {answer}");
    }
    for lines in [
        "Host: dev.example:8080\r\nOrigin: http://dev.example\r\n",
        "Host: 127.0.0.1\r\nOrigin: http://[::1]:5\r\n",
    ] {
        let mut client = bench.send(host(lines).as_bytes());
        // The first that comes to the server at all.
        let (mut server, ..) = bench.receive();
        server.write_all(json(PONG).as_bytes()).unwrap();
        client.until(PONG);
    }
    let (summary, entries, _) = bench.end();
    assert_eq!((summary.exchanges, entries.len()), (7, 7));
    let refused = |entry: &&Value| entry["_ended"].as_str().is_some_and(|why| why.contains("--allow-host"));
    assert_eq!(entries.iter().filter(refused).count(), 5, "{entries:?}");
}

#[test]
fn half_a_head_holds_its_place_for_a_while_only() {
    let bench = Bench::with(|proxy| proxy.head_deadline = Duration::from_millis(100));
    let halves = [&b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"[..], b"P", b""];
    for mut client in halves.map(|half| bench.send(half)) {
        // It ends, whether with an answer or without one; a recorder that waited would run into the client's patience.
        client.0.get_ref().set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let ended = client.0.read_to_end(&mut Vec::new());
        let waited = ended.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
        assert!(!waited, "the recorder waits for the rest of a head");
    }
    // An answer may take longer than a head.
    let mut client = bench.send(&post(PING));
    let (mut server, ..) = bench.receive();
    std::thread::sleep(Duration::from_millis(300));
    server.write_all(json(PONG).as_bytes()).unwrap();
    client.until(PONG);
    assert_eq!(bench.end().0.exchanges, 1);
}

#[test]
fn a_stream_that_is_resumed_says_so_in_the_archive() {
    let bench = Bench::new();
    let mut first = bench.send(b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
    let (mut server, ..) = bench.receive();
    server.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 7\ndata:\n\n").unwrap();
    first.until("data:\n\n");
    drop((first, server));
    let mut second = bench.send(
        b"GET /mcp HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: 7\r\nAccept: text/event-stream\r\n\r\n",
    );
    let (mut server, head, _) = bench.receive();
    assert!(head.contains("Last-Event-ID: 7\r\n"), "{head}");
    server
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 8\ndata: 8\n\n")
        .unwrap();
    second.until("data: 8\n\n");
    let (_, entries, _) = bench.end();
    let resumed: Vec<&Value> = entries
        .iter()
        .filter(|entry| {
            let headers = entry["request"]["headers"].as_array().unwrap();
            headers.iter().any(|header| header["name"] == "last-event-id" && header["value"] == "7")
        })
        .collect();
    assert_eq!((entries.len(), resumed.len()), (2, 1), "{entries:?}");
    assert_eq!(resumed[0]["response"]["content"]["text"], "id: 8\ndata: 8\n\n");
}

#[test]
fn a_request_that_cannot_be_forwarded_is_kept() {
    let bench = Bench::new();
    let mut client = bench.send(b"CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n");
    assert!(client.until("\r\n\r\n").starts_with("HTTP/1.1 501 "));
    let mut client = bench.send(b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let (mut server, head, _) = bench.receive();
    assert!(head.starts_with("OPTIONS * HTTP/1.1\r\n"), "a path that is none passes as it is: {head}");
    server.write_all(json(PONG).as_bytes()).unwrap();
    client.until(PONG);
    let (summary, entries, _) = bench.end();
    assert_eq!((summary.exchanges, summary.is_whole()), (2, true), "{entries:?}");
    assert_eq!(
        (&entries[0]["request"]["url"], &entries[0]["_ended"]),
        (&"localhost:1".into(), &"no answer: it asked for a tunnel".into())
    );
}
