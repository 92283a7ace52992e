//! The checks that fell short as SARIF 2.1.0, each at the last message before it, with what our rules found there.

use super::{OfficialCheck, OfficialRun, OfficialStatus, RuleAnswer, Scenario};
use crate::check::sarif::{location, log, words};
use crate::object::{OrderedValue, object};
use std::collections::BTreeMap;

/// The run as SARIF, made by this version of the program.
///
/// # Errors
/// Where memory ends.
pub fn render(run: &OfficialRun, version: &str) -> serde_json::Result<String> {
    let mut cited: BTreeMap<&str, (usize, &OfficialCheck)> = BTreeMap::new();
    let mut results = Vec::new();
    for (scenario, check) in run.short() {
        let next = cited.len();
        let (index, _) = *cited.entry(&check.id).or_insert((next, check));
        results.push(result(scenario, check, index));
    }
    let mut cited: Vec<_> = cited.into_values().collect();
    cited.sort_unstable_by_key(|(index, _)| *index);
    let descriptors = cited.into_iter().map(|(_, check)| {
        object()
            .with("id", check.id.clone())
            .with("shortDescription", words(check.description.clone()))
            .with("helpUri", check.link().map(str::to_owned))
    });
    log(version, results, descriptors.collect())
}

fn level(check: &OfficialCheck) -> &'static str {
    if check.status == OfficialStatus::Failure { "error" } else { "warning" }
}

fn result<'r>(scenario: &'r Scenario, check: &'r OfficialCheck, index: usize) -> OrderedValue<'r> {
    let answers: Vec<String> = check.rules.iter().map(RuleAnswer::words).collect();
    let behind = if answers.is_empty() { String::new() } else { format!(" ({})", answers.join("; ")) };
    let place = match scenario.last(check) {
        Some(it) => location(object(), &it.file, Some(it.line), Some(&it.pointer), Some(&it.text)),
        None => location(object(), &scenario.file, None, None, None),
    };
    let related =
        scenario.findings.iter().filter(|it| check.rules.iter().any(|rule| rule.rule.id == it.rule));
    let related = related.enumerate().map(|(number, it)| {
        let message = object().with("id", number as u64 + 1).with("message", words(it.message.clone()));
        location(message, &it.file, it.line, it.pointer.as_deref(), it.snippet.as_deref())
    });
    object()
        .with("ruleId", check.id.clone())
        .with("ruleIndex", index)
        .with("kind", "fail")
        .with("level", level(check))
        .with("message", words(format!("{}: {}{behind}", scenario.name, check.what())))
        .with("locations", vec![place])
        .with("relatedLocations", related.collect::<Vec<_>>())
}
