//! Where case directories come from: a folder on disk, or the suite that is embedded in the program.
//!
//! A folder with a `case.toml` is a case directory, and an archive, `*.txtar`, holds the files of several. Links out of the suite
//! are refused, so that a suite is what its folder holds; hidden folders and those that tools leave behind are not looked into.

use super::problem::Problem;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs, io};
use walkdir::{DirEntry, WalkDir};

/// Where cases are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Root {
    /// The suite that is embedded in the program.
    Embedded,
    /// A folder on disk; it may be a case directory itself.
    Disk(PathBuf),
    /// Cases that were made in memory, by name, each with its files.
    Generated(Vec<GeneratedCase>),
}

/// A case that is on no disk: its name, and its files by their names.
pub type GeneratedCase = (String, Vec<(String, Vec<u8>)>);

/// A case directory with its files, ordered by name.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) name: String,
    /// The folder as a person finds it.
    pub(super) place: String,
    pub(super) files: Vec<(String, Blob)>,
}

/// The bytes of a file, read when they are wanted.
#[derive(Debug, Clone)]
pub enum Blob {
    /// Part of the program.
    Embedded(&'static [u8]),
    /// On disk.
    Disk(PathBuf),
    /// In memory: generated, or of an archive.
    Memory(Arc<[u8]>),
}

impl Blob {
    /// The bytes.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn bytes(&self) -> io::Result<Cow<'static, [u8]>> {
        match self {
            Self::Embedded(bytes) => Ok(Cow::Borrowed(bytes)),
            // To open a pipe is to wait for a program that writes to it.
            Self::Disk(path) if !fs::metadata(path)?.is_file() => {
                Err(io::Error::other("it is not a regular file"))
            }
            Self::Disk(path) => fs::read(path).map(Cow::Owned),
            Self::Memory(bytes) => Ok(Cow::Owned(bytes.to_vec())),
        }
    }
}

impl fmt::Display for Root {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => formatter.write_str("the embedded suite"),
            Self::Disk(path) => write!(formatter, "{}", path.display()),
            Self::Generated(_) => formatter.write_str("the cases that were made"),
        }
    }
}

impl Root {
    /// Every case directory in it.
    pub(super) fn folders(&self, problems: &mut Vec<Problem>) -> Vec<Folder> {
        match self {
            Self::Embedded => cased(::cases::files().map(embedded), str::to_owned),
            Self::Disk(root) => walk(root, root, problems),
            Self::Generated(cases) => cases.iter().map(made).collect(),
        }
    }
}

impl Folder {
    /// The case directory of this name, found without a look at any other.
    pub(super) fn find(root: &Root, name: &str, problems: &mut Vec<Problem>) -> Option<Self> {
        match root {
            Root::Embedded => {
                let topic = name.split('/').next().unwrap_or_default();
                let files = ::cases::files_of(topic).filter(|(path, _)| path.starts_with(name)).map(embedded);
                cased(files, str::to_owned).into_iter().find(|folder| folder.name == name)
            }
            Root::Disk(root) => Self::on_disk(root, name, problems).or_else(|| Self::in_archive(root, name)),
            Root::Generated(cases) => cases.iter().find(|case| case.0 == name).map(made),
        }
    }

    fn in_archive(root: &Path, name: &str) -> Option<Self> {
        let topic = root.join(name.split('/').next().filter(|_| fault_in(name).is_none())?);
        walk(root, &topic, &mut Vec::new()).into_iter().find(|folder| folder.name == name)
    }

    fn on_disk(root: &Path, name: &str, problems: &mut Vec<Problem>) -> Option<Self> {
        let path = root.join(name);
        if fault_in(name).is_some() || !path.join(CASE_FILE).is_file() {
            return None;
        }
        let suite = fs::canonicalize(root).ok()?;
        match fs::canonicalize(&path) {
            Ok(real) if real.starts_with(&suite) => read(&suite, &path, name.to_owned(), problems),
            _ => {
                problems.push(Problem::new(path.display().to_string(), "leads outside the suite"));
                None
            }
        }
    }
}

const CASE_FILE: &str = "case.toml";

/// The cases that these files belong to, each file with its path from the root of the suite.
fn cased(files: impl IntoIterator<Item = (String, Blob)>, place: impl Fn(&str) -> String) -> Vec<Folder> {
    let mut cases: BTreeMap<String, Vec<(String, Blob)>> = BTreeMap::new();
    for (path, blob) in files {
        if let Some((name, file)) = path.rsplit_once('/') {
            cases.entry(name.to_owned()).or_default().push((file.to_owned(), blob));
        }
    }
    let folder = |(name, mut files): (String, Vec<(String, Blob)>)| {
        files.sort_by(|a, b| a.0.cmp(&b.0));
        Folder { place: place(&name), name, files }
    };
    cases.into_iter().map(folder).collect()
}

fn embedded((path, bytes): ::cases::File) -> (String, Blob) {
    (path.to_owned(), Blob::Embedded(bytes))
}

fn made((name, files): &GeneratedCase) -> Folder {
    let blob = |bytes: &[u8]| Blob::Memory(bytes.into());
    let files = files.iter().map(|(file, bytes)| (file.clone(), blob(bytes))).collect();
    Folder { name: name.clone(), place: name.clone(), files }
}

/// The cases of the suite in `root` that are in `folder`.
fn walk(root: &Path, folder: &Path, problems: &mut Vec<Problem>) -> Vec<Folder> {
    let (mut folders, mut uncased) = (Vec::new(), BTreeSet::new());
    let suite = match fs::canonicalize(root) {
        Ok(suite) if suite.is_dir() => suite,
        Ok(_) => {
            problems.push(Problem::new(root.display().to_string(), "is a file; a suite is a folder"));
            return folders;
        }
        Err(error) => {
            problems.push(Problem::new(root.display().to_string(), format!("cannot be opened: {error}")));
            return folders;
        }
    };
    let mut entries = WalkDir::new(folder).sort_by_file_name().into_iter();
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let place = error.path().unwrap_or(root).display().to_string();
                problems.push(Problem::new(place, format!("cannot be read: {error}")));
                continue;
            }
        };
        let path = entry.path();
        if entry.file_type().is_dir() {
            if entry.depth() > 0 && is_leftover(&entry) {
                entries.skip_current_dir();
            } else if path.join(CASE_FILE).symlink_metadata().is_ok() {
                entries.skip_current_dir();
                let name = name_of(root, &suite, path, problems);
                folders.extend(name.and_then(|name| read(&suite, path, name, problems)));
            }
        } else if entry.path_is_symlink() && path.is_dir() {
            let message = "is a link to a folder, which is not followed; put the cases themselves here";
            problems.push(Problem::new(path.display().to_string(), message));
        } else if belongs_to_a_case(entry.file_name()) {
            uncased.extend(path.parent().map(|folder| folder.display().to_string()));
        } else if path.extension().is_some_and(|extension| extension == "txtar") {
            match archived(root, &suite, path) {
                Ok(cases) => folders.extend(cases),
                Err(problem) => problems.push(problem),
            }
        }
    }
    let lost = |place| Problem::new(place, "has transcripts but no case.toml, so nothing would judge them");
    problems.extend(uncased.into_iter().map(lost));
    folders
}

/// The cases in an archive.
fn archived(root: &Path, suite: &Path, path: &Path) -> Result<Vec<Folder>, Problem> {
    let place = path.display();
    let wrong = |message: String| Problem::new(place.to_string(), message);
    if !fs::canonicalize(path).is_ok_and(|real| real.starts_with(suite) && real.is_file()) {
        return Err(wrong("is not a file of the suite".to_owned()));
    }
    let bytes = fs::read(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let files = ::cases::archive::files(&bytes).map_err(|line| {
        let message = "names no file of a case; write `-- case/case.toml --`";
        Problem { line: Some(line), ..wrong(message.to_owned()) }
    })?;
    let below = path.parent().and_then(|folder| folder.strip_prefix(root).ok()?.to_str());
    let below = below.ok_or_else(|| wrong("is not in a folder that is named in UTF-8".to_owned()))?;
    let prefix = if below.is_empty() { String::new() } else { below.replace('\\', "/") + "/" };
    let files =
        files.into_iter().map(|(file, bytes)| (format!("{prefix}{file}"), Blob::Memory(bytes.into())));
    let cases = cased(files, |name| format!("{place}/{}", name.strip_prefix(&prefix).unwrap_or(name)));
    for Folder { name, files, .. } in &cases {
        let is_twice = files.windows(2).any(|pair| pair[0].0 == pair[1].0);
        let lacks = files.iter().all(|(file, _)| file != CASE_FILE);
        let lacks = lacks.then_some("has no case.toml, so nothing would judge it");
        let twice = is_twice.then_some("has two files of one name");
        if let Some(fault) = fault_in(name).or(lacks).or(twice) {
            return Err(wrong(format!("{name} {fault}")));
        }
    }
    Ok(cases)
}

/// The name of the case in `path`: its path from the root; the folder's own name where it is the root.
fn name_of(root: &Path, suite: &Path, path: &Path, problems: &mut Vec<Problem>) -> Option<String> {
    let below = path.strip_prefix(root).unwrap_or(path);
    let own = suite.file_name().map(Path::new).unwrap_or(suite);
    let below = if below.as_os_str().is_empty() { own } else { below };
    let parts: Option<Vec<&str>> = below.iter().map(OsStr::to_str).collect();
    let name = parts.map(|parts| parts.join("/"));
    let fault = match &name {
        Some(name) => fault_in(name),
        None => Some("is not named in UTF-8"),
    };
    if let Some(fault) = fault {
        problems.push(Problem::new(path.display().to_string(), fault));
        return None;
    }
    name
}

/// Why a name cannot be the name of a case: test names are made of it, and paths of test names.
fn fault_in(name: &str) -> Option<&'static str> {
    let holds = |part: &str| name.contains(part);
    if holds("::") || holds(": ") {
        Some("has `::` or `: ` in its name, which separate the parts of a test's name")
    } else if holds("..") {
        Some("has `..` in its name, which leads out of a folder")
    } else if name.contains(|c: char| c.is_control() || c == '\\') {
        Some("has a control character or a backslash in its name")
    } else {
        None
    }
}

/// The files of one case directory.
fn read(suite: &Path, path: &Path, name: String, problems: &mut Vec<Problem>) -> Option<Folder> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) => {
            problems.push(Problem::new(path.display().to_string(), format!("cannot be read: {error}")));
            return None;
        }
    };
    let before = problems.len();
    let mut files = Vec::new();
    for entry in entries.flatten() {
        let (path, file) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let fault = match fs::canonicalize(&path) {
            Err(error) => Some(format!("cannot be opened: {error}")),
            Ok(real) if !real.starts_with(suite) => Some("is a link that leads outside the suite".to_owned()),
            Ok(real) if real.is_dir() => Some("is a folder; a case directory holds only files".into()),
            Ok(real) if !real.is_file() => {
                Some("is not a regular file, such as a pipe or a device".to_owned())
            }
            Ok(_) => None,
        };
        match fault {
            Some(fault) => problems.push(Problem::new(path.display().to_string(), fault)),
            None => files.push((file, Blob::Disk(path))),
        }
    }
    files.sort_by(|a, b| a.0.cmp(&b.0));
    (problems.len() == before).then(|| Folder { name, place: path.display().to_string(), files })
}

fn is_leftover(entry: &DirEntry) -> bool {
    let name = entry.file_name().to_string_lossy();
    name.starts_with('.') || name == "node_modules" || entry.path().join("CACHEDIR.TAG").is_file()
}

fn belongs_to_a_case(file: &OsStr) -> bool {
    file == "meaning.json" || formats::FORMATS.iter().any(|format| file == format.file)
}
