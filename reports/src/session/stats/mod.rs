//! Calls, failures and times over many recordings: by tool, by server, by version of a server, and by method.
//!
//! `stats.schema.json` beside this folder says what the JSON holds. Memory: of each table 1,000 rows; what has another name
//! shares the row `(others)`; and for each row at most 900 counters for each power of ten of milliseconds. It does not grow with
//! the number of recordings, nor with their size.

mod collect;
mod csv;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use collect::StatsRow;
pub use collect::{Collected, Stats};
pub use csv::csv;
pub use text::text;

/// The numbers as JSON, and a newline.
///
/// # Errors
/// Where memory ends.
pub fn json(stats: &Stats) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(stats)? + "\n")
}
