//! The file of a recording, which has complete lines only.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _};
use std::path::{Path, PathBuf};
use std::process;

/// A file that grows by whole lines.
#[derive(Debug)]
pub(super) struct Output {
    file: File,
    /// So long it is with whole lines alone; none where it cannot be cut, as a pipe or a device.
    whole: Option<u64>,
}

impl Output {
    /// Opens `path` for a new recording, and says whether it made the file.
    pub(super) fn create(path: &Path, force: bool) -> Result<(Self, bool), String> {
        let Opened { file, regular, made } = open(path, force)?;
        Ok((Self { file, whole: regular.then_some(0) }, made))
    }

    /// Runs `write`, which appends whole lines; what it wrote is taken back where it fails.
    pub(super) fn append(&mut self, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
        let done = write(&mut self.file);
        let Some(whole) = &mut self.whole else { return done };
        match &done {
            Ok(()) => *whole = self.file.stream_position()?,
            Err(_) => {
                // On a full disk there is room to cut.
                self.file.set_len(*whole)?;
                self.file.seek(io::SeekFrom::Start(*whole))?;
            }
        }
        done
    }
}

/// A file for a new recording.
pub(super) struct Opened {
    pub(super) file: File,
    /// Whether it is a file, and no pipe or device.
    pub(super) regular: bool,
    /// Whether it was not there before.
    made: bool,
}

/// Opens `path` for a new recording.
///
/// # Errors
/// A sentence, where something is there already or it cannot be written.
pub(super) fn open(path: &Path, force: bool) -> Result<Opened, String> {
    let name = path.display();
    let metadata = path.metadata().ok();
    match &metadata {
        Some(metadata) if metadata.is_dir() => {
            return Err(format!("{name} is a folder; a recording is one file"));
        }
        Some(metadata) if metadata.is_file() && metadata.len() > 0 && !force => {
            return Err(format!(
                "{name} is there already; choose another name (`{{time}}` in it stands for the time), or write over \
                     it with --force"
            ));
        }
        _ => {}
    }
    let regular = metadata.as_ref().is_none_or(std::fs::Metadata::is_file);
    let file = OpenOptions::new().write(true).create(true).truncate(regular).open(path);
    let file = file.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{name} cannot be made: its folder is not there"),
        io::ErrorKind::PermissionDenied => format!("{name} may not be written by this user"),
        _ => format!("{name} cannot be opened: {error}"),
    })?;
    Ok(Opened { file, regular, made: metadata.is_none() })
}

/// A name with its holes fill_placeholders: `{time}` and `{pid}`.
pub(super) fn fill_placeholders(path: &Path, now: i64) -> PathBuf {
    let Some(text) = path.to_str() else { return path.to_owned() };
    // Colons are not allowed in the names of some systems.
    let time: String =
        formats::time::write(now).chars().filter(|char| !matches!(char, '-' | ':' | '.')).collect();
    PathBuf::from(text.replace("{time}", &time).replace("{pid}", &process::id().to_string()))
}

#[cfg(test)]
mod tests {
    use super::{Output, fill_placeholders};
    use std::fs;
    use std::io::{self, Write as _};
    use std::path::Path;

    #[test]
    fn half_a_line_is_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let (mut output, new) = Output::create(&path, false).unwrap();
        assert!(new);
        output.append(|file| file.write_all(b"one\n")).unwrap();
        let failed = output.append(|file| {
            file.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        output.append(|file| file.write_all(b"two\n")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn nothing_is_written_over_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "x").unwrap();
        assert!(Output::create(&path, false).unwrap_err().contains("--force"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "x");
        assert!(!Output::create(&path, true).unwrap().1);
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
        // An empty one holds nothing that could be lost.
        assert!(Output::create(&path, false).is_ok());
        assert!(Output::create(folder.path(), true).unwrap_err().contains("folder"));
        assert!(Output::create(&folder.path().join("no/a"), true).unwrap_err().contains("its folder"));
    }

    #[test]
    fn placeholders_are_filled() {
        let pid = std::process::id();
        assert_eq!(
            fill_placeholders(Path::new("a/{time}-{pid}.jsonl"), 0),
            Path::new(&format!("a/19700101T000000000Z-{pid}.jsonl"))
        );
    }
}
