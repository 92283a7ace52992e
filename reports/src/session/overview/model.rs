//! An overview as plain data. `overview.schema.json` beside this folder says what each member of its JSON is.

use rules::record::Totals;
use serde::Serialize;
use transcript::rejection::Rejection;

/// What a recording is at a glance. Absent values are unknown: the format does not carry them, or nothing shows them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// The recording, as the caller names it.
    pub(crate) file: String,
    pub(crate) format: &'static str,
    /// The transport and the revision of MCP, as `identify` names them.
    pub(crate) transport: Option<&'static str>,
    pub(crate) revision: Option<String>,
    /// Nothing but a hint shows the revision.
    #[serde(skip)]
    pub(crate) by_hint: bool,
    /// The clients and the servers, by the names that they give themselves; at most ten of each.
    pub(crate) clients: Vec<Peer>,
    pub(crate) servers: Vec<Peer>,
    /// When the first entry was recorded (RFC 3339), where the recording holds dates.
    pub(crate) began: Option<String>,
    /// From the first time in the recording to the last, in milliseconds.
    pub(crate) duration_ms: Option<u64>,
    pub(crate) counts: Counts,
    /// The requests by method, and the tool calls by tool, in the order of the first of each.
    pub(crate) methods: Vec<Requests>,
    pub(crate) tools: Vec<Requests>,
    pub(crate) unanswered: Unanswered,
    /// The requests that HTTP refused with a status, or that a connection ended.
    pub(crate) refused: Unanswered,
    /// Those that their sender took back.
    pub(crate) cancelled: Unanswered,
    /// What `check` finds.
    pub(crate) findings: Findings,
    /// Why `read` rejects it; none where it is read. The overview goes on behind that as far as it can.
    pub rejected: Option<Unread>,
    /// A limit that was reached while it was judged.
    pub(crate) limit: Option<&'static str>,
    /// Commands that say more, as one would type them.
    pub(crate) next: Vec<String>,
}

/// A client or a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) version: Option<String>,
}

/// How many messages there are, tool calls among the requests. A batch counts by its items.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) messages: u64,
    pub(crate) requests: u64,
    pub(crate) notifications: u64,
    pub(crate) results: u64,
    pub(crate) errors: u64,
    /// Answers to no request of the recording.
    pub(crate) orphans: u64,
    /// By what the recording says of the sender, or the method shows.
    pub(crate) from_client: u64,
    pub(crate) from_server: u64,
    /// HTTP exchanges, where the format carries them.
    pub(crate) exchanges: Option<u64>,
}

/// Requests with one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Requests {
    /// The method, or the tool. Beyond 1,000 names the rest share the row `(others)`.
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) numbers: Numbers,
}

/// How many requests there are, and how long their answers took: the median, the time that 95 of 100 do not exceed and the
/// longest, in milliseconds; from a second on, to three digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Numbers {
    pub(crate) calls: u64,
    /// Answered with an error, or with a result that says `isError`, or refused.
    pub(crate) failed: u64,
    /// Those of them that HTTP refused.
    pub(crate) refused: u64,
    /// Without an answer, and neither refused nor cancelled.
    pub(crate) unanswered: u64,
    /// Taken back by their sender, and not answered.
    pub(crate) cancelled: u64,
    pub(crate) p50_ms: Option<u64>,
    pub(crate) p95_ms: Option<u64>,
    pub(crate) max_ms: Option<u64>,
}

/// How many requests have no answer, and the first ten of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Unanswered {
    pub(crate) total: u64,
    pub(crate) first: Vec<Open>,
}

/// A request without an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Open {
    pub(crate) method: String,
    pub(crate) tool: Option<String>,
    pub(crate) line: u64,
    /// Why, where HTTP refused it: a status, or the recorder's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// What `check` finds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Findings {
    #[serde(flatten)]
    pub(crate) totals: Totals,
    /// The three worst broken rules: errors first, then by the place of the first breach.
    pub(crate) worst: Vec<Worst>,
}

/// A broken rule, with its first breach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Worst {
    pub(crate) rule: &'static str,
    pub(crate) verdict: &'static str,
    pub(crate) party: &'static str,
    pub(crate) times: u64,
    pub(crate) line: u64,
    pub(crate) message: String,
}

/// Why `read` rejects a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    pub(crate) code: &'static str,
    /// The clause of the reading contract.
    pub clause: &'static str,
    /// The line, from 1.
    pub line: u64,
    pub(crate) pointer: String,
    /// What is wrong there.
    pub message: String,
}

impl Unread {
    /// What a rejection says.
    pub(crate) fn new(rejection: &Rejection) -> Self {
        Self {
            code: rejection.code.name(),
            clause: rejection.clause,
            line: rejection.position.line,
            pointer: rejection.position.pointer.clone(),
            message: rejection.message.clone(),
        }
    }
}
