//! Programs under test that misbehave, and baselines: the built binary against this test binary, which it starts as its
//! adapter.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is a test's way to fail")]
#![expect(clippy::print_stderr, clippy::print_stdout, reason = "an adapter talks on both")]

mod baselines;
mod behaviour;
mod parts;

use crate::support;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The test that is the adapter.
const ADAPTER: &str = "adapter::adapter";

#[test]
#[ignore = "the program under test starts it as its adapter"]
fn adapter() {
    support::run(|words| match words {
        ["once", mode, path, format] => behaviour::once(mode, path, format),
        [mode, note] => behaviour::serve(mode, note),
        _ => panic!("{words:?}"),
    });
}

/// A test for each line: the mode, the flags, the exit code, and what the output must name.
macro_rules! rows {
    ($($name:ident: $mode:expr, $flags:expr, $code:expr, $words:expr;)*) => {
        $(#[test]
        fn $name() {
            check($mode, $flags, $code, $words);
        })*
    };
}

// A table reads by its rows.
#[rustfmt::skip]
rows! {
    a_good_one: "good", &[], 0, &["6 results of 4 cases: 6 pass"];
    a_slow_one: "slow", &[], 0, &["6 pass"];
    calls_alone: "calls", &[], 0, &["5 pass, 1 skip", "the level `calls` shows nothing of it"];
    one_format: "one-format", &[], 0, &["4 pass, 2 skip", "faulty does not read inspector"];
    unsupported: "unsupported", &[], 0, &["4 pass, 2 skip", "no inspector on Sundays"];
    a_banner: "banner", &[], 3, &["Welcome to the reader!", "print banners and logs to stderr"];
    a_banner_with_the_handshake: "banner-at-once", &[], 3, &["Welcome to the reader!", "print banners and logs"];
    another_protocol: "other-protocol", &[], 3, &["speaks protocol 2", "protocol 1"];
    an_unknown_format: "unknown-format", &[], 3, &["`pcap`", "there are jsonrpc"];
    an_unknown_level: "unknown-level", &[], 3, &["`tools`", "`events` and `calls`"];
    a_dialect: "typed-ids", &[], 0, &["6 pass", "judged in the dialect typed-ids"];
    a_dialect_by_option: "good", &["--dialect", "typed-ids"], 0, &["6 pass", "judged in the dialect typed-ids"];
    an_unknown_dialect: "an-odd-dialect", &[], 3, &["no dialect `typd-ids`, only default and typed-ids; did you mean typed-ids?"];
    an_unknown_dialect_by_option: "good", &["--dialect", "typd-ids"], 2, &["no dialect `typd-ids`, only default"];
    the_smoke_test_of_a_dialect: "typed-ids", VERIFY, 0, &["faulty 1.2.3, level events, dialect typed-ids"];
    no_version: "no-version", &[], 3, &["`version` must be a string"];
    death_on_start: "dies-on-start", &[], 3, &["exit status: 7", "there is no moon today"];
    a_hang_on_start: "hangs-on-start", &["--timeout", "0.5"], 3, &["no answer within 0.5 s (--timeout)"];
    an_answer_out_of_turn: "out-of-turn", &[], 3, &["it went on after its answer: {\"seq\":1"];
    a_second_answer_later_on: "twice-late", &["--jobs", "1"], 1, &["garbled: ", "{\"seq\":1"];
    two_answers: "twice", &[], 1, &["6 garbled", "it went on after its answer: {\"seq\":1"];
    another_seq: "other-seq", &[], 1, &["6 garbled", "it answered 2 when 1 was asked"];
    no_seq: "no-seq", &[], 1, &["6 garbled", "its answer has no `seq`"];
    no_members: "no-members", &[], 1, &["6 garbled", "none of `meaning`, `calls`"];
    talk: "talks", &[], 1, &["6 garbled", "not a JSON object: reading TRANSCRIPT"];
    a_closed_output: "closes-stdout", ONE, 1, &["1 crash", "closed its standard output and ran on"];
    a_closed_input: "closes-stdin", CASE_A, 1, &["1 pass, 1 crash", "closed its standard input and ran on"];
    a_gigabyte: "gigabyte", GIGABYTE, 1, &["1 garbled", "more than 128 MiB, which begins aaa"];
    death_on_the_third_read: "dies-on-third", &["--jobs", "1"], 1, &["4 pass, 2 crash", "crash: topic/b, jsonrpc", "exit status: 7", "= stderr: cannot digest TRANSCRIPT"];
    a_hang: "hangs", HANG, 1, &["1 timeout", "no answer within 0.5 s"];
    another_answer_each_time: "changes", ONE, 1, &["1 unstable", "first a session of 1 event, then"];
    a_rounded_number: "rounds", &[], 1, &["4 pass, 2 fail", "fail: topic/a, jsonrpc", "jsonrpc.jsonl:1", "/events/0/arguments/n", "9007199254740993", "--adapter '", "--filter 'topic/a/jsonrpc'"];
    a_lost_answer: "loses", &[], 1, &["1 pass, 5 fail", "5 silent losses", "jsonrpc.jsonl:2"];
    the_smoke_test_of_a_good_one: "good", VERIFY, 0, &["faulty 1.2.3, level events", "ok     it stops"];
    the_smoke_test_of_a_stubborn_one: "ignores-stop", VERIFY, 3, &["FAILED it stops", "had to be killed"];
    the_smoke_test_of_an_agreeable_one: "agreeable", VERIFY, 3, &["FAILED it rejects", "FAILED it says so"];
    the_smoke_test_of_a_talker: "talks", VERIFY, 3, &["FAILED it reads jsonrpc", "reading TRANSCRIPT"];
    the_smoke_test_of_one_that_dies: "dies-on-start", VERIFY, 3, &["there is no moon today"];
    no_such_program: "", &["--adapter", "./no-such-adapter"], 3, &["there is no program `./no-such-adapter`"];
    an_open_quote: "", &["--adapter", "python 'a"], 2, &["a quote is left open"];
    an_empty_command: "", &["--adapter", ""], 2, &["the command is empty"];
    two_programs: "", &["--adapter", "a", "--exec", "b"], 2, &["--exec"];
    no_time: "good", &["--timeout", "0"], 2, &["is not a time"];
    no_size: "good", &["--memory", "2 apples"], 2, &["is not a size"];
    nothing_to_verify: "", VERIFY, 2, &["name one with --adapter or --exec"];
    a_one_shot_command: "once:good", &[], 0, &["6 pass"];
    a_one_shot_command_without_words: "once:wordless", &[], 0, &["6 pass"];
    a_one_shot_command_that_shows_calls: "once:calls", &[], 0, &["5 pass, 1 skip"];
    a_rejection_by_exit_code_1: "once:wrong-code", &[], 1, &["5 pass, 1 crash", "exit status: 1", "65"];
    a_reading_with_the_code_of_a_rejection: "once:torn", ONE, 1, &["1 garbled", "a session of 2 events"];
    a_one_shot_command_that_prints_nothing: "once:mute", ONE, 1, &["1 garbled", "= got: printed nothing, exit 0"];
    a_one_shot_command_that_hangs: "once:hangs", HANG, 1, &["1 timeout"];
    the_smoke_test_of_a_one_shot_command: "once:good", VERIFY, 0, &["ok     it rejects"];
    a_one_shot_command_without_a_file: "", &["--exec", "cat"], 2, &["needs {file}"];
    a_one_shot_command_that_lacks_a_format: "once:unsupported", &[], 0, &["4 pass, 2 skip", "does not read inspector"];
    an_adapter_that_reads_nothing: "reads-nothing", &[], 1, &["6 skip", "nothing was judged"];
    an_adapter_that_puts_pipes_among_the_transcripts: "pipes", &["--jobs", "1"], 0, &["6 pass"];
}

const ONE: &[&str] = &["--filter", "topic/a/jsonrpc"];
const CASE_A: &[&str] = &["--filter", "topic/a", "--jobs", "1"];
const HANG: &[&str] = &["--filter", "topic/a/jsonrpc", "--timeout", "0.5"];
const GIGABYTE: &[&str] = &["--filter", "topic/a/jsonrpc", "--timeout", "60"];
const VERIFY: &[&str] = &["--verify"];

fn check(mode: &str, flags: &[&str], code: i32, words: &[&str]) {
    let output = Suite::new().run(mode, flags);
    let told = told(&output);
    let missing: Vec<_> = words.iter().filter(|word| !told.contains(**word)).collect();
    let ended = output.status.code() == Some(code) && missing.is_empty() && !told.contains("panicked");
    assert!(
        ended,
        "{:?} instead of {code}, without {missing:?}:
{told}",
        output.status
    );
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
        let command = match mode.split_once(':') {
            Some((_, mode)) => support::command(ADAPTER, &["once", mode, "{file}", "{format}"]),
            None => support::command(ADAPTER, &[mode, &self.note()]),
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

/// An adapter is asked what recordings show where it says that it can tell, and its answers are judged.
#[test]
fn an_adapter_that_identifies_is_asked_and_judged() {
    let note = tempfile::NamedTempFile::new().unwrap();
    let run = |mode: &str, flags: &[&str]| {
        let adapter = support::command(ADAPTER, &[mode, note.path().to_str().unwrap()]);
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
        let output =
            command.args(["run", "--timeout", "60", "--adapter", &adapter]).args(flags).output().unwrap();
        (output.status.code(), told(&output))
    };
    let all = ["--filter", "identify/*"];
    let (code, said) = run("identifies", &all);
    assert!(
        code == Some(0) && said.contains(" pass, ") && !said.contains("faulty does not answer"),
        "{said}"
    );
    let (code, said) = run("misidentifies", &["--filter", "identify/trace-stdio"]);
    assert!(code == Some(1) && said.contains("= at: /transport"), "{said}");
    assert!(said.contains("= expected: \"stdio\"") && said.contains("= got: \"mixed\""), "{said}");
    // Who does not say so is not asked, and that is no failure.
    let (code, said) = run("good", &["--filter", "identify/*", "--filter", "ids/zero"]);
    assert!(code == Some(0) && said.contains("faulty does not answer `identify`"), "{said}");
    // Where nothing else is asked, nothing is judged.
    let (code, said) = run("good", &all);
    assert!(code == Some(1) && said.contains("nothing was judged") && !said.contains(" pass"), "{said}");
    let (code, said) = run("identifies", &["--verify"]);
    assert!(code == Some(0) && said.contains("ok     it identifies a recording"), "{said}");
}

#[test]
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

#[test]
fn no_link_leads_a_transcript_elsewhere() {
    let suite = Suite::new();
    let output = suite.run("links", &["--jobs", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    // The number of its process, as it wrote it down itself.
    assert!(fs::read_to_string(suite.note()).unwrap().bytes().all(|byte| byte.is_ascii_digit()));
}

#[test]
fn memory_is_bounded() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let suite = Suite::new();
    let flags = [ONE, &["--memory", "96MiB", "--timeout", "60"]].concat();
    let told = told(&suite.run("hog", &flags));
    assert!(told.contains("1 crash") && told.contains("--memory allows 96 MiB"), "{told}");
}

#[test]
fn the_command_that_runs_one_alone_does() {
    let suite = Suite::new();
    let told = told(&suite.run("rounds", &["--timeout", "20"]));
    let alone = told.lines().find_map(|line| line.trim().strip_prefix("= rerun:")).unwrap().trim();
    let program = format!("'{}'", env!("CARGO_BIN_EXE_mcp-concord"));
    let output =
        Command::new("sh").args(["-c", &alone.replacen("mcp-concord", &program, 1)]).output().unwrap();
    let again = self::told(&output);
    assert!(alone.contains("--timeout 20"), "{alone}");
    assert!(again.contains("1 result of 1 case: 1 fail"), "{alone}\n{again}");
}

#[test]
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
