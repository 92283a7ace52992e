//! What a capture turned out to show.

use super::counts::{ResponseCounts, StreamDurations};
use super::evidence::Evidence;
use crate::transport::Transport;

/// What the evidence comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportFinding {
    /// One transport, and nothing against it.
    One(Transport),
    /// The pipes of a program.
    Stdio,
    /// Signs of both HTTP transports.
    Mixed,
    /// No sign of any.
    Unknown,
}

transcript::named! {
    /// Where a revision was read from, in the order in which they rule.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RevisionSource {
        /// Named by requests, at least one of which got a result.
        RequestMeta "request-meta",
        /// The server's answer to `initialize`.
        InitializeResult "initialize-result",
        /// The `MCP-Protocol-Version` header.
        Header "header",
        /// Something that only one revision has, or that a server must take for it.
        Hint "hint",
    }
}

/// What a capture turned out to show. `None` in a count: the format cannot tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identification {
    /// The transport.
    pub transport: TransportFinding,
    /// The revision, and what it was read from.
    pub revision: Option<(String, RevisionSource)>,
    /// What shows it.
    pub evidence: Vec<Evidence>,
    /// HTTP requests that carry a method of MCP.
    pub requests_total: Option<u64>,
    /// HTTP exchanges of every method that are open when the capture ends.
    pub connections_active: Option<u64>,
    /// GETs that were answered with an event stream; each resumption is one more.
    pub sse_connections_total: Option<u64>,
    /// Those that are open when the capture ends.
    pub sse_connections_active: Option<u64>,
    /// SSE events, those that carry no message among them.
    pub sse_events: Option<u64>,
    /// How long event streams lasted, whatever the method.
    pub stream_durations: Option<StreamDurations>,
    /// The servers that brought responses both as JSON and on an event stream: their URLs without a query.
    pub both_modes: Option<Vec<String>>,
    /// HTTP answers by kind.
    pub responses: Option<ResponseCounts>,
    /// JSON-RPC messages.
    pub messages: u64,
    /// What they are of, where none is of MCP: in a sentence without its full stop.
    pub instead: Option<String>,
    /// Bodies that cannot be read.
    pub missing: u64,
    /// Those of them that are there with their content coding; the exporter dropped the others.
    pub coded: u64,
}
