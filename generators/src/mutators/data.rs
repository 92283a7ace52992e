//! The data of events: the same message as an object, a string, on several lines; and data that is not a single message.

use crate::format_tree::{Container, FormatTree};
use crate::mutator::Apply;
use crate::node::{Node, Whitespace};
use crate::relation::{Reading, Relation};
use crate::rng::Rng;

mutators! {
    "data-string" ["SSE-DATA-STRING" "SSE-DATA-OBJECT"] "The data of an envelope's events is a string that holds the message."
        => Relation::Same, Apply::Spelling(|tree, rng| {
            let (all, mut took) = (rng.one_in(2), false);
            tree.each(&mut |held, node| {
                if held == Container::Event && (all || rng.one_in(2)) {
                    *node = Node::Inside(Box::new(node.bare().clone()));
                    took = true;
                }
            });
            took
        });
    "data-pretty" ["SSE-DATA-STRING" "HAR-STREAM"] "The data of events is laid out on several lines: in a string of an envelope, in data lines of a stream."
        => Relation::Same, Apply::Spelling(pretty);
    "data-broken" ["SSE-DATA-BROKEN"] "The data of one message event starts like an object and is not JSON."
        => Relation::Open(Reading::Free), Apply::Spelling(|tree, rng| {
            let cut = rng.below(3);
            one_event(tree, rng, |text| match cut {
                0 => text[..text.len() - 1].to_owned(),
                1 => format!("{{oops, {}", &text[1..]),
                _ => format!("{text}}}"),
            })
        });
    "data-array" ["SSE-DATA-ARRAY"] "The data of one message event is an array of the message."
        => Relation::Open(Reading::Free), Apply::Spelling(|tree, rng| one_event(tree, rng, |text| format!("[{text}]")));
    "data-nested" ["SSE-DATA-NESTED"] "The data of one message event is a JSON string inside the string."
        => Relation::Open(Reading::Free), Apply::Spelling(|tree, rng| one_event(tree, rng, |text| crate::node::quoted(&text)));
}

fn is_event(held: Container) -> bool {
    matches!(held, Container::Event | Container::Streamed)
}

/// Gives an event other data.
fn put(node: &mut Node, held: Container, data: Node) {
    *node = if held == Container::Event { Node::Inside(Box::new(data)) } else { data };
}

/// White space of a pretty printer, whatever the rest of the file has.
fn pretty(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let space = Whitespace { between: &["\n", "\n  ", " ", ""], rng: rng.clone() };
    let mut took = false;
    tree.each(&mut |held, node| {
        if is_event(held) {
            put(node, held, Node::Laid(Box::new(node.bare().clone()), space.clone()));
            took = true;
        }
    });
    took
}

/// Changes the text of one event's data, where the format has events.
fn one_event(tree: &mut FormatTree, rng: &mut Rng, change: impl Fn(String) -> String) -> bool {
    tree.one_in(rng, is_event, |held, node| put(node, held, Node::leaf(change(node.bare().spell(None)))))
}
