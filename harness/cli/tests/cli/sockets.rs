//! Programs that listen, and plain sockets to talk to them, so that no code under test judges itself.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail as a test does")]

use crate::support::LONG;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const BOTH: &str = "Accept: application/json, text/event-stream\r\n";
pub(crate) const JSON: &str = "Content-Type: application/json\r\n";
pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
pub(crate) const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// A program that says on its standard error, line by line, what it does.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: Receiver<String>,
    seen: String,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || errors.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines, seen: String::new() }
    }

    fn take(&mut self) -> Option<String> {
        let line = self.lines.recv_timeout(LONG).ok()?;
        self.seen += &format!("{line}\n");
        Some(line)
    }

    /// Waits for a line with this in it.
    pub(crate) fn until(&mut self, part: &str) -> String {
        loop {
            let line = self.take().unwrap_or_else(|| panic!("{part:?} was not said: {}", self.seen));
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Where it listens, as it says itself; a server that it starts may be the first to say something.
    pub(crate) fn address(&mut self) -> String {
        self.until("http://").split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Its exit code, and all that it said.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        while self.take().is_some() {}
        (code, self.seen)
    }

    /// That it ends with this code, and has said each of these parts; all that it said.
    #[track_caller]
    pub(crate) fn ends(self, code: i32, parts: &[&str]) -> String {
        let (ended, seen) = self.end();
        assert_eq!(ended, Some(code), "{seen}");
        for part in parts {
            assert!(seen.contains(part), "{part} is missing in\n{seen}");
        }
        seen
    }
}

/// A connection on which a request was sent.
pub(crate) struct Connection(pub(crate) BufReader<TcpStream>);

/// Sends the bytes of a request, or a part of them.
pub(crate) fn connected(at: &str, bytes: &[u8]) -> Connection {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream.write_all(bytes).unwrap();
    Connection(BufReader::new(stream))
}

/// The bytes of a request whose first line begins so.
pub(crate) fn request(first: &str, headers: &str, body: &str) -> String {
    let host = if headers.contains("Host: ") { "" } else { "Host: localhost\r\n" };
    format!("{first} HTTP/1.1\r\n{host}{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// The whole answer to a request.
pub(crate) fn ask(at: &str, first: &str, headers: &str, body: &str) -> Answer {
    connected(at, request(first, &format!("Connection: close\r\n{headers}"), body).as_bytes()).answer()
}

impl Connection {
    /// The head of the answer.
    pub(crate) fn head(&mut self) -> String {
        self.until("\r\n\r\n")
    }

    /// Reads up to and with `mark`.
    pub(crate) fn until(&mut self, mark: &str) -> String {
        let mut seen = Vec::new();
        while !seen.ends_with(mark.as_bytes()) {
            let mut byte = [0];
            let count = self.0.read(&mut byte).unwrap();
            assert_eq!(count, 1, "it ended before {mark:?}: {}", String::from_utf8_lossy(&seen));
            seen.push(byte[0]);
        }
        String::from_utf8_lossy(&seen).into_owned()
    }

    fn chunk(&mut self) -> Option<String> {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let size = usize::from_str_radix(line.trim(), 16).unwrap_or_else(|_| panic!("{line:?}"));
        let mut chunk = vec![0; size + 2];
        self.0.read_exact(&mut chunk).unwrap();
        chunk.truncate(size);
        (size > 0).then(|| String::from_utf8(chunk).unwrap())
    }

    /// All of the answer, with the chunks of its body put together.
    pub(crate) fn answer(mut self) -> Answer {
        let head = self.head();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = String::new();
        if header(&head, "transfer-encoding").is_some() {
            body.extend(std::iter::from_fn(|| self.chunk()));
        } else {
            self.0.read_to_string(&mut body).unwrap();
        }
        Answer { status, body }
    }
}

/// What came for a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
}

fn header(head: &str, name: &str) -> Option<String> {
    let named = head.lines().filter_map(|line| line.split_once(": "));
    named.filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).next()
}

/// A server of which each answer is said by a test.
pub(crate) struct Listener(pub(crate) TcpListener);

/// A request that waits for its answer: its head as it was sent and in lower case, and its body.
pub(crate) struct Asked {
    pub(crate) stream: TcpStream,
    pub(crate) spelled: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Listener {
    pub(crate) fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    pub(crate) fn at(&self) -> String {
        self.0.local_addr().unwrap().to_string()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.at())
    }

    /// The next request; a client that went away makes none, which is a fault and no reason to wait for ever.
    pub(crate) fn next(&self) -> Asked {
        self.0.set_nonblocking(true).unwrap();
        let since = Instant::now();
        while since.elapsed() < LONG {
            let Ok((stream, _)) = self.0.accept() else {
                thread::sleep(Duration::from_millis(5));
                continue;
            };
            stream.set_nonblocking(false).unwrap();
            stream.set_read_timeout(Some(LONG)).unwrap();
            // Some connections are made in vain, and say nothing.
            if let Some(asked) = Asked::read(stream) {
                return asked;
            }
        }
        panic!("no request comes");
    }

    /// Has each request handled in a thread of its own.
    pub(crate) fn serve(self, handle: impl Fn(Asked) + Send + Sync + Clone + 'static) {
        thread::spawn(move || {
            for stream in self.0.incoming().map_while(Result::ok) {
                let handle = handle.clone();
                thread::spawn(move || Asked::read(stream).map(handle));
            }
        });
    }
}

impl Asked {
    fn read(stream: TcpStream) -> Option<Self> {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            reader.read_line(&mut head).ok().filter(|&count| count > 0)?;
        }
        let length = header(&head, "content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = String::from_utf8(body).unwrap();
        Some(Self { stream: reader.into_inner(), head: head.to_lowercase(), spelled: head, body })
    }

    pub(crate) fn json(mut self, headers: &str, body: &str) {
        let length = body.len();
        let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{JSON}{headers}Content-Length: {length}");
        // Who has gone away takes no answer.
        let _ = self.stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes());
    }

    /// Begins a stream, which ends when what comes back is dropped.
    pub(crate) fn stream(mut self) -> TcpStream {
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n";
        self.stream.write_all(head.as_bytes()).unwrap();
        self.stream
    }
}
