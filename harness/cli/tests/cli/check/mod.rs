//! `check` as a person and as a program meet it: what is printed in each kind of output, parsed back, and exit codes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail as a test does")]

mod hostile;
mod lists;
mod many;
mod ndjson;
mod page;
mod sets;

use quick_junit::Report;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const META: &str =
    r#"{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"a","command":["a"]}"#;

/// A trace with these messages, each with who said it; its times are right, and it has its end.
fn trace(messages: &[(&str, &str)]) -> String {
    let mut out = format!("{META}\n");
    for (index, (dir, message)) in messages.iter().enumerate() {
        let _ = writeln!(out, r#"{{"t":"2026-01-01T00:00:00.{index:03}Z","dir":"{dir}","raw":{message}}}"#);
    }
    let time = messages.len();
    out + &format!(
        "{{\"t\":\"2026-01-01T00:00:00.{time:03}Z\",\"type\":\"end\",\"exitCode\":0,\"durationMs\":{time}}}\n"
    )
}

const INITIALIZE: (&str, &str) = (
    "in",
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
);
const INITIALIZED: (&str, &str) = (
    "out",
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
);
const READY: (&str, &str) = ("in", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
const PING: (&str, &str) = ("in", r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
const PONG: (&str, &str) = ("out", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
const NULL: (&str, &str) = ("in", r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#);

fn right() -> String {
    trace(&[INITIALIZE, INITIALIZED, READY, PING, PONG])
}

/// With an error of the client: a request whose id is null.
fn wrong() -> String {
    trace(&[INITIALIZE, INITIALIZED, READY, NULL, PING, PONG])
}

/// With a remark and nothing worse: an id that is spelled as a fraction.
fn remarkable() -> String {
    right().replace("\"id\":1,", "\"id\":1.0,")
}

/// A session as VS Code logs it, whose lines begin with no bracket.
const VSCODE: &str = concat!(
    "2026-10-05 09:49:21.338 [info] Connection state: Running\n",
    "2026-10-05 09:49:21.377 [debug] [editor -> server] {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
    "2026-10-05 09:49:21.380 [debug] [server -> editor] {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
);

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self::new();
        for (name, text) in files {
            folder.write(name, text.as_bytes());
        }
        folder
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs `check` in the folder.
    fn check(&self, arguments: &[&str]) -> Ran {
        let output = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
            .arg("check")
            .args(arguments)
            .current_dir(self.0.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Ran::new(output)
    }

    /// The findings of `check --output json`.
    fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let ran = self.check(&[&["--output", "json"], arguments].concat());
        let lines: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err));
        lines.as_array().unwrap().clone()
    }

    fn broken(&self, arguments: &[&str]) -> Vec<String> {
        let lines = self.lines(arguments);
        let broken = lines.iter().filter(|line| line["line"].is_u64());
        broken.map(|line| line["rule"].as_str().unwrap().to_owned()).collect()
    }
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn new(output: Output) -> Self {
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(!err.contains("panicked"), "{err}");
        Self { code: output.status.code(), out: String::from_utf8(output.stdout).unwrap(), err }
    }

    fn is(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.out, self.err);
        self
    }

    fn says(self, words: &str) -> Self {
        assert!(self.err.contains(words), "{words} is missing in {}", self.err);
        self
    }

    fn shows(self, words: &str) -> Self {
        assert!(self.out.contains(words), "{words} is missing in\n{}", self.out);
        self
    }
}

#[test]
fn what_is_right_is_well_and_what_is_wrong_falls_short() {
    let folder = Folder::with(&[("right.jsonl", &right()), ("wrong.jsonl", &wrong())]);
    let ran = folder.check(&["right.jsonl"]).is(0).shows("right.jsonl: mcp-replay, 2025-11-25, 5 messages");
    let ran = ran.shows("  no violations found\n");
    assert!(!ran.out.contains("error") && !ran.out.contains("conforms"), "{}", ran.out);
    let ran = folder.check(&["wrong.jsonl"]).is(1).shows("error[jsonrpc.id.null]");
    let ran = ran.shows(" --> wrong.jsonl:5 /raw\n").shows("mcp-concord explain jsonrpc.id.null");
    let ran = ran.shows("party     errors warnings notes");
    assert!(ran.out.contains("  client         1"), "{}", ran.out);
    let both = folder.check(&["right.jsonl", "wrong.jsonl"]).is(1);
    both.shows("right.jsonl  0 errors").shows("wrong.jsonl  1 error,").shows("2 recordings: 1 error,");
}

#[test]
fn strictness_and_level_move_what_counts() {
    // A body that was left out is advice to the recorder.
    let har = r#"{"log":{"version":"1.2","creator":{"name":"c","version":"1"},"entries":[{"startedDateTime":"2026-01-01T00:00:00.000Z","time":1,
        "request":{"method":"POST","url":"http://localhost/mcp","httpVersion":"HTTP/1.1","headers":[],"queryString":[],"cookies":[],"headersSize":-1,"bodySize":10,
        "postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"}},
        "response":{"status":200,"statusText":"OK","httpVersion":"HTTP/1.1","headers":[{"name":"Content-Type","value":"application/json"}],"cookies":[],
        "content":{"size":40,"mimeType":"application/json"},"redirectURL":"","headersSize":-1,"bodySize":40},"cache":{},"timings":{"send":0,"wait":1,"receive":0}}]}}"#;
    let folder = Folder::with(&[("a.har", har), ("remark.jsonl", &remarkable())]);
    let warning = ["a.har", "--select", "rec.bodies"];
    folder.check(&warning).is(0).shows("warning[rec.bodies]");
    folder.check(&[&warning[..], &["--strict"]].concat()).is(1);
    folder.check(&[&warning[..], &["--strict", "--level", "should"]].concat()).is(1);
    let hidden = folder.check(&[&warning[..], &["--strict", "--level", "must"]].concat()).is(0);
    assert!(!hidden.out.contains("rec.bodies"), "{}", hidden.out);
    folder.check(&["remark.jsonl", "--select", "jsonrpc", "--strict"]).is(0).shows("note[jsonrpc.id.form]");
    let level = folder.check(&["remark.jsonl", "--select", "jsonrpc", "--level", "should"]).is(0);
    assert!(!level.out.contains("jsonrpc.id.form"), "{}", level.out);
}

#[test]
fn rules_are_chosen_by_id_by_beginning_and_by_family() {
    let text = wrong().replace("\"2026-01-01T00:00:00.000Z\",\"label\"", "\"yesterday\",\"label\"");
    let folder = Folder::with(&[("a", &text)]);
    let all = folder.broken(&["a"]);
    assert!(
        all.contains(&"jsonrpc.id.null".to_owned()) && all.iter().any(|id| id.starts_with("rec.")),
        "{all:?}"
    );
    for select in ["jsonrpc.id.null", "jsonrpc.id", "jsonrpc", "recording,jsonrpc"] {
        assert_eq!(folder.broken(&["a", "--select", select]), ["jsonrpc.id.null"], "{select}");
    }
    assert!(folder.broken(&["a", "--select", "jsonrpc", "--ignore", "jsonrpc.id"]).is_empty());
    let without = folder.broken(&["a", "--ignore", "jsonrpc.id.null"]);
    assert_eq!(without.len(), all.len() - 1);
    let session = folder.broken(&["a", "--profile", "session"]);
    let recorder = folder.broken(&["a", "--profile", "recorder"]);
    assert!(
        session.contains(&"jsonrpc.id.null".to_owned()) && !session.iter().any(|id| id.starts_with("rec."))
    );
    assert!(!recorder.is_empty() && recorder.iter().all(|id| id.starts_with("rec.")), "{recorder:?}");
    assert_eq!(session.len() + recorder.len(), all.len());
}

#[test]
fn a_wrong_call_is_told_apart_from_a_wrong_recording() {
    let folder = Folder::with(&[("a", &right()), ("none.txt", "neither"), ("empty/x.txt", "neither")]);
    for (arguments, words) in [
        (&["a", "--select", "jsonrpc.id.nul"][..], "did you mean jsonrpc.id.null"),
        (&["a", "--ignore", "jsonrcp"], "did you mean jsonrpc"),
        (&["a", "--select", "jsonrpc", "--ignore", "jsonrpc"], "leave no rule"),
        (&["a", "--level", "most"], "possible values"),
        (&["a", "--spec", "2025-11-26"], "a similar value exists: '2025-11-25'"),
        (&["a", "--format", "x"], "possible values: jsonrpc"),
        (&["a", "--output", "xml"], "possible values"),
        (&[], "FILE"),
        (&["gone"], "there is no file gone"),
        (&["none.txt"], "cannot be detected"),
        (&["empty"], "it holds no recording"),
        (&["a", "--require", "gone.toml"], "gone.toml cannot be read"),
        (&["a", "--require", "2025-11-26"], "did you mean 2025-11-25"),
        (&["a", "--require", "none.txt"], "not a set of rules"),
    ] {
        let ran = folder.check(arguments).is(2).says(words);
        assert!(ran.out.is_empty(), "{arguments:?}: {}", ran.out);
    }
    // What can be judged is judged all the same.
    folder.check(&["gone", "a"]).is(2).says("there is no file gone").shows("a: mcp-replay");
}

#[test]
fn folders_are_walked_and_what_is_no_recording_is_named() {
    let folder = Folder::with(&[
        ("in/b/right.jsonl", &right()),
        ("in/a/wrong.jsonl", &wrong()),
        ("in/notes.md", "# Notes"),
        ("in/other.json", "{\"a\": 1}"),
        ("in/.hidden/x.jsonl", &wrong()),
        ("in/vscode.log", VSCODE),
    ]);
    folder.write("in/picture", b"\x89PNG\xff\xfe");
    let ran = folder.check(&["in"]).is(1).says("3 are not recordings and skipped: ").says("in/.hidden");
    for name in ["in/notes.md", "in/other.json", "in/picture"] {
        assert!(ran.err.contains(name), "{}", ran.err);
    }
    let at = |name: &str| ran.out.find(name).unwrap();
    assert!(at("in/a/wrong.jsonl: mcp-replay") < at("in/b/right.jsonl: mcp-replay"), "{}", ran.out);
    ran.shows("in/vscode.log: vscode-log").shows("3 recordings: 1 error,");
    // Named by itself, such a file is a wrong call.
    folder.check(&["in/other.json"]).is(2);
    folder
        .check(&["in/picture"])
        .is(2)
        .says("is not a recording: byte 0x89 is not UTF-8 here (line 1, column 1)");
}

#[test]
fn the_standard_input_is_a_file() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .args(["check", "-", "--output", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(wrong().as_bytes()).unwrap();
    let ran = Ran::new(child.wait_with_output().unwrap()).is(1);
    let lines: Value = serde_json::from_str(&ran.out).unwrap();
    let finding = lines.as_array().unwrap().iter().find(|line| line["verdict"] == "fail").unwrap();
    assert_eq!((&finding["rule"], &finding["file"]), (&"jsonrpc.id.null".into(), &"<stdin>".into()));
    assert_eq!((&finding["line"], &finding["pointer"]), (&5.into(), &"/raw".into()));
    assert_eq!((&finding["level"], &finding["party"]), (&"must".into(), &"client".into()));
}

#[test]
fn every_output_tells_the_same_findings() {
    let folder = Folder::with(&[("a b.jsonl", &wrong()), ("right.jsonl", &right())]);
    let broken = folder.broken(&["a b.jsonl", "right.jsonl"]);
    assert!(!broken.is_empty());
    let print = |kind: &str| folder.check(&["a b.jsonl", "right.jsonl", "--output", kind]).is(1).out;

    let log: Value = serde_json::from_str(&print("sarif")).unwrap();
    let run = &log["runs"][0];
    let results: Vec<&str> =
        run["results"].as_array().unwrap().iter().map(|result| result["ruleId"].as_str().unwrap()).collect();
    assert_eq!(results, broken);
    let place = &run["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a%20b.jsonl");
    assert_eq!(run["artifacts"].as_array().unwrap().len(), 2);

    let report = Report::deserialize_from_str(&print("junit")).unwrap();
    let errors = folder.lines(&["a b.jsonl"]).iter().filter(|line| line["verdict"] == "fail").count();
    assert_eq!((report.test_suites.len(), report.failures), (2, errors));
    assert_eq!(report.test_suites[0].test_cases.len(), rules::all().count());

    let annotations = print("github");
    assert_eq!(annotations.lines().count(), broken.len());
    assert!(
        annotations.starts_with("::error file=a b.jsonl,line=5,title=jsonrpc.id.null::"),
        "{annotations}"
    );

    let text = print("text");
    for rule in &broken {
        assert!(text.contains(&format!("[{rule}]")), "{rule} is missing in\n{text}");
    }
}

#[test]
fn what_could_not_be_told_is_listed_with_what_would_tell() {
    let folder = Folder::with(&[("a.jsonl", &format!("{}\n{}\n", PING.1, PONG.1))]);
    let lines = folder.lines(&["a.jsonl"]);
    let unsure: Vec<&Value> = lines.iter().filter(|line| line["verdict"] == "inconclusive").collect();
    assert!(!unsure.is_empty());
    for line in &unsure {
        assert!(line["message"].as_str().unwrap().len() > 20 && line["line"].is_null(), "{line}");
    }
    let quiet = folder.check(&["a.jsonl"]).is(0);
    let first = unsure[0]["rule"].as_str().unwrap();
    assert!(!quiet.out.contains(first), "{}", quiet.out);
    folder.check(&["a.jsonl", "-v"]).is(0).shows("inconclusive:").shows(first);
    // With -v programs get every rule.
    let every: std::collections::BTreeSet<String> = folder
        .lines(&["a.jsonl", "-v"])
        .iter()
        .map(|line| line["rule"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(every.len(), rules::all().count());
}

#[test]
fn many_places_of_one_rule_are_folded_and_counted() {
    let messages: Vec<(&str, &str)> =
        [INITIALIZE, INITIALIZED, READY].into_iter().chain([NULL; 150]).collect();
    let folder = Folder::with(&[("a", &trace(&messages))]);
    let select = ["a", "--select", "jsonrpc.id.null"];
    let short = folder.check(&select).is(1).shows("and 147 more like this (-v shows them)");
    assert_eq!(short.out.matches(" --> ").count(), 3);
    let long = folder.check(&[&select[..], &["-v"]].concat()).is(1).shows("and 50 more like this\n");
    assert_eq!(long.out.matches(" --> ").count(), 100);
    long.shows("  client       150");
    let lines = folder.lines(&select);
    assert_eq!((lines.len(), lines[99]["more"].as_u64()), (100, Some(50)));
}
