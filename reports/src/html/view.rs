//! What a page shows, as plain data for its template.
//!
//! Knows: how readings become rows, columns, failures and counts. Refuses to know: markup.

use super::Content;
use crate::plain::{cut, plain};
use judge::change::{Change, Sort};
use judge::record::{Line, Record, Suite};
use judge::verdict::Verdict;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use std::collections::{BTreeMap, BTreeSet};

/// Messages longer than this are cut, in characters.
const WIDTH: usize = 2000;

#[derive(Debug, Serialize)]
pub(super) struct Page<'p> {
    title: String,
    suite: Option<&'p Suite>,
    implementations: Vec<Implementation>,
    changes: Vec<ChangeRow>,
    topics: BTreeSet<String>,
    verdicts: Vec<&'static str>,
    column_word: &'static str,
    columns: Vec<String>,
    rows: Vec<Row>,
    failures: Vec<Failure>,
    reasons: Vec<Reason>,
    clauses: Vec<Clause>,
}

#[derive(Debug, Serialize)]
struct Implementation {
    name: String,
    version: String,
    level: &'static str,
    planned: u64,
    cases: usize,
    losses: usize,
    totals: Vec<Count>,
}

#[derive(Debug, Serialize)]
struct Count {
    name: &'static str,
    count: u64,
    tone: &'static str,
}

#[derive(Debug, Serialize)]
struct ChangeRow {
    sort: &'static str,
    tone: &'static str,
    case: String,
    format: String,
    before: &'static str,
    now: &'static str,
}

#[derive(Debug, Serialize)]
struct Row {
    case: String,
    title: String,
    topic: String,
    clauses: String,
    verdicts: String,
    formats: String,
    cell_words: String,
    cells: Vec<Cell>,
}

#[derive(Debug, Default, Serialize)]
struct Cell {
    text: String,
    tone: &'static str,
    link: Option<String>,
}

#[derive(Debug, Serialize)]
struct Failure {
    id: String,
    case: String,
    format: String,
    column: String,
    implementation: Option<String>,
    topic: String,
    title: String,
    reason: String,
    verdict: &'static str,
    silent_loss: bool,
    clause_ids: String,
    clauses: Vec<Clause>,
    file: Option<String>,
    pointer: Option<String>,
    at: Option<String>,
    message: Option<String>,
    stderr: Option<String>,
    alone: String,
    expected: Vec<Text>,
    actual: Vec<Text>,
    transcripts: Vec<Transcript>,
}

/// A line of text, and whether it is one that matters.
#[derive(Debug, Serialize)]
struct Text {
    text: String,
    mark: bool,
}

#[derive(Debug, Serialize)]
struct Transcript {
    format: String,
    lines: Vec<Text>,
}

#[derive(Debug, Serialize)]
struct Reason {
    count: u64,
    verdict: &'static str,
    reason: String,
}

#[derive(Debug, Clone, Serialize)]
struct Clause {
    id: String,
    title: String,
    holds: u64,
    breaks: u64,
}

impl<'p> Page<'p> {
    pub(super) fn of(content: &Content<'p>) -> Self {
        let records = content.records;
        let several = records.len() > 1;
        let columns: Vec<String> = match records {
            [record] => formats(record).into_iter().map(str::to_owned).collect(),
            records => records.iter().map(name).collect(),
        };
        let title = match records {
            [record] => format!("{} and the reading contract", name(record)),
            _ => format!("{} implementations and the reading contract", records.len()),
        };
        let failures: Vec<Failure> = records
            .iter()
            .enumerate()
            .flat_map(|(index, record)| {
                let short = record.results.iter().filter(|line| line.verdict.falls_short());
                short.map(move |line| failure(index, record, line, several, content))
            })
            .collect();
        Self {
            title,
            suite: records.first().map(|record| &record.suite),
            implementations: records.iter().map(implementation).collect(),
            changes: content.changes.iter().map(change).collect(),
            topics: records.iter().flat_map(|record| record.cases.keys()).map(|case| topic(case)).collect(),
            verdicts: Verdict::ALL
                .iter()
                .filter(|verdict| records.iter().any(|record| record.totals.contains_key(verdict)))
                .map(|verdict| verdict.name())
                .collect(),
            column_word: if several { "implementation" } else { "format" },
            rows: rows(records, &columns),
            columns,
            failures,
            reasons: reasons(records),
            clauses: clauses(records),
        }
    }
}

fn implementation(record: &Record) -> Implementation {
    let count = |(verdict, count): (&Verdict, &u64)| Count {
        name: verdict.name(),
        count: *count,
        tone: tone(*verdict),
    };
    Implementation {
        name: plain(&record.implementation.name),
        version: plain(&record.implementation.version),
        level: match record.implementation.level {
            judge::answer::Level::Events => "events",
            judge::answer::Level::Calls => "calls",
        },
        planned: record.planned,
        cases: record.cases.len(),
        losses: record.results.iter().filter(|line| line.silent_loss).count(),
        totals: record.totals.iter().map(count).collect(),
    }
}

fn change(change: &Change) -> ChangeRow {
    let name = |verdict: Option<Verdict>| verdict.map_or("not asked", Verdict::name);
    let (sort, tone) = match change.sort {
        Sort::Regression => ("regression", "bad"),
        Sort::Improvement => ("improvement", "good"),
        Sort::Other => ("other", "known"),
        Sort::Gone => ("gone", "faint"),
    };
    let (case, format) = (plain(&change.case), plain(&change.format));
    ChangeRow { sort, tone, case, format, before: name(change.before), now: name(change.now) }
}

/// A row for each case: one record shows its formats, several show what each came to.
fn rows(records: &[Record], columns: &[String]) -> Vec<Row> {
    let mut lines: BTreeMap<&str, Vec<Vec<(usize, &Line)>>> = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        for line in &record.results {
            let column = match records.len() {
                1 => columns.iter().position(|column| *column == line.format).unwrap_or_default(),
                _ => index,
            };
            let row = lines.entry(&line.case).or_insert_with(|| vec![Vec::new(); columns.len()]);
            if let Some(cell) = row.get_mut(column) {
                cell.push((index, line));
            }
        }
    }
    let note = |case: &str| records.iter().find_map(|record| record.cases.get(case));
    lines
        .into_iter()
        .map(|(case, cells)| {
            let all = || cells.iter().flatten().map(|(_, line)| *line);
            let clauses: BTreeSet<&str> = all().flat_map(|line| &line.clauses).map(String::as_str).collect();
            let verdicts: BTreeSet<&str> = all().map(|line| line.verdict.name()).collect();
            let shown: Vec<Cell> = cells.iter().map(|lines| cell(lines)).collect();
            let filled = |(_, cell): &(&String, &Vec<(usize, &Line)>)| !cell.is_empty();
            let words = columns.iter().zip(&cells).flat_map(|(column, lines)| {
                let verdicts: BTreeSet<&str> = lines.iter().map(|(_, line)| line.verdict.name()).collect();
                verdicts.into_iter().map(move |verdict| format!("{column}={verdict}"))
            });
            Row {
                case: plain(case),
                title: note(case).map(|note| plain(&note.title)).unwrap_or_default(),
                topic: topic(case),
                clauses: clauses.into_iter().collect::<Vec<_>>().join(" "),
                verdicts: verdicts.into_iter().collect::<Vec<_>>().join(" "),
                formats: columns
                    .iter()
                    .zip(&cells)
                    .filter(filled)
                    .map(|(column, _)| column.as_str())
                    .collect::<Vec<_>>()
                    .join(" "),
                cell_words: words.collect::<Vec<_>>().join(" "),
                cells: shown,
            }
        })
        .collect()
}

/// The worst of the readings in a cell, and how many came to it where there are several.
fn cell(lines: &[(usize, &Line)]) -> Cell {
    let badness = |verdict: Verdict| match verdict {
        Verdict::Pass => 1,
        Verdict::Skip => 0,
        Verdict::ExpectedFail => 2,
        _ => 3,
    };
    let Some((index, worst)) = lines.iter().max_by_key(|(_, line)| badness(line.verdict)) else {
        return Cell::default();
    };
    let same = lines.iter().filter(|(_, line)| line.verdict == worst.verdict).count();
    let text = match lines.len() {
        1 => worst.verdict.name().to_owned(),
        all => format!("{} {same}/{all}", worst.verdict.name()),
    };
    let link = worst.verdict.falls_short().then(|| id(*index, worst));
    Cell { text, tone: tone(worst.verdict), link }
}

fn failure(index: usize, record: &Record, line: &Line, several: bool, content: &Content<'_>) -> Failure {
    let note = record.cases.get(&line.case);
    let (expected, actual) = match &line.whole {
        Some(whole) => sides(&whole.expected, &whole.actual),
        None => (Vec::new(), Vec::new()),
    };
    let at = line.place.as_ref().map(|place| place.line);
    let transcripts = note.into_iter().flat_map(|note| &note.transcripts).map(|(format, text)| {
        let marked = at.filter(|_| *format == line.format);
        let lines = (1..)
            .zip(text.lines())
            .map(|(number, text)| Text { text: plain(text), mark: marked == Some(number) });
        Transcript { format: plain(format), lines: lines.collect() }
    });
    let title = |id: &String| Clause {
        id: plain(id),
        title: record.clauses.get(id).map(|title| plain(title)).unwrap_or_default(),
        holds: 0,
        breaks: 0,
    };
    Failure {
        id: id(index, line),
        case: plain(&line.case),
        format: plain(&line.format),
        column: if several { name(record) } else { line.format.clone() },
        implementation: several.then(|| name(record)),
        topic: topic(&line.case),
        title: note.map(|note| plain(&note.title)).unwrap_or_default(),
        reason: note.map(|note| plain(&note.reason)).unwrap_or_default(),
        verdict: line.verdict.name(),
        silent_loss: line.silent_loss,
        clause_ids: line.clauses.join(" "),
        clauses: line.clauses.iter().map(title).collect(),
        file: line.file.as_ref().map(|file| match at {
            Some(at) => format!("{}:{at}", plain(file)),
            None => plain(file),
        }),
        pointer: line.place.as_ref().map(|place| plain(&place.pointer)).filter(|text| !text.is_empty()),
        at: line.difference.as_ref().map(|difference| match difference.at.as_str() {
            "" => "(the whole answer)".to_owned(),
            at => plain(at),
        }),
        message: line.message.as_ref().map(|message| cut(message, WIDTH)),
        stderr: line.stderr.as_ref().map(|said| said.lines().map(plain).collect::<Vec<_>>().join("\n")),
        alone: (content.alone)(record, line),
        expected,
        actual,
        transcripts: transcripts.collect(),
    }
}

/// Two texts line by line, with what the other has not marked.
fn sides(expected: &str, actual: &str) -> (Vec<Text>, Vec<Text>) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for change in TextDiff::from_lines(expected, actual).iter_all_changes() {
        let text = plain(change.value().trim_end_matches(['\r', '\n']));
        match change.tag() {
            ChangeTag::Equal => {
                left.push(Text { text: text.clone(), mark: false });
                right.push(Text { text, mark: false });
            }
            ChangeTag::Delete => left.push(Text { text, mark: true }),
            ChangeTag::Insert => right.push(Text { text, mark: true }),
        }
    }
    (left, right)
}

/// Why readings were excused or not asked, the most frequent reason first.
fn reasons(records: &[Record]) -> Vec<Reason> {
    let mut counts: BTreeMap<(Verdict, &str), u64> = BTreeMap::new();
    for line in records.iter().flat_map(|record| &record.results) {
        let reason = match line.verdict {
            Verdict::ExpectedFail => line.known.as_ref().map(|known| known.reason.as_str()),
            Verdict::Skip => line.message.as_deref(),
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
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    reasons
}

fn clauses(records: &[Record]) -> Vec<Clause> {
    let mut clauses: BTreeMap<&str, Clause> = BTreeMap::new();
    for record in records {
        for line in &record.results {
            for id in &line.clauses {
                let clause = clauses.entry(id).or_insert_with(|| Clause {
                    id: plain(id),
                    title: record.clauses.get(id).map(|title| plain(title)).unwrap_or_default(),
                    holds: 0,
                    breaks: 0,
                });
                clause.holds += u64::from(line.verdict == Verdict::Pass);
                clause.breaks += u64::from(!matches!(line.verdict, Verdict::Pass | Verdict::Skip));
            }
        }
    }
    clauses.into_values().collect()
}

fn formats(record: &Record) -> Vec<&str> {
    let mut formats: Vec<&str> = Vec::new();
    for line in &record.results {
        if !formats.contains(&line.format.as_str()) {
            formats.push(&line.format);
        }
    }
    formats
}

fn name(record: &Record) -> String {
    plain(&format!("{} {}", record.implementation.name, record.implementation.version))
}

fn topic(case: &str) -> String {
    plain(case.rsplit_once('/').map_or("-", |(topic, _)| topic))
}

/// The place of a failure in its page: letters that need no escaping, whatever the case is called.
fn id(index: usize, line: &Line) -> String {
    let safe = |text: &str| -> String {
        let mut out = String::new();
        for byte in text.bytes() {
            match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'-' => out.push(char::from(byte)),
                b'/' => out.push('.'),
                other => out.push_str(&format!("_{other:02x}")),
            }
        }
        out
    };
    format!("f{index}-{}-{}", safe(&line.case), safe(&line.format))
}

fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "good",
        Verdict::Skip => "faint",
        Verdict::ExpectedFail => "known",
        _ => "bad",
    }
}
