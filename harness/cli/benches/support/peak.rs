//! The peak memory of programs, in MiB.

use std::process::{Command, Stdio};
use std::time::Duration;

/// That of this program as a child that does one thing, which prints its own status at the end.
pub(crate) fn of_child(task: &[&str]) -> f64 {
    let out = Command::new(std::env::current_exe().unwrap()).arg("child").args(task).output().unwrap();
    high_water(&String::from_utf8(out.stdout).unwrap()).unwrap_or(f64::NAN)
}

/// That of `mcp-concord` with these arguments, looked at until it ends.
pub(crate) fn of_program(arguments: &[&str]) -> f64 {
    let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
    let mut child = program.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = f64::NAN;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        peak = high_water(&status).unwrap_or(peak);
        std::thread::sleep(Duration::from_millis(1));
    }
    peak
}

/// The peak in the text of a process's `status`.
fn high_water(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok()? / 1024.0)
}
