//! The matrix: a row for each case, a column for each format or implementation.
//!
//! How readings become cells, and the short code by which the page's script filters them.

use super::labels::{anchor, code, name, plain, tone, topic};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use verdict::record::{CaseResult, Record};
use verdict::verdict::Verdict;

/// The matrix and what it can be filtered by.
#[derive(Debug, Serialize)]
pub(super) struct Matrix {
    /// What stands above each column.
    columns: Vec<String>,
    /// A table for each topic: a browser lays out those that are in view, however many there are.
    topics: Vec<(String, Vec<Row>)>,
    filter: Filter,
}

/// What the form above a list offers.
#[derive(Debug, Serialize)]
pub(super) struct Filter {
    /// What is filtered, in the plural.
    pub(super) what: &'static str,
    pub(super) topics: BTreeSet<String>,
    pub(super) clauses: BTreeSet<String>,
    pub(super) verdicts: Vec<Choice>,
    pub(super) formats: Vec<String>,
    pub(super) implementations: Vec<String>,
}

impl Filter {
    /// A form with a field for text alone.
    pub(super) fn of(what: &'static str) -> Self {
        let (topics, clauses) = (BTreeSet::new(), BTreeSet::new());
        Self { what, topics, clauses, verdicts: Vec::new(), formats: Vec::new(), implementations: Vec::new() }
    }
}

/// A verdict, or several, by the digits that stand for them.
#[derive(Debug, Serialize)]
pub(super) struct Choice {
    pub(super) name: &'static str,
    pub(super) code: String,
}

#[derive(Debug, Serialize)]
struct Row {
    case: String,
    title: String,
    clauses: String,
    /// A digit for each implementation and format, `-` where nothing was asked.
    codes: String,
    cells: Vec<Cell>,
}

#[derive(Debug, Default, Serialize)]
struct Cell {
    text: String,
    tone: &'static str,
    link: Option<String>,
}

/// One implementation: its formats as columns.
pub(super) fn by_format(record: &Record) -> Matrix {
    let formats = formats(&[record]);
    let columns = formats.iter().map(|format| plain(format)).collect();
    matrix(&[record], &[], columns, |_, line, column| formats.get(column) == Some(&line.format.as_str()))
}

/// Several: each is a column, and its failures are told in its own folder.
pub(super) fn by_implementation(records: &[&Record], folders: &[String]) -> Matrix {
    let columns = records.iter().map(|record| name(record)).collect();
    matrix(records, folders, columns, |index, _, column| index == column)
}

fn matrix(
    records: &[&Record],
    folders: &[String],
    columns: Vec<String>,
    stands: impl Fn(usize, &CaseResult, usize) -> bool,
) -> Matrix {
    let formats = formats(records);
    let mut found: BTreeMap<&str, Vec<(usize, &CaseResult)>> = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        for line in &record.results {
            found.entry(&line.case).or_default().push((index, line));
        }
    }
    let note = |case: &str| records.iter().find_map(|record| record.cases.get(case));
    let row = |(case, lines): (&&str, &Vec<(usize, &CaseResult)>)| {
        let cell = |column: usize| {
            let in_it = |(index, line): &&(usize, &CaseResult)| stands(*index, line, column);
            cell(&lines.iter().filter(in_it).copied().collect::<Vec<_>>(), folders)
        };
        let clauses: BTreeSet<&str> =
            lines.iter().flat_map(|(_, line)| &line.clauses).map(String::as_str).collect();
        Row {
            case: plain(case),
            title: note(case).map(|note| plain(&note.title)).unwrap_or_default(),
            clauses: plain(&clauses.into_iter().collect::<Vec<_>>().join(" ")),
            codes: codes(lines, records.len(), &formats),
            cells: (0..columns.len()).map(cell).collect(),
        }
    };
    let mut topics: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for of_it in &found {
        topics.entry(topic(of_it.0)).or_default().push(row(of_it));
    }
    Matrix {
        filter: Filter {
            what: "cases",
            topics: topics.keys().cloned().collect(),
            clauses: records.iter().flat_map(|record| record.clauses.keys()).map(|id| plain(id)).collect(),
            verdicts: choices(records),
            formats: formats.iter().map(|format| plain(format)).collect(),
            implementations: if records.len() > 1 { columns.clone() } else { Vec::new() },
        },
        columns,
        topics: topics.into_iter().collect(),
    }
}

fn choices(records: &[&Record]) -> Vec<Choice> {
    let there: Vec<Verdict> = Verdict::ALL
        .into_iter()
        .filter(|verdict| records.iter().any(|record| record.totals.contains_key(verdict)))
        .collect();
    let short: String = there.iter().filter(|verdict| verdict.is_failure()).map(|one| code(*one)).collect();
    let one = |verdict: &Verdict| Choice { name: verdict.name(), code: code(*verdict).to_string() };
    let mut choices: Vec<Choice> = there.iter().map(one).collect();
    if !short.is_empty() {
        choices.insert(0, Choice { name: "failing", code: short });
    }
    choices
}

/// The worst of the readings in a cell, and how many came to it where there are several.
fn cell(lines: &[(usize, &CaseResult)], folders: &[String]) -> Cell {
    let badness = |verdict: Verdict| match verdict {
        Verdict::Skip => 0,
        Verdict::Pass => 1,
        Verdict::ExpectedFail => 2,
        _ => 3,
    };
    let mut worst: Option<&(usize, &CaseResult)> = None;
    for one in lines {
        if worst.is_none_or(|(_, line)| badness(line.verdict) < badness(one.1.verdict)) {
            worst = Some(one);
        }
    }
    let Some((index, worst)) = worst else { return Cell::default() };
    let same = lines.iter().filter(|(_, line)| line.verdict == worst.verdict).count();
    let text = match lines.len() {
        1 => worst.verdict.name().to_owned(),
        all => format!("{} {same}/{all}", worst.verdict.name()),
    };
    let folder = folders.get(*index).map(|folder| format!("{folder}/index.html")).unwrap_or_default();
    let there = || format!("{folder}#{}", anchor(&worst.case, Some(&worst.format)));
    Cell { text, tone: tone(worst.verdict), link: worst.verdict.is_failure().then(there) }
}

/// A digit for each implementation and format.
pub(super) fn codes(lines: &[(usize, &CaseResult)], implementations: usize, formats: &[&str]) -> String {
    let mut codes = vec!['-'; implementations * formats.len()];
    for (index, line) in lines {
        let format = formats.iter().position(|format| *format == line.format);
        if let Some(code) = format.and_then(|format| codes.get_mut(index * formats.len() + format)) {
            *code = self::code(line.verdict);
        }
    }
    codes.into_iter().collect()
}

/// The formats that were asked for, in the order in which they first stand.
pub(super) fn formats<'r>(records: &[&'r Record]) -> Vec<&'r str> {
    let mut formats: Vec<&str> = Vec::new();
    for line in records.iter().flat_map(|record| &record.results) {
        if !formats.contains(&line.format.as_str()) {
            formats.push(&line.format);
        }
    }
    formats
}

#[cfg(test)]
mod tests {
    use super::{by_format, by_implementation};
    use crate::test_record::{line, record_of};
    use verdict::verdict::Verdict::{Crash, Fail, Pass, Skip};

    #[test]
    fn a_cell_shows_the_worst_and_leads_to_it() {
        let one = record_of(vec![line("a/b", "x", Pass), line("a/b", "y", Fail), line("a/c", "x", Skip)]);
        let alone = by_format(&one);
        let cells = |row: usize| -> Vec<(&str, Option<&str>)> {
            alone.topics[0].1[row].cells.iter().map(|cell| (&*cell.text, cell.link.as_deref())).collect()
        };
        assert_eq!(cells(0), [("pass", None), ("fail", Some("#f-a.b~y"))]);
        assert_eq!(cells(1), [("skip", None), ("", None)]);
        let mut two = record_of(vec![line("a/b", "x", Crash), line("a/b", "y", Crash)]);
        two.implementation.name = "j".into();
        let side_by_side = by_implementation(&[&one, &two], &["i-2".to_owned(), "j-2".to_owned()]);
        let row = &side_by_side.topics[0].1[0];
        assert_eq!(row.cells[0].text, "fail 1/2");
        assert_eq!(row.cells[0].link.as_deref(), Some("i-2/index.html#f-a.b~y"));
        assert_eq!(row.cells[1].text, "crash 2/2");
        assert_eq!(row.codes, "0155");
        assert_eq!(side_by_side.topics[0].1[1].codes, "4---");
        let choices: Vec<_> =
            side_by_side.filter.verdicts.iter().map(|choice| (choice.name, &*choice.code)).collect();
        assert_eq!(choices, [("failing", "15"), ("pass", "0"), ("fail", "1"), ("skip", "4"), ("crash", "5")]);
    }
}
