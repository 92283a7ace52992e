//! A server that answers each request with what the recording has for one that says the same, in any order and as often as
//! it is asked.
//!
//! What the recording has is found by method and parameters (`catalogue`). What one client is sent is pure (`client`, and
//! `forwarding` for what a live server is asked instead); a transport carries it (`stdio`, and `http::server::mock`). What
//! was new is put into the recording when all is over (`additions`).
//!
//! Memory: the session and an entry for each of its messages, and for each client how often it asked for what, the requests
//! that wait for an answer, and what was new.

mod additions;
mod catalogue;
mod client;
mod forwarding;
mod stdio;

pub use additions::{New, can_grow, grown};
pub(super) use catalogue::Catalogue;
pub(super) use client::MockClient;
pub use stdio::as_server;

#[cfg(test)]
mod tests;

use super::plan::{Mismatch, Played};
use crate::messages::internal_error;

/// How requests are answered.
#[derive(Debug, Clone, Default)]
pub struct Matching {
    /// Each recorded answer is given once to a client. Without it the last one of several is given again.
    pub once: bool,
    /// The command of a live server, and what it is asked.
    pub live: Option<(Vec<String>, AskLive)>,
}

/// What a live server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskLive {
    /// What the recording does not have.
    New,
    /// Everything: the recording is renewed.
    All,
}

/// The outcome of a mock.
#[derive(Debug, Default)]
pub struct Served {
    /// What was sent and received. A mismatch is a request without an answer.
    pub played: Played,
    /// What a live server was asked, with what it answered: by client, in the order of the answers.
    pub new: Vec<New>,
    /// Why a live server could not be started.
    pub not_started: Option<String>,
}

/// Something to be done for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// Send it this.
    Send {
        /// The message, on one line.
        text: String,
        /// The tag of the request that it belongs to, until that is answered.
        about: Option<u64>,
        /// It is the answer.
        last: bool,
    },
    /// Send this to the live server.
    Ask(String),
    /// Report this.
    Report(Mismatch),
}

/// An error for a request that cannot be answered.
fn refusal(id: &str, why: &str, tag: u64) -> Action {
    let text = internal_error(id, &format!("mcp-concord play: {why}"));
    Action::Send { text, about: Some(tag), last: true }
}
