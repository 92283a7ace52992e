//! `fuzz` against an importer that goes wrong in the named way. Nothing here depends on how long anything takes, nor on which
//! variant a number makes: that changes with every mutator that is added.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a panic is a test's way to fail")]

use crate::support::{PROGRAM, concord, ended, faulty, said};
use generators::seeded::{Source, variant};
use mcp_concord_suite::{Root, Suite};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;
use verdict::expectation::Expectation;

/// A folder for finds.
struct Finds(TempDir);

impl Finds {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn adapter(&self, mode: &str) -> String {
        faulty(&[mode, &self.text("note")])
    }

    fn fuzz(&self, mode: &str, flags: &[&str]) -> Output {
        let mut command = concord(["fuzz", "--adapter", &self.adapter(mode), "--out"]);
        command.arg(self.path("finds")).args(flags).output().unwrap()
    }

    /// What is said of an importer with this fault.
    #[track_caller]
    fn found(&self, mode: &str, flags: &[&str]) -> String {
        ended(&self.fuzz(mode, flags), 1, &[])
    }

    /// Every file of every find.
    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        for case in fs::read_dir(self.path("finds")).unwrap() {
            for file in fs::read_dir(case.unwrap().path()).unwrap() {
                let file = file.unwrap().path();
                let name = file.strip_prefix(self.path("finds")).unwrap().display().to_string();
                files.insert(name, String::from_utf8_lossy(&fs::read(file).unwrap()).into_owned());
            }
        }
        files
    }

    fn suite(&self) -> Suite {
        Suite::load(&[Root::Disk(self.path("finds"))]).unwrap()
    }
}

/// The lines of a report that begin with this word.
fn rows<'t>(report: &'t str, name: &str) -> Vec<&'t str> {
    let row = |line: &'t str| line.trim_start().strip_prefix("= ")?.strip_prefix(name)?.strip_prefix(": ");
    report.lines().filter_map(row).map(str::trim).collect()
}

/// The finds of a report, without their numbers.
fn heads(report: &str) -> Vec<&str> {
    report.lines().filter_map(|line| Some(line.strip_prefix("finding ")?.split_once(": ")?.1)).collect()
}

/// The number of the first variant of seed 1 that has a meaning, so that rejecting it is wrong.
fn readable() -> String {
    let means = |number: &u64| {
        let variant = variant(1, *number, Source::Made);
        variant.is_some_and(|variant| matches!(variant.expectation, Expectation::Meaning(_)))
    };
    (0..).find(means).unwrap().to_string()
}

/// Runs a command line of a report as a person would paste it; it shows the failure again.
fn pasted(line: &str, parts: &[&str]) -> String {
    let line = line.replacen("mcp-concord", &format!("'{PROGRAM}'"), 1);
    ended(&Command::new("sh").args(["-c", &line]).output().unwrap(), 1, parts)
}

#[test]
fn a_seed_gives_the_same_finds_on_any_number_of_threads() {
    let (one, many) = (Finds::new(), Finds::new());
    let found = |finds: &Finds, jobs| {
        let report = finds.found("fault:zero-is-none", &["--seed", "3", "--runs", "40", "--jobs", jobs]);
        report.replace(&finds.text(""), "")
    };
    let first = found(&one, "1");
    assert_eq!(first, found(&many, "3"));
    assert!(one.files() == many.files() && !one.files().is_empty());
    assert_eq!(first, found(&one, "2"), "what is there already is not written twice");
    assert!(one.files() == many.files());
}

#[test]
fn seeded_faults_are_found_and_shrunk() {
    for (fault, path) in [
        ("zero-is-none", "/events/*/kind"),
        ("unbound", "/events/*/answers"),
        ("rounds", "/events/*/arguments"),
    ] {
        let finds = Finds::new();
        let report = finds.found(&format!("fault:{fault}"), &["--seed", "1", "--runs", "120"]);
        assert!(report.contains(path), "{fault}: {report}");
        for row in rows(&report, "shrunk") {
            let left: usize = row.split(" to ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
            assert!(left <= 3, "{fault}: {report}");
        }
        // Each kind of failure once.
        let heads = heads(&report);
        assert!(!heads.is_empty() && heads.iter().collect::<BTreeSet<_>>().len() == heads.len(), "{report}");
        // Each case loads, fails, and is found again.
        rows(&report, "rerun").into_iter().for_each(|row| drop(pasted(row, &["1 fail"])));
        let (again, before) = (rows(&report, "repeat")[0], finds.files());
        assert!(again.contains("--seed 1 --first ") && again.ends_with(" --runs 1"), "{again}");
        pasted(again, &heads[..1]);
        assert!(finds.files() == before, "the same find is the same case");
        assert!(!finds.suite().cases.is_empty());
        for (name, text) in before.iter().filter(|(name, _)| name.ends_with("case.toml")) {
            assert!(text.contains("faulty 1.2.3") && text.contains("seed 1, number "), "{name}: {text}");
        }
    }
}

#[test]
fn a_faithful_reader_shows_nothing() {
    let finds = Finds::new();
    let output = finds.fuzz("clean", &["--runs", "60"]);
    assert!(ended(&output, 0, &["nothing found"]).starts_with("60 runs of seed 0, "));
    assert!(output.stderr.is_empty(), "no progress where there is no terminal");
    assert!(finds.files().is_empty());
    // And the built-in reader, in this process.
    let output = concord(["fuzz", "--runs", "100", "--seed", "5", "--out", &finds.text("finds")]).output();
    ended(&output.unwrap(), 0, &[]);
}

#[test]
fn a_crash_is_cut_to_what_it_takes() {
    let finds = Finds::new();
    let mode = "dies-on:9007199254740993";
    let report = finds.found(mode, &["--runs", "60", "--seed", "2", "--jobs", "2"]);
    assert!(
        report.contains(": crash, it ended without an answer") && report.contains("exit status: 7"),
        "{report}"
    );
    for (name, text) in finds.files() {
        let transcript = !name.ends_with(".toml") && !name.ends_with("meaning.json");
        assert!(!transcript || text.contains("9007199254740993"), "{name}: {text}");
    }
    for row in rows(&report, "shrunk") {
        assert!(row.contains(" to 1 message in ") || row.contains(" to 0 messages in "), "{report}");
    }
    rows(&report, "rerun").into_iter().for_each(|row| drop(pasted(row, &["1 crash"])));
}

#[test]
fn dying_while_shrinking_is_another_failure() {
    let finds = Finds::new();
    let report = finds.found("fault-or-dies:zero-is-none", &["--seed", "1", "--runs", "40"]);
    // What was found as a wrong answer remains one: less than what is left makes the adapter die.
    let wrong: Vec<&str> = report.lines().filter_map(|line| line.strip_prefix("fail: ")).collect();
    assert!(!wrong.is_empty() && report.contains(": crash, "), "{report}");
    for name in wrong {
        let (case, format) = name.split_once(", ").unwrap();
        let format = formats::find(format.split(',').next().unwrap()).unwrap();
        let left = &finds.files()[&format!("{case}/{}", format.file)];
        assert!(left.matches("\"jsonrpc\"").count() >= 3, "{left}");
    }
    for (row, head) in rows(&report, "rerun").into_iter().zip(heads(&report)) {
        pasted(row, if head.contains(": fail at ") { &["1 fail"] } else { &[] });
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let finds = Finds::new();
    let flags = ["--seed", "1", "--first", &readable(), "--runs", "2", "--jobs", "1"];
    let adapter = faulty(&["sabotage:rejects", &finds.text("finds")]);
    let mut command = concord(["fuzz", "--adapter", &adapter, "--out", &finds.text("finds")]);
    let report = ended(&command.args(flags).output().unwrap(), 1, &["cannot be saved", "2 runs of seed 1, "]);
    let unsaved = rows(&report, "unsaved")[0].strip_prefix("the files of ").unwrap();
    let name = unsaved.strip_suffix(" follow").unwrap();
    assert!(report.contains(&format!("--- {name}/case.toml\ntitle = ")), "{report}");
    let transcript = |format: &&formats::Format| report.contains(&format!("--- {name}/{}", format.file));
    assert!(formats::FORMATS.iter().copied().any(|format| transcript(&format)), "{report}");
}

#[test]
fn a_find_has_a_name_of_its_own() {
    let finds = Finds::new();
    let flags = ["--seed", "1", "--first", &readable(), "--runs", "1"];
    finds.found("fault:rejects", &flags);
    let before = finds.files();
    let report = finds.found("dies-on:\"", &flags);
    assert!(report.contains("-2: crash, "), "{report}");
    let after = finds.files();
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "nothing is written over");
    assert!(finds.suite().cases.len() >= 2);
}

#[test]
fn two_importers_are_told_apart_by_the_contract() {
    let flags = ["--seed", "1", "--runs", "30"];
    for (one, two, sides) in [
        ("clean", "fault:zero-is-none", "the contract sides with faulty against faulty"),
        ("fault:zero-is-none", "clean", "the contract sides with faulty against faulty"),
        ("fault:zero-is-none", "fault:rejects", "the contract sides with neither"),
    ] {
        let finds = Finds::new();
        let report = finds.found(one, &[&flags[..], &["--against", &finds.adapter(two)]].concat());
        assert!(report.contains(sides), "{report}");
        // The one that is wrong fails the case that was kept, and the other does not.
        for row in rows(&report, "rerun") {
            let wrong = if two == "clean" { one } else { two };
            assert!(row.contains(wrong) || sides.contains("neither"), "{row}");
            pasted(row, &[]);
        }
        pasted(rows(&report, "repeat")[0], &[report.lines().next().unwrap()]);
    }
    let finds = Finds::new();
    let against = ["--against", &finds.adapter("fault:zero-is-none")];
    let alike = finds.fuzz("fault:zero-is-none", &[&flags[..], &against].concat());
    assert_eq!(alike.status.code(), Some(0), "alike is not a disagreement: {}", said(&alike));
}

#[test]
fn an_open_clause_is_called_open() {
    let finds = Finds::new();
    let other = finds.adapter("names-wanted");
    let report = finds.found("clean", &["--against", &other, "--seed", "1", "--runs", "100"]);
    assert!(report.contains("the contract leaves open what they disagree in"), "{report}");
    assert!(
        report.contains("open, a session beside a rejection") && report.contains("TOOL-NAMELESS"),
        "{report}"
    );
    let case = finds.suite().cases.remove(0);
    assert!(case.clauses.iter().any(|clause| clause == "TOOL-NAMELESS"), "{case:?}");
    assert!(rows(&report, "rerun").is_empty(), "nobody fails it: {report}");
}

#[test]
fn a_given_session_is_changed() {
    let finds = Finds::new();
    let report = finds.found("fault:rounds", &["--from", "values/integer-beyond-double", "--runs", "30"]);
    assert!(report.contains("/events/*/arguments"), "{report}");
    assert!(rows(&report, "repeat")[0].contains("--from 'values/integer-beyond-double'"), "{report}");
    let said = "of the case values/integer-beyond-double";
    assert!(finds.files().values().any(|text| text.contains(said)), "{report}");
}

#[test]
fn a_one_shot_command_is_fuzzed_as_well() {
    let finds = Finds::new();
    let fuzz = |mode: &str, code: i32| {
        let exec = faulty(&[mode, "{file}", "{format}"]);
        let mut command = concord(["fuzz", "--seed", "1", "--first", &readable(), "--runs", "2"]);
        let command = command.args(["--exec", &exec, "--out", &finds.text("finds")]);
        ended(&command.output().unwrap(), code, &[])
    };
    fuzz("clean", 0);
    let report = fuzz("fault:rejects", 1);
    assert!(report.contains(": fail at /rejection"), "{report}");
    let rerun = rows(&report, "rerun")[0];
    assert!(rerun.contains("--exec '"), "{rerun}");
    pasted(rerun, &["1 fail"]);
}

#[test]
fn a_failure_that_comes_and_goes_is_kept_and_called_so() {
    let finds = Finds::new();
    fs::write(finds.path("note"), "").unwrap();
    // One answer is wrong, in both processes, and never again.
    let report =
        finds.found("once-wrong", &["--seed", "1", "--first", &readable(), "--runs", "1", "--jobs", "1"]);
    assert!(report.contains("it did not show again when it was asked for again"), "{report}");
    assert!(rows(&report, "shrunk")[0].starts_with("from "), "{report}");
    assert!(finds.files().values().any(|text| text.contains("did not show every time")), "{report}");
    assert_eq!(finds.suite().cases.len(), 1);
}

#[test]
fn known_failures_are_not_finds() {
    let (finds, flags) = (Finds::new(), ["--seed", "1", "--runs", "40"]);
    finds.found("fault:rounds", &flags);
    // A baseline of every find, in all formats.
    let before = finds.files();
    let names: BTreeSet<&str> = before.keys().filter_map(|file| Some(file.split_once('/')?.0)).collect();
    let entry = |name| format!("[[known]]\ncase = \"{name}\"\nkind = \"fail\"\nreason = \"Doubles.\"\n");
    fs::write(finds.path("known"), names.into_iter().map(entry).collect::<String>()).unwrap();
    let known = finds.text("known");
    let flags = [&flags[..], &["--baseline", &known]].concat();
    ended(&finds.fuzz("fault:rounds", &flags), 0, &[": nothing found", "  known: failures of kinds"]);
    assert!(finds.files() == before, "nothing is saved again");
    // Another fault is one, and the entries excuse nothing of it; nor is the baseline true of a reader that has no fault.
    for (mode, part) in [("fault:zero-is-none", "finding 1: "), ("clean", ": nothing found")] {
        let report = finds.found(mode, &flags);
        assert!(report.contains(part) && report.contains("take it out there"), "{report}");
    }
}

#[test]
fn only_the_chosen_formats_are_asked_about() {
    let flags = ["--seed", "1", "--runs", "40", "--format", "har", "--format", "jsonrpc"];
    let report = Finds::new().found("fault:rounds", &flags);
    let heads = heads(&report);
    let of = |format: &str| heads.iter().filter(|head| head.starts_with(&format!("{format}: "))).count();
    assert!(!heads.is_empty() && of("har") + of("jsonrpc") == heads.len(), "{report}");
    assert!(!report.contains("http-sse") && report.contains("--format har --format jsonrpc"), "{report}");
}
