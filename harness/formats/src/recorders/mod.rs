//! The formats of small recorders that write JSON, each a row: its [`Format`](crate::Format), and where it has what.
//!
//! [`lines`] reads those that write a line for each message, [`document`] those that write a list in a document. A recorder's own
//! file has only what no other does.

pub(crate) mod agent_vcr;
mod cut;
pub(crate) mod directed_jsonl;
pub(crate) mod document;
mod lines;
pub(crate) mod mcp_cassette;
pub(crate) mod mcp_rec;
pub(crate) mod mcp_recorder;
pub(crate) mod mcporter;
