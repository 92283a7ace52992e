//! The numbers for programs; `stats.schema.json` beside this folder says what each member holds.

use super::collect::Stats;

/// The numbers as JSON, and a newline.
///
/// # Errors
/// Where memory ends.
pub fn json(stats: &Stats) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(stats)? + "\n")
}
