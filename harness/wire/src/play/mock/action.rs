//! What is to be done for a client.

use crate::messages::internal_error;
use crate::play::mismatch::Mismatch;

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

/// An error for a request that cannot be answered.
pub(super) fn refusal(id: &str, why: &str, tag: u64) -> Action {
    let text = internal_error(id, &format!("mcp-concord play: {why}"));
    Action::Send { text, about: Some(tag), last: true }
}
