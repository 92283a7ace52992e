//! The record as JUnit XML: a test suite for each case, a test for each format. With times where the record has them.

use crate::plain::plain;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;
use verdict::record::{CaseResult, Record};
use verdict::verdict::Verdict;

/// The record as XML. Texts are cleaned of what XML cannot hold.
///
/// # Errors
/// Where the XML cannot be written.
pub fn render(record: &Record) -> Result<String, quick_junit::SerializeError> {
    let name = format!("mcp-concord: {}", record.title());
    let mut report = Report::new(plain(&name));
    let mut suites: Vec<(&str, TestSuite)> = Vec::new();
    for line in &record.results {
        let test = test(record, line);
        match suites.last_mut() {
            Some((case, suite)) if *case == line.case => {
                suite.add_test_case(test);
            }
            _ => {
                let mut suite = TestSuite::new(plain(&line.case));
                suite.add_test_case(test);
                suites.push((&line.case, suite));
            }
        }
    }
    for (_, suite) in &mut suites {
        set_time(suite);
    }
    report.add_test_suites(suites.into_iter().map(|(_, suite)| suite));
    report.to_string()
}

/// The time of a suite is the sum of its tests', which readers of JUnit do not add up themselves.
fn set_time(suite: &mut TestSuite) {
    let times: Vec<_> = suite.test_cases.iter().filter_map(|test| test.time).collect();
    if !times.is_empty() {
        suite.set_time(times.iter().sum::<Duration>());
    }
}

fn test(record: &Record, line: &CaseResult) -> TestCase {
    let kind = match line.verdict {
        Verdict::Fail | Verdict::UnexpectedPass => Some(NonSuccessKind::Failure),
        Verdict::Crash | Verdict::Timeout | Verdict::Garbled | Verdict::Unstable => {
            Some(NonSuccessKind::Error)
        }
        _ => None,
    };
    let mut status = match (kind, line.verdict) {
        (Some(kind), _) => TestCaseStatus::non_success(kind),
        (None, Verdict::Skip | Verdict::ExpectedFail) => TestCaseStatus::skipped(),
        (None, _) => TestCaseStatus::success(),
    };
    if line.verdict != Verdict::Pass {
        status.set_type(line.verdict.name()).set_message(message(line));
    }
    if kind.is_some() {
        status.set_description(description(record, line));
    }
    let mut test = TestCase::new(line.format.clone(), status);
    test.set_classname(plain(&line.case));
    if let Some(took) = line.took {
        test.set_time(took);
    }
    test
}

/// What a list of tests shows, on one line.
fn message(line: &CaseResult) -> String {
    let known = line.known.as_ref().map(|known| known.reason.as_str());
    let text = known.or(line.message.as_deref());
    match (text, &line.difference) {
        (Some(text), _) => plain(text),
        (None, Some(difference)) => format!("differs at {}", plain(&difference.at)),
        (None, None) => line.verdict.name().to_owned(),
    }
}

fn description(record: &Record, line: &CaseResult) -> String {
    let mut out = Vec::new();
    if let Some(file) = &line.file {
        let at = line.place.as_ref().map(|place| format!(":{}", place.line)).unwrap_or_default();
        out.push(format!("file      {file}{at}"));
    }
    for id in &line.clauses {
        out.push(format!("clause    {id}: {}", record.clauses.get(id).map_or("", String::as_str)));
    }
    if let Some(note) = record.cases.get(&line.case) {
        out.push(format!("reason    {}", note.reason));
    }
    if let Some(difference) = &line.difference {
        let [expected, actual] = difference.sides().map(|value| value.unwrap_or("(nothing)"));
        out.push(format!("at        {}", difference.at));
        out.push(format!("expected  {expected}"));
        out.push(format!("actual    {actual}"));
    }
    if line.silent_loss {
        out.push("silent loss: a message of the transcript is accounted for nowhere".to_owned());
    }
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use crate::test_record::record;
    use quick_junit::{Report, TestCaseStatus};
    use std::time::Duration;
    use verdict::verdict::Verdict;

    #[test]
    fn what_is_written_is_read_back_with_every_count() {
        let record = record(&Verdict::ALL);
        let text = super::render(&record).unwrap();
        let report = Report::deserialize_from_str(&text).unwrap();
        let tests: Vec<_> = report.test_suites.iter().flat_map(|suite| &suite.test_cases).collect();
        assert_eq!(tests.len(), Verdict::ALL.len());
        for (test, line) in tests.iter().zip(&record.results) {
            let short = matches!(test.status, TestCaseStatus::NonSuccess { .. });
            assert_eq!(short, line.verdict.is_failure(), "{:?}", line.verdict);
            let skipped = matches!(test.status, TestCaseStatus::Skipped { .. });
            assert_eq!(skipped, matches!(line.verdict, Verdict::Skip | Verdict::ExpectedFail));
        }
    }

    #[test]
    fn times_are_told_where_there_are_any() {
        let mut record = record(&[Verdict::Pass, Verdict::Fail, Verdict::Skip]);
        assert!(!super::render(&record).unwrap().contains(" time="));
        record.results[0].took = Some(Duration::from_millis(1_500));
        record.results[1].took = Some(Duration::from_millis(250));
        record.results[1].case = record.results[0].case.clone();
        let report = Report::deserialize_from_str(&super::render(&record).unwrap()).unwrap();
        let [timed, skipped] = report.test_suites.as_slice() else { panic!("{report:?}") };
        let times: Vec<_> = timed.test_cases.iter().map(|test| test.time).collect();
        assert_eq!(times, [record.results[0].took, record.results[1].took]);
        assert_eq!((timed.time, skipped.time), (Some(Duration::from_millis(1_750)), None));
    }

    #[test]
    fn a_strangers_text_stays_text() {
        let mut record = record(&[Verdict::Fail]);
        record.results[0].message = Some("]]></failure><x a=\"1\">&\u{0}\u{1b}[31m\u{202e}\u{fffe}".into());
        let text = super::render(&record).unwrap();
        let report = Report::deserialize_from_str(&text).unwrap();
        assert_eq!(report.test_suites[0].test_cases.len(), 1);
        assert!(!text.contains("</failure><x") && !text.contains('\u{1b}') && !text.contains('\u{202e}'));
    }
}
