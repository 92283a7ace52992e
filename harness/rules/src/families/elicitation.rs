//! Elicitation: what a server asks a user, and what the user answers.
//!
//! Memory: the ids of elicitations by URL, up to [`MOST_IDS`], open questions as `ServerRequests` says, and compiled forms as
//! `Schemas` says.

mod rules;

use crate::engine::{
    ClientAnswer, Early, Family, Fit, LONGEST_NAME, MessageKind, Origin, Revision, RuleContext, RuleVisitor,
    Schemas, SeenMessage, ServerRequests, TAKEN_OUT, Trigger, Uri, Violation, part, per_session, quoted,
    server_requests, shown, string_of, uri,
};
use crate::rule::Level;
use rules::{ACTION, BAD_MODE, COMPLETE, CONTENT, FLAT, LINKS, MODES, PARAMS, SECRETS, URL, URL_HTTPS};
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind};
use transcript::rejection::Rejection;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "elicitation",
    title: "Elicitation",
    rules: &[&PARAMS, &URL, &FLAT, &ACTION, &CONTENT, &BAD_MODE, &COMPLETE, &URL_HTTPS, &LINKS, &SECRETS],
    triggers: &[
        Trigger::InputRequests,
        Trigger::Kinds(&[MessageKind::Error]),
        Trigger::Methods(
            &[MessageKind::Request, MessageKind::Notification, MessageKind::Result],
            &[CREATE, "notifications/elicitation/complete"],
        ),
    ],
    visitor: per_session::<ElicitationState>,
};

const CREATE: &str = "elicitation/create";

/// The most ids of elicitations that are remembered.
const MOST_IDS: usize = 10_000;

#[derive(Default)]
struct ElicitationState {
    server_requests: ServerRequests,
    schemas: Schemas,
    ids: BTreeSet<String>,
    /// Completions of what was not asked for yet.
    early: Early<String>,
}

impl RuleVisitor for ElicitationState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        for asked in server_requests(at).iter().filter(|asked| asked.method == CREATE) {
            self.request(asked.params, at);
        }
        for answer in self.server_requests.see(at).iter().filter(|answer| answer.method == CREATE) {
            self.answered(answer, at);
        }
        if let Some(data) = message.error().and_then(|error| error.member("data")) {
            for request in data.member("elicitations").into_iter().flat_map(Json::items) {
                self.keep(request, at);
            }
        }
        if let Some(request) = message.request_for(CREATE) {
            mode_answered(request.param("mode"), message.error_code(), at);
        }
        if message.calls("notifications/elicitation/complete") {
            let Some(value) = message.param("elicitationId") else {
                return at.fail(&COMPLETE, "the notification has no `elicitationId`");
            };
            if value.kind() != JsonKind::String {
                return;
            }
            let id = string_of(value).unwrap_or_default();
            if self.ids.contains(&id) {
                at.pass(&COMPLETE);
            } else if self.ids.len() >= MOST_IDS {
                at.inconclusive(&COMPLETE, "there are more elicitations than are followed");
            } else {
                let wrong = format!("no elicitation with the id {} was asked for", shown(value));
                self.early.find(&COMPLETE, id, wrong, value, at);
            }
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        self.early.never(at);
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>) {
        self.over(at);
        at.reached(self.schemas.spent());
    }
}

impl ElicitationState {
    fn keep(&mut self, request: Json<'_>, at: &RuleContext<'_>) {
        let Some(id) = request.member("elicitationId").and_then(string_of) else { return };
        self.early.came(|completed| *completed == id, at);
        if self.ids.len() < MOST_IDS && id.len() <= LONGEST_NAME {
            self.ids.insert(id);
        }
    }

    fn request(&mut self, params: Option<Json<'_>>, at: &RuleContext<'_>) {
        let Some(params) = params else { return at.fail(&PARAMS, "the elicitation has no params") };
        if params.kind() != JsonKind::Object {
            return;
        }
        self.keep(params, at);
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
                    let message = format!("`{name}` is {}, not {}", value.kind().name(), kind.name());
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
        at.without(&PARAMS, wrong, |(why, place)| Violation::new(why).inside(place));
        if url {
            if let Some(value) = params.member("url") {
                address(value, at);
            }
        } else if let Some(form) = params.member("requestedSchema") {
            fields(form, at);
            if let Some(message) = params.member("message") {
                link(message, false, at);
            }
        }
    }

    fn answered(&mut self, answer: &ClientAnswer<'_>, at: &RuleContext<'_>) {
        let result = answer.result;
        let content = result.member("content").filter(|content| content.kind() != JsonKind::Null);
        let Some(action) = result.member("action") else {
            if result.member("task").is_some() {
                return;
            }
            return at.fail(&ACTION, Violation::new("the answer has no `action`").inside(result));
        };
        match string_of(action).as_deref() {
            Some("accept") if !answer.params().is_some_and(by_url) => at.pass(&ACTION),
            Some("accept" | "decline" | "cancel") => {
                let empty = content.is_none_or(|content| content.members().next().is_none());
                at.check(&ACTION, empty, || {
                    let wrong =
                        Violation::new(format!("there is content beside the action {}", shown(action)));
                    wrong.inside(content.unwrap_or(result)).only(Level::Should)
                });
                return;
            }
            _ => {
                let wrong = Violation::new(format!("{} is not an action", shown(action))).inside(action);
                return at.fail(&ACTION, wrong);
            }
        }
        let Some(params) = answer.params() else {
            return at.inconclusive(&CONTENT, "the form that was asked for is not in the recording");
        };
        let Some(form) = params.member("requestedSchema").filter(|_| !by_url(params)) else { return };
        let Some(entered) = content.or_else(|| Json::parse("{}").ok()) else { return };
        if entered.kind() != JsonKind::Object {
            return;
        }
        if at.redacted(form) || at.redacted(entered) {
            return at.inconclusive(&CONTENT, TAKEN_OUT);
        }
        match self.schemas.fit(form, entered) {
            Fit::Fits => at.pass(&CONTENT),
            Fit::Unsure(why) => at.inconclusive(&CONTENT, why),
            Fit::Unfit(why, pointer) => {
                let location = content.map_or(result, |content| part(content, &pointer));
                let wrong =
                    Violation::new(format!("the content does not fit the form: {why}")).inside(location);
                at.fail(&CONTENT, wrong.see(answer.request.clone(), "the form"));
            }
        }
    }
}

fn by_url(params: Json<'_>) -> bool {
    params.member("mode").and_then(string_of).is_some_and(|mode| mode == "url")
}

fn address(value: Json<'_>, at: &RuleContext<'_>) {
    let Some(text) = string_of(value) else { return };
    let wrong = |why: &str| Violation::new(format!("{} is not a URL: {why}", shown(value))).inside(value);
    let web = text.strip_prefix("https:").or_else(|| text.strip_prefix("http:"));
    let http = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("http:"));
    let open = http && !Origin::new(&text).is_some_and(|origin| origin.is_loopback());
    at.check(&URL_HTTPS, !open, || Violation::new(format!("{} goes over http", shown(value))).inside(value));
    let host = web.is_none_or(|rest| {
        rest.starts_with("//") && !rest[2..].starts_with(['/', '?', '#']) && rest.len() > 2
    });
    match uri(&text) {
        Uri::Bad(why) => at.fail(&URL, wrong(why)),
        _ if !host => at.fail(&URL, wrong("it has no host")),
        Uri::Loose(why) => at.fail(&URL, wrong(why).only(Level::Should)),
        Uri::Good => at.pass(&URL),
    }
}

/// A form's fields, each by itself.
fn fields(form: Json<'_>, at: &RuleContext<'_>) {
    if form.kind() != JsonKind::Object {
        return;
    }
    if form.member("type").and_then(string_of).as_deref() != Some("object") {
        at.fail(&FLAT, Violation::new("the type of the form is not \"object\"").inside(form));
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
        at.without(&FLAT, wrong, |wrong| Violation::new(wrong).inside(field));
        // No secret is told by a choice among what the server lists itself.
        let choice = matches!(&*kind, "boolean" | "array")
            || ["enum", "oneOf", "anyOf"].iter().any(|word| field.member(word).is_some());
        at.without(&SECRETS, secrecy(&name).filter(|_| !choice), |level| {
            let wrong = Violation::new(format!("the form asks for {}", quoted(&name))).inside(field);
            wrong.only(if kind == "string" { level } else { Level::Should })
        });
        let is_address = field.member("format").and_then(string_of).is_some_and(|format| format == "uri");
        for text in ["title", "description"].into_iter().filter_map(|name| field.member(name)) {
            link(text, is_address, at);
        }
    }
}

/// A text that a user reads, which may hold an address; in a field for addresses that may be an example.
fn link(text: Json<'_>, example: bool, at: &RuleContext<'_>) {
    let Some(shown) = string_of(text) else { return };
    let lower = shown.to_ascii_lowercase();
    match ["https://", "http://"].iter().any(|scheme| lower.contains(scheme)) {
        true if example => at.inconclusive(&LINKS, "the address may be an example of what is asked for"),
        has => at.check(&LINKS, !has, || {
            Violation::new(format!("the form shows an address: {}", quoted(&shown))).inside(text)
        }),
    }
}

/// Whether a name says that a secret is wanted: plainly, or perhaps. Words that stand in other words count only by themselves.
pub(super) fn secrecy(name: &str) -> Option<Level> {
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
    if parts.iter().any(|part| name.ends_with(part)) {
        return Some(Level::Must);
    }
    let perhaps = parts.iter().any(|part| name.contains(part));
    (perhaps || ["secret", "token", "ssn", "cvv", "cvc", "pin"].contains(&&*name)).then_some(Level::Should)
}

/// The answer to an elicitation in a mode that the client has not declared.
fn mode_answered(mode: Option<Json<'_>>, code: Option<i64>, at: &RuleContext<'_>) {
    let declares = |path| at.facts.declares(Side::Client, path);
    if declares("elicitation") != Some(true) {
        return;
    }
    let (form, url) = (declares("elicitation.form") == Some(true), declares("elicitation.url") == Some(true));
    let mode = mode.and_then(string_of).unwrap_or_else(|| "form".to_owned());
    let declared = if mode == "url" { url } else { form || !url };
    if !declared {
        at.check(&BAD_MODE, code == Some(-32602), || {
            format!("the client has not declared the mode {}, and does not answer with -32602", quoted(&mode))
        });
    }
}
