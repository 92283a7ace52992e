//! A record as a terminal shows it.

use super::{Options, Verbosity, failure, in_short, render};
use crate::answer::{Answer, FailureKind, Level};
use crate::expectation::Expectation;
use crate::meaning::Meaning;
use crate::record::{BothSides, CaseNote, CaseResult, Implementation, Place, Record, Suite};
use crate::verdict::{Judgement, Question, Verdict, judge};
use transcript::rejection::Code;

fn record() -> Record {
    let clauses = ["ID-NULL".to_owned()];
    let expected = Expectation::Meaning(Meaning::parse(r#"{"events": [{"kind": "notification", "method": "a"}, {"kind": "notification", "method": "b"}]}"#).unwrap());
    let question = Question { level: Level::Events, challenge: false, redacted: None };
    let lost =
        Answer::Meaning(Meaning::parse(r#"{"events": [{"kind": "notification", "method": "a"}]}"#).unwrap());
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
    shown(&record(), volume, colour)
}

fn shown(record: &Record, volume: Verbosity, colour: bool) -> String {
    let file = |line: &CaseResult| line.file.as_ref().map(|file| format!("here/{file}"));
    let rerun = |line: &CaseResult| format!("run {}/{}", line.case, line.format);
    render(record, &Options { colour, volume, file: &file, rerun: &rerun })
}

/// A record of these results of one case each, which are named as given.
fn record_with(results: Vec<CaseResult>) -> Record {
    let cases = results.iter().map(|line| (line.case.clone(), CaseNote::new("One", "Mind it."))).collect();
    Record::new(Suite::new("1", "sha256:0"), Implementation::new("i", "2", Level::Events), cases, results)
}

/// What came of the case `name` in `x`, which shows this clause and has to be rejected.
fn rejecting(name: &str, clause: &str, answer: &Answer) -> CaseResult {
    let question = Question { level: Level::Calls, challenge: false, redacted: None };
    let judgement = judge(&Expectation::Rejection(Code::InvalidJson), &question, answer);
    let whole = BothSides { expected: "a rejection (invalid-json)\n".into(), actual: String::new() };
    let line = CaseResult::new(name, "x", &[clause.to_owned()], judgement);
    CaseResult { file: Some(format!("{name}/x.json")), whole: Some(whole), ..line }
}

fn one_call() -> Answer {
    let calls = r#"{"calls": [{"tool": "a", "arguments": {}, "outcome": null}]}"#;
    Answer::Calls(crate::meaning::Calls::parse(calls).unwrap())
}

fn broken(how: FailureKind, message: &str) -> Answer {
    Answer::Broken { how, message: message.into() }
}

#[test]
fn a_failure_shows_the_line_of_the_transcript_and_both_sides_in_words() {
    let mut line = rejecting("ids/one", "ID-NULL", &one_call());
    line.place = Some(Place { line: 2, pointer: "/raw".into() });
    let mut record = record_with(vec![line]);
    let note = record.cases.get_mut("ids/one").unwrap();
    note.transcripts.insert("x".into(), "{}\n{\"raw\": \u{1b}[31m}\n{}\n".into());
    let shown = shown(&record, Verbosity::Normal, false);
    let part = "\
fail: ids/one, x
 --> here/ids/one/x.json:2 /raw
  |
2 | {\"raw\": \\u{1b}[31m}
  |
  = clause: ID-NULL: TITLE
  = reason: Mind it.
  = expected: rejection (invalid-json)
  = got: 1 call
  = rerun: run ids/one/x
"
    .replace("TITLE", &record.clauses["ID-NULL"]);
    assert!(shown.contains(&part), "{part}is missing in\n{shown}");
    assert!(!shown.contains("groups"), "one group needs no table: {shown}");
}

#[test]
fn what_came_instead_of_an_answer_is_told_in_words() {
    let short = |answer: &Answer| in_short(&rejecting("ids/one", "ID-NULL", answer));
    let due = "ids/one/x: expected rejection (invalid-json); got ";
    assert_eq!(short(&one_call()), format!("fail: {due}1 call"));
    let silent = broken(FailureKind::Garbled, "printed nothing, exit 0");
    assert_eq!(short(&silent), format!("garbled: {due}printed nothing, exit 0"));
    let question = Question { level: Level::Events, challenge: false, redacted: None };
    let expected = Expectation::Meaning(Meaning::parse(r#"{"events": []}"#).unwrap());
    let refused = Answer::Rejection { code: Some("batch".into()), message: "line 1:\u{1b} no".into() };
    let line = CaseResult::new("a", "x", &[], judge(&expected, &question, &refused));
    assert_eq!(in_short(&line), "fail: a/x: expected a session; got rejection (batch): line 1:\\u{1b} no");
    let message = Some("the baseline lists it".to_owned());
    let line = CaseResult::new("a", "x", &[], Judgement::plain(Verdict::UnexpectedPass, message));
    assert_eq!(in_short(&line), "unexpected-pass: a/x: the baseline lists it");
}

#[test]
fn equal_failures_are_one_group_with_an_example_and_the_largest_is_first() {
    let mut lines = vec![rejecting("b/first", "ID-NULL", &one_call())];
    lines.extend((0..120).map(|index| rejecting(&format!("a/{index}"), "ID-REJECT", &one_call())));
    for index in 0..3 {
        let answer = broken(FailureKind::Crash, &format!("exit status: {index}; 0 is an answer"));
        lines.push(rejecting(&format!("c/{index}"), "ID-NULL", &answer));
    }
    let record = record_with(lines);
    let shown = shown(&record, Verbosity::Quiet, false);
    let heads: Vec<&str> =
        shown.lines().filter(|line| line.starts_with("fail: ") || line.starts_with("crash: ")).collect();
    assert_eq!(heads, ["fail: a/0, x", "crash: c/0, x", "fail: b/first, x"]);
    let note = "= note: and 119 more like this (-v shows them): a/1/x, a/2/x, a/3/x, a/4/x, …\n";
    assert!(shown.contains(note), "{shown}");
    assert!(shown.contains("= note: and 2 more like this (-v shows them): c/1/x, c/2/x\n"), "{shown}");
    let title = |id: &str| format!("{id}: {}", record.clauses[id]);
    let table = format!(
        "124 failures in 3 groups:\n    120  {}\n      3  crash: exit status\n      1  {}\n",
        title("ID-REJECT"),
        title("ID-NULL")
    );
    assert!(shown.contains(&table), "{table}is missing in\n{shown}");
    let every = self::shown(&record, Verbosity::Loud, false);
    assert_eq!(every.matches("= rerun: ").count(), 124, "-v shows each whole");
}

#[test]
fn many_groups_have_a_line_each_and_ten_have_an_example() {
    let clauses = ["ID-NULL", "ID-REJECT", "ID-STRING", "ID-NUMBER", "ID-MISSING", "EQ-PAIR", "EQ-TOOL"];
    let more = ["EQ-ARGS", "EQ-OUTCOME", "EQ-COUNT", "COR-FIRST", "COR-LATE"];
    let all: Vec<&str> = clauses.into_iter().chain(more).collect();
    let record = record_with(all.iter().map(|id| rejecting(&format!("a/{id}"), id, &one_call())).collect());
    let shown = shown(&record, Verbosity::Normal, false);
    assert_eq!(shown.matches("= rerun: ").count(), 10);
    for id in all {
        assert!(shown.contains(&format!("      1  {id}: ")), "{id} has no line in\n{shown}");
    }
    assert!(shown.contains(" (such as a/COR-LATE/x)\n") && !shown.contains("such as a/ID-NULL"), "{shown}");
}

#[test]
fn the_failures_of_a_recorder_are_grouped_by_what_it_did() {
    let lost = |name: &str, at: &str| {
        let difference =
            transcript::diff::Difference { pointer: at.into(), left: Some("1".into()), right: None };
        let judgement = Judgement { difference: Some(difference), ..Judgement::plain(Verdict::Fail, None) };
        CaseResult::new(name, "fidelity", &["ID-NULL".into()], judgement)
    };
    let mut record = record_with(vec![
        lost("a", "/lost/client/0"),
        lost("b", "/lost/client/17"),
        lost("c", "/added/server/1"),
    ]);
    record.subject = crate::record::Subject::Recorder;
    let shown = shown(&record, Verbosity::Quiet, false);
    assert!(
        shown.contains("2  fidelity, /lost/client/*\n") && shown.contains("1  fidelity, /added/server/*\n"),
        "{shown}"
    );
}

#[test]
fn one_failure_can_be_shown_alone() {
    let record = record();
    let options = Options {
        colour: false,
        volume: Verbosity::Quiet,
        file: &|_| None,
        rerun: &|_| "run \u{202e}it".to_owned(),
    };
    let shown = failure(&record, &record.results[1], &options);
    assert!(shown.starts_with("fail: ids/one, y, silent loss") && !shown.contains("-->"), "{shown}");
    assert!(shown.contains("= rerun: run \\u{202e}it\n"), "{shown}");
}

#[test]
fn a_run_is_told_in_a_table_its_failures_and_its_totals() {
    let expected = "\
topic   cases    pass    fail    skip
ids         2       1       1       1
order       1                       1

fail: ids/one, y, silent loss: a message of the transcript is accounted for nowhere
--> here/ids/one/y.json
 = clause: ID-NULL: TITLE
 = reason: Mind the null.
 = at: /events/1
 = expected: {\"kind\":\"notification\",\"method\":\"b\"}
 = got: (nothing)
 = rerun: run ids/one/y

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
    let sum =
        |column: usize| -> u64 { table[1..].iter().filter_map(|row| row[column].parse::<u64>().ok()).sum() };
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
        text(Verbosity::Loud, false).starts_with("pass            ids/one/x\nfail            ids/one/y\n")
    );
}

#[test]
fn a_strangers_text_cannot_play_with_the_terminal() {
    assert_eq!(super::plain("a\n\u{1b}[31m\u{202e}b"), "a \\u{1b}[31m\\u{202e}b");
    assert_eq!(super::cut("abcd", 3), "abc…");
}
