//! Results counted as a reader takes them: what fails, what is known to fail, what was not judged, and what passes; and the
//! same in words. Only a run in which everything passes is called clean.

use super::labels::{WIDTH, cut, name, plain};
use crate::plain::counted;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use verdict::record::{CaseResult, Record};
use verdict::verdict::Verdict;

/// How many results of each sort there are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tally {
    pub(super) failed: u64,
    pub(super) known: u64,
    pub(super) skipped: u64,
    pub(super) passed: u64,
    /// Those among the failures, known or not, that lost a message in silence.
    lost: u64,
}

/// A count in words, as templates show it.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Part {
    tone: &'static str,
    count: u64,
    word: &'static str,
}

/// A part of a bar, in thousandths of its width.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Bar {
    pub(super) tone: &'static str,
    pub(super) from: u64,
    pub(super) width: u64,
}

impl Tally {
    /// The tally of these results.
    pub(super) fn of<'l>(lines: impl IntoIterator<Item = &'l CaseResult>) -> Self {
        let mut tally = Self::default();
        lines.into_iter().for_each(|line| tally.add(line));
        tally
    }

    /// Counts one more.
    pub(super) fn add(&mut self, line: &CaseResult) {
        *match line.verdict {
            Verdict::Pass => &mut self.passed,
            Verdict::Skip => &mut self.skipped,
            Verdict::ExpectedFail => &mut self.known,
            _ => &mut self.failed,
        } += 1;
        self.lost += u64::from(line.silent_loss);
    }

    /// All of these together.
    pub(super) fn sum<'t>(tallies: impl IntoIterator<Item = &'t Self>) -> Self {
        tallies.into_iter().fold(Self::default(), |sum, one| Self {
            failed: sum.failed + one.failed,
            known: sum.known + one.known,
            skipped: sum.skipped + one.skipped,
            passed: sum.passed + one.passed,
            lost: sum.lost + one.lost,
        })
    }

    /// Whether anything was judged.
    pub(super) fn judged(self) -> bool {
        self.failed + self.known + self.passed > 0
    }

    /// Whether nothing falls short, known or not. Something may have been skipped.
    pub(super) fn holds(self) -> bool {
        self.failed + self.known == 0
    }

    /// The worst of them, as the style sheet knows it.
    pub(super) fn tone(self) -> &'static str {
        match self {
            Self { failed: 1.., .. } => "bad",
            Self { known: 1.., .. } => "known",
            Self { passed: 0, .. } | Self { skipped: 1.., .. } => "faint",
            Self { .. } => "good",
        }
    }

    /// How dark a cell of this tally is, from 1 to 4: the share of the worst sort.
    pub(super) fn heat(self) -> u64 {
        let all = (self.failed + self.known + self.skipped + self.passed).max(1);
        let worst = if self.failed > 0 { self.failed } else { self.known };
        1 + (worst * 4 / all).min(3)
    }

    /// The counts that are not zero, the worst first.
    pub(super) fn parts(self) -> Vec<Part> {
        let parts = [
            ("bad", self.failed, "fail"),
            ("known", self.known, "known"),
            ("bad", self.lost, "lost"),
            ("good", self.passed, "pass"),
            ("faint", self.skipped, "skipped"),
        ];
        let parts = parts.into_iter().filter(|(_, count, _)| *count > 0);
        parts.map(|(tone, count, word)| Part { tone, count, word }).collect()
    }

    /// What fails, what is known, what passes and what was skipped, one behind the other, on a scale that ends at `most`.
    pub(super) fn bars(self, most: u64) -> Vec<Bar> {
        let (mut from, most) = (0, most.max(1));
        let mut bars = Vec::new();
        let parts =
            [("bad", self.failed), ("known", self.known), ("good", self.passed), ("faint", self.skipped)];
        for (tone, count) in parts {
            let to = from + count;
            // A single failure among thousands is to be seen.
            let width = (to * 1000 / most).saturating_sub(from * 1000 / most).max(4);
            if count > 0 {
                bars.push(Bar { tone, from: from * 1000 / most, width });
            }
            from = to;
        }
        bars
    }
}

/// Where an implementation stands, in a headline and in sentences.
#[derive(Debug, Serialize)]
pub(super) struct Standing {
    name: String,
    pub(super) tone: &'static str,
    headline: String,
    counts: String,
    /// What else keeps the sheet from being clean, or must be known to read it.
    notes: Vec<String>,
    bars: Vec<Bar>,
    /// Its own page, where it has one.
    pub(super) href: Option<String>,
}

/// How a verdict is told of many results.
fn verb(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "passed",
        Verdict::Fail => "failed",
        Verdict::ExpectedFail => "failed as the baseline expects",
        Verdict::UnexpectedPass => "passed though the baseline expects a failure",
        Verdict::Skip => "skipped",
        Verdict::Crash => "ended in a crash",
        Verdict::Timeout => "timed out",
        Verdict::Garbled => "gave no answer that can be read",
        Verdict::Unstable => "gave two different answers",
    }
}

/// Where an implementation stands.
pub(super) fn standing(record: &Record) -> Standing {
    let tally = Tally::of(&record.results);
    let (result, case) = record.counts();
    let all = counted(record.planned, result);
    let cases = counted(record.cases.len(), case);
    let short = record.results.chunk_by(|a, b| a.case == b.case);
    let short = short.filter(|lines| lines.iter().any(|line| line.verdict.is_failure())).count();
    let headline = match (tally.tone(), record.cut_short().is_some()) {
        ("bad", _) => format!("{short} of {cases} {}", if short == 1 { "fails" } else { "fail" }),
        ("known", _) => format!("No new failure, but {}", counted(tally.known, "known failure")),
        (_, true) => "No failure so far: the run was cut short".to_owned(),
        ("good", _) => format!("All {all} pass"),
        _ if tally.passed == 0 => "Nothing was judged".to_owned(),
        _ => format!("No failure, but {} of {all} skipped", tally.skipped),
    };
    let mut counts: Vec<(&Verdict, &u64)> = record.totals.iter().collect();
    counts.sort_by_key(|(verdict, _)| !verdict.is_failure());
    let counts: Vec<String> =
        counts.iter().map(|(verdict, count)| format!("{count} {}", verb(**verdict))).collect();
    let counts = match counts.as_slice() {
        [] => "nothing was run".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    };
    let cut = record.cut_short().map(|cut| format!("The run was {cut}."));
    let level = match record.implementation.level {
        verdict::answer::Level::Events => None,
        verdict::answer::Level::Calls => Some("It shows tool calls only.".to_owned()),
    };
    let silent = (tally.lost > 0)
        .then(|| format!("{}: a message is accounted for nowhere.", counted(tally.lost, "silent loss")));
    let remarks = record.results.iter().filter(|line| line.remark.is_some()).count();
    let remarks = (remarks > 0).then(|| format!("Passed with a remark: {}.", counted(remarks, result)));
    let redacted: usize = record.results.iter().map(|line| line.redacted).sum();
    let redacted = (redacted > 0)
        .then(|| format!("Not compared, since one side is redacted: {}.", counted(redacted, "value")));
    Standing {
        name: name(record),
        tone: if record.cut_short().is_some() { "bad" } else { tally.tone() },
        headline,
        counts: format!("Of {all} of {cases}, {counts}."),
        notes: [silent, cut, level, remarks, redacted].into_iter().flatten().collect(),
        bars: tally.bars(record.planned),
        href: None,
    }
}

/// Why results were excused or not judged.
#[derive(Debug, Serialize)]
pub(super) struct Reason {
    count: u64,
    reason: String,
    /// Where the report of the failure is, in the importer's own project.
    issue: Option<String>,
}

/// Reasons under what they excuse, the most frequent first.
pub(super) fn reasons(record: &Record) -> Vec<(&'static str, &'static str, Vec<Reason>)> {
    let sorts = [
        (Verdict::ExpectedFail, "Known failures", "expected-fail"),
        (Verdict::Skip, "Skipped", "skip"),
        (Verdict::Pass, "Passed with a remark", "pass"),
    ];
    let of_it = |verdict: Verdict| {
        let mut counts: BTreeMap<(&str, Option<&str>), u64> = BTreeMap::new();
        for line in record.results.iter().filter(|line| line.verdict == verdict) {
            let reason = match verdict {
                Verdict::ExpectedFail => {
                    line.known.as_ref().map(|known| (&*known.reason, known.issue.as_deref()))
                }
                Verdict::Skip => line.message.as_deref().map(|message| (message, None)),
                _ => line.remark.as_deref().map(|remark| (remark, None)),
            };
            if let Some(reason) = reason {
                *counts.entry(reason).or_default() += 1;
            }
        }
        let reason = |((reason, issue), count): ((&str, Option<&str>), u64)| Reason {
            count,
            reason: cut(reason, WIDTH),
            issue: issue.map(plain),
        };
        let mut reasons: Vec<Reason> = counts.into_iter().map(reason).collect();
        reasons.sort_by_key(|reason| Reverse(reason.count));
        reasons
    };
    let sorts = sorts.into_iter().map(|(verdict, title, name)| (title, name, of_it(verdict)));
    sorts.filter(|(_, _, reasons)| !reasons.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::standing;
    use crate::test_record::record;
    use verdict::verdict::Verdict::{Crash, ExpectedFail, Fail, Pass, Skip};

    #[test]
    fn only_a_run_in_which_everything_passes_is_called_clean() {
        for (verdicts, tone, headline) in [
            (&[Pass, Pass][..], "good", "All 2 results pass"),
            (&[Pass, Skip], "faint", "No failure, but 1 of 2 results skipped"),
            (&[Skip], "faint", "Nothing was judged"),
            (&[], "faint", "Nothing was judged"),
            (&[Pass, Skip, ExpectedFail], "known", "No new failure, but 1 known failure"),
            (&[Pass, ExpectedFail, Fail, Crash], "bad", "2 of 4 cases fail"),
            (&[Fail], "bad", "1 of 1 case fails"),
        ] {
            let standing = standing(&record(verdicts));
            assert_eq!((standing.tone, &*standing.headline), (tone, headline), "{verdicts:?}");
        }
    }

    #[test]
    fn sentences_say_what_came_of_the_results_the_failures_first() {
        let mut record = record(&[Pass, ExpectedFail, Skip, Crash, Pass]);
        let lost = record.results.iter_mut().find(|line| line.verdict == ExpectedFail).unwrap();
        lost.silent_loss = true;
        let found = standing(&record);
        assert_eq!(
            found.counts,
            "Of 5 results of 5 cases, 1 ended in a crash, 2 passed, 1 failed as the baseline expects and 1 skipped."
        );
        assert_eq!(found.notes, ["1 silent loss: a message is accounted for nowhere."]);
        record.interrupted = 3;
        let cut = standing(&record);
        assert_eq!((cut.tone, cut.notes.len()), ("bad", 2), "{:?}", cut.notes);
    }
}
