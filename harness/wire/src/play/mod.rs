//! A scripted peer: plays one side of a recorded session, and reports where the other side differs.
//!
//! What to send and what to expect is pure (`script`, `player`); `game` is a play under way. A transport carries it
//! (`stdio`, `http`), in the ways that a peer may take (`variant`), and writes down what really passed (`journal`).
//!
//! Every wait has an end: while something is awaited, it has to come within [`Plan::patience`] of what was awaited before it,
//! whatever else comes meanwhile; the bytes of one message may take longer. Memory: the session, and what a transport holds.

mod game;
pub mod http;
pub mod mock;
mod names;
mod plan;
mod player;
mod script;
mod stdio;
#[cfg(test)]
mod testing;
mod variant;

pub use crate::http::HELD;
pub use crate::journal;
pub(crate) use plan::MISSING;
pub use plan::{Plan, Played, TOLD};
pub use script::Script;
pub(crate) use script::{ScriptStep, event, read_session};
#[cfg(unix)]
pub(crate) use stdio::as_client_of;
pub use stdio::{as_client, as_server};
#[cfg(test)]
pub(crate) use testing::plays;
pub use variant::Variants;
