//! Arrays of messages where one message belongs.

use crate::format_tree::{Container, FormatTree};
use crate::mutator::{Apply, Mutator};
use crate::node::Node;
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use transcript::rejection::Code;

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "batch",
        sentence: "One message is an array of itself, where the format says that it is one message.",
        clauses: &["ENV-SINGLE", "JRP-LINE"],
        relation: Relation::Rejects(Code::Batch),
        apply: Apply::Spelling(|tree, rng| {
            // An array inside an Inspector's array is no message either, but no clause names it.
            let named = !tree.format.is_bare_list();
            named && one(tree, rng, |held| matches!(held, Container::Bare | Container::Slot))
        }),
    },
    Mutator {
        name: "batch-empty",
        sentence: "An array, empty or with a message, stands where an item or a slot has one message.",
        clauses: &["ENV-SINGLE", "JRP-LINE"],
        relation: Relation::Rejects(Code::Batch),
        apply: Apply::Spelling(empty),
    },
    Mutator {
        name: "batch-in-trace",
        sentence: "The raw of one line is an array of the message.",
        clauses: &["RPL-NOISE"],
        relation: Relation::Open(Reading::Free),
        apply: Apply::Spelling(|tree, rng| one(tree, rng, |held| held == Container::Raw)),
    },
    Mutator {
        name: "batch-in-har",
        sentence: "One HTTP body is an array of the message, which revision 2025-03-26 allowed.",
        clauses: &["HAR-MESSAGE"],
        relation: Relation::Open(Reading::Free),
        apply: Apply::Spelling(|tree, rng| one(tree, rng, |held| held == Container::Body)),
    },
];

fn one(tree: &mut FormatTree, rng: &mut Rng, which: impl Fn(Container) -> bool) -> bool {
    let mut count = 0;
    tree.each(&mut |held, _| count += usize::from(which(held)));
    let (number, mut next, mut took) = (rng.below(count), 0, false);
    tree.each(&mut |held, message| {
        if which(held) {
            if next == number {
                *message = Node::Array(vec![message.clone()]);
                took = true;
            }
            next += 1;
        }
    });
    took
}

fn empty(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let place = rng.next_u64();
    let form = rng.pick(&["[]", r#"[{"jsonrpc":"2.0","method":"ping"}]"#]).copied().unwrap_or("[]");
    let slot = if rng.one_in(2) { "request" } else { "response" };
    let Some(array) = Node::parse(form) else { return false };
    let Some(list) = tree.bare_items() else {
        let entry = Node::Object(vec![(format!("\"{slot}\""), array)]);
        return tree.insert_entry(place, entry);
    };
    let at = usize::try_from(place % (list.len() as u64 + 1)).unwrap_or_default();
    list.insert(at, array);
    true
}
