//! Importers under test as processes. What `run` prints of them is in `tests/cmd/importer`.

#![cfg(unix)]

use crate::support::{concord, eventually, file, lives, python, said};
use std::fs;

#[test]
fn nothing_outlives_a_run() {
    let hang = &["--filter", "topic/a/jsonrpc", "--timeout", "3"][..];
    for (mode, flags, code) in [
        ("forks-and-hangs", hang, 1),
        ("hangs", hang, 1),
        ("ignores-stop", &[], 0),
        ("closes-stdout", hang, 1),
        ("good", &[], 0),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let note = folder.path().join("note").display().to_string();
        let faulty = shell_words::join([python(), &file("cmd/bin/faulty"), mode, &note]);
        let mut run = concord(["run", "--cases", &file("cmd/importer/in/cases")]);
        let output = run.args(["--adapter", &faulty]).args(flags).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{mode}: {}", said(&output));
        let number = fs::read_to_string(note).unwrap();
        eventually(&format!("{mode}: the process {number} ends"), || !lives(&number));
    }
}

/// As on a busy machine, where what a program wrote arrives after its end was seen.
#[test]
fn what_arrives_behind_an_exit_counts() {
    let faulty = shell_words::join([python(), &file("cmd/bin/faulty"), "good"]);
    // It starts before the exit, which takes long on a busy machine; what it prints comes behind.
    let late = format!("said=$({faulty} \"$1\" \"$2\"); (sleep 0.4; printf '%s\\n' \"$said\") &");
    let exec = shell_words::join(["sh", "-c", &late, "-"]) + " {file} {format}";
    let mut run = concord(["run", "--cases", &file("cmd/importer/in/cases"), "--exec", &exec]);
    let output = run.args(["--filter", "topic/a/jsonrpc"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
}
