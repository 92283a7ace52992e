//! What can be read only once, kept so that it can be read again, and other temporary files.

use std::io::{self, Read, Seek, SeekFrom, Write};
use tempfile::SpooledTempFile;

/// Up to this size it waits in memory, then in a temporary file.
const IN_MEMORY: usize = 16 << 20;

/// More than this is not kept: 1 GiB. A recording without an end does not belong in a temporary folder.
const MOST: u64 = 1 << 30;

/// A reader that keeps what passes.
pub(super) struct Keeper<R> {
    reader: R,
    kept: SpooledTempFile,
    most: u64,
    passed: u64,
}

impl<R: Read> Keeper<R> {
    /// Nothing has passed so far.
    pub(super) fn new(reader: R) -> Self {
        Self { reader, kept: SpooledTempFile::new(IN_MEMORY), most: MOST, passed: 0 }
    }

    /// Everything, with what has not passed yet.
    pub(super) fn finish(mut self) -> io::Result<SpooledTempFile> {
        io::copy(&mut self, &mut io::sink())?;
        Ok(self.kept)
    }
}

impl<R: Read> Read for Keeper<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.passed += read as u64;
        if self.passed > self.most {
            return Err(io::Error::other(format!(
                "it comes through a pipe and must be read twice, and no more than {} MiB of a pipe are kept; write it to a file first",
                self.most >> 20
            )));
        }
        Aside(&mut self.kept).write_all(&buffer[..read])?;
        Ok(read)
    }
}

/// A temporary file. What is wrong with it is not wrong with what is read or written by way of it.
pub(super) struct Aside<F>(pub(super) F);

impl<F: Write> Write for Aside<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(aside_failed)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(aside_failed)
    }
}

impl<F: Read> Read for Aside<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl<F: Seek> Seek for Aside<F> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// Why there is no temporary file, or why it takes nothing.
pub(super) fn aside_failed(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("a temporary file cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{Keeper, MOST};
    use std::io::{self, Read as _, Seek as _};

    #[test]
    fn what_passed_is_kept_up_to_a_bound() {
        let mut keeper = Keeper::new(&b"abcdef"[..]);
        assert_eq!(keeper.most, MOST);
        keeper.read_exact(&mut [0; 2]).unwrap();
        let mut kept = keeper.finish().unwrap();
        kept.rewind().unwrap();
        assert_eq!(io::read_to_string(kept).unwrap(), "abcdef");
        let exact = Keeper { most: 2 << 20, ..Keeper::new(io::repeat(0).take(2 << 20)) };
        assert!(exact.finish().is_ok());
        let endless = Keeper { most: 2 << 20, ..Keeper::new(io::repeat(0)) };
        let error = endless.finish().unwrap_err().to_string();
        assert!(error.contains("no more than 2 MiB of a pipe are kept; write it to a file first"), "{error}");
    }
}
