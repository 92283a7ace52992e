//! A session over pipes: the client plays here, starts the recorder, and the recorder starts the server.
//!
//! Knows: the command lines, and when the recorder is killed. Refuses to know: what is judged.

use super::bench::{Files, Played, Rig};
use super::hands::{Silent, Victim, recorder_words, script, stderr, wait};
use super::recorder::Holes;
use super::scenario::Scenario;
use super::truth::Journals;
use crate::play::journal::{self, Journal, Note, Way, What};
use crate::play::{self, Plan, Variants};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, io, thread};
use transcript::diff::DiffOptions;
use transcript::session::Side;

/// Writes a line to the standard error and ends as it is told, after the server.
const SERVER: &str = r#"code=$1; [ -z "$2" ] || echo "$2" >&2; shift 2; "$@"; own=$?; [ "$code" = 0 ] && code=$own; exit "$code""#;

/// Plays a scenario through the recorder.
///
/// # Errors
/// Where the files of the trial cannot be used.
pub(super) fn play(bench: &Rig, scenario: &Scenario, files: &Files) -> io::Result<Played> {
    let manner = &scenario.manner;
    let [client, server] = ["client.journal", "server.journal"].map(|name| files.path(name));
    let server_words = server_words(bench, scenario, files);
    let words = recorder_words(bench, files, Holes { server: &server_words, ..Holes::default() });
    let script = script(scenario, Side::Client)?;
    let variants =
        Variants { chunk: manner.chunk, merge: manner.merge, slow_read: manner.slow, ..Variants::default() };
    let journal = Journal::create(&client)?;
    let plan = Plan {
        script: &script,
        rules: &DiffOptions::default(),
        patience: bench.timeout,
        variants: &variants,
        journal: &journal,
        tell: &Silent,
    };
    let over = AtomicBool::new(false);
    let victim = Victim::of(scenario, &script, files, heard);
    let (played, killed) = thread::scope(|scope| {
        let over = &over;
        let killer = victim.as_ref().map(|victim| scope.spawn(move || victim.kill(bench, over)));
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
    Ok(Played { journals, stderr: stderr(files), killed: killed.is_some(), ended, died: None })
}

fn server_words(bench: &Rig, scenario: &Scenario, files: &Files) -> Vec<String> {
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

/// How many lines a client has heard.
fn heard(notes: &[Note]) -> usize {
    let lines = |note: &Note| match &note.what {
        What::Bytes { way: Way::Received, exchange: None, bytes } => {
            bytes.0.iter().filter(|byte| **byte == b'\n').count()
        }
        _ => 0,
    };
    notes.iter().map(lines).sum()
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
