//! What playing over pipes and over HTTP have in common: the session that is played, the process of the recorder, and
//! the moment at which it is killed.

use super::recorder::Placeholders;
use super::recording;
use super::rig::{Files, NotRun, RECORDING, Rig};
use super::scenario::{Kill, Scenario};
use crate::journal::{self, Entry, Journal};
use crate::play::{Plan, Script, ScriptStep, Variants, read_session};
use crate::stdio::Stderr;
use crate::stdio::group::{self, Group};
use crate::{Quiet, StartError, interrupt};
use rustix::process::{Signal, kill_process};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};
use std::{fs, io};
use transcript::diff::DiffOptions;
use transcript::session::Side;

/// How often files are looked at.
const TICK: Duration = Duration::from_millis(5);

/// How many bytes of the beginning of a recorder's standard error are kept, and as many of its end.
const KEPT: usize = 32 << 10;

/// How many bytes a session may have in files, besides [`SHARE`] times its own length.
const ROOM: u64 = 64 << 20;

/// A session is in both journals and in the recording, in each with what surrounds it.
const SHARE: u64 = 32;

/// A recorder under test that runs, with all that it started.
pub(super) struct Running {
    pub(super) group: Group,
    stderr: Option<Stderr>,
}

impl Running {
    /// Takes over a recorder whose standard error is a pipe.
    pub(super) fn new(mut group: Group) -> Self {
        let stderr = group.leader().stderr.take().map(|pipe| Stderr::keep(pipe, KEPT, KEPT));
        Self { group, stderr }
    }

    /// Ends it and all that it started. What it and its server wrote to the standard error is kept in a file, too.
    pub(super) fn end(mut self, files: &Files) -> io::Result<String> {
        // A status that the system does not tell is in the journal as none.
        let _ = self.group.end();
        let Some(stderr) = &self.stderr else { return Ok(String::new()) };
        let text = stderr.last_words();
        // Whatever the recorder may have put there leads nowhere else.
        let path = files.path("stderr");
        let _ = fs::remove_file(&path);
        fs::File::create_new(path)?.write_all(text.as_bytes())?;
        Ok(text)
    }
}

/// A recorder that cannot be started.
pub(super) fn not_started(error: StartError) -> io::Error {
    io::Error::other(NotRun(error.into_text()))
}

/// The recorder's command line.
pub(super) fn recorder_words(rig: &Rig, files: &Files, placeholders: Placeholders<'_>) -> Vec<String> {
    let out = files.path(RECORDING).display().to_string();
    rig.recorder.filled(&Placeholders { out: &out, ..placeholders })
}

/// Kills a recorder that fills the disk with more than a session may have in files. Returns what to say of it then.
fn bound(scenario: &Scenario, files: &Files, recorder: u32, over: &AtomicBool) -> Option<String> {
    let room = ROOM + SHARE * scenario.session.len() as u64;
    while !over.load(Ordering::Relaxed) {
        if size(&files.folder) > room {
            group::kill(recorder);
            let mebibytes = room >> 20;
            return Some(format!("the session wrote more than {mebibytes} MiB, and the recorder was killed"));
        }
        thread::sleep(TICK);
    }
    None
}

/// How many bytes the files of a folder take up on the disk; holes in them take none.
fn size(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|it| Some(it.metadata().ok()?.blocks() * 512)).sum()
}

/// One side of a scenario's session.
pub(super) fn script(scenario: &Scenario, side: Side) -> io::Result<Script> {
    let session = read_session(scenario.format, &scenario.session)
        .map_err(|error| io::Error::other(format!("{}: {error}", scenario.name)))?;
    Script::new(session, side).map_err(io::Error::other)
}

/// How one side of a scenario is played.
pub(super) fn plan<'p>(
    (scenario, script): (&'p Scenario, &'p Script),
    variants: &'p Variants,
    journal: &'p Journal,
    patience: Duration,
) -> Plan<'p> {
    static RULES: LazyLock<DiffOptions> = LazyLock::new(DiffOptions::default);
    let (rules, name) = (&*RULES, &*scenario.name);
    Plan { script, rules, patience, variants, journal, refuse: false, name, notify: &Quiet }
}

/// Plays the client while the recorder is bounded, and killed where it is to be: when it was, and why it was stopped.
pub(super) fn watched(
    rig: &Rig,
    scenario: &Scenario,
    files: &Files,
    (recorder, target): (u32, Option<&KillTarget<'_>>),
    play: impl FnOnce(),
) -> (Option<SystemTime>, Option<String>) {
    let over = &AtomicBool::new(false);
    thread::scope(|scope| {
        let killer = target.map(|target| scope.spawn(move || target.kill(rig, recorder, over)));
        let bound = scope.spawn(move || bound(scenario, files, recorder, over));
        play();
        over.store(true, Ordering::Relaxed);
        (killer.and_then(|killer| killer.join().ok()).flatten(), bound.join().ok().flatten())
    })
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
    pub(super) fn new(
        scenario: &Scenario,
        script: &Script,
        files: &'v Files,
        heard: fn(&[Entry]) -> usize,
        sent: Option<fn(&[Entry]) -> usize>,
    ) -> Option<Self> {
        let (kill, after) = scenario.conditions.kill?;
        let mut servers = 0;
        let one_more = |step: &ScriptStep| {
            servers += usize::from(step.side == Side::Server);
            servers > after
        };
        let passed = script.steps.iter().position(one_more).unwrap_or(script.steps.len());
        Some(Self { kill, after, passed, files, heard, sent })
    }

    /// Kills it once the client has heard enough and the recording had time to hold it; nobody where the session is over
    /// before. When that was.
    fn kill(&self, rig: &Rig, recorder: u32, over: &AtomicBool) -> Option<SystemTime> {
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
        interrupt::wait(rig.patience, all_there);
        // A server may not have noted yet what was heard, and one that is killed notes it no more.
        if let Some(sent) = self.sent {
            interrupt::wait(rig.patience, || noted("server.journal", sent) >= self.after);
        }
        let signal = match self.kill {
            Kill::Term => Signal::TERM,
            Kill::Kill => Signal::KILL,
        };
        let now = SystemTime::now();
        kill_process(group::pid(recorder)?, signal).ok()?;
        Some(now)
    }
}
