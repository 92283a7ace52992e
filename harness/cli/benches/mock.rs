//! How long a client waits for an answer of `play --match request` over stdio: `cargo bench --bench mock`.
//!
//! A recording with `CONCORD_BENCH_REQUESTS` (10,000) requests, each asked once, the last one first, one behind the
//! other. Beside it the same number of lines through `cat`: what two pipes cost by themselves.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot be made has nothing to say"
)]

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "other measurements need more of it")]
mod support;

fn main() {
    let count: usize = support::setting("CONCORD_BENCH_REQUESTS", 10_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recording.jsonl");
    let mut text = String::new();
    for id in 0..count {
        let _ = writeln!(
            text,
            r#"{{"ts": {id}.000, "dir": "client->server", "msg": {}}}"#,
            request(&id.to_string(), id)
        );
        let _ = writeln!(
            text,
            r#"{{"ts": {id}.500, "dir": "server->client", "msg": {{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{id}"}}]}}}}}}"#
        );
    }
    std::fs::write(&path, text).unwrap();
    println!("{count} requests, in the opposite order\n");
    let mut mock = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
    mock.args(["-q", "play", "--as", "server", "--match", "request"]).arg(&path);
    measured("play", &mut mock, count);
    measured("cat", &mut Command::new("cat"), count);
}

fn request(id: &str, number: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"tool-{}","arguments":{{"number":{number},"text":"{}"}}}}}}"#,
        number % 50,
        "x".repeat(200)
    )
}

/// Asks everything, and prints how long the answers took.
fn measured(name: &str, command: &mut Command, count: usize) {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let start = Instant::now();
    let (mut times, mut answer) = (Vec::with_capacity(count), String::new());
    for number in (0..count).rev() {
        let id = format!("\"q{number}\"");
        let line = request(&id, number) + "\n";
        let asked = Instant::now();
        to.write_all(line.as_bytes()).unwrap();
        answer.clear();
        from.read_line(&mut answer).unwrap();
        times.push(asked.elapsed());
        assert!(answer.contains(&id) && !answer.contains("\"error\""), "{answer}");
    }
    drop(to);
    assert!(child.wait().unwrap().success());
    // Until the first answer the recording is read.
    let first = times[0];
    times.sort_unstable();
    let at = |percent: usize| micros(times[(times.len() - 1) * percent / 100]);
    println!(
        "{name:<5} first {:>9} µs   median {:>6} µs   p95 {:>6} µs   p99 {:>6} µs   all {:.2} s",
        micros(first),
        at(50),
        at(95),
        at(99),
        start.elapsed().as_secs_f64()
    );
}

fn micros(time: Duration) -> u128 {
    time.as_micros()
}
