//! Resources: what is read, what is missing, and what is said of changes.
//!
//! Memory: the URIs that were shown, up to [`MOST_LISTED`], the beginnings of as many templates, and those that are
//! subscribed to, up to [`MOST_SUBSCRIBED`]; past either, nothing is said that would need more.

use super::tool_output::whole_result;
use crate::engine::{
    ContentsKind, Early, Family, LONGEST_NAME, MessageKind, Moment, NO_ORDER, Revision, RuleContext,
    RuleVisitor, SeenMessage, Span, Trigger, Uri, Violation, contents, embedded, per_session, quoted, shown,
    string_of, uri,
};
use crate::rule::{Level, Rule};
use std::collections::BTreeSet;
use std::ops::Bound;
use transcript::json::{Json, JsonKind};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "resources",
    title: "Resources",
    rules: &[&URI, &ONE_OF, &CODE, &NONEMPTY, &UPDATED, &UNSUBSCRIBE],
    triggers: &[
        Trigger::Methods(&[MessageKind::Request], &["resources/subscribe", "resources/unsubscribe"]),
        Trigger::Methods(
            &[MessageKind::Notification],
            &["notifications/resources/updated", "notifications/resources/list_changed"],
        ),
        Trigger::Methods(&[MessageKind::Result], &["resources/unsubscribe", "resources/list", "tools/call"]),
        Trigger::Methods(MessageKind::ANSWERS, &["resources/read", "resources/templates/list"]),
    ],
    visitor: per_session::<ResourcesState>,
};

static URI: Rule = Rule {
    id: "resources.uri",
    span: Span::from(Revision::V2025_06_18),
    source: "server/resources#custom-uri-schemes",
    title: "The URI of a resource is a valid URI by RFC 3986",
    why: "Clients parse URIs to open, compare and show them; a bare path or a space breaks that.",
    fix: "Give each URI a scheme, and escape characters that a URI cannot have.",
    softened: Some("a warning where the URI is only not escaped"),
    ..Rule::BLANK.server()
};

static ONE_OF: Rule = Rule {
    id: "resources.content.one-of",
    source: "schema, TextResourceContents and BlobResourceContents",
    title: "The contents of a resource are either `text` or `blob`",
    why: "Without either there is nothing to read; with both a client has to guess which one counts.",
    fix: "Send `text` as a string, or `blob` as a string of base64.",
    softened: Some("a warning where both are there"),
    ..Rule::BLANK.server()
};

static CODE: Rule = Rule {
    id: "resources.not-found.code",
    raised: Some((Revision::V2026_07_28, Level::Must)),
    source: "server/resources#error-handling",
    title: "A request for a missing resource is answered with the code for it",
    why: "Only the code distinguishes a missing resource from a broken server.",
    fix: "Answer with -32002, from 2026-07-28 on with -32602.",
    softened: Some("a warning on codes other than the one of the other revisions"),
    ..Rule::BLANK.should().server()
};

static NONEMPTY: Rule = Rule {
    id: "resources.not-found.nonempty",
    relational: true,
    raised: Some((Revision::V2026_07_28, Level::Must)),
    source: "server/resources#error-handling",
    title: "A request for a missing resource is not answered with empty `contents`",
    why: "It may mean a resource that is empty as well as one that does not exist.",
    fix: "Answer with -32002, from 2026-07-28 on with -32602.",
    softened: Some("a warning: nothing shows that the resource exists"),
    ..Rule::BLANK.should().server()
};

static UPDATED: Rule = Rule {
    id: "resources.updated.subscribed",
    span: Span::SESSIONS,
    source: "server/resources#subscriptions",
    title: "Updates are sent only for resources that the client has subscribed to",
    why: "A client that did not subscribe cannot use the update, and some fail on it.",
    fix: "Keep subscriptions by session, and drop them with `resources/unsubscribe`.",
    ..Rule::BLANK.should().server()
};

static UNSUBSCRIBE: Rule = Rule {
    id: "resources.unsubscribe",
    span: Span::SESSIONS,
    source: "schema, UnsubscribeRequest",
    title: "A client ends only subscriptions to resources that it has made",
    why: "The server finds no such subscription, and the one that was to end goes on.",
    fix: "Repeat the `uri` of `resources/subscribe`.",
    ..Rule::BLANK.should().client()
};

const MOST_LISTED: usize = 20_000;
const MOST_SUBSCRIBED: usize = 1_000;

const MANY: &str = "there are more subscriptions than are followed";

const NOT_SHOWN: &str =
    "the resource may exist; the whole of `resources/list` before it is read would show it";

#[derive(Default)]
struct ResourcesState {
    /// Those that were listed, linked to or read.
    shown: BTreeSet<String>,
    /// The last page of the resources was shown, and the list has not changed since; the same of the templates.
    whole: [bool; 2],
    /// When the list last changed.
    changed: Option<Moment>,
    /// What stands before the first variable of each template.
    templates: Vec<String>,
    subscribed: Subscribed,
    /// Those that the client has given up, and when the last of them was.
    given_up: Subscribed,
    since: Moment,
    /// Updates of what nobody has subscribed to yet.
    early: Early<String>,
    /// There were more subscriptions than are kept.
    full: bool,
}

impl RuleVisitor for ResourcesState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        self.subscriptions(message, at);
        self.templates(message, at);
        match whole_result(message) {
            Some(("resources/list", result)) => {
                for resource in result.member("resources").into_iter().flat_map(Json::items) {
                    address(resource, at);
                    self.show(resource);
                }
                let last = result.member("nextCursor").is_none() && !self.may_change(at);
                self.whole[0] = last && self.shown.len() < MOST_LISTED;
            }
            Some(("resources/read", result)) => self.read(result, message, at),
            Some(("tools/call", result)) => {
                for block in result.member("content").into_iter().flat_map(Json::items) {
                    self.block(block, at);
                }
            }
            _ => {}
        }
        if message.request_for("resources/read").is_some() {
            self.missing(message, at);
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        self.early.never(at);
    }
}

impl ResourcesState {
    /// A block of a tool's content, which may name a resource or hold one.
    fn block(&mut self, block: Json<'_>, at: &RuleContext<'_>) {
        if let Some(resource) = embedded(block) {
            address(resource, at);
            one_of(resource, at);
        } else if block.member("uri").is_some()
            && block.member("type").and_then(Json::as_text).is_some_and(|kind| kind.is("resource_link"))
        {
            address(block, at);
            self.show(block);
        }
    }

    fn subscriptions(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if message.kind == MessageKind::Request && message.calls("resources/subscribe") {
            // The first update may overtake the answer.
            if let Some(uri) = message.param("uri").and_then(string_of) {
                self.full |= self.subscribed.0.len() >= MOST_SUBSCRIBED || uri.len() > LONGEST_NAME;
                self.early.came(|updated| updated.starts_with(start_of(&uri)), at);
                if !self.full {
                    self.subscribed.0.insert(start_of(&uri).to_owned());
                }
            }
        }
        if message.calls("resources/unsubscribe")
            && let Some(value) = message.param("uri")
            && let Some(uri) = string_of(value)
        {
            if self.full {
                at.inconclusive(&UNSUBSCRIBE, MANY);
            } else if self.subscribed.0.contains(start_of(&uri)) {
                at.pass(&UNSUBSCRIBE);
            } else {
                let wrong = format!("this client has not subscribed to {}", quoted(&uri));
                at.fail_if_complete(&UNSUBSCRIBE, Violation::new(wrong).inside(value));
            }
        }
        if let (Some(_), Some(request)) = (message.result_of("resources/unsubscribe"), message.request())
            && let Some(uri) = request.param("uri").and_then(string_of)
        {
            self.subscribed.0.remove(start_of(&uri));
            if self.given_up.0.len() < MOST_SUBSCRIBED && uri.len() <= LONGEST_NAME {
                self.given_up.0.insert(start_of(&uri).to_owned());
                self.since = at.moment();
            }
        }
        if !message.calls("notifications/resources/updated") {
            return;
        }
        let Some(value) = message.param("uri") else { return };
        let Some(uri) = string_of(value) else { return };
        if self.subscribed.covers(&uri) {
            at.pass(&UPDATED);
        } else if self.full {
            at.inconclusive(&UPDATED, MANY);
        } else if self.given_up.covers(&uri) && at.may_precede(&self.since) {
            at.inconclusive(&UPDATED, NO_ORDER);
        } else {
            let wrong = format!("no client has subscribed to {}", quoted(&uri));
            self.early.find(&UPDATED, uri, wrong, value, at);
        }
    }

    fn read(&mut self, result: Json<'_>, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(contents) = result.member("contents") else { return };
        for resource in contents.items() {
            address(resource, at);
            one_of(resource, at);
            self.show(resource);
        }
        let uri = message.request().and_then(|request| request.param("uri")).and_then(string_of);
        if contents.kind() != JsonKind::Array || contents.items().next().is_some() {
            return;
        }
        // Only the last revision says that empty `contents` are not an answer where nobody can tell.
        let unsure = uri.as_ref().map_or(Some(NOT_SHOWN), |uri| self.may_be_there(uri));
        match (uri, unsure) {
            (Some(uri), _) if self.shown.contains(&uri) => at.pass(&NONEMPTY),
            (_, Some(why)) if at.revision != Some(Revision::V2026_07_28) => at.inconclusive(&NONEMPTY, why),
            _ => {
                let wrong = Violation::new("`contents` is empty, and nothing shows that the resource exists");
                at.fail(&NONEMPTY, wrong.inside(contents).only(Level::Should));
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
        if message.request_for("resources/templates/list").is_none() {
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

    /// An error of a reading that is about the resource, as far as its code or its words tell, or the lists.
    fn missing(&self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let (Some(error), Some(code)) = (message.error(), message.error_code()) else { return };
        let words = error.member("message").and_then(string_of).unwrap_or_default().to_lowercase();
        let said = ["not found", "no such", "unknown resource", "does not exist", "doesn't exist"];
        let said = said.iter().any(|part| words.contains(part)) && !words.contains("method");
        let uri = message.request().and_then(|request| request.param("uri")).and_then(string_of);
        let is_unlisted = |uri: String| !self.shown.contains(&uri) && self.may_be_there(&uri).is_none();
        let missing = said || matches!(code, -32602 | -32603) && uri.is_some_and(is_unlisted);
        if missing {
            at.pass(&NONEMPTY);
        }
        let modern = at.revision == Some(Revision::V2026_07_28);
        let right = if modern { -32602 } else { -32002 };
        if code == right && (missing || !modern) {
            return at.pass(&CODE);
        }
        // A server without resources knows no such method, which is another matter.
        let unknown = code == -32601 && at.facts.declares(Side::Server, "resources") != Some(true);
        if unknown || !(missing || modern && code == -32002) {
            return;
        }
        let wrong =
            Violation::new(format!("the code is {code} where a missing resource has {right}")).inside(error);
        at.fail(&CODE, if code == -32002 { wrong } else { wrong.only(Level::Should) });
    }
}

/// What is subscribed to, by its [`start_of`].
#[derive(Default)]
struct Subscribed(BTreeSet<String>);

impl Subscribed {
    /// Whether a change of a resource is one of what is subscribed to, or of a part of that. Of the starts that are not behind it in
    /// order, the last is the longest that can be its own; where it is none, only what both begin with is left to be one.
    fn covers(&self, updated: &str) -> bool {
        let mut rest = updated;
        while let Some(known) = self.0.range::<str, _>((Bound::Unbounded, Bound::Included(rest))).next_back()
        {
            if rest.starts_with(known.as_str()) {
                return true;
            }
            let alike = known.bytes().zip(rest.bytes()).take_while(|(a, b)| a == b).count();
            rest = &rest[..rest.floor_char_boundary(alike)];
        }
        false
    }
}

/// An address without slashes at its end: those of its parts begin with it.
fn start_of(uri: &str) -> &str {
    uri.trim_end_matches('/')
}

fn address(resource: Json<'_>, at: &RuleContext<'_>) {
    let Some(value) = resource.member("uri") else { return };
    let Some(text) = string_of(value) else { return };
    let wrong = |why: &str| Violation::new(format!("{} is not a URI: {why}", shown(value))).inside(value);
    match uri(&text) {
        Uri::Good => at.pass(&URI),
        Uri::Loose(why) => at.fail(&URI, wrong(why).only(Level::Should)),
        Uri::Bad(why) => at.fail(&URI, wrong(why)),
    }
}

fn one_of(resource: Json<'_>, at: &RuleContext<'_>) {
    match contents(resource) {
        ContentsKind::Text | ContentsKind::Blob => at.pass(&ONE_OF),
        ContentsKind::Both => {
            let wrong = Violation::new("the resource has both `text` and `blob`").inside(resource);
            at.fail(&ONE_OF, wrong.only(Level::Should));
        }
        ContentsKind::Neither => {
            let wrong = Violation::new("the resource has neither `text` nor `blob` as a string");
            at.fail(&ONE_OF, wrong.inside(resource));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Subscribed, start_of};

    #[test]
    fn a_start_is_found_wherever_it_stands() {
        let known = ["a:x", "a:x/y/", "a:xé/", "b:", "c:y//", "a:w/longer/than/all"];
        let subscribed = Subscribed(known.iter().map(|uri| start_of(uri).to_owned()).collect());
        for updated in "a:x a:x/z a:x/y/z a:xé a:xê a:w/longer a: b:1 c:y c:z c:x  é".split(' ') {
            let one_by_one = known.iter().any(|uri| updated.starts_with(start_of(uri)));
            assert_eq!(subscribed.covers(updated), one_by_one, "{updated}");
        }
    }
}
