//! `har`: a log of whole HTTP exchanges, HAR 1.2 (clauses HAR-ORDER, HAR-MESSAGE, HAR-STREAM, HAR-MISSING, HAR-K2A).
//!
//! Members of our own say what HAR has no place for: `_events` when each part of an answer came, so that the messages of
//! a stream stand where they came amid those of other exchanges; `_ended` how an exchange was broken off.
//!
//! Cannot carry: the process and its exit; of an envelope's context more than the headers of a request
//! and the status and headers of a response. The words of an SSE comment are not kept, and a carriage return in
//! the data of an event that is not a message comes back as a line feed, since SSE has no other way.
//!
//! What the session does not know, a HAR must still say. The writer puts in the URL `http://localhost/mcp`, the
//! headers without which nobody could tell what a body is, the statuses that MCP asks for, and times that stand
//! still. It writes neither cookies nor the parts of a query, keeps no body that carried nothing, and writes one
//! stream as several where the session knows its messages amid others, because their order counts for more than
//! the number of streams.

mod read;
mod write;

use crate::exchange::CARRIES;
use crate::format::{Format, Items};
use crate::head::Head;
use crate::transport::Transport;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: CARRIES,
    items: Items::List(&["log", "entries"]),
    messages: &[&["request", "postData", "text"], &["response", "content", "text"]],
    scripts: &[Some(Transport::StreamableHttp)],
    live: true,
    clauses: &["HAR-", "SSE-", "K2A-"],
    ..Format::new(
        ["har", "har.har", "an HTTP archive (HAR 1.2): whole exchanges with their bodies"],
        sniff,
        read::read,
        Spelling::Document(write::write),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("log") && head.text("log").is_none() && !head.has("jsonrpc")
}

#[cfg(test)]
mod tests;
