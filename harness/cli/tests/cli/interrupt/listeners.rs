//! The verbs that speak HTTP, or wait for a client that does.

use super::{SIGNALS, Workdir, free_address, words};
use crate::support::ended;
use rustix::process::Signal;
use std::cell::OnceCell;
use std::fs;
use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::thread;

/// Whether a server has been connected to, which answers nothing.
fn connected(server: &TcpListener) -> impl Fn() -> bool + '_ {
    server.set_nonblocking(true).unwrap();
    let came = OnceCell::new();
    move || came.get().is_some() || server.accept().is_ok_and(|(stream, _)| came.set(stream).is_ok())
}

fn interrupted(verb: &[&str], ready: impl Fn() -> bool, signal: Signal, code: i32) {
    let place = Workdir::new();
    let journal = place.text("journal");
    let child = place.start([verb, &["--timeout", "600", "--journal", &journal]].concat());
    let output = place.interrupted(child, signal, ready);
    // What did not come any more is nobody's fault.
    ended(&output, code, &["interrupted; ids/null-request", "0 mismatches"]);
    let journal = fs::read_to_string(&journal).unwrap();
    assert!(journal.lines().last().unwrap().contains("\"over\""), "{signal:?}: {journal}");
}

#[test]
fn play_as_a_server_over_http_tells_what_passed() {
    for transport in ["streamable-http", "http-sse"] {
        for (signal, code) in SIGNALS {
            let at = free_address();
            let verb =
                ["play", "--as", "server", "ids/null-request", "--listen", &at, "--transport", transport];
            interrupted(&verb, || TcpStream::connect(&at).is_ok(), signal, code);
        }
    }
}

#[test]
fn play_as_a_client_over_http_tells_what_passed() {
    for (signal, code) in SIGNALS {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", server.local_addr().unwrap());
        interrupted(
            &["play", "--as", "client", "ids/null-request", "--to", &url],
            connected(&server),
            signal,
            code,
        );
    }
}

/// A recorder that runs the server itself: its file is whole, and the server does not live on. It is given time to end by itself,
/// which this one does not.
#[test]
fn record_in_front_of_a_command_ends_the_command() {
    let interrupted = |signal: Signal| {
        let place = Workdir::new();
        let out = place.text("out.jsonl");
        let mut verb = words(&["record", "-o", &out, "--listen", "0", "--"]);
        verb.extend(shell_words::split(&place.peer("silent", "")).unwrap());
        let child = place.start(verb);
        let output = place.interrupted(child, signal, || place.is_ready());
        ended(&output, 0, &[]);
        let recorded = fs::read_to_string(&out).unwrap();
        assert!(recorded.lines().last().unwrap().contains("\"type\":\"end\""), "{signal:?}: {recorded}");
    };
    thread::scope(|scope| SIGNALS.map(|(signal, _)| _ = scope.spawn(move || interrupted(signal))));
}

/// A bridge that a program has started on its pipes.
#[test]
fn record_between_pipes_and_a_server_over_http_leaves_a_whole_file() {
    for (signal, code) in SIGNALS {
        let place = Workdir::new();
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let (url, out) = (format!("http://{}/mcp", server.local_addr().unwrap()), place.text("out.jsonl"));
        let mut child = place.command(["record", "-o", &out, "--to", &url]).spawn().unwrap();
        let mut client = child.stdin.take().unwrap();
        writeln!(client, r#"{{"jsonrpc":"2.0","id":1,"method":"ping"}}"#).unwrap();
        let output = place.interrupted(child, signal, connected(&server));
        ended(&output, code, &[]);
        let recorded = fs::read_to_string(&out).unwrap();
        let (first, last) = (recorded.lines().next().unwrap(), recorded.lines().last().unwrap());
        assert!(first.contains("\"meta\"") && last.contains("\"type\":\"end\""), "{signal:?}: {recorded}");
        assert!(recorded.contains("\"method\":\"ping\""), "{signal:?}: {recorded}");
    }
}
