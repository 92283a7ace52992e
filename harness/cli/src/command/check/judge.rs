//! One recording judged: opened, recognised, and held against the rules. This is what the threads do.

use crate::command::context::Failure;
use crate::command::input::{format_of, open};
use crate::recordings::{Found, Recording};
use formats::{Format, Input, ReadError};
use rules::record::{CheckedFile, RuleSelection};
use rules::rule_set::RuleSet;
use rules::{CheckOptions, CheckResult, Revision};
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
        match self.judge(&recording) {
            Ok(Some((name, format, judged))) => self.told(&name, format, &judged, recording.folder.is_some()),
            Ok(None) => Done::NoRecording(path()),
            Err(Failure::Unusable(why)) => Done::Unusable(path(), why),
            Err(Failure::Rejected(name, rejection)) => {
                let why = format!("{name} is not a recording: {}", rejection.message);
                Done::Unusable(name, why)
            }
            Err(other) => Done::Failed(other),
        }
    }

    fn told(&self, name: &str, format: &Format, judged: &CheckResult, in_folder: bool) -> Done {
        let mut file = CheckedFile::of(name, format.name, judged, &self.selection);
        if let Some(frozen) = &self.frozen {
            if judged.revision != Some(frozen.revision) {
                let why = other_revision(name, frozen, judged.revision);
                return Done::OtherRevision(name.to_owned(), why, in_folder);
            }
            file.require(frozen, judged);
        }
        Done::Judged(Box::new(file), in_folder)
    }

    /// What came of a file; none where it was found in a folder and is no recording.
    fn judge(
        &self,
        recording: &Recording,
    ) -> Result<Option<(String, &'static Format, CheckResult)>, Failure> {
        let mut source = open(&recording.path)?;
        let name = source.name.clone();
        let told = |error| Failure::of_reading(&name, error);
        let mut input = match Input::new(&mut *source.reader) {
            Err(ReadError::Rejected(_)) if recording.folder.is_some() => return Ok(None),
            input => input.map_err(told)?,
        };
        let format = if recording.folder.is_some() {
            match formats::detect(&mut input) {
                Ok(Some(format)) if self.format.is_none_or(|asked| asked.name == format.name) => format,
                Ok(_) | Err(ReadError::Rejected(_)) => return Ok(None),
                Err(error) => return Err(told(error)),
            }
        } else {
            format_of(self.format, &mut input, &name)?
        };
        let judged = rules::check(format, &mut input, &self.options)
            .map_err(|error| Failure::Unusable(format!("{name} cannot be read: {error}")))?;
        Ok(Some((name, format, judged)))
    }
}

fn other_revision(name: &str, frozen: &RuleSet, shown: Option<Revision>) -> String {
    let wanted = frozen.revision;
    match shown {
        Some(other) => {
            format!("{name} is a session of {other}, but the required rules are those of {wanted}")
        }
        None => format!("{name} does not show its revision; name it with --spec {wanted}"),
    }
}
