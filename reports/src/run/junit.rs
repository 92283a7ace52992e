//! The record as JUnit XML: a test suite for each case, a test for each format. With times where the record has them.

use crate::junit::{JunitCase, JunitCounts, JunitOutcome, JunitStatus, JunitSuite, TAIL, head};
use crate::plain::plain;
use verdict::record::{CaseResult, Record};
use verdict::verdict::Verdict;

/// The record as XML. Texts are cleaned of what XML cannot hold.
pub fn render(record: &Record) -> String {
    let (mut suites, mut counts) = (String::new(), JunitCounts::default());
    for lines in record.results.chunk_by(|one, next| one.case == next.case) {
        let cases = lines.iter().map(|line| case(record, line)).collect();
        counts +=
            JunitSuite { name: plain(&lines[0].case), cases, ..JunitSuite::default() }.spell(&mut suites);
    }
    head(&plain(&format!("mcp-concord: {}", record.title())), counts) + &suites + TAIL
}

fn case(record: &Record, line: &CaseResult) -> JunitCase {
    let outcome = match line.verdict {
        Verdict::Pass => None,
        Verdict::Fail | Verdict::UnexpectedPass => Some(JunitOutcome::Failure),
        Verdict::Crash | Verdict::Timeout | Verdict::Garbled | Verdict::Unstable => Some(JunitOutcome::Error),
        Verdict::Skip | Verdict::ExpectedFail => Some(JunitOutcome::Skipped),
    };
    let status = outcome.map(|outcome| JunitStatus {
        outcome,
        message: message(line),
        verdict: Some(line.verdict.name()),
        description: (outcome != JunitOutcome::Skipped).then(|| description(record, line)),
    });
    JunitCase {
        name: line.format.clone(),
        class: Some(plain(&line.case)),
        time: line.took,
        status,
        ..JunitCase::default()
    }
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
        out.push("silent loss: a message is missing, and nothing says so".to_owned());
    }
    out.join("\n")
}

#[cfg(test)]
mod tests {
    use crate::run::test_record::record;
    use roxmltree::{Document, Node};
    use std::time::Duration;
    use verdict::verdict::Verdict;

    fn named<'d>(document: &'d Document<'d>, name: &str) -> Vec<Node<'d, 'd>> {
        document.descendants().filter(|node| node.has_tag_name(name)).collect()
    }

    #[test]
    fn times_are_there_where_the_record_has_them() {
        let mut record = record(&[Verdict::Pass, Verdict::Fail, Verdict::Skip]);
        assert!(!super::render(&record).contains(" time="));
        record.results[0].took = Some(Duration::from_millis(1_500));
        record.results[1].took = Some(Duration::from_millis(250));
        record.results[1].case = record.results[0].case.clone();
        let text = super::render(&record);
        let document = Document::parse(&text).unwrap();
        let times =
            |name: &str| named(&document, name).iter().map(|it| it.attribute("time")).collect::<Vec<_>>();
        assert_eq!(times("testsuite"), [Some("1.750"), None]);
        assert_eq!(times("testcase"), [Some("1.500"), Some("0.250"), None]);
    }

    #[test]
    fn a_strangers_text_stays_text() {
        let mut record = record(&[Verdict::Fail]);
        record.results[0].message = Some("]]></failure><x a=\"1\">&\u{0}\u{1b}[31m\u{202e}\u{fffe}".into());
        let text = super::render(&record);
        let document = Document::parse(&text).unwrap();
        assert_eq!((named(&document, "testcase").len(), named(&document, "x").len()), (1, 0));
        assert!(!text.contains("</failure><x") && !text.contains('\u{1b}') && !text.contains('\u{202e}'));
    }
}
