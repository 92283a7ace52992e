//! Recorders that are killed at a random moment, and recorders whose disk is full at every size.
//!
//! Whatever is left is read by this project's own readers up to what had passed, in its order and without a gap; and
//! what is missing is said. `scripts/kill.sh` runs the same with hundreds of tries and prints the table.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail as a test does")]
#![expect(clippy::print_stdout, reason = "the table is what scripts/kill.sh prints")]

mod http;
mod stdio;

use formats::{Format, Input, ReadOptions, Session, find, salvage, written};
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often a recorder is killed for each way and format.
fn tries(few: u64) -> u64 {
    std::env::var("MCP_CONCORD_KILLS").ok().and_then(|count| count.parse().ok()).unwrap_or(few)
}

/// A moment within a session, by a clock that no two tries share.
fn moment(longest: Duration) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    longest * (now.wrapping_mul(2_654_435_761) % 1000) / 1000
}

/// What is left of a session when its recorder is gone.
struct Left {
    /// How many calls were answered, as the client saw it.
    passed: usize,
    /// How many of them the recording has with their answers.
    found: usize,
    /// Whether the file had been cut.
    cut: bool,
}

/// Reads what is left, in whatever state it is, and compares it to what was said.
fn left(format: &Format, path: &Path, said: &[String], passed: usize) -> Left {
    let bytes = fs::read(path).unwrap_or_default();
    let Some(saved) = salvage(format, &bytes) else {
        assert!(bytes.len() < 200, "{}", String::from_utf8_lossy(&bytes));
        return Left { passed, found: 0, cut: !bytes.is_empty() };
    };
    let lines = messages(format, &saved.bytes);
    let calls: Vec<&String> = lines.iter().filter(|line| !line.contains("notifications/")).collect();
    for (call, expected) in calls.iter().zip(said) {
        assert!(*call == expected, "{}: {call:.200} instead of {expected:.200}", path.display());
    }
    assert!(calls.len() <= said.len());
    let notices = lines.iter().filter(|line| line.contains("notifications/"));
    for (number, notice) in notices.enumerate() {
        assert!(notice.contains(&format!("\"n\":{number}}}")), "{number}: {notice}");
    }
    Left { passed, found: calls.len() / 2, cut: saved.left_out > 0 }
}

/// The messages of a whole recording, as they were sent.
fn messages(format: &Format, bytes: &[u8]) -> Vec<String> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let mut slice = bytes;
    let mut input = Input::new(&mut slice).unwrap();
    let session = Session::read(format, &mut input, ReadOptions::LENIENT);
    let session = session.unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)));
    let mut out = Vec::new();
    find("jsonrpc").unwrap().write(&session, &mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// The call of this number and its answer.
fn call(number: usize) -> [String; 2] {
    let pad = "x".repeat([10, 4000, 50, 9000, 200][number % 5]);
    [
        format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"ping","params":{{"p":"{pad}"}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{}}}}"#),
    ]
}

/// One line of the table.
fn tell(name: &str, all: &[Left]) {
    let cut = all.iter().filter(|left| left.cut).count();
    let passed: usize = all.iter().map(|left| left.passed).sum();
    let behind = all.iter().map(|left| left.passed.saturating_sub(left.found)).max().unwrap_or_default();
    println!("| {name} | {} | {passed} | {cut} | {behind} |", all.len());
}

const HEAD: &str = "\
| killed | times | calls that had passed | files that were cut | calls missing at most |
| --- | ---: | ---: | ---: | ---: |";

/// Kills sessions of a kind, and tells what was left.
fn kills(kind: &str, live: &Format, few: u64, session: impl Fn(&Path, &Format) -> (usize, Vec<String>)) {
    println!("{HEAD}");
    for format in written() {
        let converted = format.name != live.name;
        let count = if converted { tries(few) / 8 } else { tries(few) }.max(1);
        let mut all = Vec::new();
        for _ in 0..count {
            let folder = tempfile::tempdir().unwrap();
            let out = folder.path().join("recording");
            let (passed, said) = session(&out, format);
            let waits = |entry: &fs::DirEntry| {
                let name = entry.file_name().into_string().unwrap();
                name.starts_with("recording.")
            };
            let waiting = fs::read_dir(&folder).unwrap().map(Result::unwrap).find(waits);
            all.push(match waiting.filter(|_| converted) {
                // It was not converted: the session is where it waited for that.
                Some(waiting) => left(live, &waiting.path(), &said, passed),
                None => left(format, &out, &said, passed),
            });
            if converted && out.exists() {
                // Whatever is there under the name that was asked for is whole.
                let lines = messages(format, &fs::read(&out).unwrap());
                let calls = lines.iter().filter(|line| !line.contains("notifications/")).count();
                assert!(calls >= 2 * passed, "{}: {calls} of {passed}", format.name);
            }
        }
        tell(&format!("{kind}, {}", format.name), &all);
    }
}

#[test]
fn killed_over_stdio() {
    kills("stdio", find("mcp-replay").unwrap(), 8, |out, format| {
        stdio::killed(out, format, moment(Duration::from_millis(500)))
    });
}

#[test]
fn killed_over_http() {
    kills("HTTP", find("har").unwrap(), 8, |out, format| {
        http::killed(out, format, moment(Duration::from_millis(900)))
    });
}

/// Runs a session on a disk of every size up to one that it fits, and tells how many calls were missing on the smallest.
fn full(kind: &str, live: &Format, session: impl Fn(&Path, usize) -> (usize, Vec<String>, String, i32)) {
    let (mut sizes, mut most) = (0, 0);
    for blocks in (0..).step_by(if tries(0) > 0 { 1 } else { 6 }) {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("recording");
        let (passed, said, words, code) = session(&out, blocks);
        let bytes = fs::read(&out).unwrap_or_default();
        // Nothing needs to be saved here: what could not be written is cut off.
        assert!(
            bytes.is_empty() || salvage(live, &bytes).is_some_and(|it| it.left_out == 0),
            "{blocks}: {words}"
        );
        let lines = messages(live, &bytes);
        assert!(lines.iter().all(|line| said.contains(line)), "{blocks}: {lines:?}");
        let missing = said.len() - lines.len();
        assert_eq!(code, i32::from(missing > 0), "{blocks}: {missing}: {words}");
        assert!(
            missing == 0 || words.contains("missing") || words.contains("could not be written"),
            "{words}"
        );
        assert_eq!(passed * 2, said.len(), "the session goes on");
        sizes += 1;
        most = most.max(missing);
        if missing == 0 {
            break;
        }
    }
    println!("| {kind}, {} | {sizes} | {most} |", live.name);
    assert!(sizes > 2 && most > 2);
}

#[test]
fn a_disk_that_is_full_at_every_size() {
    println!("| full | disks | messages missing at most |\n| --- | ---: | ---: |");
    full("stdio", find("mcp-replay").unwrap(), stdio::on_a_small_disk);
    full("HTTP", find("har").unwrap(), http::on_a_small_disk);
}
