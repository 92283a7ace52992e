//! Clauses on K2-A: the summary of a 401 challenge, the only transport context that enters a meaning.

use super::clause::{Clause, Example};
use super::envelopes::FAMILY;

pub(super) const CLAUSES: &[Clause] = &[
    Clause {
        id: "K2A-SUMMARY",
        family: FAMILY,
        title: "A 401 challenge leaves a summary in the meaning",
        rule: "When the context of a `response` gives status 401 and a challenge in `WWW-Authenticate` (its \
               name in any case) with a `resource_metadata` or `scope` parameter, set \
               `authorization_discovery` and flag which of the two were there. \
               `authorization_servers_visible` stays false. What several 401 answers of one session show is \
               joined, member by member; whether several challenges of one answer are is open, and the \
               built-in reader joins them. The header is read by the grammar of RFC 9110: names of schemes and \
               parameters in any case, white space allowed around `=` and `,`, a value as a token or a quoted \
               string, and behind a scheme either parameters or one token68, such as `Negotiate YQ==`, which is \
               not a parameter. Showing the summary is optional: an answer without the member is \
               skipped where one is due, and `null` says that nothing is visible.",
        why: "How a client learned where to log in is worth keeping, since servers do send 401 without any \
              challenge. The source lets an importer make the summary and does not ask it to.",
        source: &[
            "Assay import formats, K2-A Authorization-Discovery Summary",
            "RFC 9110, sections 11.2 to 11.4",
            "RFC 9110, section 11.6.1",
            "RFC 9728, section 5.1",
            "seen: https://github.com/gavdilabs/cap-mcp-plugin/issues/111",
        ],
        open: false,
        right: Example {
            text: K2A_SUMMARY,
            reading: "A summary with both `resource_metadata_visible` and `scope_challenge_visible` true.",
        },
        wrong: Example {
            text: K2A_SUMMARY,
            reading: "No summary, because the header's name is in lower case.",
        },
    },
    Clause {
        id: "K2A-BOUND",
        family: FAMILY,
        title: "Nothing else than a 401 challenge makes a summary",
        rule: "Give no summary under another status, without the header, or when the challenge has neither \
               parameter. Words inside the quoted value of some other parameter are not parameters, and what \
               stands before any scheme belongs to no challenge.",
        why: "A search for `scope=` in the header finds it in an error description too, and a 403 tells of \
              missing rights and not of discovery. A summary that is wrong claims to have seen what was \
              never sent.",
        source: &[
            "Assay import formats, K2-A Authorization-Discovery Summary",
            "RFC 9110, section 11.2",
            "RFC 9110, section 11.6.1",
        ],
        open: false,
        right: Example { text: K2A_BOUND, reading: "No summary: the only parameter is `error_description`." },
        wrong: Example { text: K2A_BOUND, reading: "A summary that claims a visible scope." },
    },
    Clause {
        id: "K2A-SPELLING",
        family: FAMILY,
        title: "A challenge that is spelled in an unusual place",
        rule: "A status written as text, or as `status_code` or `http_status`, headers given as lists, or a \
               challenge that an `sse` entry bears may make a summary or not. The built-in reader makes \
               none: it looks at `transport_context.status` and `transport_context.headers` of a `response` \
               entry.",
        why: "The documented place is all that producers can count on; no text says how far to go to meet \
              the others.",
        source: &["Assay import formats, K2-A Authorization-Discovery Summary"],
        open: true,
        right: Example {
            text: K2A_SPELLING,
            reading: "An error that answers nothing, with a summary or without.",
        },
        wrong: Example { text: K2A_SPELLING, reading: "Rejected, or read without the error message." },
    },
];

// Transcripts that are shown twice: read rightly, and mistaken.

const K2A_SUMMARY: &str = r#"{"transport":"streamable-http","entries":[
{"transport_context":{"status":401,"headers":{"www-authenticate":
"Bearer resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource\", scope=\"files:read\""}},
"response":{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Unauthorized"}}}]}"#;

const K2A_BOUND: &str = r#"{"transport":"streamable-http","entries":[
{"transport_context":{"status":401,"headers":{"WWW-Authenticate":"Bearer error_description=\"try scope=all\""}},
"response":{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Unauthorized"}}}]}"#;

const K2A_SPELLING: &str = r#"{"transport":"streamable-http","entries":[
{"transport_context":{"status":"401","headers":{"WWW-Authenticate":["Bearer scope=\"files:read\""]}},
"response":{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Unauthorized"}}}]}"#;
