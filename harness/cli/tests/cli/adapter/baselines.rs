//! Baselines, from outside: what is let pass, and what makes one unusable.

use super::{Suite, told};
use std::fs;
use std::process::Output;

/// What `loses` does wrong: everything but the rejection.
const KNOWN: &str = r#"# What we know of.
[[known]]
case = "topic/[abd]"
kind = "fail"
silent-loss = true
reason = "The last event is dropped; it has been so since the first release."
"#;

fn against(mode: &str, baseline: &str, flags: &[&str]) -> Output {
    let suite = Suite::new();
    let file = suite.folder.path().join("baseline.toml");
    fs::write(&file, baseline).unwrap();
    suite.run(mode, &[&["--baseline", file.to_str().unwrap()], flags].concat())
}

#[test]
fn each_has_its_exit_code_and_its_words() {
    let other = KNOWN.replace("[abd]", "e");
    let more = |text: &str| format!("{KNOWN}\n{text}");
    let entry = |case: &str, kind: &str| {
        format!("[[known]]\ncase = \"{case}\"\nkind = \"{kind}\"\nreason = \"So it is.\"\n")
    };
    for (what, mode, baseline, flags, code, words) in [
        ("what is known", "loses", KNOWN.to_owned(), &[][..], 0, &["1 pass, 5 expected-fail"][..]),
        ("a part of it", "loses", KNOWN.to_owned(), &["--filter", "topic/a"], 0, &["2 expected-fail"]),
        ("a part that it does not name", "loses", KNOWN.to_owned(), &["--filter", "topic/c"], 0, &["1 pass"]),
        (
            "another dialect",
            "typed-ids",
            KNOWN.to_owned(),
            &[],
            2,
            &["fails in the dialect default, and this run"],
        ),
        (
            "its dialect",
            "good",
            "dialect = \"typed-ids\"\n".to_owned(),
            &["--dialect", "typed-ids"],
            0,
            &["6 pass"],
        ),
        (
            "the contract by option",
            "typed-ids",
            "dialect = \"typed-ids\"\n".to_owned(),
            &["--dialect", "default"],
            2,
            &["fails in the dialect typed-ids, and this run judges by default"],
        ),
        (
            "a typo in a key",
            "loses",
            KNOWN.replace("silent", "silnet"),
            &[],
            2,
            &["baseline.toml:", "silnet-loss"],
        ),
        (
            "a typo in a kind",
            "loses",
            KNOWN.replace("\"fail\"", "\"fial\""),
            &[],
            2,
            &["baseline.toml:2", "`fial`"],
        ),
        ("no reason", "loses", KNOWN.replace("reason", "issue"), &[], 2, &["baseline.toml:2", "no reason"]),
        (
            "unmatched",
            "loses",
            more(&other),
            &[],
            2,
            &["baseline.toml:9", "no case of the suite is `topic/e`"],
        ),
        ("no file", "loses", String::new(), &["--baseline", "/nowhere/b.toml"], 2, &["--baseline"]),
        ("a pass", "good", KNOWN.to_owned(), &[], 1, &["5 unexpected-pass", "its line 2): take it out"]),
        (
            "another kind",
            "dies-on-third",
            KNOWN.to_owned(),
            &["--filter", "topic/d"],
            1,
            &["1 unexpected-pass"],
        ),
        (
            "a crash where a failure is known",
            "loses",
            KNOWN.replace("\"fail\"\nsilent-loss = true", "\"crash\""),
            &[],
            1,
            &["5 fail", "the baseline knows a `crash`", "the entry is stale"],
        ),
        (
            "a silent loss where a failure is known",
            "loses",
            KNOWN.replace("silent-loss = true\n", ""),
            &[],
            1,
            &["5 fail", "stale"],
        ),
        (
            "an entry too many",
            "loses",
            more(&entry("topic/a", "crash")),
            &[],
            1,
            &["baseline.toml:8", "stale"],
        ),
        ("a pass that is listed", "loses", more(&entry("topic/c", "fail")), &[], 1, &["1 unexpected-pass"]),
    ] {
        let output = against(mode, &baseline, flags);
        let told = told(&output);
        assert_eq!(output.status.code(), Some(code), "{what}: {told}");
        for word in words {
            assert!(told.contains(word), "{what}: {word} is missing in {told}");
        }
    }
}

#[test]
fn one_is_written_and_waits_for_reasons() {
    let suite = Suite::new();
    let file = suite.folder.path().join("new.toml");
    let path = file.to_str().unwrap();
    let output = suite.run("loses", &["--baseline", path, "--write-baseline"]);
    assert_eq!(output.status.code(), Some(1), "{}", told(&output));
    assert!(told(&output).contains("added 3 entries"), "{}", told(&output));
    let output = suite.run("loses", &["--baseline", path]);
    assert_eq!(output.status.code(), Some(2), "a placeholder is no reason: {}", told(&output));
    let written = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = written.lines().filter(|line| !line.starts_with("reason")).collect();
    let reasoned = format!("# Mine.\n{}\n", lines.join("\n").replace("kind", "reason = \"Old.\"\nkind"));
    fs::write(&file, &reasoned).unwrap();
    let output = suite.run("loses", &["--baseline", path]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    // One more failure than is known: what stands there stays, and the new one is added.
    let less = reasoned.replace("case = \"topic/d\"", "case = \"topic/[b]\"");
    fs::write(&file, &less).unwrap();
    suite.run("loses", &["--baseline", path, "--write-baseline"]);
    let added = fs::read_to_string(&file).unwrap();
    let rest = added.strip_prefix(&less).unwrap_or_else(|| panic!("{added}"));
    assert_eq!((rest.matches("[[known]]").count(), rest.contains("topic/d")), (1, true), "{rest}");
}

#[test]
fn none_is_written_from_a_part() {
    let suite = Suite::new();
    let file = suite.folder.path().join("new.toml");
    let path = file.to_str().unwrap();
    for part in [["--filter", "topic/a"], ["--shard", "1/2"], ["--format", "jsonrpc"]] {
        let flags = [&["--baseline", path, "--write-baseline"], &part[..]].concat();
        let output = suite.run("loses", &flags);
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains("--write-baseline") && !file.exists(), "{}", told(&output));
    }
    assert_eq!(suite.run("loses", &["--write-baseline"]).status.code(), Some(2));
}
