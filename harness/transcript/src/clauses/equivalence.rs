//! Clauses on when two readings are the same.

use super::clause::{Clause, Example};

const FAMILY: &str = "Equivalence";

const CALL_AND_ANSWER: &str = r#"{"jsonrpc":"2.0","id":"call-1","method":"tools/call","params":{"name":"Calculator","arguments":{"a":1,"b":2}}}
{"jsonrpc":"2.0","id":"call-1","result":{"sum":3}}"#;

pub(super) const CLAUSES: &[Clause] = &[
    Clause {
        id: "EQ-COUNT",
        family: FAMILY,
        title: "One carried message, one event",
        rule: "Make exactly one event of each JSON-RPC message in the transcript, whatever its method. Leave \
               none out, invent none, and fold no two into one.",
        why: "An importer that knows only tool calls tends to let pings, progress and late answers fall on \
              the floor. Whoever compares two recordings then sees less traffic than there was, and cannot \
              tell that anything is missing.",
        source: &["Assay import formats, Semantic Normalization Contract"],
        open: false,
        right: Example {
            text: EQ_COUNT,
            reading: "Three events: a request, a notification, and a result that answers the request.",
        },
        wrong: Example {
            text: EQ_COUNT,
            reading: "No event at all, because none of the three is a tool call.",
        },
    },
    Clause {
        id: "EQ-BATCH",
        family: FAMILY,
        title: "A batch of 2025-03-26 is its messages, in order",
        rule: "Where the session is known to be of revision 2025-03-26, read an array in the place of a message \
               as the messages in it, in order, all of them sent by whoever sent the array. It is known by what \
               stands before the array: the last answered `initialize` whose `protocolVersion` is that of a \
               published revision decides; as long as there is none, the first such `MCP-Protocol-Version` \
               among the headers of requests does, those of the request that brings the array among them. Any \
               other version, in an answer or a header, is passed over, and what comes later does not reach \
               back. Reject an empty array there, and one with an item that is no message, such as another \
               array. An array none of whose items looks like a message, an empty one too, is no batch in SSE \
               data and in HAR. Everywhere else a batch is what JRP-LINE, ENV-SINGLE, SSE-DATA-ARRAY, RPL-NOISE \
               and HAR-MESSAGE say of an array.",
        why: "One revision has batches: every receiver of it must take them, and a recording of such a session is \
              sound. Elsewhere an array is a fault of whoever sent it or wrote it down. An importer that takes \
              them everywhere hides the fault, and one that takes them nowhere loses the session.",
        source: &[
            "MCP 2025-03-26, Base Protocol, Batching",
            "MCP 2025-06-18, Key Changes",
            "JSON-RPC 2.0, section 6",
        ],
        open: false,
        right: Example { text: EQ_BATCH, reading: "Four events: the handshake's two, then two requests." },
        wrong: Example {
            text: EQ_BATCH,
            reading: "Rejected (batch), although the two sides agreed on the revision that has batches.",
        },
    },
    Clause {
        id: "EQ-ORDER",
        family: FAMILY,
        title: "The transcript's order is the session's order",
        rule: "List the events in the order of the messages in the transcript. Never sort by a timestamp, not even \
               where the clock repeats itself or runs backwards. Inspector exports and HAR files are the two \
               exceptions, since neither is a sequence of messages (see INS-EXPORT and HAR-ORDER).",
        why: "Recorders put many lines into one millisecond, log minutes late, or take two readings of a \
              clock that was set back in between. Sorting such a file moves an answer before its question, \
              and the pair is lost.",
        source: &[
            "Assay import formats, Semantic Normalization Contract",
            "mcp-replay trace format v1, Ordering and timing",
        ],
        open: false,
        right: Example {
            text: EQ_ORDER,
            reading: "The request, then the result that answers it: the clock has no say.",
        },
        wrong: Example {
            text: EQ_ORDER,
            reading: "Sorted by time, the result comes first and turns into an orphan.",
        },
    },
    Clause {
        id: "EQ-PAIR",
        family: FAMILY,
        title: "A session means the same in every format that can carry it",
        rule: "Record one session in two formats, read both, and the two meanings must be equal event by \
               event. A format that cannot carry the session is left out of the comparison, with the clause \
               that says so.",
        why: "This is what an importer for several formats promises. It breaks where each format has a code \
              path of its own: ids typed here and turned into text there, orphans kept in one and dropped in \
              another.",
        source: &["Assay import formats, Semantic Normalization Contract"],
        open: false,
        right: Example {
            text: r#"{"transport":"http-sse","entries":[
{"request":{"jsonrpc":"2.0","id":"call-1","method":"tools/call","params":{"name":"Calculator","arguments":{"a":1,"b":2}}}},
{"sse":{"event":"message","data":"{\"jsonrpc\":\"2.0\",\"id\":\"call-1\",\"result\":{\"sum\":3}}"}}]}"#,
            reading: "The very events that the same call and answer give as two lines of JSON-RPC.",
        },
        wrong: Example {
            text: CALL_AND_ANSWER,
            reading: "Here the call has its answer, while the importer's SSE path leaves the same call open.",
        },
    },
    Clause {
        id: "EQ-TOOL",
        family: FAMILY,
        title: "The tool's name arrives as it was sent",
        rule: "Keep `params.name` of a `tools/call` code point by code point: no trimming, no change of \
               case, no Unicode normalisation, no prefix of your own.",
        why: "Gateways join several servers by prefixing names, and two tools may differ in nothing but \
              case. A name that was tidied up on import names another tool, or none.",
        source: &["Assay import formats, Semantic Normalization Contract"],
        open: false,
        right: Example { text: EQ_TOOL, reading: "A call of the tool `Calculator`." },
        wrong: Example {
            text: EQ_TOOL,
            reading: "A call of `calculator`, a tool that the server does not have.",
        },
    },
    Clause {
        id: "EQ-ARGS",
        family: FAMILY,
        title: "Arguments keep every digit and every code point",
        rule: "Hand the arguments on unchanged. The order of members is free, and `1.0` may become `1`; no \
               digit of a number and no code point of a string may change. No arguments, `null` and `{}` \
               must stay distinct.",
        why: "A JSON library that puts every number into a 64-bit float changes account numbers and \
              nanosecond times past 2^53 without a word, and a map that drops empty values turns `{}` into \
              nothing. The first was met in a widely used client.",
        source: &[
            "Assay import formats, Semantic Normalization Contract",
            "RFC 8259, section 6",
            "seen: https://github.com/anthropics/claude-code/issues/78762",
        ],
        open: false,
        right: Example {
            text: EQ_ARGS,
            reading: "The argument `account` is 9007199254740993, to the last digit.",
        },
        wrong: Example {
            text: EQ_ARGS,
            reading: "The argument `account` is 9007199254740992: a float rounded it to somebody else's account.",
        },
    },
    Clause {
        id: "EQ-OUTCOME",
        family: FAMILY,
        title: "A call's outcome is its result or its error, whole",
        rule: "Keep the result or the error of a call as it was sent, and keep which of the two it is. A \
               result that says `isError` is still a result. As with arguments, member order is free, digits \
               and code points are not.",
        why: "MCP has two ways to fail: a protocol error, and a result that reports the tool's own failure. \
              Importers that reduce both to one flag, or show the text content alone, make sessions equal \
              that were not.",
        source: &[
            "Assay import formats, Semantic Normalization Contract",
            "MCP 2025-11-25, Tools, Error Handling",
        ],
        open: false,
        right: Example { text: EQ_OUTCOME, reading: "The call's outcome is a result, with `isError` in it." },
        wrong: Example {
            text: EQ_OUTCOME,
            reading: "The outcome is given as an error, with a code that nobody sent.",
        },
    },
    Clause {
        id: "EQ-CONTEXT",
        family: FAMILY,
        title: "Headers, event ids, times and labels are context, not meaning",
        rule: "Whatever surrounds the messages must not change the meaning; the one exception is the summary \
               of a 401 challenge (K2A-SUMMARY). An SSE event that is delivered again is read again: a \
               second copy of an answer is one more event, and an orphan.",
        why: "After a dropped connection real clients get a whole stream a second time. An importer that \
              drops repeats by event id judges resumption, which needs more than a transcript shows, and it \
              loses messages wherever a server gives one id to two events.",
        source: &[
            "Assay import formats, Canonical Transport Envelope",
            "Assay import formats, Out Of Scope In T1",
        ],
        open: false,
        right: Example {
            text: EQ_CONTEXT,
            reading: "Three events: the request, its result, and an orphan result.",
        },
        wrong: Example { text: EQ_CONTEXT, reading: "Two events, because `e-1` was seen before." },
    },
];

// Transcripts that are shown twice: read rightly, and mistaken.

const EQ_COUNT: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}
{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}
{"jsonrpc":"2.0","id":1,"result":{}}"#;

const EQ_BATCH: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}}
{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{}}}
[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;

const EQ_ORDER: &str = r#"{"transport":"streamable-http","entries":[
{"timestamp_ms":1005,"request":{"jsonrpc":"2.0","id":1,"method":"ping"}},
{"timestamp_ms":1004,"response":{"jsonrpc":"2.0","id":1,"result":{}}}]}"#;

const EQ_TOOL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"Calculator","arguments":{}}}"#;

const EQ_ARGS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"account":9007199254740993}}}"#;

const EQ_OUTCOME: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fetch","arguments":{}}}
{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"no route"}],"isError":true}}"#;

const EQ_CONTEXT: &str = r#"{"transport":"streamable-http","entries":[
{"request":{"jsonrpc":"2.0","id":1,"method":"ping"}},
{"sse":{"id":"e-1","data":{"jsonrpc":"2.0","id":1,"result":{}}}},
{"transport_context":{"headers":{"Last-Event-ID":"e-0"}},"sse":{"id":"e-1","data":{"jsonrpc":"2.0","id":1,"result":{}}}}]}"#;
