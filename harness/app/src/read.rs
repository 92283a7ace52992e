//! What a recording means, and which transport it shows: `read` and `identify`.

use crate::error::Error;
use crate::recording::{Answer, Recording};
use formats::{MeaningWriter, Step, Tolerance, walk};
use serde::Deserialize;
use transcript::dialect;
use transcript::session::Content;

/// How a recording is read.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ReadOptions {
    /// The capture format; none where the content shows it.
    pub format: Option<String>,
    /// Only tool calls and their outcomes.
    pub calls: bool,
    /// The dialect of the reading contract.
    pub dialect: String,
    /// What is no message where one belongs is passed over, with a note.
    pub lenient: bool,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self { format: None, calls: false, dialect: dialect::DEFAULT.to_owned(), lenient: false }
    }
}

/// The meaning of a recording, as `mcp-concord read` prints it. Memory: the meaning.
///
/// # Errors
/// Where the recording is rejected or an option names nothing.
pub fn read(recording: &Recording<'_>, options: &ReadOptions) -> Result<Answer, Error> {
    let dialect = dialect::find(&options.dialect).map_err(|why| Error::option("dialect", why))?;
    let tolerance = if options.lenient { Tolerance::Noise } else { Tolerance::Nothing };
    let how = formats::ReadOptions { tolerance, ..formats::ReadOptions::of(dialect) };
    let mut writer = if options.calls { MeaningWriter::of_calls() } else { MeaningWriter::new() };
    let mut notes = Vec::new();
    let (_, totals) = recording.reading(options.format.as_deref(), |format, input| {
        walk(format, input, how, &mut |step| {
            match step {
                Step::Event(_, event) => writer.event(event),
                Step::Context(entry) => {
                    if let Content::Noise(noise) = &entry.content {
                        let line = entry.location.line;
                        notes.push(format!("{}:{line}: passed over: {}", recording.name, noise.why.message));
                    }
                }
            }
            Ok(())
        })
    })?;
    writer.end(totals.authorization_discovery);
    notes.extend(totals.notes().into_iter().map(|note| format!("{}: {note}", recording.name)));
    let text =
        String::from_utf8(writer.take()).map_err(|error| Error::new(Error::FAILED, error.to_string()))?;
    Ok(Answer { text, notes })
}

/// How a recording is identified.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct IdentifyOptions {
    /// The capture format; none where the content shows it.
    pub format: Option<String>,
}

/// Which transport and revision a recording shows, as `mcp-concord identify --output json` prints it.
///
/// # Errors
/// Where the recording is rejected or the option names nothing.
pub fn identify(recording: &Recording<'_>, options: &IdentifyOptions) -> Result<Answer, Error> {
    let (format, found) = recording.reading(options.format.as_deref(), formats::identify::identify)?;
    let notes = found.note().map(|note| format!("{}: {note}", recording.name)).into_iter().collect();
    Ok(Answer { text: found.to_json(format), notes })
}
