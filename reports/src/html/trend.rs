//! Several runs of one implementation, in the order in which they were given.

use super::labels::{name, plain};
use super::tally::{Bar, Part, Tally};
use serde::Serialize;
use verdict::record::Record;

/// The runs of one implementation.
#[derive(Debug, Serialize)]
pub(super) struct Trend {
    name: String,
    runs: Vec<Run>,
}

#[derive(Debug, Serialize)]
struct Run {
    number: usize,
    name: String,
    suite: String,
    parts: Vec<Part>,
    bars: Vec<Bar>,
}

/// The trend of runs, oldest first, on one scale; nothing where there is one alone.
pub(super) fn trend(runs: &[&Record]) -> Option<Trend> {
    let last = runs.last().filter(|_| runs.len() > 1)?;
    let most = runs.iter().map(|run| run.planned).max().unwrap_or_default();
    let run = |(number, run): (usize, &&Record)| {
        let tally = Tally::of(&run.results);
        let (name, suite) = (name(run), plain(&run.suite.version));
        Run { number, name, suite, parts: tally.parts(), bars: tally.bars(most) }
    };
    Some(Trend { name: plain(&last.implementation.name), runs: (1..).zip(runs).map(run).collect() })
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
        let widths: Vec<_> = trend.runs[0].bars.iter().map(|bar| (bar.tone, bar.from, bar.width)).collect();
        assert_eq!(widths, [("bad", 0, 500), ("good", 500, 250), ("faint", 750, 250)]);
        assert_eq!(trend.runs[1].bars[0].width, 500);
    }
}
