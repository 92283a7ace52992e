//! What a judge knows of a recording before it sees any of it.

use crate::rule::Need;
use transcript::json::Json;
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Noise};

/// What is judged, as far as the caller has to say it.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordingInfo {
    /// Its kind.
    pub kind: RecordingKind,
    /// What such recordings carry besides messages and their order.
    pub carries: Vec<Need>,
    /// The texts that a recorder writes in place of what it took out.
    pub markers: Vec<String>,
    /// An mcp-replay trace is held to the first text of version 1.
    pub first_text: bool,
}

/// The kind of a recording, by the properties of its format.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RecordingKind {
    /// A trace of a process, with a line at its start and one at its end.
    pub trace: bool,
    /// An envelope around the messages of an HTTP transport.
    pub envelope: bool,
    /// The transport of the envelope is HTTP+SSE.
    pub http_sse: bool,
    /// Lines that are the messages, and nothing else.
    pub bare_lines: bool,
    /// Lines that are the recorder's own, with a message in most of them.
    pub own_lines: bool,
    /// A list whose items may be messages themselves.
    pub bare_list: bool,
    /// HTTP exchanges with their bodies, as in a HAR, rather than messages one by one.
    pub exchanges: bool,
    /// Its first line says that HTTP carried the messages, where the format does not.
    pub http: bool,
    /// Its first line says that the pipes of a process did.
    pub stdio: bool,
    /// At which levels messages are in a client's log, in words.
    pub message_levels: &'static str,
}

impl RecordingKind {
    /// A client's log, which has messages as the client writes them down once it has parsed them.
    pub(crate) fn is_clients_log(self) -> bool {
        !self.message_levels.is_empty()
    }

    /// Takes in what a line that stands before all others, or first of them, says of what carried the messages.
    pub(super) fn see_first(&mut self, entry: &Entry<'_>) {
        let whole = entry.line.filter(|_| !matches!(entry.content, Content::Envelope));
        let Some(line) = whole else { return };
        let parsed = Json::parse(line).ok();
        let named = parsed.and_then(|line| line.member("_transport").or(line.member("transport")));
        let name = named.and_then(|name| name.as_text()?.to_str()).unwrap_or_default().to_ascii_lowercase();
        self.http |= name.contains("http") || name == "sse";
        // As goose writes down what went through the pipes of its servers.
        let is_pipe = ["STDIN:", "STDOUT:", "STDERR:"].iter().any(|mark| line.trim_start().starts_with(mark));
        self.stdio |= name == "stdio" || is_pipe;
    }

    /// Whether this stands in the place of such a message, so that nobody sent it like this. What was sent and is not
    /// JSON the client tells of in words of its own.
    pub(crate) fn misquotes(self, noise: &Noise<'_>) -> bool {
        self.is_clients_log() && noise.why.code == Code::InvalidJson && !noise.is_reported()
    }

    /// Whether such a line cannot be read, so that nobody knows what was in it.
    pub(crate) fn spoils(self, noise: &Noise<'_>, entry: &Entry<'_>) -> bool {
        self.own_lines
            && entry.location.root.is_empty()
            && matches!(noise.why.code, Code::InvalidJson | Code::Truncated)
    }
}
