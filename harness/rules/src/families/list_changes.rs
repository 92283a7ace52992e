//! Lists that change: what a side that announces its changes says of them.
//!
//! Memory: a fingerprint of the last listing of each kind.

use crate::engine::{
    Family, FindingLocation, MessageKind, Report, RuleContext, RuleVisitor, SeenMessage, Span, Trigger,
    Violation, why_not_whole,
};
use crate::rule::{Level, Party, Rule};
use foldhash::fast::FixedState;
use std::collections::BTreeSet;
use std::hash::BuildHasher;
use transcript::json::Json;
use transcript::rejection::Rejection;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "list-changes",
    title: "Lists that change",
    rules: &[&SERVER, &ROOTS],
    triggers: &[
        Trigger::Methods(
            &[MessageKind::Notification],
            &[
                "notifications/tools/list_changed",
                "notifications/prompts/list_changed",
                "notifications/resources/list_changed",
                "notifications/roots/list_changed",
            ],
        ),
        Trigger::Methods(
            &[MessageKind::Result],
            &["tools/list", "prompts/list", "resources/list", "roots/list"],
        ),
    ],
    visitor: || Box::new(ListChangesState::default()),
};

static SERVER: Rule = Rule {
    id: "list-changed.server",
    level: Level::Should,
    party: Party::Server,
    span: Span::SESSIONS,
    relational: true,
    source: "server/tools#list-changed-notification",
    title: "A server that declares `listChanged` says when its list has changed",
    why: "Clients that go by the capability keep the old list, and call tools that are gone.",
    fix: "Send the notification with each change, or do not declare `listChanged`.",
    ..Rule::BLANK
};

static ROOTS: Rule = Rule {
    id: "list-changed.roots",
    level: Level::Must,
    party: Party::Client,
    source: "client/roots#root-list-changes",
    title: "A client that declares `roots.listChanged` says when its roots have changed",
    why: "Servers that go by the capability keep the old roots, and work outside of the new ones.",
    fix: "Send `notifications/roots/list_changed` with each change, or do not declare `listChanged`.",
    ..SERVER
};

/// The list's method and member, what names its items, the notification, who keeps it, the capability, and the rule.
type List = (&'static str, &'static str, &'static str, &'static str, Side, &'static str, &'static Rule);

const LISTS: [List; 4] = [
    (
        "tools/list",
        "tools",
        "name",
        "notifications/tools/list_changed",
        Side::Server,
        "tools.listChanged",
        &SERVER,
    ),
    (
        "prompts/list",
        "prompts",
        "name",
        "notifications/prompts/list_changed",
        Side::Server,
        "prompts.listChanged",
        &SERVER,
    ),
    (
        "resources/list",
        "resources",
        "uri",
        "notifications/resources/list_changed",
        Side::Server,
        "resources.listChanged",
        &SERVER,
    ),
    (
        "roots/list",
        "roots",
        "uri",
        "notifications/roots/list_changed",
        Side::Client,
        "roots.listChanged",
        &ROOTS,
    ),
];

const ELSEWHERE: &str = "the notification may have been sent on a stream that is not in the recording";

/// What was last shown of a list, and where it was another one without a word.
type Shown = (Option<u64>, Option<FindingLocation>);

#[derive(Default)]
struct ListChangesState {
    session: u64,
    lists: [Shown; LISTS.len()],
}

impl RuleVisitor for ListChangesState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        if self.session != at.facts.session {
            self.close(at, report);
            self.session = at.facts.session;
        }
        let Some(message) = at.message else { return };
        for (list, state) in LISTS.iter().zip(&mut self.lists) {
            // A notification that comes late is one all the same.
            if message.kind == MessageKind::Notification && message.calls(list.3) {
                *state = (None, None);
                report.pass(list.6, at);
            } else if let Some(names) = names(message, list) {
                let changed = state.0.replace(names).is_some_and(|before| before != names);
                if changed && state.1.is_none() {
                    state.1 = Some(at.location());
                }
            }
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>, report: &mut Report) {
        self.close(at, report);
    }
}

impl ListChangesState {
    fn close(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        for ((method, _, _, notification, side, path, rule), (_, changed)) in
            LISTS.iter().zip(std::mem::take(&mut self.lists))
        {
            let Some(location) = changed else { continue };
            let elsewhere =
                (*side == Side::Server && at.facts.over_stdio() == Some(false)).then_some(ELSEWHERE);
            match (at.facts.declares(*side, path), why_not_whole(at.facts).or(elsewhere)) {
                (Some(false), _) => {}
                (None, _) => report.inconclusive(rule, at, "the capabilities are not in the recording"),
                (_, Some(why)) => report.inconclusive(rule, at, why),
                _ => {
                    let wrong =
                        format!("`{method}` shows another list than before, and no `{notification}` came");
                    report.fail(rule, at, Violation::new(wrong).at(location));
                }
            }
        }
    }
}

/// A fingerprint of the names in a listing that has one page.
fn names(message: &SeenMessage<'_>, (method, member, name, ..): &List) -> Option<u64> {
    let result = message.result_of(method)?;
    let paged = result.member("nextCursor").is_some() || message.request()?.param("cursor").is_some();
    let items = result.member(member).filter(|_| !paged)?;
    let names: BTreeSet<_> = items.items().filter_map(|item| item.member(name).map(Json::text)).collect();
    Some(FixedState::default().hash_one(names))
}
