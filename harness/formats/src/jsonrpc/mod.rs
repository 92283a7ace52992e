//! `jsonrpc`: one JSON-RPC message a line (clauses JRP-LINE, JRP-VERSION, JRP-SHAPE).
//!
//! Cannot carry: who sent a message, so a session in which both sides have a request with the same id open at
//! the same time is not carried (COR-DIRECTION-FLAT); times; anything of HTTP or SSE; the process and its exit.

mod read;
mod write;

use crate::format::{Capabilities, Format, Items};
use crate::head::Head;

/// The format.
pub(crate) static FORMAT: Format = Format {
    name: "jsonrpc",
    aliases: &[],
    file: "jsonrpc.jsonl",
    about: "one JSON-RPC message a line",
    carries: Capabilities::MESSAGES,
    caveat: "",
    items: Items::Lines,
    messages: &[&[]],
    transport: None,
    scripts: &[None],
    live: false,
    paired: true,
    redacts: &[],
    clauses: &["JRP-LINE"],
    sniff,
    read: read::read,
    write: write::write,
};

fn sniff(head: &Head) -> bool {
    ["jsonrpc", "method", "result", "error", "id", "params"].iter().any(|name| head.has(name))
}
