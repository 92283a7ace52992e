//! The transports of MCP over HTTP.

/// How the two sides of a session over HTTP were connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// One endpoint, whose POSTs are answered with JSON or with an event stream; since 2025-03-26.
    StreamableHttp,
    /// A stream that announces where to post to; 2024-11-05.
    HttpSse,
}

impl Transport {
    /// The transport's name, which envelopes have in their member `transport` (clause ENV-TRANSPORT).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::StreamableHttp => "streamable-http",
            Self::HttpSse => "http-sse",
        }
    }
}
