//! `summary`, and a file named without a command.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn run(words: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .args(words)
        .current_dir(root)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn code_and_words(words: &[&str]) -> (Option<i32>, String, String) {
    let done = run(words);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

const NULL_ID: &str = "docs/examples/null-id.jsonl";

#[test]
fn a_file_without_a_command_gets_an_overview() {
    let (code, page, _) = code_and_words(&["summary", NULL_ID]);
    assert_eq!(code, Some(0));
    assert!(page.contains("error[jsonrpc.id.null]") && page.contains("mcp-concord check docs/"), "{page}");
    assert_eq!(code_and_words(&[NULL_ID]).1, page);
    assert_eq!(code_and_words(&["--color", "never", NULL_ID]).1, page);
    assert!(code_and_words(&[NULL_ID, "--output", "json"]).1.starts_with('['));
}

#[test]
fn a_folder_gets_a_row_for_each_recording() {
    let (code, table, notes) = code_and_words(&["docs/examples"]);
    // The id of wrong-id.jsonl is one that `read` rejects.
    assert_eq!(code, Some(1), "{notes}");
    assert!(table.contains("rejected: invalid-id"), "{table}");
    assert!(table.starts_with("in docs/examples/\n") && table.contains("\nnull-id.jsonl "), "{table}");
    assert!(table.lines().last().unwrap().contains(" recordings: "), "{table}");
    assert!(notes.contains("not recordings and skipped"), "{notes}");
}

#[test]
fn what_is_no_recording_and_no_command_is_said() {
    let (code, out, why) = code_and_words(&["missing.har"]);
    assert_eq!((code, out.as_str()), (Some(2), ""));
    assert!(why.contains("there is no file missing.har"), "{why}");
    let (code, _, why) = code_and_words(&["raed"]);
    assert_eq!(code, Some(2));
    assert!(why.contains("similar subcommands") && why.contains("read"), "{why}");
    assert_eq!(code_and_words(&["--nonsense"]).0, Some(2));
    let (code, _, why) = code_and_words(&["-"]);
    assert_eq!(code, Some(2), "{why}");
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().display().to_string();
    let (code, _, why) = code_and_words(&[&empty]);
    assert_eq!(code, Some(2));
    assert!(why.contains("there is no recording"), "{why}");
    // What can be shown is shown beside what cannot.
    let (code, table, why) = code_and_words(&["summary", NULL_ID, "missing.har", "README.md"]);
    assert_eq!(code, Some(2));
    assert!(
        table.contains("null-id.jsonl") && why.contains("missing.har") && why.contains("README.md"),
        "{why}"
    );
}

#[test]
fn a_rejected_recording_is_shown_and_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let call = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\n";
    fs::write(&path, format!("{call}{call}")).unwrap();
    let (code, page, _) = code_and_words(&[&path.display().to_string()]);
    assert_eq!(code, Some(1));
    assert!(page.contains("duplicate-call-id") && page.contains("(line 2, COR-DUPLICATE)"), "{page}");
    assert_eq!(code_and_words(&["read", &path.display().to_string()]).0, Some(1));
}
