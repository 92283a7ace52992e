//! The record as a badge: what the endpoint badges of shields.io read.

use crate::plain::plain;
use serde_json::json;
use verdict::record::Record;
use verdict::verdict::Verdict;

/// The badge's JSON: how many readings, or aspects of a recorder, came out well of those that were judged.
#[must_use]
pub fn render(record: &Record) -> String {
    let of = |verdict| record.totals.get(&verdict).copied().unwrap_or_default();
    let judged = record.planned - of(Verdict::Skip);
    let (trial, _) = record.counts();
    let (message, colour) = match (record.is_failure(), judged) {
        (_, 0) => ("nothing judged".to_owned(), "lightgrey"),
        (true, _) => (format!("{} of {judged} {trial}s", of(Verdict::Pass)), "red"),
        (false, _) if record.interrupted > 0 => (format!("interrupted after {judged} {trial}s"), "lightgrey"),
        (false, _) if of(Verdict::ExpectedFail) > 0 => {
            (format!("{} of {judged} {trial}s, the rest known", of(Verdict::Pass)), "yellow")
        }
        (false, _) => (format!("{judged} {trial}s"), "brightgreen"),
    };
    let dialect = record.implementation.dialect.as_ref().map(|name| format!(" ({})", plain(name)));
    let label = format!("mcp-concord{}", dialect.unwrap_or_default());
    let badge = json!({ "schemaVersion": 1, "label": label, "message": message, "color": colour });
    format!("{badge:#}\n")
}

#[cfg(test)]
mod tests {
    use crate::run::test_record::record;
    use serde_json::{Value, json};
    use verdict::record::Record;
    use verdict::verdict::Verdict;

    /// What the endpoint badge of shields.io takes: these members alone, of these types.
    const ENDPOINT: &str = r#"{
        "type": "object",
        "required": ["schemaVersion", "label", "message"],
        "additionalProperties": false,
        "properties": {
            "schemaVersion": { "const": 1 },
            "label": { "type": "string" },
            "message": { "type": "string", "minLength": 1 },
            "color": { "enum": ["brightgreen", "yellow", "red", "lightgrey"] }
        }
    }"#;

    /// Here for all the reports of a run.
    #[test]
    fn a_dialect_is_named_where_it_is_not_the_contract_itself() {
        let mut record = record(&[Verdict::Pass]);
        let reports = |record: &Record| {
            let [markdown, junit] = [crate::run::markdown::render(record), crate::run::junit::render(record)];
            [super::render(record), markdown, junit, crate::run::json::render(record).unwrap()]
        };
        assert!(reports(&record).iter().all(|report| !report.contains("dialect")));
        record.implementation = record.implementation.in_dialect("typed-ids");
        for report in reports(&record) {
            assert!(report.contains("typed-ids"), "{report}");
        }
    }

    #[test]
    fn it_is_what_an_endpoint_badge_reads() {
        let schema: Value = serde_json::from_str(ENDPOINT).unwrap();
        let schema = jsonschema::validator_for(&schema).unwrap();
        for verdict in Verdict::ALL {
            for verdicts in [vec![verdict], vec![verdict, Verdict::Pass], Vec::new()] {
                let badge: Value = serde_json::from_str(&super::render(&record(&verdicts))).unwrap();
                schema.validate(&badge).unwrap();
                let red = badge["color"] == "red";
                assert_eq!(red, verdicts.iter().any(|verdict| verdict.is_failure()), "{verdicts:?}");
            }
        }
    }

    #[test]
    fn it_counts_and_never_flatters() {
        let badge = |verdicts: &[Verdict]| -> Value {
            serde_json::from_str(&super::render(&record(verdicts))).unwrap()
        };
        let all = badge(&[Verdict::Pass, Verdict::Pass, Verdict::Skip]);
        let expected = json!({"schemaVersion": 1, "label": "mcp-concord", "message": "2 results", "color": "brightgreen"});
        assert_eq!(all, expected);
        assert_eq!(badge(&[Verdict::Pass, Verdict::Crash])["message"], "1 of 2 results");
        assert_eq!(badge(&[Verdict::Pass, Verdict::Crash])["color"], "red");
        assert_eq!(badge(&[Verdict::Pass, Verdict::ExpectedFail])["color"], "yellow");
        assert_eq!(badge(&[Verdict::Skip])["message"], "nothing judged");
    }
}
