//! One recording judged: opened, recognised, and held against the rules. This is what the threads do. Ctrl-C ends its
//! bytes on their way to the reader, and their digest is computed.

use super::earlier::Earlier;
use crate::command::carrier::sentence;
use crate::command::context::{Failure, no_recording};
use crate::command::input::{Source, opened};
use crate::command::values::spelled;
use crate::recordings::{Found, Recording};
use crate::terminal::{Terminal, Verbosity};
use app::{Cause, CheckedFile};
use hmac_sha256::Hash as Sha256;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use wire::interrupt;

pub(super) struct Judge {
    /// By the library.
    pub judge: app::Judge,
    /// Where it is said that a recording is UTF-16.
    pub terminal: Terminal,
    /// Whether the digests of recordings are wanted.
    pub digests: bool,
    /// What was judged before, and is skipped.
    pub earlier: Option<Earlier>,
}

/// What came of something that was found.
pub(super) enum Done {
    /// It was judged, and maybe found in a folder. Boxed, since results wait for each other.
    Judged(Box<CheckedFile>, bool),
    /// It was read, and it is a session of another revision than the frozen set is of: its name, and that in a sentence; and
    /// whether it was found in a folder.
    OtherRevision(String, String, bool),
    /// It was found in a folder, and is not a recording: its name.
    NoRecording(String),
    /// It was judged before: whether it counts as a fault for the exit code, and whether it was found in a folder.
    Skipped(bool, bool),
    /// It cannot be judged: its name, and why, in a sentence.
    Unusable(String, String),
    /// The end of a folder, with notes of what was not looked at.
    Searched(Arc<Path>, Vec<String>),
    /// The output cannot be written, or the like.
    Failed(Failure),
}

impl Judge {
    pub(super) fn take(&self, found: Found) -> Done {
        let recording = match found {
            Found::Recording(recording) => recording,
            Found::Unsearched(place, why) => return Done::Unusable(place, why),
            Found::Searched(folder, notes) => return Done::Searched(folder, notes),
        };
        let in_folder = recording.folder.is_some();
        match self.known(&recording).map_err(Failure::Unusable) {
            Ok(Some(failed)) => Done::Skipped(failed, in_folder),
            Ok(None) => self.judge(&recording, in_folder).unwrap_or_else(|failure| match failure {
                Failure::Unusable(why) => Done::Unusable(recording.path.display().to_string(), why),
                Failure::Rejected(name, rejection) => {
                    let why = no_recording(&name, &rejection);
                    Done::Unusable(name, why)
                }
                other => Done::Failed(other),
            }),
            Err(Failure::Unusable(why)) => Done::Unusable(recording.path.display().to_string(), why),
            Err(other) => Done::Failed(other),
        }
    }

    /// Whether a file counts as a fault, where it was judged before. It is read once more for that, which the standard input
    /// cannot be.
    fn known(&self, recording: &Recording) -> Result<Option<bool>, String> {
        let Some(earlier) = self.earlier.as_ref().filter(|_| recording.path.as_os_str() != "-") else {
            return Ok(None);
        };
        // That it is UTF-16 is said once.
        let source = opened(&recording.path, Terminal { verbosity: Verbosity::Quiet, ..self.terminal })?;
        let unreadable = |error| format!("{} cannot be read: {error}", source.name);
        let digest = Watched::new(source.reader, true).digest().map_err(unreadable)?;
        Ok(digest.and_then(|digest| earlier.failed(digest)))
    }

    fn judge(&self, recording: &Recording, in_folder: bool) -> Result<Done, Failure> {
        let Source { name, reader } = opened(&recording.path, self.terminal)?;
        let mut watched = Watched::new(reader, self.digests);
        let mut recording = app::Recording::once(&name, &mut watched);
        recording.found = in_folder;
        let judged = self.judge.judge(&mut recording);
        drop(recording);
        match judged {
            Ok(file) => {
                let digest = watched.digest().map_err(|error| format!("{name} cannot be read: {error}"))?;
                Ok(Done::Judged(Box::new(CheckedFile { digest: digest.map(spelled), ..file }), in_folder))
            }
            Err(error) => match error.cause {
                Cause::NoRecording => Ok(Done::NoRecording(name)),
                Cause::OtherRevision(..) => Ok(Done::OtherRevision(name, sentence(&error), in_folder)),
                _ => Err(error.into()),
            },
        }
    }
}

/// Bytes that are watched.
struct Watched<R> {
    inner: R,
    digest: Option<Sha256>,
}

impl<R: Read> Watched<R> {
    /// Watches `inner`, and computes a digest where one is wanted.
    pub(super) fn new(inner: R, digest: bool) -> Self {
        Self { inner, digest: digest.then(Sha256::new) }
    }

    /// The digest of everything, also of what nobody has read; none where none was wanted.
    pub(super) fn digest(mut self) -> io::Result<Option<[u8; 32]>> {
        if self.digest.is_some() {
            io::copy(&mut self, &mut io::sink())?;
        }
        Ok(self.digest.map(|digest| digest.finalize()))
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if interrupt::requested() {
            return Err(io::Error::other("interrupted"));
        }
        let read = self.inner.read(buffer)?;
        if let Some(digest) = &mut self.digest {
            digest.update(&buffer[..read]);
        }
        Ok(read)
    }
}
