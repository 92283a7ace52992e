//! Recorders that are killed at a random moment, and recorders whose disk is full at every size.
//!
//! Whatever is left is read by this project's own readers up to what had passed, in its order and without a gap; and
//! what is missing is said. `scripts/kill.sh` runs the same with hundreds of tries and prints the table.

#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail as a test does")]
#![expect(clippy::print_stdout, reason = "the table is what scripts/kill.sh prints")]

use crate::sockets::{BOTH, JSON, Listener, Running, request};
use crate::support::{PEER, PROGRAM};
use formats::{Format, ReadOptions, Session, find, salvage, written};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
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
    let session = Session::of(format, bytes, ReadOptions::LENIENT);
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

const CALLS: usize = 120;

/// What came of a session: how many calls were answered, what was said, what the recorder said, and its exit code.
type Over = (usize, Vec<String>, String, Option<i32>);

/// The recorder, on a disk of `blocks` blocks if that is given.
fn recorder(out: &Path, format: &Format, blocks: Option<usize>, words: &[&str]) -> Command {
    let limit = blocks.map_or(String::new(), |blocks| format!("ulimit -f {blocks};"));
    let mut command = Command::new("sh");
    command.args([
        "-c",
        &format!("{limit} exec \"$@\""),
        "sh",
        PROGRAM,
        "record",
        "--format",
        format.name,
        "-o",
    ]);
    command.arg(out).args(words).stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

/// Kills a recorder after this time. It is not waited for before, so that its number stays its own.
fn killing(running: &Running, delay: Option<Duration>) -> thread::JoinHandle<()> {
    let pid = Pid::from_child(&running.child);
    thread::spawn(move || {
        if let Some(delay) = delay {
            thread::sleep(delay);
            let _ = kill_process(pid, Signal::KILL);
        }
    })
}

/// Asks up to `calls` times, as long as there are answers.
fn asked(calls: usize, mut ask: impl FnMut(&str) -> Option<String>) -> (usize, Vec<String>) {
    let (mut passed, mut said) = (0, Vec::new());
    for number in 0..calls {
        let [asked, answer] = call(number);
        said.extend([asked.clone(), answer.clone()]);
        let Some(came) = ask(&asked) else { break };
        assert_eq!(came, answer);
        passed += 1;
    }
    (passed, said)
}

/// A client over stdio that asks, waits for the answer, and asks again.
fn over_stdio(
    out: &Path,
    format: &Format,
    calls: usize,
    delay: Option<Duration>,
    blocks: Option<usize>,
) -> Over {
    let mut running = Running::start(&mut recorder(out, format, blocks, &["--", PEER, "answers"]));
    let killing = killing(&running, delay);
    let mut to = running.child.stdin.take().unwrap();
    let mut from = BufReader::new(running.child.stdout.take().unwrap()).lines();
    let (passed, said) = asked(calls, |line| {
        writeln!(to, "{line}").ok()?;
        from.next()?.ok()
    });
    drop(to);
    killing.join().unwrap();
    let (code, words) = running.end();
    (passed, said, words, code)
}

/// A client over HTTP that asks on some connections, and listens to a stream of events on another. The recorder is asked to end when all
/// has been said, so that a kill may come while it converts.
fn over_http(
    out: &Path,
    format: &Format,
    calls: usize,
    delay: Option<Duration>,
    blocks: Option<usize>,
) -> Over {
    let server = Listener::new();
    let to = server.url();
    server.serve(|asked| {
        if asked.head.starts_with("post") {
            let id = asked.body.split("\"id\":").nth(1).and_then(|rest| rest.split(',').next()?.parse().ok());
            let [_, answer] = call(id.unwrap());
            asked.json("", &answer);
            return;
        }
        let mut stream = asked.stream();
        for number in 0.. {
            let pad = "y".repeat(number % 7 * 500);
            let message = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"{pad}","level":"info","n":{number}}}}}"#
            );
            if stream.write_all(format!("data: {message}\n\n").as_bytes()).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(3));
        }
    });
    let mut running = Running::start(&mut recorder(out, format, blocks, &["--listen", "0", "--to", &to]));
    let at = running.address();
    // From here on, so that a slow start takes no moment away from the session.
    let killing = killing(&running, delay);
    let send = |first: &str, body: &str| {
        let mut stream = TcpStream::connect(&at).ok()?;
        let headers = format!("Connection: close\r\n{BOTH}{JSON}");
        stream.write_all(request(first, &headers, body).as_bytes()).ok()?;
        Some(stream)
    };
    let listening = delay.and_then(|_| send("GET /mcp", ""));
    let listening =
        listening.map(|mut it| thread::spawn(move || std::io::copy(&mut it, &mut std::io::sink())));
    let (passed, said) = asked(calls, |line| {
        let mut answer = String::new();
        send("POST /mcp", line)?.read_to_string(&mut answer).ok()?;
        Some(answer.split_once("\r\n\r\n")?.1.to_owned())
    });
    let _ = kill_process(Pid::from_child(&running.child), Signal::INT);
    killing.join().unwrap();
    drop(listening);
    let (code, words) = running.end();
    (passed, said, words, code)
}

#[test]
fn killed_over_stdio() {
    kills("stdio", find("mcp-replay").unwrap(), 8, |out, format| {
        let (passed, said, ..) =
            over_stdio(out, format, CALLS, Some(moment(Duration::from_millis(500))), None);
        (passed, said)
    });
}

#[test]
fn killed_over_http() {
    kills("HTTP", find("har").unwrap(), 8, |out, format| {
        let (passed, said, ..) =
            over_http(out, format, CALLS, Some(moment(Duration::from_millis(900))), None);
        (passed, said)
    });
}

/// Runs a session on a disk of every size up to one that it fits, and tells how many calls were missing on the smallest.
fn full(kind: &str, live: &Format, session: impl Fn(&Path, usize) -> Over) {
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
        assert_eq!(code, Some(i32::from(missing > 0)), "{blocks}: {missing}: {words}");
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
    let [trace, har] = ["mcp-replay", "har"].map(|name| find(name).unwrap());
    full("stdio", trace, |out, blocks| over_stdio(out, trace, 12, None, Some(blocks)));
    full("HTTP", har, |out, blocks| over_http(out, har, 12, None, Some(blocks)));
}
