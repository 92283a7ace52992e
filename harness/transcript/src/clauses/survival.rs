//! Clauses on what no transcript may do to its reader.

use super::clause::{Clause, Example};

const FAMILY: &str = "Survival";

pub(super) const CLAUSES: &[Clause] = &[
    Clause {
        id: "SRV-BYTES",
        family: FAMILY,
        title: "Damaged input is refused with its place, or read cleanly",
        rule: "Invalid UTF-8, a file that is cut off or empty, a stray NUL, and a value of the wrong type \
               each call for a rejection that says where, unless some clause allows a reading. Where a text is \
               not JSON, that is the fault, also where a message in it is wrong before it breaks off. Neither \
               crash nor hang, and do not pass off what came before the damage as everything.",
        why: "Recorders are killed in the middle of a line, and characters are split between two reads. An \
              importer that stops quietly at the damage reports fewer calls than there were, and looks \
              perfectly well.",
        source: &["derived", "seen: https://github.com/punkpeye/mcp-proxy/pull/89"],
        open: false,
        right: Example {
            text: SRV_BYTES,
            reading: "Rejected at line 2 (truncated): the input ends inside a value.",
        },
        wrong: Example { text: SRV_BYTES, reading: "One open request, and no word about the second line." },
    },
    Clause {
        id: "SRV-DEPTH",
        family: FAMILY,
        title: "Deep, wide and long transcripts are read or refused",
        rule: "Whether arrays nest 10,000 deep, a string is 64 MiB long or a million messages follow, either \
               read or reject. The line formats must stay within memory that does not grow with the file.",
        why: "Parsers that recurse overflow their stack on nested arrays and take the whole process down \
              with them; a recorder was met that kept no line of 6,000 levels. A limit is fine when it is \
              stated and rejects (limit).",
        source: &["derived", "RFC 8259, section 9"],
        open: false,
        right: Example {
            text: SRV_DEPTH,
            reading: "A tool call with nested arrays, be they three deep as here or ten thousand.",
        },
        wrong: Example { text: SRV_DEPTH, reading: "With ten thousand brackets in place of three, a crash." },
    },
    Clause {
        id: "SRV-SAME",
        family: FAMILY,
        title: "The same transcript reads the same every time",
        rule: "The same bytes have one reading, today and tomorrow, here and in any other process. Neither \
               the order of a hash map nor the clock, the machine's language or the file's name may show in \
               it.",
        why: "A reading that changes by itself cannot be compared with anything. Hash order is the usual \
              cause: two open requests are looked up in whatever order the map happens to have today.",
        source: &["derived"],
        open: false,
        right: Example {
            text: SRV_SAME,
            reading: "The result answers the first ping, in each of a hundred runs.",
        },
        wrong: Example {
            text: SRV_SAME,
            reading: "The result answers now the first ping and now the second.",
        },
    },
    Clause {
        id: "SRV-TWICE",
        family: FAMILY,
        title: "Members named twice, lone surrogates and byte order marks",
        rule: "A member that stands twice in one object, an escaped half of a surrogate pair, and a byte \
               order mark may be read or rejected. The built-in reader rejects a repeated member that \
               decides the meaning (ambiguous-member), and keeps repeats inside values; it keeps lone \
               surrogates, and skips a mark at the start of the file.",
        why: "Parsers part here: some keep the first of two members and some the last, so that two programs \
              see two different tool calls in one message. JavaScript SDKs emit lone surrogates when they \
              cut a text short.",
        source: &[
            "RFC 8259, section 4",
            "RFC 8259, section 8",
            "seen: https://github.com/docker/mcp-gateway/pull/418",
            "seen: https://github.com/modelcontextprotocol/kotlin-sdk/issues/956",
        ],
        open: true,
        right: Example {
            text: SRV_TWICE,
            reading: "Rejected (ambiguous-member), or a request with one of its two methods, the same in every format.",
        },
        wrong: Example {
            text: SRV_TWICE,
            reading: "A ping in one format and a tool call in another, depending on the parser behind each.",
        },
    },
];

// Transcripts that are shown twice: read rightly, and mistaken.

const SRV_BYTES: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}
{"jsonrpc":"2.0","id":1,"res"#;

const SRV_DEPTH: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[[[]]]}}}"#;

const SRV_SAME: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}
{"jsonrpc":"2.0","id":1,"method":"ping"}
{"jsonrpc":"2.0","id":1,"result":{}}"#;

const SRV_TWICE: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"a","arguments":{}}}"#;
