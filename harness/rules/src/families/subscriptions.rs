//! Subscriptions: `subscriptions/listen`, what its stream may carry, and how each message names it.
//!
//! Each subscription by the id of its request, type and all, and over HTTP by its exchange. Memory: up to
//! [`MOST_LISTENS`] subscriptions with the filter that each asked for.

use super::modern::{UNPROVEN, hides_meta, is_clients};
use crate::engine::{
    Family, FindingLocation, MessageKind, RuleContext, RuleVisitor, SeenMessage, Span, TAKEN_OUT, Trigger,
    Violation, quoted, shown, text_of, why_not_whole,
};
use crate::rule::Rule;
use transcript::json::{Json, JsonKind};
use transcript::session::{Carrier, Side};

pub(super) const FAMILY: Family = Family {
    name: "subscriptions",
    title: "Subscriptions",
    rules: &[&ACK_FIRST, &ID_TAG, &ID_EXACT, &FILTER, &ACK_SUBSET, &NO_REQUEST_SCOPED, &CANCEL],
    triggers: &[
        Trigger::Methods(MessageKind::CALLS, &[LISTEN]),
        Trigger::Kinds(&[MessageKind::Notification]),
    ],
    visitor: || Box::new(SubscriptionsState::default()),
};

/// The most subscriptions that are remembered.
const MOST_LISTENS: usize = 1_000;

/// A longer filter is not kept.
const LONGEST: usize = 1 << 14;

const TAG: &str = "io.modelcontextprotocol/subscriptionId";
const ACK: &str = "notifications/subscriptions/acknowledged";
const PART: &str = "whether the resource is a part of one that was subscribed to is the server's to say";
const LISTEN: &str = "subscriptions/listen";
const UPDATED: &str = "notifications/resources/updated";

/// The notifications that only subscriptions bring, and the member of the filter that asks for each.
const BROUGHT: &[(&str, &str)] = &[
    ("notifications/tools/list_changed", "toolsListChanged"),
    ("notifications/prompts/list_changed", "promptsListChanged"),
    ("notifications/resources/list_changed", "resourcesListChanged"),
    (UPDATED, "resourceSubscriptions"),
];

const OURS: Rule = Rule {
    span: Span::MODERN,
    source: "basic/patterns/subscriptions#receiving-notifications",
    ..Rule::BLANK.server()
};

static ACK_FIRST: Rule = Rule {
    id: "sub.ack-first",
    relational: true,
    source: "basic/patterns/subscriptions#acknowledgment",
    title: "A subscription begins with its acknowledgment",
    why: "Until it comes the client does not know whether it is subscribed, and to what.",
    fix: "Send `notifications/subscriptions/acknowledged` before anything else of the subscription.",
    ..OURS
};

static ID_TAG: Rule = Rule {
    id: "sub.id-tag",
    title: "Every message of a subscription names it in `_meta`",
    why: "On stdio nothing else shows which of several subscriptions a notification belongs to.",
    fix: "Write \"io.modelcontextprotocol/subscriptionId\" into the `_meta` of notifications and of the result.",
    ..OURS
};

static ID_EXACT: Rule = Rule {
    id: "sub.id-exact",
    title: "A subscription is named by the id of its request, type and all",
    why: "Clients look the id up as it is: \"1\" is not 1.",
    fix: "Copy the request's id without turning it into a string.",
    ..OURS
};

static FILTER: Rule = Rule {
    id: "sub.filter",
    source: "basic/patterns/subscriptions#opening-a-stream",
    title: "A server sends no change notification that was not asked for",
    why: "Clients have opted out of what they did not ask for, and cannot map it to anything.",
    fix: "Look into the request's `notifications` before sending.",
    ..OURS
};

static ACK_SUBSET: Rule = Rule {
    id: "sub.ack-subset",
    source: "basic/patterns/subscriptions#acknowledgment",
    title: "An acknowledgment grants no more than was asked for",
    why: "It says which part of the request is honoured; anything else confuses the client.",
    fix: "Repeat the part of the request's `notifications` that you support.",
    ..OURS.should()
};

static NO_REQUEST_SCOPED: Rule = Rule {
    id: "sub.no-request-scoped",
    source: "basic/transports/streamable-http#receiving-messages",
    title: "Progress and log messages do not travel in subscriptions",
    why: "They belong to another request, whose caller does not see them there.",
    fix: "Send them with the request that they are about.",
    ..OURS
};

static CANCEL: Rule = Rule {
    id: "cancel.server-only-listen",
    source: "basic/patterns/cancellation",
    title: "A server cancels subscriptions and nothing else",
    why: "A client cannot tell what a cancellation of its own call would mean.",
    fix: "Answer the request with an error instead.",
    ..OURS
};

/// A subscription.
struct Listen {
    /// Its request's id as it was written, quotes and all.
    id: Box<str>,
    /// What it asks for.
    filter: Option<Box<str>>,
    exchange: Option<u64>,
    acknowledged: bool,
    /// Another one had the id, and nothing tells whose messages are whose.
    shared: bool,
    location: FindingLocation,
}

#[derive(Default)]
struct SubscriptionsState {
    listens: Vec<Listen>,
    /// There were more than are remembered.
    full: bool,
}

impl RuleVisitor for SubscriptionsState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        match message.kind {
            MessageKind::Request if message.calls(LISTEN) && is_clients(message, at) => {
                self.listen(message, at)
            }
            MessageKind::Notification if at.side != Some(Side::Client) => self.notification(message, at),
            MessageKind::Result if message.request_for(LISTEN).is_some() => self.result(message, at),
            MessageKind::Error if message.request_for(LISTEN).is_some() => {
                let id = message.raw.written_id();
                self.listens.retain(|one| id != Some(&*one.id) || one.exchange != at.entry.exchange);
            }
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        if self.listens.iter().any(|listen| !listen.acknowledged) {
            at.inconclusive(&ACK_FIRST, "the recording ends before a message of the subscription");
        }
    }
}

impl SubscriptionsState {
    fn listen(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(id) = message.raw.written_id() else { return };
        if self.listens.len() >= MOST_LISTENS {
            self.full = true;
            return;
        }
        // An id may be used again once its request was answered, and in another exchange by another client.
        let before = self.listens.len();
        self.listens.retain(|listen| *listen.id != *id || listen.exchange != at.entry.exchange);
        let shared = self.listens.len() < before && at.facts.over_stdio() != Some(true);
        let filter = message.param("notifications").map(Json::text).filter(|text| text.len() <= LONGEST);
        self.listens.push(Listen {
            id: id.into(),
            filter: filter.map(Into::into),
            exchange: at.entry.exchange,
            acknowledged: false,
            shared,
            location: at.location(),
        });
    }

    /// The subscription in whose exchange a message of a server stands.
    fn streaming(&self, at: &RuleContext<'_>) -> Option<usize> {
        let exchange = at.entry.exchange.filter(|_| at.entry.carrier != Carrier::Request)?;
        self.listens.iter().position(|listen| listen.exchange == Some(exchange))
    }

    fn named(&self, tag: Json<'_>) -> Option<usize> {
        self.listens.iter().position(|listen| is_id(&listen.id, tag))
    }

    /// The subscription whose id a tag spells as another type, such as `"1"` for `1`.
    fn misnamed(&self, tag: Json<'_>) -> Option<usize> {
        let plain = |text: &str| text.trim_matches('"').to_owned();
        self.listens.iter().position(|listen| plain(&listen.id) == plain(tag.text()))
    }

    /// Why something that was not asked for in the recording may have been asked for before it.
    fn why_unsure(&self, at: &RuleContext<'_>) -> Option<&'static str> {
        let begun = at.facts.opened || at.exchange.is_some();
        why_not_whole(at.facts).or(match () {
            () if self.full => Some("there were more subscriptions than are followed"),
            () if !begun => {
                Some("the recording may begin after the session did; a trace from its start would show it")
            }
            () => None,
        })
    }

    fn notification(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let method = message.method.as_deref().unwrap_or_default();
        if method == "notifications/cancelled" {
            return self.cancelled(message, at);
        }
        let streaming = self.streaming(at);
        let tag = message.meta(TAG);
        let asked_by = BROUGHT.iter().find(|(name, _)| *name == method).map(|(_, member)| *member);
        if matches!(method, "notifications/progress" | "notifications/message") {
            if streaming.is_some() || tag.is_some() {
                at.fail(&NO_REQUEST_SCOPED, Violation::new(format!("`{method}` travels in a subscription")));
            } else if !self.listens.is_empty() {
                at.pass(&NO_REQUEST_SCOPED);
            }
            return;
        }
        if streaming.is_none() && tag.is_none() && asked_by.is_none() && method != ACK {
            return;
        }
        let Some(tag) = tag else {
            if hides_meta(message, at) {
                return at.inconclusive(&ID_TAG, TAKEN_OUT);
            }
            // Over HTTP the stream tells; on stdio it may have been any of them, or none was opened.
            if self.listens.is_empty() && method != ACK {
                return match self.why_unsure(at) {
                    _ if !at.facts.modern => at.inconclusive(&FILTER, UNPROVEN),
                    Some(why) => at.inconclusive(&FILTER, why),
                    None => at.fail(&FILTER, format!("`{method}` is sent although no client subscribed")),
                };
            }
            at.fail(&ID_TAG, format!("`{method}` does not name its subscription"));
            if let Some(index) = streaming {
                self.opened(index, method, at);
            }
            return;
        };
        at.pass(&ID_TAG);
        let Some(index) = streaming.or_else(|| self.named(tag)).or_else(|| self.misnamed(tag)) else {
            return self.unknown(&ID_EXACT, tag, at);
        };
        let Some(listen) = self.listens.get(index) else { return };
        let (id, location) = (&listen.id, &listen.location);
        at.check(&ID_EXACT, is_id(id, tag), || wrong_tag(tag, id).see(location.clone(), "the request"));
        let filter = listen.filter.as_deref().and_then(|text| Json::parse(text).ok());
        if let (Some(filter), Some(member)) = (filter, asked_by) {
            match allows(filter, member, message) {
                Some(true) => at.pass(&FILTER),
                Some(false) if listen.shared => {
                    at.inconclusive(&FILTER, "several clients may use the id of the subscription");
                }
                Some(false) => {
                    let uri =
                        message.param("uri").filter(|_| method == UPDATED).map(shown).unwrap_or_default();
                    let wrong = format!("the subscription did not ask for `{method}` {uri}");
                    let wrong = Violation::new(wrong.trim_end().to_owned());
                    at.fail(&FILTER, wrong.see(location.clone(), "the request"));
                }
                None => at.inconclusive(&FILTER, PART),
            }
        }
        if let (Some(filter), ACK) = (filter, method) {
            subset(filter, message, &listen.location, at);
        }
        self.opened(index, method, at);
    }

    /// A message of a subscription: the acknowledgment, or something that must come behind it.
    fn opened(&mut self, index: usize, method: &str, at: &RuleContext<'_>) {
        let Some(listen) = self.listens.get_mut(index) else { return };
        if !std::mem::replace(&mut listen.acknowledged, true) {
            at.check(&ACK_FIRST, method == ACK, || {
                let wrong = "the subscription begins with something else than its acknowledgment";
                Violation::new(wrong).see(listen.location.clone(), "the request")
            });
        }
    }

    /// An id is that of no subscription, as it is written.
    fn unknown(&self, rule: &'static Rule, id: Json<'_>, at: &RuleContext<'_>) {
        match self.why_unsure(at) {
            None => {
                at.fail(rule, Violation::new(format!("no subscription has the id {}", shown(id))).inside(id));
            }
            Some(why) => at.inconclusive(rule, why),
        }
    }

    fn result(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let (Some(request), Some(result)) = (message.request(), message.raw.outcome()) else { return };
        match result.member("_meta").and_then(|meta| meta.member(TAG)) {
            None if hides_meta(message, at) => at.inconclusive(&ID_TAG, TAKEN_OUT),
            None if at.facts.modern => at.fail(&ID_TAG, "the result of the subscription does not name it"),
            None => at.inconclusive(&ID_TAG, UNPROVEN),
            Some(tag) => {
                at.pass(&ID_TAG);
                let id = request.id();
                at.check(&ID_EXACT, is_id(id, tag), || wrong_tag(tag, id).of(request));
            }
        }
        let named = || self.listens.iter().position(|listen| *listen.id == *request.id());
        if let Some(index) = self.streaming(at).or_else(named) {
            self.opened(index, "", at);
        }
    }

    /// A server's cancellation.
    fn cancelled(&self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let (Some(Side::Server), Some(id)) = (at.side, message.param("requestId")) else { return };
        if self.named(id).is_some() {
            return at.pass(&CANCEL);
        }
        if let Some(request) = at.pending.find(Some(Side::Client), id) {
            if request.method() != LISTEN {
                let wrong = format!("the server cancels the client's `{}`", request.method());
                at.fail(&CANCEL, Violation::new(wrong).inside(id).of(request));
            }
            return;
        }
        self.unknown(&CANCEL, id, at);
    }
}

/// What is wrong with a tag that is not the id of its subscription's request.
fn wrong_tag<'t>(tag: Json<'t>, id: &str) -> Violation<'t> {
    Violation::new(format!("the subscription is named {}, and its request has the id {id}", shown(tag)))
        .inside(tag)
}

/// Whether a value is this id: of the same type, and with the same text.
fn is_id(id: &str, value: Json<'_>) -> bool {
    let Ok(id) = Json::parse(id) else { return false };
    id.kind() == value.kind() && id.same(value)
}

/// Whether a filter asks for a notification; none where only the server can tell.
fn allows(filter: Json<'_>, member: &str, message: &SeenMessage<'_>) -> Option<bool> {
    let request = filter.member(member);
    if member != "resourceSubscriptions" {
        return Some(request.is_some_and(|request| request.text() == "true"));
    }
    let wanted: Vec<_> = request.into_iter().flat_map(Json::items).filter_map(text_of).collect();
    let uri = message.param("uri").and_then(text_of)?;
    let scheme = |uri: &str| uri.split(':').next().map(str::to_owned);
    match wanted.as_slice() {
        [] => Some(false),
        // What changed may be a part of what was subscribed to.
        wanted if wanted.iter().any(|wanted| uri.starts_with(&**wanted)) => Some(true),
        wanted => wanted.iter().all(|wanted| scheme(wanted) != scheme(&uri)).then_some(false),
    }
}

/// Whether an acknowledgment grants only what was asked for.
fn subset(filter: Json<'_>, message: &SeenMessage<'_>, location: &FindingLocation, at: &RuleContext<'_>) {
    let answer = message.param("notifications").filter(|answer| answer.kind() == JsonKind::Object);
    let Some(answer) = answer else { return };
    for (name, value) in answer.members() {
        let name = name.to_str().unwrap_or_default();
        let request = filter.member(&name);
        let more = match value.kind() {
            JsonKind::Array => {
                let wanted: Vec<_> = request.into_iter().flat_map(Json::items).filter_map(text_of).collect();
                value.items().filter_map(text_of).find(|uri| !wanted.contains(uri)).map(|uri| quoted(&uri))
            }
            JsonKind::Bool if value.text() == "true" => {
                let wanted = request.is_some_and(|request| request.text() == "true");
                (!wanted).then(|| format!("`{name}`"))
            }
            _ => None,
        };
        if let Some(more) = more {
            let wrong = Violation::new(format!("{more} is granted, and was not asked for")).inside(value);
            return at.fail(&ACK_SUBSET, wrong.see(location.clone(), "the request"));
        }
    }
    at.pass(&ACK_SUBSET);
}
