//! What fuzzing begins with: for each target its inputs, and for each format the words that its transcripts are made of.
//!
//! Everything comes from the repository: the transcripts of its cases, `fuzz/seeds`, and what was found, in `fuzz/crashes`.

use crate::{BY_FORMAT, TARGETS};
use formats::{FORMATS, Format};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};
use transcript::json::{Json, JsonKind};

/// A longer transcript slows a fuzzer down more than it helps.
const LONGEST: usize = 16 << 10;
/// A longer word rarely occurs whole.
const LONGEST_WORD: usize = 40;
/// A word in fewer transcripts of a format is not part of the format.
const LEAST: usize = 2;
/// How many words of a format are kept, the most common first.
const MOST: usize = 120;

/// A file's name, and what is in it.
pub type File = (String, Vec<u8>);

/// The repository, by its root folder.
#[derive(Debug)]
pub struct Repository(PathBuf);

impl Repository {
    /// The one that this was built from.
    pub fn here() -> Self {
        Self(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
    }

    /// What the fuzzing of this target begins with, by `fuzz/seeds` and `fuzz/crashes` and, where it is [`BY_FORMAT`], by the
    /// cases, with the byte that chooses their format.
    ///
    /// # Errors
    /// Where a file cannot be read.
    pub fn seeds(&self, target: &str) -> io::Result<Vec<File>> {
        let mut found = Vec::new();
        for kind in ["seeds", "crashes"] {
            found.extend(files(&self.0.join("fuzz").join(kind).join(target))?);
        }
        if BY_FORMAT.contains(&target) {
            for (byte, format) in (0..).zip(FORMATS) {
                let choosing =
                    |(name, bytes): File| (format!("{}-{name}", format.name), [&[byte], &bytes[..]].concat());
                found.extend(self.transcripts(format)?.into_iter().map(choosing));
            }
        }
        Ok(found)
    }

    /// The transcripts of a format, without those that are long.
    ///
    /// # Errors
    /// Where a file cannot be read.
    pub fn transcripts(&self, format: &Format) -> io::Result<Vec<File>> {
        let mut found = Vec::new();
        for kind in ["seeds", "crashes"] {
            found.extend(files(&self.0.join("fuzz").join(kind).join("formats").join(format.name))?);
        }
        for (path, bytes) in cases::files() {
            if let Some(case) = path.strip_suffix(format.file).and_then(|case| case.strip_suffix('/')) {
                found.push((case.replace('/', "-"), bytes.to_vec()));
            }
        }
        found.retain(|(_, bytes)| bytes.len() <= LONGEST);
        Ok(found)
    }

    /// The words of a format's transcripts as libFuzzer reads them, one a line: members with their names, short values, and what
    /// lines begin with.
    ///
    /// # Errors
    /// Where a file cannot be read.
    pub fn dictionary(&self, format: &Format) -> io::Result<String> {
        let mut counts: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        for (_, bytes) in self.transcripts(format)? {
            for word in words(&String::from_utf8_lossy(&bytes)) {
                *counts.entry(word).or_default() += 1;
            }
        }
        let mut common: Vec<_> = counts.into_iter().filter(|(_, count)| *count >= LEAST).collect();
        common.sort_by(|(one, a), (two, b)| b.cmp(a).then_with(|| one.cmp(two)));
        let line = |(word, _): &(Vec<u8>, usize)| format!("\"{}\"\n", escaped(word));
        Ok(common.iter().take(MOST).map(line).collect())
    }

    /// Writes all of it: `TARGET/` and `TARGET.dict` for each target, `formats/FORMAT/` and `formats/FORMAT.dict` for fuzzers of
    /// other readers. The words of a target are the common ones, and those of all formats where it has transcripts.
    ///
    /// # Errors
    /// Where a file cannot be read or written.
    pub fn lay_out(&self, out: &Path) -> io::Result<()> {
        let common = fs::read_to_string(self.0.join("fuzz/dictionary.txt"))?;
        let mut all = common.clone();
        let mut known: BTreeSet<String> = common.lines().map(str::to_owned).collect();
        for format in FORMATS {
            let words = self.dictionary(format)?;
            for line in words.lines().filter(|line| known.insert((*line).to_owned())) {
                all.extend([line, "\n"]);
            }
            put(&out.join("formats"), format.name, self.transcripts(format)?, &words)?;
        }
        TARGETS.iter().try_for_each(|(target, _)| {
            let words = if BY_FORMAT.contains(target) { &all } else { &common };
            put(out, target, self.seeds(target)?, words)
        })
    }
}

fn put(out: &Path, name: &str, files: Vec<File>, dictionary: &str) -> io::Result<()> {
    let folder = out.join(name);
    fs::create_dir_all(&folder)?;
    for (number, (name, bytes)) in files.into_iter().enumerate() {
        // Two folders may have files of one name.
        fs::write(folder.join(format!("{number:04}-{name}")), bytes)?;
    }
    fs::write(out.join(format!("{name}.dict")), dictionary)
}

/// The names in a folder, in order; none where there is no such folder.
///
/// # Errors
/// Where the folder cannot be read.
pub fn names(folder: &Path) -> io::Result<BTreeSet<String>> {
    if !folder.is_dir() {
        return Ok(BTreeSet::new());
    }
    fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}

/// The files in a folder, by their names; none where there is no such folder.
///
/// # Errors
/// Where one cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<File>> {
    names(folder)?.into_iter().map(|name| Ok((name.clone(), fs::read(folder.join(name))?))).collect()
}

/// The words of one transcript, each once.
fn words(text: &str) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    let mut waiting: Vec<Json<'_>> = Json::parse(text).into_iter().collect();
    if waiting.is_empty() {
        for line in text.lines() {
            // A log has JSON behind other words.
            let (before, json) = line.split_at(line.find('{').unwrap_or(line.len()));
            found.extend(before.split_inclusive(' ').map(|word| word.as_bytes().to_vec()));
            waiting.extend(Json::parse(json));
        }
    }
    while let Some(value) = waiting.pop() {
        waiting.extend(value.items());
        for (name, value) in value.members() {
            let name = format!("\"{}\":", name.raw());
            found.insert(name.clone().into_bytes());
            if !matches!(value.kind(), JsonKind::Array | JsonKind::Object) {
                found.insert(format!("{name}{}", value.text()).into_bytes());
            }
            waiting.push(value);
        }
    }
    found.retain(|word| (2..=LONGEST_WORD).contains(&word.len()));
    found
}

/// The inside of a quoted word of a dictionary.
fn escaped(word: &[u8]) -> String {
    let byte = |byte: &u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    word.iter().map(byte).collect()
}
