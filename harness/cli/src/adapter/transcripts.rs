//! Transcripts as a program under test sees them: files whose names give nothing away.
//!
//! The program runs with the rights of its user, and may put what it likes into the folder. So each file is made anew, under
//! a name that nobody can foresee: no link leads it elsewhere, and no pipe keeps it waiting.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir, TempPath};

/// The folder of the files. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Transcripts {
    folder: TempDir,
}

/// One file. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Transcript(TempPath);

impl Transcripts {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { folder: Builder::new().prefix("concord-").tempdir()? })
    }

    /// Lays out a transcript under a name of its own.
    pub(crate) fn lay_out(&self, bytes: &[u8]) -> io::Result<Transcript> {
        let mut file = Builder::new().prefix("").rand_bytes(16).suffix(".dat").tempfile_in(&self.folder)?;
        file.write_all(bytes)?;
        Ok(Transcript(file.into_temp_path()))
    }

    /// The path of a file that is not there.
    pub(super) fn missing(&self) -> io::Result<PathBuf> {
        let file = self.lay_out(b"")?;
        let path = file.path().to_owned();
        file.0.close()?;
        Ok(path)
    }
}

impl Transcript {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// A text in which the file has a name that is the same in every run.
    pub(super) fn anonymized(&self, text: &str) -> String {
        anonymized(&self.0, text)
    }
}

/// A text in which the file at `path` has a name that is the same in every run.
pub(super) fn anonymized(path: &Path, text: &str) -> String {
    text.replace(&*path.to_string_lossy(), "TRANSCRIPT")
}
