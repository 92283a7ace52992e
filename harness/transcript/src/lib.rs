//! What a recorded MCP session means.

pub mod clauses;
