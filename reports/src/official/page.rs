//! The run as a page: the checks that fell short, and the scenarios.

use super::text::again;
use super::{OfficialCheck, OfficialRun, OfficialStatus, RecordedMessage, RuleAnswer, Scenario};
use crate::plain::{cut, plain};
use crate::run::html::labels::{WIDTH, named};
use crate::run::html::{HtmlRenderer, PageLocation};
use rules::RuleVerdict;
use serde_json::{Value, json};

/// How many messages before the last one of a check are there to unfold.
const EARLIER: usize = 6;

impl HtmlRenderer {
    /// The page of a run of the official suite.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn official(&self, run: &OfficialRun, place: PageLocation<'_>) -> Result<String, tera::Error> {
        let short: Vec<Value> =
            run.short().iter().map(|(scenario, check)| fallen_short(scenario, check)).collect();
        let page = json!({
            "sentence": plain(&run.sentence()),
            "short": short,
            "scenarios": run.scenarios.iter().map(row).collect::<Vec<_>>(),
        });
        self.render("official.html", place, "The official suite, and what was recorded", &page)
    }
}

fn row(scenario: &Scenario) -> Value {
    let count = |status| scenario.checks.iter().filter(|check| check.status == status).count();
    let checks = scenario.checks.iter().filter(|check| check.status != OfficialStatus::Info);
    let checks: Vec<_> =
        checks.map(|check| (check.status.word(), plain(&check.id), cut(&check.description, WIDTH))).collect();
    json!({
        "name": plain(&scenario.name),
        "failed": count(OfficialStatus::Failure),
        "warned": count(OfficialStatus::Warning),
        "passed": count(OfficialStatus::Success),
        "findings": scenario.findings.iter().map(|finding| 1 + finding.more).sum::<u64>(),
        "messages": scenario.messages.len() as u64 + scenario.more,
        "checks": checks,
    })
}

fn fallen_short(scenario: &Scenario, check: &OfficialCheck) -> Value {
    let messages = scenario.messages(check);
    let (last, before) =
        messages.split_last().map_or((None, messages), |(last, before)| (Some(last), before));
    let (skipped, earlier) = before.split_at(before.len().saturating_sub(EARLIER));
    json!({
        "tone": if check.status == OfficialStatus::Failure { "bad" } else { "known" },
        "word": check.status.word(),
        "scenario": plain(&scenario.name),
        "id": plain(&check.id),
        "what": cut(check.what(), WIDTH),
        "description": cut(&check.description, WIDTH),
        "link": check.link().map(plain),
        "skipped": skipped.len(),
        "message": last.map(message),
        "earlier": earlier.iter().map(message).collect::<Vec<_>>(),
        "rules": check.rules.iter().map(rule).collect::<Vec<_>>(),
        "again": again(scenario, check).map(|command| plain(&command)),
    })
}

fn message(it: &RecordedMessage) -> Value {
    json!({
        "place": plain(&format!("{}:{}", it.file, it.line)),
        "pointer": plain(&it.pointer),
        "sender": it.sender,
        "text": cut(&it.text, WIDTH),
    })
}

fn rule(answer: &RuleAnswer) -> Value {
    let tone = match answer.verdict {
        RuleVerdict::Fail => "bad",
        RuleVerdict::Warn => "known",
        RuleVerdict::Pass => "good",
        _ => "faint",
    };
    json!({
        "tone": tone,
        "id": answer.rule.id,
        "href": format!("rules.html#{}", named("rule", answer.rule.id)),
        "title": answer.rule.title,
        "words": cut(&answer.words(), WIDTH),
    })
}
