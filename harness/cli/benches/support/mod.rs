//! What measurements share: their settings, rounds of them, and the peak memory of programs.

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// A setting of the environment.
pub(crate) fn setting<T: FromStr>(name: &str, usual: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// How long it takes once.
pub(crate) fn timed<T>(run: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    black_box(run());
    start.elapsed()
}

/// The median time of each subject over this many rounds, in which they take turns.
pub(crate) fn in_turns<const N: usize>(
    rounds: usize,
    mut subjects: [&mut dyn FnMut() -> u64; N],
) -> [f64; N] {
    let mut times: [Vec<Duration>; N] = std::array::from_fn(|_| Vec::new());
    for _ in 0..rounds {
        times.iter_mut().zip(&mut subjects).for_each(|(times, subject)| times.push(timed(subject)));
    }
    times.map(|times| median(times).as_secs_f64())
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The program with these words, which prints nothing; whether it succeeded.
pub(crate) fn ran(words: &[&str]) -> u64 {
    let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
    let status = program.args(words).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    u64::from(status.success())
}

/// What this program is to do where it is started as a child of itself, to be looked at.
pub(crate) fn child_task() -> Option<Vec<String>> {
    let words: Vec<String> = std::env::args().collect();
    words.iter().position(|word| word == "child").map(|at| words[at + 1..].to_vec())
}

/// What such a child prints at its end: its own status.
pub(crate) fn status() -> String {
    std::fs::read_to_string("/proc/self/status").unwrap()
}

/// The peak memory of this program as a child that does one thing, in MiB.
pub(crate) fn peak_of_child(task: &[&str]) -> f64 {
    let out = Command::new(std::env::current_exe().unwrap()).arg("child").args(task).output().unwrap();
    high_water(&String::from_utf8(out.stdout).unwrap()).unwrap_or(f64::NAN)
}

/// That of `mcp-concord` with these arguments, looked at until it ends.
pub(crate) fn peak_of_program(arguments: &[&str]) -> f64 {
    let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
    let mut child = program.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = f64::NAN;
    while child.try_wait().unwrap().is_none() {
        peak = peak_so_far(child.id()).unwrap_or(peak);
        std::thread::sleep(Duration::from_millis(1));
    }
    peak
}

/// That of a process while it lives.
pub(crate) fn peak_so_far(process: u32) -> Option<f64> {
    high_water(&std::fs::read_to_string(format!("/proc/{process}/status")).ok()?)
}

/// The peak in the text of a process's `status`.
fn high_water(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok()? / 1024.0)
}
