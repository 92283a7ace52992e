//! What is in recordings, at a glance: `summary`.

use crate::error::Error;
use crate::recording::{Answer, Recording};
use reports::overview::{Collector, Overview, json};
use rules::{CheckOptions, check_beside};
use serde::Deserialize;

/// How recordings are summed up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct SummaryOptions {
    /// The capture format of all of them; none where the content shows it.
    pub format: Option<String>,
}

/// An overview of each recording, as `mcp-concord summary --output json` prints them.
///
/// # Errors
/// Where a recording is no text or shows no format. One that `read` rejects has an overview that says so.
pub fn summary(recordings: &[Recording<'_>], options: &SummaryOptions) -> Result<Answer, Error> {
    let mut overviews = Vec::with_capacity(recordings.len());
    for recording in recordings {
        let (_, seen) = recording.reading(options.format.as_deref(), |format, input| {
            let mut seen = Collector::new(format);
            let judged =
                check_beside(format, input, &CheckOptions::default(), &mut |entry| seen.take(entry))?;
            Ok(Overview::new(recording.name, format, seen, &judged))
        })?;
        overviews.push(seen);
    }
    let text = json(&overviews).map_err(|error| Error::new(Error::FAILED, error.to_string()))?;
    Ok(Answer { text, notes: Vec::new() })
}
