//! The shape of each message by the schema of its revision. Memory: open questions as `ServerRequests` says.

use crate::engine::{
    ClientAnswer, Family, MessageKind, RuleContext, RuleVisitor, SeenMessage, ServerRequests, TAKEN_OUT,
    Trigger, Violation, string_of,
};
use crate::rule::Rule;
use crate::shapes::{self, Fault, Part};
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "typed",
    title: "The shapes of messages",
    rules: &[&TYPED],
    triggers: &[Trigger::Kinds(&[MessageKind::Request, MessageKind::Notification, MessageKind::Result])],
    visitor: || Box::new(TypedState::default()),
};

static TYPED: Rule = Rule {
    id: "jsonrpc.schema.typed",
    source: "schema of the revision",
    title: "Params and results have the members that the schema of their revision gives them",
    why: "Typed receivers refuse the whole message for one member that is missing or of another type. Null is a \
          type of its own, and no way to leave a member out.",
    fix: "Send what is shown in the type that is named; leave out what you do not have.",
    ..Rule::BLANK
};

#[derive(Default)]
struct TypedState {
    server_requests: ServerRequests,
}

impl RuleVisitor for TypedState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let answers = if at.is_modern() { self.server_requests.see(at) } else { Vec::new() };
        judge(message, &answers, at);
    }
}

fn judge(message: &SeenMessage<'_>, answers: &[ClientAnswer<'_>], at: &RuleContext<'_>) {
    let (part, method, value) = match (message.kind, message.method.as_deref(), message.request()) {
        (MessageKind::Request | MessageKind::Notification, Some(method), _) => {
            (Part::Params, method, message.raw.params())
        }
        (MessageKind::Result, _, Some(request)) => (Part::Result, request.method(), message.raw.outcome()),
        _ => return,
    };
    let faults: Vec<_> = match value {
        Some(value) => match shape_of(message, method, value) {
            Some(shape) => {
                let faults = shapes::faults(part, shape, value, at.revision);
                faults.into_iter().flat_map(|fault| meant(fault, answers)).collect()
            }
            None => return,
        },
        None => shapes::without_params(method, at.revision)
            .map(|wrong| Fault { wrong, place: message.raw.json() })
            .into_iter()
            .collect(),
    };
    if faults.is_empty() {
        at.pass(&TYPED);
    }
    for fault in faults {
        match fault.place.kind() == JsonKind::String && at.redacted(fault.place) {
            true => at.inconclusive(&TYPED, TAKEN_OUT),
            false => at.fail(&TYPED, Violation::new(fault.wrong).inside(fault.place)),
        }
    }
}

/// A fault of an answer of the client as a whole: as that of an answer to what was asked, which may be left to another rule.
fn meant<'v>(fault: Fault<'v>, answers: &[ClientAnswer<'v>]) -> Vec<Fault<'v>> {
    let place = fault.place.text().as_ptr();
    let mut answers = answers.iter().filter(|answer| answer.result.kind() == JsonKind::Object);
    match answers.find(|answer| answer.result.text().as_ptr() == place) {
        Some(answer) => shapes::faults(Part::Result, answer.method, answer.result, None),
        None => vec![fault],
    }
}

/// Where in the table a part of a message stands: under its method, or what a result may be beside that: a task that was
/// begun, or a question to the client. None for what an extension has made of it.
fn shape_of<'m>(message: &SeenMessage<'_>, method: &'m str, value: Json<'_>) -> Option<&'m str> {
    if message.kind != MessageKind::Result {
        return Some(method);
    }
    let asked = || message.request().is_some_and(|request| request.param("task").is_some());
    match value.member("resultType").and_then(string_of).as_deref() {
        Some("input_required") => Some("InputRequiredResult"),
        Some("complete") => Some(method),
        None if value.member("task").is_some() && asked() => Some("CreateTaskResult"),
        None => Some(method),
        Some(_) => None,
    }
}
