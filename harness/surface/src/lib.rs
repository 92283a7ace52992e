//! What an MCP server offers, as recordings show it, and how two such offers differ.
//!
//! A [`Surface`] is taken from the listings of a session: tools with their schemas, resources, templates, prompts, and what the
//! handshake says. [`compare`] tells what a change means for clients: *breaking*, *review* or *additive*. JSON Schemas are
//! compared by what they accept ([`schema`]). A surface can be written as a lock file and read again.
//!
//! ```
//! use formats::{Input, find};
//! use surface::{Class, Collector, compare};
//!
//! let listing = |required: &str| {
//!     format!(
//!         r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
//! {{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"add","inputSchema":{{"type":"object","required":{required}}}}}]}}}}
//! "#
//!     )
//! };
//! let surface = |recording: String| {
//!     let mut collector = Collector::default();
//!     let mut bytes = recording.as_bytes();
//!     collector.read(find("jsonrpc").unwrap(), &mut Input::new(&mut bytes)?)?;
//!     Ok::<_, formats::ReadError>(collector.finish())
//! };
//! let changes = compare(&surface(listing("[]"))?, &surface(listing(r#"["a"]"#))?).changes;
//! assert_eq!(changes[0].class, Class::Breaking);
//! assert_eq!(changes[0].what, "`a` is required now");
//! # Ok::<(), formats::ReadError>(())
//! ```

mod change;
mod collect;
mod compare;
mod lock;
mod model;
pub mod output;
pub mod schema;

pub use change::{Change, Class, Comparison, KINDS_OF_CHANGE, KindOfChange};
pub use collect::Collector;
pub use compare::compare;
pub use lock::{LOCK_VERSION, is_lock, read_lock, write_lock};
pub use model::{Item, LISTINGS, Listing, ListingKind, Server, Surface};
