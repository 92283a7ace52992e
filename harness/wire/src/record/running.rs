//! The server whose session is recorded: a process, or a server over HTTP that looks like one.

use super::signals::{Leader, Signals};
use crate::http::Target;
use crate::redaction::Redaction;
use crate::remote::{Outcome, Remote};
use crate::stdio::group::{Exit, Group};
use crate::stdio::{into_file, pipes, start_shown};
use crate::{Notify, StartError};
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

/// The server of a session over stdio.
#[derive(Debug)]
pub enum Server {
    /// A command line: the program, and its arguments.
    Command(Vec<String>),
    /// A server over HTTP.
    Http(Target),
}

/// A server that runs.
pub(super) enum Running {
    Process(Group, Leader),
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

    /// Starts it; where it reads, and where it writes.
    pub(super) fn start(
        &self,
        redaction: &Redaction,
        notify: Arc<dyn Notify>,
    ) -> Result<(Running, File, File), StartError> {
        // Signals reach the server only through this process, and so once.
        let signals = Signals::catch();
        match self {
            Self::Command(command) => {
                let streams = [Stdio::piped(), Stdio::piped(), Stdio::inherit()];
                let mut group = start_shown(command, &redaction.command(command), streams)?;
                let leader = signals.pass_on_to(&group);
                let (from, to) = pipes(&mut group)?;
                Ok((Running::Process(group, leader), to, from))
            }
            Self::Http(target) => {
                let pipe = || {
                    let pipe = io::pipe().map(|(from, to)| (into_file(from), into_file(to)));
                    pipe.map_err(|error| {
                        StartError::CannotRun(format!("the standard streams cannot be used: {error}"))
                    })
                };
                let ((from_client, to_server), (from_server, to_client)) = (pipe()?, pipe()?);
                let remote = Remote::start(target, from_client, to_client, notify)?;
                signals.pass_on(remote.stop.clone());
                Ok((Running::Http(remote), to_server, from_server))
            }
        }
    }
}

impl Running {
    /// Waits for its end: its exit code, which is 128 and the signal's number where a signal ended it, and the signal that
    /// ended it or was passed on to it.
    pub(super) fn wait(self) -> Exit {
        match self {
            Self::Process(mut group, leader) => {
                let (exit, passed) = leader.wait(&mut group);
                Exit { code: exit.shell_code().or(Some(1)), signal: exit.signal.or(passed) }
            }
            Self::Http(remote) => {
                let outcome = remote.wait();
                let signal = if let Outcome::Signal(signal) = outcome { Some(signal) } else { None };
                Exit { code: Some(outcome.code()), signal }
            }
        }
    }
}
