//! What changed between two runs.
//!
//! Which readings came to another verdict, which are new, and which are gone.

use crate::record::{CaseResult, Record};
use crate::verdict::Verdict;
use serde::Serialize;
use std::collections::BTreeMap;

/// How a change is to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// It fell short now, and did not before or was not there.
    Regression,
    /// It fell short before, and does no longer.
    Improvement,
    /// It fell short and falls short in another way, or passes in another way.
    Other,
    /// It is no longer asked.
    Gone,
}

/// One reading that came to something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// How it is to be taken.
    pub sort: Sort,
    /// The case.
    pub case: String,
    /// The format.
    pub format: String,
    /// The verdict before; none where the reading is new.
    pub before: Option<Verdict>,
    /// The verdict now; none where the reading is gone.
    pub now: Option<Verdict>,
}

/// What changed from `old` to `new`: regressions first, each sort in the order of the suite.
pub fn changes(old: &Record, new: &Record) -> Vec<Change> {
    let key = |line: &CaseResult| (line.case.clone(), line.format.clone());
    let mut before: BTreeMap<_, Verdict> = old.results.iter().map(|line| (key(line), line.verdict)).collect();
    let mut changes = Vec::new();
    for line in &new.results {
        let was = before.remove(&key(line));
        let short = line.verdict.is_failure();
        let sort = match was.map(|was| was.is_failure()) {
            _ if was == Some(line.verdict) => continue,
            None | Some(false) if short => Sort::Regression,
            // A reading that is new and well is not a change that anybody has to look at.
            None => continue,
            Some(true) if !short => Sort::Improvement,
            Some(_) => Sort::Other,
        };
        let (case, format) = key(line);
        changes.push(Change { sort, case, format, before: was, now: Some(line.verdict) });
    }
    for ((case, format), was) in before {
        changes.push(Change { sort: Sort::Gone, case, format, before: Some(was), now: None });
    }
    changes.sort_by_key(|change| change.sort);
    changes
}

#[cfg(test)]
mod tests {
    use super::{Sort, changes};
    use crate::record::{CaseResult, Record};
    use crate::verdict::{Judgement, Verdict};

    fn record(results: &[(&str, Verdict)]) -> Record {
        let line = |&(case, verdict): &(&str, Verdict)| {
            CaseResult::new(case, "x", &[], Judgement::plain(verdict, None))
        };
        crate::testing::record(results.iter().map(line).collect())
    }

    #[test]
    fn regressions_come_first_and_what_stayed_is_left_out() {
        use Verdict::{Crash, ExpectedFail, Fail, Pass, Skip};
        let old = record(&[
            ("gone", Pass),
            ("mended", Fail),
            ("same", Fail),
            ("well", Pass),
            ("worse", Pass),
            ("other", Fail),
            ("skipped", Skip),
        ]);
        let new = record(&[
            ("mended", Pass),
            ("new", Fail),
            ("new and well", Pass),
            ("other", Crash),
            ("same", Fail),
            ("skipped", ExpectedFail),
            ("well", Pass),
            ("worse", Fail),
        ]);
        let found: Vec<_> = changes(&old, &new).into_iter().map(|it| (it.sort, it.case)).collect();
        let expected = [
            (Sort::Regression, "new"),
            (Sort::Regression, "worse"),
            (Sort::Improvement, "mended"),
            (Sort::Other, "other"),
            (Sort::Other, "skipped"),
            (Sort::Gone, "gone"),
        ];
        assert_eq!(found, expected.map(|(sort, case)| (sort, case.to_owned())));
        assert!(changes(&new, &new).is_empty());
    }
}
