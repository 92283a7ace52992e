//! Live MCP sessions over stdio and HTTP: recorded, proxied, played, and driven through a recorder under test.
//!
//! From the ground to the top; each module uses only those above it in this table:
//!
//! | module | what it is |
//! | --- | --- |
//! | [`files`], `utf8`, `queue` | files that are whole or known not to be, and bytes that wait to be written |
//! | `messages`, [`journal`] | messages as text; what a peer really sent and received |
//! | `stdio`, [`interrupt`] | processes, pipes and lines: every program is started and ended in one way ([`group`]), and a request to end reaches all |
//! | `http` | one server, one client, one reader and writer of event streams, one handling of headers |
//! | [`redaction`] | takes secrets out of what is recorded |
//! | `bridge` ([`Bridge`]) | puts a server over stdio behind Streamable HTTP |
//! | `remote` | has a server over HTTP look like one over stdio |
//! | [`proxy`] | forwards HTTP, to a server or to the bridge, and keeps a HAR 1.2 archive of it |
//! | [`record`] | runs a server over stdio, or a remote one, and writes what passes, line by line, as a trace |
//! | [`probe`] | a client that plays a script of its own against a live server, a server that does so against a client, and the recordings of both |
//! | [`play`] | a scripted peer: it plays one side of a recorded session and reports where the other side differs |
//! | [`drive`] | puts a recorder between two such peers and judges what it forwarded and what it recorded |
//!
//! Problems are reported to a caller through [`Notify`]; nothing here writes to a terminal.

mod bridge;
pub mod drive;
pub mod files;
mod http;
pub mod interrupt;
pub mod journal;
mod messages;
pub mod play;
pub mod probe;
pub mod proxy;
mod queue;
pub mod record;
pub mod redaction;
mod remote;
mod stdio;
mod utf8;

pub use bridge::{Bridge, Conduct};
pub use http::{AllowedHosts, fetch};
pub use stdio::{Stderr, group, spawn_error};

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, also after a thread panicked with it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Why nothing was recorded or played; each in a sentence.
#[derive(Debug)]
pub enum StartError {
    /// A file, an address or this process cannot be used.
    Unusable(String),
    /// The program or the server at the other side cannot be run or reached.
    CannotRun(String),
}

impl StartError {
    /// The sentence.
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Unusable(why) | Self::CannotRun(why) => why,
        }
    }
}

/// A person, usually at a terminal, to whom recorders and players report while a session goes on.
pub trait Notify: Send + Sync {
    /// Reports what went wrong, in a sentence.
    fn error(&self, text: &str);

    /// Reports something that is worth knowing and is not an error, in a sentence.
    fn note(&self, text: &str);

    /// Reports where the other side differs from the session that is played, in up to four lines.
    fn mismatch(&self, text: &str);
}

/// Says nothing: what happens is seen elsewhere.
pub(crate) struct Quiet;

impl Notify for Quiet {
    fn error(&self, _: &str) {}

    fn note(&self, _: &str) {}

    fn mismatch(&self, _: &str) {}
}
