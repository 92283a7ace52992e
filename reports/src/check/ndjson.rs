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
        let told =
            |line: &&RuleResult| line.is_finding() || self.every && line.verdict == RuleVerdict::Inconclusive;
        let line = Line {
            digest: file.digest.as_deref(),
            format: Some(&file.format),
            revision: file.revision,
            messages: Some(file.messages),
            failed: file.is_failure(self.strict),
            totals: Some(file.totals()),
            limits: file.limit.map(str::to_owned).into_iter().chain(gave_up).collect(),
            findings: file.lines.iter().filter(told).collect(),
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

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::Ndjson;
    use serde_json::{Value, json};

    fn lines(strict: bool, every: bool) -> Vec<Value> {
        let (version, options) = ("0.1.0".to_owned(), "--spec 2025-11-25".to_owned());
        let text = sample::rendered(&mut Ndjson { version, options, strict, every });
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_line_is_what_came_of_a_recording_or_why_nothing_did() {
        let lines = lines(false, false);
        let [problem, file] = &lines[..] else { panic!("{lines:#?}") };
        assert_eq!(problem["file"], "gone.jsonl");
        assert_eq!(problem["problem"], "there is no file gone.jsonl");
        assert_eq!((&problem["digest"], &problem["failed"]), (&Value::Null, &true.into()));
        assert_eq!((&file["format"], &file["messages"]), (&"mcp-replay".into(), &4.into()));
        assert_eq!(file["totals"], json!({"errors": 14, "warnings": 1, "notes": 1}));
        assert_eq!((&file["problem"], &file["failed"]), (&Value::Null, &true.into()));
        assert_eq!((&file["version"], &file["options"]), (&"0.1.0".into(), &"--spec 2025-11-25".into()));
        assert_eq!(file["findings"].as_array().unwrap().len(), 4);
        let names = |line: &Value| line.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(problem), names(file));
    }

    #[test]
    fn what_could_not_be_told_is_there_where_it_is_asked_for() {
        let findings = &lines(false, true)[1]["findings"];
        let verdicts = findings.as_array().unwrap().iter().map(|line| line["verdict"].as_str().unwrap());
        assert_eq!(verdicts.collect::<Vec<_>>(), ["fail", "fail", "warn", "info", "inconclusive"]);
    }
}
