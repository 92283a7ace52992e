//! Counts of records: by verdict, by clause, by reason.

use super::labels::{WIDTH, cut, name, named, plain, tone};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use verdict::record::{CaseResult, Record};
use verdict::verdict::Verdict;

/// How many readings came to a verdict.
#[derive(Debug, Serialize)]
pub(super) struct Count {
    name: &'static str,
    count: u64,
    tone: &'static str,
}

/// An implementation and what it came to.
#[derive(Debug, Serialize)]
pub(super) struct Implementation {
    name: String,
    level: &'static str,
    planned: u64,
    /// What is counted, in the singular, and of what.
    trial: &'static str,
    of: &'static str,
    cases: usize,
    losses: usize,
    /// How many cases have a reading that fell short.
    short: usize,
    totals: Vec<Count>,
    /// The same, with a place for each verdict that any of the records has.
    pub(super) row: Vec<Option<u64>>,
    /// Its own page, where it has one.
    pub(super) href: Option<String>,
}

/// Why readings were excused or not asked.
#[derive(Debug, Serialize)]
pub(super) struct Reason {
    count: u64,
    verdict: &'static str,
    reason: String,
}

/// How many cases and readings keep a clause, and how many fall short of it, for each record.
#[derive(Debug, Serialize)]
pub(super) struct Clause {
    pub(super) id: String,
    anchor: String,
    title: String,
    sides: Vec<Kept>,
}

#[derive(Debug, Clone, Default, Serialize)]
struct Kept {
    /// Cases in which every reading that was judged keeps it.
    holds: u64,
    /// Cases in which one does not.
    breaks: u64,
    readings: u64,
    short: u64,
}

pub(super) fn implementation(record: &Record) -> Implementation {
    let count = |(verdict, count): (&Verdict, &u64)| Count {
        name: verdict.name(),
        count: *count,
        tone: tone(*verdict),
    };
    let mut short: Vec<&str> =
        record.results.iter().filter(|line| line.verdict.is_failure()).map(|line| &*line.case).collect();
    short.dedup();
    let (trial, of) = record.counts();
    Implementation {
        name: name(record),
        level: match record.implementation.level {
            verdict::answer::Level::Events => "every event",
            verdict::answer::Level::Calls => "tool calls only",
        },
        planned: record.planned,
        trial,
        of,
        cases: record.cases.len(),
        losses: record.results.iter().filter(|line| line.silent_loss).count(),
        short: short.len(),
        totals: record.totals.iter().map(count).collect(),
        row: Vec::new(),
        href: None,
    }
}

/// Why readings were excused or not asked, the most frequent reason first.
pub(super) fn reasons(record: &Record) -> Vec<Reason> {
    let mut counts: BTreeMap<(Verdict, &str), u64> = BTreeMap::new();
    for line in &record.results {
        let reason = match line.verdict {
            Verdict::ExpectedFail => line.known.as_ref().map(|known| known.reason.as_str()),
            Verdict::Skip => line.message.as_deref(),
            Verdict::Pass => line.remark.as_deref(),
            _ => None,
        };
        if let Some(reason) = reason {
            *counts.entry((line.verdict, reason)).or_default() += 1;
        }
    }
    let mut reasons: Vec<Reason> = counts
        .into_iter()
        .map(|((verdict, reason), count)| Reason {
            count,
            verdict: verdict.name(),
            reason: cut(reason, WIDTH),
        })
        .collect();
    reasons.sort_by_key(|reason| Reverse(reason.count));
    reasons
}

/// Every clause that a record cites, in the order of their ids.
pub(super) fn clauses(records: &[&Record]) -> Vec<Clause> {
    let mut clauses: BTreeMap<&str, Clause> = BTreeMap::new();
    for (side, record) in records.iter().enumerate() {
        for lines in record.results.chunk_by(|a, b| a.case == b.case) {
            for id in ids(lines) {
                let clause = clauses.entry(id).or_insert_with(|| Clause {
                    id: plain(id),
                    anchor: named("clause", id),
                    title: record.clauses.get(id).map(|title| plain(title)).unwrap_or_default(),
                    sides: vec![Kept::default(); records.len()],
                });
                let of_it = || lines.iter().filter(|line| line.clauses.iter().any(|one| one == id));
                let holds = of_it().filter(|line| line.verdict == Verdict::Pass).count();
                let skipped = of_it().filter(|line| line.verdict == Verdict::Skip).count();
                let short = of_it().count() - holds - skipped;
                if let Some(kept) = clause.sides.get_mut(side) {
                    kept.readings += holds as u64;
                    kept.short += short as u64;
                    kept.holds += u64::from(short == 0 && holds > 0);
                    kept.breaks += u64::from(short > 0);
                }
            }
        }
    }
    clauses.into_values().collect()
}

fn ids(lines: &[CaseResult]) -> Vec<&str> {
    let mut ids: Vec<&str> = lines.iter().flat_map(|line| &line.clauses).map(String::as_str).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use super::clauses;
    use crate::test_record::{line, record_of};
    use verdict::verdict::Verdict;

    #[test]
    fn a_case_holds_a_clause_where_all_its_judged_readings_do() {
        use Verdict::{Crash, Fail, Pass, Skip};
        let record = record_of(vec![
            line("a", "x", Pass),
            line("a", "y", Skip),
            line("b", "x", Pass),
            line("b", "y", Fail),
            line("b", "z", Crash),
            line("c", "x", Skip),
        ]);
        let found = clauses(&[&record, &record]);
        assert_eq!(found.len(), 1);
        for kept in &found[0].sides {
            assert_eq!((kept.holds, kept.breaks, kept.readings, kept.short), (1, 1, 2, 2));
        }
    }
}
