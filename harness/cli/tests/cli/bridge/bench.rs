//! A bridge that runs, and a client of plain sockets.

use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// No wait is longer, on whatever machine.
pub(crate) const LONG: Duration = Duration::from_secs(120);

pub(crate) const BOTH: &str = "Accept: application/json, text/event-stream\r\n";

pub(crate) const JSON: &str = "Content-Type: application/json\r\n";

pub(crate) fn concord(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A program that says line by line what it does.
pub(crate) struct Told {
    pub(crate) child: Child,
    lines: Receiver<String>,
    pub(crate) seen: String,
}

impl Told {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in errors.lines() {
                let _ = sender.send(line.unwrap());
            }
        });
        Self { child, lines, seen: String::new() }
    }

    /// Waits for a line with this in it.
    pub(crate) fn until(&mut self, part: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(LONG);
            let line = line.unwrap_or_else(|_| panic!("{part:?} was not said: {}", self.seen));
            self.seen += &line;
            self.seen.push('\n');
            if line.contains(part) {
                return line;
            }
        }
    }

    /// Tells it to end; its exit code and all that it said.
    pub(crate) fn end(mut self, signal: Option<Signal>) -> (Option<i32>, String) {
        if let Some(signal) = signal {
            kill_process(Pid::from_child(&self.child), signal).unwrap();
        }
        let code = self.child.wait().unwrap().code();
        while let Ok(line) = self.lines.recv_timeout(LONG) {
            self.seen += &line;
            self.seen.push('\n');
        }
        (code, self.seen)
    }
}

/// A recorder in front of a server over stdio.
pub(crate) struct Bridge {
    pub(crate) folder: TempDir,
    pub(crate) told: Told,
    pub(crate) at: String,
}

pub(crate) fn peer() -> Vec<String> {
    let script: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/bridge/peer.py");
    vec!["python3".to_owned(), script.display().to_string()]
}

impl Bridge {
    pub(crate) fn start(options: &[&str], command: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
        program.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::null());
        program.args(["record", "--listen", "0"]).args(options).arg("--").args(command);
        let mut told = Told::start(&mut program);
        let line = told.until("Serving ");
        let at = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
        Self { folder, told, at }
    }

    /// Ends it; its exit code, all that it said, and where its files are. No server is left.
    pub(crate) fn end(self) -> (Option<i32>, String, TempDir) {
        let (code, seen) = self.told.end(Some(Signal::INT));
        for pid in seen.lines().filter_map(|line| line.strip_prefix("the server is ")) {
            let left = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            assert!(!left.contains("peer.py"), "{pid}: {left}");
        }
        (code, seen, self.folder)
    }

    /// Sends a request; the connection.
    pub(crate) fn send(&self, first: &str, headers: &str, body: &str) -> Connection {
        let mut stream = TcpStream::connect(&self.at).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        let length = body.len();
        let host = if headers.contains("Host: ") { "" } else { "Host: localhost\r\n" };
        write!(stream, "{first} HTTP/1.1\r\n{host}{headers}Content-Length: {length}\r\n\r\n{body}").unwrap();
        Connection(BufReader::new(stream))
    }

    /// The whole answer to a request.
    pub(crate) fn ask(&self, first: &str, headers: &str, body: &str) -> Answer {
        self.send(first, &format!("Connection: close\r\n{headers}"), body).answer()
    }

    /// Posts a message in a session.
    pub(crate) fn post(&self, session: &str, body: &str) -> Answer {
        self.ask("POST /mcp", &format!("{BOTH}{JSON}{session}"), body)
    }

    /// Initializes a session of a revision; the header of its id.
    pub(crate) fn session(&self, version: &str) -> String {
        let answer = self.post("", &hello(version));
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.header("mcp-session-id").unwrap();
        let session = format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: {version}\r\n");
        let answer = self.post(&session, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!((answer.status, &*answer.body), (202, ""));
        session
    }
}

pub(crate) fn hello(version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

pub(crate) fn call(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"progressToken":"p"}}}}}}"#
    )
}

/// What came for a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        header(&self.head, name)
    }
}

fn header(head: &str, name: &str) -> Option<String> {
    let named = head.lines().filter_map(|line| line.split_once(": "));
    named.filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).next()
}

/// A connection on which a request was sent.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    /// The head of the answer.
    pub(crate) fn head(&mut self) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.0.read_line(&mut head).unwrap() > 0, "it ended: {head}");
        }
        head
    }

    /// One event of a stream, as its id and its data. A chunk of the transfer is one event.
    pub(crate) fn event(&mut self) -> (String, String) {
        let event = self.chunk().unwrap();
        let field = |name: &str| {
            let line = event.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
            line.unwrap_or_default().to_owned()
        };
        (field("id"), field("data"))
    }

    /// Reads to the end of a stream; how many events there were.
    pub(crate) fn rest(&mut self) -> usize {
        std::iter::from_fn(|| self.chunk()).count()
    }

    fn chunk(&mut self) -> Option<String> {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        let size = usize::from_str_radix(line.trim(), 16).unwrap_or_else(|_| panic!("{line:?}"));
        let mut chunk = vec![0; size + 2];
        self.0.read_exact(&mut chunk).unwrap();
        (size > 0).then(|| String::from_utf8(chunk).unwrap())
    }

    fn answer(mut self) -> Answer {
        let head = self.head();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut body = String::new();
        if header(&head, "transfer-encoding").is_some() {
            while let Some(chunk) = self.chunk() {
                body += chunk.trim_end_matches("\r\n");
                body.push('\n');
            }
        } else {
            self.0.read_to_string(&mut body).unwrap();
        }
        Answer { status, head, body }
    }
}
