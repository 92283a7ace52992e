//! `drive` with our own recorder, which passes, and with recorders that go wrong on purpose, which are caught.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod caught;

use crate::support::{PROGRAM, concord, ended, eventually, file, python, said as words};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use verdict::record::{CaseResult, Record};
use verdict::verdict::Verdict;

/// Our own recorder, with these words behind.
fn own(words: &str) -> String {
    format!("{} record -o {words}", shell_words::quote(PROGRAM))
}

const OWN: &str = "{out} -- {server}";
const OWN_OVER_HTTP: &str = "{out}.har --listen {port} --to {upstream}";

/// A recorder that goes wrong in the named way, over stdio and over HTTP.
fn bad(how: &str) -> String {
    format!("{} {{out}} -- {{server}}", shell_words::join([python(), &file("cli/drive/bad.py"), how]))
}

fn bad_http(how: &str) -> String {
    format!(
        "{} {{out}} {{port}} {{upstream}}",
        shell_words::join([python(), &file("cli/drive/bad_http.py"), how])
    )
}

const HTTP: [&str; 2] = ["--transport", "streamable-http"];

fn drive(recorder: &str, flags: &[&str]) -> Output {
    drive_with(recorder, flags, |command| command)
}

fn drive_with(recorder: &str, flags: &[&str], more: impl Fn(&mut Command) -> &mut Command) -> Output {
    more(concord(["drive", "--recorder", recorder]).args(flags)).output().unwrap()
}

/// The record of a run that ends with this code.
fn results(recorder: &str, flags: &[&str], code: i32) -> Record {
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("results.json");
    let written = path.display().to_string();
    let output = drive(recorder, &[flags, &["--results", &written]].concat());
    assert_eq!(output.status.code(), Some(code), "{}", words(&output));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn count(record: &Record, verdict: Verdict) -> u64 {
    record.totals.get(&verdict).copied().unwrap_or_default()
}

#[test]
fn our_own_recorder_passes_over_stdio() {
    own_passes("stdio", &own(OWN), "mcp-replay");
}

#[test]
fn our_own_recorder_passes_over_streamable_http() {
    own_passes("streamable-http", &own(OWN_OVER_HTTP), "har");
}

#[test]
fn our_own_recorder_passes_over_http_sse() {
    own_passes("http-sse", &own(OWN_OVER_HTTP), "har");
}

/// Every session passes, but those that the recording's format cannot carry by its own statement. `scripts/own-recorder.sh` plays
/// every session of the suite.
fn own_passes(transport: &str, recorder: &str, format: &str) {
    // Nothing here may depend on how busy the machine is.
    let patient = ["--jobs", "4", "--timeout", "30", "--max-delay", "3"];
    let topics = ["--filter", "conditions/*", "--filter", "recorded/*", "--filter", "batches/*"];
    let flags = [&["--transport", transport], &patient[..], &topics].concat();
    let record = results(recorder, &flags, 0);
    let stated = format!("{format} cannot carry it: ");
    let skipped = |line: &CaseResult| {
        line.verdict == Verdict::Skip && line.message.as_deref().is_some_and(|why| why.starts_with(&stated))
    };
    for line in record.results.iter().filter(|line| !skipped(line)) {
        assert_eq!(line.verdict, Verdict::Pass, "{line:?}");
    }
    assert!(count(&record, Verdict::Pass) > 60, "{:?}", record.totals);
}

/// Over HTTP+SSE one stream has every answer, and an archive is read with that stream first (HAR-ORDER).
#[test]
fn our_own_recorder_keeps_an_order_that_an_archive_has_not() {
    let recorder = own("{out}.jsonl --listen {port} --to {upstream}");
    let topics = ["--filter", "direction/*", "--filter", "recorded/*"];
    let record = results(&recorder, &[&["--transport", "http-sse"], &topics[..]].concat(), 0);
    assert!(count(&record, Verdict::Pass) > 40, "{:?}", record.totals);
}

#[test]
fn a_faithful_recorder_in_another_language_passes() {
    let flags = [
        "--filter",
        "conditions/plain",
        "--filter",
        "conditions/values",
        "--filter",
        "conditions/big-message",
    ];
    let record = results(&bad("faithful"), &flags, 0);
    assert_eq!(count(&record, Verdict::Pass), 6, "{record:?}");
    let record = results(&bad_http("faithful"), &[&flags[..], &HTTP[..]].concat(), 0);
    assert_eq!(count(&record, Verdict::Pass), 6, "{record:?}");
}

#[test]
fn a_recorder_that_cannot_be_run_is_told_apart() {
    let refused = ["never started the server (exit code 1)", "no licence was found"];
    ended(&drive(&bad("refuse"), &[]), 3, &refused);
    ended(&drive(&bad_http("deaf"), &HTTP), 3, &["never sent the server anything (exit code 1)"]);
}

#[test]
fn known_failures_are_let_pass_and_stale_ones_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("known.toml");
    let path_text = path.display().to_string();
    let entry = |case: &str| {
        format!(
            "[[known]]\ncase = \"{case}\"\nformat = \"fidelity\"\nkind = \"fail\"\nat = \"/lost/*/*\"\nsilent-loss = true\n\
             reason = \"It leaves every fifth message out.\"\n"
        )
    };
    std::fs::write(&path, entry("conditions/plain")).unwrap();
    let flags = ["--filter", "conditions/plain", "--baseline", &path_text];
    let record = results(&bad("drop"), &flags, 0);
    assert_eq!((count(&record, Verdict::Pass), count(&record, Verdict::ExpectedFail)), (1, 1), "{record:?}");
    let record = results(&bad("faithful"), &flags, 1);
    assert_eq!(count(&record, Verdict::UnexpectedPass), 1, "{record:?}");
    std::fs::write(&path, entry("conditions/none")).unwrap();
    ended(&drive(&bad("drop"), &flags), 2, &["no case of the suite matches `conditions/none`"]);
}

/// A recorder that leaves every fifth message out fails these two sessions, each in one dimension.
#[test]
fn so_many_failures_end_it_and_what_is_left_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let baseline = folder.path().join("known.toml").display().to_string();
    let known = "[[known]]\ncase = \"conditions/plain\"\nformat = \"fidelity\"\nkind = \"fail\"\nsilent-loss = true\nreason = \"So it is.\"\n";
    std::fs::write(&baseline, known).unwrap();
    let both = ["--filter", "conditions/plain", "--filter", "conditions/values"];
    let ended = |flags: &[&str]| {
        let record = results(&bad("drop"), &[&both[..], flags].concat(), 1);
        (record.max_failures, record.planned, record.interrupted, record.cases.len())
    };
    for jobs in ["1", "3"] {
        assert_eq!(ended(&["--fail-fast", "--jobs", jobs]), (Some(1), 2, 2, 1), "{jobs}");
        assert_eq!(ended(&["--max-failures", "2", "--jobs", jobs]), (None, 4, 0, 2), "{jobs}");
        assert_eq!(
            ended(&["--fail-fast", "--jobs", jobs, "--baseline", &baseline]),
            (None, 4, 0, 2),
            "{jobs}"
        );
    }
    let fidelity = ["--filter", "conditions/*/fidelity", "--fail-fast"];
    let said = words(&drive(&bad("drop"), &fidelity));
    assert!(said.contains("1 aspect of 1 session: 1 fail"), "{said}");
    assert!(said.contains("stopped at the first failure; 1") && said.contains("not judged"), "{said}");
}

#[test]
fn what_happened_is_kept_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let kept_text = kept.display().to_string();
    let flags = ["--filter", "conditions/plain", "--save", &kept_text];
    let output = drive(&bad("drop"), &flags);
    ended(&output, 1, &[]);
    for name in ["session", "recording", "client.journal", "server.journal", "stderr"] {
        assert!(kept.join("conditions/plain").join(name).exists(), "{name}");
    }
    let text = words(&output);
    let rerun = format!("--recorder '{}' --filter 'conditions/plain/fidelity'", bad("drop"));
    assert!(text.contains(&rerun), "{text}");
    assert!(text.contains("conditions/plain/recording"), "{text}");
    // A second run finds the folder as it left it.
    assert_eq!(drive(&own(OWN), &flags).status.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn no_child_of_a_recorder_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let mark = format!("MCP_CONCORD_TEST_OF_DRIVE={}", folder.path().display());
    let (name, value) = mark.split_once('=').unwrap();
    let flags = ["--filter", "conditions/plain"];
    let output = drive_with(&bad("litter"), &flags, |command| command.env(name, value));
    ended(&output, 0, &[]);
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
    let flags = ["--filter", "conditions/noise", "--save", &kept, "--patience", "3"];
    let output = drive(&bad("flood-stderr"), &flags);
    assert!(output.status.code() < Some(2), "{}", words(&output));
    let said = std::fs::read_to_string(folder.path().join("conditions/noise/stderr")).unwrap();
    assert!(said.len() < 100_000, "{}", said.len());
    assert!(said.contains("bytes of the standard error are left out"), "{said}");
}

/// Nothing that a recorder does may keep `drive` waiting for ever, or fill the disk.
#[test]
fn a_recorder_that_never_stops_is_stopped() {
    let flags = ["--filter", "conditions/plain", "--timeout", "5"];
    let flooding = drive(&bad("flood"), &flags);
    ended(&flooding, 3, &[]);
    let piping = results(&bad("fifo"), &flags, 1);
    let line = piping.results.iter().find(|line| line.format == "fidelity").unwrap();
    assert!(line.message.as_deref().unwrap().contains("is not a regular file"), "{line:?}");
}
