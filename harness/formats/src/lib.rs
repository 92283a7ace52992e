//! How a session is spelled: readers and writers for the capture formats.
//!
//! A format is a folder here and a line in [`FORMATS`]; nothing else in the house knows its name. Bytes become
//! entries ([`transcript::session::Entry`]) in the order of the session, and entries become bytes. What the
//! entries mean is not this crate's business: that is [`transcript::contract`], and [`meaning()`] joins the two.

mod data;
mod detect;
mod envelope;
mod excerpt;
mod exchange;
mod format;
mod har;
mod head;
mod http_sse;
pub mod identify;
mod input;
mod inspector;
mod inspector_network;
mod jsonrpc;
mod lines;
mod loss;
mod mcp_rec;
mod mcp_recorder;
mod mcp_replay;
mod mcporter;
mod meaning;
mod reading;
mod registry;
mod session;
#[cfg(test)]
mod small;
pub mod sse;
mod streamable_http;
pub mod time;
mod transport;
mod vscode_log;

pub use detect::{detect, detect_among};
pub use format::{Capabilities, Format, Items, ReadOptions, Tolerance};
pub use head::Head;
pub use input::{Input, MAX_ITEM_BYTES, ReadError};
pub use loss::Loss;
pub use meaning::{Meaning, MeaningWriter, meaning};
pub use reading::{Step, walk};
pub use registry::{FORMATS, find, live, plainest};
pub use session::{OwnedContent, OwnedEntry, Session, Totals, TransportContext, usual_sender};
pub use transport::Transport;
