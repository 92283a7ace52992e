//! Which trials there are, and what each tells.

use super::{Harness, Judging};
use crate::builtin::Builtin;
use crate::suite::{Root, Suite};
use crate::testing::Double;
use libtest_mimic::{Arguments, Completion, Trial};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use verdict::answer::{Answer, Level};
use verdict::meaning::{Call, Event};

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases")
}

fn found(arguments: &[&str]) -> Result<Vec<Trial>, String> {
    let found = of(Harness::new(Builtin).cases(cases()), arguments);
    let embedded = of(Harness::new(Builtin), arguments);
    let names = |trials: &Result<Vec<Trial>, String>| {
        trials
            .as_ref()
            .ok()
            .map(|trials| trials.iter().map(|trial| trial.name().to_owned()).collect::<Vec<_>>())
    };
    assert_eq!(names(&found), names(&embedded), "the embedded suite is the one of the folder");
    found
}

fn of(harness: Harness, arguments: &[&str]) -> Result<Vec<Trial>, String> {
    let arguments = Arguments::from_iter(["test"].iter().chain(arguments));
    harness.trials(&arguments).map_err(|problems| problems[0].to_string())
}

#[test]
fn each_case_and_format_is_a_trial_and_each_open_case_one_more() {
    let trials = found(&[]).unwrap();
    let names: Vec<&str> = trials.iter().map(Trial::name).collect();
    for name in ["ids::zero::jsonrpc", "envelope::null-sse::http-sse", "envelope::null-sse::consistent"] {
        assert!(names.contains(&name), "{name} is missing");
    }
    assert!(!names.contains(&"ids::zero::consistent"));
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    assert!(trials.iter().all(|trial| trial.kind().is_empty()), "a kind would become part of the name");
}

#[test]
fn what_a_format_cannot_carry_is_ignored_when_it_is_listed() {
    let trials = found(&[]).unwrap();
    let ignored = |name: &str| trials.iter().find(|trial| trial.name() == name).unwrap().has_ignored_flag();
    assert!(ignored("direction::both-count-from-zero::jsonrpc"));
    assert!(!ignored("direction::both-count-from-zero::har"));
}

#[test]
fn an_exact_name_loads_its_case_alone() {
    let names = |trials: Vec<Trial>| trials.iter().map(|trial| trial.name().to_owned()).collect::<Vec<_>>();
    let trials = names(found(&["--exact", "ids::zero::har"]).unwrap());
    assert!(trials.iter().all(|name| name.starts_with("ids::zero::")), "{trials:?}");
    assert!(trials.contains(&"ids::zero::har".to_owned()), "{trials:?}");
}

#[test]
fn an_exact_name_that_matches_nothing_is_an_error() {
    for arguments in [
        &["--exact", "ids::zero::pcap"][..],
        &["--exact", "ids::zero"],
        &["--exact", "zero"],
        &["--exact", "ids::not-there::har"],
    ] {
        let Err(problem) = found(arguments) else { panic!("{arguments:?} was found") };
        assert!(problem.contains(arguments[arguments.len() - 1]), "{problem}");
    }
    assert!(found(&["null-sse"]).is_ok());
}

/// Rejects one format, reads nothing in the others, and panics in one.
fn refusing(suite: Root) -> Judging {
    let refusing = Double::new("refusing", |format, _| match format {
        "http-sse" => Answer::Rejection { code: None, message: "not today".into() },
        "inspector" => panic!("not ever"),
        _ => Answer::from(Vec::<Event>::new()),
    });
    Judging { importer: Arc::new(refusing), suite }
}

#[test]
fn a_failure_is_told_with_its_file_and_the_way_to_run_it_alone() {
    for suite in [Root::Disk(cases()), Root::Embedded] {
        let judging = refusing(suite);
        let told = |case: &str, format| {
            let case = Suite::load_one(&judging.suite, case).unwrap().unwrap();
            judging.completed(&case, format, None).err().unwrap().message().unwrap_or_default().to_owned()
        };
        let rerun = told("ids/zero", Some("http-sse"));
        for part in [
            "fail: ids/zero, http-sse",
            "ids/zero/http-sse.json",
            "not today",
            "--exact 'ids::zero::http-sse'",
        ] {
            assert!(rerun.contains(part), "{part} is missing in\n{rerun}");
        }
        assert!(told("ids/zero", Some("har")).contains("silent loss"));
        let torn = told("ids/form-fraction", None);
        assert!(torn.contains("ids/form-fraction, http-sse") && torn.contains("::consistent'"), "{torn}");
    }
}

#[test]
fn what_the_level_shows_nothing_of_is_ignored_and_no_pass() {
    let blind = Double::new("blind", |_, _| Answer::from(Vec::<Call>::new()));
    let blind = Double { level: Level::Calls, ..blind };
    let judging = Judging { importer: Arc::new(blind), suite: Root::Embedded };
    let completed = |case: &str| {
        let case = Suite::load_one(&Root::Embedded, case).unwrap().unwrap();
        judging.completed(&case, Some("jsonrpc"), None)
    };
    assert!(matches!(completed("ids/null-request"), Ok(Completion::Ignored { .. })));
    assert!(completed("ids/zero").is_err(), "a call that is not seen is a failure");
}

#[test]
fn a_known_failure_is_excused_and_neither_a_crash_nor_a_pass_is() {
    let case = Suite::load_one(&Root::Embedded, "ids/zero").unwrap().unwrap();
    let known = Some("we know");
    let refusing = refusing(Root::Embedded);
    assert!(refusing.completed(&case, Some("har"), known).is_ok());
    assert!(refusing.completed(&case, Some("har"), None).is_err());
    let crash = refusing.completed(&case, Some("inspector"), known).err().unwrap();
    assert!(crash.message().unwrap().contains("not ever"));
    let builtin = Judging { importer: Arc::new(Builtin), suite: Root::Embedded };
    assert!(builtin.completed(&case, Some("har"), None).is_ok());
    let pass = builtin.completed(&case, Some("har"), known).err().unwrap();
    assert!(pass.message().unwrap().contains("take it off") && pass.message().unwrap().contains("we know"));
}

#[test]
fn a_list_of_known_failures_has_reasons_and_names_what_there_is() {
    let list = |trials: &str, reason: &str| of(Harness::new(Builtin).known(trials, reason), &[]);
    assert!(list("ids/zero/*", "we know").is_ok());
    assert!(list("ids/form-fraction/consistent", "we know").is_ok());
    for (trials, reason, complaint) in [
        ("ids/zero/*", " ", "without a reason"),
        ("ids/zero", "we know", "no trial has such a name"),
        ("ids/[", "we know", "is not a glob"),
    ] {
        let Err(problem) = list(trials, reason) else { panic!("{trials} was taken") };
        assert!(problem.contains(complaint), "{problem}");
    }
    // Where only one trial is asked for, the others are not there to be named.
    let rerun = Harness::new(Builtin).known("sse/lf/har", "we know");
    assert!(of(rerun, &["--exact", "ids::zero::har"]).is_ok());
}
