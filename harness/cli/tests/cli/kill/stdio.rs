//! Sessions over stdio: a client that asks, waits for the answer, and asks again.

use super::call;
use formats::Format;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/peer.sh");

const CALLS: usize = 120;

/// Asks up to so many times, as long as there are answers; how many there were, and what was said.
fn ask(child: &mut Child, calls: usize) -> (usize, Vec<String>) {
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let (mut passed, mut said) = (0, Vec::new());
    for number in 0..calls {
        let [asked, answer] = call(number);
        said.extend([asked.clone(), answer.clone()]);
        if writeln!(stdin, "{asked}").is_err() {
            break;
        }
        let Some(Ok(line)) = answers.next() else { break };
        assert_eq!(line, answer);
        passed += 1;
    }
    (passed, said)
}

/// A session whose recorder is killed after `delay`, or when all has been said.
pub(super) fn killed(out: &Path, format: &Format, delay: Duration) -> (usize, Vec<String>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .args(["record", "--format", format.name, "-o"])
        .arg(out)
        .args(["--", "sh", PEER, "answers"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = rustix::process::Pid::from_child(&child);
    let killing = thread::spawn(move || {
        thread::sleep(delay);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    });
    let done = ask(&mut child, CALLS);
    // It is not waited for before, so that its number stays its own.
    killing.join().unwrap();
    child.wait().unwrap();
    done
}

/// A session on a disk of so many blocks: what passed, what was said, what the recorder said, and its exit code.
pub(super) fn on_a_small_disk(out: &Path, blocks: usize) -> (usize, Vec<String>, String, i32) {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let mut child = Command::new("sh")
        .args(["-c", &script, "sh", env!("CARGO_BIN_EXE_mcp-concord"), "record", "-o"])
        .arg(out)
        .args(["--", "sh", PEER, "answers"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (passed, said) = ask(&mut child, 12);
    let mut words = String::new();
    child.stderr.take().unwrap().read_to_string(&mut words).unwrap();
    (passed, said, words, child.wait().unwrap().code().unwrap())
}
