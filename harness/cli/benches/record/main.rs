//! What a recorder in between costs: `cargo bench --bench record`.
//!
//! In one run, the same traffic with and without a recorder: the time that it adds to a round trip, the share of the direct
//! throughput that is left at 1 KiB and at 1 MiB a message, and the recorder's peak memory. Each figure is the median of
//! rounds in which direct and recorded traffic take turns.
//!
//! Two servers answer. One is this program: it parses each request and gives it back, which is the least that a server can
//! do, so that the recorder's share is the largest. The other is `server-everything` on the TypeScript SDK, where
//! `scripts/peers.sh` has installed it. Beside `mcp-concord record` stand mcp-rec, mitmproxy and mcp-recorder, where
//! their scripts in `adapters` have installed them. `CONCORD_BENCH_MB` sets how much goes through for the memory (1000), and
//! `CONCORD_BENCH_ONLY` names the rows that are wanted by a part of their text.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot be made has nothing to say"
)]

mod http;
mod recorders;
mod stdio;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "other measurements need more of it")]
mod support;

use recorders::{HTTP, Recorder, STDIO};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

const ROUNDS: usize = 5;

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Server {
    /// This program, which gives back what it is asked.
    Echo,
    /// `server-everything`, on the TypeScript SDK.
    Everything,
}

/// How much is sent in one measurement.
#[derive(Debug, Clone, Copy)]
struct Load {
    /// The size of a message in bytes.
    size: usize,
    /// How many of them.
    count: usize,
}

/// What one measurement came to.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// From the first request to the last answer.
    took: Duration,
    /// Of the recorder, in MiB.
    peak: f64,
}

/// Traffic of one transport: with this recorder, or directly.
trait Traffic {
    /// The median time of a round trip.
    fn round_trip(&self, server: Server, between: Option<&Recorder>, count: usize) -> Duration;
    /// As much at once as the peers take; none where it stopped for good.
    fn through(&self, server: Server, between: Option<&Recorder>, load: Load) -> Option<Run>;
}

const HEAD: &str = "\
transport        server      recorder             round trip      added at 1 KiB   ratio at 1 MiB   ratio      peak";

fn main() {
    match env::args().nth(1).as_deref() {
        Some("serve") => return stdio::serve(),
        Some("serve-http") => return http::serve(),
        _ => {}
    }
    let wanted = env::var("CONCORD_BENCH_ONLY").unwrap_or_default();
    let megabytes = support::setting("CONCORD_BENCH_MB", 1000);
    println!("{HEAD}");
    let folder = tempfile::tempdir().unwrap();
    let transports: [(&str, &dyn Traffic, &[Recorder]); 2] = [
        ("stdio", &stdio::Pipes { folder: folder.path() }, STDIO),
        ("streamable-http", &http::Posts { folder: folder.path() }, HTTP),
    ];
    for (name, traffic, recorders) in transports {
        for server in [Server::Echo, Server::Everything] {
            for recorder in recorders {
                let row = format!("{name:<16} {:<11} {:<20}", server.name(), recorder.name);
                if !row.contains(&wanted) {
                    continue;
                }
                match (server.is_there(), recorder.is_there()) {
                    (true, true) => println!("{row} {}", cells(traffic, server, recorder)),
                    (false, _) => println!("{row} the server is not installed: run scripts/peers.sh"),
                    (_, false) => println!("{row} it is not installed: run {}", recorder.installed_by),
                }
            }
        }
    }
    for (name, traffic, recorders) in transports {
        for (title, size) in [("1 KiB", 1 << 10), ("1 MiB", 1 << 20)] {
            let row = format!("{name}: {megabytes} MB each way at {title} a message");
            if row.contains(&wanted) {
                let load = Load { size, count: megabytes * 1_000_000 / size };
                let run = traffic.through(Server::Echo, Some(&recorders[0]), load).unwrap();
                println!("{row}: peak {:.1} MiB", run.peak);
            }
        }
    }
}

/// The figures of one row.
fn cells(traffic: &dyn Traffic, server: Server, recorder: &Recorder) -> String {
    // A recorder in Python takes its time, and so does a server on Node.
    let quick = server == Server::Echo && recorder.is_own();
    let trips = if quick { 3000 } else { 300 };
    let mut times: Vec<[Duration; 2]> = (0..ROUNDS)
        .map(|_| [None, Some(recorder)].map(|between| traffic.round_trip(server, between, trips)))
        .collect();
    times.sort_by_key(|[direct, recorded]| recorded.saturating_sub(*direct));
    let [direct, recorded] = times[ROUNDS / 2];
    let mut out = format!(
        "{:>7} µs {:>7} µs",
        recorded.as_micros(),
        recorded.as_micros() as i128 - direct.as_micros() as i128
    );
    let mut peak = 0.0_f64;
    for load in [
        Load { size: 1 << 10, count: if quick { 100_000 } else { 3_000 } },
        Load { size: 1 << 20, count: if quick { 150 } else { 30 } },
    ] {
        let run = || {
            let direct = traffic.through(server, None, load).unwrap();
            Some([direct, traffic.through(server, Some(recorder), load)?])
        };
        let runs: Option<Vec<[Run; 2]>> = (0..ROUNDS).map(|_| run()).collect();
        let Some(mut runs) = runs else {
            out += &format!(" {:>8} {:>7}", "stops", "-");
            continue;
        };
        let ratio = |[direct, recorded]: &[Run; 2]| direct.took.as_secs_f64() / recorded.took.as_secs_f64();
        runs.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let middle = runs[ROUNDS / 2];
        peak = runs.iter().map(|run| run[1].peak).fold(peak, f64::max);
        let bytes = (load.size * load.count) as f64;
        out += &format!(" {:>5.0} MB {:>7.2}", bytes / 1e6 / middle[1].took.as_secs_f64(), ratio(&middle));
    }
    if peak == 0.0 { format!("{out} {:>9}", "-") } else { format!("{out} {peak:>5.1} MiB") }
}

impl Server {
    fn name(self) -> &'static str {
        match self {
            Self::Echo => "echo",
            Self::Everything => "everything",
        }
    }

    fn is_there(self) -> bool {
        self == Self::Echo || everything().is_file()
    }
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where `scripts/peers.sh` puts the server.
fn everything() -> PathBuf {
    root().join("target/peers/node_modules/@modelcontextprotocol/server-everything/dist/index.js")
}

fn initialize() -> String {
    let client =
        r#"{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}"#;
    format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{client}}}"#)
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A call of about `size` bytes, whose answer is as long.
fn call(size: usize) -> String {
    let head =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"message":""#;
    format!("{head}{}\"}}}}}}", "x".repeat(size.saturating_sub(head.len() + 4)))
}

/// The median time of a number of round trips.
fn median(count: usize, mut round_trip: impl FnMut()) -> Duration {
    support::median((0..count).map(|_| support::timed(&mut round_trip)).collect())
}

/// The most memory that a process has had, in MiB, while it lives.
fn resident(child: &Child) -> f64 {
    support::peak_so_far(child.id()).unwrap_or(0.0)
}
