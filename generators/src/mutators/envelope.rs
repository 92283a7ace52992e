//! Envelopes that are none: a wrong label, entries with no slot or several, no entries.

use crate::format_tree::FormatTree;
use crate::mutator::{Apply, Mutator};
use crate::node::{Node, quoted};
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use formats::FORMATS;
use transcript::rejection::Code;

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "transport-wrong",
        sentence: "An envelope names another transport, or one in another spelling.",
        clauses: &["ENV-TRANSPORT"],
        relation: Relation::Rejects(Code::WrongTransport),
        apply: Apply::Spelling(|tree, rng| {
            let forms = [
                "\"stdio\"",
                "\"Streamable-HTTP\"",
                "\"sse-legacy\"",
                "\"streamable_http\"",
                "null",
                "\"\"",
                "[]",
                "",
                "",
            ];
            // An empty form is the name of the other envelope.
            let mut others =
                FORMATS.iter().filter(|other| other.is_envelope() && other.name != tree.format.name);
            let other = others.next().map(|other| quoted(other.name)).unwrap_or_default();
            let form = rng.pick(&forms).copied().filter(|form| !form.is_empty()).unwrap_or(&other);
            envelope(tree, |envelope| envelope.set("transport", Node::leaf(form)))
        }),
    },
    Mutator {
        name: "transport-missing",
        sentence: "An envelope names no transport.",
        clauses: &["ENV-TRANSPORT"],
        relation: Relation::Rejects(Code::WrongTransport),
        apply: Apply::Spelling(|tree, _| envelope(tree, |envelope| envelope.remove("transport"))),
    },
    Mutator {
        name: "entries-missing",
        sentence: "An envelope has no array of entries.",
        clauses: &["ENV-EMPTY"],
        relation: Relation::Rejects(Code::MissingEntries),
        apply: Apply::Spelling(|tree, rng| {
            let form = rng.pick(&[None, Some("null"), Some("{}"), Some("0")]).copied().flatten();
            envelope(tree, |envelope| match form {
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
        apply: Apply::Spelling(|tree, rng| {
            let forms = [
                "{}",
                r#"{"timestamp_ms":1}"#,
                r#"{"Request":{"jsonrpc":"2.0","method":"ping"}}"#,
                r#"{"jsonrpc":"2.0","method":"ping"}"#,
            ];
            insert(tree, rng, rng.clone().pick(&forms).copied())
        }),
    },
    Mutator {
        name: "entry-with-two-slots",
        sentence: "An entry has several of request, response and sse.",
        clauses: &["ENV-ONE"],
        relation: Relation::Rejects(Code::InvalidEntry),
        apply: Apply::Spelling(|tree, rng| {
            let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            let two = format!(r#"{{"request":{note},"response":{note}}}"#);
            let other = format!(r#"{{"sse":{{"event":"ping"}},"request":{note}}}"#);
            let form = if rng.one_in(2) { two } else { other };
            insert(tree, rng, Some(&form))
        }),
    },
    Mutator {
        name: "entry-no-object",
        sentence: "An entry is not an object.",
        clauses: &["ENV-ONE", "SRV-BYTES"],
        relation: Relation::Rejects(Code::InvalidEntry),
        apply: Apply::Spelling(|tree, rng| {
            let forms = ["[]", "7", "null", "\"entry\"", r#"[{"jsonrpc":"2.0","method":"ping"}]"#];
            insert(tree, rng, rng.clone().pick(&forms).copied())
        }),
    },
    Mutator {
        name: "envelope-bare",
        sentence: "The entries of an envelope have no envelope around them.",
        clauses: &["ENV-EMPTY", "ENV-TRANSPORT"],
        relation: Relation::Rejects(Code::WrongDocument),
        apply: Apply::Spelling(|tree, _| {
            envelope(tree, |envelope| {
                if let Some(entries) = envelope.get("entries").cloned() {
                    *envelope = entries;
                }
            })
        }),
    },
    Mutator {
        name: "entry-null-beside",
        sentence: "An entry with a message has another slot, which is null.",
        clauses: &["ENV-NULL", "ENV-ONE"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Spelling(|tree, rng| {
            one_entry(tree, rng, |entry| {
                let slots = ["request", "response", "sse"];
                let other = slots.iter().find(|slot| entry.get(slot).is_none());
                other.is_some_and(|slot| {
                    entry.set(slot, Node::leaf("null"));
                    true
                })
            })
        }),
    },
    Mutator {
        name: "entry-slot-twice",
        sentence: "An entry names its slot twice.",
        clauses: &["SRV-TWICE", "ENV-ONE"],
        relation: Relation::Open(Reading::Free),
        apply: Apply::Spelling(|tree, rng| {
            let same = rng.one_in(2);
            one_entry(tree, rng, |entry| {
                let slot = ["request", "response"].into_iter().find(|slot| entry.get(slot).is_some());
                let other = Node::parse(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
                let value = if same { slot.and_then(|slot| entry.get(slot).cloned()) } else { other };
                let (Node::Object(members), Some(slot), Some(value)) = (entry.bare_mut(), slot, value) else {
                    return false;
                };
                members.push((format!("\"{slot}\""), value));
                true
            })
        }),
    },
    Mutator {
        name: "event-ids-odd",
        sentence: "The id of an envelope's event is not a string.",
        clauses: &["ENV-LOOSE"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Spelling(|tree, rng| {
            let form = rng.pick(&["7", "null", "true", "1.5"]).copied().unwrap_or("7");
            one_entry(tree, rng, |entry| {
                let event = entry.get_mut("sse").filter(|event| event.get("data").is_some());
                event.is_some_and(|event| {
                    event.set("id", Node::leaf(form));
                    true
                })
            })
        }),
    },
    Mutator {
        name: "event-data-scalar",
        sentence: "The data of a message event is a number, true or null.",
        clauses: &["SSE-DATA-TEXT"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Spelling(|tree, rng| {
            let forms = ["7", "true", "null", "1.5"]
                .map(|data| format!(r#"{{"sse":{{"event":"message","data":{data}}}}}"#));
            insert(tree, rng, rng.clone().pick(&forms).map(String::as_str))
        }),
    },
    Mutator {
        name: "entry-null",
        sentence: "An entry has a slot that is null, as of an answer without a body.",
        clauses: &["ENV-NULL"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Spelling(|tree, rng| {
            let forms = [r#"{"request":null}"#, r#"{"response":null}"#, r#"{"sse":null}"#];
            insert(tree, rng, rng.clone().pick(&forms).copied())
        }),
    },
    Mutator {
        name: "entry-oauth-error",
        sentence: "An answer with an error status has a body that is no JSON-RPC.",
        clauses: &["ENV-NULL"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Spelling(|tree, rng| {
            let form = r#"{"transport_context":{"status":401},"response":{"error":"invalid_token","error_description":"x"}}"#;
            insert(tree, rng, Some(form))
        }),
    },
];

fn envelope(tree: &mut FormatTree, change: impl FnOnce(&mut Node)) -> bool {
    let is_envelope = tree.format.is_envelope();
    let Some(document) = tree.values.first_mut().filter(|_| is_envelope) else {
        return false;
    };
    change(document);
    true
}

fn insert(tree: &mut FormatTree, rng: &mut Rng, entry: Option<&str>) -> bool {
    rng.next_u64();
    let place = rng.next_u64();
    entry.and_then(Node::parse).is_some_and(|entry| tree.insert_entry(place, entry))
}

/// The first entry, from a random one on, that `change` takes.
fn one_entry(tree: &mut FormatTree, rng: &mut Rng, change: impl FnMut(&mut Node) -> bool) -> bool {
    let mut entries: Vec<&mut Node> = tree.entries().collect();
    let first = rng.below(entries.len());
    entries.rotate_left(first);
    entries.into_iter().any(change)
}
