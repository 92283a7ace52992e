//! What changed between two runs, new failures first: a page of its own.

use super::cases::Filter;
use super::labels::{anchor, cut, name, plain, topic};
use super::renderer::{HtmlRenderer, PageLocation};
use super::tally;
use crate::run::SORTS;
use serde_json::{Value, json};
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

/// The tone of each of the sorts, and its digit for the filter.
const MARKS: [(&str, char); 4] = [("bad", '0'), ("good", '1'), ("known", '2'), ("faint", '3')];

/// How many changes there are of each sort, in words: `2 new failures`.
fn counts(changes: &[Change]) -> Vec<String> {
    let count = |sort| changes.iter().filter(|change| change.sort == sort).count();
    let words = |(sort, title): &(Sort, &str)| match count(*sort) {
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
            // What is to be seen now, or was to be seen before where it is mended.
            let seen = match change.sort {
                Sort::Improvement => before.get(&key).copied(),
                _ => line,
            };
            let note = new.cases.get(&change.case).or_else(|| old.cases.get(&change.case));
            let short = change.now.is_some_and(Verdict::is_failure);
            json!({
                "code": code,
                "clauses": line.map(|line| plain(&line.clauses.join(" "))).unwrap_or_default(),
                "case": plain(&change.case),
                "title": note.map(|note| plain(&note.title)).unwrap_or_default(),
                "format": plain(&change.format),
                "before": change.before.map_or("not asked", Verdict::name),
                "now": change.now.map_or("not asked", Verdict::name),
                "what": seen.map(what).unwrap_or_default(),
                "href": short.then(|| format!("{page}#{}", anchor(&change.case, Some(&change.format)))),
            })
        };
        let mut filter = Filter { what: "changes", ..Filter::default() };
        filter.topics.extend(changes.iter().map(|change| topic(&change.case)));
        let mut sorts = Vec::new();
        for ((sort, title), (tone, code)) in SORTS.into_iter().zip(MARKS) {
            let of_it = changes.iter().filter(|change| change.sort == sort);
            let rows: Vec<Value> = of_it.map(|change| row(change, code)).collect();
            if rows.is_empty() {
                continue;
            }
            let clauses = rows.iter().filter_map(|row| row["clauses"].as_str());
            filter.clauses.extend(clauses.flat_map(str::split_whitespace).map(str::to_owned));
            filter.verdicts.push((title, code.to_string()));
            sorts.push(json!({ "title": title, "tone": tone, "rows": rows }));
        }
        let page = json!({
            "counts": counts(changes),
            "runs": [tally::standing(old), tally::standing(new)],
            "other_suite": old.suite != new.suite,
            "other_dialect": old.implementation.dialect != new.implementation.dialect,
            "sorts": sorts,
            "filter": filter,
        });
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
