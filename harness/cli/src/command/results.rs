//! The options of `run` and `drive` for their results: where these go, and what they say of when and what was tested.

use super::context::Failure;
use super::values::{spelled, within};
use hmac_sha256::Hash as Sha256;
use std::fmt::Display;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use std::{env, fs, io};
use verdict::record::{Implementation, Record};
use walkdir::WalkDir;
use wire::files::is_same;

const DAY: i64 = 24 * 60 * 60 * 1000;

#[derive(Debug, clap::Args)]
pub(super) struct ResultArgs {
    /// Write the results to this file, as JSON; with `run --scale`, the measurements.
    #[arg(long, value_name = "FILE")]
    pub(super) results: Option<PathBuf>,
    /// Write results.json, times.json, index.html, junit.xml, summary.md and badge.json into this folder.
    #[arg(long, value_name = "DIR", conflicts_with = "list")]
    pub(super) report: Option<PathBuf>,
    /// The name of the program under test in the results, with its version after an `@`.
    #[arg(long, value_name = "NAME[@VERSION]", value_parser = named)]
    name: Option<(String, Option<String>)>,
    /// Date the results, and let them expire after this many days; `report` shows it.
    #[arg(long, value_name = "DAYS", value_parser = within::<1, 65535>)]
    valid_for: Option<u64>,
    /// Put the SHA-256 of this file, or of the files of this folder, into the results as that of the program under test. Repeatable.
    #[arg(long, value_name = "PATH")]
    digest_of: Vec<PathBuf>,
}

fn named(text: &str) -> Result<(String, Option<String>), String> {
    let (name, version) = match text.rsplit_once('@') {
        Some((name, version)) if !name.is_empty() => (name, Some(version.to_owned())),
        _ => (text, None),
    };
    match name.is_empty() || version.as_deref() == Some("") {
        true => Err("write NAME or NAME@VERSION".to_owned()),
        false => Ok((name.to_owned(), version)),
    }
}

/// What results say of what was tested, and when.
pub(super) struct Origin<'a> {
    args: &'a ResultArgs,
    digest: Option<String>,
    days: Option<[String; 2]>,
}

impl ResultArgs {
    /// Reads the files that the digest is of, and the clock, before the run begins. The results do not go where the baseline is.
    pub(super) fn origin(&self, baseline: Option<&Path>) -> Result<Origin<'_>, Failure> {
        let overwritten = baseline.zip(self.results.as_deref()).filter(|(one, other)| is_same(one, other));
        if let Some((known, _)) = overwritten {
            return Err(format!("--results would overwrite the baseline {}", known.display()).into());
        }
        let asked = self.valid_for.is_some() || !self.digest_of.is_empty();
        if asked && self.results.is_none() && self.report.is_none() {
            let why = "--valid-for and --digest-of are written into the results: name a file with --results, or a folder with --report";
            return Err(why.into());
        }
        let days = match self.valid_for {
            Some(days) => {
                let now = now()?;
                Some([now, now.saturating_add(days.cast_signed() * DAY)].map(day))
            }
            None => None,
        };
        Ok(Origin { args: self, digest: digest(&self.digest_of)?, days })
    }
}

impl Origin<'_> {
    /// Names what was tested as the call does.
    pub(super) fn name(&self, implementation: &mut Implementation) {
        if let Some((name, version)) = &self.args.name {
            implementation.name.clone_from(name);
            if let Some(version) = version {
                implementation.version.clone_from(version);
            }
        }
        implementation.digest.clone_from(&self.digest);
    }

    /// Puts it into a record.
    pub(super) fn mark(&self, record: &mut Record) {
        self.name(&mut record.implementation);
        if let Some([date, expires]) = &self.days {
            (record.date, record.expires) = (Some(date.clone()), Some(expires.clone()));
        }
    }
}

/// Whether the last day of a record is over.
pub(super) fn is_over(record: &Record) -> Result<bool, Failure> {
    record.expires.as_ref().map_or(Ok(false), |last| Ok(*last < day(now()?)))
}

/// Milliseconds since the Unix epoch: of SOURCE_DATE_EPOCH where it is set, so that a build can be repeated, or else of now.
fn now() -> Result<i64, Failure> {
    let seconds = match env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text
            .parse::<i64>()
            .map_err(|_| format!("SOURCE_DATE_EPOCH is `{text}`, which is not a number of seconds"))?,
        Err(_) => {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            i64::try_from(since).unwrap_or(i64::MAX)
        }
    };
    Ok(seconds.saturating_mul(1000))
}

fn day(milliseconds: i64) -> String {
    formats::time::write(milliseconds).chars().take(10).collect()
}

/// The digest over the paths and bytes of files; those of a folder in the order of their names, but for hidden ones. A link is the
/// path that it holds. Memory: one block of a file.
fn digest(paths: &[PathBuf]) -> Result<Option<String>, Failure> {
    let mut hash = Sha256::new();
    for path in paths {
        let shown = |entry: &walkdir::DirEntry| {
            entry.depth() == 0 || !entry.file_name().as_encoded_bytes().starts_with(b".")
        };
        for entry in WalkDir::new(path).sort_by_file_name().into_iter().filter_entry(shown) {
            let unreadable = |at: &Path, error: &dyn Display| {
                Failure::Unusable(format!("{} cannot be read: {error}", at.display()))
            };
            let entry = entry.map_err(|error| match error.io_error() {
                Some(why) => unreadable(error.path().unwrap_or(path), why),
                None => unreadable(path, &error),
            })?;
            if !entry.file_type().is_dir() {
                let name = entry.path().strip_prefix(path).unwrap_or(Path::new(""));
                add(&mut hash, name, entry.path()).map_err(|error| unreadable(entry.path(), &error))?;
            }
        }
    }
    Ok((!paths.is_empty()).then(|| spelled(hash.finalize())))
}

fn add(hash: &mut Sha256, name: &Path, file: &Path) -> io::Result<()> {
    hash.update(name.as_os_str().as_encoded_bytes());
    hash.update([0]);
    let mut length = 0_u64;
    let mut take = |bytes: &[u8]| {
        hash.update(bytes);
        length += bytes.len() as u64;
    };
    if !name.as_os_str().is_empty() && file.is_symlink() {
        take(fs::read_link(file)?.as_os_str().as_encoded_bytes());
    } else if !fs::metadata(file)?.is_file() {
        // To open a pipe is to wait for a program that writes to it.
        return Err(io::Error::other("it is not a regular file"));
    } else {
        let (mut from, mut block) = (File::open(file)?, vec![0; 1 << 16]);
        loop {
            match from.read(&mut block)? {
                0 => break,
                count => take(&block[..count]),
            }
        }
    }
    hash.update(length.to_be_bytes());
    Ok(())
}
