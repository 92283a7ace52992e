//! A stranger's recording has no power over the terminal on which a command shows it.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use crate::support::python;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// C1 controls, which some terminals obey like the two bytes of an escape sequence; DEL; an override of the direction; and a
/// letter that may pass. JSON lets all of them stand in a string.
const EVIL: &str = "\u{9b}31m\u{7f}\u{202e}\u{2066}\u{feff}é";

/// The program's name in a shell.
const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-concord");

fn recording(name: &str) -> String {
    let meta = format!(
        r#"{{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"{EVIL}","command":["{EVIL}"]}}"#
    );
    let line = |time: u32, dir: &str, raw: &str| {
        format!(r#"{{"t":"2026-01-01T00:00:00.{time:03}Z","dir":"{dir}","raw":{raw}}}"#)
    };
    let hello = |name: &str| {
        format!(
            r#"{{"protocolVersion":"2025-11-25","capabilities":{{}},"{name}":{{"name":"{EVIL}","version":"{EVIL}"}}}}"#
        )
    };
    let lines = [
        meta,
        line(
            0,
            "in",
            &format!(
                r#"{{"jsonrpc":"2.0","id":"{EVIL}","method":"initialize","params":{}}}"#,
                hello("clientInfo")
            ),
        ),
        line(1, "out", &format!(r#"{{"jsonrpc":"2.0","id":"{EVIL}","result":{}}}"#, hello("serverInfo"))),
        line(2, "in", &format!(r#"{{"jsonrpc":"2.0","id":null,"method":"{EVIL}"}}"#)),
        line(
            3,
            "in",
            &format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{EVIL}{name}","arguments":{{"{EVIL}":"{EVIL}"}}}}}}"#
            ),
        ),
        line(4, "out", &format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":1,"message":"{EVIL}"}}}}"#)),
        line(5, "out", &format!(r#"{{"jsonrpc":"2.0","id":"{EVIL}{EVIL}","result":{{}}}}"#)),
    ];
    lines.join("\n") + "\n"
}

/// What a command prints on a terminal, to either output.
fn shown(folder: &Path, arguments: &str) -> String {
    let command = format!("'{PROGRAM}' {arguments}");
    let mut program = Command::new("script");
    program.args(["-qec", &command, "/dev/null"]).current_dir(folder).stdin(Stdio::null());
    let output = program.env("NO_COLOR", "1").env("TERM", "dumb").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn obeyed(text: &str) -> Vec<char> {
    let is_evil = |char: &char| char.is_control() || EVIL.contains(*char) && !char.is_ascii() && *char != 'é';
    text.replace("\r\n", "\n").chars().filter(|char| *char != '\n' && *char != '\t').filter(is_evil).collect()
}

#[test]
fn no_verb_passes_a_strangers_controls_to_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("a.jsonl"), recording("a")).unwrap();
    fs::write(at.join("b.jsonl"), recording("b")).unwrap();
    fs::write(at.join("broken.jsonl"), format!("{}{{\"{EVIL}\": \"{EVIL}\n", recording("a"))).unwrap();
    fs::write(at.join("none"), EVIL).unwrap();
    fs::write(at.join(format!("{EVIL}.jsonl")), recording("a")).unwrap();
    let commands = [
        "read a.jsonl",
        "read --calls a.jsonl",
        "read -v broken.jsonl",
        "read --lenient broken.jsonl",
        "read none",
        "diff a.jsonl b.jsonl",
        "convert --to jsonrpc --lossy a.jsonl",
        "convert --to har --lossy a.jsonl",
        "identify a.jsonl",
        "identify --output json a.jsonl",
        "check -v a.jsonl",
        "check -v broken.jsonl none",
        "check --output json -v a.jsonl",
        "check --output ndjson -v a.jsonl none",
        "check --output sarif -v a.jsonl",
        "check --output junit a.jsonl",
        "check --output github a.jsonl",
        "show a.jsonl",
        "show --output svg a.jsonl",
        "show --output html a.jsonl",
        "show broken.jsonl",
        "show none",
        "report a.jsonl --out site",
        "play --as client a.jsonl -- cat",
    ];
    let named = commands
        .map(|command| command.replace("a.jsonl", &format!("'{EVIL}.jsonl'")).replace("site", "other"));
    // clap says what it refuses as it was typed, which no stranger did; these look further.
    let verbs =
        ["explain", "read", "run --filter", "run --cases", "check --select", "drive --recorder", "report"];
    let verbs = verbs.map(|verb| format!("{verb} '{EVIL}'"));
    let all: Vec<String> = commands.map(str::to_owned).into_iter().chain(named).chain(verbs).collect();
    // Two at a time: a program that is shown starts another one, and mostly waits.
    let wrong = thread::scope(|scope| {
        let share = |commands: &'_ [String]| {
            let look = |command: &String| {
                let shown = shown(at, command);
                assert!(!shown.is_empty(), "{command:?} shows nothing");
                let obeyed = obeyed(&shown);
                (!obeyed.is_empty()).then(|| format!("{command:?}: {obeyed:?}\n{shown:?}"))
            };
            commands.iter().filter_map(look).collect::<Vec<_>>()
        };
        let (one, other) = all.split_at(all.len() / 2);
        let other = scope.spawn(move || share(other));
        [share(one), other.join().unwrap()].concat()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn a_pipe_gets_the_bytes_and_a_terminal_the_same_value() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), recording("a")).unwrap();
    let piped = Command::new(PROGRAM).args(["read", "a.jsonl"]).current_dir(folder.path()).output().unwrap();
    let piped = String::from_utf8(piped.stdout).unwrap();
    assert!(piped.contains(EVIL), "{piped}");
    let shown = shown(folder.path(), "read a.jsonl");
    let end = shown.rfind('}').unwrap();
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(&shown[..=end]), value(&piped));
}

/// What stands on a terminal after this was written to it: a line that is written over keeps its last text.
fn screen(written: &str) -> String {
    let line = |line: &str| {
        let mut shown = String::new();
        for part in line.split('\r') {
            match part.split_once("\u{1b}[K") {
                // All that is written over is longer than what follows it, or is erased.
                Some((text, rest)) => shown = format!("{text}{rest}"),
                None if part.is_empty() => {}
                None => shown = part.to_owned(),
            }
        }
        shown
    };
    written.replace("\r\n", "\n").split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_run_and_a_drive_show_how_far_they_are_only_on_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let importer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/importer.py");
    let exec = format!("{} {} {{file}}", python(), importer.display());
    let run = ["run", "--exec", &exec, "--filter", "ids/null-*", "--format", "jsonrpc", "--jobs", "1"];
    let tee = "sh -c \"{server} | tee {out}\"";
    let drive = ["drive", "--recorder", tee, "--filter", "conditions/plain", "--jobs", "1"];
    let lost = r#"expected {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protoc"#;
    for (arguments, planned, failing, short) in [
        (&run[..], " of 5: ", "ids/null-tool-call/jsonrpc", "expected null; got {\"result\":{\"a\":1}}\n"),
        (&drive[..], " of 2: ", "conditions/plain/fidelity", lost),
    ] {
        let on_a_terminal = |more: &str, term: &str| {
            let words: Vec<String> = arguments.iter().map(|word| format!("'{word}'")).collect();
            let mut program = Command::new("script");
            program.args(["-qec", &format!("'{PROGRAM}' {} {more}", words.join(" ")), "/dev/null"]);
            program.current_dir(folder.path()).stdin(Stdio::null()).env("NO_COLOR", "1").env("TERM", term);
            String::from_utf8(program.output().unwrap().stdout).unwrap()
        };
        let piped = Command::new(PROGRAM).args(arguments).output().unwrap();
        assert_eq!(String::from_utf8(piped.stderr).unwrap(), "", "nobody looks on");
        let piped = String::from_utf8(piped.stdout).unwrap();
        assert!(!piped.contains('\r') && !piped.contains('\u{1b}'), "{piped:?}");
        let shown = on_a_terminal("", "xterm");
        let progress = shown.split('\r').filter(|part| part.contains(planned)).count();
        assert!(progress > 0 && shown.contains("pass"), "{shown:?}");
        // A line for the failure as it comes, and nothing is left of the other line.
        let left = screen(&shown);
        let (failure, rest) = left.split_once('\n').unwrap();
        assert!(format!("{failure}\n").starts_with(&format!("fail: {failing}: {short}")), "{failure:?}");
        assert_eq!(rest, piped, "{shown:?}");
        let dumb = on_a_terminal("", "dumb");
        assert_eq!(dumb.replace("\r\n", "\n"), format!("{failure}\n{piped}"));
        let quiet = on_a_terminal("--quiet", "xterm");
        let whole = failing.rsplit_once('/').map(|(case, format)| format!("fail: {case}, {format}")).unwrap();
        assert!(quiet.starts_with(&whole) && !quiet.contains(planned), "{quiet:?}");
    }
}
