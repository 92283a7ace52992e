//! What a baseline excuses, and when it has gone stale.

use super::{Baseline, PLACEHOLDER, entries};
use crate::record::{CaseResult, Record};
use crate::verdict::{Judgement, Verdict};
use transcript::dialect;
use transcript::diff::Difference;

fn record(lines: &[(&str, &str, Verdict)]) -> Record {
    let line = |(case, format, verdict): &(&str, &str, Verdict)| {
        let mut judgement = Judgement::plain(*verdict, None);
        if *verdict == Verdict::Fail {
            let pointer = "/events/3/answers".into();
            judgement.difference = Some(Difference { pointer, left: None, right: None });
        }
        CaseResult::new(case, format, &[], judgement)
    };
    crate::testing::record(lines.iter().map(line).collect())
}

fn entry(keys: &str) -> String {
    format!("[[known]]\nreason = \"It is old.\"\n{keys}\n")
}

/// The verdicts after a baseline of these entries, and what is stale.
fn applied(text: &str, lines: &[(&str, &str, Verdict)]) -> (Vec<Verdict>, Vec<String>) {
    let mut record = record(lines);
    let mut baseline = Baseline::read(text, false).unwrap();
    baseline.hold_against(lines.iter().map(|(case, format, _)| (*case, *format)));
    let each: Vec<Verdict> = record.results.iter().map(|line| baseline.verdict(line)).collect();
    let stale = baseline.apply(&mut record);
    assert_eq!(each, record.results.iter().map(|line| line.verdict).collect::<Vec<_>>(), "one by one");
    assert_eq!(record.totals.values().sum::<u64>(), record.planned);
    let verdicts = record.results.iter().map(|line| line.verdict).collect();
    (verdicts, stale.into_iter().map(|slip| slip.message).collect())
}

const FAIL: (&str, &str, Verdict) = ("ids/a", "har", Verdict::Fail);

#[test]
fn a_known_failure_is_expected_and_keeps_its_reason() {
    let text = entry("case = \"ids/*\"\nformat = \"h*\"\nkind = \"fail\"\nissue = \"https://x/1\"");
    let mut found = record(&[FAIL, ("ids/a", "inspector", Verdict::Fail)]);
    assert_eq!(Baseline::read(&text, false).unwrap().apply(&mut found), []);
    let known = found.results[0].known.as_ref().unwrap();
    assert_eq!((known.reason.as_str(), known.issue.as_deref()), ("It is old.", Some("https://x/1")));
    let verdicts: Vec<_> = found.results.iter().map(|line| line.verdict).collect();
    assert_eq!(verdicts, [Verdict::ExpectedFail, Verdict::Fail]);
}

#[test]
fn another_kind_is_a_new_failure() {
    for (keys, excused) in [
        ("kind = \"fail\"", true),
        ("kind = \"fail\"\nat = \"/events/*/answers\"", true),
        ("kind = \"fail\"\nat = \"/events/*/id\"", false),
        ("kind = \"fail\"\nsilent-loss = true", false),
        ("kind = \"crash\"", false),
    ] {
        let (verdicts, stale) = applied(&entry(&format!("case = \"ids/a\"\n{keys}")), &[FAIL]);
        let expected = if excused { Verdict::ExpectedFail } else { Verdict::Fail };
        assert_eq!((verdicts, stale.is_empty()), (vec![expected], excused), "{keys}");
    }
    let mut lost = record(&[FAIL]);
    lost.results[0].silent_loss = true;
    let plain = Baseline::read(&entry("case = \"ids/a\"\nkind = \"fail\""), false).unwrap();
    plain.apply(&mut lost);
    assert_eq!(lost.results[0].verdict, Verdict::Fail, "a silent loss is excused only by its name");
}

#[test]
fn what_passes_or_is_not_run_goes_stale() {
    let text = entry("case = \"ids/*\"\nkind = \"fail\"");
    let (verdicts, stale) = applied(&text, &[FAIL, ("ids/b", "har", Verdict::Pass)]);
    assert_eq!(verdicts, [Verdict::ExpectedFail, Verdict::UnexpectedPass]);
    assert_eq!(stale, [""; 0], "the unexpected pass tells it");
    let (verdicts, stale) = applied(&text, &[("ids/b", "har", Verdict::Skip)]);
    assert_eq!((verdicts, stale.len()), (vec![Verdict::Skip], 1));
}

#[test]
fn an_entry_is_stale_only_where_all_that_it_names_was_judged() {
    let text = entry("case = \"ids/*\"\nkind = \"crash\"");
    let mut baseline = Baseline::read(&text, false).unwrap();
    assert_eq!(
        baseline.hold_against([("ids/a", "har"), ("ids/b", "har"), ("order/a", "har")].into_iter()),
        []
    );
    let both = [FAIL, ("ids/b", "har", Verdict::Fail)];
    for (judged, stale) in [(&both[..], 1), (&both[..1], 0), (&[("order/a", "har", Verdict::Pass)], 0)] {
        assert_eq!(baseline.apply(&mut record(judged)).len(), stale, "{judged:?}");
    }
}

#[test]
fn an_entry_that_names_no_case_is_found_before_the_run() {
    let text = entry("case = \"ids/*\"\nkind = \"fail\"")
        + &entry("case = \"ids/a\"\nformat = \"pcap\"\nkind = \"fail\"");
    let mut baseline = Baseline::read(&text, false).unwrap();
    let slips = baseline.hold_against([("ids/a", "har")].into_iter());
    assert_eq!(slips.len(), 1);
    assert_eq!(slips[0].line, Some(5));
    assert!(slips[0].message.contains("`ids/a` in the format `pcap`"), "{slips:?}");
}

#[test]
fn each_slip_is_told_with_its_line() {
    let good = "case = \"a\"\nkind = \"fail\"\nreason = \"b\"";
    for (from, to, part) in [
        ("case", "caes", "caes"),
        ("case = \"a\"\n", "", "`case` is missing"),
        ("\"a\"", "\"[\"", "`case`: "),
        ("kind = \"fail\"\n", "", "`kind` is missing"),
        ("\"fail\"", "\"failure\"", "`kind` is `failure`; it must be one of fail, crash"),
        ("\"fail\"", "\"skip\"", "`kind` is `skip`"),
        ("\"fail\"", "\"crash\"\nsilent-loss = true", "a crash has no answer"),
        ("reason = \"b\"", "", "no `reason`"),
        ("\"b\"", "\"  \"", "no `reason`"),
        ("\"b\"", &format!("\"{PLACEHOLDER}\""), "no `reason`"),
        ("kind", "at = \"events\"\nkind", "`at`: "),
        ("kind", "issue = \"7\"\nkind", "`issue` is not a link"),
        ("= \"a\"", "\"a\"", ""),
    ] {
        let text = format!("# known\n\n[[known]]\n{}\n", good.replacen(from, to, 1));
        let slips = Baseline::read(&text, false).unwrap_err();
        assert!(slips[0].message.contains(part), "{part} is missing: {slips:?}");
        assert!(slips[0].line.is_some_and(|line| line >= 3), "{slips:?}");
    }
    assert!(Baseline::read("[[konwn]]\ncase = \"a\"", false).unwrap_err()[0].message.contains("konwn"));
    assert!(Baseline::read("", false).is_ok());
}

#[test]
fn written_entries_excuse_what_they_were_written_for_once_they_have_reasons() {
    let lines = [
        ("ids/[a]", "har", Verdict::Fail),
        ("ids/[a]", "inspector", Verdict::Fail),
        ("ids/b", "har", Verdict::Crash),
        ("ids/b", "inspector", Verdict::Pass),
        ("ids/c", "har", Verdict::Skip),
    ];
    let text = entries(&record(&lines), false);
    assert_eq!(text.matches("[[known]]").count(), 2, "{text}");
    assert!(Baseline::read(&text, false).is_err() && Baseline::read(&text, true).is_ok());
    let (verdicts, stale) = applied(&text.replace(PLACEHOLDER, "It is so."), &lines);
    let known = Verdict::ExpectedFail;
    assert_eq!((verdicts, stale), (vec![known, known, known, Verdict::Pass, Verdict::Skip], vec![]));
}

#[test]
fn a_baseline_is_of_one_dialect() {
    let [plain, typed] = &dialect::ALL[..2] else { panic!("there are two") };
    let known = entry("case = \"ids/a\"\nkind = \"fail\"");
    let of = |text: &str, dialect| Baseline::read(text, false).unwrap().is_of(dialect).is_ok();
    let named = format!("dialect = \"typed-ids\"\n{known}");
    assert!(of(&known, plain) && !of(&known, typed) && of(&named, typed) && !of(&named, plain));
    assert!(of("", typed) && of("", plain), "what lists nothing is of any");
    let slips = Baseline::read(&named.replace("typed-ids", "typed"), false).unwrap_err();
    assert!(slips[0].line == Some(1) && slips[0].message.contains("did you mean typed-ids"), "{slips:?}");
    let mut record = record(&[FAIL]);
    record.implementation = record.implementation.in_dialect("typed-ids");
    assert!(entries(&record, true).starts_with("dialect = \"typed-ids\"\n\n[[known]]"));
    assert!(entries(&record, false).starts_with("\n[[known]]"));
}
