//! A recording that is read twice: opened, and what comes through a pipe kept.

use super::context::Failure;
use super::input::{Source, format_of, open};
use super::kept::Keeper;
use formats::{Format, Input};
use reports::drawing;
use rules::{CheckOptions, CheckResult, check};
use std::fs;
use std::io::{self, Read, Seek};
use std::path::Path;

/// Bytes that can be read twice: a file, or what was kept of a pipe.
pub(super) trait Tape: Read + Seek + Send {}
impl<T: Read + Seek + Send> Tape for T {}

/// A recording with such bytes.
pub(super) type Recording = drawing::Recording<Box<dyn Tape>>;

/// Opens a recording and tells its format. What is no plain file is kept, since it is read twice; that it is a recording is
/// known before.
///
/// # Errors
/// Where it cannot be opened, or its format cannot be told.
pub(super) fn recording(path: &Path, asked: Option<&'static Format>) -> Result<Recording, Failure> {
    let Source { name, reader } = open(path)?;
    let lost = |error: io::Error| Failure::Unusable(format!("{name} cannot be read: {error}"));
    let format = |reader: &mut dyn Read| {
        let mut input = Input::new(reader).map_err(|error| Failure::of_reading(&name, error))?;
        format_of(asked, &mut input, &name)
    };
    let (format, source): (_, Box<dyn Tape>) = if path.as_os_str() != "-" && path.is_file() {
        let mut file = fs::File::open(path).map_err(lost)?;
        (format(&mut file)?, Box::new(file))
    } else {
        let mut keeper = Keeper::new(reader);
        (format(&mut keeper)?, Box::new(keeper.finish().map_err(lost)?))
    };
    Ok(Recording { name, format, source })
}

/// Judges recordings, in their order. Where the bytes of one are not text, drawing it says so.
///
/// # Errors
/// Where one cannot be read.
pub(super) fn judge(
    recordings: &mut [Recording],
    options: &CheckOptions,
) -> Result<Vec<CheckResult>, Failure> {
    let mut judged = Vec::new();
    for Recording { name, format, source } in recordings {
        let lost = |error: io::Error| Failure::of_reading(name, error.into());
        source.rewind().map_err(lost)?;
        if let Ok(mut input) = Input::new(source) {
            judged.push(check(format, &mut input, options).map_err(lost)?);
        }
    }
    Ok(judged)
}
