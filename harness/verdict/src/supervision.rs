//! Work through a plan on several threads: what ends it before its end, and who hears of each trial meanwhile.
//!
//! Where this many failures end a run, its results do not depend on the number of threads. Trials are begun in the order of the
//! plan, and those that were begun are judged to their end, so the trial in which the last of these failures comes has been
//! judged, and so has every trial before it. What was judged after it is dropped.

use crate::jobs::map_in_order;
use crate::record::CaseResult;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a run is watched and ended.
pub struct Supervision<'s> {
    /// Whether it is to end at once: what is under way then has no verdict.
    pub over: &'s (dyn Fn() -> bool + Sync),
    /// With this many failures the run ends. The trial in which the last of them comes is judged whole.
    pub max_failures: Option<u64>,
    /// Whether a result is one of these failures.
    pub fails: &'s (dyn Fn(&CaseResult) -> bool + Sync),
    /// Hears the results of each trial as soon as there are any, in whatever order that is.
    pub heard: &'s (dyn Fn(&[CaseResult]) + Sync),
}

impl Default for Supervision<'_> {
    /// Nobody ends it, and nobody listens.
    fn default() -> Self {
        Self { over: &|| false, max_failures: None, fails: &|line| line.verdict.is_failure(), heard: &|_| {} }
    }
}

/// What came of a plan.
#[derive(Debug)]
pub struct Supervised {
    /// The results of each trial, in the order of the plan; none of what was left.
    pub judged: Vec<Option<Vec<CaseResult>>>,
    /// This many failures ended the run before its end.
    pub max_failures: Option<u64>,
}

impl Supervision<'_> {
    /// Judges every trial of the plan, on `jobs` threads at once with a stack of `stack_size` bytes each, as
    /// [`map_in_order`] has it.
    ///
    /// # Errors
    /// That of `judge`, or where a thread cannot be started.
    pub fn run<T: Sync>(
        &self,
        plan: &[T],
        jobs: usize,
        stack_size: usize,
        judge: impl Fn(&T) -> io::Result<Vec<CaseResult>> + Sync,
    ) -> io::Result<Supervised> {
        let failures = AtomicU64::new(0);
        let one = |trial: &T| {
            if (self.over)() || self.is_enough(failures.load(Ordering::SeqCst)) {
                return None;
            }
            let lines = judge(trial);
            // What an interrupt made of an answer is none.
            if (self.over)() {
                return None;
            }
            if let Ok(lines) = &lines {
                failures.fetch_add(self.failures(lines), Ordering::SeqCst);
                (self.heard)(lines);
            }
            Some(lines)
        };
        let mut judged = Vec::with_capacity(plan.len());
        let mut failures = 0;
        for lines in map_in_order(plan, jobs, stack_size, one)? {
            let lines = lines.filter(|_| !self.is_enough(failures)).transpose()?;
            failures += lines.as_deref().map_or(0, |lines| self.failures(lines));
            judged.push(lines);
        }
        let cut = judged.iter().any(Option::is_none) && self.is_enough(failures);
        Ok(Supervised { judged, max_failures: self.max_failures.filter(|_| cut) })
    }

    fn failures(&self, lines: &[CaseResult]) -> u64 {
        lines.iter().filter(|line| (self.fails)(line)).count() as u64
    }

    fn is_enough(&self, failures: u64) -> bool {
        self.max_failures.is_some_and(|most| failures >= most)
    }
}
