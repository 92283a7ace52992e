//! Completion of arguments.
//!
//! Refuses to know: whether what is suggested makes sense.

use crate::engine::{Found, Moment, Sort, Wrong};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Party, Rule};
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "completion",
    title: "Completion of arguments",
    rules: &[&MOST],
    hears: &[Hears::Some(&[Sort::Result], &["completion/complete"])],
    watch: || Box::new(Watching),
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

/// So many values the specification allows.
const LIMIT: usize = 100;

struct Watching;

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        let result = at.said.as_ref().and_then(|said| said.result_of("completion/complete"));
        let values = result.and_then(|result| result.member("completion")?.member("values"));
        let Some(values) = values.filter(|values| values.kind() == JsonKind::Array) else { return };
        let count = Json::items(values).count();
        found.check(&MOST, at, count <= LIMIT, || {
            Wrong::of(format!("{count} values are suggested")).inside(values)
        });
    }
}
