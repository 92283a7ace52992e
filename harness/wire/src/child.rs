//! What is said of programs that do not start or that ended, and the pipes of this process.

use std::fs::File;
use std::io;
use std::process::ExitStatus;

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
            format!("`{program}` may not be executed; make it executable, or name its interpreter first")
        }
        _ => format!("`{program}` cannot be started: {error}"),
    }
}

/// The signal that ended a process.
pub(crate) fn signal(status: ExitStatus) -> Option<i32> {
    #[cfg(unix)]
    return std::os::unix::process::ExitStatusExt::signal(&status);
    #[cfg(not(unix))]
    {
        let _ = status;
        None
    }
}

/// The standard input and output of this process as files without a buffer, each of which closes when it is dropped.
#[cfg(unix)]
pub(crate) fn standard_streams() -> io::Result<(File, File)> {
    use std::os::fd::AsFd as _;
    let input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    Ok((input, output))
}

#[cfg(windows)]
pub(crate) fn standard_streams() -> io::Result<(File, File)> {
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
