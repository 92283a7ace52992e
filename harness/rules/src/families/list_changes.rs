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

/// The lists: which member they are in, by what their items are named, and whose they are.
const LISTS: [(&str, &str, Side); 4] = [
    ("tools", "name", Side::Server),
    ("prompts", "name", Side::Server),
    ("resources", "uri", Side::Server),
    ("roots", "uri", Side::Client),
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
        for ((list, name, side), state) in LISTS.iter().zip(&mut self.lists) {
            // A notification that comes late is one all the same.
            if message.kind == MessageKind::Notification && message.calls(&changed(list)) {
                *state = (None, None);
                report.pass(rule(*side), at);
            } else if let Some(names) = names(message, list, name)
                && state.0.replace(names).is_some_and(|before| before != names)
            {
                state.1.get_or_insert_with(|| at.location());
            }
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>, report: &mut Report) {
        self.close(at, report);
    }
}

impl ListChangesState {
    fn close(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        for ((list, _, side), (_, location)) in LISTS.iter().zip(std::mem::take(&mut self.lists)) {
            let (Some(location), rule) = (location, rule(*side)) else { continue };
            let elsewhere = *side == Side::Server && at.facts.over_stdio() == Some(false);
            let unsure = why_not_whole(at.facts).or(elsewhere.then_some(ELSEWHERE));
            match (at.facts.declares(*side, &format!("{list}.listChanged")), unsure) {
                (Some(false), _) => {}
                (None, _) => report.inconclusive(rule, at, "the capabilities are not in the recording"),
                (_, Some(why)) => report.inconclusive(rule, at, why),
                _ => {
                    let wrong = format!(
                        "`{list}/list` shows another list than before, and no `{}` came",
                        changed(list)
                    );
                    report.fail(rule, at, Violation::new(wrong).at(location));
                }
            }
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
