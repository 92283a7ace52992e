//! A session that one can look into: every message whole, what was found, and how time went.
//!
//! [`Model`] is the session as plain data, and as JSON that a page may hold whatever strangers wrote; [`page()`] is a page of one
//! file around it. The script draws any such model, wherever it comes from. Neither opens a file.

mod model;
mod page;

pub use model::Model;
pub use page::page;

use crate::diagram_builder::RowSelection;

/// So many bytes of one text are kept, unless everything is asked for.
pub const MOST_TEXT: usize = 256 << 10;

/// The messages that a page shows, unless a range or everything is asked for.
pub const ROWS: RowSelection = RowSelection::Range(0, 99_999);
