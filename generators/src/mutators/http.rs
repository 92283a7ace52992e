//! What HTTP and SSE put around messages: none of it changes a meaning, but for what is delivered twice.

use crate::format_tree::FormatTree;
use crate::mutator::Apply;
use crate::node::{Node, quoted};
use crate::relation::Relation;
use crate::rng::Rng;
use crate::session_builder::{Entry, SessionBuilder};
use formats::TransportContext;
use transcript::session::{Carrier, Side, Sse};

mutators! {
    "http-session-ids" ["EQ-CONTEXT"] "Every entry has headers with a session id, in several cases."
        => Relation::Same, Apply::Session(session_ids);
    "http-statuses" ["EQ-CONTEXT"] "Answers have statuses, also those that say an error while they carry a message."
        => Relation::Same, Apply::Session(statuses);
    "http-header-case" ["EQ-CONTEXT" "K2A-SUMMARY"] "The names of headers are written in another case."
        => Relation::Same, Apply::Spelling(header_case);
    "http-event-ids" ["EQ-CONTEXT"] "Messages of the server come as events with ids: counted, equal, empty, with letters of all sorts."
        => Relation::Same, Apply::Session(event_ids);
    "http-redelivery" ["EQ-CONTEXT" "EQ-COUNT"] "An event is delivered again under its id: a message again, and its answer an orphan."
        => Relation::Changes, Apply::Session(redelivery);
    "http-all-events" ["EQ-PAIR" "EQ-CONTEXT"] "Everything that the server says comes on a stream."
        => Relation::Same, Apply::Session(|builder, _| slots(builder, |_| Carrier::Sse));
    "http-no-events" ["EQ-PAIR" "EQ-CONTEXT"] "Everything that the server says comes in a body of its own."
        => Relation::Same, Apply::Session(|builder, _| slots(builder, |_| Carrier::Response));
}

/// The entries that carry a message of the server.
fn sent(builder: &mut SessionBuilder) -> impl Iterator<Item = &mut Entry> {
    builder
        .entries
        .iter_mut()
        .filter(|entry| entry.message.is_some() && entry.owned.side == Some(Side::Server))
}

fn surround(entry: &mut Entry, status: Option<u16>, name: &str, value: &str) {
    let head = status.map(|status| format!("\"status\":{status},")).unwrap_or_default();
    let text = format!("{{{head}\"headers\":{{{}:{}}}}}", quoted(name), quoted(value));
    entry.owned.context = Some(TransportContext {
        text,
        status,
        headers: vec![(name.to_owned().into(), value.to_owned().into())],
    });
}

fn session_ids(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    let mut took = false;
    for entry in &mut builder.entries {
        if entry.message.is_some() && entry.owned.context.is_none() {
            let name = rng
                .pick(&["Mcp-Session-Id", "mcp-session-id", "MCP-SESSION-ID"])
                .copied()
                .unwrap_or_default();
            surround(entry, None, name, &format!("session-{}", rng.below(3)));
            took = true;
        }
    }
    took
}

fn statuses(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    let mut took = false;
    for entry in sent(builder) {
        if entry.owned.context.is_none() && entry.owned.carrier != Carrier::Sse {
            entry.owned.carrier = Carrier::Response;
            let status = rng.pick(&[200, 202, 400, 401, 404, 500]).copied();
            surround(entry, status, "Content-Type", "application/json");
            took = true;
        }
    }
    took
}

fn header_case(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let mut took = false;
    let mut recase =
        |name: &mut String| {
            let other: String =
                name.chars()
                    .map(|letter| {
                        if rng.one_in(2) { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
                    })
                    .collect();
            took |= other != *name;
            *name = other;
        };
    for frame in tree.frames() {
        if let Some(Node::Object(headers)) =
            frame.get_mut("transport_context").and_then(|it| it.get_mut("headers"))
        {
            headers.iter_mut().for_each(|(name, _)| recase(name));
        }
        for part in ["request", "response"] {
            let Some(Node::Array(headers)) = frame.get_mut(part).and_then(|part| part.get_mut("headers"))
            else {
                continue;
            };
            for name in headers.iter_mut().filter_map(|header| header.get_mut("name")) {
                if let Node::Leaf(name) = name {
                    recase(name);
                }
            }
        }
    }
    took
}

fn event_ids(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    let (form, mut count, mut took) = (rng.below(4), 0, false);
    for entry in sent(builder).filter(|entry| entry.owned.context.is_none()) {
        let id = match form {
            0 => count.to_string(),
            1 => "7".to_owned(),
            2 => String::new(),
            _ => format!("{count:x}/0:é {{}}"),
        };
        entry.owned.carrier = Carrier::Sse;
        let name = entry.owned.sse.take().and_then(|sse| sse.name);
        entry.owned.sse = Some(Sse { name, id: Some(id.into()), ..Sse::default() });
        count += 1;
        took = true;
    }
    took
}

fn redelivery(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    let entries = 0..builder.entries.len();
    let events: Vec<_> = entries
        .filter(|&at| {
            let entry = &builder.entries[at];
            entry.message.is_some() && entry.owned.side == Some(Side::Server) && entry.owned.context.is_none()
        })
        .collect();
    let Some(&at) = rng.pick(&events) else { return false };
    let entry = &mut builder.entries[at];
    // A tool call of the server's would be a second one with its id, which is another matter.
    if entry.message.as_ref().is_some_and(|message| message.is("tool_call")) {
        return false;
    }
    entry.owned.carrier = Carrier::Sse;
    let sse = entry.owned.sse.get_or_insert_default();
    sse.id = Some(format!("again-{at}").into());
    let again = entry.clone();
    let place = at + 1 + rng.below(builder.entries.len() - at);
    builder.entries.insert(place, again);
    true
}

fn slots(builder: &mut SessionBuilder, slot: impl Fn(&Entry) -> Carrier) -> bool {
    let mut took = false;
    for entry in sent(builder).filter(|entry| entry.owned.context.is_none()) {
        entry.owned.carrier = slot(entry);
        if entry.owned.carrier != Carrier::Sse {
            entry.owned.sse = None;
        }
        took = true;
    }
    took
}
