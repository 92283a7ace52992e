//! The list of rules in `docs/rules.md`: derived from the rules and from the cases that break and keep them.

use mcp_concord_suite::Case;
use rules::FAMILIES;
use rules::rule::Rule;
use std::fmt::Write as _;
use verdict::case_file::Judgement;
use verdict::plain::counted;

/// The part of the page below its seam: a table for each family.
pub(crate) fn derived(cases: &[Case]) -> String {
    let mut page = String::new();
    for family in FAMILIES.iter().filter(|family| !family.rules.is_empty()) {
        let _ = write!(
            page,
            "\n### {}\n\n`{}`: {}\n\n| id | level | party | revisions | rule | breaks | keeps |\n\
             | --- | --- | --- | --- | --- | ---: | ---: |\n",
            family.title,
            family.name,
            counted(family.rules.len(), "rule")
        );
        for rule in family.rules {
            let _ = writeln!(page, "{}", row(rule, cases));
        }
    }
    page
}

fn row(rule: &Rule, cases: &[Case]) -> String {
    let count = |of: fn(&Judgement) -> &Vec<String>| {
        let judgements = cases.iter().filter_map(|case| case.judgement.as_ref());
        judgements.filter(|judgement| of(judgement).iter().any(|id| id == rule.id)).count()
    };
    let mut level = rule.level.name().to_owned();
    if let Some((since, raised)) = rule.raised {
        let _ = write!(level, ", {} from {since} on", raised.name());
    }
    if let Some(softened) = rule.softened {
        let _ = write!(level, "; {softened}");
    }
    let contested = if rule.contested.is_some() { " *Contested.*" } else { "" };
    format!(
        "| `{}` | {level} | {} | {} | {}{contested} | {} | {} |",
        rule.id,
        rule.party.name(),
        rule.span,
        rule.title.replace('|', r"\|"),
        count(|judgement| &judgement.breaks),
        count(|judgement| &judgement.keeps)
    )
}
