//! What a person at a terminal sees while a run goes on: each failure in a line, and how far it is; and how many failures end
//! the run.

use super::context::CommandContext;
use super::values::within;
use crate::status_line::StatusLine;
use crate::terminal::{Terminal, Verbosity};
use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use verdict::baseline::Baseline;
use verdict::record::CaseResult;
use verdict::text::in_short;
use verdict::verdict::Verdict;

/// When failures end a run.
#[derive(Debug, clap::Args)]
pub(super) struct StopArgs {
    /// End the run at the first failure; the rest of its case is still judged.
    #[arg(long, conflicts_with = "max_failures")]
    fail_fast: bool,
    /// End the run after N failures; known ones do not count.
    #[arg(long, value_name = "N", value_parser = within::<1, { u64::MAX }>)]
    max_failures: Option<u64>,
}

impl StopArgs {
    /// How many failures end the run.
    pub(super) fn max_failures(&self) -> Option<u64> {
        self.max_failures.or(self.fail_fast.then_some(1))
    }
}

/// How many failures are shown as they come.
const SHOWN: usize = 20;

/// How long a run goes on before its rate means something.
const SETTLED: Duration = Duration::from_secs(1);

/// What was judged so far.
pub(super) struct Live<'l> {
    baseline: Option<&'l Baseline>,
    terminal: Terminal,
    /// Failures are shown: somebody looks on.
    watched: bool,
    planned: usize,
    since: Instant,
    state: Mutex<LiveState>,
}

struct LiveState {
    line: StatusLine,
    totals: BTreeMap<Verdict, usize>,
    shown: usize,
}

impl<'l> Live<'l> {
    /// A run of `planned` results, none of which is judged so far.
    pub(super) fn new(planned: usize, baseline: Option<&'l Baseline>, context: CommandContext) -> Self {
        let verbosity = context.terminal.verbosity;
        let state = LiveState { line: StatusLine::new(verbosity), totals: BTreeMap::new(), shown: 0 };
        Self {
            baseline,
            terminal: context.terminal,
            watched: verbosity > Verbosity::Quiet && io::stderr().is_terminal(),
            planned,
            since: Instant::now(),
            state: Mutex::new(state),
        }
    }

    /// What a result is in the light of the baseline.
    pub(super) fn verdict(&self, line: &CaseResult) -> Verdict {
        self.baseline.map_or(line.verdict, |baseline| baseline.verdict(line))
    }

    /// Takes the results of a case.
    pub(super) fn hear<'r>(&self, lines: impl IntoIterator<Item = &'r CaseResult>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let LiveState { line: status, totals, shown } = &mut *state;
        for line in lines {
            let verdict = self.verdict(line);
            *totals.entry(verdict).or_default() += 1;
            if !verdict.is_failure() || !self.watched || *shown > SHOWN {
                continue;
            }
            status.clear();
            match *shown == SHOWN {
                true => self.terminal.note("there are more failures; all of them are grouped at the end"),
                false => self.terminal.failure(&in_short(&CaseResult { verdict, ..line.clone() })),
            }
            *shown += 1;
        }
        status.show(|| progress(totals, self.planned, self.since.elapsed()));
    }

    /// Takes the line away.
    pub(super) fn end(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).line.clear();
    }
}

/// How many results came to what, how fast they come, and how long the others take at that rate.
fn progress(totals: &BTreeMap<Verdict, usize>, planned: usize, elapsed: Duration) -> String {
    let done: usize = totals.values().sum();
    let counts: Vec<String> =
        totals.iter().map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
    let mut out = format!("{done} of {planned}: {}", counts.join(", "));
    if elapsed >= SETTLED && done > 0 {
        let rate = done as f64 / elapsed.as_secs_f64();
        let left = (planned - done.min(planned)) as f64 / rate;
        let decimals = usize::from(rate < 10.0);
        out += &format!("; {rate:.decimals$}/s, {} left", time(left.ceil() as u64));
    }
    out
}

fn time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

#[cfg(test)]
mod tests {
    use super::progress;
    use std::collections::BTreeMap;
    use std::time::Duration;
    use verdict::verdict::Verdict;

    #[test]
    fn progress_says_counts_rate_and_time_left() {
        let totals = BTreeMap::from([(Verdict::Pass, 30), (Verdict::Fail, 10)]);
        let after = |planned, millis| progress(&totals, planned, Duration::from_millis(millis));
        assert_eq!(after(100, 500), "40 of 100: 30 pass, 10 fail", "a rate of half a second is none");
        assert_eq!(after(100, 2_000), "40 of 100: 30 pass, 10 fail; 20/s, 3 s left");
        assert_eq!(after(400, 80_000), "40 of 400: 30 pass, 10 fail; 0.5/s, 12 min left");
        assert_eq!(after(40_000, 80_000), "40 of 40000: 30 pass, 10 fail; 0.5/s, 23 h left");
        assert_eq!(after(40, 2_000), "40 of 40: 30 pass, 10 fail; 20/s, 0 s left");
    }
}
