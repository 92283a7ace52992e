//! Tasks: requests that are answered later, as 2025-11-25 has them.
//!
//! What each message says of a task, and in which order. Memory: the tasks of a session, up to [`MOST_TASKS`], and the
//! results that they brought, up to [`LONGEST`] bytes each and [`MOST_HELD`] in all.

use super::tool_output::whole_result;
use crate::engine::{
    Family, FindingLocation, LONGEST_NAME, MessageKind, Report, Revision, RuleContext, RuleVisitor,
    SeenMessage, Span, Trigger, Violation, quoted, shown, string_of, why_not_whole,
};
use crate::rule::{Level, Rule};
use crate::shapes::Typed;
use std::collections::BTreeMap;
use transcript::json::{Json, JsonKind};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "tasks",
    title: "Tasks",
    rules: &[
        &START, &TERMINAL, &UNIQUE, &STRING, &RELATED, &BLOCKS, &SAME, &TIMES, &CANCEL, &CANCELLED, &FAILED,
    ],
    triggers: &[Trigger::Messages],
    visitor: || Box::new(TasksState::default()),
};

const TASKS: Rule = Rule { span: Span::only(Revision::V2025_11_25), ..Rule::BLANK };

static START: Rule = Rule {
    id: "tasks.status.start",
    source: "basic/utilities/tasks#task-status-lifecycle",
    title: "A task begins with the status working",
    why: "The requestor may treat any other status as one that needs an answer at once.",
    fix: "Create the task as working, and move it on afterwards.",
    ..TASKS
};

static TERMINAL: Rule = Rule {
    id: "tasks.status.terminal",
    source: "basic/utilities/tasks#task-status-lifecycle",
    title: "A task that is completed, failed or cancelled stays so",
    why: "Nobody looks at a task again once it has come to its end.",
    fix: "Refuse every change of a task that has ended, also a completion after it was cancelled.",
    ..TASKS
};

static UNIQUE: Rule = Rule {
    id: "tasks.id.unique",
    source: "basic/utilities/tasks#task-id-requirements",
    title: "Each task has an id of its own",
    why: "Two tasks of one id bring each other's results.",
    fix: "Make random ids.",
    ..TASKS
};

static STRING: Rule = Rule {
    id: "tasks.id.string",
    source: "basic/utilities/tasks#task-id-requirements",
    title: "A task's id is a string",
    why: "Typed receivers refuse any other.",
    fix: "Write the number as a string.",
    ..TASKS
};

static RELATED: Rule = Rule {
    id: "tasks.related-meta",
    source: "basic/utilities/tasks#associating-task-related-messages",
    title: "The result of a task names its task in `_meta`",
    why: "The result itself says nothing of the task, and hosts that file messages by task lose it.",
    fix: "Put {\"io.modelcontextprotocol/related-task\": {\"taskId\": …}} into `_meta`.",
    ..TASKS
};

static BLOCKS: Rule = Rule {
    id: "tasks.result.blocks",
    source: "basic/utilities/tasks#result-retrieval",
    title: "`tasks/result` is not answered with a result before the task has ended",
    why: "What comes before is taken for the result of the whole.",
    fix: "Hold the answer back until the task is completed, failed or cancelled.",
    ..TASKS
};

static SAME: Rule = Rule {
    id: "tasks.result.same",
    source: "basic/utilities/tasks#result-retrieval",
    title: "`tasks/result` brings what the request itself would have brought, each time",
    why: "Clients read it as the result of the call, and another shape fails there.",
    fix: "Answer with the result of the request and nothing around it.",
    ..TASKS
};

static TIMES: Rule = Rule {
    id: "tasks.times",
    source: "basic/utilities/tasks#ttl-and-resource-management",
    title: "A task has `createdAt`, `lastUpdatedAt` in ISO 8601 and, asked for, its `ttl`",
    why: "Clients learn from them how long they may wait and whether anything happens.",
    fix: "Write times such as 2025-11-25T10:30:00Z, and `ttl` in milliseconds or as null.",
    softened: Some("a warning where a time is not in ISO 8601"),
    ..TASKS
};

static CANCEL: Rule = Rule {
    id: "tasks.cancel-terminal",
    source: "basic/utilities/tasks#task-cancellation",
    title: "The cancellation of a task that has ended is refused with -32602",
    why: "A client that hears otherwise takes finished work for undone.",
    fix: "Answer with the error -32602.",
    ..TASKS
};

static CANCELLED: Rule = Rule {
    id: "tasks.cancel-status",
    relational: true,
    source: "basic/utilities/tasks#task-cancellation",
    title: "The answer to `tasks/cancel` shows the task as cancelled",
    why: "A requestor that reads another status goes on polling a task that nobody works on.",
    fix: "Move the task to the status cancelled before the answer is sent.",
    ..TASKS
};

static FAILED: Rule = Rule {
    id: "tasks.status-message",
    level: Level::Should,
    source: "basic/utilities/tasks#task-status-lifecycle",
    title: "A task that failed says why in `statusMessage`",
    why: "The result may never be fetched, and without the message nobody learns what went wrong.",
    fix: "Put the reason into `statusMessage`, in words for a person.",
    ..TASKS
};

/// The most tasks that are followed.
const MOST_TASKS: usize = 10_000;

/// A longer result is not compared with another.
const LONGEST: usize = 64 << 10;

/// The most bytes of results that are kept.
const MOST_HELD: usize = 16 << 20;

const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";

#[derive(Debug)]
struct Task {
    /// The method that it was made for, where its making was seen.
    method: Option<Box<str>>,
    status: String,
    updated: String,
    location: FindingLocation,
    /// A result was brought before: how many calls had been made by then, where, and the result.
    brought: Option<(u64, FindingLocation, Option<Box<str>>)>,
}

/// Whose task, and its id.
type Name = (Option<bool>, String);

static TTL: Typed = Typed::new("GetTaskResult", "ttl");

#[derive(Default)]
struct TasksState {
    session: u64,
    /// How many requests and notifications were made, which is how the ledger numbers them.
    calls: u64,
    tasks: BTreeMap<Name, Task>,
    /// How many bytes of results are kept.
    held: usize,
}

impl RuleVisitor for TasksState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        if self.session != at.facts.session {
            *self = Self { session: at.facts.session, calls: self.calls, ..Self::default() };
        }
        let Some(message) = at.message else { return };
        if message.method.is_some() {
            self.calls += 1;
        }
        if message.calls("notifications/tasks/status")
            && let Some(params) = message.raw.params()
        {
            self.status(params, None, at, report);
        }
        let Some(request) = message.request() else { return };
        let number = request.number;
        match (request.method(), message.kind) {
            ("tasks/get", MessageKind::Result) => {
                if let Some(task) = message.raw.outcome() {
                    self.status(task, Some(number), at, report);
                }
            }
            ("tasks/list", MessageKind::Result) => {
                let tasks = message.raw.outcome().and_then(|result| result.member("tasks"));
                for task in tasks.into_iter().flat_map(Json::items) {
                    self.status(task, Some(number), at, report);
                }
            }
            ("tasks/cancel", _) => self.cancelled(message, number, at, report),
            ("tasks/result", _) => self.result(message, at, report),
            (method, MessageKind::Result) if request.param("task").is_some() => {
                let method = method.into();
                if let Some(task) = message.raw.outcome().and_then(|result| result.member("task")) {
                    self.created(task, method, at, report);
                }
            }
            _ => {}
        }
    }
}

impl TasksState {
    fn created(&mut self, task: Json<'_>, method: Box<str>, at: &RuleContext<'_>, report: &mut Report) {
        times(task, false, at, report);
        let Some(name) = name(task, at, report) else { return };
        let status = task.member("status").and_then(string_of).unwrap_or_default();
        report.check(&START, at, status == "working", || {
            Violation::new(format!("the task begins as {}", quoted(&status)))
                .inside(task.member("status").unwrap_or(task))
        });
        if let Some(other) = self.tasks.get(&name).filter(|task| task.method.is_some()) {
            let wrong = Violation::new(format!("a task with the id {} was made before", quoted(&name.1)));
            report.fail(&UNIQUE, at, wrong.inside(task).see(other.location.clone(), "the other task"));
            return;
        }
        report.pass(&UNIQUE, at);
        let updated = task.member("lastUpdatedAt").and_then(string_of).unwrap_or_default();
        let location = at.location();
        self.keep(name, Task { method: Some(method), status, updated, location, brought: None });
    }

    fn keep(&mut self, name: Name, task: Task) {
        let known = self.tasks.contains_key(&name);
        if known || self.tasks.len() < MOST_TASKS && name.1.len() <= LONGEST_NAME {
            self.tasks.insert(name, task);
        }
    }

    /// What a message says of a task. `number` is that of the request it answers.
    fn status(&mut self, message: Json<'_>, number: Option<u64>, at: &RuleContext<'_>, report: &mut Report) {
        times(message, number.is_some(), at, report);
        let Some(name) = name(message, at, report) else { return };
        let Some(status) = message.member("status").and_then(string_of) else { return };
        if status == "failed" {
            let why = message.member("statusMessage").and_then(string_of).is_some_and(|why| !why.is_empty());
            report.check(&FAILED, at, why, || {
                Violation::new("the task failed, and nothing says why").inside(message)
            });
        }
        let updated = message.member("lastUpdatedAt").and_then(string_of).unwrap_or_default();
        let Some(task) = self.tasks.get_mut(&name) else {
            let task = Task { method: None, status, updated, location: at.location(), brought: None };
            return self.keep(name, task);
        };
        // Answers may overtake each other where there is more than one stream; what is older tells nothing.
        if comparable(&updated, &task.updated) && updated < task.updated {
            return;
        }
        if ended(&task.status) {
            let stays = status == task.status;
            report.check(&TERMINAL, at, stays, || {
                let wrong = format!("the task was {} and is now {}", quoted(&task.status), quoted(&status));
                Violation::new(wrong).inside(message).see(task.location.clone(), "its end")
            });
            if !stays {
                return;
            }
        }
        if let (Some((calls, location, _)), Some(number)) = (&task.brought, number)
            && number >= *calls
        {
            report.check(&BLOCKS, at, ended(&status), || {
                let wrong = format!("the task is {} although its result was brought before", quoted(&status));
                Violation::new(wrong).inside(message).see(location.clone(), "its result")
            });
        }
        if task.status != status {
            task.location = at.location();
        }
        task.status = status;
        task.updated = updated;
    }

    fn cancelled(
        &mut self,
        message: &SeenMessage<'_>,
        number: u64,
        at: &RuleContext<'_>,
        report: &mut Report,
    ) {
        let Some(request) = message.request() else { return };
        let Some(id) = request.param("taskId").and_then(string_of) else { return };
        let over_before =
            self.tasks.get(&(lane(at.side), id.clone())).is_some_and(|task| ended(&task.status));
        let over = self.tasks.get(&(lane(at.side), id)).filter(|task| ended(&task.status));
        if let Some(task) = over {
            // The task may have ended while the cancellation was under way.
            let before = task.location.line < request.location().line;
            if before {
                report.check(&CANCEL, at, message.error_code() == Some(-32602), || {
                    Violation::new(format!(
                        "the task was {} before, and the answer is not -32602",
                        task.status
                    ))
                    .see(task.location.clone(), "its end")
                });
            }
        }
        if let Some(task) = message.raw.outcome().filter(|_| message.kind == MessageKind::Result) {
            if let Some(status) = task.member("status").and_then(string_of) {
                // A task that had ended before keeps its status, and is the business of another rule.
                report.check(&CANCELLED, at, over_before || status == "cancelled", || {
                    let wrong =
                        format!("the answer to the cancellation shows the task as {}", quoted(&status));
                    Violation::new(wrong).inside(task)
                });
            }
            self.status(task, Some(number), at, report);
        }
    }

    fn result(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
        let Some(request) = message.request() else { return };
        let Some(id) = request.param("taskId").and_then(string_of) else { return };
        let Some(("tasks/result", result)) = whole_result(message) else { return };
        let meta = result.member("_meta").and_then(|meta| meta.member(RELATED_TASK));
        let named = meta.and_then(|meta| string_of(meta.member("taskId")?));
        report.check(&RELATED, at, named.as_deref() == Some(&*id), || {
            let wrong =
                Violation::new(format!("the result does not name its task {} in `_meta`", quoted(&id)));
            wrong.inside(meta.unwrap_or(result))
        });
        let calls = self.calls;
        let Some(task) = self.tasks.get_mut(&(lane(at.side), id)) else {
            let why = why_not_whole(at.facts).unwrap_or("the making of the task is not in the recording");
            return report.inconclusive(&SAME, at, why);
        };
        if task.method.as_deref() == Some("tools/call") && result.member("content").is_none() {
            let wrong = Violation::new("the task is a call of a tool, and its result has no `content`");
            report.fail(&SAME, at, wrong.inside(result));
        } else if let Some((_, location, Some(before))) = &task.brought {
            let same = Json::parse(before).is_ok_and(|before| alike(before, result));
            report.check(&SAME, at, same, || {
                Violation::new("the task has brought another result before")
                    .inside(result)
                    .see(location.clone(), "the other result")
            });
        } else {
            report.pass(&SAME, at);
        }
        if task.brought.is_none() {
            let size = result.text().len();
            let keep = size <= LONGEST && self.held + size <= MOST_HELD;
            self.held += if keep { size } else { 0 };
            let kept = keep.then(|| result.text().into());
            task.brought = Some((calls, at.location(), kept));
        }
    }
}

/// Whether two results are the same but for their `_meta`.
fn alike(one: Json<'_>, other: Json<'_>) -> bool {
    let members = |value: Json<'_>| value.members().filter(|(name, _)| !name.is("_meta")).count();
    members(one) == members(other)
        && one.members().filter(|(name, _)| !name.is("_meta")).all(|(name, value)| {
            let other = other.members().find(|(key, _)| key.decode() == name.decode());
            other.is_some_and(|(_, other)| other.same(value))
        })
}

fn lane(side: Option<Side>) -> Option<bool> {
    side.map(|side| side == Side::Server)
}

/// The name of the task that a message of its receiver tells of.
fn name(task: Json<'_>, at: &RuleContext<'_>, report: &mut Report) -> Option<Name> {
    let id = task.member("taskId")?;
    report.check(&STRING, at, id.kind() == JsonKind::String, || {
        Violation::new(format!("the task's id is {}: {}", id.kind().name(), shown(id))).inside(id)
    });
    Some((lane(at.side), string_of(id)?))
}

fn ended(status: &str) -> bool {
    ["completed", "failed", "cancelled"].contains(&status)
}

/// Whether two times may be compared as text: both in UTC and of one length.
fn comparable(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.ends_with('Z') && other.ends_with('Z')
}

fn times(task: Json<'_>, asked_for: bool, at: &RuleContext<'_>, report: &mut Report) {
    if task.kind() != JsonKind::Object {
        return;
    }
    let mut wrong = None;
    for name in ["createdAt", "lastUpdatedAt"] {
        match task.member(name) {
            None => wrong = wrong.or(Some((format!("the task has no `{name}`"), task, Level::Must))),
            Some(time) => match string_of(time).map(|text| moment(&text)) {
                Some(Some(true)) => {}
                Some(Some(false)) => {
                    let message = format!("`{name}` has no time, or no time zone: {}", shown(time));
                    wrong = wrong.or(Some((message, time, Level::Should)));
                }
                _ => {
                    wrong = wrong.or(Some((
                        format!("`{name}` is not a time: {}", shown(time)),
                        time,
                        Level::Must,
                    )))
                }
            },
        }
    }
    if asked_for
        && at.message.and_then(SeenMessage::request).is_some_and(|request| request.method() == "tasks/get")
    {
        match task.member("ttl") {
            Some(ttl) if TTL.fault(ttl, at.revision).is_none() => {}
            Some(ttl) => wrong = wrong.or(Some((format!("`ttl` is {}", shown(ttl)), ttl, Level::Must))),
            None => wrong = wrong.or(Some(("the task has no `ttl`".to_owned(), task, Level::Must))),
        }
    }
    match wrong {
        None => report.pass(&TIMES, at),
        Some((why, location, level)) => {
            report.fail(&TIMES, at, Violation::new(why).inside(location).only(level));
        }
    }
}

/// Whether a text is a time of ISO 8601 with its zone; false where it is a day or a time without.
pub(super) fn moment(text: &str) -> Option<bool> {
    let shape = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    let day = text.get(..10).filter(|day| shape(day, "0000-00-00"))?;
    let Some(rest) = text[day.len()..].strip_prefix(['T', 't', ' ']) else {
        return text[10..].is_empty().then_some(false);
    };
    let time = rest.get(..8).filter(|time| shape(time, "00:00:00"))?;
    let rest = &rest[time.len()..];
    let fraction =
        rest.strip_prefix(['.', ',']).map(|rest| rest.trim_start_matches(|char: char| char.is_ascii_digit()));
    match fraction.unwrap_or(rest) {
        "" => Some(false),
        "Z" | "z" => Some(true),
        zone if zone.starts_with(['+', '-']) => {
            (shape(&zone[1..], "00:00") || shape(&zone[1..], "0000") || shape(&zone[1..], "00"))
                .then_some(true)
        }
        _ => None,
    }
}
