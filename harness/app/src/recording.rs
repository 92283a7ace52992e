//! A recording as a caller holds it, and how it is read.

use crate::decoded::Decoded;
use crate::error::{Cause, Error, Stopped};
use formats::{Format, Input, ReadError};
use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// Bytes that can be read, and read again by the commands that say so.
pub trait Source: Read + Seek + Send {}
impl<T: Read + Seek + Send> Source for T {}

/// A recording: what to call it, and its bytes, in any capture format.
pub struct Recording<'a> {
    /// The name that stands in answers, such as a path.
    pub name: String,
    /// Its bytes.
    pub source: Box<dyn Source + 'a>,
    /// It was found, in a folder, and nobody said that it is a recording.
    pub found: bool,
    /// It is not decoded, as the reading contract has it, also where it is gzip or UTF-16.
    pub exact: bool,
}

impl<'a> Recording<'a> {
    /// A recording in memory.
    pub fn new(name: &str, bytes: &'a [u8]) -> Self {
        Self { name: name.to_owned(), source: Box::new(Cursor::new(bytes)), found: false, exact: false }
    }

    /// The same, which asks before each MiB whether to stop: that ends the call with the code `interrupted`.
    pub fn stoppable(name: &str, bytes: &'a [u8], stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Self { source: Box::new(Stoppable { bytes: Cursor::new(bytes), stop }), ..Self::new(name, &[]) }
    }

    /// A recording that is read once, from its beginning to its end.
    pub fn once(name: &str, reader: impl Read + Send + 'a) -> Self {
        Self { source: Box::new(Once(reader)), ..Self::new(name, &[]) }
    }

    /// Reads it in the format that was asked for, or else in the one that the content shows.
    ///
    /// # Errors
    /// Where it cannot be read, shows no format or is rejected; and as `each`.
    pub fn reading<T>(
        &mut self,
        asked: Option<&'static Format>,
        each: impl FnOnce(&'static Format, &mut Input<'_>) -> Result<T, ReadError>,
    ) -> Result<(&'static Format, T), Error> {
        let (name, found) = (&self.name, self.found);
        let failed = |error| Error::reading(name, error);
        let mut decoded = match self.exact {
            true => Decoded::exact(&mut self.source),
            false => Decoded::new(name, &mut self.source, |_| {}),
        };
        let answer = Self::read_in(name, found, &mut decoded, asked, each);
        if answer
            .as_ref()
            .is_err_and(|error| matches!(error.cause, Cause::Rejected(_) | Cause::UnknownFormat(_)))
        {
            decoded.prove().map_err(|error| failed(error.into()))?;
        }
        answer
    }

    fn read_in<T>(
        name: &str,
        found: bool,
        decoded: &mut Decoded<'_>,
        asked: Option<&'static Format>,
        each: impl FnOnce(&'static Format, &mut Input<'_>) -> Result<T, ReadError>,
    ) -> Result<(&'static Format, T), Error> {
        let failed = |error| Error::reading(name, error);
        let opened = Input::new(decoded).and_then(|mut input| match asked.filter(|_| !found) {
            Some(format) => {
                input.named();
                Ok((Some(format), input))
            }
            None => Ok((formats::detect(&mut input)?, input)),
        });
        let (format, mut input) = match opened {
            Ok((Some(format), input)) if !found || asked.is_none_or(|asked| asked.name == format.name) => {
                (format, input)
            }
            Ok(_) | Err(ReadError::Rejected(_)) if found => {
                return Err(Error::from(Cause::NoRecording).about(name));
            }
            Ok((_, input)) => {
                let cause = match formats::foreign(input.text()) {
                    Some(what) => Cause::Foreign(what),
                    None => Cause::UnknownFormat(formats::why_undetected(input.text())),
                };
                return Err(Error::from(cause).about(name));
            }
            Err(error) => return Err(failed(error)),
        };
        Ok((format, each(format, &mut input).map_err(failed)?))
    }
}

/// The format of this name, where one is given.
///
/// # Errors
/// Where there is no such format: `option` names the option that asked for it.
pub(crate) fn format(option: &str, name: Option<&str>) -> Result<Option<&'static Format>, Error> {
    name.map(|name| formats::named(name).map_err(|why| Error::option(option, why))).transpose()
}

/// Bytes on their way to a reader, as long as nobody asks to stop.
struct Stoppable<'a> {
    bytes: Cursor<&'a [u8]>,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if (self.stop)() { Err(io::Error::other(Stopped)) } else { self.bytes.read(buffer) }
    }
}

impl Seek for Stoppable<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// What can be read only once.
struct Once<R>(R);

impl<R: Read> Read for Once<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<R> Seek for Once<R> {
    fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
