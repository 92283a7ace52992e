//! A recorder between an MCP client and a server that speak HTTP: it forwards, and keeps what it forwards as HAR 1.2.
//!
//! Threads that forward (`forward`) send what passes to a queue (`events`); another thread gathers exchanges
//! (`exchange`, `archive`) and keeps the file a complete archive (`har_file`). The traffic waits for a slow file for half a second
//! in all; then content is left out, and the archive and the summary say how much.

mod archive;
mod body;
mod endpoint;
mod events;
mod exchange;
mod forward;
pub mod fuzzing;
mod har_file;
mod kept;
mod server;
#[cfg(test)]
mod testing;

pub use crate::http::Target;
pub use archive::Summary;
pub(crate) use har_file::EMPTY;
pub use server::Proxy;
