//! Two scripted peers around a recorder under test: they play a session through it, and what it forwarded and what it
//! recorded are judged against what they really sent.

mod conditions;
mod exchanges;
mod forwarding;
#[cfg(unix)]
mod http;
mod journals;
pub mod judge;
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
pub use recorder::Recorder;
pub use rig::Rig;
pub use scenario::{Scenario, Transport};
pub use trial::NotRun;

use crate::drive::judge::Dimension;
use std::io;
use verdict::answer::Level;
use verdict::jobs::map_in_order;
use verdict::record::{self, Implementation, Record};

/// Plays every scenario through the recorder, `jobs` at once, and records what came of it: two lines for each, in the
/// order of the plan.
///
/// # Errors
/// Where a folder or a thread cannot be had.
pub fn run(plan: &[Scenario], rig: &Rig, jobs: usize, suite: record::Suite) -> io::Result<Record> {
    let mut lines = Vec::new();
    for result in map_in_order(plan, jobs, 0, |scenario| rig.trial(scenario))? {
        lines.extend(result?);
    }
    let planned = plan.len() * Dimension::ALL.len();
    if lines.len() != planned {
        let message = format!("{planned} trials were planned, and {} have a verdict", lines.len());
        return Err(io::Error::other(message));
    }
    let version = format!("over {}", rig.transport.name());
    let implementation = Implementation::new(rig.recorder.name(), &version, Level::Events);
    let cases = plan.iter().map(|it| (it.name.clone(), it.note.clone())).collect();
    Ok(Record { subject: record::Subject::Recorder, ..Record::new(suite, implementation, cases, lines) })
}
