//! Prompts: the arguments they are asked for with, and the resources they embed.
//!
//! Memory: the prompts of the last listing with the arguments that they require, up to [`MOST_LISTED`] prompts.

use super::tool_output::whole_result;
use crate::engine::{Contents, Found, Moment, Said, Sort, Wrong, contents, embedded, quoted, string_of};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Party, Rule};
use std::collections::BTreeMap;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "prompts",
    title: "Prompts",
    rules: &[&ARGS, &EMBEDDED],
    hears: &[
        Hears::Some(&[Sort::Notification], &["notifications/prompts/list_changed"]),
        Hears::Some(&[Sort::Result, Sort::Error], &["prompts/list", "prompts/get"]),
    ],
    watch: || Box::new(Watching::default()),
};

static ARGS: Rule = Rule {
    id: "prompts.args",
    level: Level::Should,
    party: Party::Server,
    source: "server/prompts#error-handling",
    title: "An unknown prompt or a missing argument is answered with the error -32602",
    why: "Another answer hides from the client that its request was wrong rather than the server.",
    fix: "Check the name and the required arguments before the prompt is made.",
    ..Rule::BLANK
};

static EMBEDDED: Rule = Rule {
    id: "prompts.embedded",
    party: Party::Server,
    source: "server/prompts#embedded-resources",
    title: "A resource in a prompt has a `uri`, a `mimeType`, and `text` or `blob`",
    why: "The client puts it in front of a model and has to know what it is.",
    fix: "Send all three; `text/plain` is a type, too.",
    ..Rule::BLANK
};

/// Longer listings are not kept.
const MOST_LISTED: usize = 1_000;

/// Longer prompts are not kept.
const LONGEST: usize = 16 << 10;

#[derive(Default)]
struct Watching {
    session: u64,
    /// Each prompt's required arguments.
    listed: BTreeMap<String, Vec<String>>,
    complete: bool,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        if self.session != at.facts.session {
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        let Some(said) = &at.said else { return };
        if said.calls("notifications/prompts/list_changed") {
            self.complete = false;
            self.listed.clear();
        }
        if let Some(result) = said.result_of("prompts/list") {
            self.list(result, said);
        }
        if said.asked().is_some_and(|asked| asked.method() == "prompts/get") {
            self.answered(said, at, found);
        }
        let Some(result) = whole_result(said, "prompts/get") else { return };
        for message in result.member("messages").into_iter().flat_map(Json::items) {
            let Some(resource) = message.member("content").and_then(embedded) else { continue };
            let text = |name| resource.member(name).is_some_and(|value| value.kind() == JsonKind::String);
            let lacks = match contents(resource) {
                _ if !text("uri") => Some("`uri`"),
                _ if !text("mimeType") => Some("`mimeType`"),
                Contents::Neither => Some("`text` or `blob`"),
                _ => None,
            };
            found.check(&EMBEDDED, at, lacks.is_none(), || {
                let wrong = format!("the embedded resource lacks {}", lacks.unwrap_or_default());
                Wrong::of(wrong).inside(resource)
            });
        }
    }
}

impl Watching {
    fn list(&mut self, result: Json<'_>, said: &Said<'_>) {
        if said.asked().is_some_and(|asked| asked.param("cursor").is_none()) {
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

    fn answered(&self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let Some(asked) = said.asked() else { return };
        let Some(name) = asked.param("name").and_then(string_of) else { return };
        if asked.params().is_none_or(|params| at.facts.redacted(params)) {
            return found.unsure(&ARGS, at, "the recorder took out what was asked for");
        }
        let given =
            |name: &str| asked.param("arguments").is_some_and(|arguments| arguments.member(name).is_some());
        let fault = match self.listed.get(&name) {
            None if !self.complete => return,
            None => format!("no prompt {} is listed", quoted(&name)),
            Some(required) => match required.iter().find(|argument| !given(argument)) {
                None => return,
                Some(argument) => format!("the prompt's argument {} is missing", quoted(argument)),
            },
        };
        if said.sort == Sort::Result && whole_result(said, "prompts/get").is_none() {
            return;
        }
        found.check(&ARGS, at, said.error_code() == Some(-32602), || {
            let answer = match said.error_code() {
                Some(code) => format!("the error {code}"),
                None => "a prompt".to_owned(),
            };
            Wrong::of(format!("{fault}, and the answer is {answer}")).see(asked.place(), "the request")
        });
    }
}
