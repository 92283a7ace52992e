//! The server whose session is recorded: a process, or a server over HTTP that looks like one.

use super::signals::{Leader, Signals};
use crate::child::{into_file, spawn_error};
use crate::group::Group;
use crate::http::Target;
use crate::redaction::Redaction;
use crate::remote::Remote;
use crate::{Notify, StartError, child};
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
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
    ///
    /// # Errors
    /// Where it cannot be started.
    pub(super) fn start(
        &self,
        redaction: &Redaction,
        notify: Arc<dyn Notify>,
    ) -> Result<(Running, File, File), StartError> {
        // Signals reach the server through this process alone, and so once.
        let signals = Signals::catch();
        let no_pipes =
            |error: io::Error| StartError::CannotRun(format!("the standard streams cannot be used: {error}"));
        match self {
            Self::Command(command) => {
                let [program, arguments @ ..] = &command[..] else {
                    return Err(StartError::CannotRun("the command is empty; name a program".to_owned()));
                };
                let mut start = Command::new(program);
                start.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
                let mut group = Group::start(&mut start).map_err(|error| {
                    let program = redaction.command(command).into_iter().next().unwrap_or_default();
                    StartError::CannotRun(spawn_error(&program, &error))
                })?;
                let leader = signals.pass_on_to(&group);
                let process = group.leader();
                let pipes = process.stdin.take().zip(process.stdout.take());
                let (to, from) = pipes.ok_or_else(|| no_pipes(io::Error::from(io::ErrorKind::BrokenPipe)))?;
                Ok((Running::Process(group, leader), into_file(to), into_file(from)))
            }
            Self::Http(target) => {
                let (from_client, to_server) = io::pipe().map_err(no_pipes)?;
                let (from_server, to_client) = io::pipe().map_err(no_pipes)?;
                let remote = Remote::start(target, into_file(from_client), into_file(to_client), notify)?;
                signals.tell(remote.stop.clone());
                Ok((Running::Http(remote), into_file(to_server), into_file(from_server)))
            }
        }
    }
}

impl Running {
    /// Waits for its end; its exit code, which is 128 and the signal's number where a signal ended it.
    pub(super) fn wait(self) -> i32 {
        match self {
            Self::Process(mut group, leader) => exit_code(leader.wait(&mut group)),
            Self::Http(remote) => remote.wait().code(),
        }
    }
}

fn exit_code(status: Option<ExitStatus>) -> i32 {
    let signal = status.and_then(child::signal).map(|signal| 128 + signal);
    signal.or_else(|| status?.code()).unwrap_or(1)
}
