//! Mistakes about which events there are, of which kind, and in which order.

use crate::on_reading::{
    lose_events, on_events, on_outcome, on_read_message, on_reading, sort_entries, sort_events,
};
use crate::outcome::{Event, Outcome};
use crate::reading::{Id, ReadEntry, Reading};
use std::collections::BTreeSet;
use transcript::meaning::EventKind;
use transcript::session::Carrier;

mutants! {
    "events/no-orphans" ["EQ-COUNT" "COR-LATE"] "drops answers that belong to no request"
        => lose_events(|outcome, at| outcome.events[at].is_response() && outcome.events[at].answers.is_none());
    "events/no-notifications" ["EQ-COUNT"] "drops notifications"
        => lose_events(|outcome, at| outcome.events[at].kind == EventKind::Notification);
    "events/no-progress" ["EQ-COUNT"] "drops progress notifications"
        => lose_events(|outcome, at| outcome.events[at].is_method("notifications/progress"));
    "events/no-pings" ["EQ-COUNT"] "drops pings and their answers as keepalives"
        => lose_events(|outcome, at| outcome.request_of(at).is_method("ping"));
    "events/no-errors" ["EQ-COUNT"] "drops error answers"
        => lose_events(|outcome, at| outcome.events[at].kind == EventKind::Error);
    "events/answered-calls-only" ["EQ-COUNT"] "shows a tool call only when it was answered"
        => lose_events(|outcome, at| outcome.events[at].kind == EventKind::ToolCall && !outcome.is_answered(at));
    "events/no-handshake" ["EQ-COUNT"] "leaves the handshake out"
        => lose_events(|outcome, at| {
            let asked = outcome.request_of(at);
            asked.is_method("initialize") || asked.is_method("notifications/initialized")
        });
    "events/after-the-handshake" ["EQ-COUNT"] "begins with `initialize`, where there is one"
        => lose_events(|outcome, at| {
            let first = outcome.events.iter().position(|event| event.is_method("initialize"));
            first.is_some_and(|first| at < first)
        });
    "events/first-fifty" ["EQ-COUNT"] "shows the first fifty events" => lose_events(|_, at| at >= 50);
    "events/nameless-calls-dropped-in-lines" ["TOOL-NAMELESS" "EQ-COUNT"] "drops a tool call without a name, only in lines"
        => lose_events(|outcome, at| is_nameless(&outcome.events[at])).only("jsonrpc");
    "members/nameless-is-empty" ["TOOL-NAMELESS"] "names a nameless tool ``, only in streamable-http"
        => on_events(|event| {
            if is_nameless(event) {
                event.values.push(("tool", "\"\"".to_owned()));
            }
        }).only("streamable-http");
    "events/equal-notifications-merged" ["EQ-COUNT"] "merges notifications that are equal"
        => on_reading(|reading| merge(reading, |kind| kind == EventKind::Notification));
    "events/equal-messages-merged" ["EQ-COUNT" "EQ-CONTEXT"] "takes a message that was there before, byte for byte, for a redelivery"
        => on_reading(|reading| merge(reading, |_| true));
    "events/redelivery-merged" ["EQ-CONTEXT" "EQ-COUNT"] "drops an SSE event whose id was there before"
        => on_reading(|reading| {
            let mut seen = BTreeSet::new();
            reading.entries.retain(|entry| {
                let id = entry.event_id.as_ref().filter(|id| entry.message.is_some() && !id.is_empty());
                id.is_none_or(|id| seen.insert(id.clone()))
            });
        });
    "events/repeated-answers-dropped" ["COR-LATE" "EQ-COUNT"] "drops an answer whose request has been answered with the same"
        => lose_events(|outcome, at| {
            let (before, event) = (&outcome.events[..at], &outcome.events[at]);
            let same = |it: &Event| it.is_response() && it.id == event.id && it.values == event.values;
            event.is_response() && before.iter().any(same)
        });
    "events/by-time" ["EQ-ORDER" "RPL-ORDER"] "puts messages in the order of their timestamps"
        => sort_entries(|entry| entry.time.unwrap_or_default()).except(&["har", "inspector"]);
    "events/ties-reversed" ["EQ-ORDER"] "reverses messages that share a timestamp"
        => on_reading(|reading| {
            reading.entries.reverse();
            reading.entries.sort_by_key(|entry| entry.time.unwrap_or_default());
        });
    "events/by-kind" ["EQ-ORDER"] "lists calls first and answers after them"
        => sort_events(|outcome, at| outcome.events[at].is_response());
    "events/by-exchange" ["EQ-ORDER"] "puts each answer behind its request"
        => sort_events(|outcome, at| (outcome.events[at].answers.unwrap_or(at), at));
    "events/streams-last" ["EQ-ORDER"] "reads requests and responses first and streams after them"
        => sort_entries(|entry| entry.carrier == Carrier::Sse).except(&["har"]);
    "events/requests-by-id" ["EQ-ORDER"] "keeps requests in a map ordered by id" => on_outcome(requests_by_id);
    "events/by-session-header" ["EQ-CONTEXT"] "reads only the messages of the first session id"
        => on_reading(|reading| {
            let first = reading.entries.iter().find_map(session);
            reading.entries.retain(|entry| session(entry).is_none() || session(entry) == first);
        });
    "events/context-is-shown" ["EQ-CONTEXT"] "takes a message with a status of 400 and more for an error"
        => on_read_message(|entry| {
            let failed = entry.failed();
            if let Some(message) = entry.message.as_mut().filter(|it| failed && it.kind == EventKind::Result) {
                message.kind = EventKind::Error;
            }
        });
    "events/sse-id-is-the-id" ["EQ-CONTEXT"] "takes the id of an SSE event for the id of its message"
        => on_read_message(|entry| {
            if let (Some(message), Some(id)) = (&mut entry.message, &entry.event_id) {
                message.id = Id::Text(id.clone().into_bytes());
            }
        });
    "events/one-format-differs" ["EQ-PAIR"] "numbers the tool calls of an Inspector file from 1, ids or not"
        => on_outcome(|outcome| {
            let calls = outcome.events.iter_mut().filter(|event| event.kind == EventKind::ToolCall);
            for (number, event) in (1..10).zip(calls) {
                event.id = Some(number.to_string().into_bytes());
            }
        }).only("inspector");
    "events/is-error-is-an-error" ["EQ-OUTCOME"] "shows a result with isError as an error"
        => on_events(|event| {
            let failed = |value: &str| value.replace(' ', "").contains("\"isError\":true");
            if event.kind == EventKind::Result && event.value("result").is_some_and(failed) {
                become_kind(event, EventKind::Error, "error");
            }
        });
    "events/errors-are-results" ["EQ-OUTCOME"] "shows an error as a result"
        => on_events(|event| {
            if event.kind == EventKind::Error {
                become_kind(event, EventKind::Result, "result");
            }
        });
    "events/calls-are-requests" ["ID-MISSING" "ID-NULL"] "takes a tool call without an id for a notification"
        => on_events(|event| {
            if event.kind == EventKind::ToolCall && event.id.is_none() {
                event.kind = EventKind::Notification;
                event.method = Some(b"tools/call".to_vec());
                event.values.clear();
            }
        });
    "events/tools-are-calls" ["EQ-TOOL"] "takes every method that begins with tools/ for a tool call"
        => on_events(|event| {
            if event.method.as_ref().is_some_and(|method| method.starts_with(b"tools/")) {
                event.kind = EventKind::ToolCall;
                event.method = None;
                event.values.clear();
            }
        });
    "events/methods-without-case" ["EQ-TOOL"] "compares method names without case"
        => on_events(|event| {
            if event.method.as_ref().is_some_and(|method| method.eq_ignore_ascii_case(b"tools/call")) {
                event.kind = EventKind::ToolCall;
                event.method = None;
            }
        });
}

fn is_nameless(event: &Event) -> bool {
    event.kind == EventKind::ToolCall && event.value("tool").is_none()
}

fn become_kind(event: &mut Event, kind: EventKind, member: &'static str) {
    event.kind = kind;
    for (name, _) in &mut event.values {
        *name = member;
    }
}

fn merge(reading: &mut Reading, merges: impl Fn(EventKind) -> bool) {
    let mut seen = BTreeSet::new();
    reading.entries.retain(|entry| {
        let message = entry.message.as_ref().filter(|message| merges(message.kind));
        message.is_none_or(|message| seen.insert(message.text.clone()))
    });
}

fn session(entry: &ReadEntry) -> Option<String> {
    let headers = &entry.context.as_ref()?.headers;
    let header = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("mcp-session-id"));
    header.map(|(_, value)| value.clone())
}

fn requests_by_id(outcome: &mut Outcome) {
    let is_call = |at: &usize| !outcome.events[*at].is_response() && outcome.events[*at].id.is_some();
    let calls: Vec<usize> = (0..outcome.events.len()).filter(is_call).collect();
    let mut sorted = calls.clone();
    sorted.sort_by_key(|&at| outcome.events[at].id.clone());
    let place = |at: usize| calls.iter().position(|&call| call == at).map_or(at, |nth| sorted[nth]);
    let order: Vec<usize> = (0..outcome.events.len()).map(place).collect();
    outcome.arrange(&order);
}
