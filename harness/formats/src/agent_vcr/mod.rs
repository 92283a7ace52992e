//! `agent-vcr`: the recording of agent-vcr (0.1, PyPI): `format_version`, `metadata`, and a `session` of the `initialize_request`,
//! the `initialize_response`, and `interactions`, each of a client's `request`, the `notifications` of the server that came
//! before its answer, and the `response`.
//!
//! An interaction is read in that order. The recorder adds one when its answer comes, so that calls which overlapped stand in the
//! order of their ends. A notification may have come before the request that it stands with. An interaction's `timestamp` is that
//! of the answer, in no zone, and is taken for UTC; the request was `latency_ms` earlier.
//!
//! The recorder writes `null` for the members that a message does not have: `params`, `result`, `error`, and an error's `data`.
//! They are taken off before anybody sees the message, so that a `params` that was null is lost. A converter, which leaves its mark
//! in the tags, adds none.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the process; times of the handshake and of
//! notifications. The recorder keeps of the client
//! nothing but requests that were answered, and of the server answers and notifications: what the server asks, what the client
//! answers and notifies, and a request without an answer have no place. So behind the handshake a body is missing
//! (HAR-MISSING), unless a converter wrote the file: it writes such messages in interactions of their own, which agent-vcr itself
//! does not load. A response whose result is no object, or whose error has data that is none, is gone, and so are
//! notifications before the end of the handshake. Every message went through Python's JSON.

mod bare;
mod read;
mod write;

use crate::format::{Capabilities, Format, Items};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities {
        direction: true,
        times: true,
        times_beside_calls: false,
        ..Capabilities::MESSAGES
    },
    caveat: "agent-vcr keeps requests with their answers, in the order of their ends, and notifications of the server; what else was said is in no recording of its own",
    items: Items::List(&["session", "interactions"]),
    messages: &[&["request"], &["response"]],
    ..Format::new(
        [
            "agent-vcr",
            "agent-vcr.json",
            "a recording of agent-vcr: requests, each with its response and the notifications before it",
        ],
        sniff,
        read::read,
        Spelling::Document(write::write),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("session") && head.has("format_version") && head.has("metadata")
}

/// Why a file that looks a little like one of these is none.
pub(crate) fn why_not(head: &Head) -> Option<&'static str> {
    let others = ["format_version", "metadata"];
    (head.has("session") && !sniff(head) && others.iter().any(|name| head.has(name)))
        .then_some("`format_version`, `metadata` and `session` are not all there")
}
