//! Heat maps: what each thing in a row came to in each column, as counts. Rows without a failure are set apart, to be folded;
//! a column in which nothing was judged is left out and named.

use super::labels::{encoded, named, plain};
use super::tally::{Part, Tally};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use verdict::record::{CaseResult, Record};

/// A heat map.
#[derive(Debug, Serialize)]
pub(super) struct HeatMap {
    /// What a row is, in the singular and in the plural.
    what: [&'static str; 2],
    columns: Vec<String>,
    /// Rows with a failure, known or not, the worst first.
    rows: Vec<Row>,
    /// The others, and what they came to.
    folded: Vec<Row>,
    folded_parts: Vec<Part>,
    /// Columns in which nothing was judged.
    left_out: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    /// What a record calls a clause of this name.
    title: Option<String>,
    /// The row's place in the page.
    id: String,
    /// Nothing where nothing was planned.
    cells: Vec<Option<Cell>>,
}

#[derive(Debug, Serialize)]
struct Cell {
    tone: &'static str,
    heat: u64,
    parts: Vec<Part>,
    /// The list of cases, filtered to those that the cell counts.
    href: String,
}

/// What stands in rows.
pub(super) struct Rows {
    /// What a row is, in the singular and in the plural; the filter of cases has a field of the singular.
    pub(super) what: [&'static str; 2],
    /// The rows in which a result counts.
    pub(super) of: fn(&CaseResult) -> Vec<String>,
}

/// A column: its title, and the filter of its cases up to what a row adds.
pub(super) struct Column {
    pub(super) title: String,
    pub(super) filter: String,
}

/// Topics in rows.
pub(super) const TOPICS: Rows =
    Rows { what: ["topic", "topics"], of: |line| vec![super::labels::topic(&line.case)] };

/// Clauses in rows: a result counts for each that it cites.
pub(super) const CLAUSES: Rows =
    Rows { what: ["clause", "clauses"], of: |line| line.clauses.iter().map(|id| plain(id)).collect() };

/// Formats in rows.
pub(super) const FORMATS: Rows = Rows { what: ["format", "formats"], of: |line| vec![plain(&line.format)] };

/// Counts the results of records; `place` is the column of a result of a record.
pub(super) fn heat_map(
    records: &[&Record],
    kind: &Rows,
    columns: &[Column],
    place: impl Fn(usize, &CaseResult) -> Option<usize>,
) -> HeatMap {
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
    let mut rows: Vec<(Tally, Row)> = counts
        .iter()
        .map(|(name, tallies)| {
            let cell = |(at, column): &(usize, &Column)| Some(cell(*tallies.get(at)?, kind, name, column));
            let id = named(kind.what[0], name);
            let title = records.iter().find_map(|record| record.clauses.get(name)).map(|it| plain(it));
            let row = Row { name: name.clone(), title, id, cells: kept.iter().map(cell).collect() };
            (Tally::sum(tallies.values()), row)
        })
        .collect();
    rows.sort_by_key(|(sum, _)| Reverse((sum.failed > 0, sum.known > 0)));
    let (folded, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(sum, _)| sum.holds());
    let titles =
        |columns: Vec<(usize, &Column)>| columns.into_iter().map(|(_, it)| it.title.clone()).collect();
    HeatMap {
        what: kind.what,
        columns: titles(kept),
        left_out: titles(left_out),
        folded_parts: Tally::sum(folded.iter().map(|(sum, _)| sum)).parts(),
        rows: rows.into_iter().map(|(_, row)| row).collect(),
        folded: folded.into_iter().map(|(_, row)| row).collect(),
    }
}

fn cell(tally: Tally, kind: &Rows, row: &str, column: &Column) -> Cell {
    let verdict = match tally {
        Tally { failed: 1.., .. } => "&verdict=failing",
        Tally { known: 1.., .. } => "&verdict=expected-fail",
        Tally { .. } => "",
    };
    let href = format!("{}{}={}{verdict}", column.filter, kind.what[0], encoded(row));
    Cell { tone: tally.tone(), heat: tally.heat(), parts: tally.parts(), href }
}

#[cfg(test)]
mod tests {
    use super::{Column, TOPICS, heat_map};
    use crate::test_record::{line, record_of};
    use verdict::verdict::Verdict::{Crash, ExpectedFail, Fail, Pass, Skip};

    #[test]
    fn rows_that_hold_are_set_apart_and_a_column_that_nobody_reads_is_left_out() {
        let record = record_of(vec![
            line("calm/a", "x", Pass),
            line("calm/a", "z", Skip),
            line("known/a", "x", ExpectedFail),
            line("mixed/a", "x", Pass),
            line("mixed/a", "y", Fail),
            line("mixed/b", "y", Crash),
            line("mixed/b", "z", Skip),
        ]);
        let column = |format: &str| Column { title: format.into(), filter: format!("#format={format}&") };
        let columns = ["x", "y", "z"].map(column);
        let at =
            |_, line: &verdict::record::CaseResult| columns.iter().position(|it| it.title == line.format);
        let map = heat_map(&[&record], &TOPICS, &columns, at);
        let names = |rows: &[super::Row]| rows.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
        assert_eq!(
            (names(&map.rows), names(&map.folded)),
            (vec!["mixed".into(), "known".into()], vec!["calm".to_owned()])
        );
        assert_eq!(
            (&*map.columns, &*map.left_out),
            (&["x".to_owned(), "y".into()][..], &["z".to_owned()][..])
        );
        let cell = map.rows[0].cells[1].as_ref().unwrap();
        assert_eq!((cell.tone, cell.heat, &*cell.href), ("bad", 4, "#format=y&topic=mixed&verdict=failing"));
        assert!(map.rows[1].cells[1].is_none(), "nothing was planned");
        assert_eq!(
            serde_json::to_string(&map.folded_parts).unwrap(),
            r#"[{"tone":"good","count":1,"word":"pass"},{"tone":"faint","count":1,"word":"skipped"}]"#
        );
    }
}
