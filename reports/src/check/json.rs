//! An array of lines; `check.schema.json` beside this folder says what stands in one.
//!
//! Findings and rules that could not be told are always there; rules that were kept, or that nothing called for, where
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
    #[must_use]
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
        let told =
            |line: &&RuleResult| every || line.is_finding() || line.verdict == RuleVerdict::Inconclusive;
        file.lines.iter().filter(told).try_for_each(|line| self.line(line, out))
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(if self.begun { b"\n]\n" } else { b"[]\n" })
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::{Json, Renderer as _};
    use serde_json::Value;

    fn rendered(every: bool) -> Value {
        serde_json::from_str(&sample::rendered(&mut Json::new(every))).unwrap()
    }

    #[test]
    fn every_line_is_as_the_schema_says() {
        let schema: Value = serde_json::from_str(include_str!("../../check.schema.json")).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        for (every, expected) in [(false, 5), (true, 7)] {
            let lines = rendered(every);
            assert_eq!(lines.as_array().unwrap().len(), expected);
            schema.validate(&lines).unwrap();
        }
        let mut lines = rendered(true);
        lines[0]["verdict"] = "maybe".into();
        assert!(!schema.is_valid(&lines));
        lines[0]["verdict"] = "fail".into();
        lines[0]["rulez"] = "x".into();
        assert!(!schema.is_valid(&lines));
    }

    #[test]
    fn the_members_that_were_promised_are_always_there() {
        for line in rendered(true).as_array().unwrap() {
            for name in ["rule", "verdict", "level", "party", "file", "line", "pointer", "message"] {
                assert!(line.get(name).is_some(), "{name} is missing in {line}");
            }
        }
    }

    #[test]
    fn nothing_is_an_empty_array() {
        let mut out = Vec::new();
        Json::new(true).finish(&mut out).unwrap();
        assert_eq!(out, b"[]\n");
    }
}
