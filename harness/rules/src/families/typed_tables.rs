//! The shapes of messages, as data: each method's params and result, member by member, with their revisions.
//!
//! Refuses to know: members that a rule of their own judges, such as a tool's `inputSchema` from 2025-11-25 on, the
//! `content` of its result, cursors, progress tokens, or the answer to an elicitation; they are left out or, where what
//! they hold is judged here all the same, marked as [`MessageKind::Within`].

use crate::engine::{Revision, Span};

/// What a value must be.
#[derive(Debug, Clone, Copy)]
pub(super) enum SchemaType {
    Any,
    Text,
    Number,
    Bool,
    Object,
    /// One of these words.
    Word(&'static [&'static str]),
    /// An object with these members.
    Is(Shape),
    /// If it is an object, with these members; what else it may be is another rule's business.
    Within(Shape),
    /// A list, each item of this sort.
    List(&'static SchemaType),
    /// An object whose members are all of this sort.
    Map(&'static SchemaType),
    /// A block of content.
    Block,
    /// A block of content as models exchange it, or a list of them from 2025-11-25 on.
    Spoken,
}

/// The members of an object; others may be there, too.
pub(super) type Shape = &'static [Member];

/// A member of an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member {
    pub(super) name: &'static str,
    pub(super) expected: SchemaType,
    pub(super) needed: bool,
    pub(super) span: Span,
}

impl Member {
    const fn since(self, first: Revision) -> Self {
        Self { span: Span::between(first, self.span.last), ..self }
    }

    const fn until(self, last: Revision) -> Self {
        Self { span: Span::between(self.span.first, last), ..self }
    }
}

const fn need(name: &'static str, expected: SchemaType) -> Member {
    Member { name, expected, needed: true, span: Span::ALL }
}

const fn may(name: &'static str, expected: SchemaType) -> Member {
    Member { name, expected, needed: false, span: Span::ALL }
}

use Revision::{V2025_03_26 as B, V2025_06_18 as C, V2025_11_25 as D, V2026_07_28 as E};
use SchemaType::{Any, Block, Bool, Is, List, Map, Number, Object, Spoken, Text, Within, Word};

const ROLE: SchemaType = Word(&["user", "assistant"]);

const ANNOTATIONS: Shape =
    &[may("audience", List(&ROLE)), may("priority", Number), may("lastModified", Text).since(C)];

const ICON: Shape = &[
    need("src", Text),
    may("mimeType", Text),
    may("sizes", List(&Text)),
    may("theme", Word(&["light", "dark"])),
];

const ICONS: Member = may("icons", List(&Is(ICON))).since(D);
const TITLE: Member = may("title", Text).since(C);
const DESCRIPTION: Member = may("description", Text);
const MIME: Member = may("mimeType", Text);
const META: Member = may("_meta", Object);
const FLAG: Member = may("listChanged", Bool);

/// `name` and `version` are judged with the handshake.
const IMPLEMENTATION: Shape = &[TITLE, ICONS, DESCRIPTION.since(D), may("websiteUrl", Text).since(D)];

const CLIENT_CAN: Shape = &[
    may("experimental", Map(&Object)),
    may("roots", Is(&[FLAG.until(D)])),
    may("sampling", Is(&[may("context", Object).since(D), may("tools", Object).since(D)])),
    may("elicitation", Is(&[may("form", Object).since(D), may("url", Object).since(D)])).since(C),
    may("tasks", Is(TASKS_CAN)).since(D).until(D),
    may("extensions", Map(&Object)).since(E),
];

const SERVER_CAN: Shape = &[
    may("experimental", Map(&Object)),
    may("logging", Object),
    may("completions", Object).since(B),
    may("prompts", Is(&[FLAG])),
    may("resources", Is(&[may("subscribe", Bool), FLAG])),
    may("tools", Is(&[FLAG])),
    may("tasks", Is(TASKS_CAN)).since(D).until(D),
    may("extensions", Map(&Object)).since(E),
];

const TASKS_CAN: Shape = &[may("list", Object), may("cancel", Object), may("requests", Map(&Map(&Object)))];

const TOOL: Shape = &[
    need("name", Text),
    TITLE,
    DESCRIPTION,
    ICONS,
    need("inputSchema", Is(&[need("type", Word(&["object"]))])).until(C),
    // From here on its value has a rule of its own.
    need("inputSchema", Any).since(D),
    may("outputSchema", Is(&[need("type", Word(&["object"]))])).since(C).until(C),
    may(
        "annotations",
        Is(&[
            may("title", Text),
            may("readOnlyHint", Bool),
            may("destructiveHint", Bool),
            may("idempotentHint", Bool),
            may("openWorldHint", Bool),
        ]),
    )
    .since(B),
    may("execution", Is(&[may("taskSupport", Word(&["forbidden", "optional", "required"]))]))
        .since(D)
        .until(D),
    META.since(C),
];

const RESOURCE: Shape = &[
    need("uri", Text),
    need("name", Text),
    TITLE,
    DESCRIPTION,
    MIME,
    ICONS,
    may("annotations", Is(ANNOTATIONS)),
    may("size", Number),
    META.since(C),
];

const TEMPLATE: Shape = &[
    need("uriTemplate", Text),
    need("name", Text),
    TITLE,
    DESCRIPTION,
    MIME,
    ICONS,
    may("annotations", Is(ANNOTATIONS)),
    META.since(C),
];

const PROMPT: Shape = &[
    need("name", Text),
    TITLE,
    DESCRIPTION,
    ICONS,
    may("arguments", List(&Is(&[need("name", Text), TITLE, DESCRIPTION, may("required", Bool)]))),
    META.since(C),
];

const SPOKEN: Shape = &[need("role", ROLE), need("content", Spoken)];

/// A model asks for a tool.
pub(super) const TOOL_USE: Shape = &[need("id", Text), need("name", Text), need("input", Object)];

/// What the tool has brought.
pub(super) const TOOL_RESULT: Shape =
    &[need("toolUseId", Text), need("content", List(&Block)), may("isError", Bool)];

const SAMPLING: Shape = &[
    need("messages", List(&Is(SPOKEN))),
    need("maxTokens", Number),
    may(
        "modelPreferences",
        Is(&[
            may("hints", List(&Is(&[may("name", Text)]))),
            may("costPriority", Number),
            may("speedPriority", Number),
            may("intelligencePriority", Number),
        ]),
    ),
    may("systemPrompt", Text),
    may("includeContext", Word(&["none", "thisServer", "allServers"])),
    may("temperature", Number),
    may("stopSequences", List(&Text)),
    may("metadata", Object),
    may("tools", List(&Is(TOOL))).since(D),
    may("toolChoice", Is(&[may("mode", Word(&["auto", "required", "none"]))])).since(D),
];

const TASK: Shape = &[
    need("taskId", Any),
    need("status", Word(&["working", "input_required", "completed", "failed", "cancelled"])),
    may("statusMessage", Text),
    may("pollInterval", Number),
];

const TASK_ID: Shape = &[need("taskId", Text)];

const HEARD: Shape = &[
    may("toolsListChanged", Bool),
    may("promptsListChanged", Bool),
    may("resourcesListChanged", Bool),
    may("resourceSubscriptions", List(&Text)),
];

const PAGE: Shape = &[may("cursor", Text)];

/// The params of requests and notifications, by method.
pub(super) const PARAMS: &[(&str, Shape)] = &[
    ("initialize", &[may("capabilities", Within(CLIENT_CAN)), may("clientInfo", Within(IMPLEMENTATION))]),
    ("tools/list", PAGE),
    ("tools/call", &[may("task", Is(&[may("ttl", Number)])).since(D).until(D)]),
    ("resources/list", PAGE),
    ("resources/templates/list", PAGE),
    ("resources/read", &[need("uri", Text)]),
    ("resources/subscribe", &[need("uri", Text)]),
    ("resources/unsubscribe", &[need("uri", Text)]),
    ("prompts/list", PAGE),
    ("prompts/get", &[need("name", Text), may("arguments", Map(&Text))]),
    (
        "completion/complete",
        &[
            need("ref", Is(&[need("type", Word(&["ref/prompt", "ref/resource"]))])),
            need("argument", Is(&[need("name", Text), need("value", Text)])),
            may("context", Is(&[may("arguments", Map(&Text))])).since(C),
        ],
    ),
    ("sampling/createMessage", SAMPLING),
    ("subscriptions/listen", &[need("notifications", Is(HEARD))]),
    ("tasks/get", TASK_ID),
    ("tasks/result", TASK_ID),
    ("tasks/cancel", TASK_ID),
    ("tasks/list", PAGE),
    ("notifications/cancelled", &[may("reason", Text)]),
    ("notifications/progress", &[need("progress", Number), may("total", Number)]),
    ("notifications/message", &[may("logger", Text), need("data", Any)]),
    ("notifications/resources/updated", &[need("uri", Text)]),
    ("notifications/tasks/status", TASK),
    ("notifications/subscriptions/acknowledged", &[need("notifications", Is(HEARD))]),
];

/// The results, by the method of the request.
pub(super) const RESULTS: &[(&str, Shape)] = &[
    (
        "initialize",
        &[
            may("capabilities", Within(SERVER_CAN)),
            may("serverInfo", Within(IMPLEMENTATION)),
            may("instructions", Text),
        ],
    ),
    (
        "server/discover",
        &[
            need("supportedVersions", List(&Text)),
            need("capabilities", Is(SERVER_CAN)),
            may("instructions", Text),
        ],
    ),
    ("tools/list", &[need("tools", List(&Is(TOOL)))]),
    ("tools/call", &[may("isError", Bool)]),
    ("resources/list", &[need("resources", List(&Is(RESOURCE)))]),
    ("resources/templates/list", &[need("resourceTemplates", List(&Is(TEMPLATE)))]),
    ("resources/read", &[need("contents", List(&Is(&[need("uri", Text), MIME])))]),
    ("prompts/list", &[need("prompts", List(&Is(PROMPT)))]),
    (
        "prompts/get",
        &[DESCRIPTION, need("messages", List(&Is(&[need("role", ROLE), need("content", Block)])))],
    ),
    (
        "completion/complete",
        &[need("completion", Is(&[need("values", List(&Text)), may("total", Number), may("hasMore", Bool)]))],
    ),
    (
        "sampling/createMessage",
        &[need("role", ROLE), need("content", Spoken), need("model", Text), may("stopReason", Text)],
    ),
    ("roots/list", &[need("roots", List(&Is(&[need("uri", Text), may("name", Text)])))]),
    ("tasks/get", TASK),
    ("tasks/cancel", TASK),
    ("tasks/list", &[need("tasks", List(&Is(TASK)))]),
];

#[cfg(test)]
mod tests {
    use super::{Member, PARAMS, RESULTS, SchemaType, Shape};
    use crate::engine::known;
    use std::collections::BTreeSet;

    #[test]
    fn every_table_is_of_a_method_that_there_is() {
        for table in [PARAMS, RESULTS] {
            let names: BTreeSet<&str> = table.iter().map(|(name, _)| *name).collect();
            assert_eq!(names.len(), table.len(), "a method stands twice");
            for name in names {
                assert!(known(name).next().is_some(), "{name} is no method");
            }
        }
        for (name, _) in RESULTS {
            assert!(known(name).any(|method| method.request), "{name} has no result");
        }
    }

    #[test]
    fn no_member_stands_twice_in_one_revision() {
        fn walk(shape: Shape) {
            for (index, one) in shape.iter().enumerate() {
                let twice = |other: &&Member| {
                    other.name == one.name
                        && (other.span.has(one.span.first) || one.span.has(other.span.first))
                };
                assert!(shape[index + 1..].iter().find(twice).is_none(), "{} stands twice", one.name);
                assert!(one.span.first <= one.span.last, "{} has no revision", one.name);
                inside(one.expected);
            }
        }
        fn inside(expected: SchemaType) {
            match expected {
                SchemaType::Is(shape) | SchemaType::Within(shape) => walk(shape),
                SchemaType::List(expected) | SchemaType::Map(expected) => inside(*expected),
                _ => {}
            }
        }
        PARAMS.iter().chain(RESULTS).for_each(|(_, shape)| walk(shape));
    }
}
