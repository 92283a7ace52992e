//! `run --scale` with readers that go wrong on purpose as sessions grow, and with our own.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use crate::support::python;
use std::path::Path;
use std::process::{Command, Output};

/// Calls up to 16 in bare lines, which is enough for every fault of the script.
const SMALL: [&str; 7] = ["run", "--scale", "4KiB", "--filter", "messages", "--format", "jsonrpc"];

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-concord")).args(arguments).output().unwrap()
}

/// The script, going wrong in this way.
fn reader(how: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/scale/reader.py");
    let quoted = |words: &str| shell_words::quote(words).into_owned();
    format!("{} {} {how}", quoted(python()), quoted(&script.display().to_string()))
}

/// The exit code of a run with this reader, and its words.
fn measured(reader: &[&str], more: &[&str]) -> (Option<i32>, String) {
    let output = program(&[&SMALL[..], reader, more].concat());
    (
        output.status.code(),
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8_lossy(&output.stderr),
    )
}

fn once(how: &str, more: &[&str]) -> (Option<i32>, String) {
    measured(&["--exec", &format!("{} {{file}}", reader(how))], more)
}

#[test]
fn time_that_grows_with_the_square_is_caught() {
    // One that goes on running: on a busy machine a start takes as long as what is measured.
    let (code, words) = measured(&["--adapter", &reader("square")], &["--timeout", "60"]);
    assert_eq!(code, Some(1), "{words}");
    assert!(words.contains("fail: messages/jsonrpc time grows with the power"), "{words}");
}

#[test]
fn a_crash_a_hang_and_a_loss_are_told_with_the_size() {
    for (how, more, says) in [
        ("dies", &[][..], "crash at 8 calls (1064 bytes)"),
        ("hangs", &["--timeout", "2"], "it hangs at 8 calls (1064 bytes): no answer within 2 s"),
        ("loses", &[], "fail at 8 calls (1064 bytes): first at /events/15"),
    ] {
        let (code, words) = once(how, more);
        assert_eq!(code, Some(1), "{how}: {words}");
        assert!(words.contains(says), "{how}: {words}");
    }
}

#[test]
fn a_refusal_is_told_and_allowed() {
    let (code, words) = once("refuses", &[]);
    assert_eq!(code, Some(0), "{words}");
    assert!(words.contains("refused: messages/jsonrpc at 8 calls (1064 bytes): too long for me"), "{words}");
}

#[test]
fn our_own_readers_are_measured_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("scale.json");
    let output =
        program(&[&["run", "--scale", "2KiB", "--results"], &[results.to_str().unwrap()][..]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(results).unwrap()).unwrap();
    let series = kept["series"].as_array().unwrap();
    let formats: Vec<_> = series.iter().filter(|it| it["dimension"] == "messages").collect();
    assert_eq!(formats.len(), formats::written().count());
    for one in series.iter().filter(|it| it["format"] == "jsonrpc") {
        let sizes: Vec<u64> =
            one["steps"].as_array().unwrap().iter().map(|it| it["size"].as_u64().unwrap()).collect();
        assert!(!sizes.is_empty() && (0..).zip(&sizes).all(|(at, size)| *size == 1 << at), "{one}");
    }
}

#[test]
fn nothing_to_measure_is_an_error() {
    let output = program(&["run", "--scale", "--filter", "no-such-dimension"]);
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words}");
    assert!(words.contains("the dimensions are messages, text, depth, open, ids, events"), "{words}");
    let output = program(&["run", "--scale", "--exec", "/no/such/reader {file}"]);
    assert_eq!(output.status.code(), Some(3));
    let output = program(&["run", "--max-exponent", "2"]);
    assert_eq!(output.status.code(), Some(2));
}
