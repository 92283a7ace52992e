//! A record as a terminal shows it.

use super::{Options, Verbosity, failure, in_short, render};
use crate::answer::{Answer, FailureKind, Level};
use crate::expectation::Expectation;
use crate::golden::golden;
use crate::meaning::{Calls, Meaning};
use crate::record::{BothSides, CaseResult, Place, Record, Subject};
use crate::testing;
use crate::verdict::{Judgement, Question, Verdict, judge};
use transcript::diff::Difference;
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
    testing::record(results)
}

fn shown(record: &Record, volume: Verbosity, colour: bool) -> String {
    let file = |line: &CaseResult| line.file.as_ref().map(|file| format!("here/{file}"));
    let rerun = |line: &CaseResult| format!("run {}/{}", line.case, line.format);
    render(record, &Options { colour, volume, file: &file, rerun: &rerun })
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
    Answer::Calls(Calls::parse(calls).unwrap())
}

fn broken(how: FailureKind, message: &str) -> Answer {
    Answer::Broken { how, message: message.into() }
}

/// What came of cases that had to be rejected, each in one line.
fn words() -> String {
    let question = Question { level: Level::Events, challenge: false, redacted: None };
    let expected = Expectation::Meaning(Meaning::parse(r#"{"events": []}"#).unwrap());
    let refused = Answer::Rejection { code: Some("batch".into()), message: "line 1:\u{1b} no".into() };
    let listed = Judgement::plain(Verdict::UnexpectedPass, Some("the baseline lists it".to_owned()));
    let silent = broken(FailureKind::Garbled, "it printed nothing and exited with 0");
    let lines = [
        rejecting("ids/one", "ID-NULL", &one_call()),
        rejecting("ids/one", "ID-NULL", &silent),
        CaseResult::new("a", "x", &[], judge(&expected, &question, &refused)),
        CaseResult::new("a", "x", &[], listed),
    ];
    lines.iter().map(in_short).collect::<Vec<_>>().join("\n")
}

/// A failure of which the record has the line.
fn placed() -> Record {
    let mut line = rejecting("ids/one", "ID-NULL", &one_call());
    line.place = Some(Place { line: 2, pointer: "/raw".into() });
    let mut record = testing::record(vec![line]);
    let note = record.cases.get_mut("ids/one").unwrap();
    note.transcripts.insert("x".into(), "{}\n{\"raw\": \u{1b}[31m}\n{}\n".into());
    record
}

/// One failure, then several of one clause, one of them of two more, then crashes whose words differ in a number.
fn grouped() -> Record {
    let mut lines = vec![rejecting("b/first", "ID-NULL", &one_call())];
    lines.extend((0..7).map(|index| rejecting(&format!("a/{index}"), "ID-REJECT", &one_call())));
    lines[2].clauses.extend(["COR-LATE", "EQ-PAIR"].map(str::to_owned));
    let crash = |index: u32| broken(FailureKind::Crash, &format!("exit status: {index}; 0 is an answer"));
    lines.extend((0..3).map(|index| rejecting(&format!("c/{index}"), "ID-NULL", &crash(index))));
    testing::record(lines)
}

/// A failure of each of a dozen clauses.
fn many() -> Record {
    let clauses = ["ID-NULL", "ID-REJECT", "ID-STRING", "ID-NUMBER", "ID-MISSING", "EQ-PAIR", "EQ-TOOL"];
    let more = ["EQ-ARGS", "EQ-OUTCOME", "EQ-COUNT", "COR-FIRST", "COR-LATE"];
    let all = clauses.into_iter().chain(more);
    testing::record(all.map(|id| rejecting(&format!("a/{id}"), id, &one_call())).collect())
}

/// What a recorder lost and added.
fn recorded() -> Record {
    let lost = |name: &str, at: &str| {
        let difference = Difference { pointer: at.into(), left: Some("1".into()), right: None };
        let judgement = Judgement { difference: Some(difference), ..Judgement::plain(Verdict::Fail, None) };
        CaseResult::new(name, "fidelity", &["ID-NULL".into()], judgement)
    };
    let places = [("a", "/lost/client/0"), ("b", "/lost/client/17"), ("c", "/added/server/1")];
    let mut record = testing::record(places.map(|(name, at)| lost(name, at)).into());
    record.subject = Subject::Recorder;
    record
}

#[test]
fn records_are_shown_as_a_person_once_looked_at_them() {
    use Verbosity::{Loud, Normal, Quiet};
    let rerun = |_: &CaseResult| "run \u{202e}it".to_owned();
    let bare = Options { colour: false, volume: Quiet, file: &|_| None, rerun: &rerun };
    golden(
        "text.txt",
        [
            ("a run", shown(&record(), Normal, false)),
            ("a run, in colours", shown(&record(), Normal, true)),
            ("a run, quiet", shown(&record(), Quiet, false)),
            ("a run, loud", shown(&record(), Loud, false)),
            ("a failure with its place", shown(&placed(), Normal, false)),
            ("one failure by itself", failure(&record(), &record().results[1], &bare)),
            ("failures in one line each", words()),
            ("failures in groups", shown(&grouped(), Quiet, false)),
            ("failures in groups, loud", shown(&grouped(), Loud, false)),
            ("more groups than have an example", shown(&many(), Normal, false)),
            ("failures of a recorder", shown(&recorded(), Quiet, false)),
        ],
    );
}
