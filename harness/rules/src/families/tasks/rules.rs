//! What is asked of tasks.

use crate::engine::{Revision, Span};
use crate::rule::Rule;

const TASKS: Rule = Rule { span: Span::only(Revision::V2025_11_25), ..Rule::BLANK };

pub(super) static START: Rule = Rule {
    id: "tasks.status.start",
    source: "basic/utilities/tasks#task-status-lifecycle",
    title: "A task begins with the status working",
    why: "The requestor may treat any other status as one that needs an answer at once.",
    fix: "Create the task as working, and move it on afterwards.",
    ..TASKS
};

pub(super) static TERMINAL: Rule = Rule {
    id: "tasks.status.terminal",
    source: "basic/utilities/tasks#task-status-lifecycle",
    title: "A task that is completed, failed or cancelled stays so",
    why: "Nobody looks at a task again once it has come to its end.",
    fix: "Refuse every change of a task that has ended, also a completion after it was cancelled.",
    ..TASKS
};

pub(super) static UNIQUE: Rule = Rule {
    id: "tasks.id.unique",
    source: "basic/utilities/tasks#task-id-requirements",
    title: "Each task has an id of its own",
    why: "Two tasks of one id bring each other's results.",
    fix: "Make random ids.",
    ..TASKS
};

pub(super) static STRING: Rule = Rule {
    id: "tasks.id.string",
    source: "basic/utilities/tasks#task-id-requirements",
    title: "A task's id is a string",
    why: "Typed receivers refuse any other.",
    fix: "Write the number as a string.",
    ..TASKS
};

pub(super) static RELATED: Rule = Rule {
    id: "tasks.related-meta",
    source: "basic/utilities/tasks#associating-task-related-messages",
    title: "A result, a request's answer and progress that belong to a task name it in `_meta`",
    why: "The message itself says nothing of the task, and hosts that file messages by task lose it.",
    fix: "Put {\"io.modelcontextprotocol/related-task\": {\"taskId\": …}} into `_meta`.",
    ..TASKS
};

pub(super) static BLOCKS: Rule = Rule {
    id: "tasks.result.blocks",
    source: "basic/utilities/tasks#result-retrieval",
    title: "`tasks/result` is not answered with a result before the task has ended",
    why: "What comes before is taken for the result of the whole.",
    fix: "Hold the answer back until the task is completed, failed or cancelled.",
    ..TASKS
};

pub(super) static SAME: Rule = Rule {
    id: "tasks.result.same",
    source: "basic/utilities/tasks#result-retrieval",
    title: "`tasks/result` returns what the request itself would have returned, each time",
    why: "Clients read it as the result of the call, and another shape fails there.",
    fix: "Answer with the result of the request and nothing around it.",
    ..TASKS
};

pub(super) static TIMES: Rule = Rule {
    id: "tasks.times",
    source: "basic/utilities/tasks#ttl-and-resource-management",
    title: "A task has `createdAt` and `lastUpdatedAt` in ISO 8601 and, if asked for, its `ttl`",
    why: "Clients learn from them how long they may wait and whether anything happens.",
    fix: "Write times such as 2025-11-25T10:30:00Z, and `ttl` in milliseconds or as null.",
    softened: Some("a warning where a time is not in ISO 8601"),
    ..TASKS
};

pub(super) static CANCEL: Rule = Rule {
    id: "tasks.cancel-terminal",
    source: "basic/utilities/tasks#task-cancellation",
    title: "The cancellation of a task that has ended is refused with -32602",
    why: "A client that hears otherwise takes finished work for undone.",
    fix: "Answer with the error -32602.",
    ..TASKS
};

pub(super) static CANCELLED: Rule = Rule {
    id: "tasks.cancel-status",
    relational: true,
    source: "basic/utilities/tasks#task-cancellation",
    title: "The answer to `tasks/cancel` shows the task as cancelled",
    why: "A requestor that reads another status goes on polling a task that nobody works on.",
    fix: "Move the task to the status cancelled before the answer is sent.",
    ..TASKS
};

pub(super) static FAILED: Rule = Rule {
    id: "tasks.status-message",
    source: "basic/utilities/tasks#task-status-lifecycle",
    title: "A task that failed says why in `statusMessage`",
    why: "The result may never be fetched, and without the message nobody learns what went wrong.",
    fix: "Put the reason into `statusMessage`, in words for a person.",
    ..TASKS.should()
};

pub(super) static CREATED: Rule = Rule {
    id: "tasks.created",
    source: "basic/utilities/tasks#result-retrieval; basic/utilities/tasks#task-support-and-handling",
    title: "A request that asks for a task is answered with one, where its receiver makes tasks",
    why: "A requestor that waits for a `taskId` finds none, and drops the result.",
    fix: "Answer with `task`, and return the result by `tasks/result`.",
    ..TASKS
};

pub(super) static LISTED: Rule = Rule {
    id: "tasks.list.complete",
    source: "basic/utilities/tasks#task-listing",
    title: "`tasks/list` has every task that `tasks/get` would find",
    why: "A requestor that looks for its tasks after a restart never finds the one that is missing.",
    fix: "List all tasks of the requestor, on as many pages as it takes.",
    ..TASKS
};

pub(super) static REPEATED: Rule = Rule {
    id: "tasks.related-meta-once",
    source: "basic/utilities/tasks#associating-task-related-messages; basic/utilities/tasks#task-status-notifications",
    title: "A message that names its task by `taskId` does not name it in `_meta` as well",
    why: "Where the two differ, one side files the message by one of them and the other by the other.",
    fix: "Leave `io.modelcontextprotocol/related-task` out of `tasks/…` and of status notifications.",
    ..TASKS.should()
};
