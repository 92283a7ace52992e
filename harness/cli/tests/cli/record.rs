//! `record` over stdio where time, signals, size or a second recorder are the point; what it says and writes is in
//! `tests/cmd/record`. The client is this test, and the server `peer`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use crate::support::{PEER, concord, ended, eventually, peak, said};
use generators::rng::Rng;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const ASK: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

struct Session(TempDir);

impl Session {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn trace(&self) -> PathBuf {
        self.0.path().join("trace.jsonl")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.trace()).unwrap()
    }

    fn start_into(&self, out: &Path, flags: &[&str], mode: &str) -> Child {
        let mut command = concord(["record", "-o"]);
        command.arg(out).args(flags).args(["--", PEER, mode]).stdin(Stdio::piped()).spawn().unwrap()
    }

    fn start(&self, flags: &[&str], mode: &str) -> Child {
        self.start_into(&self.trace(), flags, mode)
    }

    /// Asserts that `check` finds no error of the recorder's; what `read` reads.
    #[track_caller]
    fn is_right(&self) -> String {
        let check = concord(["check", "--profile", "recorder"]).arg(self.trace()).output().unwrap();
        ended(&check, 0, &["no violations found"]);
        ended(&concord(["read"]).arg(self.trace()).output().unwrap(), 0, &[])
    }
}

/// Says `input` in these pieces, closes, and waits.
fn talk(mut child: Child, input: &[u8], pieces: &[usize]) -> Output {
    let (mut stdin, input, pieces) = (child.stdin.take().unwrap(), input.to_vec(), pieces.to_vec());
    let saying = thread::spawn(move || {
        let (mut rest, mut pieces) = (&input[..], pieces.into_iter().cycle());
        while !rest.is_empty() {
            let (now, later) = rest.split_at(pieces.next().unwrap_or(usize::MAX).min(rest.len()));
            // A reader that has stopped gets nothing more.
            let Ok(()) = stdin.write_all(now) else { return };
            rest = later;
        }
    });
    let output = child.wait_with_output().unwrap();
    saying.join().unwrap();
    output
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn bytes_pass_untouched() {
    let mut rng = Rng::new(7);
    for _ in 0..12 {
        let below =
            |rng: &mut Rng, most: usize| (0..3).fold(0, |sum, _| sum * 256 + usize::from(rng.byte())) % most;
        let length = below(&mut rng, 200_000);
        // A quarter of all bytes are ends of lines.
        let bytes: Vec<u8> = (0..length).map(|_| if rng.byte() < 64 { b'\n' } else { rng.byte() }).collect();
        let pieces: Vec<usize> = (0..5).map(|_| 1 + below(&mut rng, 70_000)).collect();
        let session = Session::new();
        let output = talk(session.start(&[], "mirror"), &bytes, &pieces);
        assert!(output.stdout == bytes, "{} bytes became {}", bytes.len(), output.stdout.len());
        assert!(output.status.success());
        let lines = bytes.split_inclusive(|&byte| byte == b'\n').count();
        // Every line of both sides is one of the trace, whatever it holds, beside the first and the last.
        assert_eq!(session.text().lines().count(), lines * 2 + 2);
    }
}

#[test]
fn signals_pass_and_have_an_end() {
    for (name, code) in [("-TERM", 143), ("-HUP", 129), ("-INT", 130)] {
        let session = Session::new();
        let mut child = session.start(&[], "sleeps");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("ready"), "{line}");
        signal(&child, name);
        // Its input is open still, so that nothing but the signal can have ended it.
        let _open = child.stdin.take();
        ended(&child.wait_with_output().unwrap(), code, &[]);
        let text = session.text();
        let end = text.lines().last().unwrap();
        assert!(end.contains(&format!("\"exitCode\":{code}")), "{end}");
        let how = format!(r#""_input":"open","_signal":"SIG{}""#, &name[1..]);
        assert!(end.contains(&how), "{end}");
        session.is_right();
    }
}

#[test]
fn a_kill_leaves_whole_lines() {
    let session = Session::new();
    let mut child = session.start(&[], "answers");
    let (mut stdin, mut out) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for _ in 0..50 {
        stdin.write_all(ASK.as_bytes()).unwrap();
        out.read_line(&mut String::new()).unwrap();
    }
    eventually("the last answer is written down at once", || session.text().lines().count() == 101);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let read = concord(["read"]).arg(session.trace()).output().unwrap();
    assert_eq!(said(&read).matches("\"kind\"").count(), 100, "{}", said(&read));
}

#[test]
fn a_slow_reader_loses_nothing() {
    let session = Session::new();
    let padding = "x".repeat(1 << 20);
    let text = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":{{\"x\":\"{padding}\"}}}}\n")
        .repeat(24);
    let mut child = session.start(&[], "mirror");
    let (mut stdin, input) = (child.stdin.take().unwrap(), text.clone());
    let saying = thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let mut out = child.stdout.take().unwrap();
    let (mut all, mut chunk) = (Vec::new(), vec![0; 256 << 10]);
    while let count @ 1.. = out.read(&mut chunk).unwrap() {
        all.extend_from_slice(&chunk[..count]);
        thread::sleep(Duration::from_millis(1));
    }
    saying.join().unwrap();
    assert!(child.wait().unwrap().success() && all == text.as_bytes());
    assert_eq!(session.is_right().matches("\"kind\"").count(), 48);
}

#[test]
fn two_recorders_do_not_share_a_file() {
    let session = Session::new();
    let mut first = session.start(&[], "answers");
    eventually("the file is there", || session.trace().exists());
    for (flags, name) in [(&[][..], "trace-2.jsonl"), (&["--force"], "trace-2.jsonl")] {
        let second = talk(session.start(flags, "answers"), ASK.as_bytes(), &[]);
        let text = ended(&second, 0, &[]);
        assert!(
            text.contains(&format!(
                "exists already; this session goes to {}",
                session.0.path().join(name).display()
            )),
            "{text}"
        );
        let read = concord(["read"]).arg(session.0.path().join(name)).output().unwrap();
        assert_eq!(said(&read).matches("\"kind\"").count(), 2, "{}", said(&read));
    }
    first.stdin.take().unwrap().write_all(ASK.as_bytes()).unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!(session.is_right().matches("\"kind\"").count(), 2);
}

#[test]
fn a_file_that_hangs_holds_nothing_up() {
    let session = Session::new();
    let pipe = session.0.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let holder = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let input = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}\n", "x".repeat(1 << 20)).repeat(40);
    let since = Instant::now();
    let output = talk(session.start_into(&pipe, &[], "mirror"), input.as_bytes(), &[]);
    assert!(output.stdout == input.as_bytes(), "{}", output.stdout.len());
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("incomplete (it does not take what is written)"), "{said}");
    drop(holder);
}

/// Lets a recorder with these flags pass a message of 100 MiB and noise of 5 MiB in little memory: what it said.
fn pass_a_long_message(session: &Session, flags: &[&str], code: i32) -> String {
    let mut child = session.start(flags, "long-message");
    let mut out = child.stdout.take().unwrap();
    let reading = thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()).unwrap());
    drop(child.stdin.take());
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        most = peak(&child).unwrap_or_default().max(most);
        thread::sleep(Duration::from_millis(5));
    }
    assert!(reading.join().unwrap() > 105 << 20);
    assert!(most < 64 << 10, "{most} KiB");
    ended(&child.wait_with_output().unwrap(), code, &[])
}

#[test]
fn a_message_that_is_too_long_to_be_redacted_is_counted() {
    let session = Session::new();
    let said = pass_a_long_message(&session, &["--redact", "token"], 1);
    assert!(said.contains("0 lines of the client and 1 of the server are missing"), "{said}");
    assert!(said.contains("more than 16 MiB"), "{said}");
    let text = session.text();
    assert!(text.contains("\"lines_lost\":{\"client\":0,\"server\":1}"), "{text:.500}");
    assert!(text.contains("\"withheld\":5242881") && text.lines().count() == 4, "{text:.500}");
}

#[test]
fn a_message_of_100_megabytes_streams() {
    let session = Session::new();
    pass_a_long_message(&session, &[], 0);
    let text = session.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[1].ends_with("xxx\"}}}") && lines[1].len() > 100 << 20);
    assert!(lines[2].ends_with("yyy\\\"\"}}") && lines[2].contains("\"kind\":\"stdio.noise\""));
    let check = concord(["check", "--profile", "recorder"]).arg(session.trace()).output().unwrap();
    assert!(!said(&check).contains("error["), "{}", said(&check));
}
