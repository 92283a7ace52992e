//! Multi round-trip requests: a result that asks for input.

use super::modern::declared;
use crate::engine::{
    Family, MessageKind, OnStep, RuleContext, SeenMessage, Span, Trigger, Violation, quoted, shown, text_of,
};
use crate::rule::Rule;
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "mrtr",
    title: "Results that ask for input",
    rules: &[&METHODS, &NON_EMPTY, &VALUES, &CAPABILITY, &KEYS],
    triggers: &[Trigger::InputRequests],
    visitor: || Box::new(OnStep(judge)),
};

/// The requests that may be answered with a question.
const SUPPORTED: &[&str] = &["prompts/get", "resources/read", "tools/call"];

/// What may be asked, and the capability that it takes.
const QUESTIONS: &[(&str, &str)] =
    &[("elicitation/create", "elicitation"), ("sampling/createMessage", "sampling"), ("roots/list", "roots")];

const OURS: Rule = Rule {
    span: Span::MODERN,
    source: "basic/patterns/mrtr#server-requirements-basic-workflow",
    ..Rule::BLANK.server()
};

static METHODS: Rule = Rule {
    id: "mrtr.methods",
    source: "basic/patterns/mrtr#supported-requests",
    title: "Only calls, resources and prompts are answered with a request for input",
    why: "Clients have no way to answer a question about any other request.",
    fix: "Answer with the outcome or with an error.",
    ..OURS
};

static NON_EMPTY: Rule = Rule {
    id: "mrtr.nonempty",
    title: "A request for input has `inputRequests` or `requestState`",
    why: "With neither of them the client has nothing to do, and would only ask the same again.",
    fix: "Say what is needed, or give a state to come back with.",
    ..OURS
};

static VALUES: Rule = Rule {
    id: "mrtr.values",
    title: "What is asked for is an elicitation, a sampling or the list of roots",
    why: "Clients can answer no other request, and refuse the whole result.",
    fix: "Send elicitation/create, sampling/createMessage or roots/list as an object with method and params.",
    ..OURS
};

static CAPABILITY: Rule = Rule {
    id: "mrtr.capability",
    title: "A server asks only for what the request declares a capability for",
    why: "The client cannot answer, and the call never comes to an end.",
    fix: "Look into the request's clientCapabilities, and answer -32021 where one is missing.",
    ..OURS
};

static KEYS: Rule = Rule {
    id: "mrtr.keys-unique",
    title: "Every key of `inputRequests` occurs once",
    why: "Most readers keep the last of two members with one name, so a question is lost.",
    fix: "Name each question differently.",
    ..OURS
};

/// Whether a result asks for input.
pub(super) fn asks_for_input(message: &SeenMessage<'_>) -> bool {
    let kind = message.raw.outcome().and_then(|result| result.member("resultType"));
    message.kind == MessageKind::Result
        && kind.and_then(Json::as_text).is_some_and(|kind| kind.is("input_required"))
}

fn judge(at: &RuleContext<'_>) {
    let Some(message) = at.message.filter(|message| asks_for_input(message)) else { return };
    let (Some(request), Some(result)) = (message.request(), message.raw.outcome()) else { return };
    if SUPPORTED.contains(&request.method()) {
        at.pass(&METHODS);
    } else if request.is_specified() {
        let wrong = format!("`{}` is answered with a request for input", request.method());
        at.fail(&METHODS, Violation::new(wrong).of(request));
    } else {
        at.inconclusive(&METHODS, "whether an extension defines such a question is not in the recording");
    }
    let there = |name| result.member(name).filter(|value| value.kind() != JsonKind::Null);
    let is_there = there("inputRequests").is_some() || there("requestState").is_some();
    let wrong = "the result has neither `inputRequests` nor `requestState`";
    at.check(&NON_EMPTY, is_there, || wrong);
    let Some(requests) = result.member("inputRequests").filter(|_| is_there) else { return };
    if requests.kind() != JsonKind::Object {
        return at.fail(&VALUES, Violation::kind("`inputRequests`", requests));
    }
    let mut keys = BTreeSet::new();
    for (key, value) in requests.members() {
        let key = key.decode().into_owned();
        let name = String::from_utf8_lossy(&key).into_owned();
        at.check(&KEYS, keys.insert(key), || {
            Violation::new(format!("the key {} occurs twice", quoted(&name))).inside(value)
        });
        question(value, message, at);
    }
}

fn question(value: Json<'_>, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let method = value.member("method").and_then(text_of).unwrap_or_default();
    let Some((_, capability)) = QUESTIONS.iter().find(|(name, _)| **name == *method) else {
        let wrong = if method.is_empty() {
            format!("{} is not a request", shown(value))
        } else {
            format!("the server asks for {}", quoted(&method))
        };
        return at.fail(&VALUES, Violation::new(wrong).inside(value));
    };
    at.pass(&VALUES);
    let Some(capabilities) = declared(message) else {
        return at.inconclusive(&CAPABILITY, "what the request declares is not in the recording");
    };
    let has = capabilities.member(capability);
    let has = has.is_some_and(|value| value.kind() != JsonKind::Null && value.text() != "false");
    at.check(&CAPABILITY, has, || {
        let wrong = format!(
            "the server asks for {}, and the request does not declare `{capability}`",
            quoted(&method)
        );
        Violation::new(wrong).inside(value).of(message.request())
    });
}
