//! A recorder that takes secrets away: values become a marker, and the meaning is the same modulo that marker.

use crate::format_tree::{Container, FormatTree, MARKER};
use crate::mutator::Apply;
use crate::node::{Node, names, quoted};
use crate::relation::Relation;
use crate::rng::Rng;

mutators! {
    "redacted-value" ["RPL-REDACT"] "A trace has a marker in the place of values, of whatever type they were."
        => Relation::Same, Apply::Spelling(|tree, rng| redact(tree, rng, |_| quoted(MARKER)));
    "redacted-part" ["RPL-REDACT"] "A trace has a marker in the midst of strings."
        => Relation::Same, Apply::Spelling(|tree, rng| {
            redact(tree, rng, |content| quoted(&format!("Bearer {MARKER} {}", content.len())))
        });
}

fn redact(tree: &mut FormatTree, rng: &mut Rng, marked: impl Fn(&str) -> String) -> bool {
    let mut took = false;
    tree.each(&mut |held, message| {
        for name in ["params", "result"] {
            let Some(value) = message.get_mut(name).filter(|_| held == Container::Raw) else { continue };
            value.walk(&mut |node| {
                let Node::Object(members) = node else { return true };
                for (key, value) in members {
                    // A tool's name is not secret.
                    if !names(key, "name") && matches!(value, Node::Leaf(_)) && rng.one_in(3) {
                        *value = Node::leaf(marked(value.spelled().unwrap_or_default()));
                        took = true;
                    }
                }
                true
            });
        }
    });
    tree.redacted |= took;
    took
}
