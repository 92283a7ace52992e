//! Endpoint events in the forms that were seen: none of them carries a message.

use crate::format_tree::FormatTree;
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::Relation;
use crate::rng::Rng;
use crate::session_builder::{Entry, SessionBuilder};

mutators! {
    "endpoint-path" ["SSE-EVENT" "SSE-DATA-TEXT"] "The stream begins with an endpoint event that names a path."
        => Relation::Same, Apply::Session(|builder, _| first(builder, "/messages/?session_id=0f3c"));
    "endpoint-address" ["SSE-EVENT" "SSE-DATA-TEXT"] "The stream begins with an endpoint event that names a whole address."
        => Relation::Same, Apply::Session(|builder, _| {
            first(builder, "http://localhost:3001/sse/message?sessionId=a%20b#x")
        });
    "endpoint-query" ["SSE-EVENT" "SSE-DATA-TEXT"] "The stream begins with an endpoint event that holds only a query."
        => Relation::Same, Apply::Session(|builder, _| first(builder, "?sessionId=1"));
    "endpoint-json-text" ["SSE-EVENT"] "The stream begins with an endpoint event whose data is JSON text."
        => Relation::Same, Apply::Session(|builder, rng| {
            let forms = [r#"{"uri":"/messages"}"#, r#""/messages""#, "{", "[]"];
            first(builder, rng.pick(&forms).copied().unwrap_or_default())
        });
    "endpoint-message" ["SSE-EVENT"] "An endpoint event holds the text of a message."
        => Relation::Same, Apply::Session(|builder, rng| {
            let data = r#"{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"endpoint"}}"#;
            anywhere(builder, rng, Entry::event(Some("endpoint"), None, Some(data)))
        });
    "endpoint-late" ["SSE-EVENT"] "An endpoint event comes in the midst of the session."
        => Relation::Same, Apply::Session(|builder, rng| {
            anywhere(builder, rng, Entry::event(Some("endpoint"), None, Some("/late")))
        });
    "endpoint-object" ["SSE-EVENT" "SSE-DATA-OBJECT"] "The data of an endpoint event, or of one with another name, is an object, a message even."
        => Relation::Same, Apply::Spelling(object);
}

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
