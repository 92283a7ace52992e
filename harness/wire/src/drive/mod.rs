//! Two scripted peers around a recorder under test: they play a session through it, and what it forwarded and what it
//! recorded are judged against what they really sent.

mod conditions;
mod forwarding;
#[cfg(unix)]
mod http;
mod journals;
mod judge;
#[cfg(unix)]
mod process;
mod recorder;
mod recording;
mod rig;
mod scenario;
#[cfg(unix)]
mod stdio;
mod trial;

pub use conditions::conditions;
pub use judge::Dimension;
pub use recorder::Recorder;
pub use rig::{NotRun, Rig};
pub use scenario::{Scenario, Transport};

use std::collections::BTreeSet;
use std::io;
use verdict::answer::Level;
use verdict::record::{self, CaseResult, Implementation, Record};
use verdict::supervision::Supervision;

/// Plays every scenario through the recorder, `jobs` at once, and records the results: two lines for each, in the
/// order of the plan. The supervision may end it before its end; the record says how much of the plan has no lines.
pub fn run(
    plan: &[Scenario],
    rig: &Rig,
    jobs: usize,
    suite: record::Suite,
    supervision: &Supervision<'_>,
) -> io::Result<Record> {
    let ran = supervision.run(plan, jobs, 0, |scenario| rig.trial(scenario))?;
    let lines: Vec<CaseResult> = ran.judged.into_iter().flatten().flatten().collect();
    let planned = plan.len() * Dimension::ALL.len();
    let left = planned - lines.len();
    if left > 0 && ran.max_failures.is_none() && !(supervision.over)() {
        let message = format!("{planned} trials were planned, but {} have a verdict", lines.len());
        return Err(io::Error::other(message));
    }
    let version = format!("over {}", rig.transport.name());
    let implementation = Implementation::new(rig.recorder.name(), &version, Level::Events);
    let judged: BTreeSet<&str> = lines.iter().map(|line| line.case.as_str()).collect();
    let cases = plan.iter().filter(|it| judged.contains(it.name.as_str()));
    let cases = cases.map(|it| (it.name.clone(), it.note.clone())).collect();
    let record = Record::new(suite, implementation, cases, lines);
    let max_failures = ran.max_failures;
    Ok(Record { subject: record::Subject::Recorder, interrupted: left as u64, max_failures, ..record })
}
