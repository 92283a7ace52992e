//! Paths from a list: a file, or the standard input, with a path a line, or one before each NUL.
//!
//! Memory: one path of at most [`LONGEST`] bytes; the list is read while its paths are used.

use crate::recordings::NamedPath;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

/// No system has a longer path.
const LONGEST: usize = 1 << 16;

/// The paths of a command line: those that are named, and those that a list names.
pub(crate) fn named_paths(
    files: Vec<PathBuf>,
    list: Option<&Path>,
    null: bool,
) -> Result<impl Iterator<Item = NamedPath> + Send + use<>, String> {
    let is_stdin = |path: &Path| path.as_os_str() == "-";
    if list.is_some_and(is_stdin) && files.iter().any(|file| is_stdin(file)) {
        return Err("the standard input cannot be both a recording and the list".to_owned());
    }
    let listed = list.map(|list| ListedPaths::open(list, null)).transpose()?;
    Ok(files.into_iter().map(Ok).chain(listed.into_iter().flatten()))
}

/// A list, as far as it was read.
struct ListedPaths {
    name: String,
    reader: Box<dyn BufRead + Send>,
    /// What ends each path.
    end: u8,
    item: u64,
    paths: u64,
    ended: bool,
}

impl ListedPaths {
    /// Opens a list, or the standard input where it is `-`.
    fn open(path: &Path, null: bool) -> Result<Self, String> {
        let name = path.display().to_string();
        let (name, reader): (_, Box<dyn BufRead + Send>) = match name.as_str() {
            "-" => ("the standard input".to_owned(), Box::new(BufReader::new(io::stdin()))),
            _ => match File::open(path) {
                Ok(file) => (name, Box::new(BufReader::new(file))),
                Err(error) => return Err(format!("{name}: the list cannot be read: {error}")),
            },
        };
        let end = if null { 0 } else { b'\n' };
        Ok(Self { name, reader, end, item: 0, paths: 0, ended: false })
    }

    fn wrong(&mut self, why: &str) -> Option<NamedPath> {
        self.ended = true;
        Some(Err((self.name.clone(), why.to_owned())))
    }
}

impl Iterator for ListedPaths {
    /// A path; or what is wrong with the list, whose name that is, in a sentence, and then nothing more.
    type Item = NamedPath;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let mut item = Vec::new();
            let read = self.reader.by_ref().take(LONGEST as u64 + 1).read_until(self.end, &mut item);
            if let Err(error) = read {
                return self.wrong(&format!("{}: the list cannot be read: {error}", self.name));
            }
            self.item += 1;
            if item.is_empty() {
                self.ended = true;
                return match self.paths {
                    0 => self.wrong(&format!("{}: the list is empty", self.name)),
                    _ => None,
                };
            }
            if item.last() == Some(&self.end) {
                item.pop();
                // A list from Windows; a name that ends so takes --null.
                item.pop_if(|last| self.end == b'\n' && *last == b'\r');
            } else if item.len() > LONGEST {
                return self.wrong(&format!(
                    "item {} of {} is longer than {LONGEST} bytes: it is not a list of paths, or its paths end with NUL (--null)",
                    self.item, self.name
                ));
            }
            match path(item) {
                Ok(path) if path.as_os_str().is_empty() => {}
                // In a list a hyphen is a name like any other.
                Ok(path) if path.as_os_str() == "-" => return self.path(PathBuf::from("./-")),
                Ok(path) => return self.path(path),
                Err(why) => return self.wrong(&format!("item {} of {} {why}", self.item, self.name)),
            }
        }
        None
    }
}

impl ListedPaths {
    fn path(&mut self, path: PathBuf) -> Option<NamedPath> {
        self.paths += 1;
        Some(Ok(path))
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere a path is text")]
fn path(bytes: Vec<u8>) -> Result<PathBuf, &'static str> {
    use std::os::unix::ffi::OsStringExt as _;
    Ok(std::ffi::OsString::from_vec(bytes).into())
}

#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> Result<PathBuf, &'static str> {
    String::from_utf8(bytes).map(PathBuf::from).map_err(|_| "is not UTF-8")
}
