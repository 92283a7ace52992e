//! What a variant is made of, and how less is made of it.
//!
//! How to drop messages, mutators, members, items, digits and letters, and what each of that leaves of the meaning:
//! every smaller variant is built anew from a smaller session, so that its expectation comes from construction as
//! before.
//!
//! The order: messages, then mutators, then messages again with the changes of the session level kept as they came out,
//! then transport context and values. [`shrink_text`] makes a file smaller of which nobody needs to know
//! the meaning any more.

mod text;
mod values;

pub use text::shrink_text;

use crate::mutator::{Apply, Level, Mutator};
use crate::rng::Rng;
use crate::session_builder::{Entry, SessionBuilder};
use crate::variant::Variant;
use crate::variant_builder::VariantBuilder;
use formats::OwnedContent;
use std::ops::Range;
use transcript::session::header;

/// What a candidate showed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// What is looked for.
    Same,
    /// Something else, or nothing.
    Other,
    /// Nobody wants to be asked again.
    Enough,
}

/// How often a candidate is tried with other choices of its mutators: which message they change depends on how many there
/// are.
const ATTEMPTS: usize = 2;

/// The session, the mutators and the choices that a variant is made of.
#[derive(Debug, Clone)]
pub struct Recipe {
    builder: SessionBuilder,
    /// Mutators whose effect is in the session already.
    settled: Vec<&'static Mutator>,
    wanted: Vec<&'static Mutator>,
    rng: Rng,
}

impl Recipe {
    /// A session and the mutators that are to change it, by level.
    pub fn new(builder: SessionBuilder, wanted: Vec<&'static Mutator>, rng: Rng) -> Self {
        Self { builder, settled: Vec::new(), wanted, rng }
    }

    /// The variant. None where a mutator with a verdict took hold in no format.
    pub fn make(&self) -> Option<Variant> {
        let mut variant = VariantBuilder::new(self.builder.clone());
        for mutator in &self.wanted {
            variant.add(mutator, &self.rng);
        }
        let mut variant = variant.finish().ok()??;
        let settled = self.settled.iter();
        variant.trail.splice(0..0, settled.clone().map(|mutator| mutator.name.to_owned()));
        for &clause in settled.flat_map(|mutator| mutator.clauses) {
            if !variant.clauses.contains(&clause) {
                variant.clauses.push(clause);
            }
        }
        Some(variant)
    }

    /// The same without what has importers reject it or choose.
    pub fn valid_counterpart(&self) -> Option<Variant> {
        let mut valid = self.clone();
        valid.wanted.retain(|mutator| !mutator.relation.is_verdict());
        valid.make()
    }

    /// How many messages the session has, before its mutators.
    pub fn messages(&self) -> usize {
        self.builder.entries.iter().filter(|entry| entry.message.is_some()).count()
    }

    /// The same without some entries. None where a challenge's summary would not be known any more.
    fn without(&self, entries: Range<usize>) -> Option<Self> {
        let mut less = self.clone();
        let gone: Vec<Entry> = less.builder.entries.drain(entries).collect();
        if less.builder.discovery.is_some() && gone.iter().any(challenges) {
            if less.builder.entries.iter().any(challenges) {
                return None;
            }
            less.builder.discovery = None;
        }
        Some(less)
    }

    /// The same with the changes of the session level in the session, where they change no verdict.
    fn apply_session_mutators(&self) -> Option<Self> {
        let plain = |mutator: &&Mutator| mutator.level() == Level::Session && !mutator.relation.is_verdict();
        let mut less = self.clone();
        less.builder.bind_answers();
        let (now, later) = self.wanted.iter().copied().partition::<Vec<_>, _>(plain);
        for mutator in now {
            let Apply::Session(apply) = mutator.apply else { continue };
            let mut builder = less.builder.clone();
            if apply(&mut builder, &mut self.rng.fork(mutator.name)) {
                builder.bind_answers();
                less.builder = builder;
                less.settled.push(mutator);
            }
        }
        less.wanted = later;
        (less.wanted.len() < self.wanted.len()).then_some(less)
    }
}

/// Whether an entry may hold the challenge of a 401.
fn challenges(entry: &Entry) -> bool {
    let context = entry.owned.context.as_ref();
    context.is_some_and(|context| header(&context.headers, "www-authenticate").is_some())
        || matches!(entry.owned.what, OwnedContent::Exchange(_))
}

/// The smallest variant on the way down that `ask` says still shows what it is about. `ask` has seen what it begins with.
pub fn shrink(recipe: Recipe, ask: &mut dyn FnMut(&Recipe) -> Outcome) -> Recipe {
    let mut work = Shrinker { recipe, ask, taken: 0, over: false };
    work.entries();
    work.mutators();
    if let Some(settled) = work.recipe.apply_session_mutators() {
        work.take(settled);
    }
    loop {
        let before = work.taken;
        work.entries();
        work.contexts();
        work.values();
        if work.taken == before || work.over {
            return work.recipe;
        }
    }
}

struct Shrinker<'a> {
    recipe: Recipe,
    ask: &'a mut dyn FnMut(&Recipe) -> Outcome,
    /// How many candidates were taken.
    taken: usize,
    over: bool,
}

impl Shrinker<'_> {
    /// Goes on with a candidate where it still shows.
    fn take(&mut self, candidate: Recipe) -> bool {
        let outcome = if self.over { Outcome::Enough } else { (self.ask)(&candidate) };
        self.over |= outcome == Outcome::Enough;
        if outcome == Outcome::Same {
            self.recipe = candidate;
            self.taken += 1;
        }
        outcome == Outcome::Same
    }

    /// The same, where the mutators that are left may have to choose anew.
    fn take_somehow(&mut self, candidate: Recipe) -> bool {
        let again = if candidate.wanted.is_empty() { 0 } else { ATTEMPTS };
        let rng = candidate.rng.clone();
        self.take(candidate.clone())
            || (0..again).any(|attempt| {
                let rng = rng.fork(&format!("again/{attempt}"));
                self.take(Recipe { rng, ..candidate.clone() })
            })
    }

    fn entries(&mut self) {
        let mut size = self.recipe.builder.entries.len();
        while size > 0 && !self.over {
            let mut end = self.recipe.builder.entries.len();
            // From the end on, so that what answers goes before what asked.
            while end > 0 && !self.over {
                let start = end.saturating_sub(size);
                if let Some(less) = self.recipe.without(start..end) {
                    self.take_somehow(less);
                }
                end = start;
            }
            size /= 2;
        }
    }

    fn mutators(&mut self) {
        let mut at = 0;
        while at < self.recipe.wanted.len() {
            let mut less = self.recipe.clone();
            less.wanted.remove(at);
            if !self.take(less) {
                at += 1;
            }
        }
    }

    /// Times, SSE fields and transport contexts, all at once and then one by one.
    fn contexts(&mut self) {
        let has = |entry: &Entry| {
            let owned = &entry.owned;
            let named = owned.sse.as_ref().is_some_and(|sse| sse.id.is_some());
            owned.time.is_some() || named || owned.context.is_some() && !challenges(entry)
        };
        let bare = |entry: &mut Entry| {
            entry.owned.time = None;
            if let Some(sse) = &mut entry.owned.sse {
                sse.id = None;
            }
            if !challenges(entry) {
                entry.owned.context = None;
            }
        };
        if self.recipe.builder.entries.iter().any(has) {
            let mut less = self.recipe.clone();
            less.builder.entries.iter_mut().for_each(bare);
            if self.take(less) {
                return;
            }
        }
        for at in 0..self.recipe.builder.entries.len() {
            if has(&self.recipe.builder.entries[at]) {
                let mut less = self.recipe.clone();
                bare(&mut less.builder.entries[at]);
                self.take(less);
            }
        }
    }

    fn values(&mut self) {
        for at in 0..self.recipe.builder.entries.len() {
            let mut nth = 0;
            while let Some(smaller) = values::candidate(&self.recipe.builder.entries[at], nth) {
                if self.over {
                    return;
                }
                let mut less = self.recipe.clone();
                less.builder.entries[at].message = Some(smaller);
                // What was taken is smaller by something, and the next candidate stands where it stood.
                if !self.take(less) {
                    nth += 1;
                }
            }
        }
    }
}
