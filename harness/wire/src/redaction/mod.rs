//! Takes secrets out of what MCP's peers say to each other, whatever writes it down: JSON, event streams, forms, headers,
//! URLs and command lines.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `rules` | what is asked for: names and patterns |
//! | `json` | where the values of a JSON text are, and which are never touched |
//! | `assignments` | `name=value`, `name: value` and a URL's password, in any text |
//! | `encodings` | percent signs, Base64 and hexadecimal digits |
//! | `text` | the way down through all of these, and headers |
//! | `body` | whole bodies, and the blocks of event streams |
//! | `command` | command lines |
//!
//! Nothing here knows a recorder or a format. Memory: a few copies of what is at hand.

mod assignments;
mod body;
mod command;
mod encodings;
mod json;
mod rules;
mod text;

pub use rules::{MARKER, Redaction};
