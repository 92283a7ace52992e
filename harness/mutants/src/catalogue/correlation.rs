//! Mistakes about which answer belongs to which request, and about who asked.

use crate::on_reading::{
    bind, compared_ids, duplicates, duplicates_among, id_for, lose_messages, on_outcome, on_read_message,
    reject_outcome, wait_for,
};
use crate::outcome::Outcome;
use crate::policy::{contract_bind, contract_duplicate};
use crate::reading::Id;
use transcript::meaning::EventKind;
use transcript::session::Side;

mutants! {
    "correlation/newest-first" ["COR-FIRST"] "binds an answer to the newest open request with its id"
        => bind(|requests, response| requests.iter().rposition(|it| it.matches(response) && !it.answered));
    "correlation/first-request-only" ["COR-FIRST"] "lets an id be used once: what reuses it is never answered"
        => bind(|requests, response| {
            requests.iter().position(|it| it.matches(response)).filter(|&at| !requests[at].answered)
        });
    "correlation/in-turn" ["COR-FIRST"] "gives answers to requests in turn, whatever their ids are"
        => bind(|requests, response| {
            response.key.as_ref()?;
            requests.iter().position(|request| !request.answered && request.requestor == response.requestor())
        });
    "correlation/errors-do-not-answer" ["COR-FIRST"] "binds only results"
        => bind(|requests, response| {
            contract_bind(requests, response).filter(|_| response.message.kind == EventKind::Result)
        });
    "correlation/null-result-is-no-answer" ["COR-FIRST" "EQ-OUTCOME"] "does not take a null result for an answer"
        => bind(|requests, response| {
            let null = response.message.values.iter().any(|(_, value)| value == "null");
            contract_bind(requests, response).filter(|_| !null)
        });
    "correlation/thirty-two-at-once" ["COR-FIRST"] "keeps no more than 32 requests open"
        => bind(|requests, response| {
            let at = contract_bind(requests, response)?;
            let newer = requests[at..].iter().filter(|request| !request.answered).count();
            (newer <= 32).then_some(at)
        });
    "correlation/unanswered-rejected" ["COR-FIRST"] "rejects a transcript with an unanswered call"
        => reject_outcome(|outcome| {
            let open = |at: usize| outcome.events[at].kind == EventKind::ToolCall && !outcome.is_answered(at);
            (0..outcome.events.len()).any(open)
        });
    "correlation/cancelled-is-closed" ["COR-FIRST"] "closes a request when it is cancelled, so that its answer is an orphan"
        => on_outcome(|outcome| {
            unbind(outcome, |outcome, asked, at| {
                let id = outcome.events[asked].id.clone().unwrap_or_default();
                let id = String::from_utf8_lossy(&id).into_owned();
                outcome.events[asked..at].iter().any(|event| {
                    event.is_method("notifications/cancelled")
                        && event.values.iter().any(|(_, value)| value.contains(&id))
                })
            });
        });
    "correlation/progress-answers" ["COR-FIRST" "COR-ANY"] "takes the first thing after a call for its answer, even a progress notification"
        => on_outcome(|outcome| {
            unbind(outcome, |outcome, asked, at| {
                outcome.events[asked + 1..at].iter().any(|event| event.is_method("notifications/progress"))
            });
        });
    "correlation/turned-away-is-closed" ["COR-FIRST"] "binds no answer to a request that HTTP turned away"
        => bind(|requests, response| {
            requests.iter().position(|it| !it.answered && it.matches(response) && !it.turned_away)
        });
    "correlation/turned-away-is-dropped" ["COR-FIRST" "EQ-COUNT"] "leaves out a request that HTTP turned away"
        => lose_messages(|entry, message| entry.turned_away && !message.is_response());
    "correlation/turned-away-is-a-duplicate" ["COR-FIRST" "COR-DUPLICATE"] "rejects a tool call that HTTP turned away and that comes again"
        => duplicates(|before, call| {
            before.iter().any(|it| it.message.kind == EventKind::ToolCall && it.key == call.key)
        });
    "correlation/answered-again" ["COR-LATE"] "binds a second answer to the request that has one already"
        => bind(|requests, response| {
            let late = || requests.iter().rposition(|request| request.matches(response));
            contract_bind(requests, response).or_else(late)
        });
    "correlation/errors-come-first" ["COR-LATE"] "lets an error answer a request that was answered with a result"
        => bind(|requests, response| {
            let late = || requests.iter().rposition(|request| request.matches(response));
            contract_bind(requests, response)
                .or_else(|| (response.message.kind == EventKind::Error).then(late)?)
        });
    "correlation/orphans-to-the-last-call" ["COR-LATE"] "gives an orphan to the last request that is open"
        => bind(|requests, response| {
            let open = || requests.iter().rposition(|request| !request.answered);
            contract_bind(requests, response).or_else(|| response.key.as_ref().and_then(|_| open()))
        });
    "correlation/orphans-rejected" ["COR-LATE" "COR-BEFORE"] "rejects a transcript with an orphan"
        => reject_outcome(|outcome| {
            outcome.events.iter().any(|event| event.is_response() && event.answers.is_none())
        });
    "correlation/answers-wait" ["COR-BEFORE"] "lets an answer wait for a request that comes later"
        => on_outcome(|outcome| {
            for at in 0..outcome.events.len() {
                let event = &outcome.events[at];
                if event.is_response() && event.answers.is_none() && event.id.is_some() {
                    let asks = |later: &usize| {
                        let other = &outcome.events[*later];
                        !other.is_response() && other.id == event.id && !outcome.is_answered(*later)
                    };
                    outcome.events[at].answers = (at + 1..outcome.events.len()).find(asks);
                }
            }
        });
    "correlation/whole-file" ["COR-BEFORE" "COR-FIRST"] "collects all requests by id before it looks at the answers"
        => on_outcome(|outcome| {
            for at in 0..outcome.events.len() {
                let id = outcome.events[at].id.clone();
                if outcome.events[at].is_response() && id.is_some() {
                    let first = |other: &crate::outcome::Event| !other.is_response() && other.id == id;
                    outcome.events[at].answers = outcome.events.iter().position(first);
                }
            }
        });
    "correlation/duplicates-pass" ["COR-DUPLICATE"] "reads two tool calls with one id" => duplicates(|_, _| false);
    "correlation/duplicates-while-open" ["COR-DUPLICATE"] "refuses a tool call's id only as long as the first call is open"
        => duplicates_among(|request, _| !request.answered);
    "correlation/duplicates-nearby" ["COR-DUPLICATE"] "looks for a duplicate only among the last two requests"
        => duplicates(|before, call| contract_duplicate(&before[before.len().saturating_sub(2)..], call));
    "correlation/duplicates-by-side" ["COR-DUPLICATE"] "finds no duplicate in calls of different sides"
        => duplicates_among(|request, call| request.requestor == call.requestor);
    "correlation/duplicates-by-tool" ["COR-DUPLICATE"] "takes an equal call with an equal id for a retry"
        => duplicates_among(|request, call| request.message.values != call.message.values);
    "correlation/nulls-are-duplicates" ["ID-NULL" "COR-DUPLICATE"] "rejects two tool calls with null ids as duplicates"
        => compared_ids(id_for(|message| message.id == Id::Null && message.kind == EventKind::ToolCall, b"\0null"));
    "correlation/tool-calls-only" ["COR-ANY"] "binds answers only to tool calls" => wait_for(|it| it.kind == EventKind::ToolCall);
    "correlation/tool-answers-by-shape" ["COR-ANY"] "gives a result with `content` to the oldest open tool call"
        => bind(|requests, response| {
            let content = response.message.values.iter().any(|(_, value)| value.contains("\"content\""));
            let call = || requests.iter().position(|it| it.message.kind == EventKind::ToolCall && !it.answered);
            if content { call() } else { contract_bind(requests, response) }
        });
    "correlation/initialize-is-apart" ["COR-ANY"] "does not wait for the answer to `initialize`"
        => wait_for(|message| !message.is_method("initialize"));
    "correlation/ping-is-noise" ["COR-ANY"] "does not wait for the answer to `ping`"
        => wait_for(|message| !message.is_method("ping"));
    "correlation/notifications-have-no-id" ["COR-ANY"] "takes whatever is called notifications/… for one, with an id or without"
        => wait_for(|message| !message.is_method_of(&["notifications/"]));
    "direction/one-table" ["COR-DIRECTION"] "keeps the requests of both sides in one table"
        => bind(|requests, response| requests.iter().position(|it| !it.answered && it.has_id_of(response)));
    "direction/last-writer" ["COR-DIRECTION"] "lets a server's request replace a client's with the same id"
        => bind(|requests, response| {
            requests.iter().rposition(|it| it.has_id_of(response)).filter(|&at| !requests[at].answered)
        });
    "direction/own-answers" ["COR-DIRECTION"] "binds an answer to a request of its own sender"
        => bind(|requests, response| {
            let own = |it: &crate::policy::Request| it.has_id_of(response) && it.requestor == response.sender;
            requests.iter().position(|it| !it.answered && own(it))
        });
    "direction/clients-do-not-answer" ["COR-DIRECTION"] "does not bind what a client answers"
        => bind(|requests, response| {
            contract_bind(requests, response).filter(|_| response.sender != Some(Side::Client))
        });
    "direction/client-answers-dropped" ["EQ-COUNT"] "drops what a client answers"
        => lose_messages(|entry, message| entry.side == Some(Side::Client) && message.is_response());
    "direction/server-requests-dropped" ["EQ-COUNT"] "drops what a server asks"
        => lose_messages(|entry, message| entry.side == Some(Side::Server) && message.kind == EventKind::Request);
    "direction/flat-lines" ["COR-DIRECTION-FLAT"] "takes every answer in lines for a server's, and matches no answer to a server's request"
        => on_read_message(|entry| {
            if let Some(message) = &entry.message {
                let server = message.is_response()
                    || message.is_method_of(&["sampling/", "roots/", "elicitation/"]);
                entry.side = Some(if server { Side::Server } else { Side::Client });
            }
        }).only("jsonrpc");
}

/// Makes orphans of the bound answers for which `lost` holds; it is given the indices of the request and the answer.
fn unbind(outcome: &mut Outcome, lost: impl Fn(&Outcome, usize, usize) -> bool) {
    for at in 0..outcome.events.len() {
        if outcome.events[at].answers.is_some_and(|asked| lost(outcome, asked, at)) {
            outcome.events[at].answers = None;
        }
    }
}
