//! Tasks: requests that are answered later, as 2025-11-25 has them.
//!
//! What each message says of a task, and in which order. Memory: the tasks of a session, up to [`MOST_TASKS`], with the
//! tokens of their progress, and the results that they brought, up to [`LONGEST`] bytes each and [`MOST_HELD`] in all.

mod messages;
mod rules;
pub(super) mod times;

use super::tool_output::whole_result;
use crate::engine::{
    Family, FindingLocation, LONGEST_NAME, MessageKind, Moment, NO_ORDER, PendingRequest, RuleContext,
    RuleVisitor, SeenMessage, Trigger, Violation, per_session, quoted, string_of, why_not_whole,
};
use messages::{RELATED_TASK, plain, related, repeated};
use rules::{
    BLOCKS, CANCEL, CANCELLED, CREATED, FAILED, LISTED, RELATED, REPEATED, SAME, START, STRING, TERMINAL,
    TIMES, UNIQUE,
};
use std::collections::{BTreeMap, BTreeSet};
use times::times;
use transcript::json::{Json, JsonKind};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "tasks",
    title: "Tasks",
    rules: &[
        &START, &TERMINAL, &UNIQUE, &STRING, &CREATED, &LISTED, &RELATED, &REPEATED, &BLOCKS, &SAME, &TIMES,
        &CANCEL, &CANCELLED, &FAILED,
    ],
    triggers: &[Trigger::Messages],
    visitor: per_session::<TasksState>,
};

/// The most tasks that are followed.
const MOST_TASKS: usize = 10_000;

/// A longer result is not compared with another.
const LONGEST: usize = 64 << 10;

/// The most bytes of results that are kept.
const MOST_HELD: usize = 16 << 20;

#[derive(Debug)]
struct Task {
    /// The method that it was made for, where its making was seen.
    method: Option<Box<str>>,
    status: String,
    updated: String,
    location: FindingLocation,
    /// When that was.
    when: Moment,
    /// A result was brought before: the number of the last call by then, where and when, and the result.
    brought: Option<(u64, FindingLocation, Moment, Option<Box<str>>)>,
    /// Where its making was seen, the number of the last call by then.
    made: Option<u64>,
    /// Until when it has to be kept, in milliseconds: for good, or nobody knows.
    kept: Option<i64>,
}

/// A `tasks/list` that is shown page by page.
#[derive(Debug, Default)]
struct Listing {
    /// The number of its first request.
    first: u64,
    names: BTreeSet<String>,
    next: Option<Box<str>>,
}

/// Who may have made a task; of the last nobody knows.
const LANES: [Option<bool>; 3] = [Some(true), Some(false), None];

/// Whose task, and its id.
type Name = (Option<bool>, String);

#[derive(Default)]
struct TasksState {
    tasks: BTreeMap<Name, Task>,
    listing: Listing,
    /// Tasks that a listing lacks, which may have been deleted by then: where.
    missed: BTreeMap<Name, FindingLocation>,
    /// The tasks of calls, by the tokens under which their progress comes.
    tokens: BTreeMap<Name, String>,
    /// How many bytes of results are kept.
    held: usize,
}

impl RuleVisitor for TasksState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        repeated(message, at);
        if message.calls("notifications/tasks/status")
            && let Some(params) = message.raw.params()
        {
            self.status(params, None, at);
        }
        match message.meta("progressToken") {
            // From here on it is another call's.
            Some(token) => _ = self.tokens.remove(&(lane(at.side.map(Side::other)), token.text().to_owned())),
            None if message.calls("notifications/progress") => self.progress(message, at),
            None => {}
        }
        let Some(request) = message.request() else { return };
        let number = request.number;
        if let (Some(task), Some(result)) = (request.meta(RELATED_TASK), message.raw.outcome()) {
            let id = task.member("taskId").and_then(string_of);
            let is_result = message.kind == MessageKind::Result && !request.method().starts_with("tasks/");
            // A task that nothing made is the asker's mistake, if it is one.
            let made = |id: &String| LANES.iter().any(|lane| self.tasks.contains_key(&(*lane, id.clone())));
            if let Some(id) = id.filter(|id| is_result && made(id)) {
                related(&id, result, at);
            }
        }
        match (request.method(), message.kind) {
            ("tasks/get", MessageKind::Result) => {
                if let Some(task) = message.raw.outcome() {
                    self.found(task, at);
                    self.status(task, Some(number), at);
                }
            }
            ("tasks/list", MessageKind::Result) => {
                let tasks = message.raw.outcome().and_then(|result| result.member("tasks"));
                for task in tasks.into_iter().flat_map(Json::items) {
                    self.status(task, Some(number), at);
                }
                self.listed(message, at);
            }
            ("tasks/cancel", _) => self.cancelled(message, number, at),
            ("tasks/result", _) => self.result(message, at),
            (method, MessageKind::Result) if request.param("task").is_some() => {
                match message.raw.outcome().and_then(|result| result.member("task")) {
                    Some(task) => self.created(task, request, at),
                    None => plain(method, message, at),
                }
            }
            _ => {}
        }
    }
}

impl TasksState {
    /// Progress under the token of a call that became a task.
    fn progress(&self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(token) = message.param("progressToken") else { return };
        let Some(id) = self.tokens.get(&(lane(at.side), token.text().to_owned())) else { return };
        let task = self.tasks.get(&(lane(at.side), id.clone()));
        if let (Some(params), false) = (message.raw.params(), task.is_none_or(|task| ended(&task.status))) {
            related(id, params, at);
        }
    }

    fn created(&mut self, task: Json<'_>, request: &PendingRequest, at: &RuleContext<'_>) {
        at.pass(&CREATED);
        times(task, false, at);
        let Some(name) = self.name(task, at) else { return };
        let status = task.member("status").and_then(string_of).unwrap_or_default();
        at.check(&START, status == "working", || {
            Violation::new(format!("the task begins as {}", quoted(&status)))
                .inside(task.member("status").unwrap_or(task))
        });
        if let Some(other) = self.tasks.get(&name).filter(|task| task.method.is_some()) {
            let wrong = Violation::new(format!("a task with the id {} was made before", quoted(&name.1)));
            at.fail(&UNIQUE, wrong.inside(task).see(other.location.clone(), "the other task"));
            return;
        }
        at.pass(&UNIQUE);
        let updated = task.member("lastUpdatedAt").and_then(string_of).unwrap_or_default();
        let ttl = task.member("ttl").map(|ttl| ttl.as_number().map(str::parse::<i64>));
        let kept = match (ttl, at.entry.time) {
            (Some(None), _) => Some(i64::MAX),
            (Some(Some(Ok(ttl))), Some(now)) => Some(now.saturating_add(ttl)),
            _ => None,
        };
        let (location, when, made) = (at.location(), at.moment(), at.pending.last_number());
        let method = Some(request.method().into());
        if let Some(token) = request.meta("progressToken").map(|token| token.text().to_owned())
            && self.tokens.len() < MOST_TASKS
            && token.len().max(name.1.len()) <= LONGEST_NAME
        {
            self.tokens.insert((name.0, token), name.1.clone());
        }
        self.keep(name, Task { method, status, updated, location, when, brought: None, made, kept });
    }

    /// The name of the task that a message of its receiver tells of.
    fn name(&self, task: Json<'_>, at: &RuleContext<'_>) -> Option<Name> {
        let id = task.member("taskId")?;
        at.check(&STRING, id.kind() == JsonKind::String, || Violation::kind("the task's id", id));
        Some(self.named(string_of(id)?, at))
    }

    /// Where nothing shows who speaks, it is the one that made a task with this id.
    fn named(&self, id: String, at: &RuleContext<'_>) -> Name {
        let made = |lane: &Option<bool>| self.tasks.contains_key(&(*lane, id.clone()));
        (lane(at.side).or_else(|| LANES.into_iter().find(made).flatten()), id)
    }

    fn keep(&mut self, name: Name, task: Task) {
        let known = self.tasks.contains_key(&name);
        if known || self.tasks.len() < MOST_TASKS && name.1.len() <= LONGEST_NAME {
            self.tasks.insert(name, task);
        }
    }

    /// What a message says of a task. `number` is that of the request it answers.
    fn status(&mut self, message: Json<'_>, number: Option<u64>, at: &RuleContext<'_>) {
        times(message, number.is_some(), at);
        let Some(name) = self.name(message, at) else { return };
        let Some(status) = message.member("status").and_then(string_of) else { return };
        if status == "failed" {
            let why = message.member("statusMessage").and_then(string_of).is_some_and(|why| !why.is_empty());
            at.check(&FAILED, why, || {
                Violation::new("the task failed, and nothing says why").inside(message)
            });
        }
        let updated = message.member("lastUpdatedAt").and_then(string_of).unwrap_or_default();
        let Some(task) = self.tasks.get_mut(&name) else {
            let (location, when, made) = (at.location(), at.moment(), at.pending.last_number());
            let task =
                Task { method: None, status, updated, location, when, brought: None, made, kept: None };
            return self.keep(name, task);
        };
        // Answers may overtake each other where there is more than one stream; what is older tells nothing.
        if comparable(&updated, &task.updated) && updated < task.updated {
            return;
        }
        if ended(&task.status) && status != task.status && at.may_precede(&task.when) {
            return at.inconclusive(&TERMINAL, NO_ORDER);
        }
        if ended(&task.status) {
            let stays = status == task.status;
            at.check(&TERMINAL, stays, || {
                let wrong = format!("the task was {} and is now {}", quoted(&task.status), quoted(&status));
                Violation::new(wrong).inside(message).see(task.location.clone(), "its end")
            });
            if !stays {
                return;
            }
        }
        if let Some((last, location, when, _)) = &task.brought
            && number > Some(*last)
        {
            if !ended(&status) && at.may_precede(when) {
                return at.inconclusive(&BLOCKS, NO_ORDER);
            }
            at.check(&BLOCKS, ended(&status), || {
                let wrong = format!("the task is {} although its result was brought before", quoted(&status));
                Violation::new(wrong).inside(message).see(location.clone(), "its result")
            });
        }
        if task.status != status {
            task.location = at.location();
        }
        task.status = status;
        task.updated = updated;
        task.when = at.moment();
    }

    /// A task was asked for and is there. It may be one that a listing lacks.
    fn found(&mut self, task: Json<'_>, at: &RuleContext<'_>) {
        let Some(id) = task.member("taskId").and_then(string_of) else { return };
        if let Some(listing) = self.missed.remove(&self.named(id, at)) {
            let wrong = Violation::new("the listing lacks a task that `tasks/get` finds afterwards");
            at.fail(&LISTED, wrong.at(listing).see(at.location(), "the task"));
        }
    }

    /// A page of a listing; behind the last one it is known which tasks are missing.
    fn listed(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let (Some(request), Some(result)) = (message.request(), message.raw.outcome()) else { return };
        let next = result.member("nextCursor").map(|cursor| cursor.text().into());
        match request.param("cursor") {
            None => self.listing = Listing { first: request.number, ..Listing::default() },
            Some(cursor) if self.listing.next.as_deref() == Some(cursor.text()) => {}
            Some(_) => return,
        }
        self.listing.next = next;
        let tasks = result.member("tasks").into_iter().flat_map(Json::items);
        let names = tasks.filter_map(|task| string_of(task.member("taskId")?));
        self.listing.names.extend(names.filter(|name| name.len() <= LONGEST_NAME).take(MOST_TASKS));
        if self.listing.next.is_some() || self.listing.names.len() >= MOST_TASKS {
            return;
        }
        let (mut whole, lane) = (true, lane(at.side));
        for ((of, id), task) in &self.tasks {
            let before =
                task.method.is_some() && task.made < Some(self.listing.first) && !at.may_precede(&task.when);
            if *of != lane || !before || self.listing.names.contains(id) {
                continue;
            }
            whole = false;
            let kept = task.kept.zip(at.entry.time.or((task.kept == Some(i64::MAX)).then_some(0)));
            match kept.is_some_and(|(kept, now)| now < kept) && task.status != "cancelled" {
                true => {
                    let wrong = Violation::new(format!("the listing ends without the task {}", quoted(id)));
                    let wrong = wrong.inside(result.member("tasks").unwrap_or(result));
                    at.fail(&LISTED, wrong.see(task.location.clone(), "the task"));
                }
                false => {
                    let why = "the task may have been deleted; `tasks/get` would show it";
                    at.inconclusive(&LISTED, why);
                    self.missed.insert((lane, id.clone()), at.location());
                }
            }
        }
        if whole {
            at.pass(&LISTED);
        }
    }

    fn cancelled(&mut self, message: &SeenMessage<'_>, number: u64, at: &RuleContext<'_>) {
        let Some(request) = message.request() else { return };
        let Some(id) = request.param("taskId").and_then(string_of) else { return };
        let over = self.tasks.get(&self.named(id, at)).filter(|task| ended(&task.status));
        let over_before = over.is_some();
        if let Some(task) = over {
            // The task may have ended while the cancellation was under way.
            let before = task.location.line < request.location().line;
            if before && at.may_precede(&task.when) {
                at.inconclusive(&CANCEL, NO_ORDER);
            } else if before {
                at.check(&CANCEL, message.error_code() == Some(-32602), || {
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
                at.check(&CANCELLED, over_before || status == "cancelled", || {
                    let wrong =
                        format!("the answer to the cancellation shows the task as {}", quoted(&status));
                    Violation::new(wrong).inside(task)
                });
            }
            self.status(task, Some(number), at);
        }
    }

    fn result(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(request) = message.request() else { return };
        let Some(id) = request.param("taskId").and_then(string_of) else { return };
        let Some(("tasks/result", result)) = whole_result(message) else { return };
        related(&id, result, at);
        let Some(task) = self.tasks.get_mut(&self.named(id, at)) else {
            let why = why_not_whole(at.facts).unwrap_or("the making of the task is not in the recording");
            return at.inconclusive(&SAME, why);
        };
        if task.method.as_deref() == Some("tools/call") && result.member("content").is_none() {
            let wrong = Violation::new("the task is a call of a tool, and its result has no `content`");
            at.fail(&SAME, wrong.inside(result));
        } else if let Some((_, location, _, Some(before))) = &task.brought {
            let same = Json::parse(before).is_ok_and(|before| alike(before, result));
            at.check(&SAME, same, || {
                Violation::new("the task has brought another result before")
                    .inside(result)
                    .see(location.clone(), "the other result")
            });
        } else {
            at.pass(&SAME);
        }
        if task.brought.is_none() {
            let size = result.text().len();
            let keep = size <= LONGEST && self.held + size <= MOST_HELD;
            self.held += if keep { size } else { 0 };
            let kept = keep.then(|| result.text().into());
            let last = at.pending.last_number().unwrap_or_default();
            task.brought = Some((last, at.location(), at.moment(), kept));
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

fn ended(status: &str) -> bool {
    ["completed", "failed", "cancelled"].contains(&status)
}

/// Whether two times may be compared as text: both in UTC and of one length.
fn comparable(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.ends_with('Z') && other.ends_with('Z')
}
