//! What makes a message one: its version, its method, and one outcome.

use crate::format_tree::{Container, FormatTree};
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use transcript::rejection::Code;

mutators! {
    "version-wrong" ["JRP-VERSION"] "One message has another `jsonrpc` than \"2.0\"."
        => Relation::Rejects(Code::InvalidVersion), Apply::Spelling(|tree, rng| {
            let form = rng.pick(&["\"1.0\"", "2.0", "\"2\"", "null", "\"2.0 \"", "[\"2.0\"]"]).copied();
            let other_name = rng.pick(&[None, None, Some("JSONRPC"), Some("JsonRpc")]).copied().flatten();
            tree.first_that(rng, |held, message| {
                if let Some(name) = other_name {
                    // In an HTTP body such an object is not a message at all, nor in a slot under an error status.
                    if matches!(held, Container::Body | Container::Slot) {
                        return false;
                    }
                    message.remove("jsonrpc");
                    message.set(name, Node::text("2.0"));
                    return true;
                }
                message.set("jsonrpc", Node::leaf(form.unwrap_or_default()));
                true
            })
        });
    "method-wrong-type" ["JRP-SHAPE"] "The method of one request or notification is not a string."
        => Relation::Rejects(Code::InvalidMethod), Apply::Spelling(|tree, rng| {
            let form = rng.pick(&["7", "null", "{}", "[\"ping\"]", "true"]).copied();
            one(tree, rng, |message| {
                let called = message.get("method").is_some();
                if called {
                    message.set("method", Node::leaf(form.unwrap_or_default()));
                }
                called
            })
        });
    "outcome-both" ["JRP-SHAPE"] "One answer has a result and an error."
        => Relation::Open(Reading::Free), Apply::Spelling(|tree, rng| {
            let form =
                rng.pick(&[r#"{"code":1,"message":"both"}"#, "null"]).and_then(|form| Node::parse(form));
            one(tree, rng, |message| {
                let answers = message.get("method").is_none();
                if let (true, Some(form)) = (answers, &form) {
                    let missing = if message.get("error").is_some() { "result" } else { "error" };
                    message.set(missing, form.clone());
                }
                answers
            })
        });
    "outcome-and-method" ["JRP-SHAPE"] "One message has a method and an outcome."
        => Relation::Open(Reading::Free), Apply::Spelling(|tree, rng| {
            let form = rng.pick(&["{}", "null"]).copied().unwrap_or("{}");
            // Where nobody knows who sent what, an answer of this side may meet a request of its own.
            tree.format.carries.direction && one(tree, rng, |message| {
                match message.get("method") {
                    Some(_) => message.set("result", Node::parse(form).unwrap_or(Node::leaf("null"))),
                    None => message.set("method", Node::text("ping")),
                }
                true
            })
        });
    "outcome-neither" ["JRP-SHAPE"] "One answer has neither a result nor an error."
        => Relation::Open(Reading::Free), Apply::Spelling(|tree, rng| {
            // Where nobody knows who sent what, a later answer may meet the request that this one leaves open.
            tree.format.carries.direction && one(tree, rng, |message| {
                let answers = message.get("method").is_none();
                if answers {
                    message.remove("result");
                    message.remove("error");
                }
                answers
            })
        });
}

/// The first message, from a random one on, that `change` takes.
fn one(tree: &mut FormatTree, rng: &mut Rng, mut change: impl FnMut(&mut Node) -> bool) -> bool {
    tree.first_that(rng, |_, message| change(message))
}
