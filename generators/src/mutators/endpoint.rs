//! Endpoint events in the forms that were seen: none of them carries a message.

use super::dice::Dice;
use super::node::Node;
use super::page::Page;
use super::{Apply, Mutator};
use crate::relation::Relation;
use crate::variant::{Draft, Turn};

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "endpoint-path",
        sentence: "The stream begins with an endpoint event that names a path.",
        clauses: &["SSE-EVENT", "SSE-DATA-TEXT"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, _| first(draft, "/messages/?session_id=0f3c")),
    },
    Mutator {
        name: "endpoint-address",
        sentence: "The stream begins with an endpoint event that names a whole address.",
        clauses: &["SSE-EVENT", "SSE-DATA-TEXT"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, _| first(draft, "http://localhost:3001/sse/message?sessionId=a%20b#x")),
    },
    Mutator {
        name: "endpoint-query",
        sentence: "The stream begins with an endpoint event that names a query alone.",
        clauses: &["SSE-EVENT", "SSE-DATA-TEXT"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, _| first(draft, "?sessionId=1")),
    },
    Mutator {
        name: "endpoint-json-text",
        sentence: "The stream begins with an endpoint event whose data is JSON text.",
        clauses: &["SSE-EVENT"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, dice| {
            let forms = [r#"{"uri":"/messages"}"#, r#""/messages""#, "{", "[]"];
            first(draft, dice.pick(&forms).copied().unwrap_or_default())
        }),
    },
    Mutator {
        name: "endpoint-message",
        sentence: "An endpoint event holds the text of a message.",
        clauses: &["SSE-EVENT"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, dice| {
            let data = r#"{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"endpoint"}}"#;
            anywhere(draft, dice, Turn::event(Some("endpoint"), None, Some(data)))
        }),
    },
    Mutator {
        name: "endpoint-late",
        sentence: "An endpoint event comes in the midst of the session.",
        clauses: &["SSE-EVENT"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, dice| {
            anywhere(draft, dice, Turn::event(Some("endpoint"), None, Some("/late")))
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

fn first(draft: &mut Draft, data: &str) -> bool {
    draft.turns.insert(0, Turn::event(Some("endpoint"), None, Some(data)));
    true
}

pub(super) fn anywhere(draft: &mut Draft, dice: &mut Dice, turn: Turn) -> bool {
    let at = dice.below(draft.turns.len() + 1);
    draft.turns.insert(at, turn);
    true
}

/// An entry of its own, since no writer of ours spells such data.
fn object(page: &mut Page, dice: &mut Dice) -> bool {
    let name = dice.pick(&["endpoint", "ping", "Message"]).copied().unwrap_or_default();
    let data = dice.pick(&[r#"{"uri":"/m"}"#, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "[]", "7"]).copied();
    let text = format!(r#"{{"sse":{{"event":"{name}","data":{}}}}}"#, data.unwrap_or_default());
    let Some(entry) = Node::parse(&text) else { return false };
    let place = dice.throw();
    page.insert_entry(place, entry)
}
