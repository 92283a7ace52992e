//! The rules about refusals, their challenges, and tokens on requests.

use crate::engine::{Revision, Span};
use crate::rule::{Need, Rule};

/// What the rules of this file have in common.
const OURS: Rule = Rule {
    span: Span::from(Revision::V2025_03_26),
    source: "basic/authorization#token-handling",
    ..Rule::BLANK.server()
};

/// The same for those on clients.
const CLIENT: Rule = Rule { needs: &[Need::Http], ..OURS.client() };

pub(super) static REQUIRED: Rule = Rule {
    id: "auth.401.required",
    title: "A request without a valid token is refused with 401",
    why: "Clients begin the authorization flow only on 401; after another status they give up.",
    fix: "Answer 401 Unauthorized where the token is missing, expired or not valid.",
    softened: Some("a warning where only the words of an error say that the token is not valid"),
    ..OURS
};

pub(super) static CHALLENGE: Rule = Rule {
    id: "auth.401.www-authenticate",
    span: Span::from(Revision::V2025_06_18),
    source: "2025-06-18 basic/authorization#authorization-server-location",
    title: "A 401 has a `WWW-Authenticate` header, or the metadata is at a well-known address",
    why: "Without either a client cannot find out where to get a token.",
    fix: "Send `WWW-Authenticate: Bearer resource_metadata=\"…\"` with every 401.",
    ..OURS
};

pub(super) static METADATA: Rule = Rule {
    id: "auth.401.resource-metadata",
    span: Span::from(Revision::V2025_06_18),
    source: "basic/authorization#protected-resource-metadata-discovery-requirements; RFC 9728, section 5.1",
    title: "A 401 names the resource metadata, or it is at a well-known address",
    why: "The document names the authorization servers; a client that cannot find it has nowhere to go.",
    fix: "Add the parameter `resource_metadata` with the URL of the document to the challenge.",
    ..OURS
};

pub(super) static SCOPE: Rule = Rule {
    id: "auth.401.scope",
    span: Span::from(Revision::V2025_11_25),
    source: "basic/authorization#protected-resource-metadata-discovery-requirements",
    title: "The challenge of a 401 names the scopes that are needed",
    why: "Clients ask for every scope there is, or for none, when the challenge does not say which.",
    fix: "Add the parameter `scope` to the challenge.",
    ..OURS.should()
};

pub(super) static INSUFFICIENT: Rule = Rule {
    id: "auth.403.insufficient-scope",
    span: Span::from(Revision::V2025_11_25),
    source: "basic/authorization#runtime-insufficient-scope-errors",
    title: "A refusal for missing scopes is a 403 with `error`, `scope` and `resource_metadata`",
    why: "This challenge tells the client which scopes are missing; without it the client cannot go on.",
    fix: "Answer 403 with `Bearer error=\"insufficient_scope\", scope=\"…\", resource_metadata=\"…\"`.",
    ..OURS.should()
};

pub(super) static OFFLINE: Rule = Rule {
    id: "auth.offline-access",
    span: Span::MODERN,
    source: "2026-07-28 basic/authorization#refresh-tokens",
    title: "Neither a challenge nor the resource metadata asks for the scope `offline_access`",
    why: "Whether a client wants refresh tokens is between it and the authorization server; no resource needs them.",
    fix: "Leave `offline_access` out of challenges and of `scopes_supported`.",
    ..OURS.should()
};

pub(super) static EVERY_REQUEST: Rule = Rule {
    id: "auth.header.every-request",
    source: "basic/authorization#token-requirements",
    title: "Once it has a token, a client sends it with every request",
    why: "A session does not prove who is asking, and servers refuse what comes without a token.",
    fix: "Send `Authorization: Bearer` with every POST, GET and DELETE, also within a session.",
    ..CLIENT
};

pub(super) static BEARER: Rule = Rule {
    id: "auth.header.bearer",
    source: "basic/authorization#token-requirements; RFC 6750, section 2.1",
    title: "The `Authorization` header is `Bearer` and a token",
    why: "MCP servers accept only that scheme, and treat the request as one without a token.",
    fix: "Send `Authorization: Bearer`, a blank and the token.",
    softened: Some("a warning where no challenge of the server asked for a bearer token"),
    contested: Some(
        "Authorization is optional, and a client and a server may agree on a scheme of their own.",
    ),
    ..CLIENT
};

pub(super) static QUERY_TOKEN: Rule = Rule {
    id: "auth.query-token",
    source: "basic/authorization#token-requirements",
    title: "No access token is in a URL",
    why: "URLs end up in logs, histories and `Referer` headers, and the token with them.",
    fix: "Send the token only in the `Authorization` header.",
    ..CLIENT
};

pub(super) static RETRY_LIMIT: Rule = Rule {
    id: "auth.retry-limit",
    span: Span::from(Revision::V2025_11_25),
    needs: &[Need::Http],
    source: "basic/authorization#step-up-authorization-flow",
    title: "A client that is refused again and again gives up",
    why: "The next token will not be better; users are asked over and over, and servers are loaded for nothing.",
    fix: "Stop after a few attempts for the same operation, and report the refusal.",
    ..CLIENT.should()
};
