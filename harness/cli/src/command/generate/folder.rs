//! A variant as a case directory: its files, and how they are laid on disk.
//!
//! Knows: what the suite asks of a case directory. Refuses to know: how the variant was made; the trail and where the
//! session is from are told to it.

use super::super::Failure;
use generators::mutators::find;
use generators::variant::Variant;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use verdict::expectation::Expectation;

/// A case directory's files by their names.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

/// What a case says of the variant that it is.
pub(crate) struct About<'a> {
    /// The seed and the number that made it.
    pub(crate) seed: u64,
    /// See [`About::seed`].
    pub(crate) number: u64,
    /// A phrase that says where the meaning is from.
    pub(crate) source: &'a str,
    /// The name of the case without the fault, where the variant must be rejected; none in that case itself.
    pub(crate) twin: Option<&'a str>,
}

/// The files of a variant's case directory, by name.
pub(crate) fn files(variant: &Variant, about: &About<'_>) -> Files {
    let mut files = vec![("case.toml".to_owned(), case_file(variant, about).into_bytes())];
    for (format, file) in &variant.files {
        if let Ok(bytes) = file {
            files.push((format.file.to_owned(), bytes.clone()));
        }
    }
    if let Some(meaning) = variant.expectation.meaning() {
        files.push(("meaning.json".to_owned(), meaning.as_bytes().to_vec()));
    }
    files.sort();
    files
}

fn case_file(variant: &Variant, about: &About<'_>) -> String {
    let About { seed, number, source, twin } = *about;
    let trail = if variant.trail.is_empty() { "no change".to_owned() } else { variant.trail.join(", ") };
    let without = if twin.is_none() { " without its fault" } else { "" };
    let version = env!("CARGO_PKG_VERSION");
    let origin =
        format!("generated: seed {seed}, number {number}, version {version}, trail: {trail}; {source}");
    let mut sentences: Vec<&str> = variant
        .trail
        .iter()
        .filter_map(|step| find(step.split(' ').next().unwrap_or_default()))
        .map(|mutator| mutator.sentence)
        .collect();
    if sentences.is_empty() {
        sentences.push("The session as it is, in every format that can carry it.");
    }
    let clauses: &[&str] = if variant.clauses.is_empty() { &["EQ-PAIR"] } else { &variant.clauses };
    let clauses: Vec<_> = clauses.iter().map(|clause| quoted(clause)).collect();
    let mut out = String::new();
    let mut line = |key: &str, value: &str| {
        let _ = writeln!(out, "{key} = {value}");
    };
    line("title", &quoted(&format!("Variant {number} of seed {seed}{without}: {trail}")));
    line("clauses", &format!("[{}]", clauses.join(", ")));
    match &variant.expectation {
        Expectation::Meaning(_) => line("expect", "\"meaning\""),
        Expectation::Either(_) => line("expect", "\"either\""),
        Expectation::Rejection(code) => {
            line("expect", "\"rejection\"");
            line("reject", &quoted(code.name()));
            line("twin", &quoted(twin.unwrap_or_default()));
        }
    }
    line("reason", &quoted(&sentences.join(" ")));
    line("origin", &quoted(&origin));
    if let Some(marker) = variant.redacted {
        line("redacted", &quoted(marker));
    }
    for (format, file) in &variant.files {
        if let Err(why) = file {
            let _ = write!(out, "\n[formats.{}]\ncarries = false\nwhy = {}\n", format.name, quoted(why));
        }
    }
    out
}

/// A TOML string.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Writes one case directory. What stood in a case of this name is gone afterwards, and nothing else.
pub(crate) fn write(folder: &Path, files: &Files, force: bool) -> Result<(), Failure> {
    let failed =
        |error: std::io::Error| Failure::Unusable(format!("{} cannot be written: {error}", folder.display()));
    if folder.exists() {
        if !force {
            let why = "is there already; name another case, or write over it with --force";
            return Err(Failure::Unusable(format!("{} {why}", folder.display())));
        }
        if !folder.join("case.toml").is_file() {
            let why = "is no case directory, so it is not written over";
            return Err(Failure::Unusable(format!("{} {why}", folder.display())));
        }
        for entry in fs::read_dir(folder).map_err(failed)? {
            fs::remove_file(entry.map_err(failed)?.path()).map_err(failed)?;
        }
    }
    fs::create_dir_all(folder).map_err(failed)?;
    files.iter().try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes)).map_err(failed)
}
