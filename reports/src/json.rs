//! The record as `results.json`.

use judge::record::Record;

/// The record as indented JSON with a newline at its end. Values of a difference keep their spelling.
///
/// # Errors
/// Where the record holds what JSON cannot.
pub fn render(record: &Record) -> Result<String, serde_json::Error> {
    serde_json::to_string_pretty(record).map(|text| text + "\n")
}
