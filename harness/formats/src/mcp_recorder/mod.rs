//! `mcp-recorder`: the cassette of mcp-recorder (0.5, PyPI): `version`, `metadata`, and `interactions`, each with the
//! `request` of a client and the `response` that came to it.
//!
//! An interaction is read as its request and then its response. The recorder adds one when it is over, so that calls
//! which overlapped stand in the order of their ends. Of an event stream it keeps the first event alone as the
//! response, whatever that is: a call whose progress came first holds the notification and has no answer. Answers to a
//! GET, every later event, and batches are gone. `lifecycle` interactions (GET, DELETE) hold no message and are passed
//! over. A response under an HTTP error status that is not JSON-RPC at all carries no message (ENV-NULL).
//!
//! Cannot carry: times, HTTP but for a status, SSE event names and ids, the process, an authorization challenge. What a
//! server says by itself has no place with a request: it is written as an interaction without one, which mcp-recorder's
//! model of a cassette allows and its replay never sends. The recorder itself has put every message through Python's
//! JSON: of a member that stood twice only the last is there, `-0` is `0`, `1e400` has become `Infinity`, which is no
//! JSON.

mod read;
mod write;

use crate::format::{Format, Items};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    caveat: "mcp-recorder keeps the first event of a stream as its response, and interactions in the order of their ends",
    items: Items::List(&["interactions"]),
    messages: &[&["request"], &["response"]],
    ..Format::new(
        ["mcp-recorder", "mcp-recorder.json", "a cassette of mcp-recorder: requests, each with its response"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("interactions") && !["jsonrpc", "events", "entries", "log"].iter().any(|name| head.has(name))
}
