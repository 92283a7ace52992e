//! A recorder with a server and a client that a test plays.

use crate::sockets::{BOTH, Connection, JSON, Listener, connected, request};
use crate::support::{concord, ended};
use serde_json::Value;
use std::fs::{self, File};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use tempfile::TempDir;
use wire::proxy::{Proxy, Summary, Target};
use wire::redaction::Redaction;

/// A recorder that runs, in front of a server that a test plays.
pub(crate) struct Bench {
    pub(crate) folder: TempDir,
    pub(crate) at: SocketAddr,
    pub(crate) server: Listener,
    pub(crate) stop: Arc<AtomicBool>,
    /// What the recorder said at once.
    pub(crate) said: Arc<Mutex<Vec<String>>>,
    pub(crate) running: JoinHandle<Summary>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::redacting(Redaction::default())
    }

    pub(crate) fn redacting(redaction: Redaction) -> Self {
        Self::with(|proxy| proxy.redaction = redaction)
    }

    pub(crate) fn with(settings: impl FnOnce(&mut Proxy)) -> Self {
        let server = Listener::new();
        Self::before(&server.url(), server, settings)
    }

    pub(crate) fn before(target: &str, server: Listener, settings: impl FnOnce(&mut Proxy)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut proxy =
            Proxy::listen("127.0.0.1:0".parse().unwrap(), Target::parse(target).unwrap()).unwrap();
        settings(&mut proxy);
        let (at, stop) = (proxy.address().unwrap(), Arc::new(AtomicBool::new(false)));
        let file = File::create(folder.path().join("session.har")).unwrap();
        let stopped = Arc::clone(&stop);
        let stopped = move || stopped.load(Ordering::Relaxed);
        let said = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&said);
        let say = move |text: &str| heard.lock().unwrap().push(text.to_owned());
        let running = thread::spawn(move || proxy.record(file, &stopped, &say).unwrap());
        Self { folder, at, server, stop, said, running }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("session.har")
    }

    /// A client's connection on which `request` was sent.
    pub(crate) fn send(&self, request: &[u8]) -> Connection {
        connected(&self.at.to_string(), request)
    }

    /// The server's connection, and the head and the body of what was asked.
    pub(crate) fn receive(&self) -> (TcpStream, String, String) {
        let asked = self.server.next();
        (asked.stream, asked.spelled, asked.body)
    }

    pub(crate) fn end(self) -> (Summary, Vec<Value>, TempDir) {
        self.stop.store(true, Ordering::Relaxed);
        let summary = self.running.join().unwrap();
        let text = fs::read_to_string(self.folder.path().join("session.har")).unwrap();
        let har: Value = serde_json::from_str(&text).unwrap();
        (summary, har["log"]["entries"].as_array().unwrap().clone(), self.folder)
    }
}

pub(crate) fn post(body: &str) -> Vec<u8> {
    request("POST /mcp", &format!("{JSON}MCP-Protocol-Version: 2025-11-25\r\n{BOTH}"), body).into_bytes()
}

/// An answer behind which the server closes: a recorder that did not know that might ask on the same connection again.
pub(crate) fn json(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{JSON}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// The meaning, as `read` prints it.
pub(crate) fn meaning(path: &Path) -> String {
    ended(&concord(["read"]).arg(path).output().unwrap(), 0, &[])
}
