//! How two definitions of a tool, a resource, a template or a prompt differ.

use super::found::{Found, Place, TOLD, UNTOLD, bool_of};
use crate::change::{ANNOTATION, ARGUMENT, Class, DEFINITION, INPUT, KindOfChange, OUTPUT, WORDS};
use crate::model::{ListingKind, text};
use crate::schema::{self, Departure, Effect, pairs, token};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use transcript::json::{Json, JsonString, OwnedJson};

/// What a member of a definition is for.
enum Part {
    /// It names the item, or says nothing of the offer.
    Skip,
    Words,
    Input,
    Output,
    Hints,
    Execution,
    Arguments,
    Other,
}

fn part(kind: &ListingKind, member: &str) -> Part {
    match (kind.item, member) {
        (_, name) if name == kind.name => Part::Skip,
        ("resource", "size") => Part::Skip,
        ("tool", "inputSchema") => Part::Input,
        ("tool", "outputSchema") => Part::Output,
        ("tool", "annotations") => Part::Hints,
        ("tool", "execution") => Part::Execution,
        ("prompt", "arguments") => Part::Arguments,
        (_, "description" | "title" | "name") => Part::Words,
        _ => Part::Other,
    }
}

pub(super) fn definition(kind: &ListingKind, subject: &str, sides: [Option<Json<'_>>; 2], found: &mut Found) {
    for (name, values) in pairs(sides) {
        let pointer = format!("/{}", token(&name));
        let place = Place { subject, pointer: &pointer, values };
        match part(kind, &name) {
            Part::Skip => {}
            Part::Words => found.review(&WORDS, &place, &format!("the {name}"), TOLD),
            Part::Input => schemas(&place, &INPUT, found),
            Part::Output => schemas(&place, &OUTPUT, found),
            Part::Hints => hints(&place, found),
            Part::Execution => execution(&place, found),
            Part::Arguments => arguments(&place, found),
            Part::Other => found.review(&DEFINITION, &place, &format!("`{name}`"), UNTOLD),
        }
    }
}

fn schemas(place: &Place<'_>, kind: &KindOfChange, found: &mut Found) {
    let [old, new] = match place.values {
        [Some(old), Some(new)] => [old, new],
        [None, _] if *kind == OUTPUT => {
            let why = "clients that do not know it work as before";
            return found.report(Class::Additive, kind, place, "there is an output schema now", why);
        }
        [_, None] if *kind == OUTPUT => {
            let why = "clients that rely on structured content break";
            return found.report(Class::Breaking, kind, place, "the output schema is gone", why);
        }
        // The protocol asks for one.
        _ => return found.review(kind, place, "the input schema", UNTOLD),
    };
    let departures = schema::compare_of_objects(old, new, &mut found.work);
    let wanted: BTreeSet<&str> = departures.iter().map(|departure| &*departure.pointer).collect();
    let there = [old, new].map(|schema| values_at(schema, &wanted));
    for Departure { effect, pointer, what } in &departures {
        let values = [0, 1].map(|side: usize| there[side].get(&**pointer).copied());
        let pointer = format!("{}{pointer}", place.pointer);
        let (class, mut why) = meaning(*effect, *kind == INPUT);
        if *effect == Effect::Annotation && pointer.ends_with("/default") {
            why = "the value that is assumed where it is left out changed";
        }
        let kind = if *effect == Effect::Annotation { &WORDS } else { kind };
        found.report(class, kind, &Place { subject: place.subject, pointer: &pointer, values }, what, why);
    }
}

/// What a change of a schema means: clients send what fits an input schema, and get what fits an output schema.
fn meaning(effect: Effect, input: bool) -> (Class, &'static str) {
    match (effect, input) {
        (Effect::Narrower, true) => (Class::Breaking, "clients that send what was accepted may be refused"),
        (Effect::Wider | Effect::Admitted, true) => (Class::Additive, "what clients send is still accepted"),
        (Effect::Described, true) => (Class::Additive, "clients may leave it out, unless it is required"),
        (Effect::Undescribed, true) => (Class::Review, "what clients send there may be ignored"),
        (Effect::Narrower, false) => (Class::Additive, "results are still what clients expect"),
        (Effect::Wider, false) => (Class::Breaking, "clients may get what they do not expect"),
        (Effect::Admitted, false) => {
            (Class::Review, "clients that kept the old schema, which allows no other property, refuse it")
        }
        (Effect::Described, false) => (Class::Additive, "clients may ignore it"),
        (Effect::Undescribed, false) => {
            (Class::Breaking, "clients that read it may find anything there, or nothing")
        }
        (Effect::Annotation, _) => (Class::Review, TOLD),
        (Effect::Unknown, _) => (Class::Review, "the schemas do not show whether clients still work"),
    }
}

/// The hints of a tool, with what holds where they are absent, and the value by which hosts let a call pass.
const HINTS: [(&str, bool, bool); 4] = [
    ("destructiveHint", true, false),
    ("idempotentHint", false, true),
    ("openWorldHint", true, false),
    ("readOnlyHint", false, true),
];

/// Of a tool that changes nothing these have no meaning (schema of the protocol, `ToolAnnotations`).
const OF_TOOLS_THAT_CHANGE_SOMETHING: [&str; 2] = ["destructiveHint", "idempotentHint"];

fn hints(place: &Place<'_>, found: &mut Found) {
    let reads = |value: Option<Json<'_>>| {
        value.and_then(|value| value.member("readOnlyHint")).and_then(bool_of) == Some(true)
    };
    let reads = place.values.into_iter().any(reads);
    for (name, values) in pairs(place.values) {
        let pointer = format!("{}/{}", place.pointer, token(&name));
        let place = Place { subject: place.subject, pointer: &pointer, values };
        let Some((_, absent, harmless)) = HINTS.iter().find(|(hint, ..)| *hint == name) else {
            let kind = if name == "title" { &WORDS } else { &ANNOTATION };
            found.review(kind, &place, &format!("`{name}`"), TOLD);
            continue;
        };
        let [before, after] = values.map(|value| value.and_then(bool_of).unwrap_or(*absent));
        if before == after || reads && OF_TOOLS_THAT_CHANGE_SOMETHING.contains(&&*name) {
            continue;
        }
        let said = |value: bool, side: usize| match values[side] {
            None => format!("{value} by default"),
            Some(_) => value.to_string(),
        };
        let what = format!("`{name}` was {}, and is {}", said(before, 0), said(after, 1));
        match before == *harmless {
            true => {
                let why = "hosts may have let calls pass because of this promise, which is withdrawn";
                found.report(Class::Breaking, &ANNOTATION, &place, what, why);
            }
            false => {
                let why = "hosts may now let calls pass that they asked about before";
                found.report(Class::Review, &ANNOTATION, &place, what, why);
            }
        }
    }
}

/// Whether a tool may or must be called as a task. Where nothing is said, it must not.
fn execution(place: &Place<'_>, found: &mut Found) {
    for (name, values) in pairs(place.values) {
        let pointer = format!("{}/{}", place.pointer, token(&name));
        let place = Place { subject: place.subject, pointer: &pointer, values };
        if name != "taskSupport" {
            found.review(&DEFINITION, &place, &format!("`{name}`"), UNTOLD);
            continue;
        }
        let [before, after] = values.map(|value| text(value).unwrap_or_else(|| "forbidden".to_owned()));
        let what = format!("calls as tasks were {before}, and are {after}");
        match (&*before, &*after) {
            (before, after) if before == after => {}
            ("optional", _) | ("required", "forbidden") | (_, "required") => {
                found.report(
                    Class::Breaking,
                    &DEFINITION,
                    &place,
                    what,
                    "clients that call it as before are refused",
                );
            }
            _ => found.report(Class::Additive, &DEFINITION, &place, what, "clients may call it as before"),
        }
    }
}

fn arguments(place: &Place<'_>, found: &mut Found) {
    let by_name = |list: Option<Json<'_>>| -> BTreeMap<String, OwnedJson> {
        let items = list.into_iter().flat_map(Json::items);
        items.filter_map(|item| Some((text(item.member("name"))?, OwnedJson::unindexed(item)))).collect()
    };
    let [old, new] = place.values.map(by_name);
    let required = |argument: &OwnedJson| argument.json().member("required").and_then(bool_of) == Some(true);
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let pointer = format!("{}/{}", place.pointer, token(name));
        let (before, after) = (old.get(name), new.get(name));
        let values = [before, after].map(|argument| argument.map(OwnedJson::json));
        let at = Place { subject: place.subject, pointer: &pointer, values };
        let mut report = |class, what: &str, why| {
            found.report(class, &ARGUMENT, &at, format!("the argument `{name}` {what}"), why)
        };
        match (before, after) {
            (None, Some(after)) if required(after) => {
                report(Class::Breaking, "is required now", "clients that do not know it are refused");
            }
            (None, _) => report(Class::Additive, "is accepted now", "clients may leave it out"),
            (_, None) => {
                report(Class::Review, "is no longer accepted", "what clients send there may be ignored")
            }
            (Some(before), Some(after)) => {
                match (required(before), required(after)) {
                    (false, true) => {
                        report(Class::Breaking, "is required now", "clients that leave it out are refused")
                    }
                    (true, false) => report(
                        Class::Additive,
                        "is no longer required",
                        "what clients send is still accepted",
                    ),
                    _ => {}
                }
                for (member, values) in
                    pairs(values).filter(|(member, _)| !matches!(&**member, "name" | "required"))
                {
                    let pointer = format!("{pointer}/{}", token(&member));
                    let place = Place { subject: place.subject, pointer: &pointer, values };
                    found.review(&WORDS, &place, &format!("the {member} of `{name}`"), TOLD);
                }
            }
        }
    }
}

/// What pointers name, where no reference stands in the way. The schema is walked through once.
fn values_at<'a, 'p>(schema: Json<'a>, pointers: &BTreeSet<&'p str>) -> BTreeMap<&'p str, Json<'a>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![(String::new(), schema)];
    while let Some((at, value)) = waiting.pop() {
        if let Some(pointer) = pointers.get(&*at) {
            found.entry(*pointer).or_insert(value);
        }
        let below = format!("{at}/");
        if !pointers
            .range::<str, _>((Bound::Included(&*below), Bound::Unbounded))
            .next()
            .is_some_and(|next| next.starts_with(&below))
        {
            continue;
        }
        let items = value.items().enumerate().map(|(number, item)| (number.to_string(), item));
        let mut parts: Vec<_> = items.collect();
        let name = |name: JsonString<'_>| token(&String::from_utf8_lossy(&name.decode()));
        parts.extend(value.members().map(|(key, value)| (name(key), value)));
        // The first of several members of one name comes first.
        waiting.extend(parts.into_iter().rev().map(|(name, part)| (format!("{below}{name}"), part)));
    }
    found
}
