//! The rules of `check` as a page, by family, each with the cases that break and keep it.
//!
//! Knows: what is shown of a rule. Refuses to know: how a rule is watched for.

use super::clauses::Case;
use super::labels::{named, plain};
use super::matrix::{Choice, Filter};
use super::renderer::{HtmlRenderer, PageLocation};
use rules::FAMILIES;
use rules::rule::{Level, Rule};
use serde::Serialize;
use std::collections::BTreeMap;

/// The cases that show rules, by the rule's id.
#[derive(Debug, Clone, Default)]
pub struct RuleCases {
    /// Those that break it.
    pub breaks: BTreeMap<String, Vec<Case>>,
    /// Those that keep it.
    pub keeps: BTreeMap<String, Vec<Case>>,
}

#[derive(Debug, Serialize)]
struct Page<'p> {
    count: usize,
    families: Vec<Family<'p>>,
    filter: Filter,
}

#[derive(Debug, Serialize)]
struct Family<'p> {
    name: &'static str,
    title: &'static str,
    rules: Vec<RuleEntry<'p>>,
}

#[derive(Debug, Serialize)]
struct RuleEntry<'p> {
    id: &'static str,
    anchor: String,
    level: String,
    code: char,
    party: &'static str,
    span: String,
    title: &'static str,
    why: &'static str,
    fix: &'static str,
    source: &'static str,
    contested: Option<&'static str>,
    needs: Vec<&'static str>,
    breaks: &'p [Case],
    keeps: &'p [Case],
}

/// How much rules bind, with the digit for the filter.
const LEVELS: [(Level, char); 3] = [(Level::Must, '0'), (Level::Should, '1'), (Level::Info, '2')];

impl HtmlRenderer {
    /// The page of the rules.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn rules(&self, shown: &RuleCases, place: PageLocation<'_>) -> Result<String, tera::Error> {
        let families = FAMILIES.iter().filter(|family| !family.rules.is_empty());
        let families: Vec<Family<'_>> = families
            .map(|family| Family {
                name: family.name,
                title: family.title,
                rules: family.rules.iter().map(|rule| one(rule, shown)).collect(),
            })
            .collect();
        let filter = Filter {
            topics: families.iter().map(|family| plain(family.title)).collect(),
            verdicts: LEVELS
                .map(|(level, code)| Choice { name: level.name(), code: code.to_string() })
                .into(),
            ..Filter::of("rules")
        };
        let page = Page { count: families.iter().map(|family| family.rules.len()).sum(), families, filter };
        self.render("rules.html", place, "The rules of check", &page)
    }
}

fn one<'p>(rule: &'static Rule, shown: &'p RuleCases) -> RuleEntry<'p> {
    let mut level = rule.level.name().to_owned();
    if let Some((since, raised)) = rule.raised {
        level.push_str(&format!(", {} from {since} on", raised.name()));
    }
    let cases = |by: &'p BTreeMap<String, Vec<Case>>| by.get(rule.id).map(Vec::as_slice).unwrap_or_default();
    RuleEntry {
        id: rule.id,
        anchor: named("rule", rule.id),
        level,
        code: LEVELS.iter().find(|(level, _)| *level == rule.level).map_or('-', |(_, code)| *code),
        party: rule.party.name(),
        span: rule.span.to_string(),
        title: rule.title,
        why: rule.why,
        fix: rule.fix,
        source: rule.source,
        contested: rule.contested,
        needs: rule.needs.iter().map(|need| need.lack()).collect(),
        breaks: cases(&shown.breaks),
        keeps: cases(&shown.keeps),
    }
}
