//! How fast a long transcript is read, and in how much memory: `cargo bench --bench read`.
//!
//! In one run, over the same bytes: a bare pass of serde_json that borrows each member as a `RawValue` and throws it
//! away, and this project's `read` to a meaning that is counted and thrown away. Then the peak memory of a process
//! that does nothing but read the file, compare two, or judge it. `check` is timed beside `read` and the bare pass, by every
//! rule, and from the start of a process to its end on one small recording; the overview of `summary` beside `check`; `check` and
//! `redact` beside `read`, as programs; `diff` beside `read` of both files, which differ in every thousandth event; and
//! `show --output html` of 10,000 messages from start to end.
//! At last only `check`, over traces that are made to fill its tables: how fast, in how much memory, and which limit it
//! tells. `CONCORD_BENCH_MB` sets the size (100), `CONCORD_BENCH_ROUNDS` how often each is timed (5), and
//! `CONCORD_BENCH_ONLY=check` leaves out all but mcp-replay and what is hostile, and `=diff` all but `diff`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot be made has nothing to say"
)]

use bulk::Spelling;
use formats::{Input, ReadOptions, walk};
use rules::CheckOptions;
use rules::CheckResult;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{in_turns, timed};

#[path = "read/bulk.rs"]
mod bulk;
#[path = "read/hostile.rs"]
mod hostile;
#[path = "support/mod.rs"]
mod support;

fn rounds() -> usize {
    support::setting("CONCORD_BENCH_ROUNDS", 5)
}

fn main() {
    if let Some(task) = support::child_task() {
        return child(&task);
    }
    let megabytes: u64 = support::setting("CONCORD_BENCH_MB", 100);
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    println!("{megabytes} MB of tool calls; median of {}\n", rounds());
    let only = support::setting("CONCORD_BENCH_ONLY", String::new());
    if only != "diff" {
        let wanted = |name: &str| only != "check" || name == "mcp-replay";
        for (name, spelling) in Spelling::ALL.into_iter().filter(|(name, _)| wanted(name)) {
            generated(folder, name, spelling, megabytes << 20);
        }
        judging(folder);
        starting(folder);
        programs(folder);
        overwhelmed(folder, megabytes);
    }
    if only != "check" {
        comparing(folder, megabytes);
    }
}

const JUDGED: &str = "\
format              serde_json        read   to bare        MB/s   peak, MiB       check   to read   to bare        MB/s   peak, MiB    overview  to check";

/// `read` beside a bare pass, `check` beside both, and the overview beside `check`, over the files that are there.
fn judging(folder: &Path) {
    println!("{JUDGED}");
    for (name, spelling) in Spelling::ALL {
        let path = folder.join(name);
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let [bare, plain, judged, seen] = in_turns(
            rounds(),
            [
                &mut || bare_pass(spelling, &bytes),
                &mut || read(name, &mut &bytes[..]),
                &mut || check(name, &mut &bytes[..]),
                &mut || overview(name, &mut &bytes[..]),
            ],
        );
        let speed = |time: f64| bytes.len() as f64 / 1e6 / time;
        let peak = |verb| support::peak_of_child(&[verb, name, &path.display().to_string()]);
        println!(
            "{name:<18}{:>10.0}ms{:>10.0}ms{:>10.2}{:>12.0}{:>12.1}{:>10.0}ms{:>10.2}{:>10.2}{:>12.0}{:>12.1}{:>10.0}ms{:>10.2}",
            bare * 1e3,
            plain * 1e3,
            plain / bare,
            speed(plain),
            peak("read"),
            judged * 1e3,
            judged / plain,
            judged / bare,
            speed(judged),
            peak("check"),
            seen * 1e3,
            seen / judged,
        );
    }
}

const PROGRAMS: &str = "\
as programs               read       check     to read   peak, MiB      redact     to read   peak, MiB";

/// `check`, and `redact` with what is commonly secret, beside `read`, each from the start of a process to its end.
fn programs(folder: &Path) {
    println!("\n{PROGRAMS}");
    for (name, _) in Spelling::ALL {
        let path = folder.join(name).display().to_string();
        if !Path::new(&path).exists() {
            continue;
        }
        let verbs: [&[&str]; 3] =
            [&["read", &path], &["check", &path], &["redact", &path, "--preset", "common"]];
        let [read, check, redact] = verbs.map(|verb| move || support::ran(verb));
        let [plain, judged, redacted] = in_turns(rounds(), [&mut { read }, &mut { check }, &mut { redact }]);
        print!("{name:<18}{:>10.0}ms", plain * 1e3);
        for (time, verb) in [(judged, verbs[1]), (redacted, verbs[2])] {
            print!("{:>10.0}ms{:>12.2}{:>12.1}", time * 1e3, time / plain, support::peak_of_program(verb));
        }
        println!();
    }
}

/// How long a process takes that judges one small recording, beside one that prints its version, and one that makes the page of
/// 10,000 messages.
fn starting(folder: &Path) {
    let path = generated(folder, "small", Spelling::McpReplay, 2048).display().to_string();
    let start = |arguments: &[&str]| {
        let [time] = in_turns(4 * rounds(), [&mut || support::ran(arguments)]);
        time * 1e3
    };
    let (nothing, check) = (start(&["--version"]), start(&["check", &path]));
    println!("\nfrom start to end: --version {nothing:.1} ms, check of a small recording {check:.1} ms");
    // The first line is of the recording, and each other one is a message.
    let text = std::fs::read_to_string(generated(folder, "long", Spelling::McpReplay, 16 << 20)).unwrap();
    let lines: Vec<&str> = text.lines().take(10_001).collect();
    assert_eq!(lines.len(), 10_001, "the recording is too short");
    std::fs::write(folder.join("long"), lines.join("\n") + "\n").unwrap();
    let page = start(&["show", "--output", "html", &folder.join("long").display().to_string()]);
    println!("from start to end: the page of 10,000 messages {page:.0} ms");
}

/// `diff` of two files that differ in every thousandth event, beside `read` of both.
fn comparing(folder: &Path, megabytes: u64) {
    let left = generated(folder, "jsonrpc", Spelling::Jsonrpc, megabytes << 20);
    let right = folder.join("differs");
    let text = std::fs::read_to_string(&left).unwrap();
    let mut out = BufWriter::new(std::fs::File::create(&right).unwrap());
    for (number, line) in text.lines().enumerate() {
        let other = line.replacen("\"arguments\":{", "\"arguments\":{\"differs\":1,", 1);
        let other = other.replacen("\"result\":{", "\"result\":{\"differs\":1,", 1);
        writeln!(out, "{}", if number % 1000 == 999 { &other } else { line }).unwrap();
    }
    out.flush().unwrap();
    let [plain, compared] = in_turns(
        rounds(),
        [
            &mut || {
                let file = |path| std::fs::File::open(path).unwrap();
                [&left, &right].map(|path| read("jsonrpc", &mut file(path))).iter().sum()
            },
            &mut || {
                let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
                let out = program.arg("diff").args([&left, &right]).output().unwrap();
                assert_eq!(out.status.code(), Some(1), "they differ");
                out.stdout.len() as u64
            },
        ],
    );
    println!(
        "\ndiff of two files that differ in every thousandth event: {:.0}ms, {:.2} times read of both",
        compared * 1e3,
        compared / plain
    );
    let other = generated(folder, "mcp-replay", Spelling::McpReplay, megabytes << 20);
    let [left, other] = [left, other].map(|path| path.display().to_string());
    println!(
        "diff of the jsonrpc and the mcp-replay file: peak {:.1} MiB",
        support::peak_of_program(&["diff", &left, &other])
    );
}

/// `check` of traces that fill its tables: in proportion to their size, in bounded memory, with the limit reported.
fn overwhelmed(folder: &Path, megabytes: u64) {
    println!("\n{:<18}{:>12}{:>14}{:>12}  limit", "hostile", "check", "check, MB/s", "peak, MiB");
    for (name, shape) in hostile::Shape::ALL {
        let path = folder.join(name);
        hostile::write(shape, megabytes << 20, &mut BufWriter::new(std::fs::File::create(&path).unwrap()))
            .unwrap();
        let size = std::fs::metadata(&path).unwrap().len();
        let mut limit = None;
        let time = timed(|| {
            let judged = judged("mcp-replay", &mut std::fs::File::open(&path).unwrap());
            limit = judged.limit;
            judged.messages
        })
        .as_secs_f64();
        println!(
            "{name:<18}{:>10.0}ms{:>14.0}{:>12.1}  {}",
            time * 1e3,
            size as f64 / 1e6 / time,
            support::peak_of_child(&["check", "mcp-replay", &path.display().to_string()]),
            limit.unwrap_or("none"),
        );
        std::fs::remove_file(&path).unwrap();
    }
}

fn generated(folder: &Path, name: &str, spelling: Spelling, bytes: u64) -> PathBuf {
    let path = folder.join(name);
    let mut out = BufWriter::new(std::fs::File::create(&path).unwrap());
    bulk::write(spelling, bytes, &mut out).unwrap();
    path
}

fn read(format: &str, reader: &mut dyn std::io::Read) -> u64 {
    let format = formats::find(format).unwrap();
    walk(format, &mut Input::new(reader).unwrap(), ReadOptions::default(), &mut |_| Ok(())).unwrap().events
}

fn check(format: &str, reader: &mut dyn std::io::Read) -> u64 {
    let judged = judged(format, reader);
    judged.messages + judged.outcomes.iter().map(|outcome| outcome.held).sum::<u64>()
}

fn overview(format: &str, reader: &mut dyn std::io::Read) -> u64 {
    let format = formats::find(format).unwrap();
    let mut seen = reports::overview::Collector::new(format);
    let mut input = Input::new(reader).unwrap();
    let options = CheckOptions::default();
    let judged = rules::check_beside(format, &mut input, &options, &mut |entry| seen.take(entry)).unwrap();
    let seen = reports::overview::Overview::new("bulk", format, seen, &judged);
    reports::overview::json(&[seen]).unwrap().len() as u64
}

fn judged(format: &str, reader: &mut dyn std::io::Read) -> CheckResult {
    let format = formats::find(format).unwrap();
    rules::check(format, &mut Input::new(reader).unwrap(), &CheckOptions::default()).unwrap()
}

/// Objects of which these members are borrowed as they are spelled, and thrown away.
macro_rules! borrowed {
    ($($name:ident: $($member:ident)+;)+) => {$(
        #[derive(Deserialize)]
        struct $name<'a> {
            $(#[serde(borrow)] $member: Option<&'a RawValue>,)+
        }

        impl $name<'_> {
            fn size(&self) -> u64 {
                [$(self.$member),+].into_iter().flatten().map(|value| value.get().len() as u64).sum()
            }
        }
    )+};
}

borrowed! {
    Message: id method params result;
    Line: t raw;
    Slot: request response;
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    entries: Vec<Slot<'a>>,
}

fn bare_pass(spelling: Spelling, bytes: &[u8]) -> u64 {
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    match spelling {
        Spelling::Jsonrpc => {
            lines.map(|line| serde_json::from_slice::<Message<'_>>(line).unwrap().size()).sum()
        }
        Spelling::McpReplay => {
            lines.map(|line| serde_json::from_slice::<Line<'_>>(line).unwrap().size()).sum()
        }
        Spelling::StreamableHttp => {
            serde_json::from_slice::<Envelope<'_>>(bytes).unwrap().entries.iter().map(Slot::size).sum()
        }
    }
}

fn child(task: &[String]) {
    match task {
        [verb, format, path] if verb == "read" => {
            read(format, &mut std::fs::File::open(path).unwrap());
        }
        [verb, format, path] if verb == "check" => {
            check(format, &mut std::fs::File::open(path).unwrap());
        }
        _ => {}
    }
    println!("{}", support::status());
}
