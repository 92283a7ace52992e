//! What is asked of session ids, and of the version in the headers.

use super::super::http::ERA;
use crate::engine::{Revision, Span};
use crate::rule::{Need, Rule};

/// What the rules of this file have in common.
const OURS: Rule = Rule {
    span: ERA,
    needs: &[Need::Http],
    source: "basic/transports#session-management",
    ..Rule::BLANK.server()
};

const HEADER: Rule = Rule {
    span: Span::between(Revision::V2025_06_18, Revision::V2025_11_25),
    source: "basic/transports#protocol-version-header",
    ..OURS
};

pub(super) static CHARSET: Rule = Rule {
    id: "http.session.charset",
    needs: &[Need::Headers],
    title: "A session id is one word of visible ASCII characters",
    why: "Anything else is cut, joined or refused on its way through proxies; \"a, a\" is an id that a proxy doubled.",
    fix: "Assign a UUID or the like, in one header, once.",
    ..OURS
};

pub(super) static ENTROPY: Rule = Rule {
    id: "http.session.entropy",
    needs: &[Need::Headers],
    title: "A session id is too long to be guessed",
    why: "Anyone who guesses the id of a session can join it.",
    fix: "Assign a random UUID, a signed token, or a hash, of at least sixteen characters.",
    ..OURS.should()
};

pub(super) static ECHO: Rule = Rule {
    id: "http.session.echo",
    needs: &[Need::Headers],
    title: "Every request after the first names the session that the server assigned",
    why: "Without the id the server cannot tell who is asking, and a stream or an answer belongs to no session.",
    fix: "Send `Mcp-Session-Id` with every POST, GET and DELETE, as it was assigned.",
    softened: Some("a warning on a session that a later answer named"),
    ..OURS.client()
};

pub(super) static MISSING_400: Rule = Rule {
    id: "http.session.missing-400",
    title: "A request that lacks the session id is refused with 400",
    why: "404 would tell the client that its session is over, and other statuses do not.",
    fix: "Answer 400 Bad Request.",
    ..OURS.should()
};

pub(super) static AFTER_END: Rule = Rule {
    id: "http.session.404-after-end",
    title: "Requests of a session that is over are answered with 404",
    why: "Only a 404 shows the client that it has to start again; after a 400 it gives up.",
    fix: "Answer 404 Not Found to every request with the id of a session that is over.",
    softened: Some("a warning where only the words of an error say that the session is gone, and on 401"),
    ..OURS
};

pub(super) static REINIT: Rule = Rule {
    id: "http.session.reinit",
    title: "A client whose session is over begins a new one, without the old id",
    why: "The old id no longer leads anywhere, and every further request is lost.",
    fix: "After a 404 send `initialize` without `Mcp-Session-Id`.",
    softened: Some(
        "a warning where the server goes on with the session that it called over, or the client has another one",
    ),
    ..OURS.client()
};

pub(super) static PRESENT: Rule = Rule {
    id: "http.version.present",
    needs: &[Need::Headers],
    title: "Every request after `initialize` names the version in `MCP-Protocol-Version`",
    why: "A server that keeps no state takes the request for one of 2025-03-26.",
    fix: "Send the negotiated version with every POST, GET and DELETE.",
    ..HEADER.client()
};

pub(super) static NEGOTIATED: Rule = Rule {
    id: "http.version.negotiated",
    needs: &[Need::Headers],
    title: "`MCP-Protocol-Version` is the version that was negotiated",
    why: "The server answers in the version of the header, and the client reads the answer in another.",
    fix: "Send the version of the answer to `initialize`, not the one that was requested.",
    ..HEADER.should().client()
};

pub(super) static BAD_400: Rule = Rule {
    id: "http.version.bad-400",
    title: "A request with a version that does not exist is refused with 400",
    why: "A server that continues guesses how the client reads its answers.",
    fix: "Answer 400 Bad Request, and name the versions that you support.",
    softened: Some("a warning on 500: the server may have failed for another reason"),
    ..HEADER
};
