//! The rules by which recordings of MCP sessions are checked, and the engine that applies them.

pub mod check;
pub mod engine;
mod families;
mod family;
pub mod revision;
pub mod rule;
pub mod selection;

pub use families::{FAMILIES, all, family_of, find};
pub use family::Family;
