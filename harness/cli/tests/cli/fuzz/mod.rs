//! `fuzz` from the outside: the built binary against this test binary, which it starts as its adapter. Nothing here depends on
//! how long anything takes, nor on which variant a number makes: that changes with every mutator that is added.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is a test's way to fail")]

mod adapter;
mod known;
mod place;

use crate::support;
use generators::seeded::{Source, variant};
use place::{Place, adapter_command};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use verdict::expectation::Expectation;

/// The test that is the adapter.
const ADAPTER: &str = "fuzz::adapter";

#[test]
#[ignore = "the program under test starts it as its adapter"]
fn adapter() {
    support::run(|words| match words {
        ["once", mode, file, format] => adapter::once(mode, file, format),
        [mode, note] => adapter::serve(mode, note),
        _ => panic!("{words:?}"),
    });
}

fn told(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}{err}")
}

fn found(output: &Output) -> String {
    let told = told(output);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(!told.contains("panicked"), "{told}");
    told
}

/// The lines of a report that begin with this word.
fn rows<'t>(told: &'t str, name: &str) -> Vec<&'t str> {
    let row = |line: &'t str| line.trim_start().strip_prefix("= ")?.strip_prefix(name)?.strip_prefix(": ");
    told.lines().filter_map(row).map(str::trim).collect()
}

/// The number of the first variant of seed 1 that has a meaning, so that rejecting it is wrong.
fn readable() -> String {
    let means = |number: &u64| {
        let variant = variant(1, *number, Source::Made);
        variant.is_some_and(|variant| matches!(variant.expectation, Expectation::Meaning(_)))
    };
    (0..).find(means).unwrap().to_string()
}

/// Runs a command line of a report as a person would paste it.
fn pasted(line: &str) -> Output {
    let program = format!("'{}'", env!("CARGO_BIN_EXE_mcp-concord"));
    Command::new("sh").args(["-c", &line.replacen("mcp-concord", &program, 1)]).output().unwrap()
}

#[test]
fn a_seed_gives_the_same_finds_on_any_number_of_threads() {
    let (one, many) = (Place::new(), Place::new());
    let flags = |jobs| ["--seed", "3", "--runs", "40", "--jobs", jobs];
    let first = found(&one.fuzz("fault:ids/zero-is-none", &flags("1")));
    let second = found(&many.fuzz("fault:ids/zero-is-none", &flags("3")));
    let unplaced = |told: &str, place: &Place| told.replace(&place.folder.path().display().to_string(), "");
    assert_eq!(unplaced(&first, &one), unplaced(&second, &many));
    assert!(one.files() == many.files() && !one.files().is_empty());
    let again = found(&one.fuzz("fault:ids/zero-is-none", &flags("2")));
    assert_eq!(first, again, "what stands there already is not written twice");
    assert!(one.files() == many.files());
}

#[test]
fn three_seeded_faults_are_found_and_shrunk() {
    for (fault, path) in [
        ("ids/zero-is-none", "/events/*/kind"),
        ("correlation/newest-first", "/events/*/answers"),
        ("values/doubles-in-arguments", "/events/*/arguments"),
    ] {
        let place = Place::new();
        let told = found(&place.fuzz(&format!("fault:{fault}"), &["--seed", "1", "--runs", "200"]));
        assert!(told.contains(path), "{fault}: {told}");
        for row in rows(&told, "shrunk") {
            let left: usize = row.split(" to ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
            assert!(left <= 3, "{fault}: {told}");
        }
        // Each kind of failure once, and each counted.
        let heads: Vec<_> =
            told.lines().filter_map(|line| line.strip_prefix("finding ")?.split_once(": ")).collect();
        let mut kinds: Vec<_> = heads.iter().map(|head| head.1).collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert!(!kinds.is_empty() && kinds.len() == heads.len(), "{fault}: {told}");
        // Each case loads, fails alone, and is found again.
        assert!(!place.suite().cases.is_empty());
        for (row, verdict) in rows(&told, "rerun").iter().zip(kinds.iter().map(|_| "1 fail")) {
            let alone = found(&pasted(row));
            assert!(alone.contains(verdict), "{row}\n{alone}");
        }
        let again = rows(&told, "repeat")[0];
        assert!(again.contains("--seed 1 --first ") && again.ends_with(" --runs 1"), "{again}");
        let before = place.files();
        let again = found(&pasted(again));
        assert!(again.contains(heads[0].1), "{again}");
        assert!(place.files() == before, "the same find is the same case");
        for case in &place.suite().cases {
            let text = String::from_utf8(place.files()[&format!("{}/case.toml", case.name)].clone()).unwrap();
            assert!(text.contains("faulty 1.2.3") && text.contains("seed 1, number "), "{text}");
        }
    }
}

#[test]
fn a_faithful_reader_shows_nothing() {
    let place = Place::new();
    let output = place.fuzz("clean", &["--runs", "60"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert!(told(&output).starts_with("60 runs of seed 0, ") && told(&output).contains("nothing found"));
    assert!(output.stderr.is_empty(), "no progress where there is no terminal");
    assert!(place.files().is_empty());
    // And the built-in reader, in this process.
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .args(["fuzz", "--runs", "100", "--seed", "5", "--out"])
        .arg(place.out())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
}

#[test]
fn a_crash_is_cut_to_what_it_takes() {
    let place = Place::new();
    let mode = "dies-on:9007199254740993";
    let told = found(&place.fuzz(mode, &["--runs", "60", "--seed", "2", "--jobs", "2"]));
    assert!(
        told.contains(": crash, it ended without an answer") && told.contains("exit status: 7"),
        "{told}"
    );
    for (name, bytes) in place.files() {
        let transcript = !name.ends_with(".toml") && !name.ends_with("meaning.json");
        let text = String::from_utf8(bytes).unwrap();
        assert!(!transcript || text.contains("9007199254740993"), "{name}: {text}");
    }
    for row in rows(&told, "shrunk") {
        assert!(row.contains(" to 1 message in ") || row.contains(" to 0 messages in "), "{told}");
    }
    for row in rows(&told, "rerun") {
        assert!(found(&pasted(row)).contains("1 crash"), "{row}");
    }
}

#[test]
fn dying_while_shrinking_is_another_failure() {
    let place = Place::new();
    let mode = "fault-or-dies:ids/zero-is-none";
    let told = found(&place.fuzz(mode, &["--seed", "1", "--runs", "40"]));
    // What was found as a wrong answer remains one: less than what is left makes the adapter die.
    let wrong: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("fail: ")).collect();
    assert!(!wrong.is_empty() && told.contains(": crash, "), "{told}");
    for name in wrong {
        let (case, format) = name.split_once(", ").unwrap();
        let format = formats::find(format.split(',').next().unwrap()).unwrap();
        let left = String::from_utf8(place.files()[&format!("{case}/{}", format.file)].clone()).unwrap();
        assert!(left.matches("\"jsonrpc\"").count() >= 3, "{left}");
    }
    let wrong =
        rows(&told, "rerun").into_iter().zip(told.lines().filter(|line| line.starts_with("finding ")));
    for (alone, _) in wrong.filter(|(_, head)| head.contains(": fail at ")) {
        assert!(found(&pasted(alone)).contains("1 fail"), "{alone}");
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let place = Place::new();
    let flags = ["--seed", "1", "--first", &readable(), "--runs", "2", "--jobs", "1"];
    let output =
        place.command("sabotage:survival/rejects-everything", &place.out(), &flags).output().unwrap();
    let told = found(&output);
    let name =
        rows(&told, "unsaved")[0].strip_prefix("the files of ").unwrap().strip_suffix(" follow").unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("cannot be saved") && error.contains(name), "{error}");
    assert!(told.contains(&format!("--- {name}/case.toml\ntitle = ")), "{told}");
    let transcript = |format: &&&formats::Format| told.contains(&format!("--- {name}/{}", format.file));
    assert!(formats::FORMATS.iter().filter(transcript).count() > 0, "{told}");
    assert!(told.contains("2 runs of seed 1, "), "it goes on: {told}");
}

#[test]
fn a_find_has_a_name_of_its_own() {
    let place = Place::new();
    let flags = ["--seed", "1", "--first", &readable(), "--runs", "1"];
    found(&place.fuzz("fault:survival/rejects-everything", &flags));
    let before = place.files();
    let told = found(&place.fuzz("dies-on:\"", &flags));
    assert!(told.contains("-2: crash, "), "{told}");
    let after = place.files();
    assert!(before.iter().all(|(name, bytes)| after.get(name) == Some(bytes)), "nothing is written over");
    assert!(place.suite().cases.len() >= 2);
}

#[test]
fn two_importers_are_told_apart_by_the_contract() {
    for (one, two, sides) in [
        ("clean", "fault:ids/zero-is-none", "the contract sides with faulty against faulty"),
        ("fault:ids/zero-is-none", "clean", "the contract sides with faulty against faulty"),
        ("fault:ids/zero-is-none", "fault:survival/rejects-everything", "the contract sides with neither"),
    ] {
        let place = Place::new();
        let other = adapter_command(two, &place.note());
        let told = found(&place.fuzz(one, &["--against", &other, "--seed", "1", "--runs", "30"]));
        assert!(told.contains(sides), "{told}");
        // Whoever is wrong falls short of the case that was kept, and whoever is right does not.
        for row in rows(&told, "rerun") {
            assert!(
                row.contains(if two == "clean" { one } else { two }) || sides.contains("neither"),
                "{row}"
            );
            found(&pasted(row));
        }
        let again = found(&pasted(rows(&told, "repeat")[0]));
        assert!(again.contains(told.lines().next().unwrap()), "{again}");
    }
    let place = Place::new();
    let other = adapter_command("fault:ids/zero-is-none", &place.note());
    let output = place.fuzz("fault:ids/zero-is-none", &["--against", &other, "--seed", "1", "--runs", "30"]);
    assert_eq!(output.status.code(), Some(0), "alike is no disagreement: {}", told(&output));
}

#[test]
fn an_open_clause_is_called_open() {
    let place = Place::new();
    let other = adapter_command("names-wanted", &place.note());
    let told = found(&place.fuzz("clean", &["--against", &other, "--seed", "1", "--runs", "100"]));
    assert!(told.contains("the contract leaves open what they disagree in"), "{told}");
    assert!(told.contains("open, a session beside a rejection") && told.contains("TOOL-NAMELESS"), "{told}");
    let case = place.suite().cases.remove(0);
    assert!(case.clauses.iter().any(|clause| clause == "TOOL-NAMELESS"), "{case:?}");
    assert!(rows(&told, "rerun").is_empty(), "nobody falls short of it: {told}");
}

#[test]
fn a_call_that_makes_no_sense_ends_with_its_code() {
    let place = Place::new();
    let file = place.folder.path().join("file");
    fs::write(&file, "").unwrap();
    let under = file.join("under").display().to_string();
    let rows: &[(&[&str], i32, &str)] = &[
        (&["--seed", "seven"], 2, "--seed"),
        (&["--seed", "-1"], 2, "-1"),
        (&["--runs", "0"], 2, "--runs"),
        (&["--time", "soon"], 2, "is not a time"),
        (&["--jobs", "0"], 2, "--jobs"),
        (&["--from", "no/such-case"], 2, "no/such-case"),
        (&["--out", &under], 2, "cannot be written"),
        (&["--adapter", "a 'b"], 2, "a quote is left open"),
        (&["--adapter", "./no-such-adapter"], 3, "there is no program `./no-such-adapter`"),
        (&["--adapter", "true"], 3, "handshake failed"),
        (&["--against", "./no-such-adapter"], 3, "there is no program `./no-such-adapter`"),
        (&["--exec", "cat"], 2, "needs {file}"),
    ];
    for (flags, code, words) in rows {
        let output = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
            .arg("fuzz")
            .args(*flags)
            .current_dir(place.folder.path())
            .output()
            .unwrap();
        let told = told(&output);
        assert_eq!(output.status.code(), Some(*code), "{flags:?}: {told}");
        assert!(told.contains(words), "{flags:?}: {told}");
    }
}

#[test]
fn a_given_session_is_changed() {
    let place = Place::new();
    let flags = ["--from", "values/integer-beyond-double", "--runs", "30"];
    let told = found(&place.fuzz("fault:values/doubles-in-arguments", &flags));
    assert!(told.contains("/events/*/arguments"), "{told}");
    assert!(rows(&told, "repeat")[0].contains("--from 'values/integer-beyond-double'"), "{told}");
    let files = place.files();
    let case = files.iter().find(|(name, _)| name.ends_with("case.toml")).unwrap().1;
    assert!(String::from_utf8_lossy(case).contains("of the case values/integer-beyond-double"));
}

#[test]
fn a_one_shot_command_is_fuzzed_as_well() {
    let place = Place::new();
    let fuzz = |mode: &str| {
        let command = support::command(ADAPTER, &["once", mode, "{file}", "{format}"]);
        let mut fuzz = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
        fuzz.args([
            "fuzz",
            "--seed",
            "1",
            "--first",
            &readable(),
            "--runs",
            "2",
            "--exec",
            &command,
            "--out",
        ]);
        fuzz.arg(place.out()).output().unwrap()
    };
    let clean = fuzz("clean");
    assert_eq!(clean.status.code(), Some(0), "{}", told(&clean));
    let told = found(&fuzz("fault:survival/rejects-everything"));
    assert!(told.contains(": fail at /rejection"), "{told}");
    let alone = rows(&told, "rerun")[0];
    assert!(alone.contains("--exec '") && found(&pasted(alone)).contains("1 fail"), "{alone}");
}

#[test]
fn a_failure_that_comes_and_goes_is_kept_and_called_so() {
    let place = Place::new();
    fs::write(place.note(), "").unwrap();
    // One answer is wrong, in both processes, and never again.
    let flags = ["--seed", "1", "--first", &readable(), "--runs", "1", "--jobs", "1"];
    let told = found(&place.fuzz("once-wrong", &flags));
    assert!(told.contains("it did not show again when it was asked for again"), "{told}");
    assert!(rows(&told, "shrunk")[0].starts_with("from "), "{told}");
    let files = place.files();
    let case = files.iter().find(|(name, _)| name.ends_with("case.toml")).unwrap().1;
    assert!(String::from_utf8_lossy(case).contains("did not show every time"));
    assert_eq!(place.suite().cases.len(), 1);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_found() {
    let place = Place::new();
    let mut command = place.command("hangs", &place.note(), &["--timeout", "600", "--jobs", "1"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let since = Instant::now();
    let adapter = loop {
        match fs::read_to_string(place.note()) {
            Ok(number) if !number.is_empty() => break number,
            _ => assert!(since.elapsed() < Duration::from_secs(60), "nobody was asked"),
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let told = told(&output);
    // It proved nothing, and so it is no success.
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(told.starts_with("interrupted; 0 runs of seed 0"), "{told}");
    while lives(&adapter) {
        assert!(since.elapsed() < Duration::from_secs(120), "the adapter lives on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process runs. One that nobody has buried yet does not.
#[cfg(unix)]
fn lives(number: &str) -> bool {
    if Path::new("/proc/self/stat").exists() {
        let stat = fs::read_to_string(format!("/proc/{number}/stat"));
        return stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim().starts_with('Z'));
    }
    Command::new("kill").args(["-0", number]).output().unwrap().status.success()
}
