//! Live MCP sessions over stdio and HTTP: recorded, proxied, played, and driven through a recorder under test.
//!
//! - [`redaction`] takes secrets out of what is recorded.
//! - [`record`] runs a server over stdio and writes what passes, line by line, as a trace.
//! - [`Bridge`] puts a server over stdio behind Streamable HTTP.
//! - [`proxy`] forwards HTTP between a client and a server and keeps a HAR 1.2 archive of it.
//! - [`play`] is a scripted peer: it plays one side of a recorded session and reports where the other side differs.
//! - [`files`] writes files, so that what is lost is known and what is there is whole.
//! - [`drive`] puts a recorder between two such peers and judges what it forwarded and what it recorded.
//!
//! Programs under test are started and ended in one way ([`group`]), and a request to end reaches all of them ([`interrupt`]).
//! Problems are reported through [`Notify`]; nothing here writes to a terminal.

mod bridge;
pub mod drive;
mod error;
pub mod files;
pub mod interrupt;
pub mod journal;
mod net;
mod notify;
pub mod play;
pub mod proxy;
mod queue;
pub mod record;
pub mod redaction;
mod regular;
mod remote;
mod stdio;
mod utf8;

pub use bridge::Bridge;
pub use error::StartError;
pub use net::AllowedHosts;
pub use notify::Notify;
pub use stdio::{Stderr, group, spawn_error};
