//! The inputs that a command line names: opened, and their capture format found.

use super::context::Failure;
use crate::recordings::Recording;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use formats::{Format, Input, Meaning, ReadError, ReadOptions, Session, meaning};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// An input that is open, with the name to call it by.
pub(crate) struct Source {
    /// The path as given, or `<stdin>`.
    pub name: String,
    /// Its bytes.
    pub reader: Box<dyn Read + Send>,
}

/// Opens `path`, or the standard input where it is `-`.
///
/// # Errors
/// A sentence that names the path and what is in the way.
pub(crate) fn open(path: &Path) -> Result<Source, Failure> {
    opened(path).map_err(Failure::Unusable)
}

/// The same, as a text.
///
/// # Errors
/// A sentence that names the path and what is in the way.
pub(crate) fn opened(path: &Path) -> Result<Source, String> {
    if path.as_os_str() == "-" {
        return Ok(Source { name: "<stdin>".to_owned(), reader: Box::new(io::stdin()) });
    }
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("there is no file {name}"),
        io::ErrorKind::PermissionDenied => format!("{name} may not be read by this user"),
        _ => format!("{name} cannot be opened: {error}"),
    })?;
    match file.metadata() {
        Ok(metadata) if metadata.is_dir() => Err(format!(
            "{name} is a directory; a transcript is one file (cases are run with `mcp-concord run --cases`)"
        )),
        Ok(_) => Ok(Source { name, reader: Box::new(file) }),
        Err(error) => Err(format!("{name} cannot be inspected: {error}")),
    }
}

/// What an option takes that names a capture format: the help lists them, and a typo is answered with what was meant.
pub(crate) fn named_format() -> impl TypedValueParser<Value = &'static Format> {
    PossibleValuesParser::new(format_values(false)).try_map(|name| formats::named(&name))
}

/// The same, of formats that are written.
pub(crate) fn written_format() -> impl TypedValueParser<Value = &'static Format> {
    PossibleValuesParser::new(format_values(true)).try_map(|name| formats::to_write(&name))
}

/// The names of formats; those that can only be refused are hidden.
pub(super) fn format_values(to_write: bool) -> impl Iterator<Item = PossibleValue> {
    let value = move |format: &&'static Format| {
        let refused = to_write && !format.is_written();
        PossibleValue::new(format.name).aliases(format.aliases).hide(refused)
    };
    let retired = formats::retired().map(|name| PossibleValue::new(name).hide(true));
    formats::FORMATS.iter().map(value).chain(retired)
}

/// That no format is named twice.
///
/// # Errors
/// A sentence that names the one that is.
pub(crate) fn distinct(formats: &[&'static Format]) -> Result<(), Failure> {
    let again = |(at, format): &(usize, &&Format)| formats[..*at].iter().any(|it| it.name == format.name);
    match formats.iter().enumerate().find(again) {
        Some((_, format)) => Err(Failure::Unusable(format!("--format {} is given twice", format.name))),
        None => Ok(()),
    }
}

/// The format of an input: the one that was asked for, or else the one that the content shows.
///
/// # Errors
/// Where the content shows none.
pub(crate) fn format_of(
    asked: Option<&'static Format>,
    input: &mut Input<'_>,
    name: &str,
) -> Result<&'static Format, Failure> {
    if let Some(format) = asked {
        return Ok(format);
    }
    let found = formats::detect(input).map_err(|error| Failure::of_reading(name, error))?;
    found.ok_or_else(|| {
        let why = formats::why_undetected(input.text());
        Failure::Unusable(format!(
            "the format of {name} cannot be detected: {why}; name it with --format ({})",
            formats::names()
        ))
    })
}

/// A file of a command line as a recording: its text as far as it is looked at, and its format. None where it was found in a
/// folder and is no recording, or none in the format that was asked for; one that was named has to be one.
///
/// # Errors
/// Where it cannot be read, or was named and its content shows no format.
pub(crate) fn recorded<'r>(
    recording: &Recording,
    reader: &'r mut dyn Read,
    asked: Option<&'static Format>,
    name: &str,
) -> Result<Option<(Input<'r>, &'static Format)>, Failure> {
    if recording.folder.is_none() {
        let mut input = Input::new(reader).map_err(|error| Failure::of_reading(name, error))?;
        let format = format_of(asked, &mut input, name)?;
        return Ok(Some((input, format)));
    }
    let found = Input::new(reader).and_then(|mut input| Ok((formats::detect(&mut input)?, input)));
    match found {
        Ok((Some(format), input)) => {
            Ok(asked.is_none_or(|asked| asked.name == format.name).then_some((input, format)))
        }
        Ok((None, _)) | Err(ReadError::Rejected(_)) => Ok(None),
        Err(error) => Err(Failure::of_reading(name, error)),
    }
}

/// Opens an input of the command line and hands it on with its name and its format: the one that was asked for, or else the
/// one that the content shows.
///
/// # Errors
/// Where it cannot be opened or its format cannot be detected, and as `each`.
pub(crate) fn reading<T>(
    path: &Path,
    asked: Option<&'static Format>,
    each: impl FnOnce(&str, &'static Format, &mut Input<'_>) -> Result<T, ReadError>,
) -> Result<(String, &'static Format, T), Failure> {
    let Source { name, mut reader } = open(path)?;
    let rejected = |error| Failure::of_reading(&name, error);
    let mut input = Input::new(&mut *reader).map_err(rejected)?;
    let format = format_of(asked, &mut input, &name)?;
    let read = each(&name, format, &mut input).map_err(rejected)?;
    Ok((name, format, read))
}

/// A transcript as a whole: its bytes, its session, and what the built-in reader reads in it.
pub(super) struct Transcript {
    /// The name to call it by.
    pub(super) name: String,
    /// Its format.
    pub(super) format: &'static Format,
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
    /// Its session.
    pub(super) session: Session,
    /// Its meaning.
    pub(super) meaning: Meaning,
}

impl Transcript {
    /// Reads an input of the command line.
    ///
    /// # Errors
    /// Where it cannot be opened or is rejected.
    pub(super) fn open(path: &Path, asked: Option<&'static Format>) -> Result<Self, Failure> {
        let Source { name, mut reader } = open(path)?;
        let mut bytes = Vec::new();
        match reader.read_to_end(&mut bytes) {
            Ok(_) => Self::of(bytes, asked, name),
            Err(error) => Err(Failure::Unusable(format!("{name} cannot be read: {error}"))),
        }
    }

    /// Reads bytes.
    ///
    /// # Errors
    /// Where they are rejected.
    pub(super) fn of(bytes: Vec<u8>, asked: Option<&'static Format>, name: String) -> Result<Self, Failure> {
        let rejected = |error| Failure::of_reading(&name, error);
        let mut slice = &bytes[..];
        let mut input = Input::new(&mut slice).map_err(rejected)?;
        let format = format_of(asked, &mut input, &name)?;
        let session = Session::read(format, &mut input, ReadOptions::default()).map_err(rejected)?;
        let meaning = meaning(format, &mut &bytes[..], ReadOptions::default()).map_err(rejected)?;
        Ok(Self { name, format, bytes, session, meaning })
    }
}
