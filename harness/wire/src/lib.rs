//! Live MCP sessions: recorded, passed on, played, and driven through other people's recorders.

pub mod drive;
pub mod group;
pub mod play;
pub mod proxy;
pub mod record;

/// A person to whom a recorder can report while a session goes on; a terminal, as a rule.
pub trait Notify: Send + Sync {
    /// Reports what went wrong, in a sentence.
    fn error(&self, text: &str);
}
