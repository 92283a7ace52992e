//! Faults about which events there are, and in which order.

use super::contract::Outcome;
use super::found::Found;
use super::{Mutant, Mutation, mutant, trivial};
use transcript::meaning::EventKind;
use transcript::session::Carrier;

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "events/no-orphans",
        &["EQ-COUNT", "COR-LATE"],
        "drops answers that belong to no request",
        dropped(|outcome, at| {
            let event = &outcome.events[at];
            event.is_response() && event.answers.is_none()
        }),
    ),
    mutant(
        "events/no-notifications",
        &["EQ-COUNT"],
        "drops notifications",
        dropped(|outcome, at| outcome.events[at].kind == EventKind::Notification),
    ),
    mutant(
        "events/no-progress",
        &["EQ-COUNT"],
        "drops progress notifications",
        dropped(|outcome, at| outcome.events[at].is_method("notifications/progress")),
    ),
    mutant(
        "events/no-pings",
        &["EQ-COUNT"],
        "drops pings and their answers as keepalives",
        dropped(|outcome, at| {
            let asked = outcome.events[at].answers.unwrap_or(at);
            outcome.events[asked].is_method("ping")
        }),
    ),
    mutant(
        "events/no-errors",
        &["EQ-COUNT"],
        "drops error answers",
        dropped(|outcome, at| outcome.events[at].kind == EventKind::Error),
    ),
    mutant(
        "events/answered-calls-alone",
        &["EQ-COUNT"],
        "shows a tool call only when it was answered",
        dropped(|outcome, at| {
            outcome.events[at].kind == EventKind::ToolCall
                && !outcome.events.iter().any(|event| event.answers == Some(at))
        }),
    ),
    mutant(
        "events/no-handshake",
        &["EQ-COUNT"],
        "leaves the handshake out",
        dropped(|outcome, at| {
            let asked = outcome.events[at].answers.unwrap_or(at);
            let asked = &outcome.events[asked];
            asked.is_method("initialize") || asked.is_method("notifications/initialized")
        }),
    ),
    mutant(
        "events/after-the-handshake",
        &["EQ-COUNT"],
        "begins with `initialize`, where there is one",
        dropped(|outcome, at| {
            outcome
                .events
                .iter()
                .position(|event| event.is_method("initialize"))
                .is_some_and(|first| at < first)
        }),
    ),
    trivial(
        "events/handshake-wanted",
        &["EQ-COUNT"],
        "shows nothing of a session without `initialize`",
        dropped(|outcome, _| !outcome.events.iter().any(|event| event.is_method("initialize"))),
    ),
    mutant("events/first-fifty", &["EQ-COUNT"], "shows the first fifty events", dropped(|_, at| at >= 50)),
    trivial(
        "events/last-one-lost",
        &["EQ-COUNT"],
        "loses the last event",
        dropped(|outcome, at| at + 1 == outcome.events.len()),
    ),
    mutant(
        "events/nameless-calls-dropped-in-lines",
        &["TOOL-NAMELESS", "EQ-COUNT"],
        "drops a tool call without a name, in lines alone",
        Mutation::Meaning(|format, outcome| {
            outcome.retain(|outcome, at| {
                let event = &outcome.events[at];
                let named = event.values.iter().any(|(name, _)| *name == "tool");
                format != "jsonrpc" || event.kind != EventKind::ToolCall || named
            });
        }),
    ),
    mutant(
        "events/nameless-rejected-in-lines",
        &["TOOL-NAMELESS"],
        "rejects a tool call without a name, but in lines alone",
        Mutation::Answer(|asked| {
            let nameless = asked.found.entries.iter().filter_map(|seen| seen.said.as_ref()).any(|said| {
                said.kind == EventKind::ToolCall
                    && !said.values.iter().any(|(name, value)| *name == "tool" && value.starts_with('"'))
            });
            (nameless && asked.format.name == "jsonrpc").then(|| super::survival::rejection("not-a-message"))
        }),
    ),
    mutant(
        "events/equal-notifications-merged",
        &["EQ-COUNT"],
        "merges notifications that are equal",
        Mutation::Found(|_, found| merge(found, |kind| kind == EventKind::Notification)),
    ),
    mutant(
        "events/equal-messages-merged",
        &["EQ-COUNT", "EQ-CONTEXT"],
        "takes a message that was there before, byte for byte, for a redelivery",
        Mutation::Found(|_, found| merge(found, |_| true)),
    ),
    mutant(
        "events/redelivery-merged",
        &["EQ-CONTEXT", "EQ-COUNT"],
        "drops an SSE event whose id was there before",
        Mutation::Found(|_, found| {
            let mut seen = std::collections::BTreeSet::new();
            found.entries.retain(|entry| {
                entry.said.is_none()
                    || entry.event_id.as_ref().is_none_or(|id| id.is_empty() || seen.insert(id.clone()))
            });
        }),
    ),
    mutant(
        "events/repeated-answers-dropped",
        &["COR-LATE", "EQ-COUNT"],
        "drops an answer whose request has been answered with the same",
        dropped(|outcome, at| {
            let event = &outcome.events[at];
            event.is_response()
                && outcome.events[..at].iter().any(|before| {
                    before.is_response() && before.id == event.id && before.values == event.values
                })
        }),
    ),
    mutant(
        "events/by-time",
        &["EQ-ORDER", "RPL-ORDER"],
        "puts messages in the order of their timestamps",
        Mutation::Found(|format, found| {
            if !matches!(format, "inspector" | "har") {
                found.entries.sort_by_key(|seen| seen.time.unwrap_or_default());
            }
        }),
    ),
    mutant(
        "events/ties-reversed",
        &["EQ-ORDER"],
        "reverses messages that share a timestamp",
        Mutation::Found(|_, found| {
            found.entries.reverse();
            found.entries.sort_by_key(|seen| seen.time.unwrap_or_default());
        }),
    ),
    mutant(
        "events/by-kind",
        &["EQ-ORDER"],
        "lists calls first and answers after them",
        arranged(|outcome| {
            let mut order: Vec<usize> = (0..outcome.events.len()).collect();
            order.sort_by_key(|&at| outcome.events[at].is_response());
            order
        }),
    ),
    mutant(
        "events/by-exchange",
        &["EQ-ORDER"],
        "puts each answer behind its request",
        arranged(|outcome| {
            let mut order: Vec<usize> = (0..outcome.events.len()).collect();
            order.sort_by_key(|&at| (outcome.events[at].answers.unwrap_or(at), at));
            order
        }),
    ),
    mutant(
        "events/streams-last",
        &["EQ-ORDER"],
        "reads requests and responses first and streams after them",
        Mutation::Found(|format, found| {
            if format != "har" {
                found.entries.sort_by_key(|seen| seen.carrier == Carrier::Sse);
            }
        }),
    ),
    mutant(
        "events/requests-by-id",
        &["EQ-ORDER"],
        "keeps requests in a map ordered by id",
        arranged(|outcome| {
            let calls: Vec<usize> = (0..outcome.events.len())
                .filter(|&at| !outcome.events[at].is_response() && outcome.events[at].id.is_some())
                .collect();
            let mut sorted = calls.clone();
            sorted.sort_by_key(|&at| outcome.events[at].id.clone());
            let place = |at: usize| calls.iter().position(|&call| call == at).map_or(at, |nth| sorted[nth]);
            (0..outcome.events.len()).map(place).collect()
        }),
    ),
    mutant(
        "events/by-session-header",
        &["EQ-CONTEXT"],
        "reads the messages of the first session id alone",
        Mutation::Found(|_, found| {
            let session = |seen: &super::found::Seen| {
                let context = seen.context.as_ref()?;
                let header =
                    context.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
                header.map(|(_, value)| value.clone())
            };
            let first = found.entries.iter().find_map(session);
            found.entries.retain(|seen| session(seen).is_none() || session(seen) == first);
        }),
    ),
    mutant(
        "events/context-is-shown",
        &["EQ-CONTEXT"],
        "takes a message with a status of 400 and more for an error",
        Mutation::Found(|_, found| {
            for seen in &mut found.entries {
                let failed = seen.context.as_ref().is_some_and(|context| context.status >= Some(400));
                if let Some(said) = seen.said.as_mut().filter(|said| failed && said.kind == EventKind::Result)
                {
                    said.kind = EventKind::Error;
                }
            }
        }),
    ),
    mutant(
        "events/sse-id-is-the-id",
        &["EQ-CONTEXT"],
        "takes the id of an SSE event for the id of its message",
        Mutation::Found(|_, found| {
            for seen in &mut found.entries {
                if let (Some(said), Some(id)) = (&mut seen.said, &seen.event_id) {
                    said.id = super::found::Id::Text(id.clone().into_bytes());
                }
            }
        }),
    ),
    mutant(
        "events/one-format-differs",
        &["EQ-PAIR"],
        "numbers the tool calls of an Inspector file from 1, ids or not",
        Mutation::Meaning(|format, outcome| {
            let calls = outcome.events.iter_mut().filter(|event| event.kind == EventKind::ToolCall);
            for (number, event) in (1..).zip(calls).take(if format == "inspector" { 9 } else { 0 }) {
                event.id = Some(format!("{number}").into_bytes());
            }
        }),
    ),
    mutant(
        "events/is-error-is-an-error",
        &["EQ-OUTCOME"],
        "shows a result with isError as an error",
        Mutation::Meaning(|_, outcome| {
            for event in &mut outcome.events {
                let failed = |value: &String| value.replace(' ', "").contains("\"isError\":true");
                if event.kind == EventKind::Result && event.values.iter().any(|(_, value)| failed(value)) {
                    event.kind = EventKind::Error;
                    for (name, _) in &mut event.values {
                        *name = "error";
                    }
                }
            }
        }),
    ),
    mutant(
        "events/errors-are-results",
        &["EQ-OUTCOME"],
        "shows an error as a result",
        Mutation::Meaning(|_, outcome| {
            for event in outcome.events.iter_mut().filter(|event| event.kind == EventKind::Error) {
                event.kind = EventKind::Result;
                for (name, _) in &mut event.values {
                    *name = "result";
                }
            }
        }),
    ),
    mutant(
        "events/null-result-is-none",
        &["EQ-OUTCOME"],
        "drops a result that is null, 0, false or empty",
        dropped(|outcome, at| {
            let event = &outcome.events[at];
            let falsy = |value: &str| matches!(value, "null" | "0" | "false" | "\"\"");
            event.kind == EventKind::Result && event.values.iter().any(|(_, value)| falsy(value))
        }),
    ),
    mutant(
        "events/calls-are-requests",
        &["ID-MISSING", "ID-NULL"],
        "takes a tool call without an id for a notification",
        Mutation::Meaning(|_, outcome| {
            for event in &mut outcome.events {
                if event.kind == EventKind::ToolCall && event.id.is_none() {
                    event.kind = EventKind::Notification;
                    event.method = Some(b"tools/call".to_vec());
                    event.values.clear();
                }
            }
        }),
    ),
    mutant(
        "events/tools-are-calls",
        &["EQ-TOOL"],
        "takes every method that begins with tools/ for a tool call",
        Mutation::Meaning(|_, outcome| {
            for event in &mut outcome.events {
                if event.method.as_ref().is_some_and(|method| method.starts_with(b"tools/")) {
                    event.kind = EventKind::ToolCall;
                    event.method = None;
                    event.values.clear();
                }
            }
        }),
    ),
    mutant(
        "events/methods-without-case",
        &["EQ-TOOL"],
        "compares method names without case",
        Mutation::Meaning(|_, outcome| {
            for event in &mut outcome.events {
                if event.method.as_ref().is_some_and(|method| method.eq_ignore_ascii_case(b"tools/call")) {
                    event.kind = EventKind::ToolCall;
                    event.method = None;
                }
            }
        }),
    ),
];

/// A reader that loses these events.
const fn dropped(lost: fn(&Outcome, usize) -> bool) -> Mutation {
    Mutation::Loss(lost)
}

/// A reader that gives the events in this order.
const fn arranged(order: fn(&Outcome) -> Vec<usize>) -> Mutation {
    Mutation::Order(order)
}

fn merge(found: &mut Found, merges: impl Fn(EventKind) -> bool) {
    let mut seen = std::collections::BTreeSet::new();
    found.entries.retain(|entry| {
        entry.said.as_ref().is_none_or(|said| !merges(said.kind) || seen.insert(said.text.clone()))
    });
}
