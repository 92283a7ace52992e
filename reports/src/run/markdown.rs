//! The record as Markdown for a CI's summary: short, failures first.

use super::SORTS;
use crate::plain::cut;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use verdict::change::Change;
use verdict::record::{CaseResult, Record};
use verdict::verdict::Verdict;

/// How many failures are listed.
pub(crate) const MOST: usize = 25;

/// Values longer than this are cut, in characters.
const WIDTH: usize = 160;

/// The record as Markdown.
pub fn render(record: &Record) -> String {
    let mut out = format!("### {}\n\n", text(&record.title()));
    let counts: Vec<String> =
        record.totals.iter().map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
    let (trial, of) = record.counts();
    let _ = writeln!(
        out,
        "{} {trial}s of {} {of}s: {}. Suite {}, `{}`.",
        record.planned,
        record.cases.len(),
        if counts.is_empty() { "nothing was run".to_owned() } else { counts.join(", ") },
        text(&record.suite.version),
        record.suite.digest.get(..19).unwrap_or(&record.suite.digest),
    );
    let short: Vec<&CaseResult> = record.results.iter().filter(|line| line.verdict.is_failure()).collect();
    if !short.is_empty() {
        out.push_str("\n| verdict | case | format | clause | what |\n| --- | --- | --- | --- | --- |\n");
        for line in short.iter().take(MOST) {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                line.verdict.name(),
                text(&line.case),
                line.format,
                text(&line.clauses.join(", ")),
                text(&what(line)),
            );
        }
        if short.len() > MOST {
            let _ = writeln!(out, "\nand {} more", short.len() - MOST);
        }
    }
    let remarks = record.results.iter().filter_map(|line| line.remark.as_deref());
    tallied("Passed, with a remark", remarks, &mut out);
    let known = record.results.iter().filter(|line| line.verdict == Verdict::ExpectedFail);
    let reasons = known.map(|line| line.known.as_ref().map_or("", |known| &known.reason));
    tallied("Known failures", reasons, &mut out);
    out
}

/// How often each of these was said; nothing where none was.
fn tallied<'s>(title: &str, said: impl Iterator<Item = &'s str>, out: &mut String) {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    said.for_each(|one| *counts.entry(one).or_default() += 1);
    if !counts.is_empty() {
        let _ = writeln!(out, "\n{title}:\n");
    }
    for (one, count) in counts {
        let _ = writeln!(out, "- {count}: {}", text(one));
    }
}

/// What changed since another run.
pub fn changes(changes: &[Change]) -> String {
    let mut out = String::new();
    for (sort, title) in SORTS {
        let of: Vec<&Change> = changes.iter().filter(|change| change.sort == sort).collect();
        if of.is_empty() {
            continue;
        }
        let _ = writeln!(out, "#### {title}: {}\n", of.len());
        for change in of.iter().take(MOST) {
            let name = |verdict: Option<Verdict>| verdict.map_or("not asked", Verdict::name);
            let _ = writeln!(
                out,
                "- {}, {}: {} → {}",
                text(&change.case),
                change.format,
                name(change.before),
                name(change.now)
            );
        }
        if of.len() > MOST {
            let _ = writeln!(out, "- and {} more", of.len() - MOST);
        }
        out.push('\n');
    }
    if out.is_empty() { "Nothing changed.\n".to_owned() } else { out }
}

fn what(line: &CaseResult) -> String {
    let loss = if line.silent_loss { "silent loss; " } else { "" };
    match (&line.message, &line.difference) {
        (Some(message), _) => format!("{loss}{message}"),
        (None, Some(difference)) => {
            let shown = |value: Option<&str>| cut(value.unwrap_or("(nothing)"), WIDTH / 2);
            let [expected, actual] = difference.sides().map(shown);
            format!("{loss}at {}: expected {expected}, got {actual}", difference.at)
        }
        (None, None) => loss.to_owned(),
    }
}

/// Text in which nothing is markup: a character that Markdown or HTML would read there is spelled as an entity.
pub(crate) fn text(text: &str) -> String {
    let text = cut(text, WIDTH);
    let mut out = String::new();
    for (at, char) in text.char_indices() {
        let next = text[at + char.len_utf8()..].chars().next();
        let word = |char: Option<char>| char.is_some_and(char::is_alphanumeric);
        let is_markup = match char {
            '<' | '>' | '&' | '|' | '`' | '*' | '[' | ']' | '\\' | '~' | '@' | '$' => true,
            // Within a word it is a part of it.
            '_' => !word(out.chars().last()) || !word(next),
            '#' => at == 0 || word(next),
            // Of an address, or a name of a picture.
            ':' => next.is_some_and(|next| !next.is_whitespace()),
            _ => false,
        };
        if is_markup {
            let _ = write!(out, "&#{};", u32::from(char));
        } else {
            out.push(char);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::run::test_record::record;
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
    use verdict::verdict::Verdict;

    /// What GitHub's dialect makes of it: the plain text of every table cell, row by row, and the names of all that is
    /// neither text nor the structure which a summary has.
    fn parsed(text: &str) -> (Vec<Vec<String>>, Vec<String>) {
        let (mut rows, mut strange): (Vec<Vec<String>>, Vec<String>) = (Vec::new(), Vec::new());
        let mut cell: Option<String> = None;
        for event in Parser::new_ext(text, Options::all()) {
            match event {
                Event::Start(Tag::TableHead | Tag::TableRow) => rows.push(Vec::new()),
                Event::Start(Tag::TableCell) => cell = Some(String::new()),
                Event::End(TagEnd::TableCell) => rows.last_mut().unwrap().extend(cell.take()),
                Event::Text(text) => {
                    if let Some(cell) = &mut cell {
                        cell.push_str(&text);
                    }
                }
                Event::Start(
                    Tag::Heading { .. } | Tag::Paragraph | Tag::Table(_) | Tag::List(_) | Tag::Item,
                ) => {}
                Event::End(_) | Event::SoftBreak => {}
                // Only the digest is shown as code.
                Event::Code(code) if code.starts_with("sha256:") => {}
                other => strange.push(format!("{other:?}")),
            }
        }
        (rows, strange)
    }

    #[test]
    fn it_is_read_back_as_it_was_meant_whatever_a_stranger_wrote() {
        const HOSTILE: &str = "<img src=x> | [a](javascript:b) `c` **d** ~~e~~ @me https://x.y # f $g$ [^h] \\| ![i](j) :smile: a@b.c &lt;";
        let mut record = record(&[Verdict::Fail, Verdict::Crash, Verdict::ExpectedFail]);
        record.implementation.name = HOSTILE.into();
        record.suite.version = HOSTILE.into();
        for line in &mut record.results {
            line.message = Some(HOSTILE.into());
            line.known = Some(verdict::record::Reason { reason: HOSTILE.into(), issue: None });
            line.clauses = vec![HOSTILE.into()];
        }
        let (rows, strange) = parsed(&super::render(&record));
        assert!(strange.is_empty(), "{strange:#?}");
        assert_eq!(rows[0], ["verdict", "case", "format", "clause", "what"]);
        assert_eq!(rows[1], ["fail", "ids/0", "x", HOSTILE, HOSTILE]);
        assert_eq!(rows[2][..3], ["crash", "ids/1", "x"]);
        assert_eq!(rows.len(), 3);
    }
}
