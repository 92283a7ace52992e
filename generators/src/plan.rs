//! Which session, which mutators: a variant from a seed and a number.
//!
//! Knows: how likely each thing is, and how large a variant may be. The same seed, number and version give the same bytes
//! on every machine. Sessions made here stay clear of what the contract leaves open, so that most variants have one right
//! reading; one in eight does not.

use crate::making::Making;
use crate::mutators::dice::Dice;
use crate::mutators::{Level, Mutator, all};
use crate::relation::Relation;
use crate::session::{Act, Known, Plan, Step};
use crate::shrink::Recipe;
use crate::values::Value;
use crate::variant::{Draft, Variant};

/// The most turns that a made session has.
const TURNS: usize = 12;

/// The most values in a tree, counting the tree itself.
const VALUES: usize = 12;

/// The most bytes that one transcript of a variant has; a larger one is made smaller by another throw.
const LARGEST: usize = 64 * 1024;

/// How often a throw that made no variant is thrown again.
const THROWS: usize = 64;

/// What is changed.
#[derive(Debug, Clone, Copy)]
pub enum Source<'d> {
    /// A session that the seed makes.
    Made,
    /// This one.
    Given(&'d Draft),
}

/// The variants of a seed, from the first on, with their numbers.
pub fn cases(seed: u64, count: u64) -> impl Iterator<Item = (u64, Variant)> {
    (0..count).filter_map(move |index| Some((index, variant(seed, index, Source::Made)?)))
}

/// The variant of this number. None where no throw made one, which a given session may be too poor for.
#[must_use]
pub fn variant(seed: u64, index: u64, source: Source<'_>) -> Option<Variant> {
    thrown(seed, index, source).map(|thrown| thrown.variant)
}

/// The same variant without what makes importers reject it. None where nothing does.
#[must_use]
pub fn twin(seed: u64, index: u64, source: Source<'_>) -> Option<Variant> {
    let Thrown { draft, mut wanted, dice, variant } = thrown(seed, index, source)?;
    if !matches!(variant.relation, Relation::Rejects(_)) {
        return None;
    }
    wanted.retain(|mutator| !mutator.relation.is_verdict());
    let mut making = Making::new(draft);
    for mutator in wanted {
        making.add(mutator, &dice);
    }
    making.finish().ok()?
}

/// What the variant of this number is made of, for whoever wants to make less of it.
#[must_use]
pub fn recipe(seed: u64, index: u64, source: Source<'_>) -> Option<Recipe> {
    thrown(seed, index, source).map(|Thrown { draft, wanted, dice, .. }| Recipe::new(draft, wanted, dice))
}

/// A throw that made a variant, with what it was made of.
struct Thrown {
    draft: Draft,
    wanted: Vec<&'static Mutator>,
    dice: Dice,
    variant: Variant,
}

fn thrown(seed: u64, index: u64, source: Source<'_>) -> Option<Thrown> {
    (0..THROWS).find_map(|throw| {
        let dice = Dice::new(seed).fork(&format!("{index}/{throw}"));
        let draft = match source {
            Source::Made => session(&mut dice.fork("session"))?,
            Source::Given(draft) => draft.clone(),
        };
        let wanted = choose(&mut dice.fork("mutators"));
        let variant = make(draft.clone(), &wanted, &dice, matches!(source, Source::Given(_)))?;
        Some(Thrown { draft, wanted, dice, variant })
    })
}

/// A variant of one mutator alone, where the session has something for it to change.
#[must_use]
pub fn alone(draft: Draft, mutator: &'static Mutator, dice: &Dice) -> Option<Variant> {
    make(draft, &[mutator], dice, true)
}

fn make(draft: Draft, wanted: &[&'static Mutator], dice: &Dice, some: bool) -> Option<Variant> {
    let mut making = Making::new(draft);
    let added = wanted.iter().filter(|mutator| making.add(mutator, dice)).count();
    if added < wanted.len().min(1) {
        return None;
    }
    let variant = making.finish().ok()??;
    // A given session that nothing changed is no variant of it.
    let changed = !variant.trail.is_empty() || !some;
    let small = |bytes: &Vec<u8>| some || bytes.len() <= LARGEST;
    (changed && variant.files.iter().all(|(_, file)| file.as_ref().map_or(true, small))).then_some(variant)
}

/// None to three mutators, by level, those with a verdict of their own last in their level.
fn choose(dice: &mut Dice) -> Vec<&'static Mutator> {
    let every: Vec<_> = all().collect();
    let count = [0, 1, 1, 1, 1, 2, 2, 3][dice.below(8)];
    let mut chosen: Vec<&'static Mutator> = (0..count).filter_map(|_| dice.pick(&every).copied()).collect();
    order(&mut chosen);
    chosen
}

/// Puts mutators into the order in which they are applied, each once.
fn order(mutators: &mut Vec<&'static Mutator>) {
    let rank = |mutator: &Mutator| (mutator.level(), mutator.relation.is_verdict(), mutator.name);
    mutators.sort_by_key(|mutator| rank(mutator));
    mutators.dedup_by_key(|mutator| mutator.name);
    debug_assert!(mutators.iter().all(|mutator| mutator.level() >= Level::Session));
}

/// A session of the dice.
#[must_use]
pub fn session(dice: &mut Dice) -> Option<Draft> {
    let (hostile, mut steps) = (dice.one_in(8), Vec::new());
    for _ in 0..1 + dice.below(TURNS) {
        // What a step leaves open shows in a session of that step alone.
        let step = (0..THROWS).find_map(|_| {
            let step = step(dice);
            let plan = Plan { steps: vec![step.clone()], challenge: None };
            let mut draft = Draft::known(&Known::of(plan)).ok()?;
            (hostile || draft.ground().0 == Relation::Same).then_some(step)
        })?;
        steps.push(step);
    }
    Draft::known(&Known::of(Plan { steps, challenge: None })).ok()
}

/// A step with few ids, so that they meet.
fn step(dice: &mut Dice) -> Step {
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
    let act = dice.pick(ACTS).copied().unwrap_or(Act::Ask);
    // A tool call that a server makes is rare, and legal.
    let client = if act == Act::Call { !dice.one_in(8) } else { dice.one_in(2) };
    let id = if dice.one_in(4) { dice.byte() } else { dice.byte() % 3 };
    let value = (!dice.one_in(5)).then(|| value(dice, &mut { VALUES }));
    let (method, layout, slot) = (dice.byte(), dice.byte(), dice.byte());
    let time = (!dice.one_in(5)).then(|| dice.byte());
    Step { act, client, id, method, value, layout, time, slot }
}

fn value(dice: &mut Dice, budget: &mut usize) -> Value {
    *budget = budget.saturating_sub(1);
    let inner =
        |dice: &mut Dice, budget: &mut usize| -> usize { if *budget == 0 { 0 } else { dice.below(4) } };
    match dice.below(16) {
        0..2 => Value::Word(dice.byte()),
        2..5 => Value::Number(dice.byte()),
        5..10 => Value::Text(dice.byte()),
        10 => Value::Deep(dice.byte() % 24),
        11..13 => {
            let count = inner(dice, budget);
            Value::Array((0..count).map(|_| value(dice, budget)).collect())
        }
        _ => {
            let count = inner(dice, budget);
            Value::Object((0..count).map(|_| (dice.byte(), value(dice, budget))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Source, cases, choose, variant};
    use crate::mutators::dice::Dice;
    use crate::mutators::{Apply, Level, all, find};
    use crate::relation::Relation;
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
            // A meaning is one for all formats; what changes some of them alone cannot change it.
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
        // The number alone decides, not how many were made before it.
        assert_eq!(cases(7, 40).count(), 40);
    }

    #[test]
    fn mutators_come_by_level_and_verdicts_last() {
        for seed in 0..500 {
            let chosen = choose(&mut Dice::new(seed));
            let levels: Vec<_> =
                chosen.iter().map(|mutator| (mutator.level(), mutator.relation.is_verdict())).collect();
            assert!(levels.is_sorted(), "{levels:?}");
        }
    }
}
