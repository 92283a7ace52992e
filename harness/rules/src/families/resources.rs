//! Resources: what is read, what is missing, and what is said of changes.
//!
//! Memory: the URIs that were shown, up to [`MOST_LISTED`], the beginnings of as many templates, and those that are
//! subscribed to, up to [`MOST_SUBSCRIBED`]; past either, nothing is said that would need more.

use super::tool_output::whole_result;
use crate::engine::{
    ContentsKind, Early, Family, LONGEST_NAME, MessageKind, Moment, NO_ORDER, Report, Revision, RuleContext,
    RuleVisitor, SeenMessage, Trigger, Uri, Violation, contents, embedded, quoted, shown, string_of, uri,
};
use crate::rule::{Level, Rule};
use crate::rule_text::{named, read_rules, rules_in};
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind};
use transcript::rejection::Rejection;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "resources",
    title: "Resources",
    rules: &RULES,
    triggers: &[
        Trigger::Methods(&[MessageKind::Request], &["resources/subscribe", "resources/unsubscribe"]),
        Trigger::Methods(
            &[MessageKind::Notification],
            &["notifications/resources/updated", "notifications/resources/list_changed"],
        ),
        Trigger::Methods(&[MessageKind::Result], &["resources/unsubscribe", "resources/list", "tools/call"]),
        Trigger::Methods(
            &[MessageKind::Result, MessageKind::Error],
            &["resources/read", "resources/templates/list"],
        ),
    ],
    visitor: || Box::new(ResourcesState::default()),
};

const TEXT: &str = include_str!("resources.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

const URI: &Rule = named(&RULES, "resources.uri");
const ONE_OF: &Rule = named(&RULES, "resources.content.one-of");
const CODE: &Rule = named(&RULES, "resources.not-found.code");
const NONEMPTY: &Rule = named(&RULES, "resources.not-found.nonempty");
const UPDATED: &Rule = named(&RULES, "resources.updated.subscribed");
const UNSUBSCRIBE: &Rule = named(&RULES, "resources.unsubscribe");

const MOST_LISTED: usize = 20_000;
const MOST_SUBSCRIBED: usize = 1_000;

const MANY: &str = "there are more subscriptions than are followed";

const NOT_SHOWN: &str =
    "the resource may be there; the whole of `resources/list` before it is read would show it";

#[derive(Default)]
struct ResourcesState {
    session: u64,
    /// Those that were listed, linked to or read.
    shown: BTreeSet<String>,
    /// The last page of the resources was shown, and the list has not changed since; the same of the templates.
    whole: [bool; 2],
    /// When the list last changed.
    changed: Option<Moment>,
    /// What stands before the first variable of each template.
    templates: Vec<String>,
    subscribed: BTreeSet<String>,
    /// Those that the client has given up, and when the last of them was.
    given_up: BTreeSet<String>,
    since: Moment,
    /// Updates of what nobody has subscribed to yet.
    early: Early<String>,
    /// There were more subscriptions than are kept.
    full: bool,
}

impl RuleVisitor for ResourcesState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        if self.session != at.facts.session {
            self.early.never(at, report);
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        let Some(message) = at.message else { return };
        self.subscriptions(message, at, report);
        self.templates(message, at);
        match whole_result(message) {
            Some(("resources/list", result)) => {
                for resource in result.member("resources").into_iter().flat_map(Json::items) {
                    address(resource, at, report);
                    self.show(resource);
                }
                let last = result.member("nextCursor").is_none() && !self.may_change(at);
                self.whole[0] = last && self.shown.len() < MOST_LISTED;
            }
            Some(("resources/read", result)) => self.read(result, message, at, report),
            Some(("tools/call", result)) => {
                for block in result.member("content").into_iter().flat_map(Json::items) {
                    self.block(block, at, report);
                }
            }
            _ => {}
        }
        if message.request().is_some_and(|request| request.method() == "resources/read") {
            missing(message, at, report);
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>, report: &mut Report) {
        self.early.never(at, report);
    }
}

impl ResourcesState {
    /// A block of a tool's content, which may name a resource or hold one.
    fn block(&mut self, block: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
        if let Some(resource) = embedded(block) {
            address(resource, at, report);
            one_of(resource, at, report);
        } else if block.member("uri").is_some()
            && block.member("type").and_then(Json::as_text).is_some_and(|kind| kind.is("resource_link"))
        {
            address(block, at, report);
            self.show(block);
        }
    }

    fn subscriptions(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
        if message.kind == MessageKind::Request && message.calls("resources/subscribe") {
            // The first update may overtake the answer.
            if let Some(uri) = message.param("uri").and_then(string_of) {
                self.full |= self.subscribed.len() >= MOST_SUBSCRIBED || uri.len() > LONGEST_NAME;
                self.early.came(|updated| covers(&uri, updated), at, report);
                if !self.full {
                    self.subscribed.insert(uri);
                }
            }
        }
        if message.calls("resources/unsubscribe")
            && let Some(value) = message.param("uri")
            && let Some(uri) = string_of(value)
        {
            if self.full {
                report.inconclusive(UNSUBSCRIBE, at, MANY);
            } else if self.subscribed.contains(&uri) {
                report.pass(UNSUBSCRIBE, at);
            } else {
                let wrong = format!("this client has not subscribed to {}", quoted(&uri));
                report.fail_if_complete(UNSUBSCRIBE, at, Violation::new(wrong).inside(value));
            }
        }
        if let (Some(_), Some(request)) = (message.result_of("resources/unsubscribe"), message.request())
            && let Some(uri) = request.param("uri").and_then(string_of)
        {
            self.subscribed.remove(&uri);
            if self.given_up.len() < MOST_SUBSCRIBED && uri.len() <= LONGEST_NAME {
                self.given_up.insert(uri);
                self.since = at.moment();
            }
        }
        if !message.calls("notifications/resources/updated") {
            return;
        }
        let Some(value) = message.param("uri") else { return };
        let Some(uri) = string_of(value) else { return };
        if self.subscribed.iter().any(|known| covers(known, &uri)) {
            report.pass(UPDATED, at);
        } else if self.full {
            report.inconclusive(UPDATED, at, MANY);
        } else if self.given_up.iter().any(|known| covers(known, &uri)) && at.may_precede(&self.since) {
            report.inconclusive(UPDATED, at, NO_ORDER);
        } else {
            let wrong = format!("no client has subscribed to {}", quoted(&uri));
            self.early.find(UPDATED, uri, wrong, value, at, report);
        }
    }

    fn read(
        &mut self,
        result: Json<'_>,
        message: &SeenMessage<'_>,
        at: &RuleContext<'_>,
        report: &mut Report,
    ) {
        let Some(contents) = result.member("contents") else { return };
        for resource in contents.items() {
            address(resource, at, report);
            one_of(resource, at, report);
            self.show(resource);
        }
        let uri = message.request().and_then(|request| request.param("uri")).and_then(string_of);
        if contents.kind() != JsonKind::Array || contents.items().next().is_some() {
            return;
        }
        // Only the last revision says that empty `contents` are not an answer where nobody can tell.
        let unsure = uri.as_ref().map_or(Some(NOT_SHOWN), |uri| self.may_be_there(uri));
        match (uri, unsure) {
            (Some(uri), _) if self.shown.contains(&uri) => report.pass(NONEMPTY, at),
            (_, Some(why)) if at.revision != Some(Revision::V2026_07_28) => {
                report.inconclusive(NONEMPTY, at, why);
            }
            _ => {
                let wrong =
                    Violation::new("`contents` is empty, and nothing shows that the resource is there");
                report.fail(NONEMPTY, at, wrong.inside(contents).only(Level::Should));
            }
        }
    }

    fn show(&mut self, resource: Json<'_>) {
        let uri = resource.member("uri").and_then(string_of);
        if let Some(uri) = uri.filter(|uri| uri.len() <= LONGEST_NAME && self.shown.len() < MOST_LISTED) {
            self.shown.insert(uri);
        }
    }

    /// Which templates there are. A server that knows no such method has none.
    fn templates(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if message.calls("notifications/resources/list_changed") {
            self.whole = [false; 2];
            self.changed = Some(at.moment());
        }
        if message.request().is_none_or(|request| request.method() != "resources/templates/list") {
            return;
        }
        let listed = message.raw.outcome().and_then(|result| result.member("resourceTemplates"));
        for template in listed.into_iter().flat_map(Json::items) {
            let Some(uri) = template.member("uriTemplate").and_then(string_of) else { continue };
            if self.templates.len() < MOST_LISTED && uri.len() <= LONGEST_NAME {
                self.templates.push(uri.split('{').next().unwrap_or_default().to_owned());
            }
        }
        let last = message.raw.outcome().is_some_and(|result| result.member("nextCursor").is_none());
        let last = last && !self.may_change(at);
        self.whole[1] = last && listed.is_some() && self.templates.len() < MOST_LISTED
            || message.error_code() == Some(-32601);
    }

    /// Whether the list may have changed since what is at hand was said.
    fn may_change(&self, at: &RuleContext<'_>) -> bool {
        self.changed.is_some_and(|changed| at.may_precede(&changed))
    }

    /// Why a resource that was not shown may be there all the same.
    fn may_be_there(&self, uri: &str) -> Option<&'static str> {
        match self.whole {
            [false, _] => Some(NOT_SHOWN),
            [_, false] => Some("a template may cover the resource; `resources/templates/list` would show it"),
            _ if self.templates.iter().any(|start| uri.starts_with(start)) => {
                Some("a template may cover the resource, and what it holds may be empty")
            }
            _ => None,
        }
    }
}

/// Whether a change of a resource is one of what is subscribed to, or of a part of that.
fn covers(subscribed: &str, updated: &str) -> bool {
    updated.starts_with(subscribed.trim_end_matches('/'))
}

fn address(resource: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let Some(value) = resource.member("uri") else { return };
    let Some(text) = string_of(value) else { return };
    let wrong = |why: &str| Violation::new(format!("{} is not a URI: {why}", shown(value))).inside(value);
    match uri(&text) {
        Uri::Good => report.pass(URI, at),
        Uri::Loose(why) => report.fail(URI, at, wrong(why).only(Level::Should)),
        Uri::Bad(why) => report.fail(URI, at, wrong(why)),
    }
}

fn one_of(resource: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
    match contents(resource) {
        ContentsKind::Text | ContentsKind::Blob => report.pass(ONE_OF, at),
        ContentsKind::Both => {
            let wrong = Violation::new("the resource has both `text` and `blob`").inside(resource);
            report.fail(ONE_OF, at, wrong.only(Level::Should));
        }
        ContentsKind::Neither => {
            let wrong = Violation::new("the resource has neither `text` nor `blob` as a string");
            report.fail(ONE_OF, at, wrong.inside(resource));
        }
    }
}

/// An error of a reading that is about the resource, as far as its code or its words tell.
fn missing(message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
    let (Some(error), Some(code)) = (message.error(), message.error_code()) else { return };
    let words = error.member("message").and_then(string_of).unwrap_or_default().to_lowercase();
    let missing = ["not found", "no such", "unknown resource", "does not exist", "doesn't exist"];
    let missing = missing.iter().any(|part| words.contains(part)) && !words.contains("method");
    if missing {
        report.pass(NONEMPTY, at);
    }
    let modern = at.revision == Some(Revision::V2026_07_28);
    let right = if modern { -32602 } else { -32002 };
    if code == right && (missing || !modern) {
        return report.pass(CODE, at);
    }
    // A server without resources knows no such method, which is another matter.
    let unknown = code == -32601 && at.facts.declares(Side::Server, "resources") != Some(true);
    if unknown || !(missing || modern && code == -32002) {
        return;
    }
    let wrong =
        Violation::new(format!("the code is {code} where a missing resource has {right}")).inside(error);
    report.fail(CODE, at, if code == -32002 { wrong } else { wrong.only(Level::Should) });
}
