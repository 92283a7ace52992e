//! Which trials there are, and what each says.

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

fn trials(harness: Harness, arguments: &[&str]) -> Result<Vec<Trial>, String> {
    let arguments = Arguments::from_iter(["test"].iter().chain(arguments));
    harness.trials(&arguments).map_err(|problems| problems[0].to_string())
}

/// The names of the trials, which are the same for the embedded suite and for the one of the folder.
fn names(arguments: &[&str]) -> Result<Vec<String>, String> {
    let [disk, embedded] =
        [Harness::new(Builtin::default()).cases(cases()), Harness::new(Builtin::default())]
            .map(|harness| trials(harness, arguments))
            .map(|found| {
                found.map(|all| all.iter().map(|trial| trial.name().to_owned()).collect::<Vec<_>>())
            });
    assert_eq!(disk.as_ref().ok(), embedded.as_ref().ok());
    disk
}

#[test]
fn each_transcript_that_is_read_is_a_trial_and_each_open_case_one_more() {
    let names = names(&[]).unwrap();
    for (name, is_one) in [
        ("ids::zero::jsonrpc", true),
        ("ids::zero::consistent", false),
        ("envelope::null-sse::http-sse", true),
        ("envelope::null-sse::consistent", true),
        ("direction::both-count-from-zero::har", true),
        // A format that cannot carry the session.
        ("direction::both-count-from-zero::jsonrpc", false),
        // A case for `check`.
        ("rules::pings::ping-pong::mcp-replay", false),
    ] {
        assert_eq!(names.iter().any(|it| it == name), is_one, "{name}");
    }
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    let lines = Double::new("lines", |_, _| Answer::from(Vec::<Event>::new()));
    let lines = trials(Harness::new(Double { reads: |format| format == "jsonrpc", ..lines }), &[]).unwrap();
    let of_lines = names.iter().filter(|name| name.ends_with("::jsonrpc")).count();
    // Those of `identify` are not asked.
    assert!(lines.len() > of_lines - 10 && lines.iter().all(|trial| trial.name().ends_with("::jsonrpc")));
    assert!(lines.iter().all(|trial| trial.kind().is_empty()), "a kind would become part of the name");
}

#[test]
fn an_exact_name_loads_only_its_case_and_one_that_matches_nothing_is_an_error() {
    for case in ["ids::zero", "identify::har-json"] {
        let exact = format!("{case}::har");
        let names = names(&["--exact", &exact]).unwrap();
        assert!(names.contains(&exact) && names.iter().all(|name| name.starts_with(case)), "{names:?}");
    }
    for name in ["ids::zero::pcap", "ids::zero", "zero", "ids::not-there::har"] {
        let problem = names(&["--exact", name]).unwrap_err();
        assert!(problem.contains(name), "{problem}");
    }
    assert!(names(&["null-sse"]).is_ok());
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

/// How the trial of a case ends, or the message of its failure.
fn ended(
    judging: &Judging,
    case: &str,
    format: Option<&str>,
    known: Option<&str>,
) -> Result<Completion, String> {
    let case = Suite::load_one(&judging.suite, case).unwrap().unwrap();
    let ended = judging.completed(&case, format, known);
    ended.map_err(|failed| failed.message().unwrap_or_default().to_owned())
}

#[test]
fn a_failure_is_printed_with_its_file_and_the_way_to_run_it_again() {
    for suite in [Root::Disk(cases()), Root::Embedded] {
        let judging = refusing(suite);
        for (case, format, parts) in [
            (
                "ids/zero",
                Some("http-sse"),
                &[
                    "fail: ids/zero, http-sse",
                    "ids/zero/http-sse.json",
                    "not today",
                    "--exact 'ids::zero::http-sse'",
                ][..],
            ),
            ("ids/zero", Some("har"), &["silent loss"]),
            ("ids/form-fraction", None, &["ids/form-fraction, http-sse", "::consistent'"]),
        ] {
            let failure = ended(&judging, case, format, None).err().unwrap();
            for part in parts {
                assert!(failure.contains(part), "{part} is missing in\n{failure}");
            }
        }
    }
}

#[test]
fn what_the_level_shows_nothing_of_is_ignored_and_no_pass() {
    let blind = Double::new("blind", |_, _| Answer::from(Vec::<Call>::new()));
    let blind = Double { level: Level::Calls, ..blind };
    let judging = Judging { importer: Arc::new(blind), suite: Root::Embedded };
    let ignored = ended(&judging, "ids/null-request", Some("jsonrpc"), None);
    assert!(matches!(ignored, Ok(Completion::Ignored { .. })));
    assert!(
        ended(&judging, "ids/zero", Some("jsonrpc"), None).is_err(),
        "a call that is not seen is a failure"
    );
}

#[test]
fn sessions_without_calls_are_one_trial_for_each_topic() {
    type Read = fn(&str, &[u8]) -> Answer;
    let blind = |read: Read| Double { level: Level::Calls, ..Double::new("blind", read) };
    let honest = trials(Harness::new(blind(|_, _| Answer::from(Vec::<Call>::new()))), &[]).unwrap();
    let names: Vec<&str> = honest.iter().map(Trial::name).collect();
    assert!(names.contains(&"ids::nothing-to-show") && !names.contains(&"ids::null-request::jsonrpc"));
    assert!(names.iter().filter(|name| name.ends_with("::nothing-to-show")).count() < 20);
    // A call that is invented there is a failure.
    let invents: Read = |_, _| Answer::from(vec![Call { tool: None, arguments: None, outcome: None }]);
    // As nextest asks for it.
    let inventing = trials(Harness::new(blind(invents)), &["--exact", "ids::nothing-to-show"]).unwrap();
    let arguments = Arguments::from_iter(["test", "--exact", "ids::nothing-to-show", "--quiet"]);
    assert_eq!(libtest_mimic::run(&arguments, honest).num_ignored, 1);
    assert!(libtest_mimic::run(&arguments, inventing).has_failed());
}

#[test]
fn a_baseline_is_a_list_of_known_failures() {
    let file = |text: &str| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("known.toml");
        std::fs::write(&path, text).unwrap();
        trials(Harness::new(Builtin::default()).known_file(path), &[])
    };
    let entry = "[[known]]\ncase = \"ids/zero\"\nformat = \"har\"\nkind = \"fail\"\nreason = \"we know\"\n";
    assert_eq!(file(entry).map(|_| ()), Ok(()));
    assert!(file(&entry.replace("zero", "nil")).err().unwrap().contains("no trial has this name"));
    assert!(file(&entry.replace("reason", "raison")).is_err());
    assert!(trials(Harness::new(Builtin::default()).known_file("/no/such/file"), &[]).is_err());
}

#[test]
fn a_known_failure_is_excused_and_neither_a_crash_nor_a_pass_is() {
    let refusing = refusing(Root::Embedded);
    let builtin = Judging { importer: Arc::new(Builtin::default()), suite: Root::Embedded };
    for (judging, format, known, failure) in [
        (&refusing, "har", Some("we know"), None),
        (&refusing, "har", None, Some("silent loss")),
        (&refusing, "inspector", Some("we know"), Some("not ever")),
        (&builtin, "har", None, None),
        (&builtin, "har", Some("we know"), Some("remove that entry\n  its reason: we know")),
    ] {
        let failed = ended(judging, "ids/zero", Some(format), known).err();
        let as_expected =
            failed.as_deref().map_or(failure.is_none(), |it| it.contains(failure.unwrap_or("-")));
        assert!(as_expected, "{format}: {failed:?}");
    }
}

#[test]
fn a_list_of_known_failures_has_reasons_and_names_what_there_is() {
    let list = |known: &str, reason: &str| trials(Harness::new(Builtin::default()).known(known, reason), &[]);
    assert!(list("ids/zero/*", "we know").is_ok());
    assert!(list("ids/form-fraction/consistent", "we know").is_ok());
    for (known, reason, complaint) in [
        ("ids/zero/*", " ", "without a reason"),
        ("ids/zero", "we know", "no trial has this name"),
        ("ids/[", "we know", "is not a glob"),
    ] {
        let Err(problem) = list(known, reason) else { panic!("{known} was taken") };
        assert!(problem.contains(complaint), "{problem}");
    }
    // Where only one trial is asked for, the others are not there to be named.
    let rerun = Harness::new(Builtin::default()).known("sse/lf/har", "we know");
    assert!(trials(rerun, &["--exact", "ids::zero::har"]).is_ok());
}
