//! Files that cannot take what is written, and messages that cannot be held.

use super::{ASK, Session, recorder, talk, words};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

#[test]
fn a_full_disk_holds_nothing_up() {
    let session = Session::new();
    let input = ASK.repeat(2000);
    let output =
        talk(session.record(Path::new("/dev/full"), &[], "mirror").spawn().unwrap(), input.as_bytes());
    assert!(output.stdout == input.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("/dev/full is incomplete (No space left on device"), "{said}");
    assert!(said.contains("2000 lines of the client and 2000 of the server"), "{said}");
    // The server's own code comes before ours.
    let output = talk(session.record(Path::new("/dev/full"), &[], "exits").spawn().unwrap(), ASK.as_bytes());
    assert_eq!(output.status.code(), Some(7));
}

#[test]
fn a_file_that_hangs_holds_nothing_up() {
    let session = Session::new();
    let pipe = session.folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let holder = fs::File::options().read(true).write(true).open(&pipe).unwrap();
    let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}\n", "x".repeat(1 << 20));
    let input = line.repeat(40);
    let since = Instant::now();
    let output = talk(session.record(&pipe, &[], "mirror").spawn().unwrap(), input.as_bytes());
    assert!(output.stdout == input.as_bytes(), "{}", output.stdout.len());
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    assert_eq!(output.status.code(), Some(1));
    assert!(words(&output).contains("incomplete (it does not take what is written)"));
    drop(holder);
}

/// Lets a recorder with these flags pass a message of 100 MiB and noise of 5 MiB: its exit code, what it said, and the most
/// memory that it had, in KiB.
fn pass_a_long_message(session: &Session, flags: &[&str]) -> (Option<i32>, String, u64) {
    let mut child = session.start(flags, "long-message");
    let pid = child.id();
    let mut out = child.stdout.take().unwrap();
    let reading = thread::spawn(move || {
        let mut all = Vec::new();
        out.read_to_end(&mut all).unwrap();
        all.len()
    });
    drop(child.stdin.take());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let kilobytes = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next()?.parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0));
        thread::sleep(Duration::from_millis(5));
    }
    assert!(reading.join().unwrap() > 105 << 20);
    let output = child.wait_with_output().unwrap();
    (output.status.code(), words(&output), peak)
}

#[test]
fn a_message_that_is_too_long_to_be_redacted_is_counted() {
    let session = Session::new();
    let (code, said, peak) = pass_a_long_message(&session, &["--redact", "token"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("0 lines of the client and 1 of the server are missing"), "{said}");
    assert!(said.contains("more than 16 MiB"), "{said}");
    assert!(peak < 64 << 10, "{peak} KiB");
    let text = session.text();
    assert!(text.contains("\"lines_lost\":{\"client\":0,\"server\":1}"), "{text:.500}");
    assert!(text.contains("\"withheld\":5242881") && text.lines().count() == 4, "{text:.500}");
    let [check, _] = session.judged();
    assert_eq!(recorder(&check)[0], 0, "{}", words(&check));
}

#[test]
fn a_message_of_100_megabytes_streams() {
    let session = Session::new();
    let (code, said, peak) = pass_a_long_message(&session, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(peak < 64 << 10, "{peak} KiB");
    let text = session.text();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines[1].ends_with("xxx\"}}}") && lines[1].len() > 100 << 20);
    assert!(lines[2].ends_with("yyy\\\"\"}}") && lines[2].contains("\"kind\":\"stdio.noise\""));
    let [check, _] = session.judged();
    assert_eq!(recorder(&check)[..2], [0, 0]);
}
