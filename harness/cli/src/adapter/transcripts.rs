//! Transcripts as a program under test sees them: files whose names give nothing away.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{fs, io};
use tempfile::TempDir;

/// The folder of the files. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Transcripts {
    folder: TempDir,
    next: AtomicU64,
}

/// One file. It is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Transcript {
    path: PathBuf,
}

impl Transcripts {
    pub(crate) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("concord-").tempdir()?;
        fs::create_dir(folder.path().join("t"))?;
        Ok(Self { folder, next: AtomicU64::new(1) })
    }

    /// Lays out a transcript under the next number.
    pub(crate) fn lay_out(&self, bytes: &[u8]) -> io::Result<Transcript> {
        let path = self.path();
        fs::write(&path, bytes)?;
        Ok(Transcript { path })
    }

    /// The path of a file that is not there.
    pub(super) fn missing(&self) -> Transcript {
        Transcript { path: self.path() }
    }

    fn path(&self) -> PathBuf {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.folder.path().join("t").join(format!("{number:06}.dat"))
    }
}

impl Transcript {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// A text in which the file has a name that is the same in every run.
    pub(super) fn anonymized(&self, text: &str) -> String {
        text.replace(&*self.path.to_string_lossy(), "TRANSCRIPT")
    }
}

impl Drop for Transcript {
    fn drop(&mut self) {
        // What remains is removed with the folder.
        let _ = fs::remove_file(&self.path);
    }
}
