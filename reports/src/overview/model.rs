//! An overview as plain data. Its JSON is what `overview.schema.json` says.

use serde::Serialize;
use transcript::rejection::Rejection;

/// What a recording is at a glance. Absent values are unknown: the format does not carry them, or nothing shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// The recording, as the caller names it.
    pub file: String,
    /// Its capture format.
    pub format: &'static str,
    /// What it shows of the session.
    #[serde(flatten)]
    pub session: SessionOverview,
    /// What `check` finds.
    pub findings: Findings,
    /// Why `read` rejects it; none where it is read.
    pub rejected: Option<Unread>,
    /// A limit that was reached while it was judged.
    pub limit: Option<&'static str>,
    /// Commands that say more, as one would type them.
    pub next: Vec<String>,
}

/// What a recording shows of its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionOverview {
    /// The transport, as `identify` names it.
    pub transport: Option<&'static str>,
    /// The revision of MCP, as `identify` names it.
    pub revision: Option<String>,
    /// The clients, by the names that they give themselves; at most ten.
    pub clients: Vec<Peer>,
    /// The servers, likewise.
    pub servers: Vec<Peer>,
    /// When the first entry was recorded (RFC 3339), where the recording holds dates.
    pub began: Option<String>,
    /// From the first time in the recording to the last, in milliseconds.
    pub duration_ms: Option<u64>,
    /// How many messages of each kind.
    pub counts: Counts,
    /// The requests by method, in the order of the first of each.
    pub methods: Vec<Requests>,
    /// The tool calls by tool, likewise.
    pub tools: Vec<Requests>,
    /// Requests without an answer.
    pub unanswered: Unanswered,
}

/// A client or a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Its version, if it says one.
    pub version: Option<String>,
}

/// How many messages there are. A batch counts by its items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// All of them.
    pub messages: u64,
    /// Requests, tool calls among them.
    pub requests: u64,
    /// Notifications.
    pub notifications: u64,
    /// Answers with a result.
    pub results: u64,
    /// Answers with an error.
    pub errors: u64,
    /// Answers to no request of the recording.
    pub orphans: u64,
    /// Messages of the client, by what the recording says or the method shows.
    pub from_client: u64,
    /// Messages of the server, likewise.
    pub from_server: u64,
    /// HTTP exchanges, where the format carries them.
    pub exchanges: Option<u64>,
}

/// Requests with one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Requests {
    /// The method, or the tool. Beyond 1,000 names the rest share the row `(others)`.
    pub name: String,
    /// Their numbers.
    #[serde(flatten)]
    pub numbers: Numbers,
}

/// How many requests there are, and how long their answers took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Numbers {
    /// How many.
    pub calls: u64,
    /// Answered with an error, or with a result that says `isError`.
    pub failed: u64,
    /// Not answered.
    pub unanswered: u64,
    /// The median time to the answer, in milliseconds; from a second on, to three digits.
    pub p50_ms: Option<u64>,
    /// The time that 95 of 100 answers do not exceed, likewise.
    pub p95_ms: Option<u64>,
    /// The longest time.
    pub max_ms: Option<u64>,
}

/// Requests without an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Unanswered {
    /// How many.
    pub total: u64,
    /// The first ten.
    pub first: Vec<Open>,
}

/// A request without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Open {
    /// Its method.
    pub method: String,
    /// The tool that it calls.
    pub tool: Option<String>,
    /// Its line, from 1.
    pub line: u64,
}

/// What `check` finds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// Breaches of what is required.
    pub errors: u64,
    /// Breaches of what is advised.
    pub warnings: u64,
    /// Things worth knowing.
    pub notes: u64,
    /// The three worst broken rules: errors first, then by the place of the first breach.
    pub worst: Vec<Worst>,
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Worst {
    /// Its id.
    pub rule: &'static str,
    /// `fail`, `warn` or `info`.
    pub verdict: &'static str,
    /// Who is at fault.
    pub party: &'static str,
    /// How often it was broken.
    pub times: u64,
    /// The line of the first breach, from 1.
    pub line: u64,
    /// What is wrong there.
    pub message: String,
}

/// Why `read` rejects a recording. The overview goes on behind it as far as it can.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// The rejection's code.
    pub code: &'static str,
    /// The clause of the reading contract.
    pub clause: &'static str,
    /// The line, from 1.
    pub line: u64,
    /// JSON pointer into the document or the line.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

impl Unread {
    /// What a rejection says.
    pub(crate) fn of(rejection: &Rejection) -> Self {
        Self {
            code: rejection.code.name(),
            clause: rejection.clause,
            line: rejection.position.line,
            pointer: rejection.position.pointer.clone(),
            message: rejection.message.clone(),
        }
    }
}
