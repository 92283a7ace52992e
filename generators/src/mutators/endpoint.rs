//! Endpoint events in the forms that were seen: none of them carries a message.

use crate::format_tree::FormatTree;
use crate::mutator::{Apply, Mutator};
use crate::node::Node;
use crate::relation::Relation;
use crate::rng::Rng;
use crate::session_builder::{Entry, SessionBuilder};

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "endpoint-path",
        sentence: "The stream begins with an endpoint event that names a path.",
        clauses: &["SSE-EVENT", "SSE-DATA-TEXT"],
        relation: Relation::Same,
        apply: Apply::Session(|builder, _| first(builder, "/messages/?session_id=0f3c")),
    },
    Mutator {
        name: "endpoint-address",
        sentence: "The stream begins with an endpoint event that names a whole address.",
        clauses: &["SSE-EVENT", "SSE-DATA-TEXT"],
        relation: Relation::Same,
        apply: Apply::Session(|builder, _| {
            first(builder, "http://localhost:3001/sse/message?sessionId=a%20b#x")
        }),
    },
    Mutator {
        name: "endpoint-query",
        sentence: "The stream begins with an endpoint event that holds only a query.",
        clauses: &["SSE-EVENT", "SSE-DATA-TEXT"],
        relation: Relation::Same,
        apply: Apply::Session(|builder, _| first(builder, "?sessionId=1")),
    },
    Mutator {
        name: "endpoint-json-text",
        sentence: "The stream begins with an endpoint event whose data is JSON text.",
        clauses: &["SSE-EVENT"],
        relation: Relation::Same,
        apply: Apply::Session(|builder, rng| {
            let forms = [r#"{"uri":"/messages"}"#, r#""/messages""#, "{", "[]"];
            first(builder, rng.pick(&forms).copied().unwrap_or_default())
        }),
    },
    Mutator {
        name: "endpoint-message",
        sentence: "An endpoint event holds the text of a message.",
        clauses: &["SSE-EVENT"],
        relation: Relation::Same,
        apply: Apply::Session(|builder, rng| {
            let data = r#"{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"endpoint"}}"#;
            anywhere(builder, rng, Entry::event(Some("endpoint"), None, Some(data)))
        }),
    },
    Mutator {
        name: "endpoint-late",
        sentence: "An endpoint event comes in the midst of the session.",
        clauses: &["SSE-EVENT"],
        relation: Relation::Same,
        apply: Apply::Session(|builder, rng| {
            anywhere(builder, rng, Entry::event(Some("endpoint"), None, Some("/late")))
        }),
    },
    Mutator {
        name: "endpoint-object",
        sentence: "The data of an endpoint event, or of one with another name, is an object, a message even.",
        clauses: &["SSE-EVENT", "SSE-DATA-OBJECT"],
        relation: Relation::Same,
        apply: Apply::Spelling(object),
    },
];

fn first(builder: &mut SessionBuilder, data: &str) -> bool {
    builder.entries.insert(0, Entry::event(Some("endpoint"), None, Some(data)));
    true
}

pub(super) fn anywhere(builder: &mut SessionBuilder, rng: &mut Rng, entry: Entry) -> bool {
    let at = rng.below(builder.entries.len() + 1);
    builder.entries.insert(at, entry);
    true
}

/// An entry of its own, since no writer of ours spells such data.
fn object(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let name = rng.pick(&["endpoint", "ping", "Message"]).copied().unwrap_or_default();
    let data = rng.pick(&[r#"{"uri":"/m"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "[]", "7"]).copied();
    let text = format!(r#"{{"sse":{{"event":"{name}","data":{}}}}}"#, data.unwrap_or_default());
    let Some(entry) = Node::parse(&text) else { return false };
    let place = rng.next_u64();
    tree.insert_entry(place, entry)
}
