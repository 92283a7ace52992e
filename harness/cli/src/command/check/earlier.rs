//! What an earlier `--output ndjson` has, so that it need not be judged again.
//!
//! Memory: 33 bytes for each of its recordings, and one line.

use crate::command::context::Failure;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

/// A longer line is none of ours.
const LONGEST_LINE: u64 = 1 << 30;

/// The recordings of an earlier output.
pub(super) struct Earlier {
    /// By digest: whether it counts as a fault for the exit code.
    judged: HashMap<[u8; 32], bool>,
    /// What a person should know of it, each in a sentence.
    pub notes: Vec<String>,
}

/// What matters here of a line.
#[derive(Deserialize)]
struct Line {
    digest: Option<String>,
    failed: bool,
    version: String,
    options: String,
}

impl Earlier {
    /// Reads what a program of this version judged with these options.
    pub(super) fn read(path: &Path, version: &str, options: &str) -> Result<Self, Failure> {
        let name = path.display();
        let unreadable = |error| Failure::Unusable(format!("{name} cannot be read: {error}"));
        let file = File::open(path).map_err(unreadable)?;
        let is_output = is_output(&file);
        let mut reader = BufReader::new(file);
        let (mut judged, mut notes) = (HashMap::new(), Vec::new());
        let (mut number, mut otherwise) = (0_u64, 0_u64);
        let mut text = Vec::new();
        loop {
            text.clear();
            reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut text).map_err(unreadable)?;
            if text.is_empty() {
                break;
            }
            number += 1;
            let whole = text.ends_with(b"\n");
            if !whole && is_output {
                return Err(Failure::Unusable(format!(
                    "{name} ends in the middle of line {number}, where the output would be appended; remove that line first"
                )));
            }
            match serde_json::from_slice::<Line>(&text) {
                Ok(line) if line.version != version || line.options != options => otherwise += 1,
                Ok(line) => {
                    if let Some(digest) = line.digest.as_deref().and_then(bytes) {
                        *judged.entry(digest).or_default() |= line.failed;
                    }
                }
                Err(_) if !whole => notes
                    .push(format!("the last line of {name}, line {number}, is cut short and was ignored")),
                Err(_) => {
                    return Err(Failure::Unusable(format!(
                        "line {number} of {name} is not what `check --output ndjson` prints"
                    )));
                }
            }
        }
        if otherwise > 0 {
            notes.push(format!(
                "ignored {otherwise} of {number} lines of {name}: another version or other options judged them"
            ));
        }
        Ok(Self { judged, notes })
    }

    /// Whether a recording counts as a fault for the exit code, where it was judged.
    pub(super) fn failed(&self, digest: [u8; 32]) -> Option<bool> {
        self.judged.get(&digest).copied()
    }
}

/// The bytes of `sha256:` and 64 hexadecimal digits.
fn bytes(digest: &str) -> Option<[u8; 32]> {
    let digits = digest.strip_prefix("sha256:")?;
    let mut bytes = [0; 32];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * index..2 * index + 2)?, 16).ok()?;
    }
    Some(bytes)
}

/// Whether a file is the standard output, too.
#[cfg(unix)]
fn is_output(file: &File) -> bool {
    use std::os::fd::AsFd as _;
    use std::os::unix::fs::MetadataExt as _;
    let output = std::io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let place = |file: &File| file.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()));
    output.is_ok_and(|output| place(&output) == place(file))
}

#[cfg(not(unix))]
fn is_output(_: &File) -> bool {
    false
}
