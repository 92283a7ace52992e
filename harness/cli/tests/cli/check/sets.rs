//! What a recording is held to: a frozen set of rules, one text of a format, and what its format is.

use super::{Folder, PING, right, wrong};
use std::fs;
use std::path::Path;

#[test]
fn a_recording_is_held_against_a_frozen_set() {
    let folder = Folder::with(&[
        ("right.jsonl", &right()),
        ("wrong.jsonl", &wrong()),
        ("bare.jsonl", &format!("{}\n", PING.1)),
        ("old.jsonl", &right().replace("2025-11-25", "2025-06-18")),
        (
            "few.toml",
            "suite = \"0.0.1\"\nrevision = \"2025-11-25\"\nrules = [\"jsonrpc.id.null\", \"jsonrpc.version\"]\n",
        ),
        ("unknown.toml", "suite = \"1\"\nrevision = \"2025-11-25\"\nrules = [\"a.b\"]\n"),
    ]);
    let version = env!("CARGO_PKG_VERSION");
    let set = folder.check(&["--print-require", "2025-11-25"]).is(0).out;
    folder.write("now.toml", set.as_bytes());
    let sentence = format!(
        "right.jsonl: conforms to 2025-11-25 (the set of 0.0.1) as judged by mcp-concord {version}: 2 rules kept, 0 not applicable, 0 inconclusive\n"
    );
    folder.check(&["right.jsonl", "--require", "few.toml"]).is(0).shows(&sentence);
    folder
        .check(&["right.jsonl", "--require", "now.toml"])
        .is(0)
        .shows(&format!("as judged by mcp-concord {version}: "));
    for set in ["few.toml", "now.toml"] {
        let ran = folder.check(&["wrong.jsonl", "--require", set]).is(1);
        ran.shows("wrong.jsonl: does not conform to 2025-11-25").shows("1 broken");
    }
    folder.check(&["old.jsonl", "--require", "few.toml"]).is(2).says("old.jsonl is a session of 2025-06-18");
    folder.check(&["bare.jsonl", "--require", "few.toml"]).is(2).says("name it with --spec 2025-11-25");
    folder.check(&["bare.jsonl", "--require", "few.toml", "--spec", "2025-11-25"]).is(0).shows("conforms");
    folder.check(&["right.jsonl", "--require", "unknown.toml"]).is(2).says("there is no rule `a.b`");
    // A set and a selection would be two answers to one question.
    folder.check(&["right.jsonl", "--require", "few.toml", "--select", "jsonrpc"]).is(2);
    // Half a recording conforms to nothing.
    folder.write("torn.jsonl", &[right().as_bytes(), b"\xff\xff\n"].concat());
    let torn = folder.check(&["torn.jsonl", "--require", "few.toml"]).is(1);
    torn.shows("torn.jsonl: could not be read to its end");
}

#[test]
fn a_shipped_set_needs_no_file() {
    let folder = Folder::with(&[("right.jsonl", &right()), ("wrong.jsonl", &wrong())]);
    folder
        .check(&["right.jsonl", "--require", "2025-11-25"])
        .is(0)
        .shows("of 2025-11-25 as judged by mcp-concord ");
    folder.check(&["wrong.jsonl", "--require", "2025-11-25"]).is(1).shows("does not conform to 2025-11-25");
    let gone = folder.check(&["right.jsonl", "--require", "2025-11-24"]).is(2);
    gone.says("the built-in sets are 2024-11-05, 2025-03-26").says("did you mean 2025-11-25");
}

#[test]
fn the_sets_that_are_shipped_name_rules_that_are() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../rules/src/sets");
    for revision in rules::Revision::ALL {
        let text = fs::read_to_string(folder.join(format!("{revision}.toml"))).unwrap();
        let set =
            rules::rule_set::RuleSet::read(&text).unwrap_or_else(|wrong| panic!("{revision}: {wrong:#?}"));
        assert_eq!(set.revision, revision);
        assert!(set.rules.iter().any(|rule| rule.id == "jsonrpc.version"));
    }
}

#[test]
fn a_trace_is_held_to_the_text_that_is_named() {
    let killed = right().replace("\"exitCode\":0,", "\"reason\":\"killed\",");
    let folder = Folder::with(&[("a", &killed)]);
    folder.check(&["a", "--select", "replay"]).is(0).shows("note[rec.replay.first-text]");
    let first = folder.check(&["a", "--select", "replay", "--mcp-replay-text", "first"]);
    first.is(1).shows("error[rec.replay.first-text]");
}

#[test]
fn exchanges_are_exchanges_whoever_exported_them() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/recorders");
    let folder = Folder::new();
    let verdict = |case: &str| {
        let path = cases.join(case).join("inspector-network.json").display().to_string();
        let lines = folder.lines(&[&path, "-v", "--select", "rec.bodies"]);
        lines[0]["verdict"].as_str().unwrap().to_owned()
    };
    for (case, expected) in
        [("inspector-network-session", "pass"), ("inspector-network-missing-bodies", "warn")]
    {
        assert_eq!(verdict(case), expected, "{case}");
    }
}
