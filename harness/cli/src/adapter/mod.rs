//! Importers that are programs of their own: long-lived adapters (protocol 1), and one-shot commands.
//!
//! Knows: how to start such a program, ask it, and survive whatever it does instead of answering. Refuses to know:
//! what the right answer is. A program under test runs in a process group of its own, with a deadline for each
//! answer, a bound on its memory and on its output; it sees neutral file names; what it does wrong costs it the
//! answer at hand and nothing else.

mod command;
mod once;
mod process;
mod serve;
mod transcripts;
mod verify;

pub(crate) use command::Command;
pub(crate) use once::Once;
pub(crate) use serve::Adapter;
pub(crate) use verify::{Check, verify};

use std::path::Path;
use std::time::Duration;
use verdict::answer::{Answer, FailureKind};

/// What a program under test may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How long an answer may take; so may the start, and the stop.
    pub timeout: Duration,
    /// How much memory the whole process group may hold resident, in bytes. Resident memory is watched while an
    /// answer is awaited, since a bound on address space would stop every runtime that reserves more than it uses
    /// (Node, Java, Go). Only Linux tells it; elsewhere nothing is bounded.
    pub memory: u64,
    /// How long one answer may be, in bytes.
    pub output: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(10), memory: 2 << 30, output: 128 << 20 }
    }
}

/// Why a program cannot be judged at all: a sentence that says what to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotRun(pub String);

/// An answer that did not come.
#[derive(Debug)]
struct Fault {
    how: FailureKind,
    message: String,
}

impl Fault {
    fn new(how: FailureKind, message: impl Into<String>) -> Self {
        Self { how, message: message.into() }
    }
}

impl From<Fault> for Answer {
    fn from(Fault { how, message }: Fault) -> Self {
        Self::Broken { how, message }
    }
}

/// A program that can be asked about a file.
trait Program {
    /// One answer, and what it wrote to its standard error meanwhile.
    fn about(&self, format: &str, file: &Path) -> (Answer, String);
}
