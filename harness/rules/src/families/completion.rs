//! Completion of arguments. Memory: the prompts of the last listing, as [`PromptList`] says.

use super::errors::refuses_params;
use super::prompts::PromptList;
use crate::engine::{
    Family, MessageKind, Revision, RuleContext, RuleVisitor, SeenMessage, Span, Trigger, Violation,
    per_session, quoted, string_of,
};
use crate::rule::Rule;
use transcript::json::{Json, JsonKind};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "completion",
    title: "Completion of arguments",
    rules: &[&MOST, &BAD_PARAMS, &UNSUPPORTED],
    triggers: &[
        Trigger::Methods(&[MessageKind::Notification], &["notifications/prompts/list_changed"]),
        Trigger::Methods(MessageKind::ANSWERS, &["prompts/list", "completion/complete"]),
    ],
    visitor: per_session::<CompletionState>,
};

static MOST: Rule = Rule {
    id: "completion.max-100",
    source: "server/utilities/completion#completion-results",
    title: "At most a hundred values are suggested at once",
    why: "Clients make room for a hundred, and refuse or cut a longer list.",
    fix: "Send the hundred best, and say in `total` and `hasMore` that there are others.",
    ..Rule::BLANK.should().server()
};

static BAD_PARAMS: Rule = Rule {
    id: "completion.bad-params",
    span: Span::from(Revision::V2025_03_26),
    source: "server/utilities/completion#error-handling",
    title: "A completion for an unknown prompt, or for no argument, is refused with -32602",
    why: "Where no values come instead, the client takes a misspelled prompt for one without suggestions.",
    fix: "Look up the prompt and the argument first, and answer with the code -32602.",
    ..Rule::BLANK.should().server()
};

static UNSUPPORTED: Rule = Rule {
    id: "completion.unsupported",
    span: Span::from(Revision::V2025_03_26),
    source: "server/utilities/completion#error-handling",
    title: "A server that declares no `completions` refuses them with -32601",
    why: "With another code the client thinks that its request was wrong, and tries again with the next letter.",
    fix: "Answer with the code -32601, or declare `completions`.",
    ..Rule::BLANK.should().server()
};

/// The most values that the specification allows.
const LIMIT: usize = 100;

#[derive(Default)]
struct CompletionState {
    prompts: PromptList,
}

impl RuleVisitor for CompletionState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        self.prompts.see(message);
        self.answered(message, at);
        let result = message.result_of("completion/complete");
        let values = result.and_then(|result| result.member("completion")?.member("values"));
        let Some(values) = values.filter(|values| values.kind() == JsonKind::Array) else { return };
        let count = Json::items(values).count();
        at.check(&MOST, count <= LIMIT, || {
            Violation::new(format!("{count} values are suggested")).inside(values)
        });
    }
}

impl CompletionState {
    fn answered(&self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(request) = message.request_for("completion/complete") else { return };
        let code = message.error_code();
        if let Some(code) = code
            && at.facts.declares(Side::Server, "completions") == Some(false)
        {
            return at.check(&UNSUPPORTED, code == -32601, || {
                let wrong =
                    format!("the server declares no `completions`, and the answer is the error {code}");
                Violation::new(wrong).of(request)
            });
        }
        // A side without such a method says that first.
        if code == Some(-32601) && !refuses_params(message, request) {
            return;
        }
        let Some(params) = request.params().filter(|params| !at.redacted(*params)) else {
            return at.inconclusive(&BAD_PARAMS, "what was asked for is not in the recording");
        };
        let target = params.member("ref").filter(|target| {
            target.member("type").and_then(string_of).is_some_and(|kind| kind == "ref/prompt")
        });
        let prompt = target.and_then(|target| string_of(target.member("name")?));
        let unnamed = params.member("argument").and_then(|argument| argument.member("name")).is_none();
        let fault = match prompt.map(|name| (self.prompts.has(&name), name)) {
            _ if unnamed => "the request has no `argument` with a name".to_owned(),
            Some((Some(false), name)) => format!("no prompt {} is listed", quoted(&name)),
            Some((None, _)) => {
                return at.inconclusive(&BAD_PARAMS, "the recording has no whole `prompts/list`");
            }
            _ => return,
        };
        at.check(&BAD_PARAMS, code == Some(-32602), || {
            let answer = code.map_or("a completion".to_owned(), |code| format!("the error {code}"));
            Violation::new(format!("{fault}, and the answer is {answer}")).of(request)
        });
    }
}
