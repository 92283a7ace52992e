//! Which families visit which step: a table that is built once for each recording.
//!
//! A family that is left out of a step would have found nothing there: a test judges every case both ways.

use super::context::RuleContext;
use super::family::{Family, Trigger};
use super::message::{MessageKind, SeenMessage};
use super::methods::Method;
use super::recording_info::RecordingKind;
use foldhash::fast::FixedState;
use std::collections::HashMap;
use transcript::session::Carrier;

/// Families by their indices, a bit each.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FamilySet([u64; 4]);

impl FamilySet {
    /// The most families that have a bit.
    pub(crate) const MOST: usize = 256;

    fn insert(&mut self, family: usize) {
        self.0[family / 64] |= 1 << (family % 64);
    }

    fn add(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(word, more)| *word |= more);
    }

    /// Shows each, in order.
    #[inline]
    pub(super) fn each(self, mut show: impl FnMut(usize)) {
        for (index, mut word) in self.0.into_iter().enumerate() {
            while word != 0 {
                show(index * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        }
    }
}

/// The families that a method triggers, by kind of message.
type ByKind = [FamilySet; 4];

/// Which families are triggered by what. What is triggered always is in each of the sets for messages and in that for all else.
#[derive(Debug, Default)]
pub(super) struct Dispatch {
    /// By the methods' numbers.
    known: Vec<ByKind>,
    /// Methods that the specification does not have.
    unknown: HashMap<&'static str, ByKind, FixedState>,
    /// For a method that no family names, and for a response that answers nothing.
    other: ByKind,
    input_requests: FamilySet,
    non_messages: FamilySet,
    exchanges: FamilySet,
    contexts: FamilySet,
    events: FamilySet,
}

impl Dispatch {
    /// Every family visits every step, of those that `by` names by their numbers.
    pub(super) fn all(families: &[Family], by: impl Fn(usize) -> bool) -> Self {
        let mut all = FamilySet::default();
        (0..families.len()).filter(|family| by(*family)).for_each(|family| all.insert(family));
        Self { other: [all; 4], non_messages: all, ..Self::default() }
    }

    /// For recordings of a kind, of the families that `by` names.
    pub(super) fn new(
        families: &'static [Family],
        recording: RecordingKind,
        by: impl Fn(usize) -> bool,
    ) -> Self {
        const EVERY: &[MessageKind] =
            &[MessageKind::Request, MessageKind::Notification, MessageKind::Result, MessageKind::Error];
        let mut table = Self::default();
        let mut always = FamilySet::default();
        let triggers = || {
            (0..)
                .zip(families)
                .filter(|(index, _)| by(*index))
                .flat_map(|(index, family)| family.triggers.iter().map(move |trigger| (index, trigger)))
        };
        for (family, trigger) in triggers() {
            let mut kinds = |kinds: &[MessageKind]| {
                kinds.iter().for_each(|kind| table.other[*kind as usize].insert(family));
            };
            match trigger {
                Trigger::All => always.insert(family),
                Trigger::Recordings(wanted) if wanted(recording) => always.insert(family),
                Trigger::Messages => kinds(EVERY),
                Trigger::Kinds(some) => kinds(some),
                Trigger::InputRequests => table.input_requests.insert(family),
                Trigger::NonMessages => table.non_messages.insert(family),
                Trigger::HttpExchanges => table.exchanges.insert(family),
                Trigger::Contexts => table.contexts.insert(family),
                Trigger::SseEvents => table.events.insert(family),
                Trigger::Recordings(_) | Trigger::Methods(..) => {}
            }
        }
        table.other.iter_mut().chain([&mut table.non_messages]).for_each(|set| set.add(always));
        table.known = vec![table.other; Method::count()];
        // Families that every method triggers are triggered by those that others name, too.
        for (family, trigger) in triggers() {
            let Trigger::Methods(kinds, methods) = trigger else { continue };
            for method in *methods {
                let by_kind = match Method::find(method) {
                    Some(method) => &mut table.known[method.number],
                    None => table.unknown.entry(method).or_insert(table.other),
                };
                kinds.iter().for_each(|kind| by_kind[*kind as usize].insert(family));
            }
        }
        table
    }

    /// The families that visit this step. With some steps an exchange is over, which may be another one than theirs, and those
    /// that look at exchanges hear of it then.
    pub(super) fn families_for(&self, at: &RuleContext<'_>, ends_exchange: bool) -> FamilySet {
        let mut families = match at.message {
            None => self.non_messages,
            Some(message) => {
                let known = message.known.or_else(|| message.request()?.known);
                let by_kind = match known {
                    Some(method) => self.known.get(method.number),
                    None if self.unknown.is_empty() => None,
                    None => {
                        let name = message.method.as_deref().or_else(|| Some(message.request()?.method()));
                        name.and_then(|name| self.unknown.get(name))
                    }
                };
                by_kind.unwrap_or(&self.other)[message.kind as usize]
            }
        };
        if at.message.is_some_and(asks_for_input) {
            families.add(self.input_requests);
        }
        if at.exchange.is_some() || ends_exchange {
            families.add(self.exchanges);
        }
        if at.entry.context.is_some() {
            families.add(self.contexts);
        }
        if at.entry.carrier == Carrier::Sse {
            families.add(self.events);
        }
        families
    }
}

/// See [`Trigger::InputRequests`].
fn asks_for_input(message: &SeenMessage<'_>) -> bool {
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
    use super::{Dispatch, FamilySet};
    use crate::engine::RecordingKind;
    use crate::engine::family::{Family, RuleVisitor, Trigger};
    use crate::engine::message::MessageKind;
    use crate::engine::methods::Method;

    struct Nothing;

    impl RuleVisitor for Nothing {}

    const fn family(triggers: &'static [Trigger]) -> Family {
        Family { name: "made-up", title: "Made up", rules: &[], triggers, visitor: || Box::new(Nothing) }
    }

    fn indices(set: FamilySet) -> Vec<usize> {
        let mut indices = Vec::new();
        set.each(|index| indices.push(index));
        indices
    }

    #[test]
    fn a_set_holds_each_family_once_and_in_order() {
        let (mut some, mut others) = (FamilySet::default(), FamilySet::default());
        [63, 0, 64].into_iter().for_each(|family| some.insert(family));
        [1, 64, FamilySet::MOST - 1].into_iter().for_each(|family| others.insert(family));
        some.add(others);
        assert_eq!(indices(some), [0, 1, 63, 64, 255]);
        assert!(indices(FamilySet::default()).is_empty());
    }

    #[test]
    fn a_call_triggers_the_families_that_name_its_method_and_no_others() {
        static FAMILIES: &[Family] = &[
            family(&[Trigger::Methods(&[MessageKind::Request], &["tools/call"])]),
            family(&[Trigger::Kinds(&[MessageKind::Request])]),
            family(&[Trigger::Methods(&[MessageKind::Request], &["ping"])]),
            family(&[Trigger::Recordings(|recording| recording.trace)]),
            family(&[Trigger::Recordings(|recording| recording.bare_lines)]),
        ];
        let kind = RecordingKind { trace: true, ..RecordingKind::default() };
        let table = Dispatch::new(FAMILIES, kind, |_| true);
        let call = Method::find("tools/call").unwrap().number;
        let [request, notification, ..] = table.known[call];
        assert_eq!((indices(request), indices(notification)), (vec![0, 1, 3], vec![3]));
        assert_eq!((indices(table.other[0]), indices(table.non_messages)), (vec![1, 3], vec![3]));
        assert_eq!(indices(Dispatch::all(FAMILIES, |_| true).other[0]), [0, 1, 2, 3, 4]);
        let table = Dispatch::new(FAMILIES, kind, |family| family % 2 == 0);
        assert_eq!((indices(table.known[call][0]), indices(table.other[0])), (vec![0], vec![]));
    }
}
