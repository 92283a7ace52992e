//! The script of a probe: a row for each step, with the rules that judge what the server makes of it.
//!
//! A step of the handshake's revisions is played in the first session, as a client that keeps to the specification plays it. What
//! breaks a rule on the client's side stands apart ([`Part::Faults`]), so that the first session can be held to a set of rules.

use Part::{Faults, Http, Session};
use transcript::revision::Revision::{self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

/// A step of a script: of the client's, or of the server's.
#[derive(Debug)]
pub struct Step<A> {
    /// Its name.
    pub name: &'static str,
    /// The rules that it puts to the test: ids, or the beginning of ids up to a dot.
    pub tests: &'static [&'static str],
    /// The revisions it belongs to, the first and the last.
    pub revisions: [Revision; 2],
    /// The capabilities of the other side that it needs, as pointers; behind a `!`, one that a client must not have.
    pub needs: &'static str,
    /// When it is played.
    pub part: Part,
    /// What is done.
    pub act: A,
}

/// The session that a step is played in; of a server's script, a start of the client, or a session of one that is not started here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The side that is played keeps to the specification.
    Session,
    /// It breaks rules.
    Faults,
    /// Single requests over HTTP.
    Http,
    /// Over HTTP, the server's streams break off before the answer.
    Streams,
    /// Over HTTP, the server forgets the session.
    Over,
    /// Over stdio, the server speaks only the revision without handshake.
    Modern,
}

impl Part {
    /// The parts of the server's script, in the order in which they are played.
    pub const OF_SERVER: [Self; 5] = [Self::Session, Self::Faults, Self::Modern, Self::Streams, Self::Over];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Faults => "faults",
            Self::Http => "http",
            Self::Streams => "streams",
            Self::Over => "over",
            Self::Modern => "modern",
        }
    }

    /// Whether it is played over HTTP, or over stdio.
    #[must_use]
    pub fn is_over(self, http: bool) -> bool {
        match self {
            Self::Session | Self::Faults => true,
            Self::Http | Self::Streams | Self::Over => http,
            Self::Modern => !http,
        }
    }
}

/// What the client does. Templates are JSON; `$tool`, `$resource`, `$prompt` and `$argument` stand for the first of each that the
/// server lists.
#[derive(Debug)]
pub enum Act {
    /// Sends a request, and waits for its answer.
    Ask(&'static str, &'static str),
    /// The same under an id of its own.
    AskAs(&'static str, &'static str),
    /// Sends a notification, and a ping behind it.
    Tell(&'static str, &'static str),
    /// Sends a text as it is, and a ping behind it.
    Raw(&'static str),
    /// Asks for every page of a listing, whose items are under this name.
    List(&'static str, &'static str),
    /// Reads each resource that is listed, up to [`super::MOST`].
    ReadResources,
    /// Gets each prompt that is listed.
    GetPrompts,
    /// Calls each tool that may be called.
    CallTools,
    /// Calls each of them with arguments that its schema refuses.
    MisuseTools,
    /// Calls one of them, and cancels the call at once.
    Cancel,
    /// Sends a request, waits for its answer, and then for what should not come.
    AskLast(&'static str, &'static str),
    /// Sends a request over HTTP as it is: method, headers (`$session` and `$version` are the session's, and an empty value
    /// leaves one out), and body (`$meta` is what a request has to say of itself in a revision without handshake, `$resource` one
    /// that the server lists).
    Http(&'static str, Headers, &'static str),
    /// Posts a message over HTTP where streams are the point: which, headers, and body.
    Streams(Streams, Headers, &'static str),
}

type Headers = &'static [(&'static str, &'static str)];

/// What has to do with streams in a step over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// This number is open that GETs have opened.
    Beside(usize),
    /// The answer's is resumed behind its first event.
    Resumed,
    /// None: the session is over, and a new one begins.
    Renewed,
    /// That of HTTP+SSE, whose first event says where to post.
    Legacy,
}

const SESSIONS: [Revision; 2] = [V2024_11_05, V2025_11_25];
pub(super) const EVERY: [Revision; 2] = [V2024_11_05, V2026_07_28];
pub(super) const MODERN: [Revision; 2] = [V2026_07_28, V2026_07_28];

pub(super) const fn step<A>(
    (part, name): (Part, &'static str),
    tests: &'static [&'static str],
    revisions: [Revision; 2],
    needs: &'static str,
    act: A,
) -> Step<A> {
    Step { name, tests, revisions, needs, part, act }
}

const PING: &str = r#"{"jsonrpc":"2.0","id":"concord","method":"ping"}"#;
const CALM: &str = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
pub(super) const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");
pub(super) const OWN: (&str, &str) = ("mcp-session-id", "$session");
pub(super) const VERSION: (&str, &str) = ("mcp-protocol-version", "$version");
const LISTS: (&str, &str) = ("mcp-method", "tools/list");
const READS: (&str, &str) = ("mcp-method", "resources/read");
const BATCH: &str =
    r#"[{"jsonrpc":"2.0","id":"first","method":"ping"},{"jsonrpc":"2.0","id":"second","method":"ping"}]"#;
const RESUMED: &str = r#"{"jsonrpc":"2.0","id":"resumed","method":"ping"}"#;
const INVALID: &str = r#"{"jsonrpc":"2.0","id":"invalid","method":7}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":"list","method":"tools/list","params":{"_meta":"$meta"}}"#;
const READ: &str =
    r#"{"jsonrpc":"2.0","id":"read","method":"resources/read","params":{"_meta":"$meta","uri":"$resource"}}"#;
const STREAMABLE: [Revision; 2] = [V2025_03_26, V2025_11_25];

/// Every step, in the order in which they are played.
#[rustfmt::skip]
pub static SCRIPT: &[Step<Act>] = &[
    step((Session, "ping"), &["ping", "jsonrpc.response"], SESSIONS, "", Act::Ask("ping", "")),
    step((Session, "id-text"), &["jsonrpc.response.id-match", "jsonrpc.response.id-type"], SESSIONS, "", Act::AskAs("\"concord\"", "ping")),
    step((Session, "id-large"), &["jsonrpc.response.id-match"], SESSIONS, "", Act::AskAs("9007199254740991", "ping")),
    step((Session, "tools-listed"), &["tools", "page", "content"], EVERY, "/tools", Act::List("tools/list", "tools")),
    step((Session, "prompts-listed"), &["prompts", "page"], EVERY, "/prompts", Act::List("prompts/list", "prompts")),
    step((Session, "resources-listed"), &["resources", "page"], EVERY, "/resources", Act::List("resources/list", "resources")),
    step((Session, "templates-listed"), &["resources", "page", "jsonrpc.schema"], EVERY, "/resources", Act::List("resources/templates/list", "resourceTemplates")),
    step((Session, "method-unknown"), &["jsonrpc.error", "http.status.method-404"], EVERY, "", Act::Ask("concord/unknown", "{}")),
    step((Session, "notification-unknown"), &["jsonrpc.notification.no-response"], EVERY, "", Act::Tell("notifications/concord/unknown", "{}")),
    step((Session, "tool-unknown"), &["tools.unknown"], EVERY, "/tools", Act::Ask("tools/call", r#"{"name":"concord-unknown","arguments":{}}"#)),
    step((Session, "resource-unknown"), &["resources.not-found"], EVERY, "/resources", Act::Ask("resources/read", r#"{"uri":"concord://unknown"}"#)),
    step((Session, "prompt-unknown"), &["prompts.args"], EVERY, "/prompts", Act::Ask("prompts/get", r#"{"name":"concord-unknown"}"#)),
    step((Session, "resources-read"), &["resources", "content"], EVERY, "/resources", Act::ReadResources),
    step((Session, "prompt-without-arguments"), &["prompts.args"], EVERY, "/prompts", Act::Ask("prompts/get", r#"{"name":"$needy"}"#)),
    step((Session, "prompts-got"), &["prompts"], EVERY, "/prompts", Act::GetPrompts),
    step((Session, "completion"), &["completion", "cap.server.completions"], EVERY, "/completions", Act::Ask("completion/complete", r#"{"ref":{"type":"ref/prompt","name":"$completed"},"argument":{"name":"$argument","value":""}}"#)),
    step((Session, "level-set"), &["logging"], SESSIONS, "/logging", Act::Ask("logging/setLevel", r#"{"level":"debug"}"#)),
    step((Session, "subscribed"), &["cap.server.resources-subscribe", "resources.updated"], SESSIONS, "/resources/subscribe", Act::Ask("resources/subscribe", r#"{"uri":"$resource"}"#)),
    step((Session, "unsubscribed"), &["resources.updated"], SESSIONS, "/resources/subscribe", Act::AskLast("resources/unsubscribe", r#"{"uri":"$resource"}"#)),
    step((Session, "tools-called"), &["tools", "progress", "content"], EVERY, "/tools", Act::CallTools),
    step((Session, "tools-misused"), &["tools.input-error"], EVERY, "/tools", Act::MisuseTools),
    step((Session, "cancelled"), &["cancel", "stdio.silent-after-cancel"], EVERY, "/tools", Act::Cancel),
    step((Session, "batch"), &["jsonrpc.batch"], [V2025_03_26, V2025_03_26], "", Act::Raw(BATCH)),
    step((Faults, "tools-cursor"), &["page.bad-cursor"], EVERY, "/tools", Act::Ask("tools/list", r#"{"cursor":"concord-unknown"}"#)),
    step((Faults, "prompts-cursor"), &["page.bad-cursor"], EVERY, "/prompts", Act::Ask("prompts/list", r#"{"cursor":"concord-unknown"}"#)),
    step((Faults, "resources-cursor"), &["page.bad-cursor"], EVERY, "/resources", Act::Ask("resources/list", r#"{"cursor":"concord-unknown"}"#)),
    step((Faults, "level-unknown"), &["logging.bad-level"], SESSIONS, "/logging", Act::Ask("logging/setLevel", r#"{"level":"concord"}"#)),
    step((Faults, "line-broken"), &["jsonrpc.request.answered"], EVERY, "", Act::Raw(r#"{"jsonrpc":"2.0","id":"broken","method":"#)),
    step((Faults, "message-invalid"), &["jsonrpc.request.answered"], EVERY, "", Act::Raw(INVALID)),
    step((Faults, "meta-missing"), &["meta.missing-rejected"], MODERN, "", Act::Raw(r#"{"jsonrpc":"2.0","id":"bare","method":"tools/list"}"#)),
    step((Faults, "version-unsupported"), &["version.unsupported", "http.status.version-400"], MODERN, "", Act::Raw(r#"{"jsonrpc":"2.0","id":"old","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1999-01-01","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"mcp-concord","version":"1"}}}}"#)),
    step((Http, "get"), &["http.get.405-or-sse"], STREAMABLE, "", Act::Http("GET", &[("accept", "text/event-stream"), OWN, VERSION], "")),
    step((Http, "notification-accepted"), &["http.202", "http.reject.status"], STREAMABLE, "", Act::Http("POST", &[BOTH, OWN, VERSION], CALM)),
    step((Http, "version-unknown"), &["http.version.bad-400"], [V2025_06_18, V2025_11_25], "", Act::Http("POST", &[BOTH, OWN, ("mcp-protocol-version", "1999-01-01")], PING)),
    step((Http, "origin-foreign"), &["http.origin.403"], STREAMABLE, "", Act::Http("POST", &[BOTH, OWN, VERSION, ("origin", "http://concord.example")], PING)),
    step((Http, "body-broken"), &["jsonrpc.request.answered"], STREAMABLE, "", Act::Http("POST", &[BOTH, OWN, VERSION], r#"{"jsonrpc":"2.0","method":"#)),
    step((Http, "body-invalid"), &["jsonrpc.request.answered"], STREAMABLE, "", Act::Http("POST", &[BOTH, OWN, VERSION], INVALID)),
    step((Http, "accept-json"), &["http.request"], STREAMABLE, "", Act::Http("POST", &[("accept", "application/json"), OWN, VERSION], PING)),
    step((Http, "accept-absent"), &["jsonrpc.request.answered"], STREAMABLE, "", Act::Http("POST", &[OWN, VERSION], PING)),
    step((Http, "type-wrong"), &["jsonrpc.request.answered"], STREAMABLE, "", Act::Http("POST", &[BOTH, OWN, VERSION, ("content-type", "text/plain")], PING)),
    step((Http, "batch-refused"), &["jsonrpc.batch"], [V2025_06_18, V2025_11_25], "", Act::Http("POST", &[BOTH, OWN, VERSION], BATCH)),
    step((Http, "post-beside-stream"), &["http.get", "http.sse"], STREAMABLE, "", Act::Streams(Streams::Beside(1), &[BOTH, OWN, VERSION], PING)),
    step((Http, "two-streams"), &["http.stream.no-broadcast"], STREAMABLE, "", Act::Streams(Streams::Beside(2), &[BOTH, OWN, VERSION], PING)),
    step((Http, "stream-resumed"), &["http.resume", "sse.id"], STREAMABLE, "", Act::Streams(Streams::Resumed, &[BOTH, OWN, VERSION], RESUMED)),
    step((Http, "session-missing"), &["http.session.missing-400"], STREAMABLE, "", Act::Http("POST", &[BOTH, VERSION], PING)),
    step((Http, "session-ended"), &["http.session.delete-answer"], STREAMABLE, "", Act::Http("DELETE", &[OWN, VERSION], "")),
    step((Http, "session-over"), &["http.session.404-after-end"], STREAMABLE, "", Act::Http("POST", &[BOTH, OWN, VERSION], PING)),
    step((Http, "session-renewed"), &["life.init"], STREAMABLE, "", Act::Streams(Streams::Renewed, &[BOTH, OWN, VERSION], PING)),
    step((Http, "sse-posted"), &["sse.endpoint", "sse.post", "sse.message", "sse.response"], SESSIONS, "", Act::Streams(Streams::Legacy, &[], PING)),
    step((Http, "sse-origin-foreign"), &["sse.origin"], SESSIONS, "", Act::Streams(Streams::Legacy, &[("origin", "http://concord.example")], PING)),
    step((Http, "post-plain"), &["http.session.removed", "http.resume.removed", "http.sse", "http.request"], MODERN, "", Act::Http("POST", &[BOTH, VERSION, LISTS], LIST)),
    step((Http, "version-other"), &["http.header.mismatch-400"], MODERN, "", Act::Http("POST", &[BOTH, ("mcp-protocol-version", "2025-11-25"), LISTS], LIST)),
    step((Http, "method-absent"), &["http.header.mismatch-400"], MODERN, "", Act::Http("POST", &[BOTH, VERSION], LIST)),
    step((Http, "method-other"), &["http.header.mismatch-400"], MODERN, "", Act::Http("POST", &[BOTH, VERSION, ("mcp-method", "prompts/list")], LIST)),
    step((Http, "name-absent"), &["http.header.mismatch-400"], MODERN, "", Act::Http("POST", &[BOTH, VERSION, READS], READ)),
    step((Http, "name-other"), &["http.header.mismatch-400"], MODERN, "", Act::Http("POST", &[BOTH, VERSION, READS, ("mcp-name", "concord-other")], READ)),
    step((Http, "batch-unknown"), &["jsonrpc.batch"], MODERN, "", Act::Http("POST", &[BOTH, VERSION, LISTS], BATCH)),
    step((Http, "get-removed"), &["http.status.get-delete-405"], MODERN, "", Act::Http("GET", &[("accept", "text/event-stream"), VERSION], "")),
    step((Http, "delete-removed"), &["http.status.get-delete-405"], MODERN, "", Act::Http("DELETE", &[VERSION], "")),
];

impl Act {
    /// The method of the request, where that is HTTP's.
    pub(super) fn method(&self) -> &'static str {
        if let Self::Http(method, ..) = self { method } else { "POST" }
    }
}

impl Step<Act> {
    /// Whether it belongs to this revision.
    pub(super) fn is_of(&self, revision: Revision) -> bool {
        self.revisions[0] <= revision && revision <= self.revisions[1]
    }

    /// Whether it posts a message.
    pub(super) fn posts(&self) -> bool {
        self.act.method() == "POST"
    }

    /// Whether it is played over HTTP+SSE.
    pub(super) fn is_legacy(&self) -> bool {
        matches!(self.act, Act::Streams(Streams::Legacy, ..))
    }

    /// Whether it lists what other steps ask for.
    pub(super) fn is_listing(&self) -> bool {
        matches!(self.act, Act::List(..))
    }
}
