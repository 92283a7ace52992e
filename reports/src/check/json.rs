//! The record as an array of lines; `check.schema.json` beside this folder says what stands in one.
//!
//! Findings and rules that could not be told are always there; rules that were kept, or that nothing called for, where
//! the caller asks for every line.

use rules::RuleVerdict;
use rules::record::CheckRecord;

/// The lines as JSON, one a line of text.
///
/// # Errors
/// Where a line holds what JSON cannot.
pub fn render(record: &CheckRecord, every: bool) -> Result<String, serde_json::Error> {
    let mut out = String::from("[");
    let lines = record.files.iter().flat_map(|file| &file.lines);
    for line in lines.filter(|line| every || line.is_finding() || line.verdict == RuleVerdict::Inconclusive) {
        out.push_str(if out.len() == 1 { "\n" } else { ",\n" });
        out.push_str(&serde_json::to_string(line)?);
    }
    out.push_str(if out.len() == 1 { "]\n" } else { "\n]\n" });
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use serde_json::Value;

    #[test]
    fn every_line_is_as_the_schema_says() {
        let schema: Value = serde_json::from_str(include_str!("../../check.schema.json")).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        let record = sample::record();
        for (every, expected) in [(false, 5), (true, 7)] {
            let lines: Value = serde_json::from_str(&super::render(&record, every).unwrap()).unwrap();
            assert_eq!(lines.as_array().unwrap().len(), expected);
            schema.validate(&lines).unwrap();
        }
        let mut lines: Value = serde_json::from_str(&super::render(&record, true).unwrap()).unwrap();
        lines[0]["verdict"] = "maybe".into();
        assert!(!schema.is_valid(&lines));
        lines[0]["verdict"] = "fail".into();
        lines[0]["rulez"] = "x".into();
        assert!(!schema.is_valid(&lines));
    }

    #[test]
    fn the_members_that_were_promised_are_always_there() {
        let lines: Value = serde_json::from_str(&super::render(&sample::record(), true).unwrap()).unwrap();
        for line in lines.as_array().unwrap() {
            for name in ["rule", "verdict", "level", "party", "file", "line", "pointer", "message"] {
                assert!(line.get(name).is_some(), "{name} is missing in {line}");
            }
        }
    }

    #[test]
    fn nothing_is_an_empty_array() {
        let record = rules::record::CheckRecord::default();
        assert_eq!(super::render(&record, true).unwrap(), "[]\n");
    }
}
