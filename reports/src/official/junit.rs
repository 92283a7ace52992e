//! The run as JUnit: a suite a scenario, a case a check. A check that the suite warns of fails where warnings count.

use super::{OfficialCheck, OfficialRun, OfficialStatus, Scenario, text};
use crate::junit::{JunitCase, JunitCounts, JunitOutcome, JunitStatus, JunitSuite, TAIL, head};

/// The run as XML.
pub fn render(run: &OfficialRun) -> String {
    let (mut counts, mut suites) = (JunitCounts::default(), String::new());
    for scenario in &run.scenarios {
        let checks = scenario.checks.iter().filter(|check| check.status != OfficialStatus::Info);
        let suite = JunitSuite {
            name: scenario.name.clone(),
            properties: vec![("file", scenario.file.clone())],
            cases: checks.map(|check| case(scenario, check)).collect(),
        };
        counts += suite.spell(&mut suites);
    }
    [&head("mcp-concord report --official", counts), &*suites, TAIL].concat()
}

fn case(scenario: &Scenario, check: &OfficialCheck) -> JunitCase {
    let status = |outcome, description| JunitStatus {
        outcome,
        message: check.what().to_owned(),
        verdict: Some(check.status.word()),
        description,
    };
    let lines = || text::lines(scenario, check).join("\n");
    JunitCase {
        name: check.id.clone(),
        class: Some(scenario.name.clone()),
        status: match check.status {
            OfficialStatus::Failure => Some(status(JunitOutcome::Failure, Some(lines()))),
            OfficialStatus::Skipped => Some(status(JunitOutcome::Skipped, None)),
            _ => None,
        },
        output: (check.status == OfficialStatus::Warning).then(|| format!("{}\n{}", check.what(), lines())),
        ..JunitCase::default()
    }
}
