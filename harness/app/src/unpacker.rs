//! Gzip as the text that was packed.

use flate2::bufread::GzDecoder;
use formats::unpacking::most_of;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read};

/// A reader, and how many bytes it gave.
struct Counted<R>(R, u64);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        self.1 += read as u64;
        Ok(read)
    }
}

/// Unpacks gzip. Memory: a block of it.
pub(crate) struct Unpacker<R> {
    unpacker: Option<GzDecoder<BufReader<Counted<R>>>>,
    /// How many bytes came of it.
    unpacked: u64,
    /// What it is, in errors.
    what: &'static str,
    name: String,
    /// Why no more came of it, for each who asks.
    failure: Option<String>,
}

impl<R: Read> Unpacker<R> {
    /// What is packed in the file of this name; `what` it is, in errors.
    pub(crate) fn new(packed: R, what: &'static str, name: &str) -> Self {
        let unpacker = Some(GzDecoder::new(BufReader::new(Counted(packed, 0))));
        Self { unpacker, unpacked: 0, what, name: name.to_owned(), failure: None }
    }

    /// Unpacks; several that follow on each other are one text. None where something else follows.
    fn unpack(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        while let Some(unpacker) = &mut self.unpacker {
            let read = unpacker.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(Some(read));
            }
            match unpacker.get_mut().fill_buf()? {
                [] => break,
                [0x1f, ..] => {}
                _ => return Ok(None),
            }
            self.unpacker = self.unpacker.take().map(|whole| GzDecoder::new(whole.into_inner()));
        }
        Ok(Some(0))
    }

    /// Remembers why no more comes of it; what came so far may be good.
    fn fail(&mut self, how: &str, is_good: bool) -> io::Error {
        let keeps = match self.what {
            "gzip data" if is_good => format!("; `gzip -dc {} > NEW` keeps what is whole", self.name),
            _ => String::new(),
        };
        io::Error::other(&**self.failure.insert(format!("the {} {how}{keeps}", self.what)))
    }
}

impl<R: Read> Read for Unpacker<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(why) = &self.failure {
            return Err(io::Error::other(&**why));
        }
        let read = match self.unpack(buffer) {
            Ok(Some(read)) => read,
            Ok(None) => return Err(self.fail("has other bytes after it", true)),
            Err(error) => {
                return Err(match error.kind() {
                    ErrorKind::UnexpectedEof => self.fail("is cut off", true),
                    ErrorKind::InvalidData | ErrorKind::InvalidInput => self.fail("is damaged", false),
                    _ => error,
                });
            }
        };
        self.unpacked += read as u64;
        let packed = self.unpacker.as_ref().map_or(0, |unpacker| unpacker.get_ref().get_ref().1);
        let most = most_of(packed);
        if self.unpacked > most {
            let (what, most) = (self.what, most >> 20);
            return Err(io::Error::other(format!("the {what} holds more than {most} MiB; unpack it first")));
        }
        Ok(read)
    }
}
