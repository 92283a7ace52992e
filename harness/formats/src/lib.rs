//! How a session is spelled: readers and writers for the capture formats.
//!
//! A format is a folder here and a line in [`FORMATS`]; nothing else in the house knows its name. Bytes become
//! entries ([`transcript::session::Entry`]) in the order of the session, and entries become bytes. What the
//! entries mean is not this crate's business: that is [`transcript::contract`], and [`meaning()`] joins the two.

mod data;
mod detect;
mod envelope;
mod excerpt;
mod exchange;
mod har;
mod http_sse;
pub mod identify;
mod input;
mod inspector;
mod inspector_network;
mod jsonrpc;
mod lines;
mod mcp_rec;
mod mcp_recorder;
mod mcp_replay;
mod mcporter;
mod meaning;
mod owned;
#[cfg(test)]
mod small;
pub mod sse;
mod streamable_http;
pub mod time;
mod vscode_log;

pub use detect::{Head, detect};
pub use input::{Input, MAX_ITEM_BYTES, ReadError};
pub use meaning::{Meaning, MeaningWriter, Step, Totals, meaning, walk};
pub use owned::{Loss, OwnedContent, OwnedEntry, Session, TransportContext, usual_sender};

use std::io::{self, Write};
use transcript::message::Refusal;
use transcript::session::Sink;

/// Every capture format, in the order in which they are listed. Detection tries them from the last to the first,
/// since the first is told by the least.
pub static FORMATS: &[&Format] = &[
    &jsonrpc::FORMAT,
    &streamable_http::FORMAT,
    &http_sse::FORMAT,
    &mcp_replay::FORMAT,
    &inspector::FORMAT,
    &har::FORMAT,
    &mcp_rec::FORMAT,
    &mcporter::FORMAT,
    &mcp_recorder::FORMAT,
    &vscode_log::FORMAT,
    &inspector_network::FORMAT,
];

/// A capture format: its names, what it can carry, and its reader and writer.
#[derive(Debug)]
pub struct Format {
    /// The name in commands, case directories and answers.
    pub name: &'static str,
    /// Other names that are understood.
    pub aliases: &'static [&'static str],
    /// The file name of such a transcript in a case directory.
    pub file: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What it can carry besides messages and their order.
    pub carries: Capabilities,
    /// What a person should know who compares or converts such files; empty where there is nothing.
    pub caveat: &'static str,
    /// Whether a file that begins like this is one of these.
    pub sniff: fn(&Head) -> bool,
    /// Hands the entries of a transcript to a sink, in the order of the session.
    pub read: fn(&mut Input<'_>, ReadOptions, &mut Sink<'_>) -> Result<(), ReadError>,
    /// Spells a session. What the format cannot carry is left out; [`Session::losses`] lists it beforehand.
    pub write: fn(&Session, &mut dyn Write) -> io::Result<()>,
}

impl Format {
    /// Whether a transcript is lines, rather than one document.
    #[must_use]
    pub fn is_lines(&self) -> bool {
        [".jsonl", ".log"].iter().any(|end| self.file.ends_with(end))
    }
}

/// The format of this name or alias.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name || format.aliases.contains(&name))
}

/// What a format can carry besides the messages and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Who sent each message.
    pub direction: bool,
    /// When.
    pub times: bool,
    /// HTTP methods, statuses and headers.
    pub http: bool,
    /// Whole HTTP exchanges: which answer came to which request, with its URL.
    pub exchanges: bool,
    /// SSE event names and ids.
    pub sse: bool,
    /// The server's command line and exit code.
    pub process: bool,
    /// A 401's challenge, and so the summary of K2-A.
    pub challenge: bool,
}

impl Capabilities {
    /// Messages and their order, and nothing else.
    pub const MESSAGES: Self = Self {
        direction: false,
        times: false,
        http: false,
        exchanges: false,
        sse: false,
        process: false,
        challenge: false,
    };
}

/// How a transcript is to be read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// What is passed over and handed on as noise, instead of ending the reading.
    pub tolerance: Tolerance,
}

/// How much a reader passes over where a message belongs. What it passes over it hands on: nothing goes unsaid.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tolerance {
    /// Nothing: whatever is no message by the contract rejects the transcript.
    #[default]
    Nothing,
    /// What a recorder may have picked up beside the messages: see [`Refusal::is_noise`].
    Noise,
    /// Every faulty message, for whoever judges each by itself. The line formats hand the others over taken apart, since
    /// that is done beside the judging, on another thread.
    Faults,
}

impl ReadOptions {
    /// Options that pass over a recorder's noise.
    pub const LENIENT: Self = Self { tolerance: Tolerance::Noise };

    /// Whether messages are to be taken apart.
    fn apart(self) -> bool {
        self.tolerance == Tolerance::Faults
    }

    fn passes(self, refusal: &Refusal) -> bool {
        match self.tolerance {
            Tolerance::Nothing => false,
            Tolerance::Noise => refusal.is_noise(),
            Tolerance::Faults => true,
        }
    }
}
