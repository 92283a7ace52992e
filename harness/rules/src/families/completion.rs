//! Completion of arguments. Memory: the prompts of the last listing, as [`PromptList`] says.

use super::prompts::PromptList;
use crate::engine::{
    Family, MessageKind, Report, RuleContext, RuleVisitor, SeenMessage, Trigger, Violation, quoted, string_of,
};
use crate::rule::Rule;
use crate::rule_text::{named, read_rules, rules_in};
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "completion",
    title: "Completion of arguments",
    rules: &RULES,
    triggers: &[
        Trigger::Methods(&[MessageKind::Notification], &["notifications/prompts/list_changed"]),
        Trigger::Methods(
            &[MessageKind::Result, MessageKind::Error],
            &["prompts/list", "completion/complete"],
        ),
    ],
    visitor: || Box::new(CompletionState::default()),
};

const TEXT: &str = include_str!("completion.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

const MOST: &Rule = named(&RULES, "completion.max-100");
const BAD_PARAMS: &Rule = named(&RULES, "completion.bad-params");

/// The most values that the specification allows.
const LIMIT: usize = 100;

#[derive(Default)]
struct CompletionState {
    prompts: PromptList,
}

impl RuleVisitor for CompletionState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        self.prompts.see(at);
        if let Some(message) = at.message {
            self.answered(message, at, report);
        }
        let result = at.message.and_then(|message| message.result_of("completion/complete"));
        let values = result.and_then(|result| result.member("completion")?.member("values"));
        let Some(values) = values.filter(|values| values.kind() == JsonKind::Array) else { return };
        let count = Json::items(values).count();
        report.check(MOST, at, count <= LIMIT, || {
            Violation::new(format!("{count} values are suggested")).inside(values)
        });
    }
}

impl CompletionState {
    fn answered(&self, message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
        let Some(request) = message.request().filter(|request| request.method() == "completion/complete")
        else {
            return;
        };
        let code = message.error_code();
        // A side without such a method says that first.
        if code == Some(-32601) {
            return;
        }
        let Some(params) = request.params().filter(|params| !at.redacted(*params)) else {
            return report.inconclusive(BAD_PARAMS, at, "what was asked for is not in the recording");
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
                return report.inconclusive(BAD_PARAMS, at, "the recording has no whole `prompts/list`");
            }
            _ => return,
        };
        report.check(BAD_PARAMS, at, code == Some(-32602), || {
            let answer = code.map_or("a completion".to_owned(), |code| format!("the error {code}"));
            let wrong = Violation::new(format!("{fault}, and the answer is {answer}"));
            wrong.see(request.location(), "the request")
        });
    }
}
