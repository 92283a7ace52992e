//! An array of lines; `check.schema.json` beside this folder says what is in one.
//!
//! Findings and inconclusive rules are always there, findings first; rules that were kept, or that nothing called for, where
//! the caller asks for every line.

use super::Renderer;
use rules::RuleVerdict;
use rules::record::{CheckedFile, RuleResult};
use std::io::{self, Write};

/// The lines as JSON, one a line of text. It holds nothing.
#[derive(Debug, Clone, Copy)]
pub struct Json {
    every: bool,
    begun: bool,
}

impl Json {
    /// Nothing was written so far. Every line is written where `every` is set.
    pub fn new(every: bool) -> Self {
        Self { every, begun: false }
    }

    fn line(&mut self, line: &RuleResult, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(if std::mem::replace(&mut self.begun, true) { b",\n" } else { b"[\n" })?;
        Ok(serde_json::to_writer(out, line)?)
    }
}

/// What came of one recording, by itself.
///
/// # Errors
/// Where memory ends.
pub fn of_one(file: &CheckedFile, every: bool) -> io::Result<String> {
    let (mut json, mut out) = (Json::new(every), Vec::new());
    json.file(file, &mut out)?;
    json.finish(&mut out)?;
    String::from_utf8(out).map_err(io::Error::other)
}

impl Renderer for Json {
    fn file(&mut self, file: &CheckedFile, out: &mut dyn Write) -> io::Result<()> {
        let every = self.every;
        let (findings, others): (Vec<_>, Vec<_>) = file.lines.iter().partition(|line| line.is_finding());
        let listed = |line: &&RuleResult| every || line.verdict == RuleVerdict::Inconclusive;
        let lines = findings.into_iter().chain(others.into_iter().filter(listed));
        lines.into_iter().try_for_each(|line| self.line(line, out))
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(if self.begun { b"\n]\n" } else { b"[]\n" })
    }
}
