//! Results counted as a reader takes them: what fails, what is known to fail, what was not judged, and what passes; and the
//! same in words; as heat maps, whose rows without a failure are set apart, to be folded, and whose columns in which nothing was
//! judged are left out and named; and as the trend of several runs. Only a run in which everything passes is called clean.

use super::labels::{WIDTH, cut, encoded, name, named, plain, topic};
use crate::plain::counted;
use serde_json::{Value, json};
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

/// A part of a bar, in thousandths of its width.
pub(super) fn bar(tone: &str, from: u64, width: u64) -> Value {
    json!({ "tone": tone, "from": from, "width": width })
}

/// Rows with a failure, known or not; the others, which are folded; and what those came to.
pub(super) fn folded(rows: Vec<(Tally, Value)>) -> Value {
    let (folded, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(tally, _)| tally.holds());
    let parts = Tally::sum(folded.iter().map(|(tally, _)| tally)).parts();
    let [rows, folded] = [rows, folded].map(|rows| rows.into_iter().map(|(_, row)| row).collect::<Value>());
    json!({ "rows": rows, "folded": folded, "folded_parts": parts })
}

impl Tally {
    /// The tally of these results.
    pub(super) fn new<'l>(lines: impl IntoIterator<Item = &'l CaseResult>) -> Self {
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

    /// The counts that are not zero in words, the worst first.
    pub(super) fn parts(self) -> Vec<Value> {
        let parts = [
            ("bad", self.failed, "fail"),
            ("known", self.known, "known"),
            ("bad", self.lost, "lost"),
            ("good", self.passed, "pass"),
            ("faint", self.skipped, "skipped"),
        ];
        let parts = parts.into_iter().filter(|(_, count, _)| *count > 0);
        parts.map(|(tone, count, word)| json!({ "tone": tone, "count": count, "word": word })).collect()
    }

    /// What fails, what is known, what passes and what was skipped, one behind the other, on a scale that ends at `most`.
    pub(super) fn bars(self, most: u64) -> Vec<Value> {
        let (mut from, most) = (0, most.max(1));
        let mut bars = Vec::new();
        let parts =
            [("bad", self.failed), ("known", self.known), ("good", self.passed), ("faint", self.skipped)];
        for (tone, count) in parts.into_iter().filter(|(_, count)| *count > 0) {
            let to = from + count;
            // A single failure among thousands is to be seen.
            let width = (to * 1000 / most).saturating_sub(from * 1000 / most).max(4);
            bars.push(bar(tone, from * 1000 / most, width));
            from = to;
        }
        bars
    }
}

/// How many results have a verdict, in words behind the count.
fn verb(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "passed",
        Verdict::Fail => "failed",
        Verdict::ExpectedFail => "failed as the baseline expects",
        Verdict::UnexpectedPass => "passed though the baseline expects a failure",
        Verdict::Skip => "skipped",
        Verdict::Crash => "ended in a crash",
        Verdict::Timeout => "timed out",
        Verdict::Garbled => "gave no readable answer",
        Verdict::Unstable => "gave two different answers",
    }
}

/// Where an implementation stands, in a headline and in sentences; what else keeps the sheet from being clean, or must be
/// known to read it, is in notes.
pub(super) fn standing(record: &Record) -> Value {
    let tally = Tally::new(&record.results);
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
    let expired = record.expires.as_ref().filter(|_| record.expired);
    let expired = expired.map(|day| format!("These results expired on {}: run the suite again.", plain(day)));
    let cut = record.cut_short().map(|cut| format!("The run was {cut}."));
    let level = match record.implementation.level {
        verdict::answer::Level::Events => None,
        verdict::answer::Level::Calls => Some("It shows tool calls only.".to_owned()),
    };
    let silent = (tally.lost > 0).then(|| {
        format!("{}: a message is missing, and nothing says so.", counted(tally.lost, "silent loss"))
    });
    let remarks = record.results.iter().filter(|line| line.remark.is_some()).count();
    let remarks = (remarks > 0).then(|| format!("Passed with a remark: {}.", counted(remarks, result)));
    let redacted: usize = record.results.iter().map(|line| line.redacted).sum();
    let redacted = (redacted > 0)
        .then(|| format!("Not compared, since one side is redacted: {}.", counted(redacted, "value")));
    let notes = [expired, silent, cut, level, remarks, redacted];
    json!({
        "name": name(record),
        "tone": match tally.tone() {
            _ if record.cut_short().is_some() => "bad",
            "good" | "faint" if record.expired => "known",
            tone => tone,
        },
        "made": made(record),
        "headline": headline,
        "counts": format!("Of {all} of {cases}, {counts}."),
        "notes": notes.into_iter().flatten().collect::<Vec<_>>(),
        "bars": tally.bars(record.planned),
    })
}

/// When it was run, until when it is to be believed, and of which files: on one line.
fn made(record: &Record) -> String {
    let made = record.date.as_ref().map(|day| format!("Run on {}", plain(day)));
    let expires = record.expires.as_ref().map(|day| format!("valid through {}", plain(day)));
    let digest =
        record.implementation.digest.as_ref().map(|digest| format!("implementation {}", plain(digest)));
    [made, expires, digest].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Why results were excused or not judged, under a title and the name of their verdict, the most frequent first; each with
/// its report in the importer's own project, where there is one.
pub(super) fn reasons(record: &Record) -> Vec<(&'static str, &'static str, Vec<Value>)> {
    let sorts = [
        (Verdict::ExpectedFail, "Known failures", "expected-fail"),
        (Verdict::Skip, "Skipped", "skip"),
        (Verdict::Pass, "Passed with a remark", "pass"),
    ];
    let of_it = |verdict: Verdict| {
        let mut counts: BTreeMap<(&str, Option<&str>), u64> = BTreeMap::new();
        for line in record.results.iter().filter(|line| line.verdict == verdict) {
            let known = line.known.as_ref().map(|known| (&*known.reason, known.issue.as_deref()));
            let reason = match verdict {
                Verdict::ExpectedFail => known,
                Verdict::Skip => line.message.as_deref().map(|message| (message, None)),
                _ => line.remark.as_deref().map(|remark| (remark, None)),
            };
            if let Some(reason) = reason {
                *counts.entry(reason).or_default() += 1;
            }
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| Reverse(*count));
        let reason = |((reason, issue), count): ((&str, Option<&str>), u64)| json!({ "count": count, "reason": cut(reason, WIDTH), "issue": issue.map(plain) });
        counts.into_iter().map(reason).collect()
    };
    let sorts = sorts.into_iter().map(|(verdict, title, name)| (title, name, of_it(verdict)));
    sorts.filter(|(_, _, reasons): &(_, _, Vec<Value>)| !reasons.is_empty()).collect()
}

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

/// What is in rows.
pub(super) struct Rows {
    /// What a row is, in the singular and in the plural; the filter of cases has a field of the singular.
    what: [&'static str; 2],
    /// The rows in which a result counts.
    of: fn(&CaseResult) -> Vec<String>,
}

/// A column: its title, and the filter of its cases up to what a row adds.
pub(super) struct Column {
    pub(super) title: String,
    pub(super) filter: String,
}

/// Topics in rows.
pub(super) const TOPICS: Rows = Rows { what: ["topic", "topics"], of: |line| vec![topic(&line.case)] };

/// Clauses in rows: a result counts for each that it cites.
pub(super) const CLAUSES: Rows =
    Rows { what: ["clause", "clauses"], of: |line| line.clauses.iter().map(|id| plain(id)).collect() };

/// Formats in rows.
pub(super) const FORMATS: Rows = Rows { what: ["format", "formats"], of: |line| vec![plain(&line.format)] };

/// Counts the results of records; `place` is the column of a result of a record. Rows with a failure, known or not, come
/// first, the worst of them first.
pub(super) fn heat_map(
    records: &[&Record],
    kind: &Rows,
    columns: &[Column],
    place: impl Fn(usize, &CaseResult) -> Option<usize>,
) -> Value {
    let mut counts: BTreeMap<String, BTreeMap<usize, Tally>> = BTreeMap::new();
    let mut sums: BTreeMap<usize, Tally> = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        for line in &record.results {
            let Some(at) = place(index, line) else { continue };
            sums.entry(at).or_default().add(line);
            for row in (kind.of)(line) {
                counts.entry(row).or_default().entry(at).or_default().add(line);
            }
        }
    }
    let judged = |at: &usize| sums.get(at).is_some_and(|sum| sum.judged());
    let (kept, left_out): (Vec<_>, Vec<_>) = columns.iter().enumerate().partition(|(at, _)| judged(at));
    let row = |(name, tallies): (&String, &BTreeMap<usize, Tally>)| {
        // Nothing is in a cell for which nothing was planned.
        let cells = kept.iter().map(|(at, column)| Some(cell(*tallies.get(at)?, kind, name, column)));
        let title = records.iter().find_map(|record| record.clauses.get(name)).map(|it| plain(it));
        let (id, cells) = (named(kind.what[0], name), cells.collect::<Vec<_>>());
        let row = json!({ "name": name, "title": title, "id": id, "cells": cells });
        (Tally::sum(tallies.values()), row)
    };
    let mut rows: Vec<(Tally, Value)> = counts.iter().map(row).collect();
    rows.sort_by_key(|(sum, _)| Reverse((sum.failed > 0, sum.known > 0)));
    let titles = |columns: &[(usize, &Column)]| -> Value {
        columns.iter().map(|(_, column)| column.title.as_str()).collect()
    };
    let mut map = folded(rows);
    map["what"] = json!(kind.what);
    map["columns"] = titles(&kept);
    map["left_out"] = titles(&left_out);
    map
}

/// A cell, which leads to the list of cases, filtered to those that it counts.
fn cell(tally: Tally, kind: &Rows, row: &str, column: &Column) -> Value {
    let verdict = match tally {
        Tally { failed: 1.., .. } => "&verdict=failing",
        Tally { known: 1.., .. } => "&verdict=expected-fail",
        Tally { .. } => "",
    };
    let href = format!("{}{}={}{verdict}", column.filter, kind.what[0], encoded(row));
    json!({ "tone": tally.tone(), "heat": tally.heat(), "parts": tally.parts(), "href": href })
}

#[cfg(test)]
mod tests {
    use super::standing;
    use crate::run::test_record::record;
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
            assert_eq!([&standing["tone"], &standing["headline"]], [tone, headline], "{verdicts:?}");
        }
    }
}
