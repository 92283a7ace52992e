//! What was found as JUnit: a suite for each recording, a case for each rule.
//!
//! A rule that was broken fails where that counts for the exit code; else its case passes and says what was seen. A
//! rule that could not be told, or that nothing called for, is skipped with its reason.

use super::{Renderer, explain, pointer, rule_of, sentence};
use crate::junit::{Case, Counts, Outcome, Status, Suite, TAIL, head};
use rules::RuleVerdict;
use rules::record::{CheckedFile, Problem, RuleResult};
use std::io::{self, Read, Seek, Write};

/// The report as XML. Its first line counts what is in all of it, so the suites wait in `spool` until the end: a file,
/// where they are many.
#[derive(Debug)]
pub struct Junit<S> {
    strict: bool,
    spool: S,
    counts: Counts,
}

impl<S> Junit<S> {
    /// Nothing was written so far, to `spool` neither.
    pub fn new(strict: bool, spool: S) -> Self {
        Self { strict, spool, counts: Counts::default() }
    }
}

impl<S: Write> Junit<S> {
    fn suite(&mut self, suite: &Suite) -> io::Result<()> {
        let mut text = String::new();
        self.counts += suite.spell(&mut text);
        self.spool.write_all(text.as_bytes())
    }
}

impl<S: Read + Write + Seek> Renderer for Junit<S> {
    fn file(&mut self, file: &CheckedFile, _: &mut dyn Write) -> io::Result<()> {
        let revision = file.revision.unwrap_or("unknown").to_owned();
        // The lines of a rule stand together.
        let rules = file.lines.chunk_by(|one, next| one.rule == next.rule);
        self.suite(&Suite {
            name: file.name.clone(),
            properties: vec![("format", file.format.clone()), ("revision", revision)],
            cases: rules.map(|lines| case(lines, self.strict)).collect(),
        })
    }

    fn problem(&mut self, problem: &Problem, _: &mut dyn Write) -> io::Result<()> {
        let message = problem.message.clone();
        let status = Status { outcome: Outcome::Error, message, verdict: None, description: None };
        let case = Case { name: "can be judged".to_owned(), status: Some(status), ..Case::default() };
        self.suite(&Suite { name: problem.file.clone(), cases: vec![case], ..Suite::default() })
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(head("mcp-concord check", self.counts).as_bytes())?;
        self.spool.rewind()?;
        io::copy(&mut self.spool, out)?;
        out.write_all(TAIL.as_bytes())
    }
}

fn case(lines: &[RuleResult], strict: bool) -> Case {
    let first = &lines[0];
    let findings: Vec<String> = lines.iter().filter(|line| line.is_finding()).map(finding).collect();
    let findings = findings.join("\n");
    let failure = lines.iter().find(|line| line.counts(strict)).map(|line| Status {
        outcome: Outcome::Failure,
        message: sentence(line),
        verdict: Some(line.verdict.name()),
        description: Some(format!("{findings}\n{}", help(line))),
    });
    let unsure = matches!(first.verdict, RuleVerdict::Inconclusive | RuleVerdict::NotApplicable);
    let skipped = unsure.then(|| Status {
        outcome: Outcome::Skipped,
        message: format!("{}: {}", first.verdict.name(), first.message),
        verdict: Some(first.verdict.name()),
        description: None,
    });
    Case {
        name: first.rule.to_owned(),
        class: Some(first.party.to_owned()),
        output: (failure.is_none() && !findings.is_empty()).then_some(findings),
        status: failure.or(skipped),
        ..Case::default()
    }
}

fn finding(line: &RuleResult) -> String {
    let number = line.line.map(|number| format!(":{number}")).unwrap_or_default();
    let at = format!("{}{number} {}", line.file, pointer(line));
    format!("{} {}: {}", line.verdict.name(), at.trim_end(), sentence(line))
}

fn help(line: &RuleResult) -> String {
    match rule_of(line) {
        Some(rule) => format!("{}. {} See: {}", rule.title, rule.fix, explain(rule.id)),
        None => explain(line.rule),
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::Junit;
    use roxmltree::{Document, Node};
    use std::io::Cursor;

    fn rendered(strict: bool) -> String {
        sample::rendered(&mut Junit::new(strict, Cursor::new(Vec::new())))
    }

    #[test]
    fn a_case_is_a_rule_and_a_suite_a_recording() {
        let text = rendered(false);
        let head =
            "<testsuites name=\"mcp-concord check\" tests=\"7\" skipped=\"2\" failures=\"1\" errors=\"1\">";
        assert!(text.contains(head), "{text}");
        let document = Document::parse(&text).unwrap();
        let suite = document.root_element().children().filter(Node::is_element).nth(1).unwrap();
        assert_eq!(suite.attribute("name"), Some("a, b: 100%.jsonl"));
        let child = |rule: &str| {
            let case = suite.children().find(|case| case.attribute("name") == Some(rule)).unwrap();
            case.children().find(Node::is_element).unwrap()
        };
        let failure = child("jsonrpc.id.null");
        assert!(failure.attribute("message").unwrap().contains("the request is on line 2"));
        for part in [".jsonl:3 /raw/id", ".jsonl:4 /raw/id", "and 12 more", "explain jsonrpc.id.null"] {
            assert!(failure.text().unwrap().contains(part), "{part} is missing in {text}");
        }
        let warned = child("rec.bodies");
        assert!(
            warned.has_tag_name("system-out") && warned.text().unwrap().contains("the body was left out")
        );
        let unsure = child("enc.utf8");
        assert_eq!(unsure.attribute("message"), Some("inconclusive: nothing tells"));
    }

    #[test]
    fn strictness_makes_a_warning_a_failure() {
        assert!(rendered(true).contains("failures=\"2\""));
    }
}
