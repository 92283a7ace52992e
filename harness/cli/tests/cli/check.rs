//! `check` as a process: lines that come at once, signals, and memory. What it prints is in `tests/cmd/check`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::{concord, file, peak, said};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

/// A recording that no rule objects to.
fn right() -> String {
    file("cmd/check/in/right.jsonl")
}

/// `check --output ndjson`, and both of its ends.
fn start(arguments: &[&str]) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut command = concord(["check", "--output", "ndjson"]);
    let mut child = command.args(arguments).stdin(Stdio::piped()).spawn().unwrap();
    let (input, out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, input, BufReader::new(out))
}

fn line(out: &mut BufReader<ChildStdout>) -> serde_json::Value {
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap()
}

#[test]
fn a_line_comes_as_soon_as_it_is_judged() {
    let (mut child, mut list, mut out) = start(&["--files-from", "-"]);
    for name in [right(), file("cmd/check/in/wrong.jsonl")] {
        // The list goes on, and so the program may not wait for its end.
        writeln!(list, "{name}").unwrap();
        assert_eq!(line(&mut out)["file"], *name);
    }
    drop(list);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn an_interrupt_ends_with_what_was_done() {
    let right = right();
    // Both wait for a standard input that stays open: for another name, and for another line of a recording.
    let (listed, named) = (&["--files-from", "-"][..], &[&*right, "-"][..]);
    for (arguments, signal, code) in
        [(listed, "-INT", 130), (named, "-INT", 130), (listed, "-TERM", 143), (listed, "-HUP", 129)]
    {
        let (child, mut input, mut out) = start(arguments);
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        writeln!(input, "{}", if arguments == named { ping } else { &*right }).unwrap();
        assert_eq!(line(&mut out)["file"], *right);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(code), "{}", said(&ended));
        assert!(said(&ended).contains("interrupted after 1 recording;"), "{}", said(&ended));
        assert!(line(&mut out)["problem"].as_str().unwrap().contains("the rest was not judged"));
        drop(input);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_number_of_files() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..400 {
        let place = folder.path().join(if number < 20 { "in/few" } else { "in/more" });
        fs::create_dir_all(&place).unwrap();
        fs::copy(file("cmd/check/in/wrong.jsonl"), place.join(format!("{number}.jsonl"))).unwrap();
    }
    for output in ["text", "json", "ndjson", "sarif", "junit", "github"] {
        let peak = |path: &str| {
            let mut program = concord(["check", path, "-v", "--jobs", "2", "--output", output]);
            let program = program.current_dir(&folder).stdout(Stdio::null()).stderr(Stdio::null());
            let (mut child, mut most) = (program.spawn().unwrap(), 0);
            while child.try_wait().unwrap().is_none() {
                most = peak(&child).unwrap_or(most);
                thread::sleep(Duration::from_millis(1));
            }
            most >> 10
        };
        let (few, many) = (peak("in/few"), peak("in"));
        assert!(few > 0 && many < few + 16, "{output}: {few} MiB for 20 files and {many} MiB for 400");
    }
}
