//! Calls, failures and times over many recordings, as a page with a bar for each number.

use super::labels::plain;
use super::renderer::{HtmlRenderer, PageLocation};
use super::tally::bar;
use crate::session::overview::text::span;
use crate::session::stats::{Stats, StatsRow};
use serde_json::{Value, json};

/// The most rows of a table that are shown; the JSON has all.
const ROWS: usize = 200;

/// How many of them are shown at once.
const OPEN: usize = 20;

impl HtmlRenderer {
    /// The page of these numbers, without others around it.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn stats(&self, stats: &Stats) -> Result<String, tera::Error> {
        let tables = [
            ("tool", "Calls by tool", &stats.tools),
            ("server", "Calls by server", &stats.servers),
            ("version", "Calls by version", &stats.versions),
            ("method", "Requests by method", &stats.methods),
        ];
        let tables = tables.into_iter().filter_map(|(of, title, rows)| table(of, title, rows));
        let page = json!({ "total": stats.total(), "tables": tables.collect::<Vec<_>>() });
        self.render("stats.html", PageLocation::default(), "Calls, failures and times", &page)
    }
}

/// A table, where it has a row. `of` is what the rows are of, for the first column and the anchor.
fn table(of: &str, title: &str, rows: &[StatsRow]) -> Option<Value> {
    let most = rows.iter().map(|row| row.numbers.calls).max()?;
    let longest = rows.iter().filter_map(|row| row.numbers.max_ms).max().unwrap_or_default();
    let shown: Vec<Value> = rows.iter().take(ROWS).map(|row| self::row(row, most, longest)).collect();
    // What a phone shows at once; the rest is folded.
    let (first, rest) = shown.split_at(shown.len().min(OPEN));
    let parts: Vec<_> = [first, rest].into_iter().filter(|part| !part.is_empty()).collect();
    Some(json!({ "of": of, "title": title, "parts": parts, "more": rows.len().saturating_sub(ROWS) }))
}

/// A row with two bars: calls that were answered well, failed and were not answered, beside the row with most calls; and the
/// time up to the median, the 95th percentile and the longest, beside the longest of all.
fn row(row: &StatsRow, most: u64, longest: u64) -> Value {
    let numbers = &row.numbers;
    let time = |time: Option<u64>| time.map_or_else(|| "-".to_owned(), span);
    let well = numbers.calls.saturating_sub(numbers.failed + numbers.unanswered);
    let [p50, p95, max] = [numbers.p50_ms, numbers.p95_ms, numbers.max_ms].map(Option::unwrap_or_default);
    let times = [("good", p50), ("known", p95.saturating_sub(p50)), ("faint", max.saturating_sub(p95))];
    json!({
        "name": plain(&row.name()),
        "recordings": row.recordings,
        "calls": numbers.calls,
        "failed": numbers.failed,
        "unanswered": numbers.unanswered,
        "counts": bars([("good", well), ("bad", numbers.failed), ("known", numbers.unanswered)], most),
        "p50": time(numbers.p50_ms),
        "p95": time(numbers.p95_ms),
        "max": time(numbers.max_ms),
        "times": bars(times, longest),
    })
}

/// Parts one behind the other, where `most` fills the width. What is there at all can be seen.
fn bars(parts: [(&'static str, u64); 3], most: u64) -> Vec<Value> {
    let mut from = 0;
    let mut bars = Vec::new();
    for (tone, count) in parts.into_iter().filter(|part| part.1 > 0 && most > 0) {
        let width = u64::try_from(u128::from(count) * 1000 / u128::from(most)).unwrap_or(1000).max(4);
        bars.push(bar(tone, from, width));
        from += width;
    }
    bars
}
