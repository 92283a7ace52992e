//! `allOf`, `anyOf` and `oneOf`: schemas that are compared as lists.

use super::effect::{Departure, Effect, strings};
use super::keywords::{brief, by_form, listed, possible};
use super::resolve::lone;
use super::{Comparison, Resolved, SPENT};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::mem::{replace, take};
use transcript::json::{Json, Tree};

/// Lists of schemas without an equal in the other list are compared each with each up to this length.
const EACH: usize = 40;

impl<'a> Comparison<'a, '_> {
    /// Compares the lists of two schemas; whether nothing else of them is left to compare.
    pub(super) fn branches(&mut self, [old, new]: [Json<'a>; 2], at: &str, depth: usize) -> bool {
        self.all_of([old, new], at, depth);
        for name in ["anyOf", "oneOf"] {
            let place = format!("{at}/{name}");
            let lists: [Vec<Json<'a>>; 2] = match (old.member(name), new.member(name)) {
                (None, None) => continue,
                (Some(before), Some(after)) => [before.items().collect(), after.items().collect()],
                // A schema is a list of one. So `string` and `string or null` compare as a person would.
                (Some(before), None) if lone(old, name) => [before.items().collect(), vec![new]],
                (None, Some(after)) if lone(new, name) => [vec![old], after.items().collect()],
                (Some(_), None) => {
                    self.report(Effect::Wider, &place, format!("`{name}` is gone"));
                    continue;
                }
                (None, Some(_)) => {
                    self.report(Effect::Narrower, &place, format!("`{name}` was added"));
                    continue;
                }
            };
            let one_sided = old.member(name).is_none() || new.member(name).is_none();
            let mut found = self.any_of(&lists, &place, depth);
            let reported = |departure: &Departure| departure.effect != Effect::Annotation;
            // A schema more or less may have a value fit two where it fitted one, also where they accept together what they did.
            let regrouped = lists[0].len() != lists[1].len();
            let roots = [self.old, self.new];
            if name == "oneOf"
                && (regrouped || found.iter().any(reported))
                && !(0..2).all(|side| self.disjoint(&lists[side], roots[side]))
            {
                let what = "`oneOf` changed, and its schemas may overlap";
                found.push(Departure::new(Effect::Unknown, &place, what));
            }
            found
                .into_iter()
                .for_each(|Departure { effect, pointer, what }| self.report(effect, &pointer, what));
            if one_sided {
                return true;
            }
        }
        false
    }

    /// Each schema of an `allOf` must hold, and so they are compared one by one.
    fn all_of(&mut self, sides: [Json<'a>; 2], at: &str, depth: usize) {
        let [before, after] =
            sides.map(|schema| schema.member("allOf").into_iter().flat_map(Json::items).collect::<Vec<_>>());
        for (number, (before, after)) in before.iter().zip(&after).enumerate() {
            self.pair(*before, *after, &format!("{at}/allOf/{number}"), depth);
        }
        let place = format!("{at}/allOf");
        if before.len() < after.len() {
            self.report(Effect::Narrower, &place, "another schema of `allOf` has to hold");
        }
        if before.len() > after.len() {
            self.report(Effect::Wider, &place, "a schema of `allOf` no longer has to hold");
        }
    }

    /// What comparing two schemas finds, without reporting it.
    fn tried(&mut self, old: Json<'a>, new: Json<'a>, at: &str, depth: usize) -> Vec<Departure> {
        let kept = take(&mut self.found);
        self.pair(old, new, at, depth);
        replace(&mut self.found, kept)
    }

    /// One of the schemas must hold.
    fn any_of(&mut self, [old, new]: &[Vec<Json<'a>>; 2], at: &str, depth: usize) -> Vec<Departure> {
        let spent = || vec![Departure::new(Effect::Unknown, at, SPENT)];
        let (mut before, mut after) = self.unequal(old, new);
        let long = before.len().max(after.len()) > EACH;
        if long && before.len() != after.len() {
            let what = format!("more than {EACH} schemas of a list changed, and cannot be distinguished");
            return vec![Departure::new(Effect::Unknown, at, what)];
        }
        let mut rest = Vec::new();
        for (number, schema) in before {
            let same = after.iter().position(|(_, other)| {
                !long && !self.budget.is_spent() && self.tried(schema, *other, "", depth).is_empty()
            });
            match same {
                _ if self.budget.is_spent() => return spent(),
                Some(same) => drop(after.remove(same)),
                None => rest.push((number, schema)),
            }
        }
        before = rest;
        let mut departures = Vec::new();
        if before.len() == after.len() {
            for ((_, before), (number, after)) in before.iter().zip(&after) {
                departures.append(&mut self.tried(*before, *after, &format!("{at}/{number}"), depth));
            }
            return departures;
        }
        let mut free_of = |old: Json<'a>, new: Json<'a>, effect: Effect| {
            self.budget.is_spent()
                || self.tried(old, new, "", depth).iter().all(|departure| {
                    matches!(
                        (departure.effect, effect),
                        (Effect::Annotation, _)
                            | (Effect::Wider, Effect::Narrower)
                            | (Effect::Narrower, Effect::Wider)
                    )
                })
        };
        for (number, schema) in &before {
            if !new.iter().any(|other| free_of(*schema, *other, Effect::Narrower)) {
                // The pieces of it that other branches accept still are.
                let what = format!("branch {number} no longer accepts all that it did: {}", brief(*schema));
                departures.push(Departure::new(Effect::Narrower, at, what));
            }
        }
        for (number, schema) in &after {
            if !old.iter().any(|other| free_of(*other, *schema, Effect::Wider)) {
                let what = format!("{} is accepted now", brief(*schema));
                departures.push(Departure::new(Effect::Wider, format!("{at}/{number}"), what));
            }
        }
        if self.budget.is_spent() {
            return spent();
        }
        if departures.is_empty() {
            departures.push(Departure::new(Effect::Annotation, at, "the schemas are written differently"));
        }
        departures
    }

    /// The schemas of either list, with their numbers, that have no equal in the other one.
    fn unequal(&mut self, old: &[Json<'a>], new: &[Json<'a>]) -> (Branches<'a>, Branches<'a>) {
        let mut equals: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        for (number, schema) in new.iter().enumerate().rev() {
            if self.is_whole(*schema) {
                equals.entry(Tree::new(*schema).normal_form()).or_default().push(number);
            }
        }
        let mut gone = BTreeSet::new();
        let mut before = Vec::new();
        for (number, schema) in old.iter().copied().enumerate() {
            let equal =
                self.is_whole(schema).then(|| equals.get_mut(&Tree::new(schema).normal_form())?.pop());
            match equal.flatten() {
                Some(equal) => drop(gone.insert(equal)),
                None => before.push((number, schema)),
            }
        }
        let after = new.iter().copied().enumerate().filter(|(number, _)| !gone.contains(number));
        (before, after.collect())
    }

    /// Whether no value can fit two of the schemas, as far as their types, or the values of a member that each requires, show.
    pub(super) fn disjoint(&mut self, schemas: &[Json<'a>], root: Json<'a>) -> bool {
        let mut known = Vec::new();
        for schema in schemas {
            match self.resolve(*schema, root) {
                Resolved::Schema(schema) => known.push(Marks::new(schema)),
                Resolved::Elsewhere => return false,
            }
        }
        known.iter().enumerate().all(|(at, one)| {
            known[at + 1..].iter().all(|other| {
                let listed = |it: &Marks| it.listed.as_ref().map_or(0, BTreeSet::len);
                let work = 64 * (1 + one.values.len() + other.values.len() + listed(one).min(listed(other)));
                self.budget.take(work) && one.excludes(other)
            })
        })
    }
}

type Branches<'a> = Vec<(usize, Json<'a>)>;

/// What tells the values of a schema from those of another one.
struct Marks {
    types: BTreeSet<&'static str>,
    /// The values, where they are listed, by their normal forms.
    listed: Option<BTreeSet<Vec<u8>>>,
    /// The strings that each required property may be, where only such are listed.
    values: BTreeMap<String, BTreeSet<String>>,
}

impl Marks {
    fn new(schema: Json<'_>) -> Self {
        let required = strings(schema.member("required"));
        let properties = schema.member("properties").into_iter().flat_map(Json::members);
        let values = properties.filter_map(|(name, value)| {
            let name = name.to_str().filter(|name| required.contains(&**name))?;
            Some((name.into_owned(), listed_texts(value)?))
        });
        let listed = listed(schema).map(|values| by_form(values).into_keys().collect());
        Self { types: possible(schema), listed, values: values.collect() }
    }

    fn excludes(&self, other: &Self) -> bool {
        let objects = |types: &BTreeSet<&str>| types.len() == 1 && types.contains("object");
        let apart = |(name, values): (&String, &BTreeSet<String>)| {
            other.values.get(name).is_some_and(|others| others.is_disjoint(values))
        };
        let lists = self.listed.as_ref().zip(other.listed.as_ref());
        self.types.is_disjoint(&other.types)
            || lists.is_some_and(|(one, other)| one.is_disjoint(other))
            || objects(&self.types) && objects(&other.types) && self.values.iter().any(apart)
    }
}

/// The strings that a schema lists, where it lists nothing else.
fn listed_texts(schema: Json<'_>) -> Option<BTreeSet<String>> {
    listed(schema)?.into_iter().map(|value| Some(value.as_text()?.to_str()?.into_owned())).collect()
}
