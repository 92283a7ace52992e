//! Clauses on `mcp-replay`, version 1.

use super::clause::{Clause, Example};

const FAMILY: &str = "mcp-replay";

pub(super) const CLAUSES: &[Clause] = &[
    Clause {
        id: "RPL-META",
        family: FAMILY,
        title: "A trace begins with its meta line",
        rule: "The first line that is not blank must be of type `meta` and have `v`, `type`, `startedAt`, \
               `label` and `command`. Reject the file if it is not, if one of these is missing, or if a second \
               `meta` follows.",
        why: "Rotating recorders drop old parts for good, and what is left opens with an answer to a request \
              that nobody can see any more. Without the head such a file looks like a whole session.",
        source: &["mcp-replay trace format v1, Line types", "seen in rotated traces"],
        open: false,
        right: Example {
            text: r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#,
            reading: "A session in which nothing was said.",
        },
        wrong: Example {
            text: r#"{"t":"2026-05-12T23:00:00.100Z","dir":"out","raw":{"jsonrpc":"2.0","id":8,"result":{}}}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#,
            reading: "A session of one orphan, where the file should reject (missing-meta).",
        },
    },
    Clause {
        id: "RPL-VERSION",
        family: FAMILY,
        title: "Only version 1 is read",
        rule: "Reject when `v` is anything other than the number 1, and name the version that was found.",
        why: "The version goes up only for a breaking change, so an unknown one means that the lines below \
              may say something else than they seem to. New members alone never raise it.",
        source: &["mcp-replay trace format v1, Version policy"],
        open: false,
        right: Example {
            text: r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"],"kind":"mcp"}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#,
            reading: "A session without events; the member `kind` is new and harmless.",
        },
        wrong: Example {
            text: r#"{"v":2,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#,
            reading: "Read as if it were version 1, where the file should reject (unsupported-version).",
        },
    },
    Clause {
        id: "RPL-MESSAGE",
        family: FAMILY,
        title: "An in or out line carries one message in raw",
        rule: "A line whose `dir` is `in` comes from the client, `out` from the server, and its `raw` is one \
               message, whatever its `kind` says, or a `type` other than `meta` and `end`. Reject the file \
               where such a line has no `raw`, or a line with `raw` and no `type` has no `dir` in text.",
        why: "The direction decides whose ids a response answers, so it cannot be guessed. A line that lost \
              its message is a loss, and skipping it keeps that from everybody.",
        source: &["mcp-replay trace format v1, Line types"],
        open: false,
        right: Example {
            text: r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:00.100Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"ping"}}
{"t":"2026-05-12T23:00:00.200Z","dir":"out","raw":{"jsonrpc":"2.0","id":0,"result":{}}}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#,
            reading: "The client's ping and the server's answer, one pair.",
        },
        wrong: Example {
            text: r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:00.100Z","dir":"in"}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#,
            reading: "A session without events, where the file should reject (missing-raw).",
        },
    },
    Clause {
        id: "RPL-DIR",
        family: FAMILY,
        title: "Lines of another `dir` are not messages",
        rule: "Pass over a line whose `dir` is a string other than `in` and `out`. It is not MCP traffic, \
               even if its `raw` has an `id` or a `method`.",
        why: "Other producers write `event`, `command` and `telemetry` lines into the same files, with ids \
              of their own. Read as messages they answer calls that they have nothing to do with.",
        source: &["mcp-replay trace format v1, later text, message lines"],
        open: false,
        right: Example {
            text: RPL_DIR,
            reading: "One request, still open: the `event` line is not a message.",
        },
        wrong: Example { text: RPL_DIR, reading: "The `event` line answers the request, as the ids agree." },
    },
    Clause {
        id: "RPL-NOISE",
        family: FAMILY,
        title: "A raw that is JSON but no message",
        rule: "When `raw` is a number, a string, an array, null, or an object with none of `jsonrpc`, \
               `method`, `result` and `error`, reject the file or pass over the line, and never bind it; but \
               for a batch of revision 2025-03-26 (EQ-BATCH). The built-in reader rejects (not-a-message); \
               asked to be lenient, it passes over the line and says so.",
        why: "Servers print banners and log lines on stdout, and a recorder of that pipe writes down \
              whatever parses. A log line that is a JSON object is the hard one, because it looks so much \
              like a message.",
        source: &[
            "mcp-replay trace format v1, Line types",
            "seen: https://github.com/microsoft/azure-devops-mcp/issues/147",
        ],
        open: true,
        right: Example { text: RPL_NOISE, reading: "Rejected (not-a-message), or one open request." },
        wrong: Example { text: RPL_NOISE, reading: "The log line is bound to the request as its result." },
    },
    Clause {
        id: "RPL-END",
        family: FAMILY,
        title: "The end line is last; a missing one is left to the importer",
        rule: "Nothing may come after `end`: the built-in reader rejects a message there (after-end). A \
               trace without `end`, or with an `end` that has no `exitCode`, may be read or rejected; the \
               built-in reader reads it. `record` adds two members of its own, on which no reading depends: \
               `_input`, `open` or `closed`, for the client's end when the server ended, and `_signal`, the \
               name of the signal that ended the server or was passed on to it.",
        why: "A killed recorder leaves no `end`, and importers of other logs have no exit code to give, so \
              both are met every day. Messages after it come from a recorder that appended a second session, \
              whose ids start again.",
        source: &[
            "mcp-replay trace format v1, Line types",
            "mcp-replay trace format v1, later text, end",
            "seen in traces of killed recorders",
        ],
        open: true,
        right: Example {
            text: r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:00.100Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"ping"}}"#,
            reading: "One open request, or a rejection for want of an `end`.",
        },
        wrong: Example {
            text: r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}
{"t":"2026-05-12T23:00:02.000Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"ping"}}"#,
            reading: "A session without events, given out as whole: the ping after the end is lost unsaid.",
        },
    },
    Clause {
        id: "RPL-UNKNOWN",
        family: FAMILY,
        title: "Unfamiliar members, types and kinds are passed over",
        rule: "Ignore members that you do not know, and skip lines whose `type` is unfamiliar, such as the \
               `turn` lines of an agent, unless their `dir` is that of a message. Behind `end` such lines may \
               be passed over too. An unfamiliar `kind` is no reason to reject either.",
        why: "The format grew such lines without raising its version, as its policy allows. A reader that \
              holds to the first text alone refuses traces that are written every day.",
        source: &[
            "mcp-replay trace format v1, Version policy",
            "mcp-replay trace format v1, later text, tolerance",
        ],
        open: false,
        right: Example { text: RPL_UNKNOWN, reading: "One request: the turn is not a message." },
        wrong: Example { text: RPL_UNKNOWN, reading: "Rejected at the `turn` line." },
    },
    Clause {
        id: "RPL-ORDER",
        family: FAMILY,
        title: "The order of lines counts, not the time on them",
        rule: "Take the messages in the order of the lines. `t` is context, also where it repeats or goes \
               back.",
        why: "Two pipes are read by turns, many lines share a millisecond, and some recorders note when they \
              logged and not when they heard. Sorting by `t` makes an order that nobody observed.",
        source: &["mcp-replay trace format v1, Ordering and timing"],
        open: false,
        right: Example { text: RPL_ORDER, reading: "The request, and the result that answers it." },
        wrong: Example { text: RPL_ORDER, reading: "An orphan result ahead of an open request." },
    },
    Clause {
        id: "RPL-REDACT",
        family: FAMILY,
        title: "Redaction is forgiven in a comparison only when asked",
        rule: "Read `raw` as it stands, redacted or not: the marker is part of the string. Comparing with \
               the unredacted session may let a string with the marker in it stand for any value, if the \
               caller asks for it and the outcome says so.",
        why: "Redaction replaces whole values under any key that resembles `token`, so that two different \
              calls come out equal. A comparison that forgives this without being told proves less than it \
              claims.",
        source: &["mcp-replay trace format v1, Redaction"],
        open: false,
        right: Example {
            text: RPL_REDACT,
            reading: "A call with `[REDACTED]` for a token; it equals the original only modulo redaction.",
        },
        wrong: Example {
            text: RPL_REDACT,
            reading: "Equal to every call of the tool, with no word about it.",
        },
    },
];

// Transcripts that are shown twice: read rightly, and mistaken.

const RPL_DIR: &str = r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:00.100Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"ping"}}
{"t":"2026-05-12T23:00:00.200Z","dir":"event","raw":{"id":0,"result":"button pressed"}}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#;

const RPL_NOISE: &str = r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:00.100Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"ping"}}
{"t":"2026-05-12T23:00:00.200Z","dir":"out","raw":{"level":"info","id":0,"msg":"ready"}}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#;

const RPL_UNKNOWN: &str = r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:00.100Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"ping"},"corr_id":"c-1"}
{"t":"2026-05-12T23:00:00.200Z","type":"turn","role":"user","blocks":[{"type":"text","text":"hello"}]}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#;

const RPL_ORDER: &str = r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:00.200Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"ping"}}
{"t":"2026-05-12T23:00:00.100Z","dir":"out","raw":{"jsonrpc":"2.0","id":0,"result":{}}}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#;

const RPL_REDACT: &str = r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:00.100Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"login","arguments":{"token":"[REDACTED]"}}}}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}"#;
