//! Elicitation: what a server asks a user, and what the user answers.
//!
//! Memory: the ids of elicitations by URL, up to [`MOST_IDS`], open questions as `ServerRequests` says, and compiled forms as
//! `Schemas` says.

use crate::engine::{
    ClientAnswer, Family, Fit, LONGEST_NAME, MessageKind, Origin, Report, Revision, RuleContext, RuleVisitor,
    Schemas, ServerRequests, Span, Trigger, Uri, Violation, part, quoted, server_requests, shown, string_of,
    uri,
};
use crate::rule::{Level, Party, Rule};
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind};
use transcript::rejection::Rejection;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "elicitation",
    title: "Elicitation",
    rules: &[&PARAMS, &URL, &FLAT, &ACTION, &CONTENT, &BAD_MODE, &COMPLETE, &URL_HTTPS, &SECRETS],
    triggers: &[
        Trigger::InputRequests,
        Trigger::Kinds(&[MessageKind::Error]),
        Trigger::Methods(
            &[MessageKind::Request, MessageKind::Notification, MessageKind::Result],
            &["elicitation/create", "notifications/elicitation/complete"],
        ),
    ],
    visitor: || Box::new(ElicitationState::default()),
};

const EVER: Span = Span::from(Revision::V2025_06_18);
const MODES: Span = Span::from(Revision::V2025_11_25);
const SERVER: Rule = Rule { party: Party::Server, ..Rule::BLANK };
const CLIENT: Rule = Rule { party: Party::Client, ..Rule::BLANK };

static PARAMS: Rule = Rule {
    id: "elicit.params",
    span: EVER,
    source: "client/elicitation#elicitation-requests",
    title: "An elicitation has a `message`, and the form or the URL that its mode asks for",
    why: "The client has nothing to show, and answers with an error.",
    fix: "Send `message` with `requestedSchema`, or with `url` in the mode \"url\" (in 2025-11-25 also `elicitationId`).",
    ..SERVER
};

static URL: Rule = Rule {
    id: "elicit.url-valid",
    span: MODES,
    source: "client/elicitation#url-mode-elicitation-requests",
    title: "The URL of an elicitation is one",
    why: "The client cannot open it.",
    fix: "Send an absolute URL such as https://example.com/authorize?state=1.",
    softened: Some("a warning where the URL is only not escaped"),
    ..SERVER
};

static FLAT: Rule = Rule {
    id: "elicit.schema-flat",
    span: EVER,
    source: "client/elicitation#requested-schema",
    title: "A form is an object of plain fields: strings, numbers, booleans and choices",
    why: "Clients build a form from it, and know no field within a field.",
    fix: "Flatten the fields, and give each a `type`; optional fields are left out of `required` rather than joined \
          with null.",
    ..SERVER
};

static ACTION: Rule = Rule {
    id: "elicit.action",
    span: EVER,
    source: "client/elicitation#response-actions",
    title: "The answer has the action accept, decline or cancel, and content only with accept",
    why: "The server decides by the action whether the user has agreed.",
    fix: "Send one of the three; leave `content` out of the last two.",
    softened: Some("a warning where content accompanies a decline or a cancel"),
    ..CLIENT
};

static CONTENT: Rule = Rule {
    id: "elicit.content-conforms",
    level: Level::Should,
    span: EVER,
    source: "client/elicitation#security-considerations",
    title: "What the user has entered fits the form",
    why: "Both sides are to check it; a server that trusts its own form fails on other values.",
    fix: "Validate the content against `requestedSchema` before it is sent.",
    ..CLIENT
};

static BAD_MODE: Rule = Rule {
    id: "elicit.bad-mode-error",
    span: Span::only(Revision::V2025_11_25),
    source: "client/elicitation#error-handling",
    title: "A mode that the client did not declare is answered with the error -32602",
    why: "The server can then ask in another mode, instead of taking the user for unwilling.",
    fix: "Answer with -32602.",
    ..CLIENT
};

static COMPLETE: Rule = Rule {
    id: "elicit.complete.id",
    span: Span::only(Revision::V2025_11_25),
    source: "client/elicitation#completion-notifications-for-url-mode-elicitation",
    title: "A completion names an elicitation that was asked for",
    why: "The client waits for that id, and ignores any other.",
    fix: "Send the `elicitationId` of the request, or of the error -32042.",
    ..SERVER
};

static URL_HTTPS: Rule = Rule {
    id: "elicit.url-https",
    level: Level::Should,
    span: Span::from(Revision::V2025_11_25),
    source: "client/elicitation#safe-url-handling",
    title: "The address of an elicitation is an https address, or at this machine",
    why: "What a user enters there goes over the network, and over http anyone on the way can read it.",
    fix: "Serve the page over https.",
    ..SERVER
};

static SECRETS: Rule = Rule {
    id: "elicit.no-secrets",
    level: Level::Should,
    span: EVER,
    source: "client/elicitation#security-considerations",
    title: "A form asks for no passwords, keys or card numbers, as far as its names show",
    why: "What is entered passes through the client, and mostly in front of a model.",
    fix: "Ask for it in the mode \"url\", on a page of your own.",
    ..SERVER
};

/// The most ids of elicitations that are remembered.
const MOST_IDS: usize = 10_000;

#[derive(Default)]
struct ElicitationState {
    session: u64,
    server_requests: ServerRequests,
    schemas: Schemas,
    ids: BTreeSet<String>,
}

impl RuleVisitor for ElicitationState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        if self.session != at.facts.session {
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        for server_request in
            server_requests(at).iter().filter(|server_request| server_request.method == "elicitation/create")
        {
            self.request(server_request.params, at, report);
        }
        for answer in
            self.server_requests.see(at).iter().filter(|answer| answer.method == "elicitation/create")
        {
            self.answered(answer, at, report);
        }
        let Some(message) = at.message else { return };
        if let Some(data) = message.error().and_then(|error| error.member("data")) {
            for request in data.member("elicitations").into_iter().flat_map(Json::items) {
                self.keep(request);
            }
        }
        if let Some(request) = message.request().filter(|request| request.method() == "elicitation/create") {
            mode_answered(request.param("mode"), message.error_code(), at, report);
        }
        if message.calls("notifications/elicitation/complete") {
            let Some(value) = message.param("elicitationId") else {
                return report.fail(&COMPLETE, at, "the notification has no `elicitationId`");
            };
            if value.kind() != JsonKind::String {
                return;
            }
            let known = string_of(value).is_some_and(|id| self.ids.contains(&id));
            if known {
                report.pass(&COMPLETE, at);
            } else if self.ids.len() >= MOST_IDS {
                report.inconclusive(&COMPLETE, at, "there are more elicitations than are followed");
            } else {
                let wrong = format!("no elicitation with the id {} was asked for", shown(value));
                report.fail_if_complete(&COMPLETE, at, Violation::new(wrong).inside(value));
            }
        }
    }

    fn finish(&mut self, _at: &RuleContext<'_>, _rejection: Option<&Rejection>, report: &mut Report) {
        report.reached(self.schemas.spent());
    }
}

impl ElicitationState {
    fn keep(&mut self, request: Json<'_>) {
        if let Some(id) = request.member("elicitationId").and_then(string_of)
            && self.ids.len() < MOST_IDS
            && id.len() <= LONGEST_NAME
        {
            self.ids.insert(id);
        }
    }

    fn request(&mut self, params: Option<Json<'_>>, at: &RuleContext<'_>, report: &mut Report) {
        let Some(params) = params else { return report.fail(&PARAMS, at, "the elicitation has no params") };
        if params.kind() != JsonKind::Object {
            return;
        }
        self.keep(params);
        let url = by_url(params) && at.revision != Some(Revision::V2025_06_18);
        let first = [("message", JsonKind::String)];
        let wanted: &[(&str, JsonKind)] = match (url, at.revision) {
            (false, _) => &[("requestedSchema", JsonKind::Object)],
            (true, Some(Revision::V2025_11_25)) => {
                &[("url", JsonKind::String), ("elicitationId", JsonKind::String)]
            }
            (true, _) => &[("url", JsonKind::String)],
        };
        let mut wrong = None;
        for (name, kind) in first.iter().chain(wanted) {
            match params.member(name) {
                None => wrong = wrong.or(Some((format!("the elicitation has no `{name}`"), params))),
                Some(value) if value.kind() != *kind => {
                    let message = format!("`{name}` is {}, and not {}", value.kind().name(), kind.name());
                    wrong = wrong.or(Some((message, value)));
                }
                Some(_) => {}
            }
        }
        let mode = params.member("mode").filter(|_| at.revision != Some(Revision::V2025_06_18));
        if let Some(mode) = mode
            && !matches!(string_of(mode).as_deref(), Some("form" | "url"))
        {
            wrong = Some((format!("{} is not a mode", shown(mode)), mode));
        }
        match wrong {
            None => report.pass(&PARAMS, at),
            Some((why, location)) => report.fail(&PARAMS, at, Violation::new(why).inside(location)),
        }
        if url {
            if let Some(value) = params.member("url") {
                address(value, at, report);
            }
        } else if let Some(form) = params.member("requestedSchema") {
            fields(form, at, report);
        }
    }

    fn answered(&mut self, answer: &ClientAnswer<'_>, at: &RuleContext<'_>, report: &mut Report) {
        let result = answer.result;
        let content = result.member("content").filter(|content| content.kind() != JsonKind::Null);
        let Some(action) = result.member("action") else {
            if result.member("task").is_some() {
                return;
            }
            return report.fail(&ACTION, at, Violation::new("the answer has no `action`").inside(result));
        };
        match string_of(action).as_deref() {
            Some("accept") => report.pass(&ACTION, at),
            Some("decline" | "cancel") => {
                let empty = content.is_none_or(|content| content.members().next().is_none());
                report.check(&ACTION, at, empty, || {
                    let wrong =
                        Violation::new(format!("there is content beside the action {}", shown(action)));
                    wrong.inside(content.unwrap_or(result)).only(Level::Should)
                });
                return;
            }
            _ => {
                let wrong = Violation::new(format!("{} is not an action", shown(action))).inside(action);
                return report.fail(&ACTION, at, wrong);
            }
        }
        let Some(params) = answer.params() else {
            return report.inconclusive(&CONTENT, at, "the form that was asked for is not in the recording");
        };
        let Some(form) = params.member("requestedSchema").filter(|_| !by_url(params)) else { return };
        let Some(entered) = content.or_else(|| Json::parse("{}").ok()) else { return };
        if entered.kind() != JsonKind::Object {
            return;
        }
        if at.redacted(form) || at.redacted(entered) {
            return report.inconclusive(&CONTENT, at, "the recorder took out what would decide it");
        }
        match self.schemas.fit(form, entered) {
            Fit::Fits => report.pass(&CONTENT, at),
            Fit::Unsure(why) => report.inconclusive(&CONTENT, at, why),
            Fit::Unfit(why, pointer) => {
                let location = content.map_or(result, |content| part(content, &pointer));
                let wrong =
                    Violation::new(format!("the content does not fit the form: {why}")).inside(location);
                report.fail(&CONTENT, at, wrong.see(answer.request.clone(), "the form"));
            }
        }
    }
}

fn by_url(params: Json<'_>) -> bool {
    params.member("mode").and_then(string_of).is_some_and(|mode| mode == "url")
}

fn address(value: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let Some(text) = string_of(value) else { return };
    let wrong = |why: &str| Violation::new(format!("{} is not a URL: {why}", shown(value))).inside(value);
    let web = text.strip_prefix("https:").or_else(|| text.strip_prefix("http:"));
    let http = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("http:"));
    let open = http && !Origin::new(&text).is_some_and(|origin| origin.is_loopback());
    report.check(&URL_HTTPS, at, !open, || {
        Violation::new(format!("{} goes over http", shown(value))).inside(value)
    });
    let host = web.is_none_or(|rest| {
        rest.starts_with("//") && !rest[2..].starts_with(['/', '?', '#']) && rest.len() > 2
    });
    match uri(&text) {
        Uri::Bad(why) => report.fail(&URL, at, wrong(why)),
        _ if !host => report.fail(&URL, at, wrong("it has no host")),
        Uri::Loose(why) => report.fail(&URL, at, wrong(why).only(Level::Should)),
        Uri::Good => report.pass(&URL, at),
    }
}

/// A form's fields, each by itself.
fn fields(form: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
    if form.kind() != JsonKind::Object {
        return;
    }
    if form.member("type").and_then(string_of).as_deref() != Some("object") {
        report.fail(&FLAT, at, Violation::new("the type of the form is not \"object\"").inside(form));
    }
    let lists = at.revision.is_none_or(|revision| MODES.has(revision));
    for (name, field) in form.member("properties").into_iter().flat_map(Json::members) {
        let name = String::from_utf8_lossy(&name.decode()).into_owned();
        let kind = field.member("type").and_then(string_of).unwrap_or_default();
        let wrong = match kind.as_str() {
            "string" | "number" | "integer" | "boolean" => None,
            "array" if lists => {
                let items = field.member("items");
                let choices = items
                    .is_some_and(|items| ["enum", "anyOf"].iter().any(|word| items.member(word).is_some()));
                (!choices).then(|| format!("the field {} is a list, not a choice of several", quoted(&name)))
            }
            "" => Some(format!("the field {} has no type of its own", quoted(&name))),
            other => Some(format!("the field {} is of the type `{other}`", quoted(&name))),
        };
        report.check(&FLAT, at, wrong.is_none(), || Violation::new(wrong.unwrap_or_default()).inside(field));
        report.check(&SECRETS, at, !is_secret(&name), || {
            Violation::new(format!("the form asks for {}", quoted(&name))).inside(field)
        });
    }
}

/// Whether a field's name says that a secret is wanted. Words that stand in other words count only by themselves.
pub(super) fn is_secret(name: &str) -> bool {
    let name: String =
        name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let parts = [
        "password",
        "passwd",
        "passphrase",
        "apikey",
        "secretkey",
        "clientsecret",
        "accesstoken",
        "authtoken",
        "refreshtoken",
        "privatekey",
        "creditcard",
        "cardnumber",
        "socialsecurity",
    ];
    parts.iter().any(|part| name.contains(part)) || ["secret", "ssn", "cvv", "cvc", "pin"].contains(&&*name)
}

/// The answer to an elicitation in a mode that the client has not declared.
fn mode_answered(mode: Option<Json<'_>>, code: Option<i64>, at: &RuleContext<'_>, report: &mut Report) {
    let declares = |path| at.facts.declares(Side::Client, path);
    if declares("elicitation") != Some(true) {
        return;
    }
    let (form, url) = (declares("elicitation.form") == Some(true), declares("elicitation.url") == Some(true));
    let mode = mode.and_then(string_of).unwrap_or_else(|| "form".to_owned());
    let declared = if mode == "url" { url } else { form || !url };
    if !declared {
        report.check(&BAD_MODE, at, code == Some(-32602), || {
            format!("the client has not declared the mode {}, and does not answer with -32602", quoted(&mode))
        });
    }
}
