//! HTTP as every part of this crate speaks it: one server, one client, one reader and one writer of event streams.
//!
//! Connections are accepted by [`Serving`] and made by [`Client`]; bodies are boxed ([`Body`]), and one that passes can be
//! [`Watched`]. Nothing here knows a session, a recording or a script.

mod body;
mod client;
mod events;
mod headers;
mod hosts;
mod server;
mod target;

pub(crate) use body::{
    Body, BoxError, End, PolledPart, Unread, Watch, Watched, answer, boxed, collect, full,
};
pub use client::fetch;
pub(crate) use client::{Client, Failure, error_chain};
pub(crate) use events::{EventReader, SseEvent, spell};
pub(crate) use headers::{
    EVENTS, JSON, LAST_EVENT, SESSION, VERSION, accepts, header, header_list, insert, is_stream, media_type,
    text, to_server, without_connection,
};
pub use hosts::AllowedHosts;
pub(crate) use server::{HEAD_DEADLINE, Limits, Service, Serving, listen, runtime};
pub use target::Target;
pub(crate) use target::endpoint_path;

/// A message of up to this size is held.
pub const HELD: usize = 64 << 20;
