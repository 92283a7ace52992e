//! What a recorded MCP session means.
//!
//! Exact JSON, JSON-RPC messages, a session as its readers hand it over, and the reading contract that turns a session into
//! its meaning. Nothing here depends on a capture format, a disk, a clock or randomness.
//!
//! ```
//! use transcript::contract::Contract;
//! use transcript::message::Message;
//! use transcript::session::{Content, Entry, Location};
//!
//! let mut contract = Contract::default();
//! let mut events = Vec::new();
//! for line in [
//!     r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}"#,
//!     r#"{"jsonrpc":"2.0","id":"7","result":{"sum":1}}"#,
//! ] {
//!     let message = Message::parse(line).unwrap();
//!     let entry = Entry::new(Location::default(), Content::Message(message));
//!     events.extend(contract.take(&entry).unwrap());
//! }
//! assert_eq!(events[1].answers, Some(0));
//! ```

pub mod align;
pub mod batch;
pub mod call_ids;
pub mod calls;
pub mod clauses;
pub mod contract;
pub mod dialect;
pub mod diff;
pub mod entry_buffer;
pub mod json;
pub mod k2a;
pub mod meaning;
pub mod message;
mod named;
pub mod nearest;
pub mod refused;
pub mod rejection;
pub mod revision;
pub mod session;
pub mod session_names;
