//! Programs under test that misbehave, and baselines: the built binary against this test binary, which plays the
//! adapter when it is started with `--as-adapter`.
//!
//! Each row says what the adapter does, how the program is called, which exit code it must end with, and what its
//! words must name.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is a test's way to fail")]
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "an adapter talks on both")]

mod baselines;
mod behaviour;

use libtest_mimic::{Arguments, Trial};
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [_, "--as-adapter", mode, note] => behaviour::serve(mode, note),
        [_, "--as-once", mode, path, format] => behaviour::once(mode, path, format),
        _ => return libtest_mimic::run(&Arguments::from_args(), trials()).exit_code(),
    }
    ExitCode::SUCCESS
}

fn trials() -> Vec<Trial> {
    let mut trials: Vec<Trial> = ROWS
        .iter()
        .map(|row| Trial::test(format!("adapter::{}", row.0.replace(' ', "_")), || check(row)))
        .collect();
    let tests: &[(&str, fn())] = &[
        ("nothing_outlives_a_run", nothing_outlives_a_run),
        ("memory_is_bounded", memory_is_bounded),
        ("the_command_that_runs_one_alone_does", the_command_that_runs_one_alone_does),
        ("jobs_change_nothing", jobs_change_nothing),
    ];
    for (name, test) in tests.iter().chain(baselines::TESTS) {
        trials.push(Trial::test(*name, || {
            test();
            Ok(())
        }));
    }
    trials
}

/// What is tried; the mode; the flags; the exit code; what the words must name.
type Row = (&'static str, &'static str, &'static [&'static str], i32, &'static [&'static str]);

const ROWS: &[Row] = &[
    ("a good one", "good", &[], 0, &["6 readings of 4 cases: 6 pass"]),
    ("a slow one", "slow", &[], 0, &["6 pass"]),
    ("calls alone", "calls", &[], 0, &["5 pass, 1 skip", "the level `calls` shows nothing of it"]),
    ("one format", "one-format", &[], 0, &["4 pass, 2 skip", "faulty does not read inspector"]),
    ("unsupported", "unsupported", &[], 0, &["4 pass, 2 skip", "no inspector on Sundays"]),
    ("a banner", "banner", &[], 3, &["Welcome to the reader!", "print banners and logs to stderr"]),
    (
        "a banner with the handshake",
        "banner-at-once",
        &[],
        3,
        &["Welcome to the reader!", "print banners and logs"],
    ),
    ("another protocol", "other-protocol", &[], 3, &["speaks protocol 2", "protocol 1"]),
    ("an unknown format", "unknown-format", &[], 3, &["`pcap`", "there are jsonrpc"]),
    ("an unknown level", "unknown-level", &[], 3, &["`tools`", "`events` and `calls`"]),
    ("no version", "no-version", &[], 3, &["`version` must be a string"]),
    ("death on start", "dies-on-start", &[], 3, &["exit status: 7", "there is no moon today"]),
    ("a hang on start", "hangs-on-start", &["--timeout", "0.5"], 3, &["no answer within 0.5 s (--timeout)"]),
    ("an answer out of turn", "out-of-turn", &[], 3, &["it went on after its answer: {\"seq\":1"]),
    ("a second answer later on", "twice-late", &["--jobs", "1"], 1, &["garbled: ", "{\"seq\":1"]),
    ("two answers", "twice", &[], 1, &["6 garbled", "it went on after its answer: {\"seq\":1"]),
    ("another seq", "other-seq", &[], 1, &["6 garbled", "it answered 2 when 1 was asked"]),
    ("no seq", "no-seq", &[], 1, &["6 garbled", "its answer has no `seq`"]),
    ("no members", "no-members", &[], 1, &["6 garbled", "none of `meaning`, `calls`"]),
    ("talk", "talks", &[], 1, &["6 garbled", "no JSON object: reading TRANSCRIPT"]),
    ("a closed output", "closes-stdout", ONE, 1, &["1 crash", "closed its standard output and ran on"]),
    (
        "a closed input",
        "closes-stdin",
        CASE_A,
        1,
        &["1 pass, 1 crash", "closed its standard input and ran on"],
    ),
    ("a gigabyte", "gigabyte", GIGABYTE, 1, &["1 garbled", "more than 128 MiB, which begins aaa"]),
    (
        "death on the third read",
        "dies-on-third",
        &["--jobs", "1"],
        1,
        &[
            "4 pass, 2 crash",
            "crash: topic/b, jsonrpc",
            "exit status: 7",
            "stderr    cannot digest TRANSCRIPT",
        ],
    ),
    ("a hang", "hangs", HANG, 1, &["1 timeout", "no answer within 0.5 s"]),
    ("another answer each time", "changes", ONE, 1, &["1 unstable", "first a reading of 1 event, then"]),
    (
        "a rounded number",
        "rounds",
        &[],
        1,
        &[
            "4 pass, 2 fail",
            "fail: topic/a, jsonrpc",
            "jsonrpc.jsonl:1",
            "/events/0/arguments/n",
            "9007199254740993",
            "--adapter '",
            "--filter 'topic/a/jsonrpc'",
        ],
    ),
    ("a lost answer", "loses", &[], 1, &["1 pass, 5 fail", "5 silent losses", "jsonrpc.jsonl:2"]),
    ("the smoke test of a good one", "good", VERIFY, 0, &["faulty 1.2.3, level events", "ok     it stops"]),
    ("the smoke test of a stubborn one", "ignores-stop", VERIFY, 3, &["FAILED it stops", "had to be killed"]),
    (
        "the smoke test of an agreeable one",
        "agreeable",
        VERIFY,
        3,
        &["FAILED it rejects", "FAILED it says so"],
    ),
    ("the smoke test of a talker", "talks", VERIFY, 3, &["FAILED it reads jsonrpc", "reading TRANSCRIPT"]),
    ("the smoke test of one that dies", "dies-on-start", VERIFY, 3, &["there is no moon today"]),
    (
        "no such program",
        "",
        &["--adapter", "./no-such-adapter"],
        3,
        &["there is no program `./no-such-adapter`"],
    ),
    ("an open quote", "", &["--adapter", "python 'a"], 2, &["a quote is left open"]),
    ("an empty command", "", &["--adapter", ""], 2, &["the command is empty"]),
    ("two programs", "", &["--adapter", "a", "--exec", "b"], 2, &["--exec"]),
    ("no time", "good", &["--timeout", "0"], 2, &["is not a time"]),
    ("no size", "good", &["--memory", "2 apples"], 2, &["is not a size"]),
    ("nothing to verify", "", VERIFY, 2, &["name one with --adapter or --exec"]),
    ("a one-shot command", "once:good", &[], 0, &["6 pass"]),
    ("a one-shot command without words", "once:wordless", &[], 0, &["6 pass"]),
    ("a one-shot command that shows calls", "once:calls", &[], 0, &["5 pass, 1 skip"]),
    ("a rejection by exit code 1", "once:wrong-code", &[], 1, &["5 pass, 1 crash", "exit status: 1", "65"]),
    ("a reading with the code of a rejection", "once:torn", ONE, 1, &["1 garbled", "a reading of 2 events"]),
    ("a one-shot command that hangs", "once:hangs", HANG, 1, &["1 timeout"]),
    ("the smoke test of a one-shot command", "once:good", VERIFY, 0, &["ok     it rejects"]),
    ("a one-shot command without a file", "", &["--exec", "cat"], 3, &["needs {file}"]),
];

const ONE: &[&str] = &["--filter", "topic/a/jsonrpc"];
const CASE_A: &[&str] = &["--filter", "topic/a", "--jobs", "1"];
const HANG: &[&str] = &["--filter", "topic/a/jsonrpc", "--timeout", "0.5"];
const GIGABYTE: &[&str] = &["--filter", "topic/a/jsonrpc", "--timeout", "60"];
const VERIFY: &[&str] = &["--verify"];

fn check((_, mode, flags, code, words): &Row) -> Result<(), libtest_mimic::Failed> {
    let suite = Suite::new();
    let output = suite.run(mode, flags);
    let told = told(&output);
    let missing: Vec<_> = words.iter().filter(|word| !told.contains(**word)).collect();
    match output.status.code() == Some(*code) && missing.is_empty() && !told.contains("panicked") {
        true => Ok(()),
        false => {
            let found = output.status.code();
            Err(format!("exit code {found:?} instead of {code}, without {missing:?}:\n{told}").into())
        }
    }
}

/// A suite of four cases: two calls in two formats each, a rejection, and a session without calls.
struct Suite {
    folder: TempDir,
}

impl Suite {
    fn new() -> Self {
        let suite = Self { folder: tempfile::tempdir().unwrap() };
        for (name, number) in [("a", "9007199254740993"), ("b", "1e400")] {
            let call = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add","arguments":{{"n":{number}}}}}}}"#
            );
            let result = r#"{"jsonrpc":"2.0","id":1,"result":3}"#;
            suite.case(name, "expect = \"meaning\"");
            suite.write(&format!("{name}/jsonrpc.jsonl"), &format!("{call}\n{result}\n"));
            suite.write(&format!("{name}/inspector.json"), &format!("[\n{call},\n{result}\n]"));
            let meaning = format!(
                r#"{{"events": [{{"kind": "tool_call", "id": "1", "tool": "add", "arguments": {{"n": {number}}}}},
                {{"kind": "result", "id": "1", "answers": 0, "result": 3}}], "authorization_discovery": null}}"#
            );
            suite.write(&format!("{name}/meaning.json"), &meaning);
        }
        suite.case("c", "expect = \"rejection\"\nreject = \"invalid-id\"\ntwin = \"topic/d\"");
        suite.write("c/jsonrpc.jsonl", "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"ping\"}\n");
        suite.case("d", "expect = \"meaning\"");
        suite.write("d/jsonrpc.jsonl", "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n");
        let meaning =
            r#"{"events": [{"kind": "notification", "method": "x"}], "authorization_discovery": null}"#;
        suite.write("d/meaning.json", meaning);
        suite
    }

    fn case(&self, name: &str, expect: &str) {
        let text = format!(
            "title = \"The case {name}\"\nclauses = [\"COR-FIRST\"]\n{expect}\nreason = \"So it is.\"\n\
             origin = \"written by hand from the clauses\"\n"
        );
        self.write(&format!("{name}/case.toml"), &text);
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.folder.path().join("cases/topic").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Where the adapter leaves the number of a process.
    fn note(&self) -> String {
        self.folder.path().join("note").display().to_string()
    }

    /// Runs the suite against this binary in `mode`: as an adapter, or `once:` for the one-shot command.
    fn run(&self, mode: &str, flags: &[&str]) -> Output {
        let me = env::current_exe().unwrap();
        let command = match mode.split_once(':') {
            Some((_, mode)) => format!("'{}' --as-once {mode} {{file}} {{format}}", me.display()),
            None => format!("'{}' --as-adapter {mode} '{}'", me.display(), self.note()),
        };
        let flag = if mode.starts_with("once:") { "--exec" } else { "--adapter" };
        let under_test: &[&str] = if mode.is_empty() { &[] } else { &[flag, &command] };
        self.command().args(under_test).args(flags).output().unwrap()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
        command.args(["run", "--cases"]).arg(self.folder.path().join("cases"));
        command
    }
}

fn told(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    format!("{out}{err}")
}

fn nothing_outlives_a_run() {
    for (mode, flags, code) in [
        ("forks-and-hangs", HANG, 1),
        ("hangs", HANG, 1),
        ("ignores-stop", &[], 0),
        ("closes-stdout", ONE, 1),
        ("good", &[], 0),
    ] {
        let suite = Suite::new();
        let output = suite.run(mode, flags);
        assert_eq!(output.status.code(), Some(code), "{mode}: {}", told(&output));
        let number = fs::read_to_string(suite.note()).unwrap();
        let since = Instant::now();
        while lives(&number) {
            assert!(since.elapsed() < Duration::from_secs(5), "{mode}: process {number} lives on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Whether a process runs. One that nobody has buried yet does not.
fn lives(number: &str) -> bool {
    if Path::new("/proc/self/stat").exists() {
        let stat = fs::read_to_string(format!("/proc/{number}/stat"));
        return stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim().starts_with('Z'));
    }
    Command::new("kill").args(["-0", number]).output().unwrap().status.success()
}

fn memory_is_bounded() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let suite = Suite::new();
    let flags = [ONE, &["--memory", "96MiB", "--timeout", "60"]].concat();
    let told = told(&suite.run("hog", &flags));
    assert!(told.contains("1 crash") && told.contains("--memory allows 96 MiB"), "{told}");
}

fn the_command_that_runs_one_alone_does() {
    let suite = Suite::new();
    let told = told(&suite.run("rounds", &["--timeout", "20"]));
    let alone = told.lines().find_map(|line| line.trim().strip_prefix("alone")).unwrap().trim();
    let program = format!("'{}'", env!("CARGO_BIN_EXE_mcp-concord"));
    let output =
        Command::new("sh").args(["-c", &alone.replacen("mcp-concord", &program, 1)]).output().unwrap();
    let again = self::told(&output);
    assert!(alone.contains("--timeout 20"), "{alone}");
    assert!(again.contains("1 reading of 1 case: 1 fail"), "{alone}\n{again}");
}

fn jobs_change_nothing() {
    let suite = Suite::new();
    let out = tempfile::tempdir().unwrap();
    let record = |jobs: &str| {
        let file = out.path().join(jobs);
        suite.run("loses", &["--jobs", jobs, "--results", file.to_str().unwrap()]);
        fs::read_to_string(file).unwrap()
    };
    let text = record("1");
    assert_eq!(record("5"), text);
    for part in ["\"name\": \"faulty\"", "\"version\": \"1.2.3\"", "\"level\": \"events\"", "\"line\": 2"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
}
