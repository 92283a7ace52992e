//! A JSON object a line for each recording, and for whatever could not be judged: for programs that cannot hold all of it.
//!
//! Every line has every member, null where it has no value. docs/check.md says what they mean. It holds nothing.

use super::Renderer;
use rules::RuleVerdict;
use rules::record::{CheckedFile, Problem, RuleResult, Totals};
use rules::rule_set::RuleSetResult;
use serde::Serialize;
use std::io::{self, Write};

/// Lines of JSON.
#[derive(Debug, Clone)]
pub struct Ndjson {
    /// The version of the program that judges.
    pub version: String,
    /// How it judges, as options of the command line: what else could change a line.
    pub options: String,
    /// Warnings count as errors do.
    pub strict: bool,
    /// Inconclusive rules are listed too.
    pub every: bool,
}

#[derive(Default, Serialize)]
struct Line<'f> {
    file: &'f str,
    digest: Option<&'f str>,
    format: Option<&'f str>,
    revision: Option<&'static str>,
    messages: Option<u64>,
    failed: bool,
    totals: Option<Totals>,
    limits: Vec<String>,
    findings: Vec<&'f RuleResult>,
    required: Option<&'f RuleSetResult>,
    problem: Option<&'f str>,
    version: &'f str,
    options: &'f str,
}

impl Ndjson {
    fn line<'f>(&'f self, file: &'f str) -> Line<'f> {
        Line { file, failed: true, version: &self.version, options: &self.options, ..Line::default() }
    }
}

impl Renderer for Ndjson {
    fn file(&mut self, file: &CheckedFile, out: &mut dyn Write) -> io::Result<()> {
        let gave_up = file.gave_up.as_ref().map(|place| {
            let at = format!("line {} {}", place.line, place.pointer);
            format!("reading stopped at {}: {}; the rest is not judged", at.trim_end(), place.message)
        });
        let listed =
            |line: &&RuleResult| line.is_finding() || self.every && line.verdict == RuleVerdict::Inconclusive;
        let line = Line {
            digest: file.digest.as_deref(),
            format: Some(&file.format),
            revision: file.revision,
            messages: Some(file.messages),
            failed: file.is_failure(self.strict),
            totals: Some(file.totals()),
            limits: file.limit.map(str::to_owned).into_iter().chain(gave_up).collect(),
            findings: file.lines.iter().filter(listed).collect(),
            required: file.required.as_ref(),
            ..self.line(&file.name)
        };
        write(&line, out)
    }

    fn problem(&mut self, problem: &Problem, out: &mut dyn Write) -> io::Result<()> {
        write(&Line { problem: Some(&problem.message), ..self.line(&problem.file) }, out)
    }
}

fn write(line: &Line<'_>, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}
