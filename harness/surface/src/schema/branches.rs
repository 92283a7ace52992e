//! `allOf`, `anyOf` and `oneOf`: schemas that are compared as lists.

use super::effect::{Departure, Effect, strings};
use super::keywords::{listed, types};
use super::resolve::{Resolved, lone, resolve};
use std::collections::BTreeSet;
use transcript::json::Json;

/// Compares two schemas at a place, for what it finds.
pub(super) type Compare<'c, 'a> = &'c mut dyn FnMut(Json<'a>, Json<'a>, &str) -> Vec<Departure>;

/// How the lists of two schemas at one place depart, and whether nothing else of them is left to compare.
pub(super) struct Branches {
    pub departures: Vec<Departure>,
    pub all: bool,
}

/// Compares the lists of two schemas. The roots are those against which their references are resolved.
pub(super) fn branches<'a>(
    [old, new]: [Json<'a>; 2],
    roots: [Json<'a>; 2],
    at: &str,
    compare: Compare<'_, 'a>,
) -> Branches {
    let mut departures = all_of([old, new], at, compare);
    for name in ["anyOf", "oneOf"] {
        let place = format!("{at}/{name}");
        let lists = match (old.member(name), new.member(name)) {
            (None, None) => continue,
            (Some(before), Some(after)) => [before.items().collect(), after.items().collect()],
            // A schema is a list of one. So `string` and `string or null` compare as a person would.
            (Some(before), None) if lone(old, name) => [before.items().collect(), vec![new]],
            (None, Some(after)) if lone(new, name) => [vec![old], after.items().collect()],
            (Some(_), None) => {
                departures.push(Departure::new(Effect::Wider, place, format!("`{name}` is gone")));
                continue;
            }
            (None, Some(_)) => {
                departures.push(Departure::new(Effect::Narrower, place, format!("`{name}` was added")));
                continue;
            }
        };
        let one_sided = old.member(name).is_none() || new.member(name).is_none();
        let mut found = any_of(&lists, &place, compare);
        let reported = |departure: &Departure| departure.effect != Effect::Annotation;
        // A schema more or less may have a value fit two where it fitted one, also where they accept together what they did.
        let regrouped = lists[0].len() != lists[1].len();
        if name == "oneOf"
            && (regrouped || found.iter().any(reported))
            && !(0..2).all(|side| disjoint(&lists[side], roots[side]))
        {
            found.push(Departure::new(
                Effect::Unknown,
                &place,
                "`oneOf` changed, and its schemas may overlap",
            ));
        }
        departures.append(&mut found);
        if one_sided {
            return Branches { departures, all: true };
        }
    }
    Branches { departures, all: false }
}

/// Each schema of an `allOf` must hold, and so they are compared one by one.
fn all_of<'a>([old, new]: [Json<'a>; 2], at: &str, compare: Compare<'_, 'a>) -> Vec<Departure> {
    let items =
        |schema: Json<'a>| schema.member("allOf").into_iter().flat_map(Json::items).collect::<Vec<_>>();
    let (before, after) = (items(old), items(new));
    let mut departures = Vec::new();
    for (number, (before, after)) in before.iter().zip(&after).enumerate() {
        departures.append(&mut compare(*before, *after, &format!("{at}/allOf/{number}")));
    }
    let place = format!("{at}/allOf");
    if before.len() < after.len() {
        departures.push(Departure::new(Effect::Narrower, &place, "another schema of `allOf` must hold"));
    }
    if before.len() > after.len() {
        departures.push(Departure::new(Effect::Wider, &place, "a schema of `allOf` need not hold any more"));
    }
    departures
}

/// One of the schemas must hold.
fn any_of<'a>([old, new]: &[Vec<Json<'a>>; 2], at: &str, compare: Compare<'_, 'a>) -> Vec<Departure> {
    let mut after: Vec<(usize, Json<'a>)> = new.iter().copied().enumerate().collect();
    let mut before = Vec::new();
    for (number, schema) in old.iter().copied().enumerate() {
        match after.iter().position(|(_, other)| compare(schema, *other, "").is_empty()) {
            Some(same) => {
                after.remove(same);
            }
            None => before.push((number, schema)),
        }
    }
    let mut departures = Vec::new();
    if before.len() == after.len() {
        for ((_, before), (number, after)) in before.iter().zip(&after) {
            departures.append(&mut compare(*before, *after, &format!("{at}/{number}")));
        }
        return departures;
    }
    let mut free_of = |old: Json<'a>, new: Json<'a>, effect: Effect| {
        let others = compare(old, new, "");
        others.iter().all(|departure| {
            matches!(departure.effect, Effect::Annotation)
                || matches!(
                    (departure.effect, effect),
                    (Effect::Wider, Effect::Narrower) | (Effect::Narrower, Effect::Wider)
                )
        })
    };
    for (number, schema) in &before {
        if !new.iter().any(|other| free_of(*schema, *other, Effect::Narrower)) {
            // The pieces of it that other branches accept still are.
            let what =
                format!("not all that branch {number} accepted is accepted any more: {}", brief(*schema));
            departures.push(Departure::new(Effect::Narrower, at, what));
        }
    }
    for (number, schema) in &after {
        if !old.iter().any(|other| free_of(*other, *schema, Effect::Wider)) {
            let what = format!("{} is accepted now", brief(*schema));
            departures.push(Departure::new(Effect::Wider, format!("{at}/{number}"), what));
        }
    }
    if departures.is_empty() {
        departures.push(Departure::new(Effect::Annotation, at, "the schemas are put in another way"));
    }
    departures
}

/// Whether no value can fit two of the schemas, as far as their types, or the values of a member that each requires, show.
fn disjoint<'a>(schemas: &[Json<'a>], root: Json<'a>) -> bool {
    let resolved = |schema: &Json<'a>| match resolve(*schema, root) {
        Resolved::Schema(schema) => Some(schema),
        Resolved::Elsewhere => None,
    };
    let Some(schemas) = schemas.iter().map(resolved).collect::<Option<Vec<_>>>() else { return false };
    schemas.iter().enumerate().all(|(at, one)| schemas[at + 1..].iter().all(|other| apart(*one, *other)))
}

fn apart(one: Json<'_>, other: Json<'_>) -> bool {
    let (a, b) = (types(one), types(other));
    if a.is_disjoint(&b) {
        return true;
    }
    let objects = BTreeSet::from(["object"]);
    let (required, also) = (strings(one.member("required")), strings(other.member("required")));
    a == objects
        && b == objects
        && required.intersection(&also).any(|name| {
            let value = |schema: Json<'_>| {
                schema.member("properties").and_then(|all| all.member(name)).and_then(listed_texts)
            };
            match (value(one), value(other)) {
                (Some(a), Some(b)) => a.is_disjoint(&b),
                _ => false,
            }
        })
}

/// The strings that a schema lists, where it lists nothing else.
fn listed_texts(schema: Json<'_>) -> Option<BTreeSet<String>> {
    listed(schema)?.into_iter().map(|value| Some(value.as_text()?.to_str()?.into_owned())).collect()
}

/// A schema in a few words.
fn brief(schema: Json<'_>) -> String {
    let text: String = schema.text().chars().take(60).collect();
    if text.len() < schema.text().len() { format!("{text}…") } else { text }
}
