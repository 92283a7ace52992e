//! Tasks of 2025-11-25: who may ask for one, and of what.
//!
//! The capabilities beneath `tasks`, and what a tool says of tasks.

use crate::engine::{
    Family, MessageKind, OnMessage, Revision, RuleContext, SeenMessage, Span, Trigger, Violation, quoted,
    str_of, text_of,
};
use crate::rule::Rule;
use transcript::json::Json;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "task-capabilities",
    title: "Who may ask for a task",
    rules: &[&TASKS],
    triggers: &[Trigger::Methods(
        &[MessageKind::Request],
        &["tools/call", "sampling/createMessage", "elicitation/create", "tasks/list", "tasks/cancel"],
    )],
    visitor: || Box::new(OnMessage(judge)),
};

static TASKS: Rule = Rule {
    id: "cap.tasks",
    span: Span::only(Revision::V2025_11_25),
    source: "basic/utilities/tasks#capability-negotiation; basic/utilities/tasks#tool-level-negotiation",
    title: "A task is asked for where the receiver declares it, and where the tool wants one",
    why: "A receiver without tasks answers at once or refuses, and a tool that needs a task cannot run without.",
    fix: "Look at `tasks` in the capabilities, and at `execution.taskSupport` of the tool.",
    ..Rule::BLANK
};

fn judge(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    if message.kind == MessageKind::Request {
        request(message, at);
    }
}

fn request(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let method = message.method.as_deref().unwrap_or_default();
    let task = message.param("task");
    let path = match method {
        "tools/call" => "tasks.requests.tools.call",
        "sampling/createMessage" => "tasks.requests.sampling.createMessage",
        "elicitation/create" => "tasks.requests.elicitation.create",
        "tasks/list" => "tasks.list",
        "tasks/cancel" => "tasks.cancel",
        _ => return,
    };
    let of_tasks = method.starts_with("tasks/");
    let Some(receiver) = at.side.map(Side::other) else { return };
    if !of_tasks && task.is_none() {
        if method == "tools/call" {
            tool(message, None, at);
        }
        return;
    }
    match at.facts.declares(receiver, path) {
        None => at.inconclusive(&TASKS, "the receiver's capabilities are not in the recording"),
        Some(false) => {
            let wrong = format!("the {} does not declare `{path}`", receiver.name());
            at.fail(&TASKS, Violation::new(wrong).inside(task));
        }
        Some(true) if method == "tools/call" => tool(message, task, at),
        Some(true) => at.pass(&TASKS),
    }
}

/// A call with or without a task, where the tool has its own say.
fn tool<'m>(message: &SeenMessage<'m>, task: Option<Json<'m>>, at: &RuleContext<'m>) {
    let Some(name) = message.param("name").and_then(str_of) else { return };
    let Some(tool) = at.facts.tool(&name) else {
        if task.is_some() {
            at.inconclusive(&TASKS, "the tool's definition is not in the recording");
        }
        return;
    };
    let support = tool.member("execution").and_then(|execution| execution.member("taskSupport"));
    let support = support.and_then(text_of).unwrap_or_else(|| "forbidden".into());
    let wrong = match (task, &*support) {
        (Some(task), "forbidden") => {
            Violation::new(format!("the tool {} takes no task", quoted(&name))).inside(task)
        }
        // Without the capability there are no tasks at all, and the tool's word does not count.
        (None, "required") if at.facts.declares(Side::Server, "tasks.requests.tools.call") == Some(true) => {
            Violation::new(format!("the tool {} is to be called as a task", quoted(&name)))
        }
        (None, _) => return,
        (Some(_), _) => return at.pass(&TASKS),
    };
    at.fail(&TASKS, wrong);
}
