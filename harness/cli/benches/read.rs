//! How fast a long transcript is read, and in how much memory: `cargo bench --bench read`.
//!
//! In one run, over the same bytes: a bare pass of serde_json that borrows each member as a `RawValue` and throws it
//! away, and this project's `read` to a meaning that is counted and thrown away. Then the peak memory of a process
//! that does nothing but read the file, compare two, or judge it. `check` is timed beside `read` and the bare pass, by every
//! rule, and from the start of a process to its end on one small recording; the overview of `summary` beside `check`; `check` and
//! `redact` beside `read`, as programs; `diff` beside `read` of both files, which differ in every thousandth event; and
//! `show --output html` of 10,000 messages from start to end.
//! At last `check` alone, over traces that are made to fill its tables: how fast, in how much memory, and which limit it
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
use std::hint::black_box;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[path = "read/bulk.rs"]
mod bulk;
#[path = "read/hostile.rs"]
mod hostile;
#[path = "support/peak.rs"]
mod peak;

fn rounds() -> usize {
    std::env::var("CONCORD_BENCH_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(5)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "child") {
        return child(&arguments[at + 1..]);
    }
    let megabytes: u64 =
        std::env::var("CONCORD_BENCH_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(100);
    let folder = tempfile::tempdir().unwrap();
    println!("{megabytes} MB of tool calls; median of {}\n", rounds());
    if std::env::var("CONCORD_BENCH_ONLY").is_ok_and(|only| only == "check") {
        generated(folder.path(), "mcp-replay", Spelling::McpReplay, megabytes << 20, false);
        judging(folder.path());
        programs(folder.path());
        return overwhelmed(folder.path(), megabytes);
    }
    if std::env::var("CONCORD_BENCH_ONLY").is_ok_and(|only| only == "diff") {
        return comparing(folder.path(), megabytes);
    }
    println!(
        "{:<18}{:>12}{:>12}{:>8}{:>14}{:>12}",
        "format", "serde_json", "read", "ratio", "read, MB/s", "peak, MiB"
    );
    for (name, spelling) in Spelling::ALL {
        if formats::find(name).is_none() {
            continue;
        }
        let path = generated(folder.path(), name, spelling, megabytes << 20, false);
        let bytes = std::fs::read(&path).unwrap();
        let (mut bare, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..rounds() {
            bare.push(timed(|| bare_pass(spelling, &bytes)));
            ours.push(timed(|| read(name, &mut &bytes[..])));
        }
        let (bare, ours) = (median(bare), median(ours));
        println!(
            "{name:<18}{:>10.0}ms{:>10.0}ms{:>8.2}{:>14.0}{:>12.1}",
            bare.as_secs_f64() * 1e3,
            ours.as_secs_f64() * 1e3,
            ours.as_secs_f64() / bare.as_secs_f64(),
            bytes.len() as f64 / 1e6 / ours.as_secs_f64(),
            peak::of_child(&["read", name, &path.display().to_string()]),
        );
    }
    judging(folder.path());
    programs(folder.path());
    overwhelmed(folder.path(), megabytes);
    comparing(folder.path(), megabytes);
    let left = generated(folder.path(), "jsonrpc", Spelling::Jsonrpc, megabytes << 20, false);
    let right = generated(folder.path(), "twisted", Spelling::McpReplay, megabytes << 20, true);
    let (left, right) = (left.display().to_string(), right.display().to_string());
    println!(
        "\ndiff of the jsonrpc and the mcp-replay file: peak {:.1} MiB",
        peak::of_program(&["diff", &left, &right])
    );
}

/// `check` beside `read` and a bare pass, over the files that are there.
fn judging(folder: &Path) {
    println!(
        "\n{:<18}{:>12}{:>12}{:>12}{:>12}{:>12}{:>14}{:>12}{:>12}{:>12}",
        "format",
        "serde_json",
        "read",
        "check",
        "to read",
        "to bare",
        "check, MB/s",
        "peak, MiB",
        "overview",
        "to check"
    );
    for (name, spelling) in Spelling::ALL {
        let path = folder.join(name);
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let mut times: [Vec<Duration>; 4] = std::array::from_fn(|_| Vec::new());
        for _ in 0..rounds() {
            times[0].push(timed(|| bare_pass(spelling, &bytes)));
            times[1].push(timed(|| read(name, &mut &bytes[..])));
            times[2].push(timed(|| check(name, &mut &bytes[..])));
            times[3].push(timed(|| overview(name, &mut &bytes[..])));
        }
        let [bare, plain, judged, seen] = times.map(median);
        println!(
            "{name:<18}{:>10.0}ms{:>10.0}ms{:>10.0}ms{:>12.2}{:>12.2}{:>14.0}{:>12.1}{:>10.0}ms{:>12.2}",
            bare.as_secs_f64() * 1e3,
            plain.as_secs_f64() * 1e3,
            judged.as_secs_f64() * 1e3,
            judged.as_secs_f64() / plain.as_secs_f64(),
            judged.as_secs_f64() / bare.as_secs_f64(),
            bytes.len() as f64 / 1e6 / judged.as_secs_f64(),
            peak::of_child(&["check", name, &path.display().to_string()]),
            seen.as_secs_f64() * 1e3,
            seen.as_secs_f64() / judged.as_secs_f64(),
        );
    }
    starting(folder);
}

/// `check`, and `redact` with what is commonly secret, beside `read`, each from the start of a process to its end.
fn programs(folder: &Path) {
    println!(
        "\n{:<18}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}",
        "as programs", "read", "check", "to read", "peak, MiB", "redact", "to read", "peak, MiB"
    );
    for (name, _) in Spelling::ALL {
        let path = folder.join(name).display().to_string();
        if !Path::new(&path).exists() {
            continue;
        }
        let verbs: [&[&str]; 3] =
            [&["read", &path], &["check", &path], &["redact", &path, "--preset", "common"]];
        let run = |arguments: &[&str]| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
            let program = program.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
            timed(|| u64::from(program.status().unwrap().success()))
        };
        let mut times: [Vec<Duration>; 3] = std::array::from_fn(|_| Vec::new());
        for _ in 0..rounds() {
            times.iter_mut().zip(verbs).for_each(|(times, verb)| times.push(run(verb)));
        }
        let [plain, judged, redacted] = times.map(|times| median(times).as_secs_f64());
        print!("{name:<18}{:>10.0}ms", plain * 1e3);
        for (time, verb) in [(judged, verbs[1]), (redacted, verbs[2])] {
            print!("{:>10.0}ms{:>12.2}{:>12.1}", time * 1e3, time / plain, peak::of_program(verb));
        }
        println!();
    }
}

/// How long a process takes that judges one small recording, beside one that prints its version, and one that makes the page of
/// 10,000 messages.
fn starting(folder: &Path) {
    let path = generated(folder, "small", Spelling::McpReplay, 2048, false).display().to_string();
    let start = |arguments: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
        let program = program.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        let times = (0..4 * rounds()).map(|_| timed(|| u64::from(program.status().unwrap().success())));
        median(times.collect()).as_secs_f64() * 1e3
    };
    let (nothing, check) = (start(&["--version"]), start(&["check", &path]));
    println!("\nfrom start to end: --version {nothing:.1} ms, check of a small recording {check:.1} ms");
    // The first line is of the recording, and each other one is a message.
    let text =
        std::fs::read_to_string(generated(folder, "long", Spelling::McpReplay, 16 << 20, false)).unwrap();
    let lines: Vec<&str> = text.lines().take(10_001).collect();
    assert_eq!(lines.len(), 10_001, "the recording is too short");
    std::fs::write(folder.join("long"), lines.join("\n") + "\n").unwrap();
    let page = start(&["show", "--output", "html", &folder.join("long").display().to_string()]);
    println!("from start to end: the page of 10,000 messages {page:.0} ms");
}

/// `diff` of two files that differ in every thousandth event, beside `read` of both.
fn comparing(folder: &Path, megabytes: u64) {
    let left = generated(folder, "jsonrpc", Spelling::Jsonrpc, megabytes << 20, false);
    let right = folder.join("differs");
    let text = std::fs::read_to_string(&left).unwrap();
    let mut out = BufWriter::new(std::fs::File::create(&right).unwrap());
    for (number, line) in text.lines().enumerate() {
        let other = line.replacen("\"arguments\":{", "\"arguments\":{\"differs\":1,", 1);
        let other = other.replacen("\"result\":{", "\"result\":{\"differs\":1,", 1);
        writeln!(out, "{}", if number % 1000 == 999 { &other } else { line }).unwrap();
    }
    out.flush().unwrap();
    let (mut plain, mut compared) = (Vec::new(), Vec::new());
    for _ in 0..rounds() {
        plain.push(timed(|| {
            [&left, &right].map(|path| read("jsonrpc", &mut std::fs::File::open(path).unwrap())).iter().sum()
        }));
        compared.push(timed(|| {
            let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
            let out = program.arg("diff").args([&left, &right]).output().unwrap();
            assert_eq!(out.status.code(), Some(1), "they differ");
            out.stdout.len() as u64
        }));
    }
    let (plain, compared) = (median(plain), median(compared));
    println!(
        "\ndiff of two files that differ in every thousandth event: {:.0}ms, {:.2} times read of both",
        compared.as_secs_f64() * 1e3,
        compared.as_secs_f64() / plain.as_secs_f64()
    );
}

/// `check` of traces that fill its tables: in proportion to their size, in bounded memory, and the limit is told.
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
        });
        println!(
            "{name:<18}{:>10.0}ms{:>14.0}{:>12.1}  {}",
            time.as_secs_f64() * 1e3,
            size as f64 / 1e6 / time.as_secs_f64(),
            peak::of_child(&["check", "mcp-replay", &path.display().to_string()]),
            limit.unwrap_or("none"),
        );
        std::fs::remove_file(&path).unwrap();
    }
}

fn generated(folder: &Path, name: &str, spelling: Spelling, bytes: u64, twist: bool) -> PathBuf {
    let path = folder.join(name);
    let mut out = BufWriter::new(std::fs::File::create(&path).unwrap());
    bulk::write(spelling, bytes, twist, &mut out).unwrap();
    path
}

fn timed(run: impl FnOnce() -> u64) -> Duration {
    let start = Instant::now();
    black_box(run());
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
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

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    t: Option<&'a RawValue>,
    #[serde(borrow)]
    raw: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    entries: Vec<Slot<'a>>,
}

#[derive(Deserialize)]
struct Slot<'a> {
    #[serde(borrow)]
    request: Option<&'a RawValue>,
    #[serde(borrow)]
    response: Option<&'a RawValue>,
}

fn bare_pass(spelling: Spelling, bytes: &[u8]) -> u64 {
    let lines = || bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let some = |values: &[Option<&RawValue>]| {
        values.iter().flatten().map(|value| value.get().len() as u64).sum::<u64>()
    };
    match spelling {
        Spelling::Jsonrpc => lines()
            .map(|line| serde_json::from_slice::<Message<'_>>(line).unwrap())
            .map(|message| some(&[message.id, message.method, message.params, message.result]))
            .sum(),
        Spelling::McpReplay => lines()
            .map(|line| serde_json::from_slice::<Line<'_>>(line).unwrap())
            .map(|line| some(&[line.t, line.raw]))
            .sum(),
        Spelling::StreamableHttp => {
            let envelope: Envelope<'_> = serde_json::from_slice(bytes).unwrap();
            envelope.entries.iter().map(|slot| some(&[slot.request, slot.response])).sum()
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
    println!("{}", std::fs::read_to_string("/proc/self/status").unwrap());
}
