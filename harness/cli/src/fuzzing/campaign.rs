//! A fuzzing campaign: variants whose meaning is known, asked for, judged, shrunk.
//!
//! A kind of failure is reported once. For one seed and a number of runs the outcome does not depend on the number of
//! threads: they ask, and one of them goes through the answers by number.

use super::probe::{Observation, Probe, ProbeResult};
use super::shrink::{self, Shrunk};
use super::signature::Signature;
use crate::case_draft::CaseDraft;
use generators::seeded::{Source, recipe, variant};
use mcp_concord_suite::importer::STACK;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::thread;
use std::time::Instant;
use verdict::jobs::map_in_order;
use wire::interrupt;

/// How many variants each thread asks about before the answers are evaluated.
const ROUND: u64 = 8;

/// What is tried.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan<'p> {
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
    /// The kinds of failure that are known.
    pub known: &'p BTreeSet<Signature>,
}

/// A kind of failure that was found, shrunk.
#[derive(Debug, Clone)]
pub(crate) struct Finding {
    /// The number of the variant that showed it first.
    pub number: u64,
    pub signature: Signature,
    pub shrunk: Shrunk,
}

/// The counts of a run so far.
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
    /// Variants of which nobody knows what they mean in the dialect that is spoken.
    pub unjudged: u64,
    /// Numbers that made no variant.
    pub none: u64,
    pub findings: usize,
    /// How often each kind of failure was seen, and in which find it is result, from 0.
    pub seen: BTreeMap<Signature, (usize, u64)>,
    /// Failures of kinds that are known.
    pub known: u64,
    pub interrupted: bool,
}

/// What happens during a run.
pub(crate) enum Event<'e> {
    Progress(&'e Tally),
    Found(&'e Finding),
}

/// Carries out the plan, and reports what happens as it happens. It fails where what was found cannot be told, and with a
/// sentence where a variant cannot be asked about.
pub(crate) fn fuzz<E: From<io::Error> + From<String>>(
    plan: &Plan<'_>,
    probe: &Probe<'_>,
    tell: &mut dyn FnMut(Event<'_>) -> io::Result<()>,
) -> Result<Tally, E> {
    let mut tally = Tally::default();
    let end = plan.runs.map_or(u64::MAX, |runs| plan.first.saturating_add(runs));
    let mut next = plan.first;
    while next < end && !plan.is_over() {
        let last = next.saturating_add(plan.jobs.max(1) as u64 * ROUND).min(end);
        for (number, asked) in round(plan, probe, next..last)? {
            tally.runs += 1;
            let Some(result) = asked? else {
                tally.none += 1;
                continue;
            };
            tally.readings += result.readings;
            tally.skipped += result.skipped;
            tally.uncarried += result.uncarried;
            tally.unjudged += u64::from(result.unjudged);
            for Observation { signature, .. } in result.shown {
                if plan.known.contains(&signature) {
                    tally.known += 1;
                    continue;
                }
                if let Some((_, count)) = tally.seen.get_mut(&signature) {
                    *count += 1;
                    continue;
                }
                let Some(shrunk) = deep(|| found(plan, probe, number, &signature))? else { continue };
                // The same mistake shows in other formats as well, where it is not new.
                for other in shrunk.same(&signature) {
                    tally.seen.entry(other.clone()).or_insert((tally.findings, 0));
                }
                tally.seen.entry(signature.clone()).or_insert((tally.findings, 0)).1 += 1;
                tally.findings += 1;
                tell(Event::Found(&Finding { number, signature, shrunk }))?;
            }
        }
        next = last;
        tell(Event::Progress(&tally))?;
    }
    tally.interrupted = interrupt::requested();
    Ok(tally)
}

impl Plan<'_> {
    fn is_over(&self) -> bool {
        interrupt::requested() || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// The result of asking about one variant; none where there is no variant of that number.
type Answered = Result<Option<ProbeResult>, String>;

/// Asks about a few variants on several threads, and returns the results by number.
fn round(
    plan: &Plan<'_>,
    probe: &Probe<'_>,
    numbers: std::ops::Range<u64>,
) -> io::Result<Vec<(u64, Answered)>> {
    let ask = |&number: &u64| {
        if plan.is_over() {
            return None;
        }
        let variant = variant(plan.seed, number, plan.source);
        let result = variant.map(|variant| probe.ask(&CaseDraft::from(variant))).transpose();
        // An answer that was interrupted is wrong.
        (!interrupt::requested()).then_some((number, result))
    };
    let numbers: Vec<u64> = numbers.collect();
    Ok(map_in_order(&numbers, plan.jobs, STACK, ask)?.into_iter().flatten().collect())
}

fn found(plan: &Plan<'_>, probe: &Probe<'_>, number: u64, signature: &Signature) -> Option<Shrunk> {
    let recipe = recipe(plan.seed, number, plan.source)?;
    shrink::shrink(recipe, signature, probe)
}

/// Works on a thread with a deep stack, since an importer in this process may need one.
fn deep<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        thread.join().map_err(|_| io::Error::other("the thread that shrinks the failure died"))
    })
}
