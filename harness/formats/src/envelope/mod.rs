//! The envelope that `streamable-http` and `http-sse` share: an object with `transport` and `entries`, each entry
//! a `request`, a `response` or an `sse` event (clauses ENV-*, SSE-*, K2A-*).
//!
//! Knows: the envelope's shape; the two formats differ in their label alone. Streams: memory is the largest entry,
//! wherever `transport` stands.

mod entry;
mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;

use crate::{Capabilities, Head};

/// What both formats carry.
pub(crate) const CARRIES: Capabilities = Capabilities {
    direction: true,
    times: true,
    http: true,
    exchanges: false,
    sse: true,
    process: false,
    challenge: true,
};

/// Whether a file that begins like this is an envelope with this label. `labels` are the format's names; the first
/// format of the two also takes what is clearly an envelope without a label that anybody knows, so that a person
/// hears what is wrong with it.
pub(crate) fn sniff(head: &Head, label: &str) -> bool {
    head.text("transport") == Some(label)
}
