//! Subscriptions that are over.
//!
//! Memory: the ids of subscriptions and how each ended, up to [`MOST_LISTENS`].

use crate::engine::{
    Family, FindingLocation, MessageKind, RuleContext, RuleVisitor, SeenMessage, Span, Trigger, TypedId,
    Violation, shown,
};
use crate::rule::Rule;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "subscription-ends",
    title: "Ends of subscriptions",
    rules: &[&SILENT],
    triggers: &[
        Trigger::Kinds(&[MessageKind::Notification]),
        Trigger::Methods(MessageKind::CALLS, &[LISTEN]),
    ],
    visitor: || Box::new(SubscriptionEndsState::default()),
};

static SILENT: Rule = Rule {
    id: "sub.silent-after-end",
    span: Span::MODERN,
    source: "basic/transports/stdio#cancellation; basic/patterns/subscriptions#graceful-closure",
    title: "Nothing is sent for a subscription that was cancelled or answered",
    why: "The client has forgotten it, and may use its id for another.",
    fix: "Remove the subscription from your list before you send its end.",
    ..Rule::BLANK.server()
};

const LISTEN: &str = "subscriptions/listen";
const TAG: &str = "io.modelcontextprotocol/subscriptionId";

/// The most subscriptions that are followed.
const MOST_LISTENS: usize = 1_000;

/// What is sent so long after a cancellation did not cross it, in milliseconds.
const CROSSING: i64 = 1_000;

/// The end of a subscription: where, and when the client said so; the server itself knows it at once.
type End = (FindingLocation, Option<Option<i64>>);

type Key = (Option<u64>, TypedId);

#[derive(Default)]
struct SubscriptionEndsState {
    /// Over HTTP each has an exchange of its own, and clients may use the same ids.
    listens: HashMap<Key, Option<End>, FixedState>,
}

impl RuleVisitor for SubscriptionEndsState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let key = |id: Option<TypedId>| Some((at.entry.exchange, id?));
        if message.calls(LISTEN) {
            if let Some(key) = key(TypedId::of_message(message.raw.id()))
                && (self.listens.len() < MOST_LISTENS || self.listens.contains_key(&key))
            {
                self.listens.insert(key, None);
            }
        } else if message.calls("notifications/cancelled") && message.kind == MessageKind::Notification {
            let by_client = (at.side != Some(Side::Server)).then_some(at.entry.time);
            self.end(key(message.param("requestId").and_then(TypedId::new)), (at.location(), by_client));
        } else if message.request_for(LISTEN).is_some() {
            self.end(key(TypedId::of_message(message.raw.id())), (at.location(), None));
        } else if let Some(tag) = message.meta(TAG).filter(|_| message.kind == MessageKind::Notification) {
            let Some(end) = key(TypedId::new(tag)).and_then(|key| self.listens.get(&key)) else { return };
            let Some(end) = end else { return at.pass(&SILENT) };
            let (location, by_client) = end;
            let after = by_client.map(|before| Some(at.entry.time?.saturating_sub(before?)));
            if after.is_none_or(|after| after.is_some_and(|after| after >= CROSSING)) {
                let wrong = Violation::new(format!("the subscription {} is over", shown(tag))).inside(tag);
                at.fail(&SILENT, wrong.see(location.clone(), "its end"));
            } else {
                at.inconclusive(&SILENT, "the message and the cancellation may have crossed");
            }
        }
    }
}

impl SubscriptionEndsState {
    fn end(&mut self, key: Option<Key>, end: End) {
        if let Some(open @ None) = key.and_then(|key| self.listens.get_mut(&key)) {
            *open = Some(end);
        }
    }
}
