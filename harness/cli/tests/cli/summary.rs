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

/// The same numbers, however the recordings are named, and in every form.
#[test]
fn stats_count_over_files_folders_and_lists() {
    let folder = tempfile::tempdir().unwrap();
    let call = |id: u64| {
        format!(
            "{{\"ts\": {id}.000, \"dir\": \"client->server\", \"msg\": {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"add\"}}}}}}\n\
             {{\"ts\": {id}.020, \"dir\": \"server->client\", \"msg\": {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}}}\n"
        )
    };
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("a.jsonl"), call(1) + &call(2)).unwrap();
    std::fs::write(path("b.jsonl"), call(1)).unwrap();
    std::fs::write(path("c.txt"), "no recording").unwrap();
    std::fs::write(path("half.jsonl"), call(1) + "{\"ts\": 2.0, \"di").unwrap();
    let files = format!("{}\n{}\n", path("a.jsonl"), path("b.jsonl"));
    let list = folder.path().join("list");
    std::fs::write(&list, files).unwrap();
    let list = list.display().to_string();
    let all = ["stats", "--output", "csv", &path("a.jsonl"), &path("b.jsonl")].map(ToOwned::to_owned);
    let csv = "tool,server,version,recordings,calls,failed,unanswered,p50_ms,p95_ms,max_ms\r\nadd,,,2,3,0,0,20,20,20\r\n";
    let (code, printed, _) = code_and_words(&all.each_ref().map(String::as_str));
    assert_eq!((code, &*printed), (Some(0), csv));
    let (code, printed, _) = code_and_words(&["stats", "--output", "csv", "--files-from", &list]);
    assert_eq!((code, &*printed), (Some(0), csv));

    let (code, printed, why) = code_and_words(&["stats", &folder.path().display().to_string()]);
    assert_eq!(code, Some(1), "{why}");
    assert!(
        printed.starts_with("3 recordings (1 rejected): 4 tool calls, 0 failed, 0 unanswered\n"),
        "{printed}"
    );
    assert!(why.contains("half.jsonl: counted as far as it can be read"), "{why}");
    assert!(why.contains("are not recordings and skipped") && why.contains("c.txt"), "{why}");
    let (code, page, _) = code_and_words(&["stats", "--output", "html", &path("a.jsonl")]);
    assert!(
        code == Some(0) && page.starts_with("<!doctype html>") && page.contains("Calls by tool"),
        "{page}"
    );

    for (words, told) in [
        (&["stats", "none.jsonl"][..], "none.jsonl"),
        (&["stats", &path("c.txt")], "c.txt"),
        (&["stats", "--files-from", "none.list"], "none.list"),
        (&["stats", "-", "--files-from", "-"], "either a recording or a list"),
        (&["stats"], "FILE"),
    ] {
        let (code, printed, why) = code_and_words(words);
        assert_eq!((code, &*printed), (Some(2), ""), "{why}");
        assert!(why.contains(told), "{why}");
    }
    // What can be used is counted.
    let (code, printed, _) = code_and_words(&["stats", "none.jsonl", &path("b.jsonl")]);
    assert!(code == Some(2) && printed.starts_with("1 recording: 1 tool call,"), "{printed}");
}
