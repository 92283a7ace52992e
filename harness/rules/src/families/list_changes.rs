//! Lists that change: what a side that announces its changes says of them.
//!
//! Memory: a fingerprint of the last listing of each kind.

use crate::engine::{
    Family, FindingLocation, MessageKind, Report, RuleContext, RuleVisitor, SeenMessage, Trigger, Violation,
    why_not_whole,
};
use crate::rule::Rule;
use crate::rule_text::{named, read_rules, rules_in};
use foldhash::fast::FixedState;
use std::collections::BTreeSet;
use std::hash::BuildHasher;
use transcript::json::Json;
use transcript::rejection::Rejection;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "list-changes",
    title: "Lists that change",
    rules: &RULES,
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

const TEXT: &str = include_str!("list_changes.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

const SERVER: &Rule = named(&RULES, "list-changed.server");
const ROOTS: &Rule = named(&RULES, "list-changed.roots");

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
    if side == Side::Server { SERVER } else { ROOTS }
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
