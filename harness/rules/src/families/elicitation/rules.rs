//! What is asked of questions to a user, and of the answers.

use crate::engine::{Revision, Span};
use crate::rule::Rule;

const EVER: Span = Span::from(Revision::V2025_06_18);
pub(super) const MODES: Span = Span::from(Revision::V2025_11_25);

pub(super) static PARAMS: Rule = Rule {
    id: "elicit.params",
    span: EVER,
    source: "client/elicitation#elicitation-requests",
    title: "An elicitation has a `message`, and the form or the URL that its mode asks for",
    why: "The client has nothing to show, and answers with an error.",
    fix: "Send `message` with `requestedSchema`, or with `url` in the mode \"url\" (in 2025-11-25 also `elicitationId`).",
    ..Rule::BLANK.server()
};

pub(super) static URL: Rule = Rule {
    id: "elicit.url-valid",
    span: MODES,
    source: "client/elicitation#url-mode-elicitation-requests",
    title: "The URL of an elicitation is a valid URL",
    why: "The client cannot open it.",
    fix: "Send an absolute URL such as https://example.com/authorize?state=1.",
    softened: Some("a warning where the URL is only not escaped"),
    ..Rule::BLANK.server()
};

pub(super) static FLAT: Rule = Rule {
    id: "elicit.schema-flat",
    span: EVER,
    source: "client/elicitation#requested-schema",
    title: "A form is an object of plain fields: strings, numbers, booleans and choices",
    why: "Clients build a form from it, and know no field within a field.",
    fix: "Flatten the fields, and give each a `type`; optional fields are left out of `required` rather than joined \
          with null.",
    ..Rule::BLANK.server()
};

pub(super) static ACTION: Rule = Rule {
    id: "elicit.action",
    span: EVER,
    source: "client/elicitation#response-actions",
    title: "The action is accept, decline or cancel, and only an accepted form has content",
    why: "The server decides by the action whether the user has agreed.",
    fix: "Send one of the three; leave `content` out of the last two, and where a URL was to be opened.",
    softened: Some("a warning where content accompanies a decline, a cancel, or what was done at a URL"),
    ..Rule::BLANK.client()
};

pub(super) static CONTENT: Rule = Rule {
    id: "elicit.content-conforms",
    span: EVER,
    source: "client/elicitation#security-considerations",
    title: "What the user has entered fits the form",
    why: "Both sides are to check it; a server that trusts its own form fails on other values.",
    fix: "Validate the content against `requestedSchema` before it is sent.",
    ..Rule::BLANK.should().client()
};

pub(super) static BAD_MODE: Rule = Rule {
    id: "elicit.bad-mode-error",
    span: Span::only(Revision::V2025_11_25),
    source: "client/elicitation#error-handling",
    title: "A mode that the client did not declare is answered with the error -32602",
    why: "The server can then ask in another mode, instead of taking the user for unwilling.",
    fix: "Answer with -32602.",
    ..Rule::BLANK.client()
};

pub(super) static COMPLETE: Rule = Rule {
    id: "elicit.complete.id",
    span: Span::only(Revision::V2025_11_25),
    source: "client/elicitation#completion-notifications-for-url-mode-elicitation",
    title: "A completion names an elicitation that was asked for",
    why: "The client waits for that id, and ignores any other.",
    fix: "Send the `elicitationId` of the request, or of the error -32042.",
    ..Rule::BLANK.server()
};

pub(super) static URL_HTTPS: Rule = Rule {
    id: "elicit.url-https",
    span: Span::from(Revision::V2025_11_25),
    source: "client/elicitation#safe-url-handling",
    title: "The URL of an elicitation is an https URL, or on this machine",
    why: "What a user enters there goes over the network, and over http anyone on the way can read it.",
    fix: "Serve the page over https.",
    ..Rule::BLANK.should().server()
};

pub(super) static SECRETS: Rule = Rule {
    id: "elicit.no-secrets",
    span: EVER,
    source: "client/elicitation#security-considerations",
    title: "A form asks for no passwords, keys or card numbers, as far as its names show",
    why: "What is entered passes through the client, and usually in front of a model.",
    fix: "Ask for it in the mode \"url\", on a page of your own.",
    softened: Some("a warning where the field may be about a secret, and not the secret"),
    ..Rule::BLANK.server()
};

pub(super) static LINKS: Rule = Rule {
    id: "elicit.form-links",
    span: MODES,
    source: "client/elicitation#safe-url-handling",
    title: "A form has no links to click",
    why: "A client that shows the text turns it into a link, which the user follows without the consent that a URL needs.",
    fix: "Send the address as `url` of an elicitation in the mode \"url\".",
    ..Rule::BLANK.should().server()
};
