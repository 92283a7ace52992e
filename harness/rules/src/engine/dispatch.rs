//! Which families are woken for what: a table that is built once for each recording.
//!
//! Knows: what each family says that it hears. Refuses to know: what any of them does with it. A family that is left
//! asleep would have found nothing: a test judges every case both ways.

use super::context::{MessageKind, RuleContext, SeenMessage};
use crate::families::FAMILIES;
use crate::family::Trigger;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use transcript::session::Carrier;

/// Families by their numbers in [`FAMILIES`], a bit each.
type Families = u64;

/// The families that hear a method, by sort of message.
type BySort = [Families; 4];

/// Who is woken for what.
#[derive(Debug, Default)]
pub(super) struct Dispatch {
    always: Families,
    methods: HashMap<&'static str, BySort, FixedState>,
    /// For a method that nobody names, and for a response that answers nothing.
    other: BySort,
    asking: Families,
    silence: Families,
    exchanges: Families,
    contexts: Families,
    events: Families,
}

impl Dispatch {
    /// Everybody is woken for everything.
    pub(super) fn all() -> Self {
        Self { always: Families::MAX, ..Self::default() }
    }

    /// For recordings of a format.
    pub(super) fn of(format: &str) -> Self {
        const EVERY: &[MessageKind] =
            &[MessageKind::Request, MessageKind::Notification, MessageKind::Result, MessageKind::Error];
        let mut dispatch = Self::default();
        let heard = || {
            (0..)
                .zip(FAMILIES)
                .flat_map(|(number, family)| family.triggers.iter().map(move |triggers| (number, triggers)))
        };
        for (number, triggers) in heard() {
            let family: Families = 1 << number;
            let mut each = |kinds: &[MessageKind]| {
                kinds.iter().for_each(|kind| dispatch.other[*kind as usize] |= family)
            };
            match triggers {
                Trigger::All => dispatch.always |= family,
                Trigger::Format(name) if *name == format => dispatch.always |= family,
                Trigger::Messages => each(EVERY),
                Trigger::Kinds(kinds) => each(kinds),
                Trigger::InputRequests => dispatch.asking |= family,
                Trigger::NonMessages => dispatch.silence |= family,
                Trigger::HttpExchanges => dispatch.exchanges |= family,
                Trigger::Contexts => dispatch.contexts |= family,
                Trigger::SseEvents => dispatch.events |= family,
                Trigger::Format(_) | Trigger::Methods(..) => {}
            }
        }
        // Whoever hears every method hears those that others name.
        for (number, triggers) in heard() {
            let Trigger::Methods(kinds, methods) = triggers else { continue };
            for method in *methods {
                let by_sort = dispatch.methods.entry(method).or_insert(dispatch.other);
                kinds.iter().for_each(|kind| by_sort[*kind as usize] |= 1 << number);
            }
        }
        dispatch
    }

    /// The families that are woken for this step, by their numbers, in order.
    pub(super) fn families_for(&self, at: &RuleContext<'_>) -> impl Iterator<Item = usize> + use<> {
        let mut families = self.always;
        families |= match &at.message {
            None => self.silence,
            Some(message) => {
                let method = message.method.as_deref().or_else(|| Some(message.request()?.method()));
                method.and_then(|method| self.methods.get(method)).unwrap_or(&self.other)
                    [message.kind as usize]
            }
        };
        if at.message.as_ref().is_some_and(asks) {
            families |= self.asking;
        }
        if at.exchange.is_some() {
            families |= self.exchanges;
        }
        if at.entry.context.is_some() {
            families |= self.contexts;
        }
        if at.entry.carrier == Carrier::Sse {
            families |= self.events;
        }
        std::iter::from_fn(move || {
            let next = families.trailing_zeros() as usize;
            families &= families.wrapping_sub(1);
            (next < FAMILIES.len()).then_some(next)
        })
    }
}

/// See [`Trigger::Asking`].
fn asks(message: &SeenMessage<'_>) -> bool {
    match message.kind {
        MessageKind::Request => message.param("inputResponses").is_some(),
        MessageKind::Result => {
            message.raw.outcome().is_some_and(|result| result.member("resultType").is_some())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Dispatch, Families};
    use crate::families::FAMILIES;

    #[test]
    fn every_family_has_a_bit_and_is_woken_for_something() {
        assert!(FAMILIES.len() <= Families::BITS as usize);
        let mut heard: Families = 0;
        for format in ["jsonrpc", "mcp-replay", "streamable-http"] {
            let dispatch = Dispatch::of(format);
            let by_method = dispatch.methods.values().chain([&dispatch.other]).flatten();
            heard |= by_method.fold(dispatch.always, |all, some| all | some);
            heard |=
                dispatch.asking | dispatch.silence | dispatch.exchanges | dispatch.contexts | dispatch.events;
        }
        assert_eq!(heard.count_ones() as usize, FAMILIES.len());
    }

    #[test]
    fn a_call_wakes_those_that_hear_it_and_leaves_the_others_asleep() {
        let dispatch = Dispatch::of("mcp-replay");
        let bit =
            |name: &str| -> Families { 1 << FAMILIES.iter().position(|family| family.name == name).unwrap() };
        let [request, notification, ..] = dispatch.methods["tools/call"];
        assert!(
            request & bit("tools") != 0
                && request & bit("modern") != 0
                && dispatch.always & bit("replay") != 0
        );
        assert!(
            notification & bit("tools") == 0
                && request & bit("pings") == 0
                && dispatch.always & bit("jsonl") == 0
        );
        assert!(dispatch.other[0] & bit("tools") == 0);
    }
}
