//! Black-box fuzzing of an importer: variants whose meaning is known, asked for, judged, shrunk, kept.
//!
//! Knows: which numbers are tried, in which order failures are told, and that a kind of failure is told once. Refuses to
//! know: how an importer is run, what makes a variant, and who reads what is told. For one seed and a number of runs the
//! outcome does not depend on the number of threads: they ask, and one of them goes through the answers by number.

mod probe;
mod shrink;
mod signature;
mod sketch;
mod tell;

pub(crate) use probe::{Probe, Shown, Told};
pub(crate) use shrink::Shrunk;
pub(crate) use signature::{Right, Signature};
pub(crate) use sketch::{About, Sketch, save};
pub(crate) use tell::Teller;

use crate::interrupt;
use generators::seeded::{Source, recipe, variant};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;
use suite::importer::STACK;

/// So many variants are asked for by each thread before the answers are gone through.
const ROUND: u64 = 8;

/// What is tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'p> {
    /// Where the choices begin.
    pub seed: u64,
    /// The number of the first variant.
    pub first: u64,
    /// How many variants; none: until the time is up.
    pub runs: Option<u64>,
    /// When to begin no more; none: when all runs are done.
    pub until: Option<Instant>,
    /// How many variants are asked for at once.
    pub jobs: usize,
    /// The session that is changed, or none in particular.
    pub source: Source<'p>,
}

/// A kind of failure that was found, shrunk.
#[derive(Debug, Clone)]
pub(crate) struct Find {
    /// The number of the variant that showed it first.
    pub number: u64,
    /// Its kind there.
    pub signature: Signature,
    /// What was left of the variant.
    pub shrunk: Shrunk,
}

/// What a run came to so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Variants that were asked about.
    pub runs: u64,
    /// Transcripts that were read.
    pub readings: u64,
    /// Transcripts that the importer does not read.
    pub skipped: u64,
    /// Formats that could not carry a variant.
    pub uncarried: u64,
    /// Numbers that made no variant.
    pub none: u64,
    /// How many finds there are.
    pub finds: usize,
    /// How often each kind of failure was seen, and in which find it is told, from 0.
    pub seen: BTreeMap<Signature, (usize, u64)>,
    /// Ctrl-C came.
    pub interrupted: bool,
}

/// What happens during a run.
pub(crate) enum Event<'e> {
    /// It goes on.
    Progress(&'e Tally),
    /// Something was found.
    Found(&'e Find),
}

/// Why a run ended before its end.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// What was found could not be told.
    Untold(io::Error),
    /// A variant could not be asked about: a sentence.
    Unasked(String),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Untold(error)
    }
}

/// Carries out the plan, and tells of what happens as it happens.
///
/// # Errors
/// Where it cannot go on. What was told until then was found.
pub(crate) fn fuzz(
    plan: &Plan<'_>,
    probe: &Probe<'_>,
    tell: &mut dyn FnMut(Event<'_>) -> io::Result<()>,
) -> Result<Tally, Stopped> {
    let mut tally = Tally::default();
    let end = plan.runs.map_or(u64::MAX, |runs| plan.first.saturating_add(runs));
    let mut next = plan.first;
    while next < end && !plan.is_over() {
        let last = next.saturating_add(plan.jobs.max(1) as u64 * ROUND).min(end);
        for (number, asked) in round(plan, probe, next..last)? {
            tally.runs += 1;
            let Some(told) = asked.map_err(Stopped::Unasked)? else {
                tally.none += 1;
                continue;
            };
            tally.readings += told.readings;
            tally.skipped += told.skipped;
            tally.uncarried += told.uncarried;
            for Shown { signature, .. } in told.shown {
                if let Some((_, count)) = tally.seen.get_mut(&signature) {
                    *count += 1;
                    continue;
                }
                let Some(shrunk) = deep(|| found(plan, probe, number, &signature))? else { continue };
                // The same fault shows in other formats as well, and there it is no news.
                for other in shrunk.same(&signature) {
                    tally.seen.entry(other.clone()).or_insert((tally.finds, 0));
                }
                tally.seen.entry(signature.clone()).or_insert((tally.finds, 0)).1 += 1;
                tally.finds += 1;
                tell(Event::Found(&Find { number, signature, shrunk }))?;
            }
        }
        next = last;
        tell(Event::Progress(&tally))?;
    }
    tally.interrupted = interrupt::came();
    Ok(tally)
}

impl Plan<'_> {
    fn is_over(&self) -> bool {
        interrupt::came() || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// What came of asking about one variant; nothing where there is none of that number.
type Answered = Result<Option<Told>, String>;

/// Asks about a few variants on several threads, and gives what came of it by number.
fn round(
    plan: &Plan<'_>,
    probe: &Probe<'_>,
    numbers: std::ops::Range<u64>,
) -> io::Result<BTreeMap<u64, Answered>> {
    let next = AtomicU64::new(numbers.start);
    let done: Mutex<BTreeMap<u64, Answered>> = Mutex::default();
    let work = || {
        while !plan.is_over() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= numbers.end {
                return;
            }
            let variant = variant(plan.seed, number, plan.source);
            let told = variant.map(|variant| probe.ask(&Sketch::from(variant))).transpose();
            // Whoever is interrupted in the midst of an answer gives a wrong one.
            if !interrupt::came() {
                done.lock().unwrap_or_else(PoisonError::into_inner).insert(number, told);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..plan.jobs.max(1) {
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        }
        Ok::<_, io::Error>(())
    })?;
    Ok(done.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn found(plan: &Plan<'_>, probe: &Probe<'_>, number: u64, signature: &Signature) -> Option<Shrunk> {
    let recipe = recipe(plan.seed, number, plan.source)?;
    shrink::shrink(recipe, signature, probe)
}

/// Does it on a thread with a deep stack, since an importer that is no process is asked there.
fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        thread.join().map_err(|_| io::Error::other("the shrinking thread died"))
    })
}
