//! `play` through the built binary. Where the other side has to do something that is in no session, it is `peer.sh`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail as a test does")]

mod connecting;
mod listening;
mod mock;
mod sockets;
mod stdio;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// A folder to play in.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A recording of these messages.
    fn session(&self, lines: &[&str]) -> PathBuf {
        let path = self.path("session.jsonl");
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        path
    }
}

fn concord() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
}

/// A client of a session, up to its server's command.
fn client(session: &Path, flags: &[&str]) -> Command {
    let mut command = concord();
    command.args(["play", "--as", "client"]).arg(session).args(flags);
    command
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The exit code is this one, and each of these parts is told.
fn tells(output: &Output, code: i32, parts: &[&str]) {
    let text = told(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
}
