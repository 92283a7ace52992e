//! The rules on answers, as data. What they mean at a moment is in the file above.

use crate::engine::{Revision, Span};
use crate::rule::Rule;

pub(super) static ID_MATCH: Rule = Rule {
    id: "jsonrpc.response.id-match",
    source: "basic/index#responses",
    title: "A response has the id of a request that the other side made",
    why: "The request waits until it times out, and the answer is dropped or breaks the client.",
    fix: "Repeat the id of the request exactly as it came.",
    softened: Some("a warning where what was posted could not be read"),
    ..Rule::BLANK
};

pub(super) static ID_TYPE: Rule = Rule {
    id: "jsonrpc.response.id-type",
    relational: true,
    source: "basic/index#responses",
    title: "A response's id has the type of its request's id",
    why: "`1` and `\"1\"` are different ids: a client that compares exactly never sees the answer.",
    fix: "Keep the id as the JSON value it is; do not pass it through a string or an integer.",
    ..Rule::BLANK
};

pub(super) static DUPLICATE: Rule = Rule {
    id: "jsonrpc.response.duplicate",
    relational: true,
    source: "JSON-RPC 2.0, section 5",
    title: "A request is answered once",
    why: "Nothing waits for the second answer; if ids are reused, it is taken for the answer to another request.",
    fix: "Answer when the work is done, and not also when it times out or is cancelled.",
    ..Rule::BLANK
};

pub(super) static ID_ECHO: Rule = Rule {
    id: "jsonrpc.error.id-echo",
    relational: true,
    span: Span::from(Revision::V2025_11_25),
    source: "basic/index#error-responses",
    title: "An error has its request's id wherever that id could be read",
    why: "Without it the caller waits until it times out, although the error was there.",
    fix: "Read the id before anything that can fail, and repeat it.",
    softened: Some("a warning in the body of an HTTP status from 400 on"),
    contested: Some(
        "The text on HTTP says that the body of a refusal may be an error without an id; the text on errors asks for the id.",
    ),
    ..Rule::BLANK
};

pub(super) static NO_RESPONSE: Rule = Rule {
    id: "jsonrpc.notification.no-response",
    relational: true,
    source: "JSON-RPC 2.0, section 4.1; basic/index#notifications",
    title: "A notification is not answered",
    why: "Nobody waits for the answer; strict receivers take a response to nothing for a broken peer and hang up.",
    fix: "Do what a notification asks in silence; over HTTP, answer 202 without a body.",
    ..Rule::BLANK
};

pub(super) static ANSWERED: Rule = Rule {
    id: "jsonrpc.request.answered",
    source: "basic/index#responses; JSON-RPC 2.0, section 5",
    title: "A request that was not cancelled is answered before the session ends",
    why: "The requestor waits, usually for a minute, and often takes the whole server for dead.",
    fix: "Answer every request, with an error where nothing else can be said.",
    softened: Some(
        "a warning where the server failed and the trace does not say whether its input was still open",
    ),
    ..Rule::BLANK
};

pub(super) static ERROR_ID_NULL: Rule = Rule {
    id: "jsonrpc.error.id-null",
    relational: true,
    source: "JSON-RPC 2.0, section 5; schema, JSONRPCError",
    title: "An error has the id of its request rather than null",
    why: "It is not clear which request failed, and typed receivers refuse a null id.",
    fix: "Repeat the request's id; leave `id` out from 2025-11-25 on where it could not be read.",
    contested: Some("JSON-RPC demands null where the id could not be read; MCP's schemas allow no null."),
    softened: Some("a note where nobody can read what it answers, up to 2025-06-18, whose errors need an id"),
    ..Rule::BLANK.should()
};

pub(super) static ERROR_ID_ABSENT: Rule = Rule {
    id: "jsonrpc.error.id-absent",
    relational: true,
    span: Span::between(Revision::V2024_11_05, Revision::V2025_06_18),
    source: "schema, JSONRPCError",
    title: "An error has an id",
    why: "The schemas of these revisions ask for one; their readers do not take a message without it for a response.",
    fix: "Repeat the request's id; write null where it cannot be read.",
    contested: Some("The text on HTTP bodies lets an error go without an id; the schemas do not."),
    softened: Some(
        "a note in the body of an HTTP status from 400 on, a warning where nobody can read what it answers",
    ),
    ..Rule::BLANK
};

pub(super) static ORDER: Rule = Rule {
    id: "rec.order",
    source: "Assay import formats, JSON-RPC id Normalization",
    title: "An answer comes after its request",
    why: "Readers take an answer for that of a request before it: this one belongs to nothing, and its request stays open.",
    fix: "Write what both sides say by one writer, in the order in which it was seen.",
    ..Rule::BLANK.should().recorder()
};
