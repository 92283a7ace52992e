//! What was found as JUnit: a suite for each recording, a case for each rule.
//!
//! A rule that was broken fails where that counts for the exit code; else its case passes and says what was seen. These come
//! first. A rule that is inconclusive, or that nothing called for, is skipped with its reason where every rule is asked for, and
//! else left out.

use super::{Renderer, explain, pointer, rule_of, sentence, unread};
use crate::junit::{JunitCase, JunitCounts, JunitOutcome, JunitStatus, JunitSuite, TAIL, head};
use rules::RuleVerdict;
use rules::record::{CheckedFile, Problem, RuleResult};
use std::io::{self, Read, Seek, Write};

/// The report as XML. Its first line counts what is in all of it, so the suites wait in `spool` until the end: a file,
/// where they are many.
#[derive(Debug)]
pub struct Junit<S> {
    strict: bool,
    every: bool,
    spool: S,
    counts: JunitCounts,
}

impl<S> Junit<S> {
    /// Nothing was written so far, to `spool` neither.
    pub fn new(strict: bool, every: bool, spool: S) -> Self {
        Self { strict, every, spool, counts: JunitCounts::default() }
    }
}

impl<S: Write> Junit<S> {
    fn suite(&mut self, suite: &JunitSuite) -> io::Result<()> {
        let mut text = String::new();
        self.counts += suite.spell(&mut text);
        self.spool.write_all(text.as_bytes())
    }
}

impl<S: Read + Write + Seek> Renderer for Junit<S> {
    fn file(&mut self, file: &CheckedFile, _: &mut dyn Write) -> io::Result<()> {
        let revision = file.revision.unwrap_or("unknown").to_owned();
        // The lines of a rule are together.
        let rules = file.lines.chunk_by(|one, next| one.rule == next.rule);
        let mut cases: Vec<JunitCase> = rules.map(|lines| case(lines, self.strict)).collect();
        let is_skipped =
            |case: &JunitCase| matches!(&case.status, Some(it) if it.outcome == JunitOutcome::Skipped);
        cases.retain(|case| self.every || !is_skipped(case));
        cases.extend(unread(file).map(unjudged));
        cases.sort_by_key(|case| (is_skipped(case), case.status.is_none(), case.output.is_none()));
        self.suite(&JunitSuite {
            name: file.name.clone(),
            properties: vec![("format", file.format.clone()), ("revision", revision)],
            cases,
        })
    }

    fn problem(&mut self, problem: &Problem, _: &mut dyn Write) -> io::Result<()> {
        let case = unjudged(problem.message.clone());
        self.suite(&JunitSuite { name: problem.file.clone(), cases: vec![case], ..JunitSuite::default() })
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(head("mcp-concord check", self.counts).as_bytes())?;
        self.spool.rewind()?;
        io::copy(&mut self.spool, out)?;
        out.write_all(TAIL.as_bytes())
    }
}

fn unjudged(message: String) -> JunitCase {
    let status = JunitStatus { outcome: JunitOutcome::Error, message, verdict: None, description: None };
    JunitCase { name: "can be judged".to_owned(), status: Some(status), ..JunitCase::default() }
}

fn case(lines: &[RuleResult], strict: bool) -> JunitCase {
    let first = &lines[0];
    let findings: Vec<String> = lines.iter().filter(|line| line.is_finding()).map(finding).collect();
    let findings = findings.join("\n");
    let failure = lines.iter().find(|line| line.counts(strict)).map(|line| JunitStatus {
        outcome: JunitOutcome::Failure,
        message: sentence(line, ""),
        verdict: Some(line.verdict.name()),
        description: Some(format!("{findings}\n{}", help(line))),
    });
    let unsure = matches!(first.verdict, RuleVerdict::Inconclusive | RuleVerdict::NotApplicable);
    let skipped = unsure.then(|| JunitStatus {
        outcome: JunitOutcome::Skipped,
        message: format!("{}: {}", first.verdict.name(), first.message),
        verdict: Some(first.verdict.name()),
        description: None,
    });
    JunitCase {
        name: first.rule.to_owned(),
        class: Some(first.party.to_owned()),
        output: (failure.is_none() && !findings.is_empty()).then_some(findings),
        status: failure.or(skipped),
        ..JunitCase::default()
    }
}

fn finding(line: &RuleResult) -> String {
    let number =
        line.line.filter(|number| *number > 0).map(|number| format!(":{number}")).unwrap_or_default();
    let at = format!("{}{number} {}", line.file, pointer(line));
    format!("{} {}: {}", line.verdict.name(), at.trim_end(), sentence(line, ""))
}

fn help(line: &RuleResult) -> String {
    match rule_of(line) {
        Some(rule) => format!("{}. {} See: {}", rule.title, rule.fix, explain(rule.id)),
        None => explain(line.rule),
    }
}
