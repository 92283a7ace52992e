//! The cells over HTTP: each is an exchange of its own, with bodies that come in small chunks.

use super::Cell;
use crate::sockets::{PING, PONG, Running};
use crate::support::concord;
use rustix::process::Signal;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The bytes of a body in each chunk: fewer than any secret has.
const CHUNK: usize = 7;

const JSON: &str = "Content-Type: application/json";
const STREAM: &str = "Content-Type: text/event-stream";

/// The kinds of places that only HTTP has.
pub(crate) const KINDS: &[&str] = &["query", "request header", "response header", "body"];

/// What is asked and what is answered: headers and bodies.
#[derive(Clone)]
struct Exchange {
    query: String,
    request: (String, Vec<u8>),
    response: (String, Vec<u8>),
}

impl Exchange {
    fn plain() -> Self {
        let said = |body: &str| (JSON.to_owned(), body.as_bytes().to_vec());
        Self { query: String::new(), request: said(PING), response: said(PONG) }
    }
}

fn exchanges(number: usize, cell: &Cell) -> Vec<Exchange> {
    let (it, plain) = (cell.encoded(), Exchange::plain());
    let (said, with) = (cell.place.text(&it), |header: String| format!("{JSON}\r\n{header}"));
    match cell.place.kind {
        "message" => {
            let message = said.replace("ID", &number.to_string()).into_bytes();
            let event = [b"data: ", &message[..], b"\n\n"].concat();
            vec![
                Exchange { request: (JSON.to_owned(), message.clone()), ..plain.clone() },
                Exchange { response: (JSON.to_owned(), message), ..plain.clone() },
                Exchange { response: (STREAM.to_owned(), event), ..plain },
            ]
        }
        "query" => vec![Exchange { query: format!("?{said}"), ..plain }],
        "request header" => vec![Exchange { request: (with(said), PING.into()), ..plain }],
        "response header" => {
            let head = if said.starts_with("Content-Type") { said } else { with(said) };
            vec![Exchange { response: (head, PONG.into()), ..plain }]
        }
        "body" => {
            let said = cell.place.body(&it);
            vec![Exchange { request: said.clone(), ..plain.clone() }, Exchange { response: said, ..plain }]
        }
        _ => Vec::new(),
    }
}

/// Records the cells as `http.har`, and what the recorder said as `http.stderr`.
pub(crate) fn record(folder: &Path, flags: &[&str], cells: &[Cell]) {
    let all: Vec<Exchange> =
        cells.iter().enumerate().flat_map(|(number, cell)| exchanges(number, cell)).collect();
    let all = Arc::new(all);
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}/?token={}", server.local_addr().unwrap(), cells[0].secret);
    let answers = Arc::clone(&all);
    thread::spawn(move || {
        while let Ok((stream, _)) = server.accept() {
            let answers = Arc::clone(&answers);
            thread::spawn(move || answer(stream, &answers));
        }
    });
    let mut command = concord(["record", "-v", "--listen", "0", "--to", &to, "-o"]);
    let mut running = Running::start(command.arg(folder.join("http.har")).args(flags));
    let at = running.address();
    for (number, exchange) in all.iter().enumerate() {
        let mut client = TcpStream::connect(&at).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let Exchange { query, request: (head, body), response: (_, expected) } = exchange;
        let line = format!("POST /mcp/{number}{query} HTTP/1.1\r\nHost: {at}\r\nConnection: close");
        client.write_all(&said_in_chunks(&format!("{line}\r\n{head}"), body)).unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        assert!(answer.ends_with(b"0\r\n\r\n") && answer.len() > expected.len(), "exchange {number}");
    }
    running.signal(Signal::TERM);
    fs::write(folder.join("http.stderr"), running.ends(0, &[])).unwrap();
}

fn said_in_chunks(head: &str, body: &[u8]) -> Vec<u8> {
    let mut out = format!("{head}\r\nTransfer-Encoding: chunked\r\n\r\n").into_bytes();
    for chunk in body.chunks(CHUNK) {
        out.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
        out.extend([chunk, b"\r\n"].concat());
    }
    out.extend(b"0\r\n\r\n");
    out
}

/// Answers the exchange whose number is in the path.
fn answer(mut stream: TcpStream, answers: &[Exchange]) {
    let (mut request, mut part) = (Vec::new(), [0; 4096]);
    while !request.ends_with(b"\r\n0\r\n\r\n") {
        let Ok(read @ 1..) = stream.read(&mut part) else { return };
        request.extend_from_slice(&part[..read]);
    }
    let request = String::from_utf8_lossy(&request);
    let number = request.split("/mcp/").nth(1).unwrap().split(['?', ' ']).next().unwrap();
    let (head, body) = &answers[number.parse::<usize>().unwrap()].response;
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{head}");
    let _ = stream.write_all(&said_in_chunks(&head, body));
}
