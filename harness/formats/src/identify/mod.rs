//! Which transport and which revision of MCP a capture shows, with the evidence, and the connection counts that
//! go with it.
//!
//! Memory: see [`Identifier`].
//!
//! Two rules that a glance gets wrong. Only a GET that is answered with an event stream is an SSE connection: a
//! POST answered with one is an ordinary answer of Streamable HTTP. And a revision is what both sides settled
//! on, never what the client wished for: a version that requests name counts once one of them gets a result.
//!
//! Clients of HTTP+SSE send the `MCP-Protocol-Version` header too, to the endpoint that the stream announced.
//! There it tells a revision and no transport.

mod counts;
mod evidence;
mod finding;
mod identifier;
mod json;
mod signs;
#[cfg(test)]
mod tests;

pub use crate::transport::Transport;
pub use counts::{ResponseCounts, StreamDurations};
pub use evidence::{Evidence, EvidenceLocation};
pub use finding::{Identification, RevisionSource, TransportFinding};
pub use identifier::{Identifier, identify, identify_any};
