//! How far a run came, and whether it came to anything.

use super::Record;
use crate::plain::counted;
use crate::verdict::Verdict;

impl Record {
    /// What a report calls the run; one that was interrupted says so.
    pub fn title(&self) -> String {
        let title = self.implementation.title();
        self.cut_short().map_or_else(|| title.clone(), |cut| format!("{title}, {cut}"))
    }

    /// Why the run ended before its end, and how much of the plan has no verdict; none where all of it has.
    pub fn cut_short(&self) -> Option<String> {
        let (trial, _) = self.counts();
        let why = match self.max_failures {
            None => "interrupted".to_owned(),
            Some(1) => "stopped at the first failure".to_owned(),
            Some(most) => format!("stopped at {most} failures"),
        };
        (self.interrupted > 0)
            .then(|| format!("{why}; {} not judged", counted(self.interrupted, &format!("planned {trial}"))))
    }

    /// Whether no reading has a verdict but that it was skipped.
    pub fn nothing_judged(&self) -> bool {
        self.totals.iter().all(|(verdict, count)| *verdict == Verdict::Skip || *count == 0)
    }

    /// Whether the implementation fell short anywhere.
    pub fn is_failure(&self) -> bool {
        self.results.iter().any(|line| line.verdict.is_failure())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CaseResult, Record};
    use crate::verdict::{Judgement, Verdict};

    fn record(verdicts: &[Verdict], interrupted: u64) -> Record {
        let line = |verdict: &Verdict| CaseResult::new("a", "b", &[], Judgement::plain(*verdict, None));
        let results = verdicts.iter().map(line).collect();
        Record { interrupted, ..crate::testing::record(results) }
    }

    #[test]
    fn what_is_missing_is_in_the_title() {
        let title = |interrupted| record(&[Verdict::Pass], interrupted).title();
        assert_eq!(title(0), "i 2");
        assert_eq!(title(1), "i 2, interrupted; 1 planned result not judged");
        assert_eq!(title(2), "i 2, interrupted; 2 planned results not judged");
        let ended = |most| Record { max_failures: Some(most), ..record(&[Verdict::Fail], 3) }.cut_short();
        assert_eq!(ended(1).unwrap(), "stopped at the first failure; 3 planned results not judged");
        assert_eq!(ended(5).unwrap(), "stopped at 5 failures; 3 planned results not judged");
    }

    #[test]
    fn skips_are_no_judgement() {
        assert!(record(&[], 0).nothing_judged());
        assert!(record(&[Verdict::Skip], 0).nothing_judged());
        assert!(!record(&[Verdict::Skip, Verdict::Pass], 0).nothing_judged());
        assert!(!record(&[Verdict::Fail], 0).nothing_judged());
    }
}
