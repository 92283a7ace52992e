//! `new`: what it writes, what it refuses, and that a case that somebody has filled in is one that passes.

#![expect(clippy::unwrap_used, reason = "a panic is a test's way to fail")]

use formats::written;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// How the program ended, and all that it said.
fn concord(words: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-concord")).args(words).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(said).unwrap())
}

fn new(cases: &TempDir, words: &[&str]) -> (Option<i32>, String) {
    let cases = cases.path().to_str().unwrap();
    concord(&[&["new", "--cases", cases], words].concat())
}

fn run(cases: &TempDir, more: &[&str]) -> (Option<i32>, String) {
    let cases = cases.path().to_str().unwrap();
    concord(&[&["run", "--cases", cases], more].concat())
}

fn repository(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases").join(file)
}

/// Fills in what a person must.
fn fill(case: &Path) {
    let text = fs::read_to_string(case.join("case.toml")).unwrap();
    let filled = text
        .replace("title = \"\"", &format!("title = \"What {} shows\"", case.file_name().unwrap().display()))
        .replace("clauses = []", "clauses = [\"COR-FIRST\"]")
        .replace("reason = \"\"", "reason = \"The answer belongs to the call.\"")
        .replace("origin = \"\"", "origin = \"read line by line against the clause\"");
    fs::write(case.join("case.toml"), filled).unwrap();
}

#[test]
fn a_case_of_one_call_is_refused_until_it_is_filled_in_and_passes_then() {
    let cases = tempfile::tempdir().unwrap();
    let (code, said) = new(&cases, &["topic/one-call"]);
    assert_eq!(code, Some(0), "{said}");
    let case = cases.path().join("topic/one-call");
    let files: Vec<&str> = written().map(|format| format.file).chain(["case.toml", "meaning.json"]).collect();
    for file in &files {
        assert!(case.join(file).is_file() && said.contains(file), "{file}: {said}");
    }
    assert_eq!(fs::read_dir(&case).unwrap().count(), files.len(), "and nothing else stands there");
    assert_eq!(fs::read_dir(cases.path()).unwrap().count(), 1, "nor beside it");

    let (code, refused) = run(&cases, &[]);
    assert_eq!(code, Some(2), "{refused}");
    for key in ["`title` is empty; write title = ", "`reason` is empty", "`origin` is empty", "clauses = ["] {
        assert!(refused.contains(key), "{key} is missing in: {refused}");
    }

    fill(&case);
    let command = said.lines().find_map(|line| line.trim().strip_prefix("mcp-concord ")).unwrap();
    let words = shell_words::split(command).unwrap();
    let (code, passed) = concord(&words.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(code, Some(0), "{passed}");
    assert!(passed.contains(&format!("{} pass", written().count())), "{passed}");

    let meaning = fs::read_to_string(case.join("meaning.json")).unwrap();
    fs::write(case.join("meaning.json"), meaning.replace("\"3\"", "\"4\"")).unwrap();
    assert_eq!(run(&cases, &[]).0, Some(1), "a case of which the meaning is wrong fails");
}

#[test]
fn a_format_that_cannot_carry_the_session_is_left_out_by_its_clause() {
    let cases = tempfile::tempdir().unwrap();
    let given = repository("direction/both-count-from-zero/mcp-replay.jsonl");
    let (code, said) = new(&cases, &["direction/mine", "--from", given.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{said}");
    let case = cases.path().join("direction/mine");
    assert!(!case.join("jsonrpc.jsonl").exists() && said.contains("no jsonrpc.jsonl"), "{said}");
    let told = fs::read_to_string(case.join("case.toml")).unwrap();
    let note = "[formats.jsonrpc]\ncarries = false\nwhy = \"COR-DIRECTION-FLAT\"\n";
    assert!(told.contains(note), "{told}");
    assert!(fs::read(case.join("mcp-replay.jsonl")).unwrap() == fs::read(&given).unwrap(), "byte for byte");
    fill(&case);
    let (code, passed) = run(&cases, &["--filter", "direction/mine"]);
    assert_eq!(code, Some(0), "{passed}");
}

#[test]
fn what_is_written_means_what_the_case_means_that_the_session_is_from() {
    let cases = tempfile::tempdir().unwrap();
    for from in [
        "k2a/both-parameters/har.har",
        "order/time-runs-backwards/mcp-replay.jsonl",
        "har/listed-by-completion/har.har",
    ] {
        let from = repository(from);
        let name = from.parent().unwrap().file_name().unwrap().to_str().unwrap();
        let (code, said) = new(&cases, &[name, "--from", from.to_str().unwrap()]);
        assert_eq!(code, Some(0), "{name}: {said}");
        let case = cases.path().join(name);
        fill(&case);
        // The expectation that was written by hand, instead of the proposal.
        fs::copy(from.with_file_name("meaning.json"), case.join("meaning.json")).unwrap();
    }
    let (code, passed) = run(&cases, &[]);
    assert_eq!(code, Some(0), "{passed}");
}

#[test]
fn what_cannot_be_a_case_is_refused_and_nothing_is_written() {
    let cases = tempfile::tempdir().unwrap();
    let wrong = cases.path().join("wrong.jsonl");
    fs::write(&wrong, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"jsonrpc\":\"2.0\",\"id\":[1],\"result\":{}}\n")
        .unwrap();
    let odd = cases.path().join("odd.txt");
    fs::write(&odd, "no session at all").unwrap();
    assert_eq!(new(&cases, &["ids/there"]).0, Some(0));
    let [wrong, odd] = [&wrong, &odd].map(|path| path.to_str().unwrap());
    let rows: &[(&[&str], i32, &[&str])] = &[
        (&["ids/there"], 2, &["ids/there is there already"]),
        (&["ids"], 2, &["ids is there already"]),
        (&["ids/there/below"], 2, &["ids/there is a case"]),
        (&["../outside"], 2, &["leads out of the folder"]),
        (&["ids/../../outside"], 2, &["leads out of the folder"]),
        (&["/tmp/outside"], 2, &["leads out of the folder"]),
        (&["Ids/Case"], 2, &["lower case"]),
        (&[], 2, &["CASE"]),
        (&["a/b", "--from", wrong], 1, &["invalid-id", "wrong.jsonl:2", "ID-REJECT"]),
        (&["a/b", "--from", odd], 2, &["odd.txt", "--format"]),
        (&["a/b", "--from", "no-such-file"], 2, &["there is no file no-such-file"]),
        (&["a/b", "--format", "har"], 2, &["--from"]),
        (&["wrong.jsonl/b"], 2, &["lower case"]),
    ];
    for (words, code, parts) in rows {
        let (ended, said) = new(&cases, words);
        assert_eq!(ended, Some(*code), "{words:?}: {said}");
        for part in *parts {
            assert!(said.contains(part), "{words:?}: {part} is missing in: {said}");
        }
    }
    assert!(!cases.path().join("a").exists() && !cases.path().parent().unwrap().join("outside").exists());
    let file = Path::new(odd).to_owned();
    let (code, said) = concord(&["new", "a/b", "--cases", file.to_str().unwrap()]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("cannot be written"), "{said}");
}
