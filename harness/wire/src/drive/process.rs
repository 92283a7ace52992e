//! What playing over pipes and over HTTP have in common: the session that is played, the process of the recorder, and
//! the moment at which it is killed.

use super::recorder::Placeholders;
use super::recording;
use super::rig::{Files, RECORDING, Rig};
use super::scenario::{Kill, Scenario};
use crate::Notify;
use crate::play::journal::{self, Entry};
use crate::play::{Script, Step};
use formats::{Input, ReadOptions, Session};
use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io};
use transcript::session::Side;

/// How often files are looked at.
const TICK: Duration = Duration::from_millis(5);

/// Tells its process and its standard error to files, and becomes the recorder.
const RECORDER: &str = r#"echo $$ >"$1"; exec 2>"$2"; shift 2; exec "$@""#;

/// Nobody is told of mismatches here: what the other side did is in the journals.
pub(super) struct Quiet;

impl Notify for Quiet {
    fn error(&self, _: &str) {}

    fn note(&self, _: &str) {}

    fn mismatch(&self, _: &str) {}
}

/// The recorder's command line, as a shell that leaves its number and its standard error behind has it.
pub(super) fn recorder_words(rig: &Rig, files: &Files, placeholders: Placeholders<'_>) -> Vec<String> {
    let text = |path: &Path| path.display().to_string();
    let mut words: Vec<String> = ["/bin/sh", "-c", RECORDER, "sh"].map(str::to_owned).to_vec();
    words.extend([text(&files.path("pid")), text(&files.path("stderr"))]);
    let out = text(&files.path(RECORDING));
    words.extend(rig.recorder.filled(&Placeholders { out: &out, ..placeholders }));
    words
}

/// What the recorder and its server wrote to the standard error.
pub(super) fn stderr(files: &Files) -> String {
    String::from_utf8_lossy(&fs::read(files.path("stderr")).unwrap_or_default()).into_owned()
}

/// One side of a scenario's session.
pub(super) fn script(scenario: &Scenario, side: Side) -> io::Result<Script> {
    let mut bytes = &*scenario.session;
    let session = Input::new(&mut bytes)
        .and_then(|mut input| Session::read(scenario.format, &mut input, ReadOptions::default()))
        .map_err(|error| io::Error::other(format!("{}: {error}", scenario.name)))?;
    Script::new(session, side).map_err(io::Error::other)
}

/// A recorder that is to be killed.
pub(super) struct KillTarget<'v> {
    kill: Kill,
    /// How many messages the client hears before.
    after: usize,
    /// How many messages of both sides pass before.
    passed: usize,
    files: &'v Files,
    /// How many messages a client's journal has heard.
    heard: fn(&[Entry]) -> usize,
    /// How many messages a server's journal has sent, where the server may go with the recorder.
    sent: Option<fn(&[Entry]) -> usize>,
}

impl<'v> KillTarget<'v> {
    pub(super) fn of(
        scenario: &Scenario,
        script: &Script,
        files: &'v Files,
        heard: fn(&[Entry]) -> usize,
        sent: Option<fn(&[Entry]) -> usize>,
    ) -> Option<Self> {
        let (kill, after) = scenario.conditions.kill?;
        let mut servers = 0;
        let one_more = |step: &Step| {
            servers += usize::from(step.side == Side::Server);
            servers > after
        };
        let passed = script.steps().iter().position(one_more).unwrap_or(script.steps().len());
        Some(Self { kill, after, passed, files, heard, sent })
    }

    /// Kills it once the client has heard enough and the recording had time to hold it; nobody where the session is over
    /// before. When that was.
    pub(super) fn kill(&self, rig: &Rig, over: &AtomicBool) -> Option<SystemTime> {
        let noted = |name: &str, count: fn(&[Entry]) -> usize| {
            count(&journal::read(&self.files.path(name)).unwrap_or_default())
        };
        while noted("client.journal", self.heard) < self.after {
            if over.load(Ordering::Relaxed) {
                return None;
            }
            thread::sleep(TICK);
        }
        let all_there = || {
            recording::read(&self.files.recording(), rig.format)
                .is_ok_and(|it| it.written.len() >= self.passed)
        };
        wait(rig.patience, all_there);
        // What was heard may not have been noted yet by whoever sent it, and a server that is killed notes it no more.
        if let Some(sent) = self.sent {
            wait(rig.patience, || noted("server.journal", sent) >= self.after);
        }
        let pid = fs::read_to_string(self.files.path("pid")).ok()?.trim().parse().ok()?;
        let signal = match self.kill {
            Kill::Term => Signal::TERM,
            Kill::Kill => Signal::KILL,
        };
        let now = SystemTime::now();
        kill_process(Pid::from_raw(pid)?, signal).ok()?;
        Some(now)
    }
}

/// Waits until something is so. Whether it was, in time.
pub(super) fn wait(patience: Duration, mut done: impl FnMut() -> bool) -> bool {
    let since = Instant::now();
    while !done() {
        if since.elapsed() >= patience {
            return false;
        }
        thread::sleep(TICK);
    }
    true
}
