//! How a program is started between pipes, the pipes of this process, and a live server: behind a mock that does not know an
//! answer, or behind a bridge.

use super::group::{Exit, Group};
use super::pipe::{Inbox, PipeEvent, Writer, listen};
use crate::StartError;
use crate::journal::Journal;
use std::fs::File;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Why a program cannot be started, in a sentence that says what to change.
pub fn spawn_error(program: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!(
                "there is no program `{program}`; name one that is on the PATH, or its path from this folder"
            )
        }
        io::ErrorKind::PermissionDenied => {
            format!("`{program}` is not executable; make it executable, or put its interpreter before it")
        }
        _ => format!("`{program}` cannot be started: {error}"),
    }
}

/// Starts a program as the leader of a group, with these standard streams: input, output and error.
pub(crate) fn start(command: &[String], streams: [Stdio; 3]) -> Result<Group, StartError> {
    start_shown(command, command, streams)
}

/// The same of a command that a message shows otherwise.
pub(crate) fn start_shown(
    command: &[String],
    shown: &[String],
    [input, output, error]: [Stdio; 3],
) -> Result<Group, StartError> {
    let ([program, arguments @ ..], [shown, ..]) = (command, shown) else {
        return Err(StartError::CannotRun("the command is empty; name a program".to_owned()));
    };
    let mut start = Command::new(program);
    start.args(arguments).stdin(input).stdout(output).stderr(error);
    Group::start(&mut start).map_err(|error| StartError::CannotRun(spawn_error(shown, &error)))
}

/// The output of a program that was started between pipes, and its input.
pub(crate) fn pipes(program: &mut Group) -> Result<(File, File), StartError> {
    let leader = program.leader();
    let pipes = leader.stdout.take().zip(leader.stdin.take());
    let pipes = pipes.map(|(from, to)| (into_file(from), into_file(to)));
    pipes.ok_or_else(|| StartError::CannotRun("its standard streams cannot be used".to_owned()))
}

/// The standard input and output of this process as files without a buffer, each of which closes when it is dropped.
pub(crate) fn standard_streams() -> Result<(File, File), StartError> {
    own_streams()
        .map_err(|error| StartError::Unusable(format!("the standard streams cannot be used: {error}")))
}

#[cfg(unix)]
fn own_streams() -> io::Result<(File, File)> {
    use std::os::fd::AsFd as _;
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok((input, output))
}

#[cfg(windows)]
fn own_streams() -> io::Result<(File, File)> {
    use std::os::windows::io::AsHandle as _;
    let input = File::from(io::stdin().as_handle().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_handle().try_clone_to_owned()?);
    Ok((input, output))
}

/// A pipe: where it is read, and where it is written.
pub(crate) fn pipe() -> io::Result<(File, File)> {
    io::pipe().map(|(from, to)| (into_file(from), into_file(to)))
}

/// A pipe's end as a file.
#[cfg(unix)]
fn into_file(pipe: impl Into<std::os::fd::OwnedFd>) -> File {
    File::from(pipe.into())
}

#[cfg(windows)]
fn into_file(pipe: impl Into<std::os::windows::io::OwnedHandle>) -> File {
    File::from(pipe.into())
}

/// A live server that runs.
#[derive(Debug)]
pub(crate) struct LiveServer {
    group: Group,
    writer: Writer,
}

impl LiveServer {
    /// Starts one, and hands on what it says, up to lines of `longest` bytes.
    pub(crate) fn start(
        command: &[String],
        longest: usize,
        hand_on: impl Fn(PipeEvent) + Send + 'static,
    ) -> Result<Self, StartError> {
        let mut group = start(command, [Stdio::piped(), Stdio::piped(), Stdio::inherit()])?;
        let (from, to) = pipes(&mut group)?;
        let inbox = Arc::new(Inbox::default());
        let writer = Writer::plain(to, &inbox);
        listen(from, Duration::ZERO, longest, Journal::default(), &inbox);
        inbox.hand_on(move |came| {
            hand_on(came);
            true
        });
        Ok(Self { group, writer })
    }

    /// Sends it a message.
    pub(crate) fn send(&self, text: &str) {
        self.writer.write(format!("{text}\n").into_bytes());
    }

    /// How it exited, where it does soon after it closed its output.
    pub(crate) fn exit(&mut self) -> Option<Exit> {
        self.group.exits_within(Duration::from_secs(1));
        self.group.exit()
    }

    /// What became of it.
    pub(crate) fn fate(&mut self) -> String {
        match self.exit() {
            Some(exit) => format!("the live server ended with {exit}"),
            None => "the live server closed its output".to_owned(),
        }
    }

    /// Closes its input, and ends it where it does not end by itself.
    pub(crate) fn close(self, patience: Duration) {
        let Self { mut group, writer } = self;
        drop(writer);
        group.exits_within(patience);
        // One that has ended is as well.
        let _ = group.end();
    }
}
