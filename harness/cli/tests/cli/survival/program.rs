//! The program as a person runs it, and what came of it.

use super::many::logged;
use formats::{Format, Input, ReadOptions, Session, find};
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-concord");

pub(crate) const ORDINARY: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"é"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"naïve"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"add","arguments":{"text":"日本"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":"c","error":{"code":-1,"message":"no"}}"#,
    "\n",
);

/// What came of a run.
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

impl Ended {
    /// Exit 1 and a place, and nothing printed.
    pub(crate) fn is_rejected(&self, what: &str) {
        assert_eq!(self.code, Some(1), "{what}: {}", self.err);
        assert!(self.err.contains("error[") && self.err.contains("--> "), "{what}: {}", self.err);
        assert!(self.out.is_empty(), "{what}: something was printed of what was rejected");
    }

    pub(crate) fn is_well(&self, what: &str) {
        assert_eq!(self.code, Some(0), "{what}: {}", self.err);
    }

    /// The code of SIGPIPE, and no complaint.
    pub(crate) fn is_closed(&self, what: &str) {
        assert_eq!(self.code, Some(141), "{what}: {}", self.err);
        assert!(!self.err.contains("error"), "{what}: {}", self.err);
    }

    /// Exit 2, and a sentence that holds these words.
    pub(crate) fn is_unusable(&self, words: &str) {
        assert_eq!(self.code, Some(2), "{words}: {}", self.err);
        let said = self.err.lines().any(|line| line.starts_with("error: ") && line.contains(words));
        assert!(said, "{words}: {}", self.err);
        assert!(self.out.is_empty(), "{words}");
    }
}

pub(crate) fn finish(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!err.contains("panicked") && !err.contains("overflow"), "{err}");
    // None would be a signal: a stack that ran out, memory that was refused.
    assert!(output.status.code().is_some(), "{}: {err}", output.status);
    Ended { code: output.status.code(), out: output.stdout, err }
}

pub(crate) fn run(args: &[&str]) -> Ended {
    finish(piped(Command::new(PROGRAM).args(args)))
}

pub(crate) fn piped(command: &mut Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The program from a shell, after `setup`; `$@` are its arguments, `rest` goes behind them.
pub(crate) fn shell(setup: &str, args: &[&str], rest: &str) -> Ended {
    let script = format!("{setup} exec \"$@\" {rest}");
    finish(piped(Command::new("sh").args(["-c", &script, "sh", PROGRAM]).args(args)))
}

/// A folder for a test's files.
pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.path(name);
        fs::write(&path, bytes).unwrap();
        path.display().to_string()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Lines in another format.
pub(crate) fn spelled(format: &Format, lines: &str) -> Vec<u8> {
    let mut lines = lines.as_bytes();
    let mut input = Input::new(&mut lines).unwrap();
    let session = Session::read(find("jsonrpc").unwrap(), &mut input, ReadOptions::default()).unwrap();
    if !format.is_written() {
        return logged(format, &session);
    }
    let mut out = Vec::new();
    format.write(&session, &mut out).unwrap();
    out
}
