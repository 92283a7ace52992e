//! The transports of MCP over HTTP.

/// The transport that is none of HTTP: the pipes of a program.
pub(crate) const STDIO: &str = "stdio";

/// The member of a trace's first line that names the transport of its session. mcp-replay lets producers add members; without
/// this one nobody can tell a program that was recorded from a command that led to a URL.
pub(crate) const MARK: &str = "_transport";

/// A transport by its name.
pub(crate) fn named(name: &str) -> Option<&'static str> {
    [STDIO, Transport::StreamableHttp.name(), Transport::HttpSse.name()]
        .into_iter()
        .find(|known| *known == name)
}

transcript::named! {
    /// How the two sides of a session over HTTP were connected.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Transport {
        /// One endpoint, whose POSTs are answered with JSON or with an event stream; since 2025-03-26.
        StreamableHttp "streamable-http",
        /// A stream that announces where to post to; 2024-11-05.
        HttpSse "http-sse",
    }
}
