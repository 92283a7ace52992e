//! Records rendered, put together and compared, through the built binary.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod site;

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

fn concord(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
    command.current_dir(folder).args(arguments).output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A folder with the record of a run of one topic.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let run = ["run", "-q", "--filter", "ids/*", "--results", "whole.json"];
    assert!(concord(folder.path(), &run).status.success());
    folder
}

/// The record with one reading that came to `verdict`.
fn changed(folder: &Path, verdict: &str) -> String {
    edited(folder, |record| record["results"][0]["verdict"] = verdict.into())
}

/// The record, changed.
fn edited(folder: &Path, edit: impl FnOnce(&mut Value)) -> String {
    let text = fs::read_to_string(folder.join("whole.json")).unwrap();
    let mut record: Value = serde_json::from_str(&text).unwrap();
    edit(&mut record);
    record.to_string()
}

#[test]
fn a_run_writes_what_people_and_programs_read() {
    let folder = tempfile::tempdir().unwrap();
    let run = ["run", "-q", "--filter", "ids/*", "--report", "out/here", "--results", "same.json"];
    assert!(concord(folder.path(), &run).status.success());
    let read = |name: &str| fs::read_to_string(folder.path().join("out/here").join(name)).unwrap();
    assert_eq!(read("results.json"), fs::read_to_string(folder.path().join("same.json")).unwrap());
    assert!(read("index.html").contains("ids/null-request"));
    assert!(read("junit.xml").contains("<testsuites") && read("junit.xml").contains(" time=\""));
    let (record, times): (Value, Value) = (json(&read("results.json")), json(&read("times.json")));
    assert_eq!(record["command"], "mcp-concord run");
    let asked = record["results"].as_array().unwrap().iter().filter(|line| line["bytes"].is_u64()).count();
    assert!(asked > 0 && times["times"].as_array().unwrap().len() == asked, "{times}");
    assert!(read("summary.md").starts_with("### mcp-concord "));
    let badge = json(&read("badge.json"));
    assert_eq!(badge["color"], "brightgreen");
}

#[test]
fn the_parts_of_a_run_are_the_run() {
    let folder = folder();
    let parts = ["1/3", "2/3", "3/3"].map(|shard| {
        let name = format!("part-{}.json", &shard[..1]);
        let run = ["run", "-q", "--filter", "ids/*", "--shard", shard, "--results", &name];
        assert!(concord(folder.path(), &run).status.success());
        name
    });
    let merge = ["report", &parts[2], &parts[0], &parts[1], "--out", "site"];
    assert!(concord(folder.path(), &merge).status.success());
    let whole = fs::read_to_string(folder.path().join("whole.json")).unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("site/results.json")).unwrap(), whole);

    let gap = concord(folder.path(), &["report", &parts[2], &parts[0], "--out", "site"]);
    assert!(gap.status.code() == Some(2) && told(&gap).contains("2/3 is missing"), "{}", told(&gap));
    let twice = concord(folder.path(), &["report", &parts[0], &parts[0], "--out", "site"]);
    assert!(
        twice.status.code() == Some(2) && told(&twice).contains("both hold part 1/3"),
        "{}",
        told(&twice)
    );
}

#[test]
fn times_stand_beside_a_record_and_belong_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let there = |name: &str| folder.path().join(name);
    for (shard, out) in [("1/2", "one"), ("2/2", "two")] {
        let run = ["run", "-q", "--filter", "ids/*", "--shard", shard, "--report", out];
        assert!(concord(folder.path(), &run).status.success());
    }
    let merge = ["report", "one/results.json", "two/results.json", "--out", "site"];
    assert!(concord(folder.path(), &merge).status.success());
    let times = |name: &str| json(&fs::read_to_string(there(name)).unwrap())["times"].clone();
    let count = |name: &str| times(name).as_array().unwrap().len();
    assert_eq!(count("site/times.json"), count("one/times.json") + count("two/times.json"));
    for (text, part) in [("{", "one/times.json: "), ("other", "a time for ids/")] {
        let stray =
            if text == "other" { fs::read_to_string(there("two/times.json")).unwrap() } else { text.into() };
        fs::write(there("one/times.json"), stray).unwrap();
        let refused = concord(folder.path(), &merge);
        assert!(refused.status.code() == Some(2) && told(&refused).contains(part), "{}", told(&refused));
    }
}

/// File systems take names of 255 bytes.
#[test]
fn implementations_with_endless_names_have_pages_of_their_own() {
    let folder = folder();
    for (file, last) in [("a.json", "a"), ("b.json", "b")] {
        let name = "n".repeat(100_000) + last;
        let record = edited(folder.path(), |record| record["implementation"]["name"] = name.into());
        fs::write(folder.path().join(file), record).unwrap();
    }
    let site = concord(folder.path(), &["report", "a.json", "b.json", "whole.json", "--out", "site"]);
    assert!(site.status.success(), "{:.2000}", told(&site));
    let entries = fs::read_dir(folder.path().join("site")).unwrap().map(|entry| entry.unwrap().path());
    let folders: Vec<_> = entries.filter(|path| path.is_dir()).collect();
    assert_eq!(folders.len(), 3, "{folders:?}");
    let mut names: Vec<Value> = folders
        .iter()
        .map(|folder| {
            json(&fs::read_to_string(folder.join("results.json")).unwrap())["implementation"]["name"].clone()
        })
        .collect();
    names.sort_by_key(|name| name.as_str().unwrap().to_owned());
    names.dedup();
    assert_eq!(names.len(), 3);
    // Every link of the overview leads somewhere.
    let overview = fs::read_to_string(folder.path().join("site/index.html")).unwrap();
    for folder in folders {
        let name = folder.file_name().unwrap().to_str().unwrap();
        assert!(overview.contains(&format!("{name}/index.html")), "{name}");
    }
}

#[test]
fn generated_cases_name_their_seed_and_their_command() {
    let folder = tempfile::tempdir().unwrap();
    let run = ["run", "-q", "--generate", "3", "--seed", "7", "--filter", "*", "--results", "r.json"];
    assert!(concord(folder.path(), &run).status.success());
    let record = json(&fs::read_to_string(folder.path().join("r.json")).unwrap());
    assert_eq!(record["suite"]["seed"], 7);
    assert_eq!(record["command"], "mcp-concord run --generate 3 --seed 7");
}

#[test]
fn a_new_failure_is_told_first_and_ends_with_1() {
    let folder = folder();
    fs::write(folder.path().join("worse.json"), changed(folder.path(), "fail")).unwrap();
    let compare = |new: &str, old: &str| concord(folder.path(), &["report", new, "--compare", old]);
    let worse = compare("worse.json", "whole.json");
    assert_eq!(worse.status.code(), Some(1));
    assert!(told(&worse).starts_with("#### New failures: 1\n"), "{}", told(&worse));
    let better = compare("whole.json", "worse.json");
    assert!(better.status.success() && told(&better).contains("No longer failing: 1"), "{}", told(&better));
    assert_eq!(told(&compare("whole.json", "whole.json")), "Nothing changed.\n");
}

#[test]
fn what_cannot_be_used_is_named() {
    let folder = folder();
    fs::write(folder.path().join("text.json"), "{\"schema\": 1}").unwrap();
    let later = changed(folder.path(), "pass").replace("\"schema\":1", "\"schema\":9");
    fs::write(folder.path().join("later.json"), later).unwrap();
    let stranger = changed(folder.path(), "pass").replace("\"name\":\"mcp-concord\"", "\"name\":\"other\"");
    fs::write(folder.path().join("other.json"), stranger).unwrap();
    for (arguments, part) in [
        (&["report", "nowhere.json", "--out", "o"][..], "nowhere.json cannot be read"),
        (&["report", "text.json", "--out", "o"], "text.json is not a record of a run"),
        (&["report", "later.json", "--out", "o"], "of schema 9"),
        (&["report", "whole.json"], "--out"),
        (&["report", "whole.json", "--out", "whole.json"], "cannot be written"),
        (&["report", "whole.json", "--compare", "other.json"], "none of the records is of `other`"),
    ] {
        let output = concord(folder.path(), arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", told(&output));
        assert!(told(&output).contains(part), "{arguments:?}: {}", told(&output));
    }
}

#[test]
fn the_lines_that_matter_are_kept_for_every_format() {
    let folder = tempfile::tempdir().unwrap();
    let python = "import json,sys\nfor line in sys.stdin:\n ask=json.loads(line)\n if ask['cmd']=='start': out={'protocol':1,'name':'none','version':'1','language':'python','formats':['jsonrpc','har'],'level':'events'}\n elif ask['cmd']=='stop': break\n else: out={'seq':ask['seq'],'meaning':{'events':[],'authorization_discovery':None}}\n print(json.dumps(out),flush=True)\n";
    fs::write(folder.path().join("none.py"), python).unwrap();
    let run =
        ["run", "-q", "--filter", "ids/null-request", "--adapter", "python3 none.py", "--results", "r.json"];
    assert_eq!(concord(folder.path(), &run).status.code(), Some(1));
    let record: Value =
        serde_json::from_str(&fs::read_to_string(folder.path().join("r.json")).unwrap()).unwrap();
    let note = &record["cases"]["ids/null-request"];
    let formats = |member: &str| note[member].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(formats("lines"), formats("transcripts"), "also in those that were not asked for");
    let line = note["lines"]["jsonrpc"][0].as_u64().unwrap();
    assert_eq!(line, 1, "the first event is the first that is missing");
}
