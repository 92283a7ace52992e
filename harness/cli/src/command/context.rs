//! What every command is given besides its own options, and how a command fails.

use crate::terminal::Terminal;
use formats::ReadError;
use std::io;
use transcript::rejection::{Position, Rejection};
use verdict::jobs::NoThread;
use wire::StartError;

/// What every command gets besides its own options.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandContext {
    /// Where messages go, and how many of them.
    pub terminal: Terminal,
    /// Describes the whole command line, for the commands that print it.
    pub program: fn() -> clap::Command,
}

/// Why a command ended without a verdict of its own.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The call or its input cannot be used: a sentence.
    Unusable(String),
    /// The implementation under test cannot be run: a sentence.
    NotRun(String),
    /// A transcript was rejected: its name, and why.
    Rejected(String, Box<Rejection>),
    /// The reader of the output closed it. Nobody is left to read why.
    OutputClosed,
}

/// Why a file is not a recording at all, and where, in a sentence.
pub(crate) fn no_recording(name: &str, why: &Rejection) -> String {
    let Position { line, column, .. } = why.position;
    format!("{name} is not a recording: {} (line {line}, column {column})", why.message)
}

/// A sentence by itself says that the call or its input cannot be used.
impl From<String> for Failure {
    fn from(why: String) -> Self {
        Self::Unusable(why)
    }
}

impl From<&str> for Failure {
    fn from(why: &str) -> Self {
        Self::Unusable(why.to_owned())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Unusable(format!("the output cannot be written: {error}")),
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Unusable(why) => Self::Unusable(why),
            StartError::CannotRun(why) => Self::NotRun(why),
        }
    }
}

impl From<NoThread> for Failure {
    fn from(NoThread(error): NoThread) -> Self {
        Self::Unusable(format!("a thread cannot be started: {error}"))
    }
}

impl Failure {
    /// What ended the reading of `name`.
    pub(crate) fn of_reading(name: &str, error: ReadError) -> Self {
        app::Error::reading(name, error).into()
    }

    /// The same where the recording is not what is judged, but what is needed for that.
    pub(crate) fn of_input(self) -> Self {
        match self {
            Self::Rejected(name, why) => Self::Unusable(no_recording(&name, &why)),
            other => other,
        }
    }

    /// That a file or folder cannot be written.
    pub(crate) fn unwritable(path: &std::path::Path, error: &io::Error) -> Self {
        let why = match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => "a file is where a folder must be",
            io::ErrorKind::NotFound => "its folder does not exist",
            _ => &error.to_string(),
        };
        Self::Unusable(format!("{} cannot be written: {why}", path.display()))
    }
}
