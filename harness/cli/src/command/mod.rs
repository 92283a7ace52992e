//! The verbs of the program, one a file.

mod baseline;
pub(crate) mod check;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod drive;
pub(crate) mod explain;
pub(crate) mod fuzz;
pub(crate) mod generate;
pub(crate) mod identify;
mod listen;
mod mutation;
pub(crate) mod new;
mod outcome;
pub(crate) mod play;
pub(crate) mod read;
pub(crate) mod record;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod show;
mod site;
mod under_test;

use crate::source::Source;
use crate::terminal::Voice;
use formats::{Format, Input, ReadError};
use std::io;
use std::path::Path;
use transcript::rejection::Rejection;

/// Why a command ended without a verdict of its own.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The call or its input cannot be used: a sentence.
    Unusable(String),
    /// The implementation under test cannot be run: a sentence.
    NotRun(String),
    /// A transcript was rejected: its name, and why.
    Rejected(String, Box<Rejection>),
    /// Whoever read the output has gone away. Nobody is left to be told.
    Gone,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Gone,
            _ => Self::Unusable(format!("the output cannot be written: {error}")),
        }
    }
}

impl Failure {
    /// What ended the reading of `name`.
    #[must_use]
    pub(crate) fn of_reading(name: &str, error: ReadError) -> Self {
        match error {
            ReadError::Io(error) => Self::Unusable(format!("{name} cannot be read: {error}")),
            ReadError::Rejected(rejection) => Self::Rejected(name.to_owned(), rejection),
            ReadError::Stopped => Self::Gone,
        }
    }
}

/// What every command gets besides its own flags.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Around {
    /// Where to talk.
    pub voice: Voice,
}

/// The format that `name` asks for.
///
/// # Errors
/// A sentence that lists the formats.
pub(crate) fn named_format(name: &str) -> Result<&'static Format, String> {
    formats::find(name).ok_or_else(|| {
        let known: Vec<_> = formats::FORMATS.iter().map(|format| format.name).collect();
        format!("there is no format `{name}`; there are {}", known.join(", "))
    })
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
        let known: Vec<_> = formats::FORMATS.iter().map(|format| format.name).collect();
        let empty = if input.text().trim().is_empty() {
            "it is empty"
        } else {
            "its beginning looks like none of them"
        };
        Failure::Unusable(format!(
            "the format of {name} cannot be told from its content: {empty}; name it with --format ({})",
            known.join(", ")
        ))
    })
}

/// Opens an input of the command line and hands it on with its name and its format: the one that was asked for, or else the
/// one that the content shows.
///
/// # Errors
/// Where it cannot be opened or told, and as `each`.
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

/// Opens an input of the command line.
///
/// # Errors
/// Where it cannot be opened.
pub(crate) fn open(path: &Path) -> Result<Source, Failure> {
    crate::source::open(path).map_err(Failure::Unusable)
}
