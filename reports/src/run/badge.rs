//! The record as a badge: what the endpoint badges of shields.io read.

use crate::plain::plain;
use serde_json::json;
use verdict::record::Record;
use verdict::verdict::Verdict;

/// The badge's JSON: how many readings, or dimensions of a recorder, came out well of those that were judged.
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
