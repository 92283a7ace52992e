//! What ends a run before its end, and who hears of each case meanwhile.
//!
//! Where so many failures end a run, its record does not depend on the number of threads. Cases are begun in the order of the
//! plan, and those that were begun are judged to their end, so the case in which the last of these failures comes has been
//! judged, and so has every case before it. What was judged after it is dropped.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use verdict::record::CaseResult;

/// How a run is watched and ended.
pub struct Supervision<'s> {
    /// Whether it is to end at once: what is under way then has no verdict.
    pub over: &'s (dyn Fn() -> bool + Sync),
    /// With so many failures the run ends. The case in which the last of them comes is judged in all of its formats.
    pub max_failures: Option<u64>,
    /// Whether a result is one of these failures.
    pub fails: &'s (dyn Fn(&CaseResult) -> bool + Sync),
    /// Hears the results of each case as soon as there are any, in whatever order that is.
    pub heard: &'s (dyn Fn(&[CaseResult]) + Sync),
}

impl Default for Supervision<'_> {
    /// Nobody ends it, and nobody listens.
    fn default() -> Self {
        Self { over: &|| false, max_failures: None, fails: &|line| line.verdict.is_failure(), heard: &|_| {} }
    }
}

/// The failures of all cases that were judged so far, in whatever order.
#[derive(Debug, Default)]
pub(super) struct Begun {
    failures: AtomicU64,
}

impl Supervision<'_> {
    /// Whether no further case is begun.
    pub(super) fn is_over(&self, begun: &Begun) -> bool {
        (self.over)() || self.is_enough(begun.failures.load(Ordering::SeqCst))
    }

    /// The results of a case that was just judged; none where they came too late.
    pub(super) fn takes(
        &self,
        begun: &Begun,
        lines: io::Result<Vec<CaseResult>>,
    ) -> Option<io::Result<Vec<CaseResult>>> {
        if (self.over)() {
            return None;
        }
        if let Ok(lines) = &lines {
            begun.failures.fetch_add(self.failures(lines), Ordering::SeqCst);
            (self.heard)(lines);
        }
        Some(lines)
    }

    /// How many of these results are failures.
    pub(super) fn failures(&self, lines: &[CaseResult]) -> u64 {
        lines.iter().filter(|line| (self.fails)(line)).count() as u64
    }

    /// Whether so many failures end the run.
    pub(super) fn is_enough(&self, failures: u64) -> bool {
        self.max_failures.is_some_and(|most| failures >= most)
    }
}
