//! A session in another format: `convert`.

use crate::error::Error;
use crate::recording::Recording;
use formats::{Conversion, ReadOptions, Session, salvage};
use reports::target::Target;
use serde::Deserialize;
use std::io::Read as _;

/// How a recording is converted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ConvertOptions {
    /// The format to write, or `otlp-json` for spans of OpenTelemetry.
    pub to: String,
    /// The format to read; none where the content shows it.
    pub format: Option<String>,
    /// Writes even if the meaning changes, with a note.
    pub lossy: bool,
    /// Takes what is whole of a recording that was cut off.
    pub salvage: bool,
}

/// A recording in another format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// What a person should know of it, such as what was left out.
    pub notes: Vec<String>,
}

/// Writes a session in another format, as `mcp-concord convert` does. Memory: the session, and what is written of it.
///
/// # Errors
/// Where the recording is rejected, an option names nothing, or the other format cannot carry the session.
pub fn convert(recording: &Recording<'_>, options: &ConvertOptions) -> Result<Converted, Error> {
    let to = Target::named(&options.to).map_err(|why| Error::option("to", why))?;
    let mut notes = Vec::new();
    let saved = if options.salvage { Some(salvaged(recording, options, &mut notes)?) } else { None };
    let whole = match &saved {
        Some(bytes) => Recording { bytes, ..*recording },
        None => *recording,
    };
    let (from, session) = whole.reading(options.format.as_deref(), |format, input| {
        Session::read(format, input, ReadOptions::default())
    })?;
    let Conversion { refused, notes: told } = to.conversion(&session, from);
    if !options.lossy && !refused.is_empty() {
        return Err(Error::new(Error::CANNOT_CARRY, refused.join("; ")).of(recording.name));
    }
    notes.extend(refused.into_iter().chain(told));
    let mut bytes = Vec::new();
    to.write(&session, &mut bytes).map_err(|error| Error::new(Error::FAILED, error.to_string()))?;
    Ok(Converted { bytes, notes })
}

/// What is whole of a recording that was cut off.
fn salvaged(
    recording: &Recording<'_>,
    options: &ConvertOptions,
    notes: &mut Vec<String>,
) -> Result<Vec<u8>, Error> {
    // A cut that parts a character leaves half of it, which is no text to look for a format in.
    let text = recording.bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let (format, ()) = Recording { bytes: text.as_bytes(), ..*recording }
        .reading(options.format.as_deref(), |_, _| Ok(()))?;
    let mut bytes = Vec::new();
    recording
        .reader()
        .read_to_end(&mut bytes)
        .map_err(|error| Error::reading(recording.name, error.into()))?;
    let saved = salvage(format, &bytes).ok_or_else(|| {
        Error::new(Error::NOTHING_WHOLE, "nothing is whole: it ends before its first item could begin")
            .of(recording.name)
    })?;
    notes.push(saved.told(recording.name, format));
    Ok(saved.bytes)
}
