//! What must be true of any bytes, as plain functions that panic where it is not: one for each fuzz target.
//!
//! Those of readers and writers are in [`generators::fuzzing`], where other people's importers can use them; those of a
//! recorder's HTTP heads in [`wire::proxy::fuzzing`], beside what they look into. The fuzz targets are these functions and
//! nothing more, so that a stable test can replay what a fuzzer found.

#![expect(clippy::panic, reason = "a panic is how a property says to a fuzzer that it does not hold")]

mod bindings;
mod check;
mod diff;
pub mod edits;
mod redact;
pub mod seeds;

use formats::FORMATS;
use generators::fuzzing::{adapter_answer, baseline, case_toml, convert, equivalence, json, reader, sse};
use wire::proxy::fuzzing::heads;

/// A property of bytes.
pub type Target = fn(&[u8]);

/// Every target by its name. Its seeds and what it found are in folders of that name, except where it is [`BY_FORMAT`].
pub const TARGETS: &[(&str, Target)] = &[
    ("reader", |bytes| reader(FORMATS, bytes)),
    ("sse", sse),
    ("json", json),
    ("equivalence", equivalence),
    ("convert", convert),
    ("check", check::any),
    ("check_made", check::made),
    ("bindings", bindings::any),
    ("redact", redact::any),
    ("redact_made", redact::made),
    ("diff", diff::made),
    ("heads", heads),
    ("adapter_answer", adapter_answer),
    ("case_file", case_toml),
    ("baseline", baseline),
];

/// The targets whose first byte is the index of a format in [`FORMATS`] (modulo their number); the rest is a transcript.
/// Their seeds are plain transcripts in folders named after formats, to which this byte is added.
pub const BY_FORMAT: &[&str] = &["reader", "convert", "check", "bindings", "redact"];

/// Runs the target of this name.
///
/// # Panics
/// Where its property does not hold, or there is no such target.
pub fn run(name: &str, bytes: &[u8]) {
    match TARGETS.iter().find(|target| target.0 == name) {
        Some((_, target)) => target(bytes),
        None => panic!("there is no target {name}"),
    }
}
