//! Faults about which answer belongs to which request.

use super::contract::{FAITHFUL, Habits, Request, Response, faithful_bind, faithful_duplicate};
use super::found::Said;
use super::{Mutant, Mutation, mutant};
use transcript::meaning::EventKind;

const fn bind(bind: fn(&[Request], &Response<'_>) -> Option<usize>) -> Mutation {
    Mutation::Habit(Habits { bind, ..FAITHFUL })
}

const fn duplicate(duplicate: fn(&[Request], &Request) -> bool) -> Mutation {
    Mutation::Habit(Habits { duplicate, ..FAITHFUL })
}

const fn waits(waits: fn(&Said) -> bool) -> Mutation {
    Mutation::Habit(Habits { waits, ..FAITHFUL })
}

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "correlation/newest-first",
        &["COR-FIRST"],
        "binds an answer to the newest open request with its id",
        bind(|requests, response| {
            (0..requests.len()).rev().find(|&at| fits(requests, at, response) && !requests[at].answered)
        }),
    ),
    mutant(
        "correlation/one-slot-an-id",
        &["COR-FIRST"],
        "forgets an open request when another one comes with its id",
        bind(|requests, response| {
            (0..requests.len()).rfind(|&at| fits(requests, at, response)).filter(|&at| !requests[at].answered)
        }),
    ),
    mutant(
        "correlation/first-request-alone",
        &["COR-FIRST"],
        "lets an id be used once: what reuses it is never answered",
        bind(|requests, response| {
            (0..requests.len()).find(|&at| fits(requests, at, response)).filter(|&at| !requests[at].answered)
        }),
    ),
    mutant(
        "correlation/reuse-refused",
        &["COR-FIRST"],
        "rejects a request whose id was used before",
        Mutation::Answer(|asked| {
            let mut seen = std::collections::BTreeSet::new();
            let again = asked.found.entries.iter().any(|entry| {
                entry.said.as_ref().filter(|said| !said.is_response()).is_some_and(|said| {
                    super::contract::faithful_id(said).is_some_and(|id| !seen.insert((lane(entry.side), id)))
                })
            });
            again.then(|| super::survival::rejection("invalid-id"))
        }),
    ),
    mutant(
        "correlation/in-turn",
        &["COR-FIRST"],
        "gives answers to requests in turn, whatever their ids are",
        bind(|requests, response| {
            response.key.as_ref()?;
            requests.iter().position(|request| !request.answered && request.requestor == response.requestor())
        }),
    ),
    mutant(
        "correlation/answered-again",
        &["COR-LATE"],
        "binds a second answer to the request that has one already",
        bind(|requests, response| {
            let faithful = faithful_bind(requests, response);
            faithful.or_else(|| (0..requests.len()).rfind(|&at| fits(requests, at, response)))
        }),
    ),
    mutant(
        "correlation/last-answer-wins",
        &["COR-LATE"],
        "lets the last answer to a request win, and makes orphans of the others",
        Mutation::Meaning(|_, outcome| {
            // A later answer with the id of an answer before it, and no request of its own, takes that one's place.
            for at in 0..outcome.events.len() {
                let event = &outcome.events[at];
                if !event.is_response() || event.answers.is_some() || event.id.is_none() {
                    continue;
                }
                let id = event.id.clone();
                let before = (0..at).rfind(|&before| {
                    let other = &outcome.events[before];
                    other.is_response() && other.id == id && other.answers.is_some()
                });
                if let Some(before) = before {
                    outcome.events[at].answers = outcome.events[before].answers.take();
                }
            }
        }),
    ),
    mutant(
        "correlation/orphans-to-the-last-call",
        &["COR-LATE"],
        "gives an orphan to the last request that is open",
        bind(|requests, response| {
            let open = || requests.iter().rposition(|request| !request.answered);
            faithful_bind(requests, response).or_else(|| response.key.as_ref().and_then(|_| open()))
        }),
    ),
    mutant(
        "correlation/orphans-rejected",
        &["COR-LATE", "COR-BEFORE"],
        "rejects a transcript with an orphan",
        Mutation::Answer(|asked| {
            let outcome = super::contract::carry_out(&asked.found.entries, &FAITHFUL).ok()?;
            let orphan = outcome.events.iter().any(|event| event.is_response() && event.answers.is_none());
            orphan.then(|| super::survival::rejection("not-a-message"))
        }),
    ),
    mutant(
        "correlation/unanswered-rejected",
        &["COR-FIRST"],
        "rejects a transcript with a call that nobody answered",
        Mutation::Answer(|asked| {
            let outcome = super::contract::carry_out(&asked.found.entries, &FAITHFUL).ok()?;
            let open = (0..outcome.events.len()).any(|at| {
                outcome.events[at].kind == EventKind::ToolCall
                    && !outcome.events.iter().any(|event| event.answers == Some(at))
            });
            open.then(|| super::survival::rejection("truncated"))
        }),
    ),
    mutant(
        "correlation/answers-wait",
        &["COR-BEFORE"],
        "lets an answer wait for a request that comes later",
        Mutation::Meaning(|_, outcome| {
            for at in 0..outcome.events.len() {
                let event = &outcome.events[at];
                if !event.is_response() || event.answers.is_some() || event.id.is_none() {
                    continue;
                }
                let id = event.id.clone();
                let asked = (at + 1..outcome.events.len()).find(|&later| {
                    let other = &outcome.events[later];
                    !other.is_response()
                        && other.id == id
                        && !outcome.events.iter().any(|event| event.answers == Some(later))
                });
                outcome.events[at].answers = asked;
            }
        }),
    ),
    mutant(
        "correlation/whole-file",
        &["COR-BEFORE", "COR-FIRST"],
        "collects all requests by id before it looks at the answers",
        Mutation::Meaning(|_, outcome| {
            for event in 0..outcome.events.len() {
                if !outcome.events[event].is_response() || outcome.events[event].id.is_none() {
                    continue;
                }
                let id = outcome.events[event].id.clone();
                outcome.events[event].answers =
                    outcome.events.iter().position(|other| !other.is_response() && other.id == id);
            }
        }),
    ),
    mutant(
        "correlation/duplicates-pass",
        &["COR-DUPLICATE"],
        "reads two tool calls with one id",
        duplicate(|_, _| false),
    ),
    mutant(
        "correlation/duplicates-while-open",
        &["COR-DUPLICATE"],
        "refuses a tool call's id only as long as the first call is open",
        duplicate(|before, call| {
            let open: Vec<Request> = before.iter().filter(|request| !request.answered).cloned().collect();
            faithful_duplicate(&open, call)
        }),
    ),
    mutant(
        "correlation/duplicates-nearby",
        &["COR-DUPLICATE"],
        "looks for a duplicate among the last two requests alone",
        duplicate(|before, call| faithful_duplicate(&before[before.len().saturating_sub(2)..], call)),
    ),
    mutant(
        "correlation/duplicates-by-type",
        &["COR-DUPLICATE"],
        "finds no duplicate in the ids 1 and `1`",
        duplicate(|before, call| {
            let same: Vec<Request> =
                before.iter().filter(|request| request.said.id == call.said.id).cloned().collect();
            faithful_duplicate(&same, call)
        }),
    ),
    mutant(
        "correlation/duplicates-by-side",
        &["COR-DUPLICATE"],
        "finds no duplicate in calls of different sides",
        duplicate(|before, call| {
            let same: Vec<Request> =
                before.iter().filter(|request| request.requestor == call.requestor).cloned().collect();
            faithful_duplicate(&same, call)
        }),
    ),
    mutant(
        "correlation/duplicates-by-tool",
        &["COR-DUPLICATE"],
        "takes an equal call with an equal id for a retry",
        duplicate(|before, call| {
            let other: Vec<Request> =
                before.iter().filter(|request| request.said.values != call.said.values).cloned().collect();
            faithful_duplicate(&other, call)
        }),
    ),
    mutant(
        "correlation/duplicates-of-any-method",
        &["COR-DUPLICATE"],
        "rejects a tool call whose id some other request had",
        duplicate(|before, call| {
            before.iter().any(|request| request.key == call.key && request.requestor == call.requestor)
        }),
    ),
    mutant(
        "correlation/nulls-are-duplicates",
        &["ID-NULL", "COR-DUPLICATE"],
        "rejects two tool calls with null ids as duplicates",
        Mutation::Habit(Habits {
            key: |said| {
                let null = said.id == super::found::Id::Null && said.kind == EventKind::ToolCall;
                super::contract::faithful_id(said).or_else(|| null.then(|| b"\0null".to_vec()))
            },
            ..FAITHFUL
        }),
    ),
    mutant(
        "correlation/tool-calls-alone",
        &["COR-ANY"],
        "binds answers to tool calls alone",
        waits(|said| said.kind == EventKind::ToolCall),
    ),
    mutant(
        "correlation/tool-answers-by-shape",
        &["COR-ANY"],
        "gives a result with `content` to the oldest open tool call",
        bind(|requests, response| {
            let content = response.said.values.iter().any(|(_, value)| value.contains("\"content\""));
            let call = || {
                requests
                    .iter()
                    .position(|request| request.said.kind == EventKind::ToolCall && !request.answered)
            };
            if content { call() } else { faithful_bind(requests, response) }
        }),
    ),
    mutant(
        "correlation/initialize-is-apart",
        &["COR-ANY"],
        "does not wait for the answer to `initialize`",
        waits(|said| !said.is_method("initialize")),
    ),
    mutant(
        "correlation/ping-is-noise",
        &["COR-ANY"],
        "does not wait for the answer to `ping`",
        waits(|said| !said.is_method("ping")),
    ),
    mutant(
        "correlation/known-methods",
        &["COR-ANY"],
        "waits for the answers to methods that it knows from the specification",
        waits(|said| {
            let known: [&[u8]; 7] =
                [b"initialize", b"ping", b"tools/", b"resources/", b"prompts/", b"sampling/", b"roots/"];
            said.method.as_ref().is_some_and(|method| known.iter().any(|known| method.starts_with(known)))
        }),
    ),
    mutant(
        "correlation/notifications-have-no-id",
        &["COR-ANY"],
        "takes whatever is called notifications/… for one, with an id or without",
        waits(|said| !said.method.as_ref().is_some_and(|method| method.starts_with(b"notifications/"))),
    ),
    mutant(
        "correlation/errors-do-not-answer",
        &["COR-FIRST"],
        "binds results alone",
        bind(|requests, response| {
            faithful_bind(requests, response).filter(|_| response.said.kind == EventKind::Result)
        }),
    ),
    mutant(
        "correlation/errors-come-first",
        &["COR-LATE"],
        "lets an error answer a request that was answered with a result",
        bind(|requests, response| {
            let late = || (0..requests.len()).rfind(|&at| fits(requests, at, response));
            faithful_bind(requests, response)
                .or_else(|| (response.said.kind == EventKind::Error).then(late)?)
        }),
    ),
    mutant(
        "correlation/null-result-is-no-answer",
        &["COR-FIRST", "EQ-OUTCOME"],
        "does not take a null result for an answer",
        bind(|requests, response| {
            let null = response.said.values.iter().any(|(_, value)| value == "null");
            faithful_bind(requests, response).filter(|_| !null)
        }),
    ),
    mutant(
        "correlation/cancelled-is-closed",
        &["COR-FIRST"],
        "closes a request when it is cancelled, so that its answer is an orphan",
        Mutation::Meaning(|_, outcome| {
            for at in 0..outcome.events.len() {
                let Some(asked) = outcome.events[at].answers else { continue };
                let id = outcome.events[asked].id.clone().unwrap_or_default();
                let id = String::from_utf8_lossy(&id).into_owned();
                let cancelled = outcome.events[asked..at].iter().any(|event| {
                    event.is_method("notifications/cancelled")
                        && event.values.iter().any(|(_, value)| value.contains(&*id))
                });
                if cancelled {
                    outcome.events[at].answers = None;
                }
            }
        }),
    ),
    mutant(
        "correlation/progress-answers",
        &["COR-FIRST", "COR-ANY"],
        "takes the first thing after a call for its answer, a progress notification too",
        Mutation::Meaning(|_, outcome| {
            for at in 0..outcome.events.len() {
                let Some(asked) = outcome.events[at].answers else { continue };
                let between = asked + 1..at;
                if outcome.events[between].iter().any(|event| event.is_method("notifications/progress")) {
                    outcome.events[at].answers = None;
                }
            }
        }),
    ),
    mutant(
        "correlation/thirty-two-at-once",
        &["COR-FIRST"],
        "keeps no more than 32 requests open",
        bind(|requests, response| {
            let at = faithful_bind(requests, response)?;
            let newer = requests[at..].iter().filter(|request| !request.answered).count();
            (newer <= 32).then_some(at)
        }),
    ),
];

/// Whether the request at this place has the response's id and was put to its sender.
fn fits(requests: &[Request], at: usize, response: &Response<'_>) -> bool {
    response.key.as_ref() == Some(&requests[at].key) && requests[at].requestor == response.requestor()
}

fn lane(side: Option<transcript::session::Side>) -> u8 {
    side.map_or(0, |side| 1 + u8::from(side == transcript::session::Side::Server))
}
