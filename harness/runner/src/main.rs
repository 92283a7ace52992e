//! The `mcp-concord` binary.
fn main() {}
