//! A recorder that takes secrets away: values become a marker, and the meaning is the same modulo that marker.

use super::dice::Dice;
use super::node::{Node, names, quoted};
use super::page::{Held, MARKER, Page};
use super::{Apply, Mutator};
use crate::relation::Relation;

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "redacted-value",
        sentence: "A trace has a marker in the place of values, of whatever type they were.",
        clauses: &["RPL-REDACT"],
        relation: Relation::Same,
        apply: Apply::Spelling(|page, dice| redact(page, dice, |_| quoted(MARKER))),
    },
    Mutator {
        name: "redacted-part",
        sentence: "A trace has a marker in the midst of strings.",
        clauses: &["RPL-REDACT"],
        relation: Relation::Same,
        apply: Apply::Spelling(|page, dice| {
            redact(page, dice, |content| quoted(&format!("Bearer {MARKER} {}", content.len())))
        }),
    },
];

fn redact(page: &mut Page, dice: &mut Dice, marked: impl Fn(&str) -> String) -> bool {
    let mut took = false;
    page.each(&mut |held, message| {
        for name in ["params", "result"] {
            let Some(value) = message.get_mut(name).filter(|_| held == Held::Raw) else { continue };
            value.walk(&mut |node| {
                let Node::Object(members) = node else { return true };
                for (key, value) in members {
                    // A tool's name is no secret.
                    if !names(key, "name") && matches!(value, Node::Leaf(_)) && dice.one_in(3) {
                        *value = Node::leaf(marked(value.spelled().unwrap_or_default()));
                        took = true;
                    }
                }
                true
            });
        }
    });
    page.redacted |= took;
    took
}
