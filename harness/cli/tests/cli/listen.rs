//! `record --listen` through the built binary: over TLS, until it is asked to end, and where it cannot begin.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use crate::sockets::{BOTH, JSON, Listener, PING, PONG, Running, ask};
use crate::support::{concord, ended, ran};
use rustix::process::Signal;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// A server behind TLS that answers each request with one message; its port. Its certificate is put into `folder`.
fn secure_server(folder: &Path) -> u16 {
    let rcgen::CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.join("ca.pem"), cert.pem()).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(mut stream) = acceptor.accept(stream).await else { continue };
                let mut request = Vec::new();
                while !request.ends_with(PING.as_bytes()) {
                    let mut part = [0; 1024];
                    let read = stream.read(&mut part).await.unwrap();
                    request.extend_from_slice(&part[..read]);
                }
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length:";
                stream.write_all(format!("{head} {}\r\n\r\n{PONG}", PONG.len()).as_bytes()).await.unwrap();
                let _ = stream.shutdown().await;
            }
        });
    });
    port
}

/// The recorder, and the address at which it says that it listens.
fn recorder(folder: &Path, out: &str, to: &str) -> (Running, String) {
    let mut command = concord(["record", "-o", out, "--listen", "0", "--to", to]);
    let command = command.current_dir(folder).env("SSL_CERT_FILE", folder.join("ca.pem"));
    let mut running = Running::start(command);
    let at = running.address();
    (running, at)
}

/// Until it is asked to end, a recorder over TLS writes what it is asked for, and nothing made up.
#[test]
fn a_session_over_tls_is_recorded_until_it_is_told_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let port = secure_server(folder.path());
    for name in ["session.har", "session.jsonl"] {
        let (running, at) = recorder(folder.path(), name, &format!("https://localhost:{port}/mcp"));
        let answer = ask(&at, "POST /", &format!("{BOTH}{JSON}"), PING);
        assert_eq!((answer.status, &*answer.body), (200, PONG));
        running.signal(Signal::TERM);
        let said = running.ends(0, &[&format!("{name}: 1 exchange")]);
        assert!(name.ends_with("har") || !said.contains(".har"), "{said}");
        ran(folder.path(), &["read", name], &["\"answers\": 0"]);
        ran(folder.path(), &["check", "--profile", "recorder", name], &[]);
    }
    let har = fs::read_to_string(folder.path().join("session.har")).unwrap();
    assert!(har.contains(&format!("https://localhost:{port}/mcp")), "{har}");
    let trace = fs::read_to_string(folder.path().join("session.jsonl")).unwrap();
    let (first, last) = (trace.lines().next().unwrap(), trace.lines().last().unwrap());
    assert!(first.contains(&format!("\"label\":\"https://localhost:{port}\"")), "{first}");
    assert!(first.contains("\"_transport\":\"streamable-http\"") && !first.contains("_made_up"), "{first}");
    assert!(last.contains("\"reason\":\"producer_shutdown\"") && !last.contains("_made_up"), "{last}");
    let said = "transport        Streamable HTTP (streamable-http)\n";
    ran(folder.path(), &["identify", "session.jsonl"], &[said]);
}

/// Records two clients, turn by turn, whose requests have the same ids, into `out`; it ends with this code, and has said these parts.
#[track_caller]
fn record_two_clients(folder: &Path, out: &str, code: i32, parts: &[&str]) {
    let server = Listener::new();
    let url = server.url();
    let sessions = Arc::new(AtomicUsize::new(0));
    // Gives each `initialize` a session, and answers every request with an empty result.
    server.serve(move |asked| {
        let id = if asked.body.contains("initialize") { 0 } else { 1 };
        let named = match id {
            0 => format!("Mcp-Session-Id: s{}\r\n", sessions.fetch_add(1, Ordering::Relaxed) + 1),
            _ => String::new(),
        };
        asked.json(&named, &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    });
    let (running, at) = recorder(folder, out, &url);
    for (id, method, params) in [(0, "initialize", "{}"), (1, "tools/call", r#"{"name":"a"}"#)] {
        for client in ["s1", "s2"] {
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
            let named = if id == 0 { String::new() } else { format!("Mcp-Session-Id: {client}\r\n") };
            let answer = ask(&at, "POST /", &format!("{BOTH}{JSON}{named}"), &body);
            assert!(answer.body.ends_with(&format!(r#""id":{id},"result":{{}}}}"#)), "{answer:?}");
        }
    }
    running.signal(Signal::TERM);
    running.ends(code, parts);
}

#[test]
fn two_clients_get_a_recording_each() {
    for ending in ["har", "jsonl"] {
        let folder = tempfile::tempdir().unwrap();
        let names = format!("2 sessions, a file for each: session.{ending} to session-2.{ending}");
        record_two_clients(folder.path(), &format!("session.{ending}"), 0, &[&names]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        for name in [format!("session.{ending}"), format!("session-2.{ending}")] {
            let read = ran(folder.path(), &["read", &name], &["\"answers\": 0", "\"answers\": 2"]);
            assert_eq!(read.matches("\"kind\": ").count(), 4, "{name}: {read}");
        }
    }
}

#[test]
fn a_second_session_writes_over_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("session-2.jsonl"), "precious").unwrap();
    let said = ["session-2.jsonl exists already", "what was recorded is in session.jsonl.har"];
    record_two_clients(folder.path(), "session.jsonl", 1, &said);
    assert_eq!(fs::read_to_string(folder.path().join("session-2.jsonl")).unwrap(), "precious");
    let kept = fs::read_to_string(folder.path().join("session.jsonl.har")).unwrap();
    assert_eq!(kept.matches("startedDateTime").count(), 4, "{kept}");
}

/// What else it cannot begin with is in `tests/cmd/record/calls.md`.
#[test]
fn a_port_that_is_taken_and_one_that_leads_back_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (taken, free) = (Listener::new(), Listener::new().at());
    for (listen, to, part) in [
        (&taken.at(), "http://127.0.0.1:1".to_owned(), "is in use"),
        (&free, format!("http://{free}/mcp"), "is this recorder's own address"),
    ] {
        let mut command = concord(["record", "-o", "a.har", "--listen", listen, "--to", &to]);
        ended(&command.current_dir(folder.path()).output().unwrap(), 2, &[part]);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
