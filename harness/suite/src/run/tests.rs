//! Runs of importers that have one fault.

use super::{Selection, Supervision, plan, run, supervised};
use crate::builtin::Builtin;
use crate::importer::Importer;
use crate::suite::{Root, Suite};
use crate::testing::Double;
use verdict::answer::{Answer, Level};
use verdict::meaning::Meaning;
use verdict::record::{self, Record};
use verdict::verdict::Verdict;

/// The built-in reader with a fault put in between.
fn faulty(fault: fn(&str, Answer) -> Answer) -> Double<impl Fn(&str, &[u8]) -> Answer + Send + Sync> {
    let read = move |format: &str, transcript: &[u8]| fault(format, Builtin.read(format, transcript));
    Double { reads: |format| format != "inspector", ..Double::new("faulty", read) }
}

fn judged(filter: &str, importer: &dyn Importer) -> Record {
    let suite = Suite::load(&[Root::Embedded]).unwrap();
    let filters = vec![globset::Glob::new(filter).unwrap().compile_matcher()];
    let plan = plan(&suite, importer, &Selection { filters, ..Selection::default() });
    assert!(!plan.is_empty(), "{filter}");
    let suite = record::Suite::new("", "");
    run(&plan, importer, 3, suite).unwrap()
}

fn count(record: &Record, verdict: Verdict) -> u64 {
    record.totals.get(&verdict).copied().unwrap_or_default()
}

#[test]
fn a_format_that_is_not_read_is_skipped_with_the_reason() {
    let record = judged("ids/zero", &faulty(|_, answer| answer));
    assert_eq!((count(&record, Verdict::Skip), count(&record, Verdict::Pass)), (1, record.planned - 1));
    let skipped = record.results.iter().find(|line| line.verdict == Verdict::Skip).unwrap();
    assert_eq!(skipped.message.as_deref(), Some("faulty does not read inspector"));
}

#[test]
fn a_summary_that_is_not_shown_is_skipped_and_counted_where_one_is_due() {
    let silent = |_: &str, answer| match answer {
        Answer::Meaning(meaning) => {
            let (events, _) = meaning.text().rsplit_once(",\n\"authorization_discovery\"").unwrap();
            Answer::Meaning(Meaning::parse(&format!("{events}}}")).unwrap())
        }
        other => other,
    };
    let record = judged("k2a/both-parameters/{streamable-http,http-sse,har,jsonrpc}", &faulty(silent));
    assert_eq!((count(&record, Verdict::Skip), count(&record, Verdict::Pass)), (3, 1), "{record:?}");
    let skipped = record.results.iter().filter(|line| line.verdict == Verdict::Skip);
    for line in skipped {
        assert!(line.message.as_ref().unwrap().contains("no `authorization_discovery`"), "{line:?}");
    }
    let record = judged("k2a/neither/{streamable-http,http-sse,har}", &faulty(silent));
    assert_eq!(count(&record, Verdict::Pass), record.planned, "{record:?}");
}

#[test]
fn a_code_of_another_fault_is_a_remark_and_fails_only_who_is_held_to_codes() {
    let other = |_: &str, _| Answer::Rejection { code: Some("batch".into()), message: "no".into() };
    let record = judged("ids/reject-true-on-a-request/jsonrpc", &faulty(other));
    let line = &record.results[0];
    assert_eq!((line.verdict, record.planned), (Verdict::Pass, 1));
    assert_eq!(line.remark.as_deref(), Some("expected the code `invalid-id`; got `batch`"));
    let [compact, expanded] = [record.compact(), {
        let mut again = record.compact();
        again.expand(|_| None).unwrap();
        again
    }];
    assert_eq!((compact.results.len(), &expanded.results[0].remark), (0, &line.remark));
    let strict = judged("ids/reject-true-on-a-request/jsonrpc", &Double { strict: true, ..faulty(other) });
    assert_eq!((strict.results[0].verdict, &strict.results[0].remark), (Verdict::Fail, &None));
    let foreign = judged(
        "ids/reject-true-on-a-request/jsonrpc",
        &Double {
            strict: true,
            ..faulty(|_, _| Answer::Rejection { code: Some("E42".into()), message: "no".into() })
        },
    );
    assert_eq!(foreign.results[0].verdict, Verdict::Pass);
}

#[test]
fn a_panic_costs_one_reading_alone() {
    let record = judged(
        "ids/*",
        &faulty(|format, answer| match format {
            "http-sse" => panic!("no streams today"),
            _ => answer,
        }),
    );
    let crashed: Vec<_> = record.results.iter().filter(|line| line.verdict == Verdict::Crash).collect();
    assert!(!crashed.is_empty() && crashed.iter().all(|line| line.format == "http-sse"));
    assert!(crashed[0].message.as_deref().unwrap().contains("no streams today"));
    assert_eq!(record.results.iter().filter(|line| line.verdict.is_failure()).count(), crashed.len());
}

#[test]
fn numbers_through_a_float_are_found_out() {
    let rounded = |_: &str, answer| match answer {
        Answer::Meaning(meaning) => {
            let value: serde_json::Value = serde_json::from_str(meaning.text()).unwrap();
            Answer::Meaning(Meaning::parse(&in_floats(value).to_string()).unwrap())
        }
        other => other,
    };
    let record = judged("values/integer-beyond-double/*", &faulty(rounded));
    assert_eq!(count(&record, Verdict::Pass), 0, "{record:?}");
    assert!(record.results.iter().all(|line| !line.silent_loss));
}

fn in_floats(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) => number.as_f64().map_or(Value::Null, Into::into),
        Value::Array(items) => items.into_iter().map(in_floats).collect(),
        Value::Object(members) => members.into_iter().map(|(name, it)| (name, in_floats(it))).collect(),
        other => other,
    }
}

#[test]
fn a_lost_answer_is_a_silent_loss_at_every_level() {
    let importer = |loses: bool| {
        let read = move |format: &str, transcript: &[u8]| {
            let Answer::Meaning(meaning) = Builtin.read(format, transcript) else { panic!("it is read") };
            let calls = meaning.calls().text().to_owned();
            let outcome = calls.find("\"outcome\": {").unwrap();
            let end = outcome + calls[outcome..].find('\n').unwrap();
            let end = if calls[..end].ends_with(',') { end - 1 } else { end };
            let text = match loses {
                true => format!("{}\"outcome\": null}}{}", &calls[..outcome], &calls[end..]),
                false => calls,
            };
            Answer::Calls(verdict::meaning::Calls::parse(&text).unwrap())
        };
        Double { level: Level::Calls, reads: |format| format == "jsonrpc", ..Double::new("calls", read) }
    };
    let whole = judged("correlation/one-call/jsonrpc", &importer(false));
    assert_eq!(count(&whole, Verdict::Pass), 1, "{whole:?}");
    let lost = judged("correlation/one-call/jsonrpc", &importer(true));
    assert!(lost.results[0].verdict == Verdict::Fail && lost.results[0].silent_loss, "{lost:?}");
}

#[test]
fn an_open_case_asks_for_one_choice() {
    let torn = |format: &str, answer| match format {
        "http-sse" => Answer::Rejection { code: None, message: "not this one".into() },
        _ => answer,
    };
    let record = judged("envelope/null-sse", &faulty(torn));
    let verdicts: Vec<_> = record.results.iter().map(|line| (line.format.as_str(), line.verdict)).collect();
    assert_eq!(verdicts, [("streamable-http", Verdict::Pass), ("http-sse", Verdict::Fail)]);
    assert_eq!(judged("envelope/null-sse", &Builtin).totals.get(&Verdict::Pass), Some(&2));
}

#[test]
fn so_many_failures_end_a_run_at_one_place_whatever_the_number_of_threads() {
    let suite = Suite::load(&[Root::Embedded]).unwrap();
    let reader = faulty(|format, answer| match format {
        "har" => Answer::Rejection { code: None, message: "no".into() },
        _ => answer,
    });
    let filters = vec![globset::Glob::new("ids/*").unwrap().compile_matcher()];
    let plan = plan(&suite, &reader, &Selection { filters, ..Selection::default() });
    let all = run(&plan, &reader, 1, record::Suite::new("", "")).unwrap();
    let stopped = |most: u64, jobs: usize| {
        let supervision = Supervision { max_failures: Some(most), ..Supervision::default() };
        supervised(&plan, &reader, jobs, record::Suite::new("", ""), &supervision).unwrap()
    };
    for most in [1, 3] {
        let one = stopped(most, 1);
        assert_eq!(count(&one, Verdict::Fail), most, "each case fails in one format");
        assert!(
            one.results.last().unwrap().case
                == one.results.iter().rfind(|line| line.verdict.is_failure()).unwrap().case
        );
        assert_eq!((one.max_failures, one.planned + one.interrupted), (Some(most), all.planned));
        for jobs in [2, 7] {
            let many = stopped(most, jobs);
            assert_eq!(serde_json::to_string(&many).unwrap(), serde_json::to_string(&one).unwrap(), "{jobs}");
        }
    }
    let whole = stopped(count(&all, Verdict::Fail) + 1, 2);
    assert_eq!((whole.max_failures, whole.interrupted, whole.planned), (None, 0, all.planned));
}

#[test]
fn whoever_listens_hears_each_case_once() {
    let suite = Suite::load(&[Root::Embedded]).unwrap();
    let filters = vec![globset::Glob::new("ids/*").unwrap().compile_matcher()];
    let plan = plan(&suite, &Builtin, &Selection { filters, ..Selection::default() });
    let heard = std::sync::Mutex::new(Vec::new());
    let hear = |lines: &[verdict::record::CaseResult]| {
        heard.lock().unwrap().extend(lines.iter().map(|line| format!("{}/{}", line.case, line.format)));
    };
    let supervision = Supervision { heard: &hear, ..Supervision::default() };
    let record = supervised(&plan, &Builtin, 3, record::Suite::new("", ""), &supervision).unwrap();
    let mut heard = heard.into_inner().unwrap();
    let mut all: Vec<_> =
        record.results.iter().map(|line| format!("{}/{}", line.case, line.format)).collect();
    heard.sort();
    all.sort();
    assert_eq!(heard, all);
}
