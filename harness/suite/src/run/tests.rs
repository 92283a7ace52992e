//! Runs of importers that have one fault.

use super::{PlannedCase, Selection, Supervision, place_of, plan, run, supervised};
use crate::builtin::Builtin;
use crate::importer::Importer;
use crate::testing::{Double, SUITE};
use verdict::answer::Answer;
use verdict::record::{self, CaseResult, Record};
use verdict::verdict::Verdict;

/// The built-in reader with a fault put in between.
fn faulty(fault: fn(&str, Answer) -> Answer) -> Double<impl Fn(&str, &[u8]) -> Answer + Send + Sync> {
    let read = move |format: &str, transcript: &[u8]| {
        fault(format, Builtin::default().answer(formats::find(format).unwrap().into(), transcript))
    };
    Double { reads: |format| format != "inspector", ..Double::new("faulty", read) }
}

fn planned<T>(filter: &str, importer: &dyn Importer, asked: impl FnOnce(&[PlannedCase<'_>]) -> T) -> T {
    let filters = vec![globset::Glob::new(filter).unwrap().compile_matcher()];
    let plan = plan(&SUITE, importer, &Selection { filters, ..Selection::default() });
    assert!(!plan.is_empty(), "{filter}");
    asked(&plan)
}

fn judged(filter: &str, importer: &dyn Importer) -> Record {
    planned(filter, importer, |plan| run(plan, importer, 3, record::Suite::new("", "")).unwrap())
}

fn count(record: &Record, verdict: Verdict) -> u64 {
    record.totals.get(&verdict).copied().unwrap_or_default()
}

#[test]
fn what_is_not_read_or_not_identified_is_skipped_with_the_reason() {
    let skipped = |record: &Record| -> Vec<String> {
        let skipped = record.results.iter().filter(|line| line.verdict == Verdict::Skip);
        skipped.map(|line| line.message.clone().unwrap_or_default()).collect()
    };
    let record = judged("ids/zero", &faulty(|_, answer| answer));
    assert_eq!(skipped(&record), ["faulty does not read inspector"]);
    assert_eq!(count(&record, Verdict::Pass), record.planned - 1);
    let record = judged("identify/*", &Builtin::default());
    assert!(record.planned > 20 && count(&record, Verdict::Pass) == record.planned, "{record:?}");
    let silent = skipped(&judged("identify/*", &faulty(|_, answer| answer)));
    assert!(silent.iter().all(|why| why == "faulty does not answer `identify`"), "{silent:?}");
    assert_eq!(silent.len() as u64, record.planned);
}

#[test]
fn a_code_of_another_fault_is_a_remark_and_fails_only_who_is_held_to_codes() {
    let rejecting =
        |fault, strict| judged("ids/reject-true-on-a-request/jsonrpc", &Double { strict, ..faulty(fault) });
    let other = |_: &str, _| Answer::Rejection { code: Some("batch".into()), message: "no".into() };
    let foreign = |_: &str, _| Answer::Rejection { code: Some("E42".into()), message: "no".into() };
    let remark = Some("expected the code `invalid-id`; got `batch`");
    for (fault, strict, verdict, remark) in [
        (other as fn(&str, Answer) -> Answer, false, Verdict::Pass, remark),
        (other, true, Verdict::Fail, None),
        (foreign, true, Verdict::Pass, None),
    ] {
        let record = rejecting(fault, strict);
        assert_eq!(record.results.len(), 1);
        let line = &record.results[0];
        assert_eq!((line.verdict, line.remark.as_deref()), (verdict, remark));
        let mut compact = record.compact();
        compact.expand(|_| None).unwrap();
        assert_eq!(compact.results[0].remark, line.remark);
    }
}

#[test]
fn a_panic_costs_one_reading_and_an_open_case_asks_for_one_choice() {
    let torn = |filter: &str, fault| -> Vec<(String, Verdict)> {
        let record = judged(filter, &faulty(fault));
        record.results.into_iter().map(|line| (line.format, line.verdict)).collect()
    };
    let crashed = torn("ids/zero/{http-sse,har}", |format, answer| match format {
        "http-sse" => panic!("no streams today"),
        _ => answer,
    });
    assert_eq!(crashed, [("http-sse".to_owned(), Verdict::Crash), ("har".to_owned(), Verdict::Pass)]);
    let chosen = torn("envelope/null-sse", |format, answer| match format {
        "http-sse" => Answer::Rejection { code: None, message: "not this one".into() },
        _ => answer,
    });
    let expected = [("streamable-http", Verdict::Pass), ("http-sse", Verdict::Fail)];
    assert_eq!(chosen, expected.map(|(format, verdict)| (format.to_owned(), verdict)));
    assert_eq!(count(&judged("envelope/null-sse", &Builtin::default()), Verdict::Pass), 2);
}

#[test]
fn a_run_ends_at_the_same_failure_whatever_the_number_of_threads() {
    let reader = faulty(|format, answer| match format {
        "har" => Answer::Rejection { code: None, message: "no".into() },
        _ => answer,
    });
    planned("ids/*", &reader, |plan| {
        let stopped = |most: Option<u64>, jobs: usize| {
            let supervision = Supervision { max_failures: most, ..Supervision::default() };
            supervised(plan, &reader, jobs, record::Suite::new("", ""), &supervision).unwrap()
        };
        let all = stopped(None, 1);
        for most in [1, 3] {
            let one = stopped(Some(most), 1);
            assert_eq!(count(&one, Verdict::Fail), most, "each case fails in one format");
            let failed = one.results.iter().rfind(|line| line.verdict.is_failure()).unwrap();
            assert_eq!(one.results.last().unwrap().case, failed.case);
            assert_eq!((one.max_failures, one.planned + one.interrupted), (Some(most), all.planned));
            for jobs in [2, 7] {
                let [many, one] = [&stopped(Some(most), jobs), &one].map(serde_json::to_string);
                assert_eq!(many.unwrap(), one.unwrap(), "{jobs}");
            }
        }
        let whole = stopped(Some(count(&all, Verdict::Fail) + 1), 2);
        assert_eq!((whole.max_failures, whole.interrupted, whole.planned), (None, 0, all.planned));
    });
}

#[test]
fn a_listener_hears_each_case_once() {
    let name = |line: &CaseResult| format!("{}/{}", line.case, line.format);
    let heard = std::sync::Mutex::new(Vec::new());
    let hear = |lines: &[CaseResult]| heard.lock().unwrap().extend(lines.iter().map(name));
    let supervision = Supervision { heard: &hear, ..Supervision::default() };
    let record = planned("ids/*", &Builtin::default(), |plan| {
        supervised(plan, &Builtin::default(), 3, record::Suite::new("", ""), &supervision).unwrap()
    });
    let (mut heard, mut all): (Vec<_>, Vec<_>) =
        (heard.into_inner().unwrap(), record.results.iter().map(name).collect());
    heard.sort();
    all.sort();
    assert_eq!(heard, all);
}

const SESSION: &str = concat!(
    r#"{"jsonrpc":"2.0","method":"a"}"#,
    "\n\n",
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b"}}"#,
    "\n"
);

fn place(at: &str, format: &str, transcript: &str) -> Option<(u64, String)> {
    let place = place_of(at, formats::find(format).unwrap(), transcript.as_bytes())?;
    Some((place.line, place.pointer))
}

#[test]
fn an_event_a_call_and_a_fault_have_their_places() {
    assert_eq!(place("/events/0/method", "jsonrpc", SESSION), Some((1, String::new())));
    assert_eq!(place("/events/1", "jsonrpc", SESSION), Some((3, String::new())));
    assert_eq!(place("/calls/0/tool", "jsonrpc", SESSION), Some((3, String::new())));
    let document = format!("[\n{}]", SESSION.trim().replace("\n\n", ",\n"));
    assert_eq!(place("/events/1/id", "inspector", &document), Some((3, "/1".into())));
    let broken = SESSION.replace("\"id\":1", "\"id\":[]");
    assert_eq!(place("/rejection/code", "jsonrpc", &broken), Some((3, String::new())));
    assert_eq!(place("/rejection", "jsonrpc", SESSION), Some((1, String::new())));
    let challenge = "{\"transport\":\"http-sse\",\"entries\":[\n{\"transport_context\":{\"status\":401},\"response\":null}]}";
    let place_of_it = place("/authorization_discovery/visible", "http-sse", challenge);
    assert_eq!(place_of_it.map(|place| place.0), Some(2));
    for at in ["", "/authorization_discovery/visible", "/events/7"] {
        assert_eq!(place(at, "jsonrpc", SESSION), None, "{at}");
    }
}
