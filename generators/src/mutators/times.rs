//! Times: missing, equal, backwards, and of no known form. The order of the messages is the order of the file.

use crate::format_tree::{FormatTree, change_each};
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use crate::session_builder::SessionBuilder;

/// Some moment in 2026, in milliseconds.
const NOW: i64 = 1_790_000_000_000;

mutators! {
    "times-missing" ["EQ-ORDER"] "No entry has a time."
        => Relation::Same, Apply::Session(|builder, _| set(builder, |_| None));
    "times-equal" ["EQ-ORDER"] "Every entry has the same time."
        => Relation::Same, Apply::Session(|builder, _| set(builder, |_| Some(NOW)));
    "times-backwards" ["EQ-ORDER" "RPL-ORDER"] "Every entry is earlier than the one before it, in the formats whose files keep an order of their own."
        => Relation::Same, Apply::Session(|builder, _| set(builder, |at| Some(NOW - 1000 * at)));
    "times-jumping" ["EQ-ORDER" "RPL-ORDER"] "Times jump to and fro, and some are missing."
        => Relation::Same, Apply::Session(|builder, rng| {
            let mut rng = rng.clone();
            set(builder, |_| (!rng.one_in(4)).then(|| NOW + i64::from(rng.byte()) * 997))
        });
    "times-loose" ["ENV-LOOSE"] "An envelope's times are not whole milliseconds."
        => Relation::Open(Reading::Known), Apply::Spelling(loose);
}

fn set(builder: &mut SessionBuilder, mut time: impl FnMut(i64) -> Option<i64>) -> bool {
    for (at, entry) in (0..).zip(&mut builder.entries) {
        entry.owned.time = time(at);
    }
    !builder.entries.is_empty()
}

fn loose(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let form = rng.pick(&["-1", "1.5", "\"2026-05-12T23:00:00Z\"", "null", "true"]).copied().unwrap_or("-1");
    change_each(tree.entries(), |entry| {
        entry.set("timestamp_ms", Node::leaf(form));
        true
    })
}
