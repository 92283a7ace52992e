//! The envelope that `streamable-http` and `http-sse` share: an object with `transport` and `entries`, each entry
//! a `request`, a `response` or an `sse` event (clauses ENV-*, SSE-*, K2A-*).
//!
//! Streams: memory is the largest entry, wherever `transport` stands.

mod entry;
mod read;
mod types;
mod write;

pub(crate) use entry::context;
pub(crate) use read::read;
pub(crate) use write::{is_foreign, lines};

use crate::format::{Capabilities, Items};
use crate::head::Head;
use crate::transport::Transport;

/// What both formats carry.
pub(crate) const CARRIES: Capabilities = Capabilities {
    direction: true,
    times: true,
    times_beside_calls: true,
    http: true,
    repeats: false,
    exchanges: false,
    sse: true,
    process: false,
    challenge: true,
};

/// Where both formats have their entries.
pub(crate) const ITEMS: Items = Items::List(&["entries"]);

/// Where an entry has its message.
pub(crate) const MESSAGES: &[&[&str]] = &[&["request"], &["response"], &["sse", "data"]];

/// Whether a file that begins like this is an envelope of this transport.
pub(crate) fn sniff(head: &Head, transport: Transport) -> bool {
    head.text("transport") == Some(transport.name())
}
