//! The server whose session is recorded: a process, or a server over HTTP that looks like one.

use super::signals::{Leader, Signals};
use crate::http::Target;
use crate::redaction::Redaction;
use crate::remote::{Outcome, Remote};
use crate::stdio::group::{Exit, Group};
use crate::stdio::{Stderr, pipe, pipes, start_shown};
use crate::{Notify, StartError};
use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

/// How many bytes of a server's standard error are kept.
const LAST_WORDS: usize = 4 << 10;

/// The server of a session over stdio.
#[derive(Debug)]
pub enum Server {
    /// A command line: the program, and its arguments.
    Command(Vec<String>),
    /// A server over HTTP.
    Http(Target),
}

/// A server that runs.
pub(crate) enum Running {
    Process(Group, Leader, Option<Stderr>),
    Http(Remote),
}

impl Server {
    /// What it is called, and its command line, as far as the recording has them.
    pub(super) fn names(&self, redaction: &Redaction) -> (String, Vec<String>) {
        match self {
            Self::Command(command) => {
                let program = command.first().map(String::as_str).unwrap_or_default();
                let name = Path::new(program).file_stem().and_then(|name| name.to_str()).unwrap_or(program);
                (name.to_owned(), redaction.command(command))
            }
            Self::Http(target) => (target.origin(), Vec::new()),
        }
    }

    /// Starts it, `apart` as a plan says; where it reads, and where it writes.
    pub(super) fn start(
        &self,
        redaction: &Redaction,
        apart: bool,
        notify: Arc<dyn Notify>,
    ) -> Result<(Running, File, File), StartError> {
        // Signals reach the server only through this process, and so once.
        let signals = if apart { Signals::default() } else { Signals::catch() };
        match self {
            Self::Command(command) => {
                let stderr = if apart { Stdio::piped() } else { Stdio::inherit() };
                let streams = [Stdio::piped(), Stdio::piped(), stderr];
                let mut group = start_shown(command, &redaction.command(command), streams)?;
                let leader = signals.pass_on_to(&group);
                let (from, to) = pipes(&mut group)?;
                let stderr =
                    group.leader().stderr.take().map(|pipe| Stderr::keep(pipe, LAST_WORDS, LAST_WORDS));
                Ok((Running::Process(group, leader, stderr), to, from))
            }
            Self::Http(target) => {
                let both = pipe().and_then(|asking| Ok((asking, pipe()?))).map_err(|error| {
                    StartError::CannotRun(format!("the standard streams cannot be used: {error}"))
                });
                let ((from_client, to_server), (from_server, to_client)) = both?;
                let remote = Remote::start(target, from_client, to_client, None, notify)?;
                signals.pass_on(remote.stop.clone());
                Ok((Running::Http(remote), to_server, from_server))
            }
        }
    }
}

impl Running {
    /// Whether it ends by itself in this time; where it does not, it is ended, and so is what it has left behind.
    pub(crate) fn ends_within(&mut self, time: Duration) -> bool {
        match self {
            Self::Process(group, ..) => {
                let ends = group.exits_within(time);
                group.kill();
                ends
            }
            // It ends with its client.
            Self::Http(_) => true,
        }
    }

    /// How it exited, where it has.
    pub(crate) fn exit(&mut self) -> Option<Exit> {
        match self {
            Self::Process(group, ..) => group.exit(),
            Self::Http(_) => None,
        }
    }

    /// Its last words on its standard error, where they are kept.
    pub(crate) fn last_words(&self) -> String {
        match self {
            Self::Process(_, _, Some(stderr)) => stderr.last_words(),
            _ => String::new(),
        }
    }

    /// Waits for its end: its exit code, which is 128 and the signal's number where a signal ended it, and the signal that
    /// ended it or was passed on to it.
    pub(super) fn wait(self) -> Exit {
        match self {
            Self::Process(mut group, leader, _) => {
                let (exit, passed) = leader.wait(&mut group);
                Exit { code: exit.shell_code().or(Some(1)), signal: exit.signal.or(passed) }
            }
            Self::Http(remote) => {
                let (outcome, ..) = remote.wait();
                let signal = if let Outcome::Signal(signal) = outcome { Some(signal) } else { None };
                Exit { code: Some(outcome.code()), signal }
            }
        }
    }
}
