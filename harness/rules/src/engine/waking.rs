//! Which families are woken for what: a table that is built once for each recording.
//!
//! Knows: what each family says that it hears. Refuses to know: what any of them does with it. A family that is left
//! asleep would have found nothing: a test judges every case both ways.

use super::moment::{Moment, Said, Sort};
use crate::families::FAMILIES;
use crate::family::Hears;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use transcript::session::Carrier;

/// Families by their numbers in [`FAMILIES`], a bit each.
type Families = u64;

/// The families that hear a method, by sort of message.
type BySort = [Families; 4];

/// Who is woken for what.
#[derive(Debug, Default)]
pub(super) struct Waking {
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

impl Waking {
    /// Everybody is woken for everything.
    pub(super) fn everybody() -> Self {
        Self { always: Families::MAX, ..Self::default() }
    }

    /// For recordings of a format.
    pub(super) fn of(format: &str) -> Self {
        const EVERY: &[Sort] = &[Sort::Request, Sort::Notification, Sort::Result, Sort::Error];
        let mut waking = Self::default();
        let heard = || {
            (0..)
                .zip(FAMILIES)
                .flat_map(|(number, family)| family.hears.iter().map(move |hears| (number, hears)))
        };
        for (number, hears) in heard() {
            let family: Families = 1 << number;
            let mut each =
                |sorts: &[Sort]| sorts.iter().for_each(|sort| waking.other[*sort as usize] |= family);
            match hears {
                Hears::All => waking.always |= family,
                Hears::In(name) if *name == format => waking.always |= family,
                Hears::Messages => each(EVERY),
                Hears::Each(sorts) => each(sorts),
                Hears::Asking => waking.asking |= family,
                Hears::Silence => waking.silence |= family,
                Hears::Exchanges => waking.exchanges |= family,
                Hears::Contexts => waking.contexts |= family,
                Hears::Events => waking.events |= family,
                Hears::In(_) | Hears::Some(..) => {}
            }
        }
        // Whoever hears every method hears those that others name.
        for (number, hears) in heard() {
            let Hears::Some(sorts, methods) = hears else { continue };
            for method in *methods {
                let by_sort = waking.methods.entry(method).or_insert(waking.other);
                sorts.iter().for_each(|sort| by_sort[*sort as usize] |= 1 << number);
            }
        }
        waking
    }

    /// The families that are woken for this step, by their numbers, in order.
    pub(super) fn woken(&self, at: &Moment<'_>) -> impl Iterator<Item = usize> + use<> {
        let mut families = self.always;
        families |= match &at.said {
            None => self.silence,
            Some(said) => {
                let method = said.method.as_deref().or_else(|| Some(said.asked()?.method()));
                method.and_then(|method| self.methods.get(method)).unwrap_or(&self.other)[said.sort as usize]
            }
        };
        if at.said.as_ref().is_some_and(asks) {
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

/// See [`Hears::Asking`].
fn asks(said: &Said<'_>) -> bool {
    match said.sort {
        Sort::Request => said.param("inputResponses").is_some(),
        Sort::Result => said.message.outcome().is_some_and(|result| result.member("resultType").is_some()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Families, Waking};
    use crate::families::FAMILIES;

    #[test]
    fn every_family_has_a_bit_and_is_woken_for_something() {
        assert!(FAMILIES.len() <= Families::BITS as usize);
        let mut heard: Families = 0;
        for format in ["jsonrpc", "mcp-replay", "streamable-http"] {
            let waking = Waking::of(format);
            let by_method = waking.methods.values().chain([&waking.other]).flatten();
            heard |= by_method.fold(waking.always, |all, some| all | some);
            heard |= waking.asking | waking.silence | waking.exchanges | waking.contexts | waking.events;
        }
        assert_eq!(heard.count_ones() as usize, FAMILIES.len());
    }

    #[test]
    fn a_call_wakes_those_that_hear_it_and_leaves_the_others_asleep() {
        let waking = Waking::of("mcp-replay");
        let bit =
            |name: &str| -> Families { 1 << FAMILIES.iter().position(|family| family.name == name).unwrap() };
        let [request, notification, ..] = waking.methods["tools/call"];
        assert!(
            request & bit("tools") != 0 && request & bit("modern") != 0 && waking.always & bit("replay") != 0
        );
        assert!(
            notification & bit("tools") == 0
                && request & bit("pings") == 0
                && waking.always & bit("jsonl") == 0
        );
        assert!(waking.other[0] & bit("tools") == 0);
    }
}
