//! Plain answers where a task was asked for, and messages that name their task twice.

use super::rules::{CREATED, RELATED, REPEATED};
use crate::engine::{MessageKind, RuleContext, SeenMessage, Violation, quoted, string_of};
use crate::families::tools::is_error;
use transcript::json::{Json, JsonKind};

pub(super) const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

/// A result and no task, where a task was asked for. A receiver that makes none for such requests does what it was asked for.
pub(super) fn plain(method: &str, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    let (Some(request), Some(result)) = (message.request(), message.raw.outcome()) else { return };
    let path = format!("tasks.requests.{}", method.replace('/', "."));
    let tool = || at.facts.tool(&request.param("name").and_then(string_of)?);
    let support = |tool: Json<'_>| tool.member("execution")?.member("taskSupport").and_then(string_of);
    let why = match at.side.and_then(|side| at.facts.declares(side, &path)) {
        Some(false) => return,
        None => "the capabilities of the receiver are not in the recording",
        Some(true) if method == "tools/call" => match tool().map(support) {
            Some(Some(support)) if support != "forbidden" => match is_error(result) {
                true => "the tool may have failed before there was a task",
                false => "",
            },
            Some(_) => return,
            None => "the recording does not show whether the tool is called as a task",
        },
        Some(true) => "",
    };
    if !why.is_empty() {
        return at.inconclusive(&CREATED, why);
    }
    let wrong = Violation::new("the request asks for a task, but the result is not a task").inside(result);
    at.fail(&CREATED, wrong.of(request));
}

/// Whether the `_meta` of this result, or of these params, names the task that they belong to.
pub(super) fn related(id: &str, holder: Json<'_>, at: &RuleContext<'_>) {
    let meta = holder.member("_meta").and_then(|meta| meta.member(RELATED_TASK));
    let named = meta.and_then(|meta| string_of(meta.member("taskId")?));
    at.check(&RELATED, named.as_deref() == Some(id), || {
        let wrong = Violation::new(format!("the message does not name its task {} in `_meta`", quoted(id)));
        wrong.inside(meta.unwrap_or(holder))
    });
}

/// The task that a message names in `_meta`, beside its `taskId`.
pub(super) fn repeated(message: &SeenMessage<'_>, at: &RuleContext<'_>) {
    const METHODS: [&str; 5] =
        ["tasks/get", "tasks/list", "tasks/cancel", "tasks/result", "notifications/tasks/status"];
    let asked = message.request().filter(|_| message.kind == MessageKind::Result);
    let method = message.method.as_deref().or(asked.map(|request| request.method())).unwrap_or_default();
    // The result of a task says nothing else of it.
    if !METHODS.contains(&method) || asked.is_some() && method == "tasks/result" {
        return;
    }
    let holder = if asked.is_some() { message.raw.outcome() } else { message.raw.params() };
    let meta = holder.and_then(|holder| holder.member("_meta"));
    if meta.is_some_and(|meta| meta.kind() != JsonKind::Object && at.redacted(meta)) {
        return at.inconclusive(&REPEATED, "the recorder took out `_meta`");
    }
    let related = meta.and_then(|meta| meta.member(RELATED_TASK));
    at.without(&REPEATED, related, |related| {
        Violation::new(format!("`{method}` has a `taskId`, and its task in `_meta` as well")).inside(related)
    });
}
