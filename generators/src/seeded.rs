//! Which session, which mutators: a variant from a seed and a number.
//!
//! How likely each thing is, and how large a variant may be. The same seed, number and version give the same bytes on
//! every machine. Sessions made here stay clear of what the contract leaves open, so that most variants have one right
//! reading; one in eight does not.

use crate::mutator::Mutator;
use crate::mutators::all;
use crate::relation::Relation;
use crate::rng::Rng;
use crate::session::{Act, KnownSession, Plan, PlanStep};
use crate::session_builder::SessionBuilder;
use crate::shrink::Recipe;
use crate::values::Value;
use crate::variant::Variant;
use crate::variant_builder::VariantBuilder;
use transcript::dialect::Dialect;

/// The most entries that a made session has.
const ENTRIES: usize = 12;

/// The most values in a tree, counting the tree itself.
const VALUES: usize = 12;

/// The most bytes that one transcript of a variant has; a larger one is made smaller by another attempt.
const LARGEST: usize = 64 * 1024;

/// How many attempts a number gets, since some make no variant.
const ATTEMPTS: usize = 64;

/// What is changed.
#[derive(Debug, Clone, Copy)]
pub enum Source<'d> {
    /// A session that the seed makes.
    Made,
    /// The same, with an id wherever this dialect asks for one: it would refuse most of them, and show little else.
    MadeFor(&'static Dialect),
    /// This one.
    Given(&'d SessionBuilder),
}

/// The variants of a seed, from the first on, with their numbers.
pub fn cases(seed: u64, count: u64) -> impl Iterator<Item = (u64, Variant)> {
    (0..count).filter_map(move |index| Some((index, variant(seed, index, Source::Made)?)))
}

/// The variant of this number. None where no attempt made one, which a given session may be too poor for.
pub fn variant(seed: u64, index: u64, source: Source<'_>) -> Option<Variant> {
    attempt(seed, index, source).map(|(_, variant)| variant)
}

/// The same variant without what makes importers reject it. None where nothing does.
pub fn valid_counterpart(seed: u64, index: u64, source: Source<'_>) -> Option<Variant> {
    let (recipe, variant) = attempt(seed, index, source)?;
    matches!(variant.relation, Relation::Rejects(_)).then(|| recipe.valid_counterpart())?
}

/// The recipe of the variant with this number, for shrinking.
pub fn recipe(seed: u64, index: u64, source: Source<'_>) -> Option<Recipe> {
    attempt(seed, index, source).map(|(recipe, _)| recipe)
}

/// An attempt that made a variant, with what it was made of.
fn attempt(seed: u64, index: u64, source: Source<'_>) -> Option<(Recipe, Variant)> {
    (0..ATTEMPTS).find_map(|attempt| {
        let rng = Rng::new(seed).fork(&format!("{index}/{attempt}"));
        let builder = match source {
            Source::Made => session(&mut rng.fork("session"))?,
            Source::MadeFor(dialect) => session(&mut rng.fork("session"))?.fit_for(dialect),
            Source::Given(builder) => builder.clone(),
        };
        let wanted = choose(all(), &mut rng.fork("mutators"));
        let variant = make(builder.clone(), &wanted, &rng, matches!(source, Source::Given(_)))?;
        Some((Recipe::new(builder, wanted, rng), variant))
    })
}

/// A variant by a single mutator, where the session has something for it to change.
pub fn single(builder: SessionBuilder, mutator: &'static Mutator, rng: &Rng) -> Option<Variant> {
    make(builder, &[mutator], rng, true)
}

fn make(builder: SessionBuilder, wanted: &[&'static Mutator], rng: &Rng, some: bool) -> Option<Variant> {
    let mut variant = VariantBuilder::new(builder);
    let added = wanted.iter().filter(|mutator| variant.add(mutator, rng)).count();
    if added < wanted.len().min(1) {
        return None;
    }
    let variant = variant.finish().ok()??;
    // A given session that nothing changed is not a variant.
    let changed = !variant.trail.is_empty() || !some;
    let small = |bytes: &Vec<u8>| some || bytes.len() <= LARGEST;
    (changed && variant.files.iter().all(|(_, file)| file.as_ref().map_or(true, small))).then_some(variant)
}

/// None to three of these mutators, in the order in which they are applied. Each draws a lot that depends on its name only,
/// and the lowest are chosen, so that a mutator that is added changes no variant but those that it is chosen for.
fn choose(mutators: impl Iterator<Item = &'static Mutator>, rng: &mut Rng) -> Vec<&'static Mutator> {
    let count = [0, 1, 1, 1, 1, 2, 2, 3][rng.below(8)];
    let lots = mutators.map(|mutator| (rng.fork(mutator.name).next_u64(), mutator));
    let mut lots: Vec<_> = lots.collect();
    lots.sort_by_key(|(lot, _)| *lot);
    let mut chosen: Vec<_> = lots.into_iter().take(count).map(|(_, mutator)| mutator).collect();
    order(&mut chosen);
    chosen
}

/// Sorts mutators by level, those with a verdict of their own last in their level.
fn order(mutators: &mut [&'static Mutator]) {
    mutators.sort_by_key(|mutator| (mutator.level(), mutator.relation.is_verdict(), mutator.name));
}

/// A session of ordinary traffic; one in eight holds what the contract leaves open.
pub fn session(rng: &mut Rng) -> Option<SessionBuilder> {
    let (hostile, mut steps) = (rng.one_in(8), Vec::new());
    for _ in 0..1 + rng.below(ENTRIES) {
        // A session of only this step shows what the step leaves open.
        let step = (0..ATTEMPTS).find_map(|_| {
            let step = step(rng);
            let plan = Plan { steps: vec![step.clone()], challenge: None };
            let mut builder = SessionBuilder::from_known(&KnownSession::new(plan)).ok()?;
            (hostile || builder.open_clauses().0 == Relation::Same).then_some(step)
        })?;
        steps.push(step);
    }
    SessionBuilder::from_known(&KnownSession::new(Plan { steps, challenge: None })).ok()
}

/// A step with few ids, so that they meet.
fn step(rng: &mut Rng) -> PlanStep {
    const ACTS: &[Act] = &[
        Act::Ask,
        Act::Ask,
        Act::Call,
        Act::Call,
        Act::Call,
        Act::Answer,
        Act::Answer,
        Act::Answer,
        Act::Answer,
        Act::Fail,
        Act::Notify,
        Act::Stray,
        Act::Aside,
    ];
    let act = rng.pick(ACTS).copied().unwrap_or(Act::Ask);
    // A tool call that a server makes is rare, and legal.
    let client = if act == Act::Call { !rng.one_in(8) } else { rng.one_in(2) };
    let id = if rng.one_in(4) { rng.byte() } else { rng.byte() % 3 };
    let value = (!rng.one_in(5)).then(|| value(rng, &mut { VALUES }));
    let (method, layout, slot) = (rng.byte(), rng.byte(), rng.byte());
    let time = (!rng.one_in(5)).then(|| rng.byte());
    PlanStep { act, client, id, method, value, layout, time, slot }
}

fn value(rng: &mut Rng, budget: &mut usize) -> Value {
    *budget = budget.saturating_sub(1);
    let inner = |rng: &mut Rng, budget: &mut usize| -> usize { if *budget == 0 { 0 } else { rng.below(4) } };
    match rng.below(16) {
        0..2 => Value::Word(rng.byte()),
        2..5 => Value::Number(rng.byte()),
        5..10 => Value::Text(rng.byte()),
        10 => Value::Deep(rng.byte() % 24),
        11..13 => {
            let count = inner(rng, budget);
            Value::Array((0..count).map(|_| value(rng, budget)).collect())
        }
        _ => {
            let count = inner(rng, budget);
            Value::Object((0..count).map(|_| (rng.byte(), value(rng, budget))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Source, cases, choose, variant};
    use crate::mutator::{Apply, Level, Mutator};
    use crate::mutators::{all, find};
    use crate::relation::Relation;
    use crate::rng::Rng;
    use std::collections::BTreeSet;

    #[test]
    fn the_registry_keeps_its_own_rules() {
        let clauses: BTreeSet<&str> = transcript::clauses::all().map(|clause| clause.id).collect();
        let mut names = BTreeSet::new();
        for mutator in all() {
            let name = mutator.name;
            assert!(names.insert(name), "{name} stands twice");
            assert!(
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
                "{name}"
            );
            assert!(
                mutator.sentence.ends_with('.') && !mutator.sentence.contains(". "),
                "{name}: one sentence"
            );
            assert!(!mutator.clauses.is_empty(), "{name} leans on no clause");
            for clause in mutator.clauses {
                assert!(clauses.contains(clause), "{name} names {clause}");
            }
            // All formats share one meaning; a change to only some of them cannot change it.
            let changes = mutator.relation == Relation::Changes;
            assert!(
                !changes || mutator.level() == Level::Session,
                "{name} changes a meaning that it does not know"
            );
            assert_eq!(find(name).map(|found| found.name), Some(name));
            assert!(matches!(mutator.apply, Apply::Session(_)) == (mutator.level() == Level::Session));
        }
    }

    #[test]
    fn a_seed_and_a_number_are_all_it_takes() {
        let made =
            |seed| cases(seed, 40).map(|(index, variant)| format!("{index} {variant:?}")).collect::<Vec<_>>();
        assert_eq!(made(7), made(7));
        assert_ne!(made(7), made(8));
        let third = variant(7, 3, Source::Made);
        assert_eq!(
            Some(format!("3 {:?}", third.unwrap())),
            made(7).into_iter().find(|text| text.starts_with("3 "))
        );
        // Only the number decides, not how many were made before it.
        assert_eq!(cases(7, 40).count(), 40);
    }

    #[test]
    fn a_new_mutator_changes_only_the_variants_that_it_is_chosen_for() {
        static NEW: Mutator = Mutator {
            name: "made-up",
            sentence: "Nothing changes.",
            clauses: &["EQ-PAIR"],
            relation: Relation::Same,
            apply: Apply::Session(|_, _| true),
        };
        let names = |chosen: Vec<&'static Mutator>| chosen.iter().map(|it| it.name).collect::<Vec<_>>();
        let (mut taken, mut kept) = (0, 0);
        for seed in 0..2000 {
            let before = names(choose(all(), &mut Rng::new(seed)));
            let after = names(choose(std::iter::once(&NEW).chain(all()), &mut Rng::new(seed)));
            match after.contains(&NEW.name) {
                true => taken += 1,
                false => assert_eq!(before, after),
            }
            kept += usize::from(before == after);
        }
        assert!(taken > 5 && kept + taken == 2000, "{taken} of 2000");
    }

    #[test]
    fn mutators_come_by_level_and_verdicts_last() {
        for seed in 0..500 {
            let chosen = choose(all(), &mut Rng::new(seed));
            let levels: Vec<_> =
                chosen.iter().map(|mutator| (mutator.level(), mutator.relation.is_verdict())).collect();
            assert!(levels.is_sorted(), "{levels:?}");
        }
    }
}
