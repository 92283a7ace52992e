//! Clauses on `har`, the log of whole HTTP exchanges.

use super::clause::{Clause, Example};

const FAMILY: &str = "har";

pub(super) const CLAUSES: &[Clause] = &[
    Clause {
        id: "HAR-ORDER",
        family: FAMILY,
        title: "Exchanges stand in the order in which they started",
        rule: "Sort the exchanges by `startedDateTime`, ties by position; one without it takes that of the \
               exchange before it in the file, and where the value is not a date of RFC 3339 you may do the \
               same or reject. Then within each exchange take the POST's message first and then the answer's in \
               the order of the body. Where an exchange has a list `_events`, its n-th item tells by `time`, in \
               milliseconds since the start, when the n-th block of its stream came, comments counted and empty \
               blocks not, or its first item when its JSON answer was whole: place each message there among \
               those of other exchanges, behind what began earlier where moments are equal. An item without a \
               number, or with a smaller one than the item before, comes with that one, the first with the \
               start; a block behind the last item comes with the last. What a long stream without `_events` \
               said amid later exchanges is placed by guess, and the tools must admit it. Answers with one id \
               that came on two connections have no order between them: each binds as it stands here, and \
               nothing may rest on which of them came first.",
        why: "Proxies list an exchange when it has finished, so that the slow call stands after the quick \
              one that came later. Read in file order, its request follows traffic that it caused. Over \
              HTTP+SSE one stream carries every answer: read as it stands, all of them precede their \
              questions, and a recorder that knows better must be believed.",
        source: &[
            "HAR 1.2, entries and custom fields",
            "seen in exports of mitmproxy 11; `_events` in those of mcp-concord record",
        ],
        open: false,
        right: Example {
            text: HAR_ORDER,
            reading: "First the notification of 10:00:01, then the ping of 10:00:02 and its result.",
        },
        wrong: Example { text: HAR_ORDER, reading: "The ping first, because it comes first in the file." },
    },
    Clause {
        id: "HAR-MESSAGE",
        family: FAMILY,
        title: "A JSON body with jsonrpc is a message, and a foreign one is none",
        rule: "A POST body that holds an object with a `jsonrpc` member is the client's message, whatever its \
               media type, and so is such an `application/json` answer the server's, whatever the method; \
               streams apart (HAR-STREAM), other bodies carry none. The media type of an answer is in its \
               header `Content-Type`, or, without that, in `content.mimeType`; where the two differ, follow \
               either. A body in the place of a message that is not JSON may be passed over or rejected, and \
               the built-in reader rejects one that begins like a message. An array of messages may be read or \
               rejected, but for a batch of revision 2025-03-26 (EQ-BATCH), and the built-in reader rejects it \
               (batch).",
        why: "A capture holds all of the browser's or proxy's traffic: other sites, login pages, `Accepted`, \
              OAuth errors. Rejecting on the first of them makes the format useless, and reading them \
              invents messages.",
        source: &[
            "MCP 2025-11-25, Transports, Sending Messages to the Server",
            "MCP 2025-03-26, Transports, Sending Messages to the Server",
        ],
        open: true,
        right: Example {
            text: HAR_MESSAGE,
            reading: "One notification: the text of the 202 is not a message.",
        },
        wrong: Example { text: HAR_MESSAGE, reading: "Rejected, as `Accepted` is not JSON." },
    },
    Clause {
        id: "HAR-STREAM",
        family: FAMILY,
        title: "A text/event-stream body is read by the rules of SSE",
        rule: "Whether a POST or a GET opened it, decode base64 where `encoding` says so in any case (skip \
               white space in it; missing padding may reject), ignore the parameters of the content type, and \
               parse the bytes as the WHATWG text asks: LF, CR or CRLF, several `data` lines joined by LF, at \
               most one space taken off after a colon, comments skipped, an unfinished last event thrown away. \
               The clauses on SSE data hold then.",
        why: "Servers in Python send CRLF, others LF, some put `data` before `id` or split one message over \
              several lines. Hand-made parsers that split on two LFs or read each `data` line alone failed \
              on all of these.",
        source: &[
            "WHATWG HTML, Parsing an event stream",
            "WHATWG HTML, Interpreting an event stream",
            "MCP 2025-11-25, Transports",
            "seen: https://github.com/modelcontextprotocol/php-sdk/pull/401",
            "seen: https://github.com/profullstack/sh1pt/issues/705",
        ],
        open: false,
        right: Example {
            text: HAR_STREAM,
            reading: "A ping and its result; the event that was cut off at the end is discarded.",
        },
        wrong: Example {
            text: HAR_STREAM,
            reading: "A ping without an answer, since each `data` line was parsed as a message of its own.",
        },
    },
    Clause {
        id: "HAR-MISSING",
        family: FAMILY,
        title: "Missing bodies are counted aloud; a missing log rejects",
        rule: "Where an exporter left bodies out, read the rest and say on stderr how many are missing. A \
               file without an array at `log.entries` rejects.",
        why: "Proxies that pass streams through keep no bodies, and browsers drop large ones. A reading with \
              holes is still of use, as long as nobody takes it for the whole.",
        source: &["HAR 1.2, content", "seen in exports of mitmproxy 11"],
        open: false,
        right: Example {
            text: r#"{"log":{"version":"1.2","entries":[
{"startedDateTime":"2026-11-02T10:00:00.000Z",
"request":{"method":"POST","url":"http://127.0.0.1/mcp","headers":[],"postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}},
"response":{"status":200,"headers":[],"content":{"size":36,"mimeType":"application/json"}}}]}}"#,
            reading: "An open request, and a note on stderr that one body is missing.",
        },
        wrong: Example {
            text: r#"{"log":{"version":"1.2"}}"#,
            reading: "A session without events, where the file should reject (missing-entries).",
        },
    },
    Clause {
        id: "HAR-K2A",
        family: FAMILY,
        title: "Every 401 answer is looked at for its challenge",
        rule: "Make the K2-A summary from any answer with status 401 and a fitting challenge, whatever its \
               body is, and to whatever method it came.",
        why: "The body of a real 401 is an OAuth error, some HTML or nothing at all. An importer that looks \
              at the headers of messages only never sees the challenge.",
        source: &["Assay import formats, K2-A Authorization-Discovery Summary", "RFC 9110, section 11.6.1"],
        open: false,
        right: Example {
            text: HAR_K2A,
            reading: "No events, and a summary with `scope_challenge_visible` true.",
        },
        wrong: Example {
            text: HAR_K2A,
            reading: "No events and no summary, because the body is not a message.",
        },
    },
];

// Transcripts that are shown twice: read rightly, and mistaken.

const HAR_ORDER: &str = r#"{"log":{"version":"1.2","entries":[
{"startedDateTime":"2026-11-02T10:00:02.000Z",
"request":{"method":"POST","url":"http://127.0.0.1/mcp","headers":[],"postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}},
"response":{"status":200,"headers":[],"content":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"}}},
{"startedDateTime":"2026-11-02T10:00:01.000Z",
"request":{"method":"POST","url":"http://127.0.0.1/mcp","headers":[],"postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"}},
"response":{"status":202,"headers":[],"content":{"size":0,"mimeType":""}}}]}}"#;

const HAR_MESSAGE: &str = r#"{"log":{"version":"1.2","entries":[
{"startedDateTime":"2026-11-02T10:00:00.000Z",
"request":{"method":"POST","url":"http://127.0.0.1/mcp","headers":[],"postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"}},
"response":{"status":202,"headers":[],"content":{"mimeType":"text/plain","text":"Accepted"}}}]}}"#;

const HAR_STREAM: &str = r#"{"log":{"version":"1.2","entries":[
{"startedDateTime":"2026-11-02T10:00:00.000Z",
"request":{"method":"POST","url":"http://127.0.0.1/mcp","headers":[],"postData":{"mimeType":"application/json","text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}},
"response":{"status":200,"headers":[],"content":{"mimeType":"text/event-stream; charset=utf-8",
"text":": hello\r\ndata: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":1,\"result\":{}}\r\n\r\ndata: {\"jsonrpc\""}}}]}}"#;

const HAR_K2A: &str = r#"{"log":{"version":"1.2","entries":[
{"startedDateTime":"2026-11-02T10:00:00.000Z",
"request":{"method":"GET","url":"http://127.0.0.1/mcp","headers":[]},
"response":{"status":401,"headers":[{"name":"www-authenticate","value":"Bearer scope=\"files:read\""}],
"content":{"mimeType":"application/json","text":"{\"error\":\"invalid_token\"}"}}}]}}"#;
