//! How two surfaces differ, and what that means for clients.

mod definition;
mod found;

use crate::change::{ADDED, CAPABILITY, Class, Comparison, INSTRUCTIONS, REMOVED, REVISION, SERVER};
use crate::model::{LISTINGS, Listing, ListingKind, Surface};
use crate::schema::{pairs, token};
use definition::definition;
use found::{Found, Place, TOLD, UNTOLD, bool_of};
use std::collections::BTreeSet;
use transcript::json::{Json, OwnedJson};

/// Compares what a server offered with what it offers now.
pub fn compare(old: &Surface, new: &Surface) -> Comparison {
    let mut found = Found::new(size(old) + size(new));
    compare_into(old, new, &mut found);
    found.finish()
}

/// How many bytes there are to be compared.
fn size(surface: &Surface) -> usize {
    let items = surface.listings.iter().flatten().flat_map(|listing| listing.items.values());
    items.map(|item| item.definition.json().text().len()).sum()
}

fn compare_into(old: &Surface, new: &Surface, found: &mut Found) {
    server(old, new, found);
    capabilities(old.capabilities.as_ref(), new.capabilities.as_ref(), found);
    for (number, kind) in LISTINGS.iter().enumerate() {
        let lists = [old, new].map(|surface| match &surface.listings[number] {
            // A server that does not declare it offers none.
            None if surface.declares(kind) == Some(false) => {
                Some(Listing { complete: true, ..Listing::default() })
            }
            listing => listing.clone(),
        });
        match lists {
            [Some(old), Some(new)] => listing(kind, &old, &new, found),
            [None, None] => {}
            [old, _] => {
                let side = if old.is_none() { "old" } else { "new" };
                let note = format!("the {}s were not compared: the {side} side lists none", kind.item);
                found.notes.push(note);
            }
        }
    }
}

const SHOWN: &str = "hosts show this to people: a change can pass one server off as another";

fn server(old: &Surface, new: &Surface, found: &mut Found) {
    let place = |values| Place { subject: "server", pointer: "", values };
    if let (Some(before), Some(after)) = (&old.server, &new.server) {
        if before.name != after.name {
            let what = format!("was called `{}`, and is `{}`", before.name, after.name);
            let why = "two servers may have been compared";
            found.report(Class::Review, &SERVER, &place([None, None]), what, why);
        }
        for (member, values) in pairs([before, after].map(|server| Some(server.info.json()))) {
            let why = match &*member {
                // Both are shown with each side, and a version is there to change.
                "name" | "version" => continue,
                "title" | "description" | "websiteUrl" | "icons" => SHOWN,
                _ => UNTOLD,
            };
            let pointer = format!("/serverInfo/{}", token(&member));
            found.review(&SERVER, &Place { pointer: &pointer, ..place(values) }, &format!("`{member}`"), why);
        }
    }
    if let (Some(before), Some(after)) = (&old.revision, &new.revision)
        && before != after
    {
        let what = format!("agreed on {before}, and agrees on {after}");
        let why = "definitions may mean something else in that revision";
        found.report(Class::Review, &REVISION, &place([None, None]), what, why);
    }
    // Where a side has no handshake, nothing is known of its instructions.
    if old.capabilities.is_some() && new.capabilities.is_some() {
        let values = [old, new].map(|surface| surface.instructions.as_ref().map(OwnedJson::json));
        let place = Place { pointer: "/instructions", ..place(values) };
        found.review(&INSTRUCTIONS, &place, "`instructions`", TOLD);
    }
}

fn capabilities(old: Option<&OwnedJson>, new: Option<&OwnedJson>, found: &mut Found) {
    let (Some(old), Some(new)) = (old, new) else { return };
    for (name, values) in pairs([Some(old.json()), Some(new.json())]) {
        // An experiment of nothing is none.
        let values = values
            .map(|value| value.filter(|value| name != "experimental" || value.members().next().is_some()));
        let pointer = format!("/capabilities/{}", token(&name));
        let place = Place { subject: "server", pointer: &pointer, values };
        let [Some(before), Some(after)] = values else {
            match values {
                [Some(_), None] => gone(&name, &place, "clients that use it are refused", found),
                [None, Some(_)] => come(&name, &place, found),
                _ => {}
            }
            continue;
        };
        for (flag, values) in pairs([Some(before), Some(after)]) {
            let pointer = format!("{pointer}/{}", token(&flag));
            let place = Place { subject: "server", pointer: &pointer, values };
            let is = |value: Option<Json<'_>>| value.map_or(Some(false), |value| bool_of(value));
            match (is(values[0]), is(values[1])) {
                (Some(true), Some(false)) => {
                    gone(&format!("{name}.{flag}"), &place, "clients that rely on it break", found);
                }
                (Some(false), Some(true)) => come(&format!("{name}.{flag}"), &place, found),
                (Some(_), Some(_)) => {}
                _ => found.review(&CAPABILITY, &place, &format!("`{name}.{flag}`"), UNTOLD),
            }
        }
    }
}

fn gone(capability: &str, place: &Place<'_>, why: &'static str, found: &mut Found) {
    let what = format!("`{capability}` is no longer declared");
    found.report(Class::Breaking, &CAPABILITY, place, what, why);
}

fn come(capability: &str, place: &Place<'_>, found: &mut Found) {
    let what = format!("`{capability}` is declared now");
    found.report(Class::Additive, &CAPABILITY, place, what, "clients need not use it");
}

fn listing(kind: &ListingKind, old: &Listing, new: &Listing, found: &mut Found) {
    let names: BTreeSet<&String> = old.items.keys().chain(new.items.keys()).collect();
    for name in names {
        let subject = format!("{} {name}", kind.item);
        let sides = [old, new].map(|listing| listing.items.get(name).map(|item| item.definition.json()));
        let place = Place { subject: &subject, pointer: "", values: [None, None] };
        match sides {
            [Some(_), None] if new.complete => {
                let (class, why) = match kind.item {
                    // They are often the data that a server has just now.
                    "resource" => {
                        (Class::Review, "clients that name it are refused; others list what there is")
                    }
                    _ => (Class::Breaking, "clients that use it are refused"),
                };
                found.report(class, &REMOVED, &place, "is no longer offered", why);
            }
            [Some(_), None] => {
                found.notes.push(format!("{subject} is not in the new listing, of which pages are missing"))
            }
            [None, Some(_)] => {
                let what = if old.complete {
                    "is offered now"
                } else {
                    "is offered now, and was not on the pages of the old side"
                };
                found.report(Class::Additive, &ADDED, &place, what, "clients need not use it");
            }
            _ => definition(kind, &subject, sides, found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::found::Found;
    use crate::{Comparison, read_lock};
    use serde_json::json;

    /// A hostile listing of this size, as it was and as it is.
    type Shape = fn(usize) -> [serde_json::Value; 2];

    fn numbered(count: usize, one: impl Fn(usize) -> serde_json::Value) -> Vec<serde_json::Value> {
        (0..count).map(one).collect()
    }

    fn properties(prefix: &str, count: usize, one: impl Fn(usize) -> serde_json::Value) -> serde_json::Value {
        json!({ "properties": (0..count).map(|at| (format!("{prefix}{at}"), one(at))).collect::<serde_json::Map<_, _>>() })
    }

    /// Shapes of which each part could be compared with each, by their names.
    const SHAPES: [(&str, Shape); 7] = [
        ("properties", |n| {
            ["a", "b"].map(|prefix| properties(prefix, 50 * n, |_| json!({"type": "string"})))
        }),
        ("references", |n| {
            [0, 1].map(|least| {
                let mut all = properties("a", 50 * n, |at| json!({"$ref": format!("#/$defs/d{at}")}));
                let defined = |at| (format!("d{at}"), json!({"minLength": least}));
                all["$defs"] = (0..50 * n).map(defined).collect::<serde_json::Map<_, _>>().into();
                all
            })
        }),
        ("branches", |n| {
            [0, 1].map(|add| json!({"anyOf": numbered(50 * n, |at| json!({"const": at + add}))}))
        }),
        ("enums of branches", |n| {
            [0, 1].map(|add| json!({"anyOf": numbered(50 * n, |at| json!({"enum": numbered(5, |it| json!(at + it * add))}))}))
        }),
        ("branch of kinds", |n| {
            [0, 1].map(|more| {
                let kind = |at| json!({"type": "object", "required": ["k"], "properties": {"k": {"const": format!("{at}")}}});
                json!({"oneOf": numbered(50 * n + more, kind)})
            })
        }),
        ("enum of objects", |n| {
            [0, 1].map(|add| json!({"enum": numbered(50 * n, |at| json!({"b": at + add, "a": [at]}))}))
        }),
        ("required", |n| {
            [0, 1].map(|add| json!({"required": numbered(100 * n * add, |at| json!(format!("name {at}")))}))
        }),
    ];

    /// The work of comparing, and the bytes that are kept, grow as the listing does: in twenty tools as in one.
    #[test]
    fn the_work_grows_as_the_listing_does() {
        for (name, shape) in SHAPES {
            for tools in [1, 20] {
                let measured = [1, 2, 4, 8].map(|size| {
                    let sides = shape(if tools == 1 { 4 * size } else { size });
                    let [old, new] = sides.map(|schema| {
                        let tool = |at| json!({"name": format!("t{at}"), "inputSchema": schema});
                        let tools = json!({"mcpSurface": 1, "tools": numbered(tools, tool)}).to_string();
                        read_lock(&tools).unwrap()
                    });
                    let mut found = Found::new(super::size(&old) + super::size(&new));
                    super::compare_into(&old, &new, &mut found);
                    (super::size(&old) + super::size(&new), found.work.done() as usize, found.finish())
                });
                for pair in measured.windows(2) {
                    let grown = |of: fn(&(usize, usize, Comparison)) -> usize| {
                        of(&pair[1]) as f64 / of(&pair[0]) as f64
                    };
                    let exponent = grown(|it| it.1).ln() / grown(|it| it.0).ln();
                    assert!(exponent < 1.2, "{name}, {tools} tools: {exponent}");
                    assert!(!pair[1].2.changes.is_empty(), "{name}");
                }
                let kept =
                    |it: &crate::Change| it.before.iter().chain(&it.after).map(String::len).sum::<usize>();
                let (size, _, found) = &measured[3];
                let kept: usize = found.changes.iter().map(kept).sum();
                assert!(kept < (4 << 20) + 32 * size, "{name}: {kept} of {size}");
            }
        }
    }
}
