//! What a schema accepts as a set of alternatives, which is the same however it is spelled: by a list of types, `enum` or
//! `const`, `allOf`, `anyOf`, or `oneOf` whose schemas exclude each other.

use super::bounds::is_idle;
use super::effect::truth;
use super::keywords::{by_form, is_annotation, is_compared, is_digits, kind, listed, types};
use super::{Comparison, DEPTH, Departure, Effect, LEAST_WORK, Resolved};
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind, Tree};

/// A schema of more alternatives is not taken apart.
const MOST: usize = 64;

/// Keywords by which one schema is spelled in several ways.
const SPELLINGS: [&str; 5] = ["allOf", "anyOf", "const", "enum", "oneOf"];

/// Values of these types, or those that are listed, of which all the rest holds.
#[derive(Clone)]
struct Terms<'a> {
    types: BTreeSet<&'static str>,
    listed: Option<Vec<Json<'a>>>,
    /// Each behind the type that it speaks of.
    rest: BTreeSet<(&'static str, Vec<u8>)>,
}

impl<'a> Comparison<'a, '_> {
    /// Takes back what was found `behind` that number of departures and the alternatives of both schemas refute.
    pub(super) fn refute(&mut self, [old, new]: [Json<'a>; 2], behind: usize, depth: usize) {
        let of_values = |it: &Departure| it.effect != Effect::Annotation;
        let is_spelled = |it: &Json<'a>| SPELLINGS.iter().any(|name| it.member(name).is_some());
        if ![old, new].iter().any(is_spelled) || !self.found.iter().skip(behind).any(of_values) {
            return;
        }
        let Some(before) = self.forms(old, self.old, depth) else { return };
        let Some(after) = self.forms(new, self.new, depth) else { return };
        let (kept, no_more) = (before.is_subset(&after), after.is_subset(&before));
        let mut number = 0;
        self.found.retain(|it| {
            number += 1;
            let is_refuted = match it.effect {
                Effect::Narrower => kept,
                Effect::Wider => no_more,
                Effect::Annotation => false,
                _ => kept && no_more,
            };
            number <= behind || !is_refuted
        });
    }

    /// The alternatives of a schema, one of a single type or value each; none where something is not understood.
    fn forms(&mut self, schema: Json<'a>, root: Json<'a>, depth: usize) -> Option<BTreeSet<Vec<u8>>> {
        let mut forms = BTreeSet::new();
        for Terms { types, listed, rest } in self.alternatives(schema, root, depth)? {
            let mut add = |what: &[u8], kind: &str| {
                let kind = if kind == "integer" { "number" } else { kind };
                let rest = rest.iter().filter(|(of, _)| *of == kind).flat_map(|(_, term)| term);
                forms.insert(what.iter().chain(rest).copied().collect());
            };
            for value in listed.iter().flatten() {
                let kind = kind(*value, &types)?;
                // A number that is not spelled as an integer may be one.
                if kind == "integer" && !types.contains("number") && !is_digits(value.text()) {
                    return None;
                }
                add(&Tree::new(*value).normal_form(), kind);
            }
            for kind in types.iter().filter(|_| listed.is_none()) {
                match *kind {
                    "null" => add(b"n", kind),
                    "boolean" => [b"t", b"f"].into_iter().for_each(|value| add(value, kind)),
                    _ => add(format!(":{kind}:").as_bytes(), kind),
                }
            }
        }
        Some(forms)
    }

    fn alternatives(&mut self, schema: Json<'a>, root: Json<'a>, depth: usize) -> Option<Vec<Terms<'a>>> {
        let Resolved::Schema(schema) = self.resolve(schema, root) else { return None };
        if depth > DEPTH || !self.budget.take(schema.text().len()) {
            return None;
        }
        match truth(schema) {
            Some(false) => return Some(Vec::new()),
            None if schema.kind() != JsonKind::Object => return None,
            _ => {}
        }
        let (types, rest) = (types(schema), self.rest(schema)?);
        let listed = listed(schema).map(|values| fitting(values, &types));
        let mut all = vec![Terms { types, listed, rest }];
        for name in ["allOf", "anyOf", "oneOf"] {
            let Some(list) = schema.member(name) else { continue };
            let branches: Vec<Json<'a>> = list.items().collect();
            if name == "oneOf" && !self.disjoint(&branches, root) {
                return None;
            }
            let mut any = Vec::new();
            for branch in branches {
                let one = self.alternatives(branch, root, depth + 1)?;
                match name {
                    "allOf" => all = self.both(&all, &one)?,
                    _ => any.extend(one),
                }
            }
            if name != "allOf" {
                all = self.both(&all, &any)?;
            }
        }
        Some(all)
    }

    /// What has to hold besides; none where a keyword is not understood.
    fn rest(&self, schema: Json<'a>) -> Option<BTreeSet<(&'static str, Vec<u8>)>> {
        let mut rest = BTreeSet::new();
        for (name, value) in schema.members() {
            let name = name.to_str()?;
            let (of, values) = match &*name {
                "allOf" | "anyOf" | "const" | "enum" | "oneOf" | "type" => continue,
                name if is_annotation(name) || is_idle(name, value) => continue,
                name if !is_compared(name) || !self.is_whole(value) => return None,
                // A list may be spelled in another order.
                "required" => ("object", value.items().collect()),
                // What is not among the properties depends on them.
                "additionalProperties" => {
                    ("object", schema.member("properties").into_iter().chain([value]).collect())
                }
                "maxProperties" | "minProperties" | "properties" => ("object", vec![value]),
                "items" | "maxItems" | "minItems" | "uniqueItems" => ("array", vec![value]),
                "maxLength" | "minLength" | "pattern" => ("string", vec![value]),
                _ => ("number", vec![value]),
            };
            let forms = values.into_iter().map(|value: Json<'a>| Tree::new(value).normal_form());
            let term = |value: &[u8]| [name.as_bytes(), b"\0", &value.len().to_le_bytes(), value].concat();
            match &*name {
                "required" => rest.extend(forms.map(|form| (of, term(&form)))),
                _ => rest.extend([(of, term(&forms.collect::<Vec<_>>().concat()))]),
            }
        }
        Some(rest)
    }

    /// What fits one of either; none where that is too much.
    fn both(&mut self, one: &[Terms<'a>], other: &[Terms<'a>]) -> Option<Vec<Terms<'a>>> {
        let size = |terms: &Terms<'_>| 1 + terms.rest.len() + terms.listed.as_ref().map_or(0, Vec::len);
        let sizes = |all: &[Terms<'_>]| all.iter().map(size).sum::<usize>();
        let work = sizes(one) * other.len() + sizes(other) * one.len();
        if one.len() * other.len() > MOST || !self.budget.take(LEAST_WORK * work) {
            return None;
        }
        let meet = |one: &Terms<'a>, other: &Terms<'a>| {
            let types = one.types.intersection(&other.types).copied().collect();
            let rest = one.rest.union(&other.rest).cloned().collect();
            let listed = match (&one.listed, &other.listed) {
                (Some(one), Some(other)) => {
                    let other = by_form(other.clone());
                    let there = |it: &&Json<'a>| other.contains_key(&Tree::new(**it).normal_form());
                    Some(one.iter().filter(there).copied().collect())
                }
                (listed, None) | (None, listed) => listed.clone(),
            };
            Terms { listed: listed.map(|values| fitting(values, &types)), types, rest }
        };
        Some(one.iter().flat_map(|one| other.iter().map(move |other| meet(one, other))).collect())
    }
}

/// The values that have one of these types.
fn fitting<'a>(values: Vec<Json<'a>>, types: &BTreeSet<&'static str>) -> Vec<Json<'a>> {
    values.into_iter().filter(|value| kind(*value, types).is_some()).collect()
}
