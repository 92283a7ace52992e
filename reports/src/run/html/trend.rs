//! Several runs of one implementation, in the order in which they were given.

use super::labels::{name, plain};
use super::tally::Tally;
use serde_json::{Value, json};
use verdict::record::Record;

/// The trend of runs, oldest first, on one scale; nothing where there is only one.
pub(super) fn trend(runs: &[&Record]) -> Option<Value> {
    let last = runs.last().filter(|_| runs.len() > 1)?;
    let most = runs.iter().map(|run| run.planned).max().unwrap_or_default();
    let run = |(number, run): (usize, &&Record)| {
        let tally = Tally::new(&run.results);
        let (name, suite) = (name(run), plain(&run.suite.version));
        let (parts, bars) = (tally.parts(), tally.bars(most));
        json!({ "number": number, "name": name, "suite": suite, "parts": parts, "bars": bars })
    };
    let name = plain(&last.implementation.name);
    Some(json!({ "name": name, "runs": (1..).zip(runs).map(run).collect::<Vec<_>>() }))
}
