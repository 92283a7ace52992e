//! Several runs of one implementation, in the order in which they were given.
//!
//! How counts are put beside each other over runs.

use super::labels::{name, plain};
use serde::Serialize;
use verdict::record::Record;
use verdict::verdict::Verdict;

/// The runs of one implementation.
#[derive(Debug, Serialize)]
pub(super) struct Trend {
    name: String,
    verdicts: Vec<&'static str>,
    runs: Vec<Run>,
}

#[derive(Debug, Serialize)]
struct Run {
    number: usize,
    name: String,
    suite: String,
    planned: u64,
    counts: Vec<u64>,
    bars: Vec<Bar>,
}

/// A part of a run's bar, in thousandths of its width.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Bar {
    tone: &'static str,
    from: u64,
    width: u64,
}

/// The trend of runs, oldest first; nothing where there is one alone.
pub(super) fn trend(runs: &[&Record]) -> Option<Trend> {
    let last = runs.last().filter(|_| runs.len() > 1)?;
    let verdicts: Vec<Verdict> = Verdict::ALL
        .into_iter()
        .filter(|verdict| runs.iter().any(|run| run.totals.contains_key(verdict)))
        .collect();
    let of = |run: &Record, verdict: &Verdict| run.totals.get(verdict).copied().unwrap_or_default();
    let most = runs.iter().map(|run| run.planned).max().unwrap_or_default().max(1);
    let run = |(number, run): (usize, &&Record)| Run {
        number,
        name: name(run),
        suite: plain(&run.suite.version),
        planned: run.planned,
        counts: verdicts.iter().map(|verdict| of(run, verdict)).collect(),
        bars: bars(run, most),
    };
    Some(Trend {
        name: plain(&last.implementation.name),
        verdicts: verdicts.iter().map(|verdict| verdict.name()).collect(),
        runs: (1..).zip(runs).map(run).collect(),
    })
}

/// What fell short, what is known, what was not asked and what is well, one behind the other.
fn bars(run: &Record, most: u64) -> Vec<Bar> {
    let mut from = 0;
    let mut bars = Vec::new();
    for tone in ["bad", "known", "good", "faint"] {
        let of_it = run.totals.iter().filter(|(verdict, _)| super::labels::tone(**verdict) == tone);
        let count: u64 = of_it.map(|(_, count)| count).sum();
        let to = from + count;
        // A single reading that fell short among thousands is to be seen.
        let width = (to * 1000 / most).saturating_sub(from * 1000 / most).max(4);
        if count > 0 {
            bars.push(Bar { tone, from: from * 1000 / most, width });
        }
        from = to;
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::trend;
    use crate::test_record::record;
    use verdict::verdict::Verdict::{Fail, Pass, Skip};

    #[test]
    fn runs_stand_in_their_order_on_one_scale() {
        let (old, new) = (record(&[Pass, Fail, Fail, Skip]), record(&[Pass, Pass]));
        assert!(trend(&[&old]).is_none());
        let trend = trend(&[&old, &new]).unwrap();
        assert_eq!(trend.verdicts, ["pass", "fail", "skip"]);
        assert_eq!((&*trend.runs[0].counts, &*trend.runs[1].counts), (&[1, 2, 1][..], &[2, 0, 0][..]));
        let widths: Vec<_> = trend.runs[0].bars.iter().map(|bar| (bar.tone, bar.from, bar.width)).collect();
        assert_eq!(widths, [("bad", 0, 500), ("good", 500, 250), ("faint", 750, 250)]);
        assert_eq!(trend.runs[1].bars[0].width, 500);
    }
}
