//! A session over pipes: the client plays here, starts the recorder, and the recorder starts the server.
//!
//! Knows: the command lines, and when the recorder is killed. Refuses to know: what is judged.

use super::bench::{Bench, Files, Played, RECORDING};
use super::recorder::Holes;
use super::recording;
use super::scenario::{Kill, Scenario};
use super::truth::Journals;
use crate::play::journal::{self, Journal, Note, Way, What};
use crate::play::{self, Departure, Plan, Script, Step, Tell, Variants};
use formats::{Input, Options, Session};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use transcript::diff::Rules;
use transcript::session::Side;

/// How often files are looked at.
const TICK: Duration = Duration::from_millis(5);

/// Tells its process and its standard error to files, and becomes the recorder.
const RECORDER: &str = r#"echo $$ >"$1"; exec 2>"$2"; shift 2; exec "$@""#;

/// Writes a line to the standard error and ends as it is told, after the server.
const SERVER: &str = r#"code=$1; [ -z "$2" ] || echo "$2" >&2; shift 2; "$@"; own=$?; [ "$code" = 0 ] && code=$own; exit "$code""#;

/// Nobody is told of departures here: what the other side did is in the journals.
#[derive(Debug)]
struct Silent;

impl Tell for Silent {
    fn departure(&self, _: &Departure) {}

    fn note(&self, _: &str) {}
}

/// Plays a scenario through the recorder.
///
/// # Errors
/// Where the files of the trial cannot be used.
pub(super) fn play(bench: &Bench, scenario: &Scenario, files: &Files) -> io::Result<Played> {
    let manner = &scenario.manner;
    let [client, server] = ["client.journal", "server.journal"].map(|name| files.path(name));
    let [pid, stderr] = ["pid", "stderr"].map(|name| files.path(name));
    let text = |path: &Path| path.display().to_string();
    let out = text(&files.path(RECORDING));
    let server_words = server_words(bench, scenario, files);
    let holes = Holes { server: &server_words, out: &out, ..Holes::default() };
    let mut words: Vec<String> = ["/bin/sh", "-c", RECORDER, "sh"].map(str::to_owned).to_vec();
    words.extend([text(&pid), text(&stderr)]);
    words.extend(bench.recorder.filled(&holes));

    let mut bytes = &*scenario.session;
    let session = Input::new(&mut bytes)
        .and_then(|mut input| Session::read(scenario.format, &mut input, Options::default()))
        .map_err(|error| io::Error::other(format!("{}: {error}", scenario.name)))?;
    let script = Script::new(session, Side::Client).map_err(io::Error::other)?;
    let variants =
        Variants { chunk: manner.chunk, merge: manner.merge, slow_read: manner.slow, ..Variants::default() };
    let journal = Journal::create(&client)?;
    let plan = Plan {
        script: &script,
        rules: &Rules::default(),
        patience: bench.timeout,
        variants: &variants,
        journal: &journal,
        tell: &Silent,
    };
    let over = AtomicBool::new(false);
    let passed = manner.kill.map_or(0, |(_, heard)| before(&script, heard));
    let victim = Victim { pid: &pid, journal: &client, files, passed };
    let (played, killed) = thread::scope(|scope| {
        let (victim, over) = (&victim, &over);
        let killer = manner.kill.map(|kill| scope.spawn(move || victim.kill(kill, bench, over)));
        let played = play::as_client(&plan, &words);
        over.store(true, Ordering::Relaxed);
        (played, killer.and_then(|killer| killer.join().ok()).flatten())
    });
    let delay = manner.delay(bench.patience);
    // What a peer met is in the journals, a command that cannot be started too: the shell says so.
    drop(played);
    let journals =
        Journals { client: journal::read(&client)?, server: settled(&server, bench.patience + 3 * delay)? };
    let ended = killed
        .map(|at| journals.ended_after(at, bench.patience).and_then(|()| left_alone(&journals, &server)));
    if let Some(pid) = server_process(&journals, &server) {
        // One that outlived everybody has nobody to talk to.
        let _ = kill_process(pid, Signal::KILL);
    }
    let stderr = fs::read(&stderr).unwrap_or_default();
    Ok(Played { journals, stderr: String::from_utf8_lossy(&stderr).into_owned(), ended })
}

fn server_words(bench: &Bench, scenario: &Scenario, files: &Files) -> Vec<String> {
    let manner = &scenario.manner;
    let text = |path: &Path| path.display().to_string();
    let mut words = Vec::new();
    if manner.exit != 0 || manner.stderr.is_some() {
        words.extend(["/bin/sh", "-c", SERVER, "sh"].map(str::to_owned));
        words.extend([manner.exit.to_string(), manner.stderr.unwrap_or_default().to_owned()]);
    }
    words.extend([text(&bench.program), "--quiet".to_owned(), "play".to_owned()]);
    words.extend(["--as", "server", "--format", scenario.format.name].map(str::to_owned));
    words.extend(["--timeout".to_owned(), bench.timeout.as_secs_f64().to_string()]);
    words.extend(["--journal".to_owned(), text(&files.path("server.journal"))]);
    let delay = manner.delay(bench.patience).as_millis();
    if delay > 0 {
        words.extend(["--delay".to_owned(), delay.to_string()]);
    }
    if let Some(chunk) = manner.chunk {
        words.extend(["--chunk".to_owned(), chunk.to_string()]);
    }
    if manner.merge {
        words.push("--merge".to_owned());
    }
    if let Some(noise) = manner.noise {
        words.extend(["--noise".to_owned(), noise.to_owned()]);
    }
    if manner.half {
        words.push("--half-line-at-end".to_owned());
    }
    words.push(text(&files.path("session")));
    words
}

/// A recorder that is to be killed.
struct Victim<'v> {
    pid: &'v Path,
    journal: &'v Path,
    files: &'v Files,
    /// So many messages of both sides pass before it.
    passed: usize,
}

impl Victim<'_> {
    /// Kills it once the client has heard enough and the recording had time to hold it. When that was, if it was.
    fn kill(&self, (kill, after): (Kill, usize), bench: &Bench, over: &AtomicBool) -> Option<SystemTime> {
        let heard = || {
            let notes = journal::read(self.journal).unwrap_or_default();
            let lines = |note: &Note| match &note.what {
                What::Bytes { way: Way::Received, exchange: None, bytes } => {
                    bytes.0.iter().filter(|byte| **byte == b'\n').count()
                }
                _ => 0,
            };
            notes.iter().map(lines).sum::<usize>()
        };
        while heard() < after {
            if over.load(Ordering::Relaxed) {
                return None;
            }
            thread::sleep(TICK);
        }
        let all_there = || {
            recording::read(&self.files.recording(), bench.format)
                .is_ok_and(|it| it.written.len() >= self.passed)
        };
        wait(bench.patience, all_there);
        let pid = Pid::from_raw(fs::read_to_string(self.pid).ok()?.trim().parse().ok()?)?;
        let signal = match kill {
            Kill::Term => Signal::TERM,
            Kill::Kill => Signal::KILL,
        };
        let now = SystemTime::now();
        kill_process(pid, signal).ok()?;
        Some(now)
    }
}

/// How many messages there are before the server says one more than `heard`.
fn before(script: &Script, heard: usize) -> usize {
    let mut servers = 0;
    let one_more = |step: &Step| {
        servers += usize::from(step.side == Side::Server);
        servers > heard
    };
    script.steps().iter().position(one_more).unwrap_or(script.steps().len())
}

/// Whether no server was left behind: it is gone, or it saw the end of its input.
fn left_alone(journals: &Journals, journal: &Path) -> Result<(), String> {
    let saw_the_end = journals.pipes().passage(Side::Client).received.ended.is_some();
    match server_process(journals, journal) {
        Some(_) if !saw_the_end => Err("the server went on after the recorder had ended".to_owned()),
        _ => Ok(()),
    }
}

/// The journal of a server that ends by itself, read when it has ended, or when that takes too long.
fn settled(path: &Path, patience: Duration) -> io::Result<Vec<Note>> {
    let over = |notes: &[Note]| matches!(notes.last(), Some(Note { what: What::Over { .. }, .. }));
    let read = || if path.exists() { journal::read(path) } else { Ok(Vec::new()) };
    wait(patience, || !path.exists() || read().is_ok_and(|notes| over(&notes)));
    read()
}

/// The server's process, where it still runs. Numbers are given to other processes again, so it has to name its journal.
fn server_process(journals: &Journals, journal: &Path) -> Option<Pid> {
    let pid = journals.server.iter().find_map(|note| match note.what {
        What::Began { pid, .. } => Some(pid),
        _ => None,
    })?;
    let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let name = journal.as_os_str().as_encoded_bytes();
    memchr::memmem::find(&command, name)?;
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// Waits until something is so. Whether it was, in time.
fn wait(patience: Duration, done: impl Fn() -> bool) -> bool {
    let since = Instant::now();
    while !done() {
        if since.elapsed() >= patience {
            return false;
        }
        thread::sleep(TICK);
    }
    true
}
