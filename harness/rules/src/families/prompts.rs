//! Prompts: the arguments they are asked for with, and the resources they embed.
//!
//! Memory: the prompts of the last listing with the arguments that they require, up to [`MOST_LISTED`] prompts.

use super::tool_output::whole_result;
use crate::engine::{
    ContentsKind, Family, MessageKind, RuleContext, RuleVisitor, SeenMessage, Trigger, Violation, contents,
    embedded, per_session, quoted, string_of,
};
use crate::rule::Rule;
use std::collections::BTreeMap;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "prompts",
    title: "Prompts",
    rules: &[&ARGS, &EMBEDDED],
    triggers: &[
        Trigger::Methods(&[MessageKind::Notification], &["notifications/prompts/list_changed"]),
        Trigger::Methods(MessageKind::ANSWERS, &["prompts/list", "prompts/get"]),
    ],
    visitor: per_session::<PromptsState>,
};

static ARGS: Rule = Rule {
    id: "prompts.args",
    source: "server/prompts#error-handling",
    title: "An unknown prompt or a missing argument is answered with the error -32602",
    why: "Any other answer hides that the request was wrong, not the server.",
    fix: "Check the name and the required arguments before the prompt is made.",
    ..Rule::BLANK.should().server()
};

static EMBEDDED: Rule = Rule {
    id: "prompts.embedded",
    source: "server/prompts#embedded-resources",
    title: "A resource in a prompt has a `uri`, a `mimeType`, and `text` or `blob`",
    why: "The client puts it in front of a model and has to know what it is.",
    fix: "Send all three; `text/plain` is a type, too.",
    ..Rule::BLANK.server()
};

/// Longer listings are not kept.
const MOST_LISTED: usize = 1_000;

/// Longer prompts are not kept.
const LONGEST: usize = 16 << 10;

/// The prompts of the last listing.
#[derive(Default)]
pub(super) struct PromptList {
    /// Each prompt's required arguments.
    listed: BTreeMap<String, Vec<String>>,
    complete: bool,
}

#[derive(Default)]
struct PromptsState {
    list: PromptList,
}

impl RuleVisitor for PromptsState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        self.list.see(message);
        self.answered(message, at);
        let Some(("prompts/get", result)) = whole_result(message) else { return };
        for prompt in result.member("messages").into_iter().flat_map(Json::items) {
            let Some(resource) = prompt.member("content").and_then(embedded) else { continue };
            let text = |name| resource.member(name).is_some_and(|value| value.kind() == JsonKind::String);
            let lacks = match contents(resource) {
                _ if !text("uri") => Some("`uri`"),
                _ if !text("mimeType") => Some("`mimeType`"),
                ContentsKind::Neither => Some("`text` or `blob`"),
                _ => None,
            };
            at.without(&EMBEDDED, lacks, |lacks| {
                Violation::new(format!("the embedded resource lacks {lacks}")).inside(resource)
            });
        }
    }
}

impl PromptList {
    /// Takes in a message of the session.
    pub(super) fn see(&mut self, message: &SeenMessage<'_>) {
        if message.calls("notifications/prompts/list_changed") {
            self.complete = false;
            self.listed.clear();
        }
        if let Some(result) = message.result_of("prompts/list") {
            self.list(result, message);
        }
    }

    /// Whether there is a prompt of this name; none where that is not known.
    pub(super) fn has(&self, name: &str) -> Option<bool> {
        match self.listed.contains_key(name) {
            true => Some(true),
            false => self.complete.then_some(false),
        }
    }

    fn list(&mut self, result: Json<'_>, message: &SeenMessage<'_>) {
        if message.request().is_some_and(|request| request.param("cursor").is_none()) {
            self.listed.clear();
        }
        self.complete = result.member("prompts").is_some() && result.member("nextCursor").is_none();
        for prompt in result.member("prompts").into_iter().flat_map(Json::items) {
            let Some(name) = prompt.member("name").and_then(string_of) else { continue };
            let size = prompt.text().len();
            if self.listed.len() >= MOST_LISTED || size > LONGEST {
                self.complete = false;
                return;
            }
            let required = |argument: &Json<'_>| {
                argument.member("required").is_some_and(|required| required.text() == "true")
            };
            let arguments = prompt.member("arguments").into_iter().flat_map(Json::items).filter(required);
            let names = arguments.filter_map(|argument| string_of(argument.member("name")?)).collect();
            self.listed.insert(name, names);
        }
    }
}

impl PromptsState {
    fn answered(&self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(request) = message.request_for("prompts/get") else { return };
        let Some(name) = request.param("name").and_then(string_of) else { return };
        if request.params().is_none_or(|params| at.redacted(params)) {
            return at.inconclusive(&ARGS, "the recorder took out what was asked for");
        }
        let given =
            |name: &str| request.param("arguments").is_some_and(|arguments| arguments.member(name).is_some());
        let fault = match self.list.listed.get(&name) {
            None if !self.list.complete => return,
            None => format!("no prompt {} is listed", quoted(&name)),
            Some(required) => match required.iter().find(|argument| !given(argument)) {
                None => return,
                Some(argument) => format!("the prompt's argument {} is missing", quoted(argument)),
            },
        };
        if message.kind == MessageKind::Result && !matches!(whole_result(message), Some(("prompts/get", _))) {
            return;
        }
        // What HTTP turns away, as that of a session that is over, was not looked at.
        let status = at.exchange.and_then(|exchange| exchange.status);
        if status.is_some_and(|status| matches!(status, 401 | 403 | 404 | 429 | 500..)) {
            return;
        }
        let code = message.error_code();
        // What is not a code has a rule of its own.
        if message.kind == MessageKind::Error && code.is_none() {
            return;
        }
        at.check(&ARGS, code == Some(-32602), || {
            let answer = code.map_or("a prompt".to_owned(), |code| format!("the error {code}"));
            Violation::new(format!("{fault}, and the answer is {answer}")).of(request)
        });
    }
}
