//! Takes secrets out of what MCP's peers say to each other, whatever writes it down: JSON, event streams, forms, headers,
//! URLs and command lines.
//!
//! | file | what it knows |
//! | --- | --- |
//! | `rules` | what is asked for: names and patterns |
//! | `ledger` | which marker each value has, and how often there is one |
//! | `random` | which words may be keys that no pattern describes |
//! | `json` | where the values of a JSON text are, and which are never touched |
//! | `assignments` | `name=value`, `name: value` and a URL's password, in any text |
//! | `encodings` | percent signs, Base64 and hexadecimal digits |
//! | `text` | the way down through all of these, and headers |
//! | `body` | whole bodies, and the blocks of event streams |
//! | `command` | command lines |
//! | `session` | sessions that were read |
//!
//! Nothing here knows a recorder. Memory: a few copies of what is at hand.

mod assignments;
mod body;
mod command;
mod encodings;
mod json;
mod ledger;
mod random;
mod rules;
mod session;
#[cfg(test)]
pub(crate) mod tests;
mod text;

pub use ledger::MARKER;
pub use random::random_words;
pub use rules::{PRESETS, Preset, Redaction, preset};
