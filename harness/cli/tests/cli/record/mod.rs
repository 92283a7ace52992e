//! `record` through the built binary, between this test, which is the client, and `peer.sh`, which is the server.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail as a test does")]

mod burdens;
mod files;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server for each mode.
const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/peer.sh");

const ASK: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

struct Session {
    folder: TempDir,
}

impl Session {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn trace(&self) -> PathBuf {
        self.folder.path().join("trace.jsonl")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.trace()).unwrap()
    }

    fn record(&self, out: &Path, flags: &[&str], mode: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
        command.args(["record", "-o"]).arg(out).args(flags).args(["--", "sh", PEER, mode]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, flags: &[&str], mode: &str) -> Child {
        self.record(&self.trace(), flags, mode).spawn().unwrap()
    }

    /// Says `input`, closes, and waits.
    fn run(&self, flags: &[&str], mode: &str, input: &[u8]) -> Output {
        talk(self.start(flags, mode), input)
    }

    /// What `check` and `read` make of the recording.
    fn judged(&self) -> [Output; 2] {
        let run = |words: &[&str]| {
            Command::new(env!("CARGO_BIN_EXE_mcp-concord")).args(words).arg(self.trace()).output().unwrap()
        };
        [run(&["check", "--profile", "recorder"]), run(&["read"])]
    }

    fn is_right(&self) -> String {
        let [check, read] = self.judged();
        assert!(check.status.success(), "{}{}", words(&check), self.text());
        assert_eq!(recorder(&check), [0, 0, 0], "{}", words(&check));
        assert!(read.status.success(), "{}", words(&read));
        String::from_utf8(read.stdout).unwrap()
    }
}

fn talk(mut child: Child, input: &[u8]) -> Output {
    let (mut stdin, input) = (child.stdin.take().unwrap(), input.to_vec());
    let saying = thread::spawn(move || {
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    saying.join().unwrap();
    output
}

/// How many errors, warnings and notes `check` has for the recorder.
fn recorder(check: &Output) -> Vec<u64> {
    let text = words(check);
    if text.contains("no violations found") {
        return vec![0, 0, 0];
    }
    let row = text.lines().find_map(|line| line.trim().strip_prefix("recorder "));
    row.unwrap_or_else(|| panic!("{text}")).split_whitespace().map(|count| count.parse().unwrap()).collect()
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Waits until the server has said its first line.
fn first_line(child: &mut Child) -> String {
    let (mut line, mut byte) = (Vec::new(), [0]);
    let out = child.stdout.as_mut().unwrap();
    while !line.ends_with(b"\n") && out.read(&mut byte).unwrap() == 1 {
        line.push(byte[0]);
    }
    String::from_utf8(line).unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

fn until(what: &str, done: impl Fn() -> bool) {
    let since = Instant::now();
    while !done() {
        assert!(since.elapsed() < Duration::from_secs(20), "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_session_is_recorded_and_found_right() {
    let session = Session::new();
    let input: String = (0..100).map(|id| ASK.replace("1,", &format!("{id},"))).collect();
    let output = session.run(&[], "answers", input.as_bytes());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.lines().count() == 1, "{said}");
    assert!(said.contains("trace.jsonl will hold everything that is sent"), "{said}");
    let meaning = session.is_right();
    assert_eq!(meaning.matches("\"kind\": \"request\"").count(), 100);
    assert_eq!(meaning.matches("\"answers\": ").count(), 100);
    assert!(!meaning.contains("\"answers\": null"), "an answer stands before its request:\n{meaning}");
    let text = session.text();
    let (first, last) = (text.lines().next().unwrap(), text.lines().last().unwrap());
    assert!(first.starts_with("{\"v\":1,\"type\":\"meta\",") && first.contains("peer.sh\",\"answers\"]"));
    assert!(last.contains("\"exitCode\":0"), "{last}");
    assert!(
        !text.contains("imported") && !text.contains("converted") && !text.contains("_made_up"),
        "{text}"
    );
    let mut identify = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
    let identify = identify.args(["identify", "--output", "json"]).arg(session.trace()).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&identify.stdout).unwrap();
    let first = &found["evidence"][0];
    assert_eq!(
        (&found["transport"], &first["sign"]),
        (&"stdio".into(), &"trace-transport".into()),
        "{found}"
    );
    assert_eq!((&first["weak"], &first["pointer"]), (&false.into(), &"/_transport".into()), "{found}");
}

#[test]
fn the_closing_line_names_the_file_that_was_asked_for() {
    let session = Session::new();
    let out = session.folder.path().join("session.har");
    let mut command = session.record(&out, &["-v"], "answers");
    let output = talk(command.spawn().unwrap(), ASK.as_bytes());
    let said = words(&output);
    assert!(said.contains("session.har: the server ended with 0"), "{said}");
    assert!(!said.contains("mcp-replay.jsonl"), "{said}");
}

#[test]
fn noise_breaks_nothing() {
    let session = Session::new();
    let input = format!("{}hello\n\n{}", ASK.replace('\n', "\r\n"), ASK.trim_end().replace("1,", "2,"));
    let output = session.run(&[], "noise", input.as_bytes());
    assert!(output.status.success(), "{}", words(&output));
    let [check, read] = session.judged();
    assert_eq!(recorder(&check)[..2], [0, 0], "{}", words(&check));
    let meaning = String::from_utf8(read.stdout).unwrap();
    // The byte order mark, two texts of each side and the bytes are noise; nothing else is lost.
    assert_eq!(meaning.matches("\"kind\"").count(), 6, "{meaning}");
    let text = session.text();
    for kept in
        ["\"text\":\"listening on 3000\\r\"", "\"base64\":\"//4=\"", "\"text\":\"42\"", "\"text\":\"hello\""]
    {
        assert!(text.contains(kept), "{kept} is not in {text}");
    }
    assert_eq!(text.matches("\"kind\":\"stdio.noise\"").count(), 6, "{text}");
}

#[test]
fn bytes_pass_untouched() {
    let mut runner =
        TestRunner::new(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(12) });
    let bytes = prop::collection::vec(prop_oneof![3 => any::<u8>(), 1 => Just(b'\n')], 0..200_000);
    let cuts = prop::collection::vec(1usize..70_000, 1..6);
    let ran = runner.run(&(bytes, cuts), |(bytes, cuts)| {
        let session = Session::new();
        let mut child = session.start(&[], "mirror");
        let mut stdin = child.stdin.take().unwrap();
        let said = bytes.clone();
        let saying = thread::spawn(move || {
            let (mut rest, mut cuts) = (&said[..], cuts.into_iter().cycle());
            while !rest.is_empty() {
                let (now, later) = rest.split_at(cuts.next().unwrap().min(rest.len()));
                stdin.write_all(now).unwrap();
                rest = later;
            }
        });
        let output = child.wait_with_output().unwrap();
        saying.join().unwrap();
        prop_assert!(output.stdout == bytes, "{} bytes became {}", bytes.len(), output.stdout.len());
        prop_assert!(output.status.success());
        let lines = bytes.split_inclusive(|&byte| byte == b'\n').count();
        // Every line of both sides is one of the trace, whatever it holds, beside the first and the last.
        prop_assert_eq!(session.text().lines().count(), lines * 2 + 2);
        Ok(())
    });
    ran.unwrap();
}

#[test]
fn exit_code_and_standard_error_pass() {
    let session = Session::new();
    let output = session.run(&["-q"], "exits", ASK.as_bytes());
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "the server's own words\n");
    assert!(session.text().lines().last().unwrap().contains("\"exitCode\":7"));
    session.is_right();
}

#[test]
fn a_crash_has_an_end() {
    let session = Session::new();
    let output = session.run(&[], "crashes", ASK.as_bytes());
    assert_eq!(output.status.code(), Some(128 + 6), "{}", words(&output));
    assert!(session.text().lines().last().unwrap().contains("\"exitCode\":134"));
    assert_eq!(session.is_right().matches("\"kind\"").count(), 2);
}

#[test]
fn signals_pass_and_have_an_end() {
    for (name, number) in [("-TERM", 15), ("-HUP", 1), ("-INT", 2)] {
        let session = Session::new();
        let mut child = session.start(&[], "sleeps");
        assert!(first_line(&mut child).contains("ready"));
        signal(&child, name);
        // Its input is open still, so that nothing but the signal can have ended it.
        let _open = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(128 + number), "{name}");
        assert!(
            session.text().lines().last().unwrap().contains(&format!("\"exitCode\":{}", 128 + number)),
            "{name}"
        );
        session.is_right();
    }
}

#[test]
fn a_kill_leaves_whole_lines() {
    let session = Session::new();
    let mut child = session.start(&[], "answers");
    let mut stdin = child.stdin.take().unwrap();
    for _ in 0..50 {
        stdin.write_all(ASK.as_bytes()).unwrap();
        assert!(first_line(&mut child).contains("result"));
    }
    until("the last answer is written down at once", || session.text().lines().count() == 101);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let [_, read] = session.judged();
    assert_eq!(words(&read).matches("\"kind\"").count(), 100, "{}", words(&read));
}

#[test]
fn half_a_message_is_kept() {
    let session = Session::new();
    let mut child = session.start(&[], "half-id");
    let mut head = [0; 17];
    child.stdout.as_mut().unwrap().read_exact(&mut head).unwrap();
    assert_eq!(&head, b"{\"jsonrpc\":\"2.0\",");
    let output = talk(child, b"{\"jsonrpc\":\"2.0\",\"method\":");
    assert!(output.status.success());
    let text = session.text();
    assert!(
        text.contains("\"from\":\"server\",\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":\""),
        "{text}"
    );
    assert!(
        text.contains("\"from\":\"client\",\"text\":\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":\""),
        "{text}"
    );
    assert!(words(&session.judged()[1]).contains("\"events\": ["));
}

#[test]
fn a_slow_reader_loses_nothing() {
    let session = Session::new();
    let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}\n", "x".repeat(1 << 20));
    let mut child = session.start(&[], "mirror");
    let mut stdin = child.stdin.take().unwrap();
    let said = line.repeat(24);
    let input = said.clone();
    let saying = thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
    let mut out = child.stdout.take().unwrap();
    let (mut all, mut chunk) = (Vec::new(), vec![0; 256 << 10]);
    loop {
        let count = out.read(&mut chunk).unwrap();
        if count == 0 {
            break;
        }
        all.extend_from_slice(&chunk[..count]);
        thread::sleep(Duration::from_millis(1));
    }
    saying.join().unwrap();
    assert!(child.wait().unwrap().success() && all == said.as_bytes());
    assert_eq!(session.is_right().matches("\"kind\"").count(), 48);
}

#[test]
fn what_cannot_be_used_is_said() {
    let session = Session::new();
    let program = env!("CARGO_BIN_EXE_mcp-concord");
    let call = |out: &Path, words: &[&str]| {
        let output = Command::new(program).args(["record", "-o"]).arg(out).args(words).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, said) = call(&session.trace(), &["--", "./no-such-server"]);
    assert!(code == Some(3) && said.contains("there is no program `./no-such-server`"), "{code:?} {said}");
    assert!(!session.trace().exists());
    fs::write(session.trace(), "precious").unwrap();
    let (code, said) = call(&session.trace(), &["--", "true"]);
    assert!(code == Some(2) && said.contains("is there already"), "{code:?} {said}");
    assert_eq!(session.text(), "precious");
    assert_eq!(call(&session.trace(), &["--force", "--", "true"]).0, Some(0));
    session.is_right();
    for (out, flags, part) in [
        ("no/trace.jsonl", vec!["--", "true"], "its folder is not there"),
        ("trace.json", vec!["--", "true"], "name one with --format"),
        ("a.jsonl", vec!["--redact-text", "(", "--", "true"], "not a regular expression"),
        ("a.jsonl", vec!["--redact", "*", "--", "true"], "every text"),
        ("a.jsonl", vec![], "CMD"),
    ] {
        let (code, said) = call(&session.folder.path().join(out), &flags);
        assert!(code == Some(2) && said.contains(part), "{out}: {code:?} {said}");
    }
}

#[test]
fn secrets_are_taken_out_when_asked() {
    let session = Session::new();
    let input = ASK
        .replace("\"ping\"", "\"x\",\"params\":{\"token\":\"hush\",\"url\":\"http://a?key=hush2\"}")
        + "hush3\n";
    let flags = ["--redact", "token", "--redact-text", "key=[a-z0-9]+"];
    let output = session.run(&flags, "mirror", input.as_bytes());
    assert!(output.stdout == input.as_bytes(), "the traffic is never touched");
    assert!(output.stderr.is_empty(), "it says nothing of what the file holds: {}", words(&output));
    let text = session.text();
    assert!(!text.contains("hush"), "{text}");
    assert_eq!(
        text.matches("{\"token\":\"[REDACTED]\",\"url\":\"http://a?[REDACTED]\"}").count(),
        2,
        "{text}"
    );
    assert_eq!(recorder(&session.judged()[0])[..2], [0, 0]);
}

#[test]
fn other_formats_are_written_at_the_end() {
    let session = Session::new();
    let out = session.folder.path().join("session.har");
    let output = talk(session.record(&out, &[], "answers").spawn().unwrap(), ASK.as_bytes());
    assert!(output.status.success(), "{}", words(&output));
    let read = Command::new(env!("CARGO_BIN_EXE_mcp-concord")).args(["read"]).arg(&out).output().unwrap();
    assert_eq!(words(&read).matches("\"kind\"").count(), 2, "{}", words(&read));
    assert_eq!(fs::read_dir(session.folder.path()).unwrap().count(), 1, "the trace is gone");
    // A format that cannot tell directions cannot carry this one: both sides ask with id 1 at the same time.
    let out = session.folder.path().join("flat");
    let command = session.record(&out, &["--format", "jsonrpc"], "mirror").spawn();
    let both = format!("{ASK}{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}\n");
    let output = talk(command.unwrap(), both.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    assert!(words(&output).contains("jsonrpc cannot carry") && words(&output).contains("COR-DIRECTION-FLAT"));
    assert!(!out.exists() && session.folder.path().join("flat.mcp-replay.jsonl").exists());
}
