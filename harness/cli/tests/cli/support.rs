//! What tests share: the program, the peers that they start beside it, and what programs said.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-concord");

/// A server over stdio for each mode.
pub(crate) const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cmd/bin/peer");

/// No wait is longer, on whatever machine.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// The program with these words, without an input.
pub(crate) fn concord<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What was printed, on either output.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// What was printed by a program that ended with this code, with each of these parts in it.
#[track_caller]
pub(crate) fn ended(output: &Output, code: i32, parts: &[&str]) -> String {
    let text = said(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for part in parts {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    text
}

/// What the program says of what is in a folder, which finds nothing wrong.
#[track_caller]
pub(crate) fn ran(folder: &Path, words: &[&str], parts: &[&str]) -> String {
    ended(&concord(words).current_dir(folder).output().unwrap(), 0, parts)
}

/// Python's own path: a version manager's stand-in takes longer to start than Python, and tests that look at times start it.
pub(crate) fn python() -> &'static str {
    static PYTHON: LazyLock<String> = LazyLock::new(|| {
        let asked = ["-c", "import sys; print(sys.executable, end='')"];
        String::from_utf8(Command::new("python3").args(asked).output().unwrap().stdout).unwrap()
    });
    &PYTHON
}

/// Waits until it is so.
#[track_caller]
pub(crate) fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let since = Instant::now();
    while !done() {
        assert!(since.elapsed() < LONG, "not within {LONG:?}: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
