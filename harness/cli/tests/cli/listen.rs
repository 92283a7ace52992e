//! `record --listen` through the built binary: over TLS, until it is told to end, and where it cannot begin.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::thread;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn concord() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

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
fn recorder(folder: &Path, out: &str, to: &str) -> (Child, String) {
    let mut child = concord()
        .current_dir(folder)
        .env("SSL_CERT_FILE", folder.join("ca.pem"))
        .args(["record", "-o", out, "--listen", "0", "--to", to])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    (child, address)
}

/// Asks the server behind the recorder once; its answer.
fn ask(address: &str) -> String {
    let mut client = TcpStream::connect(address).unwrap();
    let head = "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json";
    write!(client, "{head}, text/event-stream\r\nContent-Length: {}\r\n\r\n{PING}", PING.len()).unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_trace_of_http_tells_of_its_own_recording_and_nothing_made_up() {
    let folder = tempfile::tempdir().unwrap();
    let port = secure_server(folder.path());
    let (mut child, address) =
        recorder(folder.path(), "session.jsonl", &format!("https://localhost:{port}/mcp"));
    assert!(ask(&address).ends_with(PONG));
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{said}");
    assert!(said.contains("session.jsonl: 1 exchange") && !said.contains(".har"), "{said}");
    let file = fs::read_to_string(folder.path().join("session.jsonl")).unwrap();
    let (first, last) = (file.lines().next().unwrap(), file.lines().last().unwrap());
    assert!(first.contains(&format!("\"label\":\"https://localhost:{port}\"")), "{first}");
    assert!(first.contains("\"_transport\":\"streamable-http\"") && !first.contains("_made_up"), "{first}");
    assert!(last.contains("\"reason\":\"producer_shutdown\"") && !last.contains("_made_up"), "{last}");
    let check = ["check", "--profile", "recorder", "session.jsonl"];
    let check = concord().current_dir(folder.path()).args(check).output().unwrap();
    assert!(check.status.success(), "{}", told(&check));
    let identify = concord().current_dir(folder.path()).args(["identify", "session.jsonl"]).output().unwrap();
    assert!(
        told(&identify).contains("transport        Streamable HTTP (streamable-http)\n"),
        "{}",
        told(&identify)
    );
}

#[test]
fn a_session_over_tls_is_recorded_until_it_is_told_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let port = secure_server(folder.path());
    let (mut child, address) =
        recorder(folder.path(), "session.har", &format!("https://localhost:{port}/mcp"));
    let answer = ask(&address);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with(PONG), "{answer}");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let file = fs::read_to_string(folder.path().join("session.har")).unwrap();
    assert!(file.contains(&format!("https://localhost:{port}/mcp")), "{file}");
    let read = concord().current_dir(folder.path()).args(["read", "session.har"]).output().unwrap();
    assert!(read.status.success() && told(&read).contains("\"answers\": 0"), "{}", told(&read));
    let check = ["check", "--profile", "recorder", "session.har"];
    let check = concord().current_dir(folder.path()).args(check).output().unwrap();
    assert!(check.status.success(), "{}", told(&check));
}

/// A server that gives each `initialize` a session, and answers every request with an empty result; its port.
fn server_of_sessions() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let mut sessions = 0;
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let (mut length, mut line) = (0, String::new());
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                let length_of =
                    |line: &str| line.to_lowercase().strip_prefix("content-length: ")?.trim().parse().ok();
                length = length_of(&line).unwrap_or(length);
                line.clear();
            }
            let mut body = vec![0; length];
            if length == 0 || reader.read_exact(&mut body).is_err() {
                continue;
            }
            let asked: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let begins = asked["method"] == "initialize";
            sessions += u32::from(begins);
            let named = if begins { format!("Mcp-Session-Id: s{sessions}\r\n") } else { String::new() };
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, asked["id"]);
            let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
            let length = answer.len();
            let mut stream = reader.into_inner();
            write!(stream, "{head}\r\n{named}Content-Length: {length}\r\n\r\n{answer}").unwrap();
        }
    });
    port
}

/// Two clients, turn by turn, whose requests have the same ids.
fn two_clients(address: &str) {
    for (method, params) in [("initialize", "{}"), ("tools/call", r#"{"name":"a"}"#)] {
        for client in ["s1", "s2"] {
            let id = u32::from(method != "initialize");
            let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
            let named = if id == 0 { String::new() } else { format!("Mcp-Session-Id: {client}\r\n") };
            let length = body.len();
            let mut stream = TcpStream::connect(address).unwrap();
            write!(
                stream,
                "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
                 Accept: application/json, text/event-stream\r\n{named}Content-Length: {length}\r\n\r\n{body}"
            )
            .unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.ends_with(&format!(r#""id":{id},"result":{{}}}}"#)), "{answer}");
        }
    }
}

/// Records two clients into `out`; the exit code, and what was said.
fn record_two_clients(folder: &Path, out: &str) -> (Option<i32>, String) {
    let (mut child, address) =
        recorder(folder, out, &format!("http://127.0.0.1:{}/mcp", server_of_sessions()));
    two_clients(&address);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (child.wait().unwrap().code(), said)
}

#[test]
fn two_clients_get_a_recording_each() {
    for ending in ["har", "jsonl"] {
        let folder = tempfile::tempdir().unwrap();
        let (code, said) = record_two_clients(folder.path(), &format!("session.{ending}"));
        assert_eq!(code, Some(0), "{said}");
        let names = format!("2 sessions, a file for each: session.{ending} to session-2.{ending}");
        assert!(said.contains(&names), "{said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "{said}");
        for name in [format!("session.{ending}"), format!("session-2.{ending}")] {
            let read = concord().current_dir(folder.path()).args(["read", &name]).output().unwrap();
            let text = told(&read);
            assert!(read.status.success(), "{name}: {text}");
            assert_eq!(text.matches("\"kind\": ").count(), 4, "{name}: {text}");
            assert!(text.contains("\"answers\": 0") && text.contains("\"answers\": 2"), "{name}: {text}");
        }
    }
}

#[test]
fn a_second_session_writes_over_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("session-2.jsonl"), "what stood there").unwrap();
    let (code, said) = record_two_clients(folder.path(), "session.jsonl");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("session-2.jsonl is there already"), "{said}");
    assert!(said.contains("what was recorded is in session.jsonl.har"), "{said}");
    assert_eq!(fs::read_to_string(folder.path().join("session-2.jsonl")).unwrap(), "what stood there");
    let kept = fs::read_to_string(folder.path().join("session.jsonl.har")).unwrap();
    assert_eq!(kept.matches("startedDateTime").count(), 4, "{kept}");
}

#[test]
fn where_it_cannot_begin_it_says_why_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("there.har"), "{}").unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    for (arguments, part) in [
        (&["-o", "a.har", "--listen", &taken, "--to", "http://127.0.0.1:1"][..], "is in use"),
        (&["-o", "there.har", "--listen", "0", "--to", "http://127.0.0.1:1"], "there already"),
        (&["-o", "a.har", "--listen", "here", "--to", "http://127.0.0.1:1"], "is not an address"),
        (&["-o", "a.har", "--listen", "0", "--to", "ftp://127.0.0.1:1"], "is not a server's URL"),
        (&["-o", "a.har", "--listen", "0", "--to", "http://127.0.0.1:99999/mcp"], "1 to 65535"),
        (
            &["-o", "a.har", "--listen", &free, "--to", &format!("http://{free}/mcp")],
            "leads back to this recorder",
        ),
        (&["-o", "a.har", "--listen", "0", "--to", "http://me:hush@127.0.0.1:1"], "a name and a password"),
        (&["-o", "a.har", "--listen", "0", "--to", "ftp://127.0.0.1/?token=hush"], "is not a server's URL"),
        (&["-o", "a.har", "--listen", "0"], "CMD"),
        (&["-o", "a.har"], "CMD"),
        (&["-o", "no/folder/a.har", "--listen", "0", "--to", "http://127.0.0.1:1"], "folder is not there"),
    ] {
        let output = concord().current_dir(folder.path()).arg("record").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", told(&output));
        assert!(told(&output).contains(part), "{arguments:?}: {}", told(&output));
        assert!(!told(&output).contains("hush"), "{arguments:?}: {}", told(&output));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}
