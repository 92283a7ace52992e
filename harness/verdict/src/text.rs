//! The record for a terminal: a table by topic, each failure as a person needs it, and the totals in counts.

use crate::plain::{cut, plain};
use crate::record::{CaseResult, Record};
use crate::verdict::Verdict;
use anstyle::{AnsiColor, Style};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// How it is to be shown.
pub struct Options<'o> {
    /// With colours.
    pub colour: bool,
    /// How much.
    pub volume: Verbosity,
    /// The transcript of a line, as a person finds it.
    pub file: &'o dyn Fn(&CaseResult) -> Option<String>,
    /// The command that reruns one line.
    pub rerun: &'o dyn Fn(&CaseResult) -> String,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Failures and totals.
    Quiet,
    /// And the table, and why results were skipped.
    Normal,
    /// And every result.
    Loud,
}

/// Values longer than this are cut, in characters.
const WIDTH: usize = 200;

/// So many reasons for skips are listed.
const REASONS: usize = 10;

/// The whole record.
#[must_use]
pub fn render(record: &Record, options: &Options<'_>) -> String {
    let mut parts = Vec::new();
    if options.volume >= Verbosity::Loud {
        parts.push(every_line(record, options));
    }
    if options.volume >= Verbosity::Normal {
        parts.push(table(record, options));
    }
    parts.extend(
        record.results.iter().filter(|it| it.verdict.is_failure()).map(|it| failure(record, it, options)),
    );
    if options.volume >= Verbosity::Normal {
        parts.push(remarks(record));
        parts.push(skips(record));
    }
    parts.push(totals(record, options));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// One result that fell short, with all that is needed to understand it and to rerun it.
#[must_use]
pub fn failure(record: &Record, line: &CaseResult, options: &Options<'_>) -> String {
    let mut out = String::new();
    let verdict = paint(line.verdict.name(), style(line.verdict), options.colour);
    let loss = if line.silent_loss {
        let words = "silent loss: a message of the transcript is accounted for nowhere";
        format!(", {}", paint(words, style(Verdict::Fail), options.colour))
    } else {
        String::new()
    };
    let _ = writeln!(out, "{verdict}: {}, {}{loss}", plain(&line.case), line.format);
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(out, "  {name:<9} {value}");
    };
    if let Some(file) = (options.file)(line) {
        let line_number = line.place.as_ref().map(|place| format!(":{}", place.line)).unwrap_or_default();
        row("file", &plain(&format!("{file}{line_number}")));
    }
    if let Some(place) = line.place.as_ref().filter(|place| !place.pointer.is_empty()) {
        row("place", &plain(&place.pointer));
    }
    for id in &line.clauses {
        row("clause", &format!("{id}: {}", record.clauses.get(id).map_or("", String::as_str)));
    }
    if let Some(note) = record.cases.get(&line.case) {
        row("reason", &plain(&note.reason));
    }
    if let Some(difference) = &line.difference {
        let shown =
            |value: Option<&str>| value.map_or_else(|| "(nothing)".to_owned(), |value| cut(value, WIDTH));
        row("at", &plain(if difference.at.is_empty() { "(the whole answer)" } else { &difference.at }));
        row("expected", &shown(difference.expected.as_deref().map(|it| it.get())));
        row("actual", &shown(difference.actual.as_deref().map(|it| it.get())));
    }
    if let Some(message) = &line.message {
        row("message", &cut(message, WIDTH));
    }
    for (index, said) in line.stderr.iter().flat_map(|said| said.lines()).enumerate() {
        row(if index == 0 { "stderr" } else { "" }, &cut(said, WIDTH));
    }
    row("rerun", &(options.rerun)(line));
    out
}

/// How many results of how many cases came to what, or of a recorder, how many aspects of how many sessions.
#[must_use]
pub fn totals(record: &Record, options: &Options<'_>) -> String {
    let counts: Vec<String> = record
        .totals
        .iter()
        .map(|(verdict, count)| {
            paint(&format!("{count} {}", verdict.name()), style(*verdict), options.colour)
        })
        .collect();
    let counts = if counts.is_empty() { "nothing was run".to_owned() } else { counts.join(", ") };
    let losses = record.results.iter().filter(|line| line.silent_loss).count();
    let redacted: usize = record.results.iter().map(|line| line.redacted).sum();
    let (trial, of) = record.counts();
    let (trials, of) = (counted(record.planned, trial), counted(record.cases.len() as u64, of));
    let mut out = format!("{trials} of {of}: {counts}\n");
    if let Some(cut) = record.cut_short() {
        let _ = writeln!(out, "{}", paint(&cut, style(Verdict::Fail), options.colour));
    }
    if let Some(dialect) = &record.implementation.dialect {
        let _ = writeln!(out, "judged in the dialect {}", plain(dialect));
    }
    if losses > 0 {
        let _ = writeln!(out, "{}", counted(losses as u64, "silent loss"));
    }
    let remarked = record.results.iter().filter(|line| line.remark.is_some()).count();
    if remarked > 0 {
        let _ = writeln!(
            out,
            "{} came under the code of another fault; --strict-codes makes that a failure",
            counted(remarked as u64, "rejection")
        );
    }
    if redacted > 0 {
        let _ = writeln!(
            out,
            "{} taken as equal because they are redacted (RPL-REDACT)",
            counted(redacted as u64, "value")
        );
    }
    out
}

fn every_line(record: &Record, options: &Options<'_>) -> String {
    let mut out = String::new();
    for line in &record.results {
        let verdict = paint(&format!("{:<15}", line.verdict.name()), style(line.verdict), options.colour);
        let why = line.message.as_deref().filter(|_| line.verdict == Verdict::Skip);
        let why = why.or(line.remark.as_deref());
        let why = why.map(|why| format!("  ({})", cut(why, WIDTH))).unwrap_or_default();
        let _ = writeln!(out, "{verdict} {}/{}{why}", plain(&line.case), line.format);
    }
    out
}

/// Cases and verdicts by topic: the part of a case's name above its last part.
fn table(record: &Record, options: &Options<'_>) -> String {
    #[derive(Default)]
    struct Row<'r> {
        cases: BTreeSet<&'r str>,
        verdicts: BTreeMap<Verdict, u64>,
    }
    let mut rows: BTreeMap<&str, Row<'_>> = BTreeMap::new();
    for line in &record.results {
        let topic = line.case.rsplit_once('/').map_or("-", |(topic, _)| topic);
        let row = rows.entry(topic).or_default();
        row.cases.insert(&line.case);
        *row.verdicts.entry(line.verdict).or_default() += 1;
    }
    let topic_width = rows.keys().map(|topic| topic.chars().count()).chain([5]).max().unwrap_or_default();
    let verdicts: Vec<Verdict> =
        Verdict::ALL.into_iter().filter(|it| record.totals.contains_key(it)).collect();
    let mut out = format!("{:<topic_width$}  {:>6}", "topic", "cases");
    for verdict in &verdicts {
        let _ =
            write!(out, "  {}", paint(&format!("{:>6}", verdict.name()), style(*verdict), options.colour));
    }
    out.push('\n');
    for (topic, row) in &rows {
        let _ = write!(out, "{:<topic_width$}  {:>6}", plain(topic), row.cases.len());
        for verdict in &verdicts {
            let width = verdict.name().len().max(6);
            match row.verdicts.get(verdict) {
                Some(count) => {
                    let _ = write!(
                        out,
                        "  {}",
                        paint(&format!("{count:>width$}"), style(*verdict), options.colour)
                    );
                }
                None => {
                    let _ = write!(out, "  {:>width$}", "");
                }
            }
        }
        out.truncate(out.trim_end_matches(' ').len());
        out.push('\n');
    }
    out
}

/// What is to be said of passes.
fn remarks(record: &Record) -> String {
    let said = |line: &CaseResult| {
        Some(format!("  {}/{}: {}\n", plain(&line.case), line.format, line.remark.as_ref()?))
    };
    let all: Vec<String> = record.results.iter().filter_map(said).collect();
    if all.is_empty() {
        return String::new();
    }
    let mut out = format!("passed, with a remark:\n{}", all[..all.len().min(REASONS)].concat());
    if all.len() > REASONS {
        let _ = writeln!(out, "  and {} more (-v lists each result)", all.len() - REASONS);
    }
    out
}

/// Why results were skipped, the most frequent reason first.
fn skips(record: &Record) -> String {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for line in record.results.iter().filter(|line| line.verdict == Verdict::Skip) {
        *reasons.entry(in_short(line.message.as_deref().unwrap_or("no reason was given"))).or_default() += 1;
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut reasons: Vec<(&str, u64)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let all = reasons.len();
    reasons.truncate(REASONS);
    let mut out = String::from("skipped:\n");
    for (reason, count) in &reasons {
        let _ = writeln!(out, "  {count:>5}  {}", cut(reason, WIDTH));
    }
    if reasons.len() < all {
        let _ = writeln!(
            out,
            "         and {} (-v lists each result)",
            counted((all - reasons.len()) as u64, "other reason")
        );
    }
    out
}

/// A reason without what comes after its second colon: there it tells of one case only.
fn in_short(reason: &str) -> &str {
    match reason.match_indices(": ").nth(1) {
        Some((end, _)) => &reason[..end],
        None => reason,
    }
}

fn counted(count: u64, one: &str) -> String {
    match (count, one.ends_with('s')) {
        (1, _) => format!("1 {one}"),
        (_, true) => format!("{count} {one}es"),
        (_, false) => format!("{count} {one}s"),
    }
}

fn style(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Pass => AnsiColor::Green,
        Verdict::Skip | Verdict::ExpectedFail => AnsiColor::Yellow,
        _ => AnsiColor::Red,
    };
    let style = Style::new().fg_color(Some(colour.into()));
    if verdict.is_failure() { style.bold() } else { style }
}

fn paint(text: &str, style: Style, colour: bool) -> String {
    if colour { format!("{}{text}{}", style.render(), style.render_reset()) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Options, Verbosity, render};
    use crate::answer::{Answer, Level};
    use crate::expectation::Expectation;
    use crate::meaning::Meaning;
    use crate::record::{CaseNote, CaseResult, Implementation, Record, Suite};
    use crate::verdict::{Judgement, Question, Verdict, judge};

    fn record() -> Record {
        let clauses = ["ID-NULL".to_owned()];
        let expected = Expectation::Meaning(Meaning::parse(r#"{"events": [{"kind": "notification", "method": "a"}, {"kind": "notification", "method": "b"}]}"#).unwrap());
        let question = Question { level: Level::Events, challenge: false, redacted: None };
        let lost = Answer::Meaning(
            Meaning::parse(r#"{"events": [{"kind": "notification", "method": "a"}]}"#).unwrap(),
        );
        let line = |case: &str, format: &str, judgement| CaseResult {
            file: Some(format!("{case}/{format}.json")),
            ..CaseResult::new(case, format, &clauses, judgement)
        };
        let results = vec![
            line("ids/one", "x", Judgement::plain(Verdict::Pass, None)),
            line("ids/one", "y", judge(&expected, &question, &lost)),
            line("ids/two", "x", Judgement::plain(Verdict::Skip, Some("x cannot: ID-NULL: not here".into()))),
            line("order/three", "x", Judgement::plain(Verdict::Skip, Some("y cannot".into()))),
        ];
        let note = || CaseNote::new("One", "Mind the null.");
        let cases = ["ids/one", "ids/two", "order/three"].map(|name| (name.to_owned(), note())).into();
        let suite = Suite::new("1", "sha256:0");
        let implementation = Implementation::new("i", "2", Level::Events);
        Record::new(suite, implementation, cases, results)
    }

    fn text(volume: Verbosity, colour: bool) -> String {
        let file = |line: &CaseResult| line.file.as_ref().map(|file| format!("here/{file}"));
        let rerun = |line: &CaseResult| format!("run {}/{}", line.case, line.format);
        render(&record(), &Options { colour, volume, file: &file, rerun: &rerun })
    }

    #[test]
    fn a_run_is_told_in_a_table_its_failures_and_its_totals() {
        let expected = "\
topic   cases    pass    fail    skip
ids         2       1       1       1
order       1                       1

fail: ids/one, y, silent loss: a message of the transcript is accounted for nowhere
  file      here/ids/one/y.json
  clause    ID-NULL: TITLE
  reason    Mind the null.
  at        /events/1
  expected  {\"kind\":\"notification\",\"method\":\"b\"}
  actual    (nothing)
  rerun     run ids/one/y

skipped:
      1  x cannot: ID-NULL
      1  y cannot

4 results of 3 cases: 1 pass, 1 fail, 2 skip
1 silent loss
";
        let title = record().clauses["ID-NULL"].clone();
        assert_eq!(text(Verbosity::Normal, false), expected.replace("TITLE", &title));
    }

    #[test]
    fn the_table_is_read_back_as_the_counts_of_the_record() {
        let text = text(Verbosity::Normal, false);
        let table: Vec<Vec<&str>> = text
            .lines()
            .take_while(|line| !line.is_empty())
            .map(|line| {
                // A count stands under the end of its word, also where others are left out.
                let ends = [5, 13, 21, 29, 37];
                let starts = [0, 5, 13, 21, 29];
                starts
                    .iter()
                    .zip(ends)
                    .map(|(&from, to)| line.get(from..to.min(line.len())).unwrap_or("").trim())
                    .collect()
            })
            .collect();
        assert_eq!(table[0], ["topic", "cases", "pass", "fail", "skip"]);
        let sum = |column: usize| -> u64 {
            table[1..].iter().filter_map(|row| row[column].parse::<u64>().ok()).sum()
        };
        let record = record();
        assert_eq!(sum(1), record.cases.len() as u64);
        for (column, verdict) in [(2, Verdict::Pass), (3, Verdict::Fail), (4, Verdict::Skip)] {
            assert_eq!(sum(column), record.totals[&verdict], "{verdict:?}");
        }
    }

    #[test]
    fn colours_and_volume_are_the_callers_choice() {
        assert!(!text(Verbosity::Loud, false).contains('\u{1b}'));
        let colours = text(Verbosity::Normal, true);
        assert!(colours.contains("\u{1b}[1m\u{1b}[31mfail"), "{colours}");
        let quiet = text(Verbosity::Quiet, false);
        assert!(!quiet.contains("topic") && quiet.contains("fail: ids/one, y"), "{quiet}");
        assert!(
            text(Verbosity::Loud, false)
                .starts_with("pass            ids/one/x\nfail            ids/one/y\n")
        );
    }

    #[test]
    fn a_strangers_text_cannot_play_with_the_terminal() {
        assert_eq!(super::plain("a\n\u{1b}[31m\u{202e}b"), "a \\u{1b}[31m\\u{202e}b");
        assert_eq!(super::cut("abcd", 3), "abc…");
    }
}
