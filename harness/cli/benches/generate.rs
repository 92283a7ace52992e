//! How fast variants are made and judged, and how fast the `equivalence` target runs: `cargo bench --bench generate`.
//!
//! In one run, over the same bytes: variants made from a seed and judged in this process, on as many threads as there
//! are processors; only the built-in reader over what was made; and a bare pass of serde_json that throws away what it
//! reads. Then the body of the `equivalence` target over small sessions on one thread, and the peak memory of a process
//! that does nothing but make and judge. `CONCORD_BENCH_VARIANTS` sets how many (20,000).

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement that cannot be made has nothing to say"
)]

use formats::{Format, ReadOptions};
use generators::fuzzing::equivalence;
use generators::rng::Rng;
use generators::seeded::{Source, variant};
use mcp_concord_suite::builtin::Builtin;
use mcp_concord_suite::importer::Importer as _;
use serde::de::IgnoredAny;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;
use verdict::answer::Level;
use verdict::verdict::{Question, judge};

#[path = "support/mod.rs"]
#[expect(dead_code, reason = "other measurements need more of it")]
mod support;

const SEED: u64 = 20_261_122;

/// How many bytes the `equivalence` target is given: a session of a few messages.
const SMALL: usize = 100;

fn main() {
    let count: u64 = support::setting("CONCORD_BENCH_VARIANTS", 20_000);
    if support::child_task().is_some() {
        made_and_judged(count, threads());
        return println!("{}", support::status());
    }
    let threads = threads();
    let per_second = |count: u64, start: Instant| count as f64 / start.elapsed().as_secs_f64();
    println!("{count} variants of the seed {SEED}, {threads} threads\n");

    let start = Instant::now();
    let sessions = made_and_judged(count, threads);
    println!("made and judged      {:>10.0} sessions/s", per_second(sessions, start));
    println!("                     {:>10.0} variants/s", per_second(count, start));

    // Enough of them to measure, and no more than fit into memory.
    let files = files(count.min(20_000));
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let start = Instant::now();
    over(files.len() as u64, threads, |index| {
        let (format, bytes) = &files[usize::try_from(index).unwrap()];
        black_box(formats::meaning(format, &mut &bytes[..], ReadOptions::default()).is_ok());
        1
    });
    println!("read by itself       {:>10.0} sessions/s", per_second(files.len() as u64, start));
    let start = Instant::now();
    over(files.len() as u64, threads, |index| bare_pass(&files[usize::try_from(index).unwrap()]));
    println!("serde_json, bare     {:>10.0} sessions/s", per_second(files.len() as u64, start));
    println!("a session has        {:>10.0} bytes", bytes as f64 / files.len() as f64);

    let mut rng = Rng::new(SEED);
    let inputs: Vec<Vec<u8>> =
        (0..1000).map(|_| (0..SMALL).map(|_| rng.byte()).collect::<Vec<u8>>()).collect();
    let rounds = 20;
    let start = Instant::now();
    for _ in 0..rounds {
        inputs.iter().for_each(|bytes| equivalence(black_box(bytes)));
    }
    println!("\nequivalence          {:>10.0} executions/s on one thread", per_second(rounds * 1000, start));
    println!("peak memory          {:>10.1} MiB to make and judge", support::peak_of_child(&[]));
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Makes the variants and judges each in every format that carries it; how many sessions were judged.
fn made_and_judged(count: u64, threads: usize) -> u64 {
    over(count, threads, |index| {
        let variant = variant(SEED, index, Source::Made).unwrap();
        let mut sessions = 0;
        for (format, bytes) in &variant.files {
            let Ok(bytes) = bytes else { continue };
            let question = Question {
                level: Level::Events,
                challenge: format.carries.challenge,
                redacted: variant.redacted,
            };
            let judged =
                judge(&variant.expectation, &question, &Builtin::default().answer((*format).into(), bytes));
            assert!(!judged.verdict.is_failure(), "number {index} in {}", format.name);
            sessions += 1;
        }
        sessions
    })
}

fn files(count: u64) -> Vec<(&'static Format, Vec<u8>)> {
    let all = (0..count).filter_map(|index| variant(SEED, index, Source::Made)).flat_map(|made| made.files);
    all.filter_map(|(format, bytes)| Some((format, bytes.ok()?))).collect()
}

fn bare_pass((format, bytes): &(&'static Format, Vec<u8>)) -> u64 {
    let texts: Vec<&[u8]> = match format.is_lines() {
        true => bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).collect(),
        false => vec![bytes],
    };
    texts.iter().map(|text| u64::from(serde_json::from_slice::<IgnoredAny>(text).is_ok())).sum()
}

/// Does it for every index below `count`, on this many threads, and adds up.
fn over(count: u64, threads: usize, work: impl Fn(u64) -> u64 + Sync) -> u64 {
    let next = AtomicU64::new(0);
    let work = || {
        let mut sum = 0;
        loop {
            let from = next.fetch_add(64, Ordering::Relaxed);
            if from >= count {
                return sum;
            }
            sum += (from..(from + 64).min(count)).map(&work).sum::<u64>();
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}
