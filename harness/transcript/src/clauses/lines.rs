//! Clauses on bare messages: `jsonrpc` lines, and the arrays and exports of `inspector`.

use super::clause::{Clause, Example};

const FAMILY: &str = "jsonrpc and inspector";

pub(super) const CLAUSES: &[Clause] = &[
    Clause {
        id: "JRP-LINE",
        family: FAMILY,
        title: "One JSON object on a line",
        rule: "Each line holds one message, unless it is blank (nothing but white space of JSON), and ends with \
               LF or CRLF. Reject the file at a line that is not a single JSON object (a banner, an array, half \
               of a pretty-printed message), and give the line's number; but for a batch of revision 2025-03-26 \
               (EQ-BATCH). A file that has no line, or blank ones alone, is open: reject it, or read a session \
               without messages. The built-in reader reads it.",
        why: "Recorders on Windows write CRLF, and servers print greetings into the same pipe. Skipping \
              every line that fails to parse reads both, but it also skips a message that was damaged.",
        source: &[
            "Assay import formats, JSON-RPC",
            "MCP 2025-11-25, Transports, stdio",
            "seen: https://github.com/kud/mcp-jenkins/issues/6",
        ],
        open: true,
        right: Example {
            text: r#"{"jsonrpc":"2.0","id":1,"method":"ping"}

{"jsonrpc":"2.0","id":1,"result":{}}"#,
            reading: "One pair; the blank line is passed over.",
        },
        wrong: Example {
            text: r#"Server listening on stdio
{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            reading: "One request, where the file should reject at line 1 (invalid-json).",
        },
    },
    Clause {
        id: "JRP-VERSION",
        family: FAMILY,
        title: "The jsonrpc member is exactly \"2.0\"",
        rule: "In every format a message has `\"jsonrpc\": \"2.0\"`, the string. Reject the number 2.0, any \
               other value, and a message that leaves it out.",
        why: "The member is what tells a message from an object that merely has a `method` or a `result`. \
              Readers that do not look take log lines and OAuth answers for traffic.",
        source: &["JSON-RPC 2.0, section 4", "JSON-RPC 2.0, section 5", "Assay import formats, JSON-RPC"],
        open: false,
        right: Example { text: r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, reading: "A request." },
        wrong: Example {
            text: r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
            reading: "A request too, where the file should reject (invalid-version).",
        },
    },
    Clause {
        id: "JRP-SHAPE",
        family: FAMILY,
        title: "A message has a method, or a result, or an error",
        rule: "A string `method` makes a request or a notification, one of `result` and `error` a response; \
               a `method` that is not a string rejects. Both `result` and `error`, or none of the three, may \
               reject or be read, and the built-in reader rejects both (ambiguous-message, not-a-message), \
               as it does a `method` beside either. An error is an object, so a null `error` beside a result, where \
               it is read, leaves the result.",
        why: "Servers do send `\"error\": null` beside a good result, and a bridge once sent a method \
              without a name. An importer that asks for `error` first turns the former into a failure.",
        source: &[
            "JSON-RPC 2.0, section 4",
            "JSON-RPC 2.0, sections 5 and 5.1",
            "seen: https://github.com/gensecaihq/Wazuh-MCP-Server/issues/59",
        ],
        open: true,
        right: Example {
            text: JRP_SHAPE,
            reading: "Rejected (ambiguous-message), or a ping with its result.",
        },
        wrong: Example { text: JRP_SHAPE, reading: "The ping has failed with an error that is null." },
    },
    Clause {
        id: "INS-SHAPE",
        family: FAMILY,
        title: "An Inspector file is an array, or an object with events",
        rule: "The document is a list of messages, or an object with such a list under `events`. Reject \
               whatever else it may be, and never call it an empty session.",
        why: "A default of no events makes every JSON file on the disk a quiet session, and a wrong path in \
              a nightly job then passes for months.",
        source: &["Assay import formats, Overview", "derived"],
        open: false,
        right: Example {
            text: r#"{"events":[{"jsonrpc":"2.0","id":1,"method":"ping"}]}"#,
            reading: "One request.",
        },
        wrong: Example {
            text: r#"{"history":[{"jsonrpc":"2.0","id":1,"method":"ping"}]}"#,
            reading: "A session without events, where the file should reject (wrong-document).",
        },
    },
    Clause {
        id: "INS-EXPORT",
        family: FAMILY,
        title: "An Inspector export keeps an answer with its request",
        rule: "The Inspector writes items with a `message`, sent by `origin` (`client` or `server`) at \
               `timestamp`, a date of RFC 3339 or a number of milliseconds; a `response` in the same item, \
               unless it is null, was sent by the other side `duration` milliseconds later, or at once where no \
               duration is given. Sort all messages by those times, and equal ones as they stand. Bare messages \
               may be among them: an item that has `jsonrpc` is one, whatever else it has. One without a time \
               takes that of the item before it (not of the answer in that item), and the first one stands at \
               the start. A time in another form may reject or count as missing. A message without a sender may \
               pair with those that have one, or only with its own kind.",
        why: "The Inspector lists a call as one entry with its answer. Read straight down, whatever the \
              server asked in the meantime stands after the answer that was waiting for it.",
        source: &["seen in exports of MCP Inspector 2.12"],
        open: false,
        right: Example {
            text: INS_EXPORT,
            reading: "The call, the server's question, the client's reply to it, then the call's result.",
        },
        wrong: Example {
            text: INS_EXPORT,
            reading: "The call and its result, then a question that the server asked too late.",
        },
    },
];

// Transcripts that are shown twice: read rightly, and mistaken.

const JRP_SHAPE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}
{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#;

const INS_EXPORT: &str = r#"[
{"id":"a","timestamp":"2026-11-02T10:00:00.000Z","direction":"request","origin":"client","duration":900,
"message":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"book","arguments":{}}},
"response":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}},
{"id":"b","timestamp":"2026-11-02T10:00:00.300Z","direction":"request","origin":"server","duration":200,
"message":{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"Which day?"}},
"response":{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}}]"#;
