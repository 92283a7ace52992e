//! `play` through the built binary. Where the other side has to do something that no session says, it is this test
//! binary, started with `--as-server`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is a test's way to fail")]

mod connecting;
mod listening;
mod sockets;
mod stdio;

use libtest_mimic::{Arguments, Trial};
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};
use tempfile::TempDir;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    if let [_, flag, mode] = &arguments[..]
        && flag == "--as-server"
    {
        stdio::serve(mode);
        return ExitCode::SUCCESS;
    }
    let tests = [stdio::TESTS, listening::TESTS, connecting::TESTS];
    let trials = tests.into_iter().flatten().map(|&(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

type Test = (&'static str, fn());

/// A folder to play in.
struct Bench(TempDir);

impl Bench {
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
