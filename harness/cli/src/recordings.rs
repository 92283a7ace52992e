//! The files of a command line that names files and folders.
//!
//! A folder is walked in the order of names. Hidden files, links, and the files of a case beside its transcripts are skipped.

use std::path::{Path, PathBuf};
use walkdir::WalkDir;

/// A file that was named, or found in a folder that was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recording {
    /// Its path; `-` is the standard input.
    pub path: PathBuf,
    /// The folder that it was found in; none where it was named itself, and so must be a recording.
    pub folder: Option<PathBuf>,
}

/// The files of a command line, with notes about those that were skipped.
#[derive(Debug, Default)]
pub(crate) struct Recordings {
    /// In the order of the command line, those of a folder in the order of their names.
    pub files: Vec<Recording>,
    /// What was not looked at, each in a sentence.
    pub notes: Vec<String>,
}

impl Recordings {
    /// Finds the files of `paths`.
    #[must_use]
    pub(crate) fn find(paths: &[PathBuf]) -> Self {
        let mut found = Self::default();
        for path in paths {
            if path.as_os_str() != "-" && path.is_dir() {
                found.walk(path);
            } else {
                found.files.push(Recording { path: path.clone(), folder: None });
            }
        }
        found
    }

    fn walk(&mut self, folder: &Path) {
        let (mut hidden, mut links) = (Vec::new(), Vec::new());
        let mut entries = WalkDir::new(folder).sort_by_file_name().into_iter();
        while let Some(entry) = entries.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let place = error.path().unwrap_or(folder).display().to_string();
                    let why = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    self.notes.push(format!("{place} cannot be searched: {why}"));
                    continue;
                }
            };
            let name = entry.path().display().to_string();
            let kind = entry.file_type();
            if entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".") {
                hidden.push(name);
                if kind.is_dir() {
                    entries.skip_current_dir();
                }
            } else if kind.is_file() {
                if !is_of_a_case(entry.path()) {
                    let (path, folder) = (entry.into_path(), Some(folder.to_owned()));
                    self.files.push(Recording { path, folder });
                }
            } else if !kind.is_dir() {
                links.push(name);
            }
        }
        self.note(folder, "hidden", &hidden);
        self.note(folder, "not regular files", &links);
    }

    /// Says that files of a folder were left out: what they are, and their names.
    pub(crate) fn note(&mut self, folder: &Path, what: &str, names: &[String]) {
        if let Some(note) = left_out(folder, what, names) {
            self.notes.push(note);
        }
    }
}

/// So many names stand in a note.
const NAMED: usize = 10;

/// That some of a folder's files were passed over, in a sentence.
#[must_use]
pub(crate) fn left_out(folder: &Path, what: &str, names: &[String]) -> Option<String> {
    let shown = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match names.len().checked_sub(NAMED) {
        None | Some(0) => String::new(),
        Some(more) => format!(" and {more} more"),
    };
    let are = if names.len() == 1 { "1 is" } else { &format!("{} are", names.len()) };
    let folder = folder.display();
    (!names.is_empty()).then(|| format!("in {folder}, {are} {what} and skipped: {shown}{more}"))
}

/// Whether a file is what a case of the suite says of its transcripts, and so none of them.
fn is_of_a_case(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_meaning = name.starts_with("meaning.") && name.ends_with(".json");
    name == "case.toml" || is_meaning && path.with_file_name("case.toml").is_file()
}

#[cfg(test)]
mod tests {
    use super::Recordings;
    use std::fs;

    #[test]
    fn a_folder_is_walked_in_order_and_what_is_left_out_is_told() {
        let root = tempfile::tempdir().unwrap();
        for (folder, file) in [
            ("b", "x"),
            ("a", "case.toml"),
            ("a", "meaning.json"),
            ("a", "meaning.typed-ids.json"),
            ("a", "t"),
            ("c", "meaning.json"),
            (".git", "y"),
        ] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
            fs::write(root.path().join(folder).join(file), "").unwrap();
        }
        let found = Recordings::find(&[root.path().to_owned(), "-".into()]);
        let names: Vec<String> = found
            .files
            .iter()
            .map(|file| file.path.strip_prefix(root.path()).unwrap_or(&file.path).display().to_string())
            .collect();
        assert_eq!(names, ["a/t", "b/x", "c/meaning.json", "-"]);
        assert!(found.files[0].folder.is_some() && found.files[3].folder.is_none());
        assert!(found.notes.len() == 1 && found.notes[0].contains(".git"), "{:?}", found.notes);
    }
}
