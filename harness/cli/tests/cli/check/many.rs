//! Many recordings: in order, in bounded memory, and none of them lost in silence.

use super::{Folder, right, wrong};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{fs, thread};

#[test]
fn what_cannot_be_searched_is_an_error_beside_what_was_judged() {
    let folder = Folder::with(&[("in/a/right.jsonl", &right())]);
    // A path that is longer than the system allows is not to be searched, whoever asks.
    let deep = vec!["b".repeat(250); 10].join("/");
    fs::create_dir_all(folder.path(&format!("in/{deep}"))).unwrap();
    fs::create_dir_all(folder.path(&format!("other/{deep}"))).unwrap();
    fs::rename(folder.path("other"), folder.path(&format!("in/{deep}/other"))).unwrap();
    folder.check(&["in"]).is(2).says("cannot be searched: ").shows("in/a/right.jsonl: mcp-replay");
}

#[test]
fn the_order_is_that_of_the_names_whatever_the_number_of_jobs() {
    let folder = Folder::new();
    for number in 0..60 {
        let text = if number % 7 == 3 { wrong() } else { right() };
        // Long ones are done later than what comes after them.
        let text = if number % 10 == 0 {
            text.replace("\"ping\"", &format!("\"{}\"", "p".repeat(1 << 20)))
        } else {
            text
        };
        folder.write(&format!("in/{number:03}.jsonl"), text.as_bytes());
    }
    folder.write("in/notes.md", b"# Notes");
    for output in ["text", "json", "ndjson", "sarif", "junit", "github"] {
        let print = |jobs: &str| folder.check(&["in", "gone", "--output", output, "--jobs", jobs]).is(2);
        let one = print("1");
        for jobs in ["2", "7"] {
            let many = print(jobs);
            assert_eq!(many.out, one.out, "{output}");
            assert_eq!(many.err, one.err, "{output}");
        }
    }
    folder.check(&["in", "--jobs", "0"]).is(2);
}

/// The peak of a run's resident memory in MiB, looked at until it ends.
#[cfg(target_os = "linux")]
fn peak(folder: &Folder, arguments: &[&str]) -> u64 {
    let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-concord"));
    let program = program.arg("check").args(arguments).current_dir(folder.path(""));
    let mut child = program.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak = line.map_or(peak, |line| line.parse::<u64>().unwrap() >> 10);
        thread::sleep(Duration::from_millis(1));
    }
    peak
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_number_of_files() {
    let folder = Folder::new();
    let text = wrong();
    for number in 0..400 {
        let place = if number < 20 { "few" } else { "more" };
        folder.write(&format!("in/{place}/{number}.jsonl"), text.as_bytes());
    }
    for output in ["text", "json", "ndjson", "sarif", "junit", "github"] {
        let peak = |path| peak(&folder, &[path, "-v", "--jobs", "2", "--output", output]);
        let (few, many) = (peak("in/few"), peak("in"));
        assert!(few > 0 && many < few + 16, "{output}: {few} MiB for 20 files and {many} MiB for 400");
    }
}
