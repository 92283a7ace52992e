//! Arrays of messages: where one message belongs, and where a batch may be.

use super::crowds::put;
use crate::format_tree::{Container, FormatTree};
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use crate::session_builder::{AGREED, BATCHED, Entry};
use transcript::rejection::Code;
use transcript::session::Side;

mutators! {
    "agreed-batches" ["EQ-BATCH"] "The two sides agree on revision 2025-03-26, and a request and its answer are in arrays."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let version = format!(r#"{{"protocolVersion":"{REVISION}"}}"#);
            let entries = [
                Entry::request(Side::Client, AGREED, "initialize"),
                Entry::result(Side::Server, AGREED, &version),
                Entry::request(Side::Client, BATCHED, "ping"),
                Entry::result(Side::Server, BATCHED, "{}"),
            ];
            builder.batches = put(builder, rng, entries.into());
            builder.batches
        });
    "batch" ["ENV-SINGLE" "JRP-LINE"] "One message is an array of itself, where the format says that it is one message."
        => Relation::Rejects(Code::Batch), Apply::Spelling(|tree, rng| {
            // An array inside an Inspector's array is not a message either, but no clause names it.
            let named = !tree.format.is_bare_list();
            named && one(tree, rng, |held| matches!(held, Container::Bare | Container::Slot))
        });
    "batch-empty" ["ENV-SINGLE" "JRP-LINE"] "An array, empty or with a message, takes the place of a message in an item or a slot."
        => Relation::Rejects(Code::Batch), Apply::Spelling(empty);
    "batch-in-trace" ["RPL-NOISE"] "The raw of one line is an array of the message."
        => Relation::Open(Reading::Free), Apply::Spelling(|tree, rng| one(tree, rng, |held| held == Container::Raw));
    "batch-in-har" ["HAR-MESSAGE"] "One HTTP body is an array of the message, which revision 2025-03-26 allowed."
        => Relation::Open(Reading::Free), Apply::Spelling(|tree, rng| one(tree, rng, |held| held == Container::Body));
}

/// The revision that has batches. Where a session may be of it, nobody here says what an array is.
const REVISION: &str = "2025-03-26";

fn names_the_revision(tree: &FormatTree) -> bool {
    let names = |value: &Node| value.spell(None).contains(REVISION);
    tree.values.iter().any(names)
}

fn one(tree: &mut FormatTree, rng: &mut Rng, which: impl Fn(Container) -> bool) -> bool {
    let batch = |_: Container, message: &mut Node| *message = Node::Array(vec![message.clone()]);
    !names_the_revision(tree) && tree.one_in(rng, which, batch)
}

fn empty(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    if names_the_revision(tree) {
        return false;
    }
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
