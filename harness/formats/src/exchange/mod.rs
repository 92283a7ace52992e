//! HTTP exchanges, whichever format lists them: what their bodies carry, and as which exchanges a session is written.

pub(crate) mod body;
pub(crate) mod endpoint;
mod invented;
pub(crate) mod media;
pub(crate) mod parts;
pub(crate) mod plan;
pub(crate) mod read;
pub(crate) mod sessions;
mod stamp;
pub(crate) mod timed;
pub(crate) mod write;
