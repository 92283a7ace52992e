//! Both ends of the wire around a recorder: our peers play a session through it, and what it passed on and wrote down is
//! held against what they really said.
//!
//! Knows: the plan, and what becomes of each part of it. Refuses to know: what makes a finding, which is for
//! [`crate::drive::judged`], and how the record is shown.

mod bench;
mod exchanges;
#[cfg(unix)]
mod hands;
#[cfg(unix)]
mod http;
pub mod judged;
mod passed;
mod recorder;
mod recording;
mod scenario;
#[cfg(unix)]
mod stdio;
mod truth;

pub use bench::{NotRun, Rig};
pub use recorder::Recorder;
pub use scenario::{Scenario, Transport, conditions};

use crate::drive::judged::Dimension;
use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use verdict::answer::Level;
use verdict::record::{self, CaseResult, Implementation, Record};

/// Plays every scenario through the recorder, `jobs` at once, and records what came of it: two lines for each, in the order
/// of the plan.
///
/// # Errors
/// Where a folder or a thread cannot be had.
pub fn run(plan: &[Scenario], bench: &Rig, jobs: usize, suite: record::Suite) -> io::Result<Record> {
    let next = AtomicUsize::new(0);
    let done: Mutex<BTreeMap<usize, io::Result<Vec<CaseResult>>>> = Mutex::new(BTreeMap::new());
    let work = || {
        while let Some((index, scenario)) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            plan.get(index).map(|scenario| (index, scenario))
        } {
            let lines = bench.trial(scenario);
            done.lock().unwrap_or_else(PoisonError::into_inner).insert(index, lines);
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, plan.len().max(1)) {
            thread::Builder::new().spawn_scoped(scope, work)?;
        }
        Ok::<_, io::Error>(())
    })?;
    let mut lines = Vec::new();
    for result in done.into_inner().unwrap_or_else(PoisonError::into_inner).into_values() {
        lines.extend(result?);
    }
    let planned = plan.len() * Dimension::ALL.len();
    if lines.len() != planned {
        let message = format!("{planned} trials were planned, and {} have a verdict", lines.len());
        return Err(io::Error::other(message));
    }
    let implementation = Implementation {
        name: bench.recorder.name().to_owned(),
        version: format!("over {}", bench.transport.name()),
        level: Level::Events,
    };
    let cases = plan.iter().map(|it| (it.name.clone(), it.note.clone())).collect();
    Ok(Record { subject: record::Subject::Recorder, ..Record::new(suite, implementation, cases, lines) })
}
