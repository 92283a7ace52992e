//! A session over pipes: the client plays in this process and starts the recorder, which starts the server.

use super::journals::Journals;
use super::process::{KillTarget, Running, not_started, plan, recorder_words, script, watched};
use super::recorder::Placeholders;
use super::rig::{Files, Played, Rig};
use super::scenario::Scenario;
use crate::interrupt;
use crate::journal::{self, Direction, Entry, Journal, JournalEvent};
use crate::play::{self, Variants};
use crate::stdio::start;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use std::{fs, io};
use transcript::session::Side;

/// Writes a line to the standard error, and ends with the given code after the server.
const SERVER: &str = r#"code=$1; [ -z "$2" ] || echo "$2" >&2; shift 2; "$@"; own=$?; [ "$code" = 0 ] && code=$own; exit "$code""#;

/// Plays a scenario through the recorder.
pub(super) fn play(rig: &Rig, scenario: &Scenario, files: &Files) -> io::Result<Played> {
    let conditions = &scenario.conditions;
    let [client, server] = ["client.journal", "server.journal"].map(|name| files.path(name));
    let server_words = server_words(rig, scenario, files);
    let words = recorder_words(rig, files, Placeholders { server: &server_words, ..Placeholders::default() });
    let script = script(scenario, Side::Client)?;
    let variants = Variants {
        chunk: conditions.chunk,
        merge: conditions.merge,
        slow_read: conditions.slow,
        ..Variants::default()
    };
    let journal = Journal::create(&client).map_err(io::Error::other)?;
    let plan = plan((scenario, &script), &variants, &journal, rig.waits(conditions));
    let mut recorder =
        Running::new(start(&words, [Stdio::piped(), Stdio::piped(), Stdio::piped()]).map_err(not_started)?);
    let heard = |notes: &[Entry]| lines(notes, Direction::Received);
    let target =
        KillTarget::new(scenario, &script, files, heard, Some(|notes| lines(notes, Direction::Sent)));
    let recorder_id = recorder.group.id();
    let (killed, stopped) = watched(rig, scenario, files, (recorder_id, target.as_ref()), || {
        // What a peer met is in the journals.
        let _ = play::as_client_of(&plan, &mut recorder.group);
    });
    if !recorder.group.exited() {
        // A server that waits for its end sees it now, and notes it.
        recorder.group.kill();
    }
    let delay = rig.delay(conditions);
    let journals =
        Journals { client: journal::read(&client)?, server: settled(&server, rig.patience + 3 * delay)? };
    let ended =
        killed.map(|at| journals.ended_after(at, rig.patience).and_then(|()| left_alone(&journals, &server)));
    if let Some(pid) = server_process(&journals, &server) {
        // One that outlived everybody has nobody to talk to.
        let _ = kill_process(pid, Signal::KILL);
    }
    let stderr = recorder.end(files)?;
    Ok(Played { journals, stderr, killed: killed.is_some(), ended, died: None, stopped })
}

fn server_words(rig: &Rig, scenario: &Scenario, files: &Files) -> Vec<String> {
    let conditions = &scenario.conditions;
    let text = |path: &Path| path.display().to_string();
    let mut words = Vec::new();
    if conditions.exit != 0 || conditions.stderr.is_some() {
        words.extend(["/bin/sh", "-c", SERVER, "sh"].map(str::to_owned));
        words.extend([conditions.exit.to_string(), conditions.stderr.unwrap_or_default().to_owned()]);
    }
    words.push(text(&rig.program));
    words.extend(["--quiet", "play", "--as", "server"].map(str::to_owned));
    let delay = rig.delay(conditions).as_millis();
    for (option, value) in [
        ("--format", Some(scenario.format.name.to_owned())),
        ("--timeout", Some(rig.waits(conditions).as_secs_f64().to_string())),
        ("--journal", Some(text(&files.path("server.journal")))),
        ("--delay", (delay > 0).then(|| delay.to_string())),
        ("--chunk", conditions.chunk.map(|chunk| chunk.to_string())),
        ("--noise", conditions.noise.map(str::to_owned)),
    ] {
        words.extend(value.into_iter().flat_map(|value| [option.to_owned(), value]));
    }
    let flags = [("--merge", conditions.merge), ("--half-line-at-end", conditions.half)];
    words.extend(flags.into_iter().filter(|flag| flag.1).map(|flag| flag.0.to_owned()));
    words.push(text(&files.path("session")));
    words
}

/// How many lines a peer has heard, or sent.
fn lines(notes: &[Entry], wanted: Direction) -> usize {
    let lines = |note: &Entry| match &note.event {
        JournalEvent::Bytes { way, exchange: None, bytes } if *way == wanted => {
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
        Some(_) if !saw_the_end => Err("the server kept running after the recorder had ended".to_owned()),
        _ => Ok(()),
    }
}

/// The journal of a server that ends by itself, read when it has ended, or when that takes too long. One that was killed
/// notes nothing more.
fn settled(path: &Path, patience: Duration) -> io::Result<Vec<Entry>> {
    let over = |notes: &[Entry]| matches!(notes.last(), Some(Entry { event: JournalEvent::Over { .. }, .. }));
    let gone =
        |notes: &[Entry]| process_id(notes).is_some_and(|pid| test_kill_process(pid) == Err(Errno::SRCH));
    let read = || if path.exists() { journal::read(path) } else { Ok(Vec::new()) };
    interrupt::wait(patience, || !path.exists() || read().is_ok_and(|notes| over(&notes) || gone(&notes)));
    read()
}

fn process_id(notes: &[Entry]) -> Option<Pid> {
    let began = |note: &Entry| match note.event {
        JournalEvent::Began { pid, .. } => i32::try_from(pid).ok(),
        _ => None,
    };
    Pid::from_raw(notes.iter().find_map(began)?)
}

/// The server's process, where it still runs. Numbers are given to other processes again, so it has to name its journal.
fn server_process(journals: &Journals, journal: &Path) -> Option<Pid> {
    let pid = process_id(&journals.server)?;
    let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    memchr::memmem::find(&command, journal.as_os_str().as_encoded_bytes())?;
    Some(pid)
}
