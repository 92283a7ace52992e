//! Heat maps: what each thing in a row came to in each column, as counts. Rows without a failure are set apart, to be folded;
//! a column in which nothing was judged is left out and named.

use super::labels::{encoded, named, plain, topic};
use super::tally::{Tally, folded};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use verdict::record::{CaseResult, Record};

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
