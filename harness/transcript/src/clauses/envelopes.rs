//! Clauses on the envelopes of `streamable-http` and `http-sse`.

use super::clause::{Clause, Example};

pub(super) const FAMILY: &str = "Envelopes";

pub(super) const CLAUSES: &[Clause] = &[
    Clause {
        id: "ENV-TRANSPORT",
        family: FAMILY,
        title: "The envelope names its own transport",
        rule: "The member `transport` must be the label of the format that the file is read as: \
               `streamable-http` or `http-sse`. Reject any other value, and an envelope that has none.",
        why: "The two envelopes look alike, and a file that is read under the wrong label gives an endpoint \
              event or a 401 a part that it did not play. The label is what keeps a mix-up from passing in \
              silence.",
        source: &["Assay import formats, Canonical Transport Envelope"],
        open: false,
        right: Example {
            text: r#"{"transport":"http-sse","entries":[]}"#,
            reading: "Read as `http-sse`, with no events in it.",
        },
        wrong: Example {
            text: r#"{"transport":"http","entries":[]}"#,
            reading: "Taken for Streamable HTTP by guess, where the file should reject (wrong-transport).",
        },
    },
    Clause {
        id: "ENV-ONE",
        family: FAMILY,
        title: "An entry holds one of request, response and sse",
        rule: "Each entry is an object with exactly one of the three. Reject the file where an entry has two of \
               them (open: one is null), or none, or is not an object. The client sent what stands in \
               `request`, be it a request or an answer; the server sent the rest. What HTTP said stands beside \
               it in `transport_context`: the number `status`, and `headers`, an object with a text for each \
               name.",
        why: "An entry is one step of the session. With two messages in it their order is anybody's guess, \
              and an importer that looks at `request` first and goes on loses the answer beside it.",
        source: &["Assay import formats, Canonical Transport Envelope"],
        open: false,
        right: Example {
            text: r#"{"transport":"streamable-http","entries":[
{"request":{"jsonrpc":"2.0","id":1,"method":"ping"}},
{"response":{"jsonrpc":"2.0","id":1,"result":{}}}]}"#,
            reading: "Two entries, two events, one pair.",
        },
        wrong: Example {
            text: r#"{"transport":"streamable-http","entries":[
{"request":{"jsonrpc":"2.0","id":1,"method":"ping"},"response":{"jsonrpc":"2.0","id":1,"result":{}}}]}"#,
            reading: "The request is read and the response lost, where the file should reject (invalid-entry).",
        },
    },
    Clause {
        id: "ENV-SINGLE",
        family: FAMILY,
        title: "A request or response slot holds one message",
        rule: "`request` and `response` each hold one JSON-RPC object. Reject an array there, even an array \
               of one, but for a batch of revision 2025-03-26 (EQ-BATCH).",
        why: "One revision of MCP allowed batches in a POST body and the next took them out again. Outside of \
              that one an array is a fault, and unpacking it gives entries that no other format has.",
        source: &["Assay import formats, Canonical Transport Envelope", "MCP 2025-06-18, Key Changes"],
        open: false,
        right: Example {
            text: r#"{"transport":"streamable-http","entries":[{"request":{"jsonrpc":"2.0","id":1,"method":"ping"}}]}"#,
            reading: "One request.",
        },
        wrong: Example {
            text: r#"{"transport":"streamable-http","entries":[{"request":[{"jsonrpc":"2.0","id":1,"method":"ping"}]}]}"#,
            reading: "One request as well, where the file should reject (batch).",
        },
    },
    Clause {
        id: "ENV-NULL",
        family: FAMILY,
        title: "A slot that is null, or an HTTP error body that is not JSON-RPC",
        rule: "A null slot (a 202 has no body), and under an HTTP error status a `response` object without \
               `jsonrpc`, may be accepted or rejected. Whoever accepts makes no event of it and still looks \
               at a 401's challenge; so does the built-in reader, which asks for a status of 400 or more in \
               the second case.",
        why: "Real servers answer 401 with an OAuth error such as `invalid_token` in place of a message, and \
              real recorders write null for an empty body. Neither is anything that was said in the session.",
        source: &[
            "Assay import formats, Canonical Transport Envelope",
            "MCP 2025-11-25, Transports, Sending Messages to the Server",
            "seen in recorded 401 answers",
        ],
        open: true,
        right: Example {
            text: ENV_NULL,
            reading: "One notification: the empty 202 is not an event. A rejection would do too.",
        },
        wrong: Example { text: ENV_NULL, reading: "A second event, a result that is null." },
    },
    Clause {
        id: "ENV-EMPTY",
        family: FAMILY,
        title: "No entries array is a fault, an empty one is an empty session",
        rule: "Reject an envelope whose `entries` is missing or no array. An empty array reads well: nothing \
               was said.",
        why: "A default of no entries makes a misspelt or cut-off file look like a quiet session. Refusing \
              the empty array, on the other hand, breaks on recordings in which nothing was said.",
        source: &["Assay import formats, Canonical Transport Envelope"],
        open: false,
        right: Example {
            text: r#"{"transport":"streamable-http","entries":[]}"#,
            reading: "A meaning with no events.",
        },
        wrong: Example {
            text: r#"{"transport":"streamable-http","messages":[]}"#,
            reading: "A meaning with no events, where the file should reject (missing-entries).",
        },
    },
    Clause {
        id: "ENV-LOOSE",
        family: FAMILY,
        title: "Odd timestamps and event ids change no meaning",
        rule: "A `timestamp_ms` that is negative, fractional or no number, or an `sse.id` in digits, may be \
               accepted or rejected. Accepted, they are context, and the meaning is what it would be without \
               them; the built-in reader accepts them.",
        why: "Someone who only wants the messages need not mind either. Nobody may let them decide which \
              messages there are.",
        source: &["Assay import formats, Canonical Transport Envelope"],
        open: true,
        right: Example { text: ENV_LOOSE, reading: "One notification, or a rejection." },
        wrong: Example {
            text: ENV_LOOSE,
            reading: "No event: the entry is skipped because its clock is odd.",
        },
    },
    Clause {
        id: "ENV-UNKNOWN",
        family: FAMILY,
        title: "Unknown members of an envelope are passed over",
        rule: "Ignore members of the envelope and of its entries that you do not know. They are no reason to \
               reject, and they never take the place of a known one.",
        why: "Producers add notes of their own: a method, a URL, a label. A strict schema turns each such \
              note into a break between programs that agree on every message.",
        source: &["Assay import formats, Canonical Transport Envelope"],
        open: false,
        right: Example {
            text: ENV_UNKNOWN,
            reading: "One request; the label and the stream name are ignored.",
        },
        wrong: Example { text: ENV_UNKNOWN, reading: "Rejected on account of the member `label`." },
    },
    Clause {
        id: "SSE-DATA-OBJECT",
        family: FAMILY,
        title: "SSE data may be the message itself",
        rule: "Where `sse.data` is a JSON object with a message in it, read that message as if it stood in a \
               `response`.",
        why: "The wire carries text, so one reader expects a string and another an object, and each takes \
              the other spelling for noise. The format allows both.",
        source: &["Assay import formats, Canonical Transport Envelope"],
        open: false,
        right: Example {
            text: SSE_DATA_OBJECT,
            reading: "The result answers the request, just as it would from a string.",
        },
        wrong: Example {
            text: SSE_DATA_OBJECT,
            reading: "No result, as the data is not text that could be parsed.",
        },
    },
    Clause {
        id: "SSE-DATA-STRING",
        family: FAMILY,
        title: "SSE data may be the message's JSON text",
        rule: "Where `sse.data` is a string whose text is a JSON object, parse it and read the message in \
               it. It is the same event as from the object spelling.",
        why: "A recorder that keeps the stream's own text writes a string here. Passing over it drops the \
              very answers that a call was waiting for.",
        source: &["Assay import formats, Legacy HTTP+SSE"],
        open: false,
        right: Example { text: SSE_DATA_STRING, reading: "The result answers the request." },
        wrong: Example {
            text: SSE_DATA_STRING,
            reading: "The string is taken for a control event; the ping stays open.",
        },
    },
    Clause {
        id: "SSE-DATA-TEXT",
        family: FAMILY,
        title: "SSE data that nobody could take for a message is not an event",
        rule: "Pass over a path, the word `ping`, empty data, null, a boolean, a number, and an object that has \
               none of `jsonrpc`, `method`, `result` and `error`. They are neither events nor faults.",
        why: "Servers send an empty priming event to give the client an id to resume from, and SDKs send \
              `{}` to keep a line warm. Clients that parsed every data line as JSON broke on the first of \
              these.",
        source: &[
            "Assay import formats, Canonical Transport Envelope",
            "MCP 2025-11-25, Transports, Sending Messages to the Server",
            "seen: https://github.com/modelcontextprotocol/python-sdk/issues/1672",
        ],
        open: false,
        right: Example {
            text: SSE_DATA_TEXT,
            reading: "A request and its result; the priming event is none.",
        },
        wrong: Example { text: SSE_DATA_TEXT, reading: "Rejected, since empty text is not JSON." },
    },
    Clause {
        id: "SSE-DATA-BROKEN",
        family: FAMILY,
        title: "SSE text that begins like a message and is not JSON",
        rule: "Text in a `message` event that opens with a brace and does not parse may reject or be passed \
               over. The built-in reader rejects (broken-data).",
        why: "Skipping it drops an answer without a word, and in all other formats such a message is \
              refused. Yet a stream may carry text that is not JSON.",
        source: &["derived"],
        open: true,
        right: Example {
            text: SSE_DATA_BROKEN,
            reading: "Rejected with the entry's place, or an unanswered ping.",
        },
        wrong: Example {
            text: SSE_DATA_BROKEN,
            reading: "The text is patched up, and the ping has an answer.",
        },
    },
    Clause {
        id: "SSE-KEEPALIVE",
        family: FAMILY,
        title: "An SSE entry without data is a keep-alive",
        rule: "An `sse` entry that has no `data` (a comment, a retry time) carries no event, and is no \
               fault.",
        why: "Servers send comments every few seconds so that proxies do not hang up. A client library once \
              threw on them, and an importer that insists on `data` does the same.",
        source: &[
            "WHATWG HTML, Interpreting an event stream",
            "Assay import formats, Canonical Transport Envelope",
            "seen: https://github.com/modelcontextprotocol/java-sdk/issues/443",
        ],
        open: false,
        right: Example { text: SSE_KEEPALIVE, reading: "One notification." },
        wrong: Example { text: SSE_KEEPALIVE, reading: "Rejected, because the first entry lacks `data`." },
    },
    Clause {
        id: "SSE-EVENT",
        family: FAMILY,
        title: "Only events named message carry messages",
        rule: "Read messages only from events named `message`; any other event, `endpoint` among them, \
               carries none, even if its data would parse. In the bytes of a stream (`har`) an event whose \
               name is missing or empty is named `message`. In an envelope such a name is open: read the \
               event as a `message` or pass over it. The built-in reader reads it.",
        why: "By the WHATWG's rules servers may leave the name out, and clients that wanted it spelt out \
              heard nothing of them. The text on envelopes asks for the name `message` and is silent on \
              entries that have none. A `ping` with a JSON body is not part of the session.",
        source: &[
            "WHATWG HTML, Interpreting an event stream",
            "Assay import formats, Canonical Transport Envelope",
            "seen: https://github.com/vercel/ai/pull/17727",
        ],
        open: true,
        right: Example {
            text: SSE_EVENT,
            reading: "One notification, from the `message` event; the `ping` event is transport.",
        },
        wrong: Example { text: SSE_EVENT, reading: "A request as well, from the `ping` event." },
    },
    Clause {
        id: "SSE-DATA-ARRAY",
        family: FAMILY,
        title: "An array of messages in SSE data",
        rule: "Data that is an array, as JSON or as text, may be rejected, passed over, or read message by \
               message, but for a batch of revision 2025-03-26 (EQ-BATCH). The built-in reader rejects (batch) \
               an array that plainly holds messages.",
        why: "Batches were legal on a stream in MCP 2025-03-26 and in no other revision. Reading only the \
              first of the messages is the one thing that suits nobody.",
        source: &[
            "Assay import formats, Canonical Transport Envelope",
            "MCP 2025-03-26, Transports, Sending Messages to the Server",
        ],
        open: true,
        right: Example { text: SSE_DATA_ARRAY, reading: "Rejected (batch), or two events, or none." },
        wrong: Example { text: SSE_DATA_ARRAY, reading: "One event: the rest of the array is lost." },
    },
    Clause {
        id: "SSE-DATA-NESTED",
        family: FAMILY,
        title: "A message inside a JSON string inside SSE data",
        rule: "Text that parses to a JSON string which in turn holds a message may be rejected, passed over, \
               or unwrapped once more. The built-in reader rejects (nested-data).",
        why: "It is the mark of a producer that serialised twice, and unwrapping until something fits hides \
              it.",
        source: &["Assay import formats, Canonical Transport Envelope", "derived"],
        open: true,
        right: Example {
            text: SSE_DATA_NESTED,
            reading: "Rejected (nested-data), or one notification, or none.",
        },
        wrong: Example { text: SSE_DATA_NESTED, reading: "An event whose method is the whole inner text." },
    },
];

// Transcripts that are shown twice: read rightly, and mistaken.

const ENV_NULL: &str = r#"{"transport":"streamable-http","entries":[
{"request":{"jsonrpc":"2.0","method":"notifications/initialized"}},
{"transport_context":{"status":202},"response":null}]}"#;

const ENV_LOOSE: &str = r#"{"transport":"streamable-http","entries":[
{"timestamp_ms":-0.5,"sse":{"id":7,"data":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}}]}"#;

const ENV_UNKNOWN: &str = r#"{"transport":"streamable-http","label":"nightly","entries":[
{"stream":"post-1","request":{"jsonrpc":"2.0","id":1,"method":"ping"}}]}"#;

const SSE_DATA_OBJECT: &str = r#"{"transport":"streamable-http","entries":[
{"request":{"jsonrpc":"2.0","id":1,"method":"ping"}},
{"sse":{"event":"message","data":{"jsonrpc":"2.0","id":1,"result":{}}}}]}"#;

const SSE_DATA_STRING: &str = r#"{"transport":"http-sse","entries":[
{"request":{"jsonrpc":"2.0","id":1,"method":"ping"}},
{"sse":{"event":"message","data":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"}}]}"#;

const SSE_DATA_TEXT: &str = r#"{"transport":"streamable-http","entries":[
{"request":{"jsonrpc":"2.0","id":1,"method":"ping"}},
{"sse":{"id":"e-0","data":""}},
{"sse":{"id":"e-1","data":{"jsonrpc":"2.0","id":1,"result":{}}}}]}"#;

const SSE_DATA_BROKEN: &str = r#"{"transport":"http-sse","entries":[
{"request":{"jsonrpc":"2.0","id":1,"method":"ping"}},
{"sse":{"event":"message","data":"{\"jsonrpc\":\"2.0\",\"id\":1,\"res"}}]}"#;

const SSE_KEEPALIVE: &str = r#"{"transport":"streamable-http","entries":[
{"sse":{"retry":3000}},
{"sse":{"event":"message","data":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}}]}"#;

const SSE_EVENT: &str = r#"{"transport":"http-sse","entries":[
{"sse":{"event":"ping","data":{"jsonrpc":"2.0","id":1,"method":"ping"}}},
{"sse":{"event":"message","data":{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}}]}"#;

const SSE_DATA_ARRAY: &str = r#"{"transport":"streamable-http","entries":[
{"sse":{"event":"message","data":[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]}}]}"#;

const SSE_DATA_NESTED: &str = r#"{"transport":"http-sse","entries":[
{"sse":{"event":"message","data":"\"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"method\\\":\\\"notifications/initialized\\\"}\""}}]}"#;
