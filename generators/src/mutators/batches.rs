//! Arrays of messages where one message belongs.

use super::dice::Dice;
use super::node::Node;
use super::page::{Held, Page};
use super::{Apply, Mutator};
use crate::relation::{Reading, Relation};
use transcript::rejection::Code;

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "batch",
        sentence: "One message is an array of itself, where the format says that it is one message.",
        clauses: &["ENV-SINGLE", "JRP-LINE"],
        relation: Relation::Rejects(Code::Batch),
        apply: Apply::Spelling(|page, dice| {
            // An array inside an Inspector's array is no message either, but no clause names it.
            let named = page.format.name != "inspector";
            named && one(page, dice, |held| matches!(held, Held::Bare | Held::Slot))
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
        apply: Apply::Spelling(|page, dice| one(page, dice, |held| held == Held::Raw)),
    },
    Mutator {
        name: "batch-in-har",
        sentence: "One HTTP body is an array of the message, which revision 2025-03-26 allowed.",
        clauses: &["HAR-MESSAGE"],
        relation: Relation::Open(Reading::Free),
        apply: Apply::Spelling(|page, dice| one(page, dice, |held| held == Held::Body)),
    },
];

fn one(page: &mut Page, dice: &mut Dice, which: impl Fn(Held) -> bool) -> bool {
    let mut count = 0;
    page.each(&mut |held, _| count += usize::from(which(held)));
    let (number, mut next, mut took) = (dice.below(count), 0, false);
    page.each(&mut |held, message| {
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

fn empty(page: &mut Page, dice: &mut Dice) -> bool {
    let place = dice.throw();
    let form = dice.pick(&["[]", r#"[{"jsonrpc":"2.0","method":"ping"}]"#]).copied().unwrap_or("[]");
    let slot = if dice.one_in(2) { "request" } else { "response" };
    let Some(array) = Node::parse(form) else { return false };
    let list = match page.format.name {
        "jsonrpc" => &mut page.values,
        "inspector" => match page.values.first_mut() {
            Some(Node::Array(items)) => items,
            _ => return false,
        },
        _ => {
            let entry = Node::Object(vec![(format!("\"{slot}\""), array)]);
            return page.insert_entry(place, entry);
        }
    };
    let at = usize::try_from(place % (list.len() as u64 + 1)).unwrap_or_default();
    list.insert(at, array);
    true
}
