//! A recording as the caller holds it, and how it is read.

use crate::error::Error;
use formats::{Format, Input, ReadError};
use std::fmt;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// A recording: its bytes, and what to call it.
#[derive(Clone, Copy)]
pub struct Recording<'a> {
    /// The name that stands in answers, such as a path.
    pub name: &'a str,
    /// Its bytes, of any capture format.
    pub bytes: &'a [u8],
    /// Asked before each MiB is read: true ends the call with the code `interrupted`.
    pub stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl<'a> Recording<'a> {
    /// A recording that is read to its end.
    #[must_use]
    pub fn new(name: &'a str, bytes: &'a [u8]) -> Self {
        Self { name, bytes, stop: None }
    }

    /// Its bytes from the beginning.
    pub(crate) fn reader(&self) -> Watched<'a> {
        Watched { bytes: Cursor::new(self.bytes), stop: self.stop }
    }

    /// Reads it in the format that was asked for, or else in the one that the content shows.
    pub(crate) fn reading<T>(
        &self,
        asked: Option<&str>,
        each: impl FnOnce(&'static Format, &mut Input<'_>) -> Result<T, ReadError>,
    ) -> Result<(&'static Format, T), Error> {
        let failed = |error| Error::reading(self.name, error);
        let mut reader = self.reader();
        let mut input = Input::new(&mut reader).map_err(failed)?;
        let format = match asked {
            Some(name) => named("format", name)?,
            None => self.recognised(&mut input)?,
        };
        Ok((format, each(format, &mut input).map_err(failed)?))
    }

    fn recognised(&self, input: &mut Input<'_>) -> Result<&'static Format, Error> {
        let found = formats::detect(input).map_err(|error| Error::reading(self.name, error))?;
        found.ok_or_else(|| {
            let (why, names) = (formats::why_undetected(input.text()), formats::names());
            let message = format!("the format cannot be detected: {why}; name it ({names})");
            Error::new(Error::UNKNOWN_FORMAT, message).of(self.name)
        })
    }
}

impl fmt::Debug for Recording<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Recording({}, {} bytes)", self.name, self.bytes.len())
    }
}

/// The format of a name that an option has.
fn named(option: &str, name: &str) -> Result<&'static Format, Error> {
    formats::named(name).map_err(|why| Error::option(option, why))
}

/// What a command prints, and what it says beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// What the command prints to the standard output.
    pub text: String,
    /// What a person should know of it, in sentences without their full stop.
    pub notes: Vec<String>,
}

/// Bytes on their way to a reader, as long as nobody asks to stop.
pub(crate) struct Watched<'a> {
    bytes: Cursor<&'a [u8]>,
    stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl Read for Watched<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.stop {
            Some(stop) if stop() => Err(io::Error::other("the caller asked to stop")),
            _ => self.bytes.read(buffer),
        }
    }
}

impl Seek for Watched<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}
