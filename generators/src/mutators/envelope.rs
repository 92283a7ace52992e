//! Envelopes that are none: a wrong label, entries with no slot or several, no entries.

use super::dice::Dice;
use super::node::Node;
use super::page::Page;
use super::{Apply, Mutator};
use crate::relation::{Reading, Relation};
use transcript::rejection::Code;

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "transport-wrong",
        sentence: "An envelope names another transport, or one in another spelling.",
        clauses: &["ENV-TRANSPORT"],
        relation: Relation::Rejects(Code::WrongTransport),
        apply: Apply::Spelling(|page, dice| {
            let forms = [
                "\"stdio\"",
                "\"Streamable-HTTP\"",
                "\"sse-legacy\"",
                "\"streamable_http\"",
                "null",
                "\"\"",
                "[]",
            ];
            let form = dice.pick(&forms).copied().unwrap_or("null");
            envelope(page, |envelope| envelope.set("transport", Node::leaf(form)))
        }),
    },
    Mutator {
        name: "transport-missing",
        sentence: "An envelope names no transport.",
        clauses: &["ENV-TRANSPORT"],
        relation: Relation::Rejects(Code::WrongTransport),
        apply: Apply::Spelling(|page, _| envelope(page, |envelope| envelope.remove("transport"))),
    },
    Mutator {
        name: "entries-missing",
        sentence: "An envelope has no array of entries.",
        clauses: &["ENV-EMPTY"],
        relation: Relation::Rejects(Code::MissingEntries),
        apply: Apply::Spelling(|page, dice| {
            let form = dice.pick(&[None, Some("null"), Some("{}"), Some("0")]).copied().flatten();
            envelope(page, |envelope| match form {
                None => envelope.remove("entries"),
                Some(form) => envelope.set("entries", Node::leaf(form)),
            })
        }),
    },
    Mutator {
        name: "entry-without-slot",
        sentence: "An entry has none of request, response and sse.",
        clauses: &["ENV-ONE"],
        relation: Relation::Rejects(Code::InvalidEntry),
        apply: Apply::Spelling(|page, dice| {
            let forms = ["{}", r#"{"timestamp_ms":1}"#, r#"{"Request":{"jsonrpc":"2.0","method":"ping"}}"#];
            insert(page, dice, dice.clone().pick(&forms).copied())
        }),
    },
    Mutator {
        name: "entry-with-two-slots",
        sentence: "An entry has several of request, response and sse.",
        clauses: &["ENV-ONE"],
        relation: Relation::Rejects(Code::InvalidEntry),
        apply: Apply::Spelling(|page, dice| {
            let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            let two = format!(r#"{{"request":{note},"response":{note}}}"#);
            let other = format!(r#"{{"sse":{{"event":"ping"}},"request":{note}}}"#);
            let form = if dice.one_in(2) { two } else { other };
            insert(page, dice, Some(&form))
        }),
    },
    Mutator {
        name: "entry-null",
        sentence: "An entry has a slot that is null, as of an answer without a body.",
        clauses: &["ENV-NULL"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Spelling(|page, dice| {
            let forms = [r#"{"request":null}"#, r#"{"response":null}"#, r#"{"sse":null}"#];
            insert(page, dice, dice.clone().pick(&forms).copied())
        }),
    },
    Mutator {
        name: "entry-oauth-error",
        sentence: "An answer with an error status has a body that is no JSON-RPC.",
        clauses: &["ENV-NULL"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Spelling(|page, dice| {
            let form = r#"{"transport_context":{"status":401},"response":{"error":"invalid_token","error_description":"x"}}"#;
            insert(page, dice, Some(form))
        }),
    },
];

fn envelope(page: &mut Page, change: impl FnOnce(&mut Node)) -> bool {
    let Some(document) = page.values.first_mut().filter(|document| document.get("transport").is_some())
    else {
        return false;
    };
    change(document);
    true
}

fn insert(page: &mut Page, dice: &mut Dice, entry: Option<&str>) -> bool {
    dice.throw();
    let place = dice.throw();
    entry.and_then(Node::parse).is_some_and(|entry| page.insert_entry(place, entry))
}
