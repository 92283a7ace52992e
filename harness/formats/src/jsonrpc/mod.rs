//! `jsonrpc`: one JSON-RPC message a line (clauses JRP-LINE, JRP-VERSION, JRP-SHAPE).
//!
//! Cannot carry: who sent a message, so a session in which both sides have a request with the same id open at
//! the same time is not carried (COR-DIRECTION-FLAT); times; anything of HTTP or SSE; the process and its exit.

mod read;
mod write;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities::MESSAGES,
    messages: &[&[]],
    scripts: &[None],
    paired: true,
    clauses: &["JRP-LINE"],
    ..Format::new(
        ["jsonrpc", "jsonrpc.jsonl", "one JSON-RPC message a line"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

fn sniff(head: &Head) -> bool {
    ["jsonrpc", "method", "result", "error", "id", "params"].iter().any(|name| head.has(name))
}
