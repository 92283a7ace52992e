//! How a program is started between pipes, and the pipes of this process.

use super::group::Group;
use crate::StartError;
use std::fs::File;
use std::io;
use std::process::{Command, Stdio};

/// Why a program cannot be started, in a sentence that says what to change.
#[must_use]
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

/// A pipe's end as a file.
#[cfg(unix)]
pub(crate) fn into_file(pipe: impl Into<std::os::fd::OwnedFd>) -> File {
    File::from(pipe.into())
}

#[cfg(windows)]
pub(crate) fn into_file(pipe: impl Into<std::os::windows::io::OwnedHandle>) -> File {
    File::from(pipe.into())
}
