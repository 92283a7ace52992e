//! Envelopes that are none: a wrong label, entries with no slot or several, no entries.

use crate::format_tree::FormatTree;
use crate::mutator::Apply;
use crate::node::{Node, quoted};
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use formats::FORMATS;
use transcript::rejection::Code;

mutators! {
    "transport-wrong" ["ENV-TRANSPORT"] "An envelope names another transport, or one in another spelling."
        => Relation::Rejects(Code::WrongTransport), Apply::Spelling(|tree, rng| {
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
        });
    "transport-missing" ["ENV-TRANSPORT"] "An envelope names no transport."
        => Relation::Rejects(Code::WrongTransport), Apply::Spelling(|tree, _| envelope(tree, |envelope| envelope.remove("transport")));
    "entries-missing" ["ENV-EMPTY"] "An envelope has no array of entries."
        => Relation::Rejects(Code::MissingEntries), Apply::Spelling(|tree, rng| {
            let form = rng.pick(&[None, Some("null"), Some("{}"), Some("0")]).copied().flatten();
            envelope(tree, |envelope| match form {
                None => envelope.remove("entries"),
                Some(form) => envelope.set("entries", Node::leaf(form)),
            })
        });
    "entry-without-slot" ["ENV-ONE"] "An entry has none of request, response and sse."
        => Relation::Rejects(Code::InvalidEntry), Apply::Spelling(|tree, rng| {
            let forms = [
                "{}",
                r#"{"timestamp_ms":1}"#,
                r#"{"Request":{"jsonrpc":"2.0","method":"ping"}}"#,
                r#"{"jsonrpc":"2.0","method":"ping"}"#,
            ];
            insert(tree, rng, rng.clone().pick(&forms).copied())
        });
    "entry-with-two-slots" ["ENV-ONE"] "An entry has several of request, response and sse."
        => Relation::Rejects(Code::InvalidEntry), Apply::Spelling(|tree, rng| {
            let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
            let two = format!(r#"{{"request":{note},"response":{note}}}"#);
            let other = format!(r#"{{"sse":{{"event":"ping"}},"request":{note}}}"#);
            let form = if rng.one_in(2) { two } else { other };
            insert(tree, rng, Some(&form))
        });
    "entry-no-object" ["ENV-ONE" "SRV-BYTES"] "An entry is not an object."
        => Relation::Rejects(Code::InvalidEntry), Apply::Spelling(|tree, rng| {
            let forms = ["[]", "7", "null", "\"entry\"", r#"[{"jsonrpc":"2.0","method":"ping"}]"#];
            insert(tree, rng, rng.clone().pick(&forms).copied())
        });
    "envelope-bare" ["ENV-EMPTY" "ENV-TRANSPORT"] "The entries of an envelope have no envelope around them."
        => Relation::Rejects(Code::WrongDocument), Apply::Spelling(|tree, _| {
            envelope(tree, |envelope| {
                if let Some(entries) = envelope.get("entries").cloned() {
                    *envelope = entries;
                }
            })
        });
    "entry-null-beside" ["ENV-NULL" "ENV-ONE"] "An entry with a message has another slot, which is null."
        => Relation::Open(Reading::Known), Apply::Spelling(|tree, rng| {
            tree.one_entry(rng, |entry| {
                let slots = ["request", "response", "sse"];
                let other = slots.iter().find(|slot| entry.get(slot).is_none());
                other.is_some_and(|slot| {
                    entry.set(slot, Node::leaf("null"));
                    true
                })
            })
        });
    "entry-slot-twice" ["SRV-TWICE" "ENV-ONE"] "An entry names its slot twice."
        => Relation::Open(Reading::Free), Apply::Spelling(|tree, rng| {
            let same = rng.one_in(2);
            tree.one_entry(rng, |entry| {
                let slot = ["request", "response"].into_iter().find(|slot| entry.get(slot).is_some());
                let other = Node::parse(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
                let value = if same { slot.and_then(|slot| entry.get(slot).cloned()) } else { other };
                let (Node::Object(members), Some(slot), Some(value)) = (entry.bare_mut(), slot, value) else {
                    return false;
                };
                members.push((format!("\"{slot}\""), value));
                true
            })
        });
    "event-ids-odd" ["ENV-LOOSE"] "The id of an envelope's event is not a string."
        => Relation::Open(Reading::Known), Apply::Spelling(|tree, rng| {
            let form = rng.pick(&["7", "null", "true", "1.5"]).copied().unwrap_or("7");
            tree.one_entry(rng, |entry| {
                let event = entry.get_mut("sse").filter(|event| event.get("data").is_some());
                event.is_some_and(|event| {
                    event.set("id", Node::leaf(form));
                    true
                })
            })
        });
    "event-data-scalar" ["SSE-DATA-TEXT"] "The data of a message event is a number, true or null."
        => Relation::Open(Reading::Known), Apply::Spelling(|tree, rng| {
            let forms = ["7", "true", "null", "1.5"]
                .map(|data| format!(r#"{{"sse":{{"event":"message","data":{data}}}}}"#));
            insert(tree, rng, rng.clone().pick(&forms).map(String::as_str))
        });
    "entry-null" ["ENV-NULL"] "An entry has a slot that is null, as of an answer without a body."
        => Relation::Open(Reading::Known), Apply::Spelling(|tree, rng| {
            let forms = [r#"{"request":null}"#, r#"{"response":null}"#, r#"{"sse":null}"#];
            insert(tree, rng, rng.clone().pick(&forms).copied())
        });
    "entry-oauth-error" ["ENV-NULL"] "An answer with an error status has a body that is not JSON-RPC."
        => Relation::Open(Reading::Known), Apply::Spelling(|tree, rng| {
            let form = r#"{"transport_context":{"status":401},"response":{"error":"invalid_token","error_description":"x"}}"#;
            insert(tree, rng, Some(form))
        });
}

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
