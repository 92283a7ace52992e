//! What HTTP and SSE put around messages: none of it changes a meaning, but for what is delivered twice.

use super::challenge::surroundings;
use crate::format_tree::{FormatTree, change_each};
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::Relation;
use crate::rng::Rng;
use crate::session_builder::{Entry, SessionBuilder};
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
        => Relation::Same, Apply::Session(|builder, _| carry(builder, Carrier::Sse));
    "http-no-events" ["EQ-PAIR" "EQ-CONTEXT"] "Everything that the server says comes in a body of its own."
        => Relation::Same, Apply::Session(|builder, _| carry(builder, Carrier::Response));
}

/// The entries that carry a message of the server.
fn sent(builder: &mut SessionBuilder) -> impl Iterator<Item = &mut Entry> {
    builder
        .entries
        .iter_mut()
        .filter(|entry| entry.message.is_some() && entry.owned.side == Some(Side::Server))
}

fn session_ids(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    let names = ["Mcp-Session-Id", "mcp-session-id", "MCP-SESSION-ID"];
    let bare = |entry: &&mut Entry| entry.message.is_some() && entry.owned.context.is_none();
    change_each(builder.entries.iter_mut().filter(bare), |entry| {
        let name = rng.pick(&names).copied().unwrap_or_default();
        let id = format!("session-{}", rng.below(3));
        entry.owned.context = Some(surroundings(None, &[(name, &id)]));
        true
    })
}

fn statuses(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    let bare = |entry: &&mut Entry| entry.owned.context.is_none() && entry.owned.carrier != Carrier::Sse;
    change_each(sent(builder).filter(bare), |entry| {
        let status = rng.pick(&[200, 202, 400, 401, 404, 500]).copied();
        entry.owned.carrier = Carrier::Response;
        entry.owned.context = Some(surroundings(status, &[("Content-Type", "application/json")]));
        true
    })
}

fn header_case(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let mut recase = |name: &mut String| {
        let mut letter =
            |it: char| if rng.one_in(2) { it.to_ascii_uppercase() } else { it.to_ascii_lowercase() };
        let other: String = name.chars().map(&mut letter).collect();
        let took = other != *name;
        *name = other;
        took
    };
    change_each(tree.frames(), |frame| {
        change_each(["transport_context", "request", "response"], |part| {
            match frame.get_mut(part).and_then(|part| part.get_mut("headers")) {
                Some(Node::Object(headers)) => change_each(headers, |(name, _)| recase(name)),
                Some(Node::Array(headers)) => change_each(headers, |header| match header.get_mut("name") {
                    Some(Node::Leaf(name)) => recase(name),
                    _ => false,
                }),
                _ => false,
            }
        })
    })
}

fn event_ids(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    let form = rng.below(4);
    let bare = sent(builder).filter(|entry| entry.owned.context.is_none());
    change_each((0..).zip(bare), |(count, entry): (u32, _)| {
        let id = match form {
            0 => count.to_string(),
            1 => "7".to_owned(),
            2 => String::new(),
            _ => format!("{count:x}/0:é {{}}"),
        };
        entry.owned.carrier = Carrier::Sse;
        let name = entry.owned.sse.take().and_then(|sse| sse.name);
        entry.owned.sse = Some(Sse { name, id: Some(id.into()), ..Sse::default() });
        true
    })
}

fn redelivery(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    let mut events = builder.messages_where(|_| true);
    events.retain(|&at| {
        let owned = &builder.entries[at].owned;
        owned.side == Some(Side::Server) && owned.context.is_none()
    });
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

fn carry(builder: &mut SessionBuilder, carrier: Carrier) -> bool {
    change_each(sent(builder).filter(|entry| entry.owned.context.is_none()), |entry| {
        entry.owned.carrier = carrier;
        entry.owned.sse.take_if(|_| carrier != Carrier::Sse);
        true
    })
}
