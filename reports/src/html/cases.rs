//! The list of cases: what each came to, and where; and the short code by which the page's script filters them.

use super::labels::{anchor, code, name, plain, tone, topic};
use super::tally::{Part, Tally};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use verdict::record::{CaseResult, Record};
use verdict::verdict::Verdict;

/// The cases by topic, and what they can be filtered by.
#[derive(Debug, Serialize)]
pub(super) struct Cases {
    topics: Vec<Topic>,
    filter: Filter,
}

/// A table for each topic: a browser lays out those that are in view, however many there are.
#[derive(Debug, Serialize)]
struct Topic {
    name: String,
    /// Cases with a failure, known or not.
    rows: Vec<Row>,
    /// The others, and what they came to.
    folded: Vec<Row>,
    folded_parts: Vec<Part>,
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
    groups: Vec<Group>,
}

/// What came to one verdict.
#[derive(Debug, Serialize)]
struct Group {
    verdict: &'static str,
    tone: &'static str,
    lost: bool,
    /// Formats, or implementations with how many of its results those are; each with the failure it leads to.
    places: Vec<(String, Option<String>)>,
}

/// One implementation: what each case came to in which formats.
pub(super) fn by_format(record: &Record) -> Cases {
    let format = |line: &&CaseResult| (plain(&line.format), failure(line, ""));
    cases(&[record], |_, came, _| came.iter().map(format).collect())
}

/// Several: what each case came to in which implementations, whose failures are told in their own folders.
pub(super) fn by_implementation(records: &[&Record], folders: &[String]) -> Cases {
    let pages: Vec<_> = records
        .iter()
        .zip(folders)
        .map(|(record, folder)| (name(record), format!("{folder}/index.html")))
        .collect();
    cases(records, |index, came, all| {
        let count = if all > 1 { format!(" {}/{all}", came.len()) } else { String::new() };
        let place = |(name, page): &(String, String)| {
            (format!("{name}{count}"), came.first().and_then(|line| failure(line, page)))
        };
        pages.get(index).map(place).into_iter().collect()
    })
}

/// Where the failure of a result is told.
fn failure(line: &CaseResult, page: &str) -> Option<String> {
    line.verdict.is_failure().then(|| format!("{page}#{}", anchor(&line.case, Some(&line.format))))
}

/// The cases of records. `places` names the results of one implementation that came to one verdict, of so many in all.
fn cases(
    records: &[&Record],
    places: impl Fn(usize, &[&CaseResult], usize) -> Vec<(String, Option<String>)>,
) -> Cases {
    let formats = formats(records);
    let mut found: BTreeMap<&str, Vec<(usize, &CaseResult)>> = BTreeMap::new();
    for (index, record) in records.iter().enumerate() {
        for line in &record.results {
            found.entry(&line.case).or_default().push((index, line));
        }
    }
    let note = |case: &str| records.iter().find_map(|record| record.cases.get(case));
    let row = |case: &str, lines: &[(usize, &CaseResult)]| {
        let group = |verdict: Verdict| {
            let of_one = |lines: &[(usize, &CaseResult)]| {
                let (index, _) = *lines.first()?;
                let came = lines.iter().map(|(_, line)| *line).filter(|line| line.verdict == verdict);
                let came: Vec<&CaseResult> = came.collect();
                (!came.is_empty()).then(|| places(index, &came, lines.len()))
            };
            let places: Vec<_> = lines.chunk_by(|a, b| a.0 == b.0).filter_map(of_one).flatten().collect();
            let lost = lines.iter().any(|(_, line)| line.verdict == verdict && line.silent_loss);
            (!places.is_empty()).then(|| Group { verdict: verdict.name(), tone: tone(verdict), lost, places })
        };
        let clauses: BTreeSet<&str> =
            lines.iter().flat_map(|(_, line)| &line.clauses).map(String::as_str).collect();
        Row {
            case: plain(case),
            title: note(case).map(|note| plain(&note.title)).unwrap_or_default(),
            clauses: plain(&clauses.into_iter().collect::<Vec<_>>().join(" ")),
            codes: codes(lines, records.len(), &formats),
            groups: worst_first().filter_map(group).collect(),
        }
    };
    let mut topics: BTreeMap<String, Vec<(Tally, Row)>> = BTreeMap::new();
    for (case, lines) in &found {
        let tally = Tally::of(lines.iter().map(|(_, line)| *line));
        topics.entry(topic(case)).or_default().push((tally, row(case, lines)));
    }
    let names = records.iter().map(|record| name(record));
    Cases {
        filter: Filter {
            what: "cases",
            topics: topics.keys().cloned().collect(),
            clauses: records.iter().flat_map(|record| record.clauses.keys()).map(|id| plain(id)).collect(),
            verdicts: choices(records),
            formats: formats.iter().map(|format| plain(format)).collect(),
            implementations: if records.len() > 1 { names.collect() } else { Vec::new() },
        },
        topics: topics.into_iter().map(Topic::new).collect(),
    }
}

impl Topic {
    fn new((name, rows): (String, Vec<(Tally, Row)>)) -> Self {
        let (folded, rows): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(tally, _)| tally.holds());
        Self {
            name,
            folded_parts: Tally::sum(folded.iter().map(|(tally, _)| tally)).parts(),
            rows: rows.into_iter().map(|(_, row)| row).collect(),
            folded: folded.into_iter().map(|(_, row)| row).collect(),
        }
    }
}

/// Failures, then known ones, then what passed, then what was skipped.
fn worst_first() -> impl Iterator<Item = Verdict> {
    let failures = Verdict::ALL.into_iter().filter(|verdict| verdict.is_failure());
    failures.chain([Verdict::ExpectedFail, Verdict::Pass, Verdict::Skip])
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

    /// What a case came to, as `verdict: place>link, place`.
    fn groups(row: &super::Row) -> Vec<String> {
        let place = |(name, href): &(String, Option<String>)| match href {
            Some(href) => format!("{name}>{href}"),
            None => name.clone(),
        };
        let group = |it: &super::Group| {
            format!("{}: {}", it.verdict, it.places.iter().map(place).collect::<Vec<_>>().join(", "))
        };
        row.groups.iter().map(group).collect()
    }

    #[test]
    fn a_case_says_what_it_came_to_where_the_worst_first_and_leads_to_it() {
        let one = record_of(vec![line("a/b", "x", Pass), line("a/b", "y", Fail), line("a/c", "x", Skip)]);
        let topic = &by_format(&one).topics[0];
        let (rows, folded) = (&topic.rows, &topic.folded);
        assert_eq!(groups(&rows[0]), ["fail: y>#f-a.b~y", "pass: x"]);
        assert_eq!((rows.len(), groups(&folded[0])), (1, vec!["skip: x".to_owned()]));
        let mut two = record_of(vec![line("a/b", "x", Crash), line("a/b", "y", Crash)]);
        two.implementation.name = "j".into();
        let side_by_side = by_implementation(&[&one, &two], &["i-2".to_owned(), "j-2".to_owned()]);
        let row = &side_by_side.topics[0].rows[0];
        let came = [
            "fail: i 2 1/2>i-2/index.html#f-a.b~y",
            "crash: j 2 2/2>j-2/index.html#f-a.b~x",
            "pass: i 2 1/2",
        ];
        assert_eq!(groups(row), came);
        assert_eq!((&*row.codes, &*side_by_side.topics[0].folded[0].codes), ("0155", "4---"));
        let choices: Vec<_> =
            side_by_side.filter.verdicts.iter().map(|choice| (choice.name, &*choice.code)).collect();
        assert_eq!(choices, [("failing", "15"), ("pass", "0"), ("fail", "1"), ("skip", "4"), ("crash", "5")]);
    }
}
