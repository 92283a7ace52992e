//! What a program under test may use, and how it fails to answer.

use std::time::Duration;
use verdict::answer::{Answer, FailureKind};

/// What a program under test may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How long an answer may take; so may the start, and the stop.
    pub timeout: Duration,
    /// How much memory the whole process group may hold resident, in bytes. Resident memory is watched while an
    /// answer is awaited, since a bound on address space would stop every runtime that reserves more than it uses
    /// (Node, Java, Go). Only Linux reports it; elsewhere there is no limit.
    pub memory: u64,
    /// How long one answer may be, in bytes.
    pub output: u64,
    /// Whether to look often enough at the memory it holds to say what the most was.
    pub watched: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(10), memory: 2 << 30, output: 128 << 20, watched: false }
    }
}

/// An answer, with what else there is to say of it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub answer: Answer,
    /// What the program wrote to its standard error meanwhile.
    pub said: String,
    /// From the question to the answer; for a one-shot command, from its start to its end.
    pub took: Duration,
    /// How long processors worked for it meanwhile, where the system tells, and the program is kept.
    pub worked: Option<Duration>,
    /// The most memory that it was seen to hold, in bytes, since its process was started: where the system tells, and it was
    /// [watched](Limits::watched).
    pub peak: Option<u64>,
}

/// Why a program cannot be judged at all: a sentence that says what to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotRun(pub String);

/// How a program failed to answer.
#[derive(Debug)]
pub(super) struct BrokenAnswer {
    pub(super) how: FailureKind,
    pub(super) message: String,
}

impl BrokenAnswer {
    pub(super) fn new(how: FailureKind, message: impl Into<String>) -> Self {
        Self { how, message: message.into() }
    }
}

impl From<BrokenAnswer> for Answer {
    fn from(BrokenAnswer { how, message }: BrokenAnswer) -> Self {
        Self::Broken { how, message }
    }
}

/// What went wrong, with the end of the program's standard error.
pub(super) fn with_stderr(why: String, said: &str) -> String {
    if said.is_empty() { why } else { format!("{why};\nits standard error ends with:\n{said}") }
}
