//! Times: missing, equal, backwards, and of no known form. The order of the messages is the order of the file.

use super::dice::Dice;
use super::node::Node;
use super::page::Page;
use super::{Apply, Mutator};
use crate::relation::{Reading, Relation};
use crate::variant::Draft;

/// Some moment in 2026, in milliseconds.
const NOW: i64 = 1_790_000_000_000;

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "times-missing",
        sentence: "No entry has a time.",
        clauses: &["EQ-ORDER"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, _| set(draft, |_| None)),
    },
    Mutator {
        name: "times-equal",
        sentence: "Every entry has the same time.",
        clauses: &["EQ-ORDER"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, _| set(draft, |_| Some(NOW))),
    },
    Mutator {
        name: "times-backwards",
        sentence: "Every entry is earlier than the one before it, in the formats whose files keep an order of their own.",
        clauses: &["EQ-ORDER", "RPL-ORDER"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, _| set(draft, |at| Some(NOW - 1000 * at))),
    },
    Mutator {
        name: "times-jumping",
        sentence: "Times jump to and fro, and some are missing.",
        clauses: &["EQ-ORDER", "RPL-ORDER"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, dice| {
            let mut dice = dice.clone();
            set(draft, |_| (!dice.one_in(4)).then(|| NOW + i64::from(dice.byte()) * 997))
        }),
    },
    Mutator {
        name: "times-loose",
        sentence: "An envelope's times are no whole numbers of milliseconds.",
        clauses: &["ENV-LOOSE"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Spelling(loose),
    },
];

fn set(draft: &mut Draft, mut time: impl FnMut(i64) -> Option<i64>) -> bool {
    for (at, turn) in (0..).zip(&mut draft.turns) {
        turn.entry.time = time(at);
    }
    !draft.turns.is_empty()
}

fn loose(page: &mut Page, dice: &mut Dice) -> bool {
    let form = dice.pick(&["-1", "1.5", "\"2026-05-12T23:00:00Z\"", "null", "true"]).copied().unwrap_or("-1");
    let mut took = false;
    for entry in page.entries() {
        entry.set("timestamp_ms", Node::leaf(form));
        took = true;
    }
    took
}
