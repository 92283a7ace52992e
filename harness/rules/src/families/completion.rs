//! Completion of arguments.

use crate::engine::{Family, MessageKind, Report, RuleContext, RuleVisitor, Trigger, Violation};
use crate::rule::{Level, Party, Rule};
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "completion",
    title: "Completion of arguments",
    rules: &[&MOST],
    triggers: &[Trigger::Methods(&[MessageKind::Result], &["completion/complete"])],
    visitor: || Box::new(CompletionState),
};

static MOST: Rule = Rule {
    id: "completion.max-100",
    level: Level::Should,
    party: Party::Server,
    source: "server/utilities/completion#completion-results",
    title: "At most a hundred values are suggested at once",
    why: "Clients make room for a hundred, and refuse or cut a longer list.",
    fix: "Send the hundred best, and say in `total` and `hasMore` that there are others.",
    ..Rule::BLANK
};

/// The most values that the specification allows.
const LIMIT: usize = 100;

struct CompletionState;

impl RuleVisitor for CompletionState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        let result = at.message.and_then(|message| message.result_of("completion/complete"));
        let values = result.and_then(|result| result.member("completion")?.member("values"));
        let Some(values) = values.filter(|values| values.kind() == JsonKind::Array) else { return };
        let count = Json::items(values).count();
        report.check(&MOST, at, count <= LIMIT, || {
            Violation::new(format!("{count} values are suggested")).inside(values)
        });
    }
}
