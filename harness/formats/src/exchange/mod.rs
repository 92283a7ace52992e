//! HTTP exchanges, whichever format lists them: what their bodies carry, and as which exchanges a session is written.
//!
//! Knows: MCP over HTTP. Refuses to know: how a format spells an exchange; `har` and `inspector_network` do.

pub(crate) mod body;
pub(crate) mod plan;
pub(crate) mod read;
pub(crate) mod write;
