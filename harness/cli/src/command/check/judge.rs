//! One recording judged: opened, recognised, and held against the rules. This is what the threads do.

use super::earlier::Earlier;
use super::watched::{Watched, spelled};
use crate::command::context::{Failure, no_recording};
use crate::command::input::{Source, open, opened, recorded};
use crate::recordings::{Found, Recording};
use formats::Format;
use rules::record::{CheckedFile, RuleSelection};
use rules::rule_set::RuleSet;
use rules::{CheckOptions, CheckResult};
use std::path::Path;
use std::sync::Arc;

/// How recordings are judged.
pub(super) struct Judge {
    /// The format of all of them; none where the content shows it.
    pub format: Option<&'static Format>,
    /// What the caller says of them.
    pub options: CheckOptions,
    /// By which rules.
    pub selection: RuleSelection,
    /// The frozen set that they are held against.
    pub frozen: Option<RuleSet>,
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
    /// It was found in a folder, and is no recording: its name.
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
    /// Judges what was found.
    pub(super) fn take(&self, found: Found) -> Done {
        let recording = match found {
            Found::Recording(recording) => recording,
            Found::Unsearched(place, why) => return Done::Unusable(place, why),
            Found::Searched(folder, notes) => return Done::Searched(folder, notes),
        };
        let path = || recording.path.display().to_string();
        match self.known(&recording) {
            Ok(Some(failed)) => return Done::Skipped(failed, recording.folder.is_some()),
            Ok(None) => {}
            Err(why) => return Done::Unusable(path(), why),
        }
        match self.judge(&recording) {
            Ok(Some((file, judged))) => self.told(file, &judged, recording.folder.is_some()),
            Ok(None) => Done::NoRecording(path()),
            Err(Failure::Unusable(why)) => Done::Unusable(path(), why),
            Err(Failure::Rejected(name, rejection)) => {
                let why = no_recording(&name, &rejection);
                Done::Unusable(name, why)
            }
            Err(other) => Done::Failed(other),
        }
    }

    fn told(&self, mut file: CheckedFile, judged: &CheckResult, in_folder: bool) -> Done {
        match self.require(&mut file, judged) {
            Some(why) => Done::OtherRevision(file.name, why, in_folder),
            None => Done::Judged(Box::new(file), in_folder),
        }
    }

    /// Holds a file against the frozen set, where there is one; why it cannot be, in a sentence.
    pub(super) fn require(&self, file: &mut CheckedFile, judged: &CheckResult) -> Option<String> {
        let frozen = self.frozen.as_ref()?;
        let mut why = frozen.why_not(&file.name, judged.revision);
        match &mut why {
            Some(why) if judged.revision.is_none() => {
                why.push_str(&format!("; name it with --spec {}", frozen.revision));
            }
            Some(_) => {}
            None => file.require(frozen, judged),
        }
        why
    }

    /// Whether a file counts as a fault, where it was judged before. It is read once more for that, which the standard input
    /// cannot be.
    fn known(&self, recording: &Recording) -> Result<Option<bool>, String> {
        let Some(earlier) = self.earlier.as_ref().filter(|_| recording.path.as_os_str() != "-") else {
            return Ok(None);
        };
        let source = opened(&recording.path)?;
        let unreadable = |error| format!("{} cannot be read: {error}", source.name);
        let digest = Watched::new(source.reader, true).digest().map_err(unreadable)?;
        Ok(digest.and_then(|digest| earlier.failed(digest)))
    }

    /// What came of a file; none where it was found in a folder and is no recording.
    fn judge(&self, recording: &Recording) -> Result<Option<(CheckedFile, CheckResult)>, Failure> {
        let Source { name, reader } = open(&recording.path)?;
        let mut watched = Watched::new(reader, self.digests);
        let found = recorded(recording, &mut watched, self.format, &name)?;
        let Some((mut input, format)) = found else { return Ok(None) };
        let unreadable = |error| Failure::Unusable(format!("{name} cannot be read: {error}"));
        let judged = rules::check(format, &mut input, &self.options).map_err(unreadable)?;
        let digest = watched.digest().map_err(unreadable)?;
        let file = CheckedFile::of(&name, format.name, &judged, &self.selection);
        Ok(Some((CheckedFile { digest: digest.map(spelled), ..file }, judged)))
    }
}
