//! Lists that change: what a side that announces its changes says of them.
//!
//! Memory: a fingerprint of the last listing of each kind, and up to [`MOST`] open subscriptions.

use crate::engine::{
    Family, FindingLocation, MessageKind, PendingRequest, RuleContext, RuleVisitor, SeenMessage, Span,
    Trigger, Violation, why_not_whole,
};
use crate::rule::{Level, Rule};
use foldhash::fast::FixedState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;
use transcript::json::Json;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "list-changes",
    title: "Lists that change",
    rules: &[&SERVER, &ROOTS, &SUBSCRIBED],
    triggers: &[
        Trigger::Methods(
            &[MessageKind::Notification],
            &[
                "notifications/tools/list_changed",
                "notifications/prompts/list_changed",
                "notifications/resources/list_changed",
                "notifications/roots/list_changed",
                "notifications/cancelled",
            ],
        ),
        Trigger::Methods(MessageKind::CALLS, &[LISTEN]),
        Trigger::Methods(
            &[MessageKind::Result],
            &["tools/list", "prompts/list", "resources/list", "roots/list"],
        ),
    ],
    visitor: || Box::new(ListChangesState::default()),
};

static SERVER: Rule = Rule {
    id: "list-changed.server",
    span: Span::SESSIONS,
    relational: true,
    source: "server/tools#list-changed-notification",
    title: "A server that declares `listChanged` says when its list has changed",
    why: "Clients that rely on the capability keep the old list, and call tools that are gone.",
    fix: "Send the notification with each change, or do not declare `listChanged`.",
    ..Rule::BLANK.should().server()
};

static ROOTS: Rule = Rule {
    id: "list-changed.roots",
    level: Level::Must,
    source: "client/roots#root-list-changes",
    title: "A client that declares `roots.listChanged` says when its roots have changed",
    why: "Servers that rely on the capability keep the old roots, and work outside of the new ones.",
    fix: "Send `notifications/roots/list_changed` with each change, or do not declare `listChanged`.",
    ..SERVER.client()
};

static SUBSCRIBED: Rule = Rule {
    id: "sub.list-changed",
    span: Span::MODERN,
    title: "A server that declares `listChanged` tells its subscribers when a list has changed",
    fix: "Send the notification to each subscription that asked for it, or do not declare `listChanged`.",
    ..SERVER
};

const LISTEN: &str = "subscriptions/listen";

/// The most open subscriptions that are followed.
const MOST: usize = 1_000;

/// The lists: which member they are in, by what their items are named, and whose they are.
const LISTS: [(&str, &str, Side); 4] = [
    ("tools", "name", Side::Server),
    ("prompts", "name", Side::Server),
    ("resources", "uri", Side::Server),
    ("roots", "uri", Side::Client),
];

const ELSEWHERE: &str =
    "the notification may be on a stream that is not in the recording, or the subscription be over";

/// What was last shown of a list, and to a client that had subscribed to its changes; and where it was another one without a word.
#[derive(Default)]
struct Shown {
    names: Option<(u64, bool)>,
    other: Option<(bool, FindingLocation)>,
}

#[derive(Default)]
struct ListChangesState {
    session: u64,
    lists: [Shown; LISTS.len()],
    /// The open subscriptions, by the ids of their requests as they are written, and the lists that each asked for.
    open: BTreeMap<Box<str>, [bool; LISTS.len()]>,
}

impl RuleVisitor for ListChangesState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        if self.session != at.facts.session {
            self.over(at);
            self.session = at.facts.session;
        }
        let Some(message) = at.message else { return };
        self.subscribe(message);
        for (place, ((list, name, side), state)) in LISTS.iter().zip(&mut self.lists).enumerate() {
            let subscribed = self.open.values().any(|asked| asked[place]);
            // A notification that comes late is one all the same.
            if message.kind == MessageKind::Notification && message.calls(&changed(list)) {
                *state = Shown::default();
                at.pass(if subscribed { &SUBSCRIBED } else { rule(*side) });
            } else if let Some(names) = names(message, list, name)
                && let Some((before, since)) = state.names.replace((names, subscribed))
                && before != names
            {
                state.other.get_or_insert_with(|| (since && subscribed, at.location()));
            }
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        for ((list, _, side), shown) in LISTS.iter().zip(std::mem::take(&mut self.lists)) {
            let Some((subscribed, location)) = shown.other else { continue };
            let rule = if subscribed { &SUBSCRIBED } else { rule(*side) };
            let elsewhere = *side == Side::Server && at.facts.over_stdio() == Some(false);
            let unsure = why_not_whole(at.facts).or(elsewhere.then_some(ELSEWHERE));
            match (at.facts.declares(*side, &format!("{list}.listChanged")), unsure) {
                (Some(false), _) => {}
                (None, _) => at.inconclusive(rule, "the capabilities are not in the recording"),
                (_, Some(why)) => at.inconclusive(rule, why),
                _ => {
                    let wrong = format!(
                        "`{list}/list` shows another list than before, and no `{}` came",
                        changed(list)
                    );
                    at.fail(rule, Violation::new(wrong).at(location));
                }
            }
        }
    }
}

impl ListChangesState {
    /// What opens a subscription, or ends it.
    fn subscribe(&mut self, message: &SeenMessage<'_>) {
        let ended = |request: &PendingRequest| request.method() == LISTEN;
        if message.kind == MessageKind::Request && message.calls(LISTEN) {
            let Some(id) = message.raw.written_id().filter(|_| self.open.len() < MOST) else { return };
            let filter = message.param("notifications");
            let asks = |list: &str| filter.and_then(|filter| filter.member(&format!("{list}ListChanged")));
            let asked = LISTS.map(|(list, ..)| asks(list).is_some_and(|asked| asked.text() == "true"));
            self.open.insert(id.into(), asked);
        } else if let Some(id) =
            message.param("requestId").filter(|_| message.calls("notifications/cancelled"))
        {
            self.open.remove(id.text());
        } else if message.request().is_some_and(ended)
            && let Some(id) = message.raw.written_id()
        {
            self.open.remove(id);
        }
    }
}

fn rule(side: Side) -> &'static Rule {
    if side == Side::Server { &SERVER } else { &ROOTS }
}

fn changed(list: &str) -> String {
    format!("notifications/{list}/list_changed")
}

/// A fingerprint of the names in a listing that has one page.
fn names(message: &SeenMessage<'_>, list: &str, name: &str) -> Option<u64> {
    let result = message.result_of(&format!("{list}/list"))?;
    let paged = result.member("nextCursor").is_some() || message.request()?.param("cursor").is_some();
    let items = result.member(list).filter(|_| !paged)?;
    let names: BTreeSet<_> = items.items().filter_map(|item| item.member(name).map(Json::text)).collect();
    Some(FixedState::default().hash_one(names))
}
