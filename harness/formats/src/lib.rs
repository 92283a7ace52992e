//! How a session is spelled: readers and writers for the capture formats.
//!
//! Bytes become entries ([`transcript::session::Entry`]) in the order of the session, and entries become bytes. What the
//! entries mean is the business of [`transcript::contract`]; [`meaning()`] joins the two.
//!
//! ```
//! use formats::{Input, ReadOptions, detect, meaning};
//!
//! let recording = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}
//! {"jsonrpc":"2.0","id":7,"result":{}}"#;
//! let format = detect(&mut Input::new(&mut &recording[..])?)?.unwrap();
//! let meaning = meaning(format, &mut &recording[..], ReadOptions::default())?;
//! assert_eq!(meaning.totals.events, 2);
//! assert!(meaning.text.contains(r#""kind": "result", "id": "7", "answers": 0"#));
//! # Ok::<(), formats::ReadError>(())
//! ```
//!
//! A format is a folder here, or a file in `recorders`, with a line beside it and one in the registry ([`FORMATS`]). Nothing else
//! names it: what others have to know of a format is a property of its [`Format`].

mod batch;
mod claude_desktop_log;
mod conversion;
mod data;
mod detect;
mod envelope;
mod excerpt;
mod exchange;
mod foreign;
mod format;
mod har;
mod head;
pub mod identify;
mod input;
mod inspector;
mod inspector_network;
mod jsonrpc;
mod lines;
mod log;
mod loss;
mod made_up;
mod marked_text;
mod mcp_replay;
mod meaning;
mod reading;
mod recorders;
mod registry;
mod salvage;
mod session;
#[cfg(test)]
mod small;
pub mod sse;
#[cfg(test)]
mod tests;
pub mod time;
mod transport;
mod txtar;
pub mod unpacking;
pub mod url;
mod vscode_log;
mod writing;

pub use batch::apart;
pub use conversion::Conversion;
pub use detect::{EMPTY, detect, detect_among, nearest, why_undetected};
pub use exchange::sessions::sessions;
pub use foreign::{foreign, other_protocol};
pub use format::{Capabilities, Format, Items, ReadOptions, Tolerance, Unloadable};
pub use head::Head;
pub use input::{Input, MAX_ITEM_BYTES, ReadError};
pub use loss::Loss;
pub use mcp_replay::trace_start;
pub use meaning::{Meaning, MeaningWriter, meaning};
pub use reading::{OrderGuess, Step, owned_entries, parted, walk};
pub use registry::{FORMATS, find, live, named, names, only_read, plainest, retired, to_write, written};
pub use salvage::{Salvaged, salvage};
pub use session::{OwnedContent, OwnedEntry, Session, Totals, TransportContext, usual_sender};
pub use transport::Transport;
pub use writing::{LineWriter, Opening, Spelling, Spoken, WriteLines};
