//! What changed between two runs, new failures first: a page of its own.

use super::cases::{Choice, Filter};
use super::labels::{anchor, cut, name, plain, topic};
use super::renderer::{HtmlRenderer, PageLocation};
use super::tally::{self, Standing};
use serde::Serialize;
use std::collections::BTreeMap;
use verdict::change::{Change, Sort};
use verdict::record::{CaseResult, Record};
use verdict::verdict::Verdict;

/// Values longer than this are cut, in characters.
const WIDTH: usize = 300;

/// What the page is made of.
pub struct Changes<'c> {
    /// The earlier run.
    pub old: &'c Record,
    /// The later one.
    pub new: &'c Record,
    /// What changed.
    pub changes: &'c [Change],
    /// The page of the later run, from the site's folder.
    pub page: &'c str,
}

#[derive(Debug, Serialize)]
struct Page {
    counts: Vec<String>,
    runs: [Standing; 2],
    other_suite: bool,
    other_dialect: bool,
    sorts: Vec<Group>,
    filter: Filter,
}

#[derive(Debug, Serialize)]
struct Group {
    title: &'static str,
    tone: &'static str,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    code: char,
    clauses: String,
    case: String,
    title: String,
    format: String,
    before: &'static str,
    now: &'static str,
    /// What is to be seen now, or was to be seen before where it is mended.
    what: String,
    href: Option<String>,
}

/// The sorts with their titles, their tones and the digits for the filter.
const SORTS: [(Sort, &str, &str, char); 4] = [
    (Sort::Regression, "New failures", "bad", '0'),
    (Sort::Improvement, "No longer failing", "good", '1'),
    (Sort::Other, "Other changes", "known", '2'),
    (Sort::Gone, "No longer asked", "faint", '3'),
];

/// How many changes there are of each sort, in words: `2 new failures`.
fn counts(changes: &[Change]) -> Vec<String> {
    let count = |sort| changes.iter().filter(|change| change.sort == sort).count();
    let words = |(sort, title, _, _): &(Sort, &str, &str, char)| match count(*sort) {
        0 => None,
        1 if *sort == Sort::Regression => Some("1 new failure".to_owned()),
        1 if *sort == Sort::Other => Some("1 other change".to_owned()),
        many => Some(format!("{many} {}", title.to_lowercase())),
    };
    SORTS.iter().filter_map(words).collect()
}

impl HtmlRenderer {
    /// The page of what changed.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn changes(&self, changes: &Changes<'_>, place: PageLocation<'_>) -> Result<String, tera::Error> {
        let Changes { old, new, changes, page } = changes;
        let (before, now) = (lines(old), lines(new));
        let row = |change: &Change, code: char| {
            let key = (change.case.as_str(), change.format.as_str());
            let line = now.get(&key).or_else(|| before.get(&key)).copied();
            let told = match change.sort {
                Sort::Improvement => before.get(&key).copied(),
                _ => line,
            };
            let note = new.cases.get(&change.case).or_else(|| old.cases.get(&change.case));
            let short = change.now.is_some_and(Verdict::is_failure);
            Row {
                code,
                clauses: line.map(|line| plain(&line.clauses.join(" "))).unwrap_or_default(),
                case: plain(&change.case),
                title: note.map(|note| plain(&note.title)).unwrap_or_default(),
                format: plain(&change.format),
                before: change.before.map_or("not asked", Verdict::name),
                now: change.now.map_or("not asked", Verdict::name),
                what: told.map(what).unwrap_or_default(),
                href: short.then(|| format!("{page}#{}", anchor(&change.case, Some(&change.format)))),
            }
        };
        let sorts = SORTS.iter().filter_map(|(sort, title, tone, code)| {
            let of_it = changes.iter().filter(|change| change.sort == *sort);
            let rows: Vec<Row> = of_it.map(|change| row(change, *code)).collect();
            (!rows.is_empty()).then_some(Group { title, tone, rows })
        });
        let sorts: Vec<Group> = sorts.collect();
        let choice = |group: &Group| {
            group.rows.first().map(|row| Choice { name: group.title, code: row.code.to_string() })
        };
        let rows = sorts.iter().flat_map(|group| &group.rows);
        let clauses = rows.flat_map(|row| row.clauses.split_whitespace());
        let filter = Filter {
            topics: changes.iter().map(|change| topic(&change.case)).collect(),
            clauses: clauses.map(str::to_owned).collect(),
            verdicts: sorts.iter().filter_map(choice).collect(),
            ..Filter::of("changes")
        };
        let page = Page {
            counts: counts(changes),
            runs: [tally::standing(old), tally::standing(new)],
            other_suite: old.suite != new.suite,
            other_dialect: old.implementation.dialect != new.implementation.dialect,
            sorts,
            filter,
        };
        self.render("changes.html", place, &format!("What changed: {} and {}", name(old), name(new)), &page)
    }
}

fn lines(record: &Record) -> BTreeMap<(&str, &str), &CaseResult> {
    record.results.iter().map(|line| ((line.case.as_str(), line.format.as_str()), line)).collect()
}

/// What a reading fell short by, in a line.
fn what(line: &CaseResult) -> String {
    let loss = if line.silent_loss { "silent loss; " } else { "" };
    match (&line.message, &line.difference) {
        (Some(message), _) => format!("{loss}{}", cut(message, WIDTH)),
        (None, Some(difference)) => {
            let [expected, got] = difference.sides().map(|value| cut(value.unwrap_or("nothing"), WIDTH));
            format!("{loss}at {}: expected {expected}, got {got}", plain(&difference.at))
        }
        (None, None) => loss.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::counts;
    use crate::test_record::record;
    use verdict::verdict::Verdict::{Fail, Pass, Skip};

    #[test]
    fn changes_are_counted_by_sort_in_words() {
        let (old, new) = (record(&[Pass, Fail, Fail, Skip]), record(&[Fail, Pass, Pass, Pass]));
        let counted = counts(&verdict::change::changes(&old, &new));
        assert_eq!(counted, ["1 new failure", "2 no longer failing", "1 other change"]);
        assert!(counts(&[]).is_empty());
    }
}
