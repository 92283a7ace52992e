//! HTTP exchanges, whichever format lists them: what their bodies carry, and as which exchanges a session is written.

use crate::format::Capabilities;

/// What logs of exchanges carry.
pub(crate) const CARRIES: Capabilities = Capabilities {
    direction: true,
    times: true,
    http: true,
    repeats: true,
    exchanges: true,
    sizes: true,
    sse: true,
    challenge: true,
    ..Capabilities::MESSAGES
};

pub(crate) mod body;
mod invented;
pub(crate) mod media;
pub(crate) mod parts;
pub(crate) mod plan;
pub(crate) mod read;
pub(crate) mod sessions;
mod stamp;
pub(crate) mod timed;
pub(crate) mod write;
