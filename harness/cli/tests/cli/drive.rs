//! `drive` with our own recorder, which passes, and with recorders whose processes go on. What it says of recorders with a fault is in
//! `tests/cmd/record/drive.md`.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use crate::support::{PROGRAM, concord, ended, eventually, file, python, said};
use std::path::Path;
use std::process::Output;
use verdict::record::{CaseResult, Record};
use verdict::verdict::Verdict;

/// Our own recorder, with these words behind.
fn own(words: &str) -> String {
    format!("{} record -o {words}", shell_words::quote(PROGRAM))
}

/// A recorder that goes wrong in the named way.
fn bad(how: &str) -> String {
    format!("{} {{out}} -- {{server}}", shell_words::join([python(), &file("cmd/bin/bad"), how]))
}

/// A run over stdio of one session.
fn drive(recorder: &str, session: &str, flags: &[&str]) -> Output {
    concord(["drive", "--recorder", recorder, "--filter", session]).args(flags).output().unwrap()
}

/// The record of a run of our own recorder over all of these topics, in which nothing fails.
fn record(recorder: &str, transport: &str, topics: &[&str]) -> Record {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.json");
    let mut command = concord(["drive", "--transport", transport, "--recorder", recorder, "--results"]);
    // Nothing here may depend on how busy the machine is.
    command.arg(&path).args(["--jobs", "4", "--timeout", "30", "--max-delay", "3"]);
    topics.iter().for_each(|topic| _ = command.args(["--filter", topic]));
    ended(&command.output().unwrap(), 0, &[]);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn passed(record: &Record) -> u64 {
    record.totals.get(&Verdict::Pass).copied().unwrap_or_default()
}

#[test]
fn our_own_recorder_passes_over_stdio() {
    own_passes("stdio", "{out} -- {server}", "mcp-replay");
}

#[test]
fn our_own_recorder_passes_over_streamable_http() {
    own_passes("streamable-http", "{out}.har --listen {port} --to {upstream}", "har");
}

#[test]
fn our_own_recorder_passes_over_http_sse() {
    own_passes("http-sse", "{out}.har --listen {port} --to {upstream}", "har");
}

/// Every session passes, but those that the recording's format cannot carry by its own statement. `scripts/own-recorder.sh` plays
/// every session of the suite.
fn own_passes(transport: &str, words: &str, format: &str) {
    let record = record(&own(words), transport, &["conditions/*", "recorded/*", "batches/*"]);
    let stated = format!("{format} cannot carry it: ");
    let skipped = |line: &CaseResult| {
        line.verdict == Verdict::Skip && line.message.as_deref().is_some_and(|why| why.starts_with(&stated))
    };
    for line in record.results.iter().filter(|line| !skipped(line)) {
        assert_eq!(line.verdict, Verdict::Pass, "{line:?}");
    }
    assert!(passed(&record) > 60, "{:?}", record.totals);
}

/// Over HTTP+SSE one stream has every answer, and an archive is read with that stream first (HAR-ORDER).
#[test]
fn our_own_recorder_keeps_an_order_that_an_archive_has_not() {
    let recorder = own("{out}.jsonl --listen {port} --to {upstream}");
    let record = record(&recorder, "http-sse", &["direction/*", "recorded/*"]);
    assert!(passed(&record) > 40, "{:?}", record.totals);
}

#[cfg(target_os = "linux")]
#[test]
fn no_child_of_a_recorder_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let mark = format!("MCP_CONCORD_TEST_OF_DRIVE={}", folder.path().display());
    let (name, value) = mark.split_once('=').unwrap();
    let mut command = concord(["drive", "--recorder", &bad("litter"), "--filter", "conditions/plain"]);
    command.args(["--timeout", "30", "--max-delay", "3"]);
    ended(&command.env(name, value).output().unwrap(), 0, &[]);
    let marked = |folder: &Path| {
        let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|it| it == mark.as_bytes())
    };
    let all = || std::fs::read_dir("/proc").unwrap().flatten();
    eventually("no child of the recorder lives on", || !all().any(|it| marked(&it.path())));
}

#[test]
fn of_a_standard_error_without_an_end_a_part_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().display().to_string();
    let output = drive(&bad("flood-stderr"), "conditions/noise", &["--save", &kept, "--patience", "3"]);
    assert!(output.status.code() < Some(2), "{}", said(&output));
    let said = std::fs::read_to_string(folder.path().join("conditions/noise/stderr")).unwrap();
    assert!(said.len() < 100_000, "{}", said.len());
    assert!(said.contains("bytes of the standard error are left out"), "{said}");
}

/// Nothing that a recorder does may keep `drive` waiting for ever, or fill the disk.
#[test]
fn a_recorder_that_never_stops_is_stopped() {
    for (how, code, part) in [("flood", 3, ""), ("fifo", 1, "is not a regular file")] {
        ended(&drive(&bad(how), "conditions/plain", &["--timeout", "5"]), code, &[part]);
    }
}
