//! Several judges over one recording, each for families of its own and on a thread of its own.
//!
//! A family looks at the session and at no other family, so that each judge may go through the whole of the session by
//! itself, and what they found is laid together. Memory: [`QUEUE`] and two batches of [`BATCH`] bytes, or of one larger entry
//! each, beside what every judge remembers.

use super::family::Family;
use super::judge::{CheckResult, Judge, JudgeOptions};
use crate::rule::Rule;
use std::collections::VecDeque;
use std::mem::take;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use transcript::entry_buffer::EntryBuffer;
use transcript::rejection::Rejection;
use transcript::session::Entry;

/// The most bytes of entries that are handed on at a time.
const BATCH: usize = 512 << 10;

/// The most batches that may wait for a judge, so that one that has much to do here and little there does not stop the others.
const QUEUE: usize = 4;

/// How the work is shared. It comes to the same, however it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallelism {
    /// How many judges there are at most, each on a thread of its own; with none, the thread that reads judges.
    pub workers: usize,
    /// The most bytes of entries that are handed on at a time. What is shorter in all is judged by one judge, without a thread.
    pub batch_bytes: usize,
}

impl Parallelism {
    /// On one thread, that which reads.
    pub const NONE: Self = Self::with_workers(0);

    /// Among this many judges, by batches of a usual size.
    pub const fn with_workers(workers: usize) -> Self {
        Self { workers, batch_bytes: BATCH }
    }
}

/// Judges at work.
pub(crate) struct ParallelJudge {
    options: JudgeOptions,
    parallelism: Parallelism,
    /// The one judge, where there are no workers: it is shown each entry at once.
    single: Option<Judge>,
    workers: Vec<Worker>,
    batch: EntryBuffer,
    /// The batches that the workers were handed, as long as one of them may look at them.
    handed: VecDeque<Arc<EntryBuffer>>,
}

/// A judge on its thread.
#[derive(Debug)]
struct Worker {
    /// Hands something over, and waits while too much does.
    hand: SyncSender<Step>,
    judge: JoinHandle<CheckResult>,
}

/// What a judge is handed.
#[derive(Debug, Clone)]
enum Step {
    Entries(Arc<EntryBuffer>),
    Rejected(Rejection),
}

impl ParallelJudge {
    /// Begins.
    pub(crate) fn new(options: JudgeOptions, parallelism: Parallelism) -> Self {
        let single = (parallelism.workers == 0).then(|| Judge::new(&options));
        Self {
            options,
            parallelism,
            single,
            workers: Vec::new(),
            batch: EntryBuffer::default(),
            handed: VecDeque::new(),
        }
    }

    /// Takes the next entry.
    pub(crate) fn take(&mut self, entry: &Entry<'_>) {
        if let Some(judge) = &mut self.single {
            return judge.take(entry);
        }
        self.batch.push(entry);
        if self.batch.size() >= self.parallelism.batch_bytes {
            self.hand_on();
        }
    }

    /// What came of it; and where the reader gave up before the end, why.
    pub(crate) fn finish(mut self, rejected: Option<Rejection>) -> CheckResult {
        if self.workers.is_empty() {
            let mut judging = self.single.unwrap_or_else(|| Judge::new(&self.options));
            self.batch.each(|entry| judging.take(entry));
            rejected.into_iter().for_each(|rejection| judging.rejected(rejection));
            return judging.finish();
        }
        self.hand_on();
        if let Some(rejection) = rejected {
            self.hand(&Step::Rejected(rejection));
        }
        // With nobody to hand anything over, a judge comes to an end.
        let workers: Vec<_> = self.workers.into_iter().map(|worker| worker.judge).collect();
        let parts =
            workers.into_iter().map(|judge| judge.join().unwrap_or_else(|panic| resume_unwind(panic)));
        merge(self.options.families, parts.collect())
    }

    fn hand_on(&mut self) {
        let workers = self.parallelism.workers;
        if self.workers.is_empty() {
            self.workers = (0..workers).map(|worker| Worker::start(&self.options, worker, workers)).collect();
        }
        let batch = Arc::new(take(&mut self.batch));
        self.hand(&Step::Entries(Arc::clone(&batch)));
        self.handed.push_back(batch);
        // The oldest that everybody is through with is filled again.
        if self.handed.front().is_some_and(|oldest| Arc::strong_count(oldest) == 1) {
            self.batch = self.handed.pop_front().and_then(Arc::into_inner).unwrap_or_default();
            self.batch.clear();
        }
    }

    fn hand(&self, step: &Step) {
        for worker in &self.workers {
            // A judge that takes no more has panicked, which is reported when it is joined.
            let _gone = worker.hand.send(step.clone());
        }
    }
}

impl Worker {
    fn start(options: &JudgeOptions, worker: usize, of: usize) -> Self {
        let (hand, handed) = sync_channel(QUEUE);
        let options = options.clone();
        let judge = thread::spawn(move || {
            let mut judging =
                Judge::for_families(&options, |family| worker_of(family, &options, of) == worker);
            for step in handed {
                match step {
                    Step::Entries(batch) => batch.each(|entry| judging.take(entry)),
                    Step::Rejected(rejection) => judging.rejected(rejection),
                }
            }
            judging.finish()
        });
        Self { hand, judge }
    }
}

/// The worker that judges by a family. The first has those that judge together, and half as many of the others as each other
/// worker: two that take equally long leave no core idle at the end.
fn worker_of(family: usize, options: &JudgeOptions, workers: usize) -> usize {
    if family < options.together { 0 } else { (family % (2 * workers - 1)).div_ceil(2) }
}

/// Each rule's outcome is that of the judge whose family it is of, and a limit may be that of a family; all the rest is
/// the same with all of them.
fn merge(families: &[Family], parts: Vec<CheckResult>) -> CheckResult {
    let mut found: Vec<_> = Vec::new();
    let mut whole = None;
    let limit = parts.iter().find_map(|part| part.limit);
    for mut part in parts {
        found.push(take(&mut part.outcomes).into_iter().peekable());
        whole.get_or_insert(part);
    }
    let outcome = |rule: &'static Rule| {
        found.iter_mut().find_map(|outcomes| outcomes.next_if(|outcome| outcome.rule.id == rule.id))
    };
    let outcomes =
        families.iter().flat_map(|family| family.rules.iter().copied()).filter_map(outcome).collect();
    CheckResult { outcomes, limit, ..whole.unwrap_or_else(|| Judge::new(&JudgeOptions::default()).finish()) }
}
