//! Playing over HTTP, in both of MCP's transports.
//!
//! Which exchange carries which message is pure (`route`). As a server, requests come in (`listener`) and are handed to the
//! one thread that decides (`server`); as a client, that thread decides (`client`) what is sent (`calls`). Bodies are fed
//! from that thread (`body`), and events are kept for a client that comes back (`stream`).

mod body;
mod calls;
mod client;
mod listener;
pub(super) mod route;
mod server;
mod stream;

pub use client::as_client;
pub use formats::identify::Transport;
pub use route::Answers;
pub(crate) use server::Presence;
pub use server::Server;

#[cfg(test)]
mod tests;
