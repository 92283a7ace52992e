//! Tasks of 2025-11-25: what is answered to a request for one, and how a requestor follows it.
//!
//! Memory: the ids of tasks, and of each how it is polled, up to [`MOST_TASKS`].

use crate::engine::{
    Definition, Family, FindingLocation, LONGEST_NAME, MessageKind, Revision, RuleContext, RuleVisitor,
    SeenMessage, Span, ToolList, Trigger, Violation, per_session, quoted, shown, string_of, text_of,
    why_not_whole,
};
use crate::rule::{Level, Need, Party, Rule};
use std::collections::BTreeMap;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "task-answers",
    title: "Answers to requests for tasks",
    rules: &[&UNDECLARED, &SUPPORT, &UNKNOWN, &INTERVAL, &INPUT],
    triggers: &[
        Trigger::Methods(
            &[MessageKind::Notification],
            &["notifications/tools/list_changed", "notifications/tasks/status"],
        ),
        Trigger::Methods(
            MessageKind::CALLS,
            &[
                "tools/list",
                "tools/call",
                "sampling/createMessage",
                "elicitation/create",
                "tasks/get",
                "tasks/list",
                "tasks/result",
                "tasks/cancel",
            ],
        ),
    ],
    visitor: per_session::<TaskAnswersState>,
};

const TASKS: Rule = Rule { span: Span::only(Revision::V2025_11_25), ..Rule::BLANK };

static UNDECLARED: Rule = Rule {
    id: "tasks.undeclared",
    source: "basic/utilities/tasks#task-support-and-handling",
    title: "A side that declares no tasks for a request answers it as if none was asked for",
    why: "The requestor has seen no capability, and asks for the task by methods that may not be there.",
    fix: "Ignore `task` in the params, or declare the request beneath `tasks.requests`.",
    ..TASKS
};

static SUPPORT: Rule = Rule {
    id: "tasks.tool-support",
    source: "basic/utilities/tasks#tool-level-negotiation",
    title: "A call that contradicts its tool's `taskSupport` is refused with -32601",
    why: "The client does not learn that the tool is to be called otherwise.",
    fix: "Compare `task` in the params with `execution.taskSupport`, and answer with the error -32601.",
    softened: Some("a warning where the tool takes no task"),
    contested: Some(
        "Another paragraph of the page lets -32600 say that a task is required; both are let pass.",
    ),
    ..TASKS.server()
};

static UNKNOWN: Rule = Rule {
    id: "tasks.unknown",
    source: "basic/utilities/tasks#protocol-errors",
    title: "A task that does not exist is answered with the error -32602",
    why: "With another code the requestor takes a lost task for a failure that may pass, and goes on asking.",
    fix: "Answer with the code -32602, also where the task has expired.",
    ..TASKS
};

static INTERVAL: Rule = Rule {
    id: "tasks.poll-interval",
    needs: &[Need::Times],
    relational: true,
    source: "basic/utilities/tasks#getting-tasks",
    title: "A task is polled no more often than its `pollInterval` says",
    why: "The receiver has said how often it has something new; more requests only cost it.",
    fix: "Wait for `pollInterval` milliseconds between two `tasks/get` of one task.",
    ..TASKS.should()
};

static INPUT: Rule = Rule {
    id: "tasks.input-required",
    relational: true,
    source: "basic/utilities/tasks#input-required-status",
    title: "A requestor calls `tasks/result` when its task waits for input",
    why: "Over that request the receiver may send its question; polling only shows that the task waits.",
    fix: "Call `tasks/result` at the status input_required, and answer what comes.",
    ..TASKS.should()
};

/// The most tasks that are followed.
const MOST_TASKS: usize = 10_000;

/// What a request for a task is declared by.
const DECLARED: [(&str, &str); 3] = [
    ("tools/call", "tasks.requests.tools.call"),
    ("sampling/createMessage", "tasks.requests.sampling.createMessage"),
    ("elicitation/create", "tasks.requests.elicitation.create"),
];

/// A task as its requestor follows it.
#[derive(Default)]
struct Followed {
    interval: Option<i64>,
    /// When it was asked for last, since the receiver said something by itself.
    asked: Option<i64>,
    /// It waits for input: where that was shown, to whom, and whether it was only polled again.
    waits: Option<(FindingLocation, Party, bool)>,
}

#[derive(Default)]
struct TaskAnswersState {
    list: ToolList,
    tasks: BTreeMap<String, Followed>,
}

impl RuleVisitor for TaskAnswersState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let _ = self.list.see(at);
        match (message.kind, message.request()) {
            (MessageKind::Request, _) => self.asks(message, at),
            (MessageKind::Notification, _) => {
                if message.calls("notifications/tasks/status")
                    && let Some(params) = message.raw.params()
                    && let Some(task) = self.follow(params, None)
                {
                    task.asked = None;
                }
            }
            (_, Some(request)) => {
                let method = request.method();
                if let Some((_, path)) = DECLARED.iter().find(|(name, _)| *name == method) {
                    self.answers(message, path, at);
                } else if method == "tasks/list" {
                    let tasks = message.raw.outcome().and_then(|result| result.member("tasks"));
                    tasks.into_iter().flat_map(Json::items).for_each(|task| {
                        self.follow(task, None);
                    });
                } else if method.starts_with("tasks/") {
                    self.of_task(message, at);
                }
            }
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        for (_, task) in std::mem::take(&mut self.tasks) {
            let Some((location, party, again)) = task.waits else { continue };
            let why = why_not_whole(at.facts)
                .or((!again).then_some("the session may have ended before the answer was read"));
            match why {
                Some(why) => at.inconclusive(&INPUT, why),
                None => {
                    let wrong = "the task waits for input, and is only polled again";
                    at.fail(&INPUT, Violation::new(wrong).at(location).by(party));
                }
            }
        }
    }
}

impl TaskAnswersState {
    /// What a message says of a task; `to` is who asked for it, where somebody did.
    fn follow(&mut self, task: Json<'_>, to: Option<(FindingLocation, Party)>) -> Option<&mut Followed> {
        let id = task.member("taskId").and_then(string_of).filter(|id| id.len() <= LONGEST_NAME)?;
        if self.tasks.len() >= MOST_TASKS && !self.tasks.contains_key(&id) {
            return None;
        }
        let followed = self.tasks.entry(id).or_default();
        if let Some(interval) = task.member("pollInterval").and_then(Json::as_number) {
            followed.interval = interval.parse().ok();
        }
        if task.member("status").and_then(string_of).is_some_and(|status| status != "input_required") {
            followed.waits = None;
        } else if let (None, Some((location, party))) = (&followed.waits, to) {
            followed.waits = Some((location, party, false));
        }
        Some(followed)
    }

    fn asks(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(id) = message.param("taskId").and_then(string_of) else { return };
        let Some(task) = self.tasks.get_mut(&id) else { return };
        if message.calls("tasks/result") && task.waits.take().is_some() {
            at.pass(&INPUT);
        }
        if !message.calls("tasks/get") {
            return;
        }
        if let Some((.., again)) = &mut task.waits {
            *again = true;
        }
        if let Some(interval) = task.interval.filter(|_| at.binds(&INTERVAL)) {
            let since = |before: i64| at.entry.time.map(|now| now.saturating_sub(before));
            // Clocks and timers are not exact.
            if let Some(waited) = task.asked.and_then(since) {
                at.check(&INTERVAL, waited >= interval - interval / 10, || {
                    format!(
                        "the task is asked for after {waited} ms, and its `pollInterval` is {interval} ms"
                    )
                });
            }
        }
        task.asked = at.entry.time;
    }

    /// An answer to a request that may have asked for a task.
    fn answers(&mut self, message: &SeenMessage<'_>, path: &str, at: &RuleContext<'_>) {
        let (Some(request), Some(side)) = (message.request(), at.side) else { return };
        let declares = at.facts.declares(side, path);
        let created = message.raw.outcome().and_then(|result| result.member("task"));
        let asked = request.param("task");
        if let Some(task) = created.filter(|_| message.kind == MessageKind::Result) {
            self.follow(task, None);
        }
        if asked.is_some() && message.kind == MessageKind::Result {
            match declares {
                Some(true) => {}
                Some(false) => at.check(&UNDECLARED, created.is_none(), || {
                    Violation::new(format!(
                        "the answer is a task, and the {} does not declare `{path}`",
                        side.name()
                    ))
                    .of(request)
                }),
                None => at.inconclusive(&UNDECLARED, "the receiver's capabilities are not in the recording"),
            }
        }
        let name = request.param("name").filter(|_| request.method() == "tools/call");
        let Some(name) = name.and_then(text_of) else { return };
        if declares != Some(true) {
            return;
        }
        let tool = match self.list.find(at.facts, &name) {
            Definition::Listed(tool) => tool,
            Definition::Missing => return,
            Definition::Unsure(why) => return at.inconclusive(&SUPPORT, why),
        };
        let support = tool.member("execution").and_then(|execution| execution.member("taskSupport"));
        let support = support.and_then(text_of).unwrap_or_else(|| "forbidden".into());
        let (level, how) = match (&*support, asked) {
            ("required", None) => (Level::Must, "as a task"),
            ("forbidden", Some(_)) => (Level::Should, "without a task"),
            _ => return,
        };
        let code = message.error_code();
        let refused = code == Some(-32601) || code == Some(-32600) && level == Level::Must;
        at.check(&SUPPORT, refused, || {
            let answer = code.map_or("a result".to_owned(), |code| format!("the error {code}"));
            let wrong =
                format!("the tool {} is to be called {how}, and the answer is {answer}", quoted(&name));
            Violation::new(wrong).only(level).see(request.location(), "the call")
        });
    }

    /// An answer about a task that the request names.
    fn of_task(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(request) = message.request() else { return };
        let Some(params) = request.params().filter(|params| !at.redacted(*params)) else {
            return at.inconclusive(&UNKNOWN, "which task was asked for is not in the recording");
        };
        let named = params.member("taskId");
        let id = named.and_then(string_of);
        let known = id.as_ref().is_some_and(|id| self.tasks.contains_key(id));
        if let Some(task) = message.raw.outcome().filter(|_| message.kind == MessageKind::Result) {
            let asker = at.side.map_or(Party::Client, |side| side.other().into());
            let waits = request.method() == "tasks/get"
                && task.member("status").and_then(string_of).is_some_and(|status| status == "input_required");
            self.follow(task, waits.then(|| (at.location(), asker)));
        }
        let code = message.error_code();
        if known || code == Some(-32601) {
            return;
        }
        if code == Some(-32602) {
            return at.pass(&UNKNOWN);
        }
        let answer = || code.map_or("a result".to_owned(), |code| format!("the error {code}"));
        if named.is_none_or(|named| named.kind() != JsonKind::String) {
            let name = named.map_or("no task".to_owned(), |named| format!("the task {}", shown(named)));
            let wrong = Violation::new(format!("{name} is asked for, and the answer is {}", answer()));
            return at.fail(&UNKNOWN, wrong.of(request));
        }
        // Some answer with a task that nobody works on, and say so in its words.
        let told = message.raw.outcome().and_then(|task| task.member("statusMessage"));
        let words = message.error().and_then(|error| error.member("message")).or(told).and_then(string_of);
        let words = words.unwrap_or_default().to_lowercase();
        let missing = ["not found", "no such", "unknown task", "does not exist", "doesn't exist", "expired"];
        if missing.iter().any(|part| words.contains(part)) && !words.contains("method") {
            let wrong = Violation::new(format!("the task does not exist, and the answer is {}", answer()));
            return at.fail(&UNKNOWN, wrong.of(request));
        }
        at.inconclusive(&UNKNOWN, "the task may be of another session, or the error about something else");
    }
}
