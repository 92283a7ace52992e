//! What is to be done for a client, and the ids under which it is asked.

use crate::messages::internal_error;
use crate::play::mismatch::Mismatch;
use std::collections::HashSet;

/// Something to be done for a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::play) enum Action {
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
    /// Tell of this.
    Report(Mismatch),
}

/// The ids under which a client was asked something. Each is used once.
#[derive(Debug, Default)]
pub(super) struct ServerIds {
    pub(super) given: HashSet<Vec<u8>>,
    next: u64,
}

impl ServerIds {
    /// The id under which a client is asked what has this id in the recording, or with the live server.
    pub(super) fn name(&mut self, key: &[u8], text: &str) -> String {
        if self.given.insert(key.to_vec()) {
            return text.to_owned();
        }
        loop {
            self.next += 1;
            let name = format!("mcp-concord-{}", self.next);
            if self.given.insert(name.clone().into_bytes()) {
                return format!("\"{name}\"");
            }
        }
    }
}

/// An error for a request that cannot be answered.
pub(super) fn refusal(id: &str, why: &str, tag: u64) -> Action {
    let text = internal_error(id, &format!("mcp-concord play: {why}"));
    Action::Send { text, about: Some(tag), last: true }
}
