//! Multi round-trip requests: the second attempt, and what a server makes of it.
//!
//! A second attempt by its `inputResponses` or `requestState`, and which question it answers by its method and its
//! other params. Memory: up to [`MOST_QUESTIONS`] questions with up to [`MOST_KEYS`] keys each, and [`MOST_RETRIES`]
//! attempts that are unanswered.

use super::modern::{client_of, gist, is_clients, may_be_one};
use super::mrtr::asks_for_input;
use crate::engine::{
    Family, FindingLocation, MessageKind, PendingRequest, RuleContext, RuleVisitor, SeenMessage, Span,
    TAKEN_OUT, Trigger, Violation, quoted, why_not_whole,
};
use crate::rule::Rule;
use std::collections::{BTreeMap, VecDeque};
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "retries",
    title: "Requests that come back with input",
    rules: &[&NEW_ID, &STATE_ECHO, &STATE_ABSENT, &INPUTS_FIRST, &ISOLATION, &REREQUEST, &IGNORE_EXTRA],
    triggers: &[Trigger::Kinds(MessageKind::CALLS)],
    visitor: || Box::new(RetriesState::default()),
};

const MOST_QUESTIONS: usize = 256;
const MOST_KEYS: usize = 1_000;
const MOST_RETRIES: usize = 1_000;

/// Longer params, states and lists of keys are not followed.
const LONGEST: usize = 1 << 16;

const OURS: Rule = Rule {
    span: Span::MODERN,
    source: "basic/patterns/mrtr#client-requirements-basic-workflow",
    ..Rule::BLANK.client()
};

static NEW_ID: Rule = Rule {
    id: "mrtr.retry.new-id",
    title: "A request that is sent again with input has a new id",
    why: "It is a new request; logs and gateways take the same id for a repeat of the first.",
    fix: "Take the next id.",
    ..OURS
};

static STATE_ECHO: Rule = Rule {
    id: "mrtr.retry.state-echo",
    relational: true,
    title: "A request that is sent again repeats `requestState` exactly",
    why: "The server keeps nothing: without the state, or with another, it has to begin again or refuse.",
    fix: "Send the string back as it came, without looking into it.",
    ..OURS
};

static STATE_ABSENT: Rule = Rule {
    id: "mrtr.retry.state-absent",
    title: "A request that is sent again has no `requestState` if none was given",
    why: "The server takes it for one that it signed itself, and refuses the request.",
    fix: "Leave it out.",
    ..OURS
};

static INPUTS_FIRST: Rule = Rule {
    id: "mrtr.retry.inputs-first",
    title: "A request that is sent again answers everything that was asked",
    why: "The server asks the same again, and the user is asked twice.",
    fix: "Gather an answer for every key of `inputRequests`, a refusal too, before sending the request again.",
    ..OURS
};

static ISOLATION: Rule = Rule {
    id: "mrtr.isolation",
    title: "Answers and state go back with the request that they were asked for, and no other",
    why: "One call would act on what a user allowed for another.",
    fix: "Keep question, answers and state together with the request.",
    ..OURS
};

static REREQUEST: Rule = Rule {
    id: "mrtr.rerequest-missing",
    source: "basic/patterns/mrtr#error-handling",
    title: "A server asks again for an answer that is missing",
    why: "An error ends a call that one more question would save.",
    fix: "Answer with a request for what is missing.",
    ..OURS.should().server()
};

static IGNORE_EXTRA: Rule = Rule {
    id: "mrtr.ignore-extra",
    source: "basic/patterns/mrtr#error-handling",
    title: "A server ignores answers that it did not ask for",
    why: "Clients may send what an earlier question asked for once more.",
    fix: "Take the keys that are needed, and ignore the rest.",
    ..OURS.should().server()
};

/// A question that was asked.
struct Question {
    method: Box<str>,
    client: Option<Box<str>>,
    gist: String,
    /// The id of the request that it answered, as it was written.
    id: Box<str>,
    /// As it was written, quotes and all.
    state: Option<Box<str>>,
    keys: Vec<String>,
    location: FindingLocation,
}

/// A second attempt that is unanswered.
struct Retry {
    missing: Vec<String>,
    extra: Vec<String>,
}

#[derive(Default)]
struct RetriesState {
    questions: VecDeque<Question>,
    retries: BTreeMap<u64, Retry>,
}

impl RuleVisitor for RetriesState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if message.kind == MessageKind::Request && is_clients(message, at) {
            self.request(message, at);
            return;
        }
        let Some(request) = message.request() else { return };
        if let Some(retry) = self.retries.remove(&request.number) {
            outcome(&retry, message, request, at);
        }
        if asks_for_input(message) {
            self.ask(message, request, at);
        }
    }
}

impl RetriesState {
    fn ask(&mut self, message: &SeenMessage<'_>, request: &PendingRequest, at: &RuleContext<'_>) {
        let (Some(result), Some(params)) = (message.raw.outcome(), request.params()) else { return };
        let state = result.member("requestState").filter(|state| state.kind() != JsonKind::Null);
        if params.text().len() > LONGEST || state.is_some_and(|state| state.text().len() > LONGEST) {
            return;
        }
        let keys = keys_of(result.member("inputRequests"));
        if keys.len() > MOST_KEYS || keys.iter().map(String::len).sum::<usize>() > LONGEST {
            return;
        }
        if self.questions.len() >= MOST_QUESTIONS {
            self.questions.pop_front();
        }
        self.questions.push_back(Question {
            method: request.method().into(),
            client: client_of(|name| request.meta(name)).map(Into::into),
            gist: gist(Some(params), &["inputResponses", "requestState"]),
            id: request.id().into(),
            state: state.map(|state| state.text().into()),
            keys,
            location: at.location(),
        });
    }

    fn request(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let (state, responses) = (message.param("requestState"), message.param("inputResponses"));
        if state.is_none() && responses.is_none() {
            return;
        }
        let answered = keys_of(responses);
        let method = message.method.as_deref().unwrap_or_default();
        let gist = gist(message.raw.params(), &["inputResponses", "requestState"]);
        let client = client_of(|name| message.meta(name));
        let fits = |question: &&Question| {
            let same = *question.method == *method && question.gist == gist;
            same && may_be_one(question.client.as_deref(), client)
        };
        // Of several equal calls, the one that asked for just what is answered, then one that asked for all of it, then the one whose
        // state comes back, then one whose questions are all answered.
        let best = self.questions.iter().filter(fits).max_by_key(|question| {
            (
                !answered.is_empty() && question.keys == answered,
                !answered.is_empty() && answered.iter().all(|key| question.keys.contains(key)),
                same_state(question.state.as_deref(), state),
                question.keys.iter().all(|key| answered.contains(key)),
            )
        });
        let Some(question) = best else {
            // Methods of extensions may have a use of their own for it.
            if message.known.is_some() {
                self.stray(state, &answered, at);
            }
            return;
        };
        at.pass(&ISOLATION);
        let first = || question.location.clone();
        let id = message.raw.written_id().unwrap_or_default();
        at.check(&NEW_ID, *question.id != *id, || {
            Violation::new(format!("the request comes back with the id {id}")).see(first(), "the question")
        });
        match (&question.state, state) {
            (None, None) => at.pass(&STATE_ABSENT),
            (None, Some(state)) => {
                let wrong = "`requestState` is sent, and the server gave none";
                at.fail(&STATE_ABSENT, Violation::new(wrong).inside(state).see(first(), "the question"));
            }
            (Some(given), _) if at.facts.hides(given) || state.is_some_and(|state| at.redacted(state)) => {
                at.inconclusive(&STATE_ECHO, TAKEN_OUT);
            }
            (Some(_), None) => {
                let wrong = "the request comes back without its `requestState`";
                at.fail(&STATE_ECHO, Violation::new(wrong).see(first(), "the question"));
            }
            (Some(given), Some(state)) => {
                at.check(&STATE_ECHO, same_state(Some(given), Some(state)), || {
                    let is_old = |other: &Question| same_state(other.state.as_deref(), Some(state));
                    let wrong = match self.questions.iter().any(is_old) {
                        true => "`requestState` is that of an earlier question",
                        false => "`requestState` is not what the server gave",
                    };
                    Violation::new(wrong).inside(state).see(first(), "the question")
                });
            }
        }
        let not_in = |these: &[String], those: &[String]| -> Vec<String> {
            these.iter().filter(|key| !those.contains(key)).cloned().collect()
        };
        let (missing, extra) = (not_in(&question.keys, &answered), not_in(&answered, &question.keys));
        if let Some(key) = missing.first() {
            let wrong =
                format!("{} of what was asked for is not answered, such as {}", missing.len(), quoted(key));
            let hidden = responses.is_some_and(|responses| at.redacted(responses));
            if hidden {
                return at.inconclusive(&INPUTS_FIRST, TAKEN_OUT);
            }
            at.fail(&INPUTS_FIRST, Violation::new(wrong).see(first(), "the question"));
        } else if !question.keys.is_empty() {
            at.pass(&INPUTS_FIRST);
        }
        if let Some(number) = at.pending.last_number()
            && (!missing.is_empty() || !extra.is_empty())
            && self.retries.len() < MOST_RETRIES
        {
            self.retries.insert(number, Retry { missing, extra });
        }
    }

    /// A request comes with answers or state, and was not asked for any.
    fn stray(&self, state: Option<Json<'_>>, answered: &[String], at: &RuleContext<'_>) {
        let another = self.questions.iter().rfind(|question| match (&question.state, state) {
            (Some(given), Some(_)) => same_state(Some(given), state) && !at.facts.hides(given),
            (None, None) => !answered.is_empty() && question.keys == answered,
            _ => false,
        });
        if let Some(question) = another
            && why_not_whole(at.facts).is_none()
        {
            let wrong =
                format!("what was asked for in answer to `{}` goes with another request", question.method);
            at.fail(&ISOLATION, Violation::new(wrong).see(question.location.clone(), "the question"));
        }
    }
}

/// What a server makes of a second attempt that answers too little or too much.
fn outcome(retry: &Retry, message: &SeenMessage<'_>, request: &PendingRequest, at: &RuleContext<'_>) {
    let names = |keys: &[String]| {
        let text = message.error().map(Json::text).unwrap_or_default();
        keys.iter().find(|key| mentions(text, key)).cloned()
    };
    if !retry.missing.is_empty() {
        match (message.kind, names(&retry.missing)) {
            (MessageKind::Result, _) if asks_for_input(message) => at.pass(&REREQUEST),
            (MessageKind::Error, Some(key)) => {
                let wrong =
                    format!("the server fails because {} is missing, instead of asking again", quoted(&key));
                at.fail(&REREQUEST, Violation::new(wrong).of(request));
            }
            (MessageKind::Error, None) => {
                at.inconclusive(&REREQUEST, "the error does not say whether an answer is missing");
            }
            // What is missing was not needed.
            _ => {}
        }
    } else if !retry.extra.is_empty() {
        match (message.kind, names(&retry.extra)) {
            (MessageKind::Result, _) => at.pass(&IGNORE_EXTRA),
            (MessageKind::Error, Some(key)) => {
                let wrong = format!("the server fails over {}, which it did not ask for", quoted(&key));
                at.fail(&IGNORE_EXTRA, Violation::new(wrong).of(request));
            }
            _ => {
                at.inconclusive(&IGNORE_EXTRA, "the error does not say whether it is over an answer too many")
            }
        }
    }
}

fn keys_of(object: Option<Json<'_>>) -> Vec<String> {
    let members = object.into_iter().flat_map(Json::members);
    let mut keys: Vec<String> =
        members.map(|(key, _)| String::from_utf8_lossy(&key.decode()).into_owned()).collect();
    keys.sort();
    keys.dedup();
    keys
}

fn same_state(given: Option<&str>, state: Option<Json<'_>>) -> bool {
    match (given.and_then(|given| Json::parse(given).ok()), state) {
        (Some(given), Some(state)) => given.same(state),
        (None, None) => true,
        _ => false,
    }
}

/// Whether a text has a key in it as a word of its own. Short keys stand in too many texts.
fn mentions(text: &str, key: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    key.chars().count() >= 3
        && text
            .match_indices(key)
            .any(|(start, _)| !text[..start].ends_with(part) && !text[start + key.len()..].starts_with(part))
}
