//! The numbers for a spreadsheet (RFC 4180): a line for each tool of each version of each server.

use super::collect::Stats;
use crate::plain::plain;
use std::fmt::Write as _;

/// The names of the columns.
const COLUMNS: &str =
    "tool,server,version,recordings,calls,failed,unanswered,p50_ms,p95_ms,max_ms,refused,cancelled\r\n";

/// Tool calls by tool, server and version. What is unknown is empty.
#[must_use]
pub fn csv(stats: &Stats) -> String {
    let mut out = COLUMNS.to_owned();
    for row in &stats.calls {
        let known = |name: &Option<Option<String>>| name.clone().flatten().unwrap_or_default();
        let tool = row.key.tool.clone().unwrap_or_default();
        for name in [tool, known(&row.key.server), known(&row.key.version)] {
            out.push_str(&field(&name));
            out.push(',');
        }
        let numbers = &row.numbers;
        let _ = write!(out, "{},{},{},{}", row.recordings, numbers.calls, numbers.failed, numbers.unanswered);
        for time in [numbers.p50_ms, numbers.p95_ms, numbers.max_ms] {
            let _ = write!(out, ",{}", time.map_or_else(String::new, |time| time.to_string()));
        }
        let _ = write!(out, ",{},{}\r\n", numbers.refused, numbers.cancelled);
    }
    out
}

/// A field in quotes where it has to be, without what a terminal or a log might obey. A spreadsheet would take a text that begins like a formula for one; such a text gets an
/// apostrophe before it.
fn field(text: &str) -> String {
    let formula = text.trim_start().starts_with(['=', '+', '-', '@']);
    let text = format!("{}{}", if formula { "'" } else { "" }, plain(text));
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn a_field_is_one_field_and_no_formula() {
        for (text, expected) in [
            ("add", "add"),
            ("a,b", "\"a,b\""),
            ("a\"b", "\"a\"\"b\""),
            ("a\nb\u{1b}[2J", "a b\\u{1b}[2J"),
            ("\t=1", "' =1"),
            ("=1+1", "'=1+1"),
            ("@x,", "\"'@x,\""),
        ] {
            assert_eq!(field(text), expected);
        }
    }
}
