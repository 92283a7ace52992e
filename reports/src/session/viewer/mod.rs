//! A session that one can look into: every message whole, what was found, and how time went.
//!
//! The model is the session as JSON that a page may hold whatever strangers wrote; [`page()`] is a page of one file around it,
//! whose script draws any such model.

mod model;
mod page;

pub use page::page;

use crate::session::diagram_builder::RowSelection;

/// How many bytes of one text are kept, unless everything is asked for.
pub const MOST_TEXT: usize = 256 << 10;

/// The messages that a page shows, unless a range or everything is asked for.
pub const ROWS: RowSelection = RowSelection::Range(0, 99_999);
