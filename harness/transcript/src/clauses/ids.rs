//! Clauses on ids, and on which response answers which request.

use super::clause::{Clause, Example};

const FAMILY: &str = "Ids and correlation";

pub(super) const CLAUSES: &[Clause] = &[
    Clause {
        id: "ID-STRING",
        family: FAMILY,
        title: "A string id is kept as it is",
        rule: "Use a string id unchanged as the correlation id. Do not trim it, fold its case or read a \
               number in it, and let the empty string be an id like any other.",
        why: "Servers have turned `\"1\"` into a number and answered `0` to an id that was not a number at all; \
              an importer that tidies ids the same way binds answers to the wrong calls. The empty string \
              gets lost wherever code asks whether an id is truthy.",
        source: &[
            "Assay import formats, JSON-RPC id Normalization",
            "seen: https://github.com/modelcontextprotocol/python-sdk/issues/961",
            "seen: https://github.com/DeusData/codebase-memory-mcp/issues/253",
        ],
        open: false,
        right: Example {
            text: ID_STRING,
            reading: "The result answers the first request; ` A` and `a` are two ids.",
        },
        wrong: Example {
            text: ID_STRING,
            reading: "Trimmed and folded, both requests have the id `a`, and the pairing is a guess.",
        },
    },
    Clause {
        id: "ID-NUMBER",
        family: FAMILY,
        title: "An integer id becomes its decimal digits",
        rule: "Turn an integer id into a string of its decimal digits, all of them, however many there are. \
               From there on `1` and `\"1\"` are the same correlation id.",
        why: "Gateways hand a number back as a string, and importers must still find the pair. Clients that \
              count in nanoseconds send ids past 2^53, which a float rounds until two of them are one.",
        source: &[
            "Assay import formats, JSON-RPC id Normalization",
            "seen: https://github.com/modelcontextprotocol/rust-sdk/issues/1017",
            "seen: https://github.com/kcaldas/genie/pull/14",
        ],
        open: false,
        right: Example {
            text: ID_NUMBER,
            reading: "The id is `9007199254740993`, and the result answers the request.",
        },
        wrong: Example {
            text: ID_NUMBER,
            reading: "The id was read into a float and is `9007199254740992`, so the string id finds no request.",
        },
    },
    Clause {
        id: "ID-NUMBER-FORM",
        family: FAMILY,
        title: "How an id written 1.0, 1e0 or -0 is spelled is left to the importer",
        rule: "How such an id reads as text, and whether it meets another spelling of the number, is yours \
               to decide. A response that repeats it letter by letter must bind. The built-in reader keeps \
               the number's own text, so `1.0` has the id `1.0` and does not meet `1`.",
        why: "JSON-RPC advises against fractions and no text says what such an id turns into. The SDKs do \
              not agree even on `1.0`: one takes the message for a request, two for a notification.",
        source: &["JSON-RPC 2.0, section 4", "Assay import formats, JSON-RPC id Normalization"],
        open: true,
        right: Example {
            text: r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}
{"jsonrpc":"2.0","id":1.0,"result":{}}"#,
            reading: "The result answers the request; the id reads `1.0` here, and may read `1` elsewhere.",
        },
        wrong: Example {
            text: r#"{"jsonrpc":"2.0","id":1e0,"method":"ping"}
{"jsonrpc":"2.0","id":1e0,"result":{}}"#,
            reading: "The id is held to be no integer and dropped, and the answer becomes an orphan.",
        },
    },
    Clause {
        id: "ID-NULL",
        family: FAMILY,
        title: "A null id makes no pair",
        rule: "Treat `\"id\": null` as a missing id (ID-MISSING): the message is an event that has no part in \
               any pair. A method other than `tools/call` is then a notification, a `tools/call` is a call that \
               nothing can answer, and a response is an orphan.",
        why: "Servers answer what they could not parse with a null id. Where null serves as a key, every \
              such error binds to whichever request without an id came first, and a lost call seems \
              answered.",
        source: &[
            "Assay import formats, JSON-RPC id Normalization",
            "JSON-RPC 2.0, section 5",
            "seen: https://github.com/modelcontextprotocol/python-sdk/issues/2057",
        ],
        open: false,
        right: Example {
            text: ID_NULL,
            reading: "A tool call that was never answered, and an error that is an orphan.",
        },
        wrong: Example {
            text: ID_NULL,
            reading: "The error is the call's outcome, since both ids are null.",
        },
    },
    Clause {
        id: "ID-MISSING",
        family: FAMILY,
        title: "A message without an id makes no pair",
        rule: "Read a message without `id` as one without a correlation id. A method other than `tools/call` \
               is then a notification, a `tools/call` is a call that nothing can answer, and a response is \
               an orphan.",
        why: "Some servers leave the id out of their errors. Binding such an error to the request that \
              happens to be open last looks helpful, until two requests are open.",
        source: &[
            "Assay import formats, JSON-RPC id Normalization",
            "JSON-RPC 2.0, section 4.1",
            "seen: https://github.com/modelcontextprotocol/typescript-sdk/pull/1281",
        ],
        open: false,
        right: Example {
            text: ID_MISSING,
            reading: "The ping stays unanswered, and the error is an orphan.",
        },
        wrong: Example { text: ID_MISSING, reading: "The error answers the ping, as nothing else was open." },
    },
    Clause {
        id: "ID-NULL-TEXT",
        family: FAMILY,
        title: "The string \"null\" is an id, and null is none",
        rule: "Keep the JSON value `null` and the string `\"null\"` apart. The string is an ordinary id that \
               binds as any other does.",
        why: "Turning every id into text with one call makes the four letters of both. A request that is \
              really named `null` then collects the answers to all unreadable requests.",
        source: &["Assay import formats, JSON-RPC id Normalization"],
        open: false,
        right: Example {
            text: ID_NULL_TEXT,
            reading: "The error is an orphan, and the result answers the request `null`.",
        },
        wrong: Example {
            text: ID_NULL_TEXT,
            reading: "The error answers the request, and the true result is left an orphan.",
        },
    },
    Clause {
        id: "ID-REJECT",
        family: FAMILY,
        title: "An id that is a boolean, object or array rejects the transcript",
        rule: "Reject the whole transcript as soon as any message has such an id, be it a request, a \
               notification or a response. Name the place, and do not carry on without the message.",
        why: "There is no sensible key to make of such an id: `[1]` and `\"1\"` print alike in some \
              languages, and every object prints alike in others. An importer that shrugs it off pairs at \
              random.",
        source: &["Assay import formats, JSON-RPC id Normalization", "JSON-RPC 2.0, section 4"],
        open: false,
        right: Example {
            text: r#"{"jsonrpc":"2.0","id":"true","method":"ping"}"#,
            reading: "A request whose id is the string `true`.",
        },
        wrong: Example {
            text: r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            reading: "The boolean is made into the string `true`, where the file should reject (invalid-id).",
        },
    },
    Clause {
        id: "COR-FIRST",
        family: FAMILY,
        title: "A response answers the oldest open request with its id",
        rule: "Look back from the response for requests with its id that have no answer yet, and bind it to the \
               oldest of them. An id that is used again after its answer begins a new pair. A request that HTTP \
               turned away (with the status 401, 301, 302, 303, 307 or 308) and that comes again with its id is \
               the same request, said twice: each copy is an event, the answer binds to the first, and the \
               other waits for an answer of its own.",
        why: "Clients exist that send every request with id 1, one after the other. With one slot per id the \
              second answer overwrites the first, or the second request never gets its own. Clients that \
              had to fetch a token, or were sent to another address, repeat what the server never saw.",
        source: &[
            "Assay import formats, JSON-RPC id Normalization",
            "RFC 9110, section 15.4 and section 15.5.2",
            "seen: https://github.com/anthropics/claude-ai-mcp/issues/539",
        ],
        open: false,
        right: Example {
            text: COR_FIRST,
            reading: "Two pairs: each result answers the ping just before it.",
        },
        wrong: Example {
            text: COR_FIRST,
            reading: "The second result overwrites the first, and the second ping stays open.",
        },
    },
    Clause {
        id: "COR-LATE",
        family: FAMILY,
        title: "A second answer is an orphan and changes nothing",
        rule: "Where no open request with the response's id stands before it, keep the response as an \
               orphan. No match that was already made may change.",
        why: "Answers come twice after a reconnect, and once more after a cancelled call. Whichever copy an \
              importer keeps, the earlier verdict must stand, or a call's outcome depends on how long the \
              recorder ran.",
        source: &[
            "Assay import formats, JSON-RPC id Normalization",
            "seen: https://github.com/modelcontextprotocol/python-sdk/pull/2481",
        ],
        open: false,
        right: Example {
            text: COR_LATE,
            reading: "The call's outcome is the result; the error after it is an orphan event.",
        },
        wrong: Example {
            text: COR_LATE,
            reading: "The error comes last and becomes the outcome, so that a good call has failed.",
        },
    },
    Clause {
        id: "COR-BEFORE",
        family: FAMILY,
        title: "An answer before its request answers nothing",
        rule: "Bind backwards only. A response that comes ahead of the request with its id is an orphan, and \
               the request stays open unless a later response answers it.",
        why: "Recorders that read two pipes with two threads now and then write the answer first. Collecting \
              all requests before looking at the responses hides that, and it lets an answer from before a \
              reused id serve the wrong call.",
        source: &["Assay import formats, JSON-RPC id Normalization (a consequence)", "derived"],
        open: false,
        right: Example {
            text: COR_BEFORE,
            reading: "An orphan result, then a ping that was never answered.",
        },
        wrong: Example { text: COR_BEFORE, reading: "One pair, found by a second pass over the file." },
    },
    Clause {
        id: "COR-DUPLICATE",
        family: FAMILY,
        title: "Two tool calls with one id reject the transcript",
        rule: "Reject when two `tools/call` requests normalise to the same id, whether or not the first was \
               answered, and also where one is written `1` and the other `\"1\"`. This clause knows no \
               direction: one id for all tool calls, although each side has its own ids elsewhere \
               (COR-DIRECTION). Other methods may use an id again. In `har`, a call that HTTP turned away may \
               come once more under its id: that is the same call, whatever its arguments are (COR-FIRST), and \
               no duplicate.",
        why: "A tool call is evidence, and evidence that can be attributed to two calls is none, whoever \
              called. Servers have cross-wired the answers of calls that shared an id, so no order of \
              arrival can be trusted.",
        source: &[
            "Assay import formats, JSON-RPC id Normalization",
            "seen: https://github.com/modelcontextprotocol/python-sdk/issues/3137",
        ],
        open: false,
        right: Example {
            text: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"b","arguments":{}}}"#,
            reading: "Two calls, each with an id of its own.",
        },
        wrong: Example {
            text: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}
{"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"b","arguments":{}}}"#,
            reading: "Two calls are given out, where the file should reject (duplicate-call-id).",
        },
    },
    Clause {
        id: "COR-ANY",
        family: FAMILY,
        title: "Every request can be answered, not only tool calls",
        rule: "Remember the open requests of all methods, and bind each response by its id alone. The look \
               of a result must not decide what it answers.",
        why: "An importer that tracks only calls has to guess what a stray result belongs to, and the \
              answer to `initialize` gets taken for a tool's. One well-known importer gives every answer \
              that is not a tool list out as a tool's result.",
        source: &["Assay import formats, Semantic Normalization Contract", "JSON-RPC 2.0, section 5"],
        open: false,
        right: Example {
            text: COR_ANY,
            reading: "The first result answers the resource request and the second the call.",
        },
        wrong: Example {
            text: COR_ANY,
            reading: "The resource request is not tracked, so its result counts as an orphan tool result.",
        },
    },
    Clause {
        id: "COR-DIRECTION",
        family: FAMILY,
        title: "Each side has its own ids",
        rule: "Where the format tells who spoke (mcp-replay, both HTTP envelopes, HAR, an Inspector export), \
               keep the open requests of client and server apart. What a side answers is something that it \
               was asked.",
        why: "Both sides count from 0 or 1 in ordinary SDK traffic, and both ids are open when a server asks \
              for roots or a sample in the middle of a tool call. One table for both hands the client's \
              reply to the tool call.",
        source: &[
            "MCP 2025-11-25, Base Protocol, Requests",
            "seen in recorded SDK sessions",
            "seen: https://github.com/abir-taheer/mcp-runner/pull/4",
        ],
        open: false,
        right: Example {
            text: COR_DIRECTION,
            reading: "The client's result answers `roots/list`; the server's result answers the call.",
        },
        wrong: Example {
            text: COR_DIRECTION,
            reading: "The list of roots becomes the outcome of the tool call, whose own goes to `roots/list`.",
        },
    },
    Clause {
        id: "COR-DIRECTION-FLAT",
        family: FAMILY,
        title: "Bare messages cannot carry one id open on both sides",
        rule: "In `jsonrpc`, and in `inspector` with bare messages, nothing tells who spoke. Where client \
               and server wait for an answer to the same id at one time, refuse to write the session there \
               and leave the format out of comparisons; taking turns with an id does no harm.",
        why: "A writer that does it all the same makes a file that reads as another session. Refusing is the \
              only way to keep the promise that every format tells the same story.",
        source: &["derived"],
        open: false,
        right: Example {
            text: r#"{"jsonrpc":"2.0","id":1,"method":"ping"}
{"jsonrpc":"2.0","id":1,"result":{}}
{"jsonrpc":"2.0","id":1,"method":"roots/list"}
{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
            reading: "Two pairs: the client's id was free again when the server used it.",
        },
        wrong: Example {
            text: r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tree","arguments":{}}}
{"jsonrpc":"2.0","id":1,"method":"roots/list"}
{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}
{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
            reading: "Written from a session of two sides, this gives the list of roots to the tool call.",
        },
    },
    Clause {
        id: "TOOL-NAMELESS",
        family: FAMILY,
        title: "A tool call without a name in text may be read or rejected",
        rule: "Where `params.name` of a `tools/call` is not there, or not text, read it or reject it, alike \
               in all formats. The built-in reader accepts it: `tool` is absent, or the value as it stands.",
        why: "The message is well-formed JSON-RPC, so a reader has no need to refuse it, and yet MCP demands \
              a name. Inventing one (`unknown`, or the empty string) is what must not happen.",
        source: &[
            "Assay import formats, Semantic Normalization Contract",
            "MCP 2025-11-25, Tools, Calling Tools",
        ],
        open: true,
        right: Example {
            text: TOOL_NAMELESS,
            reading: "A tool call with arguments and no `tool`, or a rejection.",
        },
        wrong: Example { text: TOOL_NAMELESS, reading: "A call of a tool named `unknown`." },
    },
];

// Transcripts that are shown twice: read rightly, and mistaken.

const ID_STRING: &str = r#"{"jsonrpc":"2.0","id":" A","method":"ping"}
{"jsonrpc":"2.0","id":"a","method":"ping"}
{"jsonrpc":"2.0","id":" A","result":{}}"#;

const ID_NUMBER: &str = r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}
{"jsonrpc":"2.0","id":"9007199254740993","result":{}}"#;

const ID_NULL: &str = r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"a","arguments":{}}}
{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#;

const ID_MISSING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}
{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}"#;

const ID_NULL_TEXT: &str = r#"{"jsonrpc":"2.0","id":"null","method":"ping"}
{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}
{"jsonrpc":"2.0","id":"null","result":{}}"#;

const COR_FIRST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}
{"jsonrpc":"2.0","id":1,"result":{}}
{"jsonrpc":"2.0","id":1,"method":"ping"}
{"jsonrpc":"2.0","id":1,"result":{}}"#;

const COR_LATE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{}}}
{"jsonrpc":"2.0","id":1,"result":{"content":[]}}
{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"Request cancelled"}}"#;

const COR_BEFORE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}
{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

const COR_ANY: &str = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///a"}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{}}}
{"jsonrpc":"2.0","id":1,"result":{"contents":[]}}
{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#;

const COR_DIRECTION: &str = r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"demo","command":["demo"]}
{"t":"2026-05-12T23:00:00.100Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tree","arguments":{}}}}
{"t":"2026-05-12T23:00:00.200Z","dir":"out","raw":{"jsonrpc":"2.0","id":1,"method":"roots/list"}}
{"t":"2026-05-12T23:00:00.300Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}}
{"t":"2026-05-12T23:00:00.400Z","dir":"out","raw":{"jsonrpc":"2.0","id":1,"result":{"content":[]}}}
{"t":"2026-05-12T23:00:00.500Z","type":"end","exitCode":0,"durationMs":500}"#;

const TOOL_NAMELESS: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":1}}}"#;
