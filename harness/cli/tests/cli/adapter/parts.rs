//! Parts of a run, from outside: up to so many failures, what failed before, and several formats.

use super::{Suite, told};
use std::fs;
use std::process::Output;
use verdict::record::Record;

/// The exit code and what was said. `words` must be in it.
fn says(what: &str, output: &Output, code: i32, words: &[&str]) -> String {
    let said = told(output);
    let missing: Vec<_> = words.iter().filter(|word| !said.contains(**word)).collect();
    let ended = output.status.code() == Some(code) && missing.is_empty() && !said.contains("panicked");
    assert!(ended, "{what}: {:?} instead of {code}, without {missing:?}:\n{said}", output.status);
    said
}

fn file(suite: &Suite, name: &str) -> String {
    suite.folder.path().join(name).display().to_string()
}

fn record(path: &str) -> Record {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// `loses` fails the cases a and b in two formats each, passes c, and fails d.
#[test]
fn so_many_failures_end_a_run_and_what_is_left_is_counted() {
    let left = "with 4 planned results not judged";
    for (flags, words) in [
        (&["--fail-fast"][..], &["2 results of 1 case: 2 fail", "ended at the first failure", left][..]),
        (&["--max-failures", "1"], &["2 results of 1 case: 2 fail", "ended at the first failure", left]),
        (
            &["--max-failures", "3"],
            &["4 results of 2 cases: 4 fail", "ended at 3 failures with 2 planned results not judged"],
        ),
    ] {
        for jobs in ["1", "3"] {
            let all = [flags, &["--jobs", jobs]].concat();
            says(&all.join(" "), &Suite::new().run("loses", &all), 1, words);
        }
    }
    for most in ["5", "9"] {
        let output = Suite::new().run("loses", &["--max-failures", most]);
        let said = says(most, &output, 1, &["6 results of 4 cases: 1 pass, 5 fail"]);
        assert!(!said.contains("not judged"), "{said}");
    }
}

#[test]
fn a_record_says_where_its_run_ended() {
    let suite = Suite::new();
    let results = file(&suite, "results");
    says("ends", &suite.run("loses", &["--fail-fast", "--results", &results]), 1, &[]);
    let record = record(&results);
    assert_eq!((record.max_failures, record.planned, record.interrupted), (Some(1), 2, 4));
}

#[test]
fn known_failures_do_not_end_a_run() {
    let suite = Suite::new();
    let baseline = file(&suite, "baseline.toml");
    let known =
        "[[known]]\ncase = \"topic/[ad]\"\nkind = \"fail\"\nsilent-loss = true\nreason = \"So it is.\"\n";
    fs::write(&baseline, known).unwrap();
    let output = suite.run("loses", &["--fail-fast", "--baseline", &baseline]);
    let words =
        ["4 results of 2 cases: 2 fail, 2 expected-fail", "ended at the first failure with 2 planned"];
    says("b is new", &output, 1, &words);
}

#[test]
fn what_failed_is_run_again() {
    let suite = Suite::new();
    let [first, second] = ["first.json", "second.json"].map(|name| file(&suite, name));
    says("rounds", &suite.run("rounds", &["--results", &first]), 1, &["4 pass, 2 fail"]);
    let output = suite.run("rounds", &["--rerun-failed", &first]);
    says("still wrong", &output, 1, &["2 results of 1 case: 2 fail"]);
    let output = suite.run("good", &["--rerun-failed", &first, "--results", &second]);
    says("mended", &output, 0, &["2 results of 1 case: 2 pass"]);
    let output = suite.run("good", &["--rerun-failed", &first, "--format", "inspector"]);
    says("a part of it", &output, 0, &["1 result of 1 case: 1 pass"]);
    let output = suite.run("good", &["--rerun-failed", &first, "--filter", "topic/b"]);
    says("none of it", &output, 0, &["nothing that failed in", "is selected, so nothing is run"]);
    let third = file(&suite, "third.json");
    let output = suite.run("good", &["--rerun-failed", &second, "--results", &third]);
    says("nothing failed", &output, 0, &["nothing failed in", "so nothing is run"]);
    assert_eq!(record(&third).planned, 0);
    let output = suite.run("rounds", &["--rerun-failed", &first, "--list"]);
    assert_eq!(says("listed", &output, 0, &[]), "topic/a/jsonrpc\ntopic/a/inspector\n");
}

#[test]
fn a_run_that_ended_early_does_not_know_of_everything() {
    let suite = Suite::new();
    let results = file(&suite, "results");
    says("ends", &suite.run("loses", &["--fail-fast", "--results", &results]), 1, &[]);
    let words =
        ["2 pass", "ended at the first failure with 4 planned results not judged; they are not judged now"];
    says("again", &suite.run("good", &["--rerun-failed", &results]), 0, &words);
}

#[test]
fn failures_of_another_suite_or_importer_are_refused() {
    let suite = Suite::new();
    let results = file(&suite, "results");
    says("rounds", &suite.run("rounds", &["--results", &results]), 1, &[]);
    let again =
        |mode: &str, flags: &[&str]| suite.run(mode, &[&["--rerun-failed", &results], flags].concat());
    says("another importer", &again("once:good", &[]), 2, &["is of faulty, and env is tested"]);
    let dialect = ["is of the dialect default, and this run judges by typed-ids"];
    says("another dialect", &again("good", &["--dialect", "typed-ids"]), 2, &dialect);
    let recorder = fs::read_to_string(&results).unwrap().replacen(
        "\"planned\"",
        "\"subject\": \"recorder\", \"planned\"",
        1,
    );
    fs::write(file(&suite, "recorder"), recorder).unwrap();
    fs::write(file(&suite, "torn"), "{\"schema\": 1").unwrap();
    fs::write(file(&suite, "findings"), "[]").unwrap();
    for (name, words) in [
        ("recorder", "is the record of a recorder"),
        ("torn", "is not a record of a run"),
        ("findings", "is not a record of a run"),
        ("missing", "cannot be read"),
    ] {
        let output = suite.run("good", &["--rerun-failed", &file(&suite, name)]);
        says(name, &output, 2, &[words]);
    }
    suite.write("d/jsonrpc.jsonl", "{\"jsonrpc\":\"2.0\",\"method\":\"y\"}\n");
    suite.write(
        "d/meaning.json",
        r#"{"events": [{"kind": "notification", "method": "y"}], "authorization_discovery": null}"#,
    );
    says("another suite", &again("good", &[]), 2, &["is of another suite"]);
}

#[test]
fn several_formats_are_run() {
    let formats = |names: &[&str]| {
        let flags: Vec<&str> = names.iter().flat_map(|name| ["--format", name]).collect();
        Suite::new().run("good", &flags)
    };
    says("both", &formats(&["jsonrpc", "inspector"]), 0, &["6 results of 4 cases: 6 pass"]);
    says("one", &formats(&["inspector"]), 0, &["2 results of 2 cases: 2 pass"]);
    says("one that has none", &formats(&["inspector", "har"]), 0, &["2 results of 2 cases: 2 pass"]);
    says(
        "none",
        &formats(&["http-sse", "har"]),
        2,
        &["no case has a transcript in the formats http-sse, har"],
    );
    says("twice", &formats(&["inspector", "inspector"]), 2, &["--format inspector is given twice"]);
    says(
        "by its other name",
        &formats(&["http-sse", "sse-legacy"]),
        2,
        &["--format http-sse is given twice"],
    );
}

#[test]
fn a_call_that_cannot_be_meant_is_refused() {
    for (flags, word) in [
        (&["--max-failures", "0"][..], "write a number from 1"),
        (&["--max-failures", "few"], "write a number from 1"),
        (&["--fail-fast", "--max-failures", "2"], "cannot be used with"),
        (&["--mutants"], "use `scripts/kills.py`"),
        (&["--rerun-failed", "x", "--scale"], "cannot be used with"),
    ] {
        let output =
            std::process::Command::new(env!("CARGO_BIN_EXE_mcp-concord")).arg("run").args(flags).output();
        says(word, &output.unwrap(), 2, &[word]);
    }
}
