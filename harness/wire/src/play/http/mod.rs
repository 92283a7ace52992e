//! Playing over HTTP, in both of MCP's transports.
//!
//! Knows: how the parts stand to each other. Which exchange carries which message is pure (`route`); hyper's side of a
//! server accepts requests and hands them to the one thread that decides (`listener`, `server`), and of a client it sends
//! them (`calls`, `client`). Bodies are fed from that thread (`body`), and events are spelled and kept for a resumption
//! (`stream`). Refuses to know: what messages say.

mod body;
mod calls;
mod client;
mod listener;
mod route;
mod server;
mod stream;

pub use client::as_client;
pub use formats::identify::Transport;
pub use server::Server;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::time::Instant;

/// In what form a server of Streamable HTTP answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// Each request as the session shows it, and as a stream where it does not.
    AsRecorded,
    /// As one JSON body. What the server says of its own goes over the stream of a GET.
    Json,
    /// As a stream of events.
    Stream,
}

/// The header of a session's id.
const SESSION: &str = "mcp-session-id";

/// The header of the revision that was agreed on.
const VERSION: &str = "mcp-protocol-version";

/// The header of a client that comes back to a stream.
const LAST_EVENT: &str = "last-event-id";

/// The type of a stream of events.
const EVENTS: &str = "text/event-stream";

/// The type of a message.
const JSON: &str = "application/json";

/// The next thing that happens; none where nothing does, and not a byte moves, for so long.
async fn next<T>(came: &mut Receiver<T>, patience: Duration, moved: &AtomicU64) -> Option<T> {
    loop {
        let before = moved.load(Ordering::Relaxed);
        match tokio::time::timeout(patience, came.recv()).await {
            Ok(next) => return next,
            Err(_) if moved.load(Ordering::Relaxed) == before => return None,
            Err(_) => {}
        }
    }
}

/// The next thing that happens before that time; none where nothing does.
async fn next_until<T>(came: &mut Receiver<T>, until: Instant) -> Option<T> {
    tokio::time::timeout_at(until, came.recv()).await.ok().flatten()
}

#[cfg(test)]
mod tests;
