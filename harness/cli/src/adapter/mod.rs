//! Importers that are programs of their own: long-lived adapters (protocol 1), and one-shot commands.
//!
//! A program under test runs in a process group of its own, with a deadline for each answer, a bound on its memory and on
//! its output; it sees neutral file names; what it does wrong costs it the answer at hand and nothing else.

mod command;
mod handshake;
mod importer;
mod process;
mod program;
mod sample;
mod transcripts;
mod verify;

pub(crate) use command::Command;
pub(crate) use importer::Adapter;
pub(crate) use program::{Limits, NotRun, Reply};
pub(crate) use transcripts::Transcripts;
pub(crate) use verify::{Check, verify};
