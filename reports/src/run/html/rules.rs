//! The rules of `check` as a page, by family, each with the cases that break and keep it.

use super::cases::Filter;
use super::clauses::Case;
use super::labels::{named, plain};
use super::renderer::{HtmlRenderer, PageLocation};
use rules::rule::{Level, Rule};
use rules::{FAMILIES, Family};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The cases that show rules, by the rule's id.
#[derive(Debug, Clone, Default)]
pub struct RuleCases {
    /// Those that break it.
    pub breaks: BTreeMap<String, Vec<Case>>,
    /// Those that keep it.
    pub keeps: BTreeMap<String, Vec<Case>>,
}

/// How much rules bind, with the digit for the filter.
const LEVELS: [(Level, char); 3] = [(Level::Must, '0'), (Level::Should, '1'), (Level::Info, '2')];

impl HtmlRenderer {
    /// The page of the rules.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn rules(&self, cases: &RuleCases, place: PageLocation<'_>) -> Result<String, tera::Error> {
        let families = FAMILIES.iter().filter(|family| !family.rules.is_empty());
        let families: Vec<_> = families.collect();
        let filter = Filter {
            what: "rules",
            topics: families.iter().map(|family| plain(family.title)).collect(),
            verdicts: LEVELS.map(|(level, code)| (level.name(), code.to_string())).into(),
            ..Filter::default()
        };
        let family = |family: &&Family| {
            let rules: Vec<Value> = family.rules.iter().map(|rule| shown(rule, cases)).collect();
            json!({ "name": family.name, "title": family.title, "rules": rules })
        };
        let count: usize = families.iter().map(|family| family.rules.len()).sum();
        let families: Vec<Value> = families.iter().map(family).collect();
        let page = json!({ "count": count, "families": families, "filter": filter });
        self.render("rules.html", place, "The rules of check", &page)
    }
}

fn shown(rule: &Rule, cases: &RuleCases) -> Value {
    let mut level = rule.level.name().to_owned();
    if let Some((since, raised)) = rule.raised {
        level.push_str(&format!(", {} from {since} on", raised.name()));
    }
    let of = |by: &BTreeMap<String, Vec<Case>>| by.get(rule.id).cloned().unwrap_or_default();
    json!({
        "id": rule.id,
        "anchor": named("rule", rule.id),
        "level": level,
        "code": LEVELS.iter().find(|(level, _)| *level == rule.level).map_or('-', |(_, code)| *code),
        "party": rule.party.name(), "span": rule.span.to_string(),
        "title": rule.title, "why": rule.why, "fix": rule.fix, "source": rule.source, "link": rule.link(None),
        "contested": rule.contested,
        "needs": rule.needs.iter().map(|need| need.lack()).collect::<Vec<_>>(),
        "breaks": of(&cases.breaks), "keeps": of(&cases.keeps),
    })
}
