//! What is asked of metadata documents, and of the requests that lead to a token.

use crate::engine::{Revision, Span};
use crate::rule::{Need, Rule};

pub(super) static SERVERS: Rule = Rule {
    id: "auth.prm.servers",
    span: Span::from(Revision::V2025_06_18),
    needs: &[Need::Http],
    source: "basic/authorization#authorization-server-location",
    title: "The resource metadata names at least one authorization server",
    why: "Clients fetch the document to learn one.",
    fix: "List the issuers in `authorization_servers`.",
    ..Rule::BLANK.server()
};

pub(super) static ABOUT: Rule = Rule {
    id: "auth.prm.resource",
    source: "basic/authorization#authorization-server-location; RFC 9728, section 3.3",
    title: "The `resource` of the metadata is the server whose address led to it, or above that",
    why: "Clients reject metadata for another resource, so nobody can log in.",
    fix: "Name the address that clients use, with its path, not the one behind a proxy that terminates TLS.",
    ..SERVERS
};

/// What the rules about a step of a client's flow have in common.
const STEP: Rule =
    Rule { span: Span::from(Revision::V2025_03_26), needs: &[Need::Http], ..Rule::BLANK.client() };

pub(super) static HTTPS: Rule = Rule {
    id: "auth.endpoints-https",
    source: "basic/authorization#communication-security",
    title: "The endpoints of an authorization server are at https addresses",
    why: "Codes and tokens that go over http can be read by anyone on the way.",
    fix: "Serve every endpoint of the metadata over https.",
    ..STEP.server()
};

pub(super) static REDIRECT: Rule = Rule {
    id: "auth.redirect-uri",
    source: "basic/authorization#communication-security; RFC 8252, section 7.1",
    title: "A redirect URI is at this machine or at an https address",
    why: "The authorization code is sent there, and over http anyone on the way can read it. Any app can claim a scheme.",
    fix: "Use a loopback address, https, or a scheme that reverses your domain name, such as `com.example.app:/`.",
    softened: Some("a note on an app's own scheme, and a warning where that is not a domain name"),
    contested: Some(
        "The text knows only localhost and https; RFC 8252, which OAuth 2.1 takes over, gives apps schemes of their own.",
    ),
    ..STEP
};

pub(super) static RESOURCE_VALUE: Rule = Rule {
    id: "auth.resource-value",
    span: Span::from(Revision::V2025_06_18),
    source: "basic/authorization#canonical-server-uri",
    title: "`resource` is the address of the MCP server, without a fragment",
    why: "The server refuses a token for another address, or the token works at a server it was not meant for.",
    fix: "Send the address that messages are posted to, or its origin.",
    ..STEP
};

pub(super) static CLIENT_ID: Rule = Rule {
    id: "auth.client-id-https",
    span: Span::from(Revision::V2025_11_25),
    source: "basic/authorization#client-id-metadata-documents",
    title: "A client id that is a URL is an https URL",
    why: "The authorization server fetches the document from there, and over http it may be anyone's.",
    fix: "Publish the metadata document at an https address with a path.",
    ..STEP
};

pub(super) static PKCE_SUPPORT: Rule = Rule {
    id: "auth.pkce-support",
    span: Span::from(Revision::V2025_11_25),
    source: "basic/authorization#authorization-code-protection",
    title: "A client does not go on where the metadata has no `code_challenge_methods_supported`",
    why: "Without the member nothing says that the server checks the proof, and a stolen code may work.",
    fix: "Refuse to go on, and say that the authorization server does not support PKCE.",
    ..STEP
};

pub(super) static RESOURCE: Rule = Rule {
    id: "auth.resource-param",
    span: Span::from(Revision::V2025_06_18),
    source: "basic/authorization#resource-parameter-implementation",
    title: "Authorization and token requests name the server that the token is for",
    why: "A token for no server in particular works at every server, including one that steals it.",
    fix: "Send `resource` with the server's URL in both requests.",
    ..STEP
};

pub(super) static PKCE: Rule = Rule {
    id: "auth.pkce-s256",
    source: "basic/authorization#authorization-code-protection",
    title: "An authorization code is protected by PKCE with S256",
    why: "Without it anyone who sees the code can trade it for a token; the method `plain` shows the secret itself.",
    fix: "Send `code_challenge` with `code_challenge_method=S256`, and `code_verifier` with the code.",
    softened: Some("a warning on the method `plain`, which a client may use that can do no better"),
    ..STEP
};

pub(super) static ISSUER: Rule = Rule {
    id: "auth.issuer",
    span: Span::MODERN,
    source: "basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery",
    title: "Metadata names the issuer that it was fetched for, or is not used",
    why: "A server that publishes the metadata of another issuer makes clients send it codes that are meant for that one.",
    fix: "Publish the issuer whose address the metadata is at; a client refuses metadata of any other.",
    softened: Some("a warning where only the slash at the end is another, which some libraries add"),
    ..STEP.server()
};

pub(super) static ISS: Rule = Rule {
    id: "auth.iss",
    span: Span::MODERN,
    source: "basic/authorization#authorization-response-validation; RFC 9207, section 2.4",
    title: "A client trades a code only if its `iss` is the issuer of the metadata",
    why: "A code from another issuer reaches a server that it is not meant for and that can use it.",
    fix: "Compare `iss` with the issuer character by character, and drop the answer if it differs, or is missing although the metadata announces it.",
    ..STEP
};

pub(super) static APPLICATION_TYPE: Rule = Rule {
    id: "auth.application-type",
    span: Span::MODERN,
    source: "basic/authorization/client-registration#application-type-and-redirect-uri-constraints",
    title: "A client that registers itself says its `application_type`",
    why: "OpenID Connect takes a client that says nothing for a web application, whose redirect URIs may not be local.",
    fix: "Send `application_type` \"native\" for a program or page on this machine, and \"web\" otherwise.",
    ..STEP
};

pub(super) static STATE: Rule = Rule {
    id: "auth.state",
    span: Span::from(Revision::V2025_06_18),
    source: "basic/authorization#open-redirection",
    title: "An authorization request has a `state`",
    why: "Without it a client cannot tell the answer to its request from one that somebody slipped in.",
    fix: "Send a random `state`, and drop every answer that does not bring it back.",
    ..STEP.should()
};

pub(super) static SCOPES: Rule = Rule {
    id: "auth.scope-challenged",
    span: Span::from(Revision::V2025_11_25),
    source: "basic/authorization#scope-selection-strategy",
    title: "A client asks for the scopes that the challenge names",
    why: "With fewer the request is refused again; with more the user grants what is not needed.",
    fix: "Send the `scope` of the challenge; in a later step, together with what was granted before.",
    ..STEP.should()
};
