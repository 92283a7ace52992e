//! What was found as JUnit: a suite for each recording, a case for each rule.
//!
//! A rule that was broken fails where that counts for the exit code; else its case passes and says what was seen. A
//! rule that could not be told, or that nothing called for, is skipped with its reason.

use super::{Renderer, explain, pointer, rule_of, sentence};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use rules::RuleVerdict;
use rules::record::{CheckedFile, Problem, RuleResult};
use std::io::{self, Read, Seek, Write};

/// The report as XML. Its first line counts what is in all of it, so the suites wait in `spool` until the end: a file,
/// where they are many.
#[derive(Debug)]
pub struct Junit<S> {
    strict: bool,
    spool: S,
    /// The counts, without the suites.
    whole: Report,
}

impl<S> Junit<S> {
    /// Nothing was written so far, to `spool` neither.
    pub fn new(strict: bool, spool: S) -> Self {
        Self { strict, spool, whole: Report::new("mcp-concord check") }
    }
}

impl<S: Write> Junit<S> {
    fn suite(&mut self, suite: TestSuite) -> io::Result<()> {
        let mut alone = Report::new("");
        alone.add_test_suite(suite);
        self.whole.tests += alone.tests;
        self.whole.failures += alone.failures;
        self.whole.errors += alone.errors;
        self.whole.skipped += alone.skipped;
        let text = alone.to_string().map_err(io::Error::other)?;
        self.spool.write_all(parts(&text).1.as_bytes())
    }
}

impl<S: Read + Write + Seek> Renderer for Junit<S> {
    fn file(&mut self, file: &CheckedFile, _: &mut dyn Write) -> io::Result<()> {
        let mut suite = TestSuite::new(file.name.as_str());
        suite.add_property(("format", file.format.as_str()));
        suite.add_property(("revision", file.revision.unwrap_or("unknown")));
        // The lines of a rule stand together.
        for lines in file.lines.chunk_by(|one, next| one.rule == next.rule) {
            suite.add_test_case(case(lines, self.strict));
        }
        self.suite(suite)
    }

    fn problem(&mut self, problem: &Problem, _: &mut dyn Write) -> io::Result<()> {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(problem.message.as_str());
        let mut suite = TestSuite::new(problem.file.as_str());
        suite.add_test_case(TestCase::new("can be judged", status));
        self.suite(suite)
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let text = self.whole.to_string().map_err(io::Error::other)?;
        let (head, _, tail) = parts(&text);
        out.write_all(head.as_bytes())?;
        self.spool.rewind()?;
        io::copy(&mut self.spool, out)?;
        out.write_all(tail.as_bytes())
    }
}

/// A report's XML: its first two lines, its suites, and its end.
fn parts(text: &str) -> (&str, &str, &str) {
    let head = text.match_indices('\n').nth(1).map_or(0, |(end, _)| end + 1);
    let tail = text.rfind("</testsuites>").unwrap_or(text.len());
    (&text[..head], &text[head..tail.max(head)], &text[tail..])
}

fn case(lines: &[RuleResult], strict: bool) -> TestCase {
    let rule = lines[0].rule;
    let told: Vec<String> = lines.iter().filter(|line| line.is_finding()).map(told).collect();
    let status = match lines.iter().find(|line| line.counts(strict)) {
        Some(first) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(sentence(first)).set_type(first.verdict.name());
            status.set_description(told.join("\n") + "\n" + &help(rule, first));
            status
        }
        None if matches!(lines[0].verdict, RuleVerdict::Inconclusive | RuleVerdict::NotApplicable) => {
            let mut status = TestCaseStatus::skipped();
            status.set_type(lines[0].verdict.name()).set_message(format!(
                "{}: {}",
                lines[0].verdict.name(),
                lines[0].message
            ));
            status
        }
        None => TestCaseStatus::success(),
    };
    let counts = matches!(status, TestCaseStatus::NonSuccess { .. });
    let mut case = TestCase::new(rule, status);
    case.set_classname(lines[0].party);
    if !counts && !told.is_empty() {
        case.set_system_out(told.join("\n"));
    }
    case
}

fn told(line: &RuleResult) -> String {
    let number = line.line.map(|number| format!(":{number}")).unwrap_or_default();
    let at = format!("{}{number} {}", line.file, pointer(line));
    format!("{} {}: {}", line.verdict.name(), at.trim_end(), sentence(line))
}

fn help(rule: &str, line: &RuleResult) -> String {
    match rule_of(line) {
        Some(rule) => format!("{}. {} See: {}", rule.title, rule.fix, explain(rule.id)),
        None => explain(rule),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::Junit;
    use quick_junit::{Report, TestCaseStatus};
    use std::io::Cursor;

    fn parsed(strict: bool) -> Report {
        let text = sample::rendered(&mut Junit::new(strict, Cursor::new(Vec::new())));
        Report::deserialize_from_str(&text).unwrap()
    }

    #[test]
    fn a_case_is_a_rule_and_a_suite_a_recording() {
        let report = parsed(false);
        assert_eq!((report.tests, report.errors, report.failures, report.skipped), (7, 1, 1, 2));
        let suite = &report.test_suites[1];
        assert_eq!(suite.name.as_str(), "a, b: 100%.jsonl");
        let case = suite.test_cases.iter().find(|case| case.name.as_str() == "jsonrpc.id.null").unwrap();
        let TestCaseStatus::NonSuccess { message, description, .. } = &case.status else {
            panic!("{case:?}")
        };
        assert!(message.as_ref().unwrap().as_str().contains("the request is on line 2"));
        let description = description.as_ref().unwrap().as_str();
        for part in [".jsonl:3 /raw/id", ".jsonl:4 /raw/id", "and 12 more", "explain jsonrpc.id.null"] {
            assert!(description.contains(part), "{part} is missing in {description}");
        }
        let warned = suite.test_cases.iter().find(|case| case.name.as_str() == "rec.bodies").unwrap();
        assert!(matches!(warned.status, TestCaseStatus::Success { .. }));
        assert!(warned.system_out.as_ref().unwrap().as_str().contains("the body was left out"));
        let unsure = suite.test_cases.iter().find(|case| case.name.as_str() == "enc.utf8").unwrap();
        let TestCaseStatus::Skipped { message, .. } = &unsure.status else { panic!("{unsure:?}") };
        assert_eq!(message.as_ref().unwrap().as_str(), "inconclusive: nothing tells");
    }

    #[test]
    fn strictness_makes_a_warning_a_failure() {
        assert_eq!(parsed(true).failures, 2);
    }
}
