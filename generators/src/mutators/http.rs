//! What HTTP and SSE put around messages: none of it changes a meaning, but for what is delivered twice.

use super::dice::Dice;
use super::node::{Node, quoted};
use super::page::Page;
use super::{Apply, Mutator};
use crate::relation::Relation;
use crate::variant::{Draft, Turn};
use formats::TransportContext;
use transcript::session::{Carrier, Side, Sse};

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "http-session-ids",
        sentence: "Every entry has headers with a session id, in several cases.",
        clauses: &["EQ-CONTEXT"],
        relation: Relation::Same,
        apply: Apply::Session(session_ids),
    },
    Mutator {
        name: "http-statuses",
        sentence: "Answers have statuses, also those that say an error while they carry a message.",
        clauses: &["EQ-CONTEXT"],
        relation: Relation::Same,
        apply: Apply::Session(statuses),
    },
    Mutator {
        name: "http-header-case",
        sentence: "The names of headers are written in another case.",
        clauses: &["EQ-CONTEXT", "K2A-SUMMARY"],
        relation: Relation::Same,
        apply: Apply::Spelling(header_case),
    },
    Mutator {
        name: "http-event-ids",
        sentence: "Messages of the server come as events with ids: counted, equal, empty, with letters of all sorts.",
        clauses: &["EQ-CONTEXT"],
        relation: Relation::Same,
        apply: Apply::Session(event_ids),
    },
    Mutator {
        name: "http-redelivery",
        sentence: "An event is delivered again under its id: a message again, and its answer an orphan.",
        clauses: &["EQ-CONTEXT", "EQ-COUNT"],
        relation: Relation::Changes,
        apply: Apply::Session(redelivery),
    },
    Mutator {
        name: "http-all-events",
        sentence: "Everything that the server says comes on a stream.",
        clauses: &["EQ-PAIR", "EQ-CONTEXT"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, _| slots(draft, |_| Carrier::Sse)),
    },
    Mutator {
        name: "http-no-events",
        sentence: "Everything that the server says comes in a body of its own.",
        clauses: &["EQ-PAIR", "EQ-CONTEXT"],
        relation: Relation::Same,
        apply: Apply::Session(|draft, _| slots(draft, |_| Carrier::Response)),
    },
];

/// The turns that carry a message of the server.
fn sent(draft: &mut Draft) -> impl Iterator<Item = &mut Turn> {
    draft.turns.iter_mut().filter(|turn| turn.message.is_some() && turn.entry.side == Some(Side::Server))
}

fn surround(turn: &mut Turn, status: Option<u16>, name: &str, value: &str) {
    let head = status.map(|status| format!("\"status\":{status},")).unwrap_or_default();
    let text = format!("{{{head}\"headers\":{{{}:{}}}}}", quoted(name), quoted(value));
    turn.entry.context = Some(TransportContext {
        text,
        status,
        headers: vec![(name.to_owned().into(), value.to_owned().into())],
    });
}

fn session_ids(draft: &mut Draft, dice: &mut Dice) -> bool {
    let mut took = false;
    for turn in &mut draft.turns {
        if turn.message.is_some() && turn.entry.context.is_none() {
            let name = dice
                .pick(&["Mcp-Session-Id", "mcp-session-id", "MCP-SESSION-ID"])
                .copied()
                .unwrap_or_default();
            surround(turn, None, name, &format!("session-{}", dice.below(3)));
            took = true;
        }
    }
    took
}

fn statuses(draft: &mut Draft, dice: &mut Dice) -> bool {
    let mut took = false;
    for turn in sent(draft) {
        if turn.entry.context.is_none() && turn.entry.carrier != Carrier::Sse {
            turn.entry.carrier = Carrier::Response;
            let status = dice.pick(&[200, 202, 400, 401, 404, 500]).copied();
            surround(turn, status, "Content-Type", "application/json");
            took = true;
        }
    }
    took
}

fn header_case(page: &mut Page, dice: &mut Dice) -> bool {
    let mut took = false;
    let mut recase =
        |name: &mut String| {
            let other: String =
                name.chars()
                    .map(|letter| {
                        if dice.one_in(2) { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
                    })
                    .collect();
            took |= other != *name;
            *name = other;
        };
    for frame in page.frames() {
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

fn event_ids(draft: &mut Draft, dice: &mut Dice) -> bool {
    let (form, mut count, mut took) = (dice.below(4), 0, false);
    for turn in sent(draft).filter(|turn| turn.entry.context.is_none()) {
        let id = match form {
            0 => count.to_string(),
            1 => "7".to_owned(),
            2 => String::new(),
            _ => format!("{count:x}/0:é {{}}"),
        };
        turn.entry.carrier = Carrier::Sse;
        let name = turn.entry.sse.take().and_then(|sse| sse.name);
        turn.entry.sse = Some(Sse { name, id: Some(id.into()), ..Sse::default() });
        count += 1;
        took = true;
    }
    took
}

fn redelivery(draft: &mut Draft, dice: &mut Dice) -> bool {
    let turns = 0..draft.turns.len();
    let events: Vec<_> = turns
        .filter(|&at| {
            let turn = &draft.turns[at];
            turn.message.is_some() && turn.entry.side == Some(Side::Server) && turn.entry.context.is_none()
        })
        .collect();
    let Some(&at) = dice.pick(&events) else { return false };
    let turn = &mut draft.turns[at];
    // A tool call of the server's would be a second one with its id, which is another matter.
    if turn.message.as_ref().is_some_and(|message| message.is("tool_call")) {
        return false;
    }
    turn.entry.carrier = Carrier::Sse;
    let sse = turn.entry.sse.get_or_insert_default();
    sse.id = Some(format!("again-{at}").into());
    let again = turn.clone();
    let place = at + 1 + dice.below(draft.turns.len() - at);
    draft.turns.insert(place, again);
    true
}

fn slots(draft: &mut Draft, slot: impl Fn(&Turn) -> Carrier) -> bool {
    let mut took = false;
    for turn in sent(draft).filter(|turn| turn.entry.context.is_none()) {
        turn.entry.carrier = slot(turn);
        if turn.entry.carrier != Carrier::Sse {
            turn.entry.sse = None;
        }
        took = true;
    }
    took
}
