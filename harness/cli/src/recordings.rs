//! The files of a command line that names files and folders, one after the other.
//!
//! A folder is walked in the order of names. Hidden files, links, and the files of a case beside its transcripts are skipped.
//! Memory: the names of one folder at each level, whose order is asked for, and [`NAMED`] names of what was left out.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use walkdir::{DirEntry, WalkDir};

/// A file that was named, or found in a folder that was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recording {
    /// Its path; `-` is the standard input.
    pub path: PathBuf,
    /// The folder that it was found in; none where it was named itself, and so must be a recording.
    pub folder: Option<Arc<Path>>,
}

/// What comes next on a command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    Recording(Recording),
    /// A part of a folder that cannot be searched, or a list that cannot be used: its name, and why, in a sentence.
    Unsearched(String, String),
    /// The end of a folder, with what in it was not looked at, each in a sentence.
    Searched(Arc<Path>, Vec<String>),
}

/// A path of a command line, or the name of what should have named one, and why it does not.
pub(crate) type NamedPath = Result<PathBuf, (String, String)>;

/// The files of a command line: first to last, those of a folder in the order of their names.
pub(crate) struct Recordings<P> {
    paths: P,
    walk: Option<Walk>,
    /// Whether the standard input was named.
    stdin: bool,
}

impl<P: Iterator<Item = NamedPath>> Recordings<P> {
    /// Finds the files of `paths`.
    pub(crate) fn find(paths: impl IntoIterator<IntoIter = P>) -> Self {
        Self { paths: paths.into_iter(), walk: None, stdin: false }
    }
}

impl<P: Iterator<Item = NamedPath>> Iterator for Recordings<P> {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        if let Some(walk) = &mut self.walk {
            if let Some(found) = walk.next() {
                return Some(found);
            }
            let Walk { folder, hidden, irregular, .. } = self.walk.take()?;
            let notes = [("hidden", hidden), ("not a regular file", irregular)];
            let notes = notes.iter().filter_map(|(what, names)| names.left_out(&folder, what)).collect();
            return Some(Found::Searched(folder, notes));
        }
        let path = match self.paths.next()? {
            Ok(path) => path,
            Err((name, why)) => return Some(Found::Unsearched(name, why)),
        };
        let is_stdin = path.as_os_str() == "-";
        if is_stdin && std::mem::replace(&mut self.stdin, true) {
            let why = "`-` is named twice, and the standard input can be read only once";
            return Some(Found::Unsearched("-".to_owned(), why.to_owned()));
        }
        if is_stdin || !path.is_dir() {
            return Some(Found::Recording(Recording { path, folder: None }));
        }
        self.walk = Some(Walk::new(path.into()));
        self.next()
    }
}

/// A folder that is searched.
struct Walk {
    folder: Arc<Path>,
    entries: walkdir::IntoIter,
    hidden: Names,
    irregular: Names,
}

impl Walk {
    fn new(folder: Arc<Path>) -> Self {
        let entries = WalkDir::new(&folder).sort_by_file_name().into_iter();
        Self { folder, entries, hidden: Names::default(), irregular: Names::default() }
    }
}

impl Iterator for Walk {
    type Item = Found;

    fn next(&mut self) -> Option<Found> {
        loop {
            let entry = match self.entries.next()? {
                Ok(entry) => entry,
                Err(error) => {
                    let place = error.path().unwrap_or(&self.folder).display().to_string();
                    let why = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                    let why = format!("{place} cannot be searched: {why}");
                    return Some(Found::Unsearched(place, why));
                }
            };
            let name = || entry.path().display().to_string();
            let kind = entry.file_type();
            if entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".") {
                self.hidden.push(name);
                if kind.is_dir() {
                    self.entries.skip_current_dir();
                }
            } else if kind.is_file() {
                if is_of_a_case(entry.path()) {
                    continue;
                }
                if is_lost(&entry) {
                    let why = format!("{} is empty: what should have been recorded in it is lost", name());
                    return Some(Found::Unsearched(name(), why));
                }
                let (path, folder) = (entry.into_path(), Some(Arc::clone(&self.folder)));
                return Some(Found::Recording(Recording { path, folder }));
            } else if !kind.is_dir() {
                self.irregular.push(name);
            }
        }
    }
}

/// How many names a note has.
const NAMED: usize = 10;

/// Names of files that were left out: the first ones, and how many there are.
#[derive(Debug, Default)]
pub(crate) struct Names {
    first: Vec<String>,
    count: usize,
}

impl Names {
    pub(crate) fn push(&mut self, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.len() < NAMED {
            self.first.push(name());
        }
    }

    /// That these files of a folder were passed over, in a sentence: what they are, such as "hidden".
    pub(crate) fn left_out(&self, folder: &Path, what: &str) -> Option<String> {
        let shown = self.first.join(", ");
        let more = match self.count - self.first.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let folder = folder.display();
        (self.count > 0).then(|| format!("skipped in {folder} ({what}): {shown}{more}"))
    }
}

/// Whether a file is named as a recording is, and has nothing in it: its recorder may have died. A log may well be empty.
fn is_lost(file: &DirEntry) -> bool {
    let ending = file.path().extension().unwrap_or_default();
    let names = formats::FORMATS.iter().filter(|format| format.is_written()).map(|format| format.file);
    names.chain(["lines.ndjson"]).any(|name| Path::new(name).extension() == Some(ending))
        && file.metadata().is_ok_and(|metadata| metadata.len() == 0)
}

/// Whether a file is what a case of the suite says of its transcripts, and so none of them.
fn is_of_a_case(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_meaning = name.starts_with("meaning.") && name.ends_with(".json");
    name == "case.toml" || is_meaning && path.with_file_name("case.toml").is_file()
}
