//! A runner that cannot fail proves nothing: the built binary, run on broken suites and wrong calls.
//!
//! Each row says what is broken, how the program is called, which exit code it must end with, and what its words
//! must name. `cargo test --test cli selfcheck:: -- --nocapture` prints the table.

#![expect(clippy::unwrap_used, reason = "a panic is a test's way to fail")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const CASE: &str = r#"
title = "A call and its answer"
clauses = ["COR-FIRST"]
expect = "meaning"
reason = "The answer belongs to the call."
origin = "written by hand from the clauses"
"#;

const SESSION: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":1,"result":3}"#,
    "\n"
);

const MEANING: &str = r#"{"events": [
    {"kind": "tool_call", "id": "1", "tool": "add"},
    {"kind": "result", "id": "1", "answers": 0, "result": 3}],
    "authorization_discovery": null}"#;

const SUMMARY: &str = r#"{"visible": true, "source_kind": "www_authenticate", "resource_metadata_visible": true,
    "authorization_servers_visible": false, "scope_challenge_visible": true}"#;

/// A suite of one good case, `topic/good`, in the format `jsonrpc`.
fn suite() -> TempDir {
    let suite = tempfile::tempdir().unwrap();
    add(suite.path(), "topic/good", CASE);
    suite
}

fn add(suite: &Path, name: &str, case: &str) {
    for (file, text) in [("case.toml", case), ("jsonrpc.jsonl", SESSION), ("meaning.json", MEANING)] {
        write(suite, &format!("{name}/{file}"), text);
    }
}

fn write(suite: &Path, file: &str, text: &str) {
    let path = suite.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn remove(suite: &Path, file: &str) {
    fs::remove_file(suite.join(file)).unwrap();
}

fn replace(suite: &Path, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(suite.join(file)).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    write(suite, file, &text.replace(from, to));
}

/// Says that a format cannot carry the session, with a reason unless it is empty.
fn uncarried(suite: &Path, format: &str, why: &str) {
    let why = if why.is_empty() { String::new() } else { format!(", why = \"{why}\"") };
    let table = format!("formats.{format} = {{ carries = false{why} }}\norigin");
    replace(suite, CASE_TOML, "origin", &table);
}

fn rejecting(suite: &Path) {
    remove(suite, MEANING_JSON);
    let rejection = "\"rejection\"\nreject = \"invalid-id\"\ntwin = \"topic/twin\"";
    replace(suite, "topic/good/case.toml", "\"meaning\"", rejection);
    add(suite, "topic/twin", &CASE.replace("A call", "The twin: a call"));
}

/// Makes the good case one for `check`, which breaks and keeps these rules.
fn judged(suite: &Path, breaks: &str, keeps: &str) {
    remove(suite, MEANING_JSON);
    let case = CASE.replace("\"meaning\"", "\"judgement\"").replace("COR-FIRST", "jsonrpc.id.null");
    let rules = format!("[judgement]\nbreaks = [\"{breaks}\"]\nkeeps = [\"{keeps}\"]\n");
    write(suite, CASE_TOML, &(case + &rules));
}

fn concord(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-concord")).args(arguments).output().unwrap()
}

fn run(suite: &Path, flags: &[&str]) -> Output {
    concord(&[&["run", "--cases", suite.to_str().unwrap()], flags].concat())
}

/// What is broken; how; the flags; the exit code; what the words must name.
type Row = (&'static str, fn(&Path), &'static [&'static str], i32, &'static [&'static str]);

const CASE_TOML: &str = "topic/good/case.toml";
const MEANING_JSON: &str = "topic/good/meaning.json";
const JSONRPC: &str = "topic/good/jsonrpc.jsonl";

// A table reads by its rows.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    ("nothing", |_| {}, &[], 0, &["1 result of 1 case: 1 pass"]),
    ("the suite is missing", |s| fs::remove_dir_all(s).unwrap(), &[], 2, &["cannot be opened"]),
    ("the suite is empty", |s| fs::remove_dir_all(s.join("topic")).unwrap(), &[], 2, &["no case.toml"]),
    ("the suite is a file", |s| { fs::remove_dir_all(s).unwrap(); fs::write(s, "").unwrap() },
     &[], 2, &["is a file"]),
    ("a filter that matches nothing", |_| {}, &["--filter", "other/*"], 2, &["other/*", "matches nothing"]),
    ("one of two filters that matches nothing", |_| {},
     &["--filter", "topic/*", "--filter", "goood"], 2, &["goood"]),
    ("a topic for a filter", |_| {}, &["--filter", "topic"], 2, &["did you mean 'topic/*'?"]),
    ("a filter that is not a glob", |_| {}, &["--filter", "["], 2, &["glob"]),
    ("a filter that names one reading", |_| {}, &["--filter", "topic/good/jsonrpc"], 0, &["1 pass"]),
    ("a format that no case has", |_| {}, &["--format", "inspector"], 2, &["inspector"]),
    ("a format that does not exist", |_| {}, &["--format", "pcap"], 2, &["pcap", "jsonrpc"]),
    ("a shard from zero", |_| {}, &["--shard", "0/2"], 2, &["0/2"]),
    ("a shard past the last", |_| {}, &["--shard", "3/2"], 2, &["3/2"]),
    ("a shard that is a word", |_| {}, &["--shard", "half"], 2, &["half"]),
    ("no jobs", |_| {}, &["--jobs", "0"], 2, &["--jobs"]),
    ("an unknown flag", |_| {}, &["--fliter", "x"], 2, &["--fliter"]),
    ("results where nothing can be written", |_| {},
     &["--results", "/nowhere/r.json"], 2, &["/nowhere/r.json"]),
    ("a case without transcripts", |s| remove(s, JSONRPC),
     &[], 2, &["topic/good", "no transcript"]),
    ("transcripts without a case", |s| remove(s, CASE_TOML), &[], 2, &["topic/good", "no case.toml"]),
    ("a stray file", |s| write(s, "topic/good/notes.txt", ""), &[], 2, &["topic/good/notes.txt", "no place"]),
    ("a folder in a case", |s| write(s, "topic/good/more/a", ""),
     &[], 2, &["topic/good/more", "is a folder"]),
    ("an unknown clause", |s| replace(s, CASE_TOML, "COR-FIRST", "COR-FRIST"),
     &[], 2, &["case.toml:3", "COR-FRIST", "did you mean COR-FIRST?"]),
    ("an unknown rule among the clauses", |s| replace(s, CASE_TOML, "COR-FIRST", "jsonrpc.id.nul"),
     &[], 2, &["case.toml:3", "there is no rule `jsonrpc.id.nul`", "did you mean jsonrpc.id.null"]),
    ("unknown rules in a judgement", |s| judged(s, "jsonrpc.id.nul", "jsonrpc.id.spelling.x"),
     &[], 2, &["case.toml:8", "no rule `jsonrpc.id.nul`", "case.toml:9", "jsonrpc.id.spelling.x", "2 problems"]),
    ("known rules in a judgement", |s| judged(s, "jsonrpc.id.null", "jsonrpc.version"), &[], 2, &["no case"]),
    ("no clause", |s| replace(s, CASE_TOML, "\"COR-FIRST\"", ""),
     &[], 2, &["case.toml:3", "at least one clause"]),
    ("no title", |s| replace(s, CASE_TOML, "title", "source"), &[], 2, &["case.toml", "`title` is missing"]),
    ("no origin and no reason",
     |s| { replace(s, CASE_TOML, "origin", "source"); replace(s, CASE_TOML, "reason", "redacted") },
     &[], 2, &["`origin` is missing", "`reason` is missing"]),
    ("an empty reason", |s| replace(s, CASE_TOML, "The answer belongs to the call.", " "),
     &[], 2, &["case.toml:5", "`reason` is empty"]),
    ("an unknown key", |s| replace(s, CASE_TOML, "title", "titel"), &[], 2, &["case.toml:2", "titel"]),
    ("an expectation that is no string", |s| replace(s, CASE_TOML, "\"meaning\"", "true"),
     &[], 2, &["case.toml:4", "write expect = \"meaning\", \"rejection\" or \"either\""]),
    ("no TOML", |s| replace(s, CASE_TOML, "title =", "title"), &[], 2, &["case.toml:2"]),
    ("an unknown expectation", |s| replace(s, CASE_TOML, "\"meaning\"", "\"success\""),
     &[], 2, &["case.toml:4", "success"]),
    ("a rejection without a code", |s| { rejecting(s); replace(s, CASE_TOML, "reject = \"invalid-id\"", "") },
     &[], 2, &["case.toml:4", "reject"]),
    ("an unknown rejection code", |s| { rejecting(s); replace(s, CASE_TOML, "invalid-id", "invalid-ids") },
     &[], 2, &["case.toml:5", "did you mean invalid-id"]),
    ("a rejection without a twin", |s| { rejecting(s); replace(s, CASE_TOML, "twin = \"topic/twin\"", "") },
     &[], 2, &["topic/good/case.toml", "has a twin"]),
    ("a twin that does not exist", |s| { rejecting(s); replace(s, CASE_TOML, "topic/twin", "topic/twins") },
     &[], 2, &["topic/good/case.toml", "topic/twins", "did you mean topic/twin?"]),
    ("a twin that expects no meaning", |s| { rejecting(s); replace(s, CASE_TOML, "topic/twin", "topic/good") },
     &[], 2, &["topic/good/case.toml", "expects a meaning"]),
    ("a twin where a meaning is expected", |s| replace(s, CASE_TOML, "reason", "twin = \"topic/good\"\nreason"),
     &[], 2, &["case.toml:5", "twin"]),
    ("a code where a meaning is expected", |s| replace(s, CASE_TOML, "reason", "reject = \"batch\"\nreason"),
     &[], 2, &["case.toml:5", "reject"]),
    ("no meaning", |s| remove(s, MEANING_JSON), &[], 2, &["meaning.json", "missing"]),
    ("a meaning beside a rejection", |s| { rejecting(s); write(s, MEANING_JSON, MEANING) },
     &[], 2, &["meaning.json", "no place"]),
    ("a meaning that is not JSON", |s| write(s, MEANING_JSON, "{"),
     &[], 2, &["meaning.json", "not JSON"]),
    ("a meaning with a slip", |s| replace(s, MEANING_JSON, "\"answers\": 0", "\"answers\": 1"),
     &[], 2, &["meaning.json", "/events/1/answers"]),
    ("a summary that nothing can carry",
     |s| replace(s, MEANING_JSON, "y\": null", &format!("y\": {SUMMARY}")),
     &[], 2, &["authorization_discovery"]),
    ("a table for an unknown format", |s| uncarried(s, "pcap", "EQ-PAIR"),
     &[], 2, &["pcap", "no such format"]),
    ("a table without a reason", |s| uncarried(s, "inspector", ""),
     &[], 2, &["inspector", "why"]),
    ("a table with an unknown clause", |s| uncarried(s, "inspector", "EQ-PEAR"),
     &[], 2, &["EQ-PEAR", "did you mean EQ-PAIR"]),
    ("a table against its transcript", |s| uncarried(s, "jsonrpc", "EQ-PAIR"),
     &[], 2, &["jsonrpc.jsonl"]),
    ("a format that is skipped", |s| uncarried(s, "inspector", "EQ-PAIR"),
     &[], 0, &["1 pass, 1 skip", "inspector cannot carry it: EQ-PAIR"]),
    ("nothing but skips", |s| uncarried(s, "inspector", "EQ-PAIR"),
     &["--format", "inspector"], 1, &["1 skip", "nothing was judged"]),
    ("a title that is taken", |s| add(s, "topic/other", CASE),
     &[], 2, &["topic/other/case.toml", "is taken by", "topic/good"]),
    ("two colons in a name", |s| add(s, "topic/a::b", &CASE.replace("A call", "Another call")),
     &[], 2, &["topic/a::b"]),
    ("two dots in a name", |s| add(s, "topic/a..b", &CASE.replace("A call", "Another call")),
     &[], 2, &["topic/a..b"]),
    ("all that is wrong at once",
     |s| { write(s, "topic/good/a.txt", ""); write(s, "topic/good/b.txt", ""); remove(s, MEANING_JSON) },
     &[], 2, &["a.txt", "b.txt"]),
    ("a wrong answer", |s| replace(s, MEANING_JSON, "\"result\": 3", "\"result\": 4"),
     &[], 1, &["fail: topic/good, jsonrpc", "/events/1/result", "= expected: 4", "= got: 3", "COR-FIRST: ",
      "The answer belongs to the call.", "--filter 'topic/good/jsonrpc'", "1 fail"]),
    ("an event that is not there",
     |s| { replace(s, MEANING_JSON, "3}]", "3}, {\"kind\": \"notification\", \"method\": \"a\"}]") },
     &[], 1, &["silent loss", "/events/2", "(nothing)"]),
    ("a session where a rejection is expected", rejecting,
     &[], 1, &["= expected: rejection (invalid-id)", "= got: 2 events"]),
    ("a rejection of another kind", |s| { rejecting(s); write(s, JSONRPC, "[]\n") },
     &[], 1, &["= expected: rejection (invalid-id)", "= got: rejection (batch)"]),
    ("a rejection where a meaning is expected", |s| write(s, JSONRPC, "[]\n"),
     &[], 1, &["= expected: a session", "= got: rejection (batch): "]),
    ("two formats that disagree where the choice is open",
     |s| { remove(s, MEANING_JSON); replace(s, CASE_TOML, "\"meaning\"", "\"either\"");
         write(s, "topic/good/inspector.json", "[]") },
     &[], 1, &["topic/good, inspector", "jsonrpc reads otherwise", "--filter 'topic/good'"]),
    ("bytes that are no UTF-8 where a meaning is expected",
     |s| fs::write(s.join(JSONRPC), b"\xff\xfe").unwrap(),
     &[], 1, &["invalid-utf8"]),
    ("a failure that is filtered out",
     |s| { replace(s, MEANING_JSON, "\"result\": 3", "\"result\": 4");
         add(s, "topic/fine", &CASE.replace("A call", "Another call")) },
     &["--filter", "topic/fine"], 0, &["1 pass"]),
    ("a control that is no boolean", |s| replace(s, CASE_TOML, "reason", "control = \"yes\"\nreason"),
     &[], 2, &["case.toml:5"]),
    ("a list", |_| {}, &["--list"], 0, &["topic/good/jsonrpc"]),
];

#[test]
fn every_broken_suite_has_its_exit_code_and_its_words() {
    let mut wrong = Vec::new();
    for (what, break_it, flags, code, words) in ROWS {
        let suite = suite();
        break_it(suite.path());
        let output = run(suite.path(), flags);
        let told = told(&output);
        let missing: Vec<_> = words.iter().filter(|word| !told.contains(**word)).collect();
        println!("{:>4}  {what}", output.status.code().unwrap_or(-1));
        if output.status.code() != Some(*code) || !missing.is_empty() {
            wrong.push(format!(
                "{what}: {:?} instead of {code}, without {missing:?}:\n{told}",
                output.status.code()
            ));
        }
        assert!(!told.contains("panicked"), "{what}: {told}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_suite_is_refused() {
    let suite = suite();
    let pipe = suite.path().join("topic/good/jsonrpc.jsonl");
    fs::remove_file(&pipe).unwrap();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let output = run(suite.path(), &[]);
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(told(&output).contains("is not a regular file"), "{}", told(&output));
}

#[cfg(unix)]
#[test]
fn links_out_of_the_suite_are_refused() {
    let elsewhere = suite();
    for (link, target) in [
        ("topic/linked", elsewhere.path().join("topic/good")),
        ("topic/good/inspector.json", elsewhere.path().join(JSONRPC)),
        ("topic/good/http-sse.json", elsewhere.path().join("not-there")),
    ] {
        let suite = suite();
        std::os::unix::fs::symlink(target, suite.path().join(link)).unwrap();
        let output = run(suite.path(), &[]);
        assert_eq!(output.status.code(), Some(2), "{link}: {}", told(&output));
        assert!(told(&output).contains(link), "{link}: {}", told(&output));
    }
}

#[test]
fn several_suites_add_up_and_share_no_name() {
    let (first, second) = (suite(), tempfile::tempdir().unwrap());
    add(second.path(), "topic/second", &CASE.replace("A call", "Another call"));
    let both = |second: &Path| run(first.path(), &["--cases", second.to_str().unwrap()]);
    let output = both(second.path());
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).contains("2 results of 2 cases"), "{}", told(&output));
    let output = both(suite().path());
    assert_eq!(output.status.code(), Some(2), "{}", told(&output));
    assert!(told(&output).contains("the name \"topic/good\" is taken"), "{}", told(&output));
}

#[test]
fn shards_share_all_cases_among_them() {
    let suite = suite();
    for number in 0..20 {
        add(suite.path(), &format!("topic/{number}"), &CASE.replace("A call", &format!("Call {number}")));
    }
    let list = |flags: &[&str]| -> Vec<String> {
        let output = run(suite.path(), &[&["--list"], flags].concat());
        assert_eq!(output.status.code(), Some(0), "{}", told(&output));
        String::from_utf8(output.stdout).unwrap().lines().map(Into::into).collect()
    };
    let mut shared: Vec<String> =
        ["1/3", "2/3", "3/3"].iter().flat_map(|shard| list(&["--shard", shard])).collect();
    shared.sort();
    let mut all = list(&[]);
    all.sort();
    assert_eq!((shared.len(), shared), (21, all));
}

#[test]
fn the_record_adds_up_and_does_not_depend_on_the_number_of_jobs() {
    let suite = suite();
    for number in 0..20 {
        let name = format!("topic/{number}");
        add(suite.path(), &name, &CASE.replace("A call", &format!("Call {number}")));
        if number % 3 == 0 {
            replace(suite.path(), &format!("{name}/meaning.json"), "\"result\": 3", "\"result\": 1e400");
        }
    }
    let out = tempfile::tempdir().unwrap();
    let record = |jobs: &str| {
        let file = out.path().join(jobs);
        let output = run(suite.path(), &["--jobs", jobs, "--results", file.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{}", told(&output));
        fs::read_to_string(file).unwrap()
    };
    let text = record("1");
    assert_eq!(record("7"), text);
    assert!(text.contains("\"expected\": 1e400,"), "{text}");
    let record: serde_json::Value = serde_json::from_str(&text.replace("1e400", "1")).unwrap();
    assert_eq!((&record["schema"], &record["planned"]), (&1.into(), &21.into()));
    assert_eq!(record["totals"], serde_json::json!({"pass": 14, "fail": 7}));
    assert_eq!(record["results"].as_array().unwrap().len(), 21);
    assert!(record["suite"]["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(record["results"][0]["case"], "topic/0");
}

#[test]
fn the_digest_tells_suites_apart_and_not_where_they_stand() {
    let digest = |suite: &Path| {
        let file = suite.with_extension("json");
        run(suite, &["--results", file.to_str().unwrap()]);
        let record: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        fs::remove_file(file).unwrap();
        record["suite"]["digest"].clone()
    };
    let (first, second) = (suite(), suite());
    assert_eq!(digest(first.path()), digest(second.path()));
    replace(second.path(), JSONRPC, "\n", "\r\n");
    assert_ne!(digest(first.path()), digest(second.path()));
}

#[test]
fn explain_knows_every_clause_and_rule_and_nothing_else() {
    for (arguments, code, words) in [
        (&["explain"][..], 0, &["COR-FIRST", "SRV-TWICE"][..]),
        (&["explain", "COR-FIRST"], 0, &["COR-FIRST: ", "Assay"]),
        (&["explain", "COR-FRIST"], 2, &["COR-FRIST", "did you mean COR-FIRST?"]),
        (&["explain", "jsonrpc.id.null"], 0, &["jsonrpc.id.null: ", "rules/jsonrpc/id-null"]),
        (&["explain", "jsonrpc.id.nul"], 2, &["did you mean jsonrpc.id.null"]),
        (&["explain", "LIFECYCLE"], 0, &["life.init.first", "must"]),
        (&["explain", "nonsense"], 2, &["nonsense"]),
        (&["explain", "--output", "yaml"], 2, &["yaml"]),
    ] {
        let output = concord(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", told(&output));
        for word in words {
            assert!(told(&output).contains(word), "{arguments:?} without {word}: {}", told(&output));
        }
    }
    let json = concord(&["explain", "--output", "json"]).stdout;
    let entries: Vec<serde_json::Value> = serde_json::from_slice(&json).unwrap();
    let of = |kind: &str| entries.iter().filter(|entry| entry["kind"] == kind).count();
    assert_eq!(of("clause"), transcript::clauses::all().count());
    assert_eq!(of("rule"), rules::all().count());
    assert!(entries.iter().all(|entry| entry["source"].is_string()));
}

fn told(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}{err}")
}
