//! Exact JSON: values as the text they were written in.
//!
//! A value is never turned into a float, a map or a decoded copy on the way: number text, twice-named members, lone
//! surrogate escapes and byte places are all still there when somebody asks.

mod member_name;
mod members;
mod number;
mod owned;
mod part;
mod scan;
mod string;
mod tree;
mod value;
mod word;
mod write;

pub use member_name::MemberName;
pub use members::members_around;
pub use number::same_number;
pub(crate) use number::write_number;
pub use owned::OwnedJson;
pub use part::{MAX_INDEXED, index_members, member_index};
pub(crate) use part::{MemberPlace, index_value};
pub use scan::{Scanner, SyntaxError};
pub use string::{JsonString, string_at, write_string};
pub use tree::{Node, Tree};
pub use value::{Json, JsonKind, MemberIndex};
pub use write::{compact, quoted, write_compact};
