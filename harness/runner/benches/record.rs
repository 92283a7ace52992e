//! What a recorder in between costs: `cargo bench --bench record`.
//!
//! In one run, the same traffic with and without `mcp-concord record`: the time of a round trip, the throughput at 1 KiB
//! and at 1 MiB a message, and the recorder's peak memory. The server is this program: it parses each line as JSON and
//! gives it back. `CONCORD_BENCH_MB` sets how much goes through for the memory (1000).

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot be made has nothing to say"
)]

use std::fs;
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const ROUND_TRIPS: usize = 5000;
const ROUNDS: usize = 3;

fn main() {
    if std::env::args().any(|argument| argument == "serve") {
        return serve();
    }
    let megabytes: usize =
        std::env::var("CONCORD_BENCH_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("trace.jsonl");
    let (direct, recorded) = (round_trip(None), round_trip(Some(&out)));
    let added = recorded.saturating_sub(direct);
    println!(
        "round trip, median of {ROUND_TRIPS}: direct {direct:?}, recorded {recorded:?}; added {added:?}, two messages"
    );
    for (name, size) in [("1 KiB", 1 << 10), ("1 MiB", 1 << 20)] {
        let best = |out: Option<&Path>| {
            (0..ROUNDS).map(|_| through(out, size, 100 << 20).0).max_by(f64::total_cmp).unwrap()
        };
        let (direct, recorded) = (best(None), best(Some(&out)));
        println!(
            "{name} a message, best of {ROUNDS}: direct {direct:.0} MB/s each way, recorded {recorded:.0}; ratio {:.2}",
            recorded / direct
        );
    }
    for (name, size) in [("1 KiB", 1 << 10), ("1 MiB", 1 << 20)] {
        let (_, peak) = through(Some(&out), size, megabytes << 20);
        println!("{megabytes} MB each way at {name} a message: peak {:.1} MiB", peak as f64 / 1024.0);
    }
}

fn serve() {
    let (mut input, mut out) = (BufReader::with_capacity(64 << 10, io::stdin().lock()), io::stdout().lock());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).unwrap() > 0 {
        let _: serde_json::Value = serde_json::from_slice(&line).unwrap();
        out.write_all(&line).unwrap();
        out.flush().unwrap();
        line.clear();
    }
}

fn start(out: Option<&Path>) -> Child {
    let me = std::env::current_exe().unwrap();
    let mut command = match out {
        None => Command::new(&me),
        Some(out) => {
            let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
            command.args(["record", "--force", "-o"]).arg(out).arg("--").arg(&me);
            command
        }
    };
    command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

fn message(size: usize) -> Vec<u8> {
    let head = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":""#;
    format!("{head}{}\"}}}}\n", "x".repeat(size.saturating_sub(head.len() + 4))).into_bytes()
}

fn round_trip(out: Option<&Path>) -> Duration {
    let mut child = start(out);
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let (message, mut line) = (message(256), Vec::new());
    let mut times = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        line.clear();
        let since = Instant::now();
        stdin.write_all(&message).unwrap();
        stdout.read_until(b'\n', &mut line).unwrap();
        times.push(since.elapsed());
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
    times.sort_unstable();
    times[times.len() / 2]
}

/// Megabytes a second each way, and the peak of the first process in KiB.
fn through(out: Option<&Path>, size: usize, total: usize) -> (f64, u64) {
    let mut child = start(out);
    let message = message(size);
    let count = total / message.len();
    let since = Instant::now();
    let mut stdin = BufWriter::with_capacity(64 << 10, child.stdin.take().unwrap());
    let said = message.clone();
    let saying = thread::spawn(move || (0..count).for_each(|_| stdin.write_all(&said).unwrap()));
    let mut stdout = BufReader::with_capacity(64 << 10, child.stdout.take().unwrap());
    let (mut line, mut heard, mut peak) = (Vec::new(), 0, 0);
    while stdout.read_until(b'\n', &mut line).unwrap() > 0 {
        assert!(line == message);
        line.clear();
        heard += 1;
        if heard == count || heard % 256 == 0 {
            peak = peak.max(resident(&child));
        }
    }
    let took = since.elapsed();
    saying.join().unwrap();
    assert_eq!(heard, count);
    if !child.wait().unwrap().success() {
        println!("  (the disk could not keep up: that recording is incomplete, and says so)");
    }
    ((count * message.len()) as f64 / 1e6 / took.as_secs_f64(), peak)
}

fn resident(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next()?.parse().ok());
    peak.unwrap_or(0)
}
