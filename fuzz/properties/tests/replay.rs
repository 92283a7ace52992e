//! Replays what the fuzz targets start from and what they ever found, on a stable toolchain.
//!
//! A file that breaks a target's property panics here just as it did there; its name is the last thing printed.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use formats::{FORMATS, Format, Input, ReadError};
use generators::fuzzing::reader;
use properties::{BY_FORMAT, TARGETS};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};
use transcript::session::Sink;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The names in a folder, in order; none where there is no such folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// The files in a folder with their paths, in order; none where there is no such folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let file =
        |name: String| (folder.join(&name).display().to_string(), fs::read(folder.join(name)).unwrap());
    names(folder).into_iter().map(file).collect()
}

/// What a target is run on: its own files; where the first byte chooses a format, each format's transcripts with that
/// byte, and its own files as every format.
fn inputs(kind: &str, target: &str) -> Vec<(String, Vec<u8>)> {
    let own = files(&fuzz().join(kind).join(target));
    if !BY_FORMAT.contains(&target) {
        return own;
    }
    let choosing =
        |(format, (path, bytes)): (u8, (String, Vec<u8>))| (path, [&[format], &bytes[..]].concat());
    let mut inputs = Vec::new();
    for (index, format) in (0..).zip(FORMATS) {
        let of_it = files(&fuzz().join(kind).join("formats").join(format.name));
        assert!(kind != "seeds" || !of_it.is_empty(), "{} has no seeds", format.name);
        let found =
            own.iter().map(|(path, bytes)| (path.clone(), bytes.get(1..).unwrap_or_default().to_vec()));
        inputs.extend(of_it.into_iter().chain(found).map(|file| choosing((index, file))));
    }
    inputs
}

#[test]
fn seeds_and_crashes_hold() {
    for (target, run) in TARGETS {
        assert!(!inputs("seeds", target).is_empty(), "{target} has no seeds");
        for (path, bytes) in inputs("seeds", target).into_iter().chain(inputs("crashes", target)) {
            println!("{target}: {path}");
            run(&bytes);
        }
    }
}

/// A format that is added to the list is fuzzed by the byte that is its place, and nothing else has to name it.
#[test]
#[should_panic(expected = "made up")]
fn a_new_format_is_fuzzed_at_once() {
    let broken = |_: &mut Input<'_>, _, _: &mut Sink<'_>| Err(ReadError::Io(io::Error::other("made up")));
    let made_up = Format { name: "made-up", read: broken, ..*FORMATS[0] };
    let formats: Vec<&Format> = FORMATS.iter().copied().chain([&made_up]).collect();
    reader(&formats, &[u8::try_from(FORMATS.len()).unwrap(), b'{']);
}

/// Each seed with pieces cut out, doubled, swapped with another seed's, or changed: what a fuzzer does first, the same
/// every time. `PROPTEST_CASES` says how often, as it does for the properties; a tenth of it where an input is judged or
/// redacted many times.
#[test]
fn seeds_hold_when_they_are_broken() {
    let rounds: usize =
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    let marks: [&[u8]; 13] = [
        b"\"",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b"null",
        b"\n",
        b"\0",
        b"\xff",
        b"\\ud83d",
        "\u{feff}".as_bytes(),
        b"\r\n",
    ];
    for (target, run) in TARGETS {
        let seeds: Vec<Vec<u8>> = inputs("seeds", target).into_iter().map(|(_, bytes)| bytes).collect();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % limit.max(1)
        };
        let rounds = if ["check", "check_made", "bindings", "redact_made"].contains(target) {
            rounds.div_ceil(10)
        } else {
            rounds
        };
        for round in 0..rounds * seeds.len() {
            let mut bytes = seeds[round % seeds.len()].clone();
            for _ in 0..=below(3) {
                let at = below(bytes.len() + 1);
                let end = at + below((bytes.len() - at).min(60) + 1);
                let with = match below(5) {
                    0 => Vec::new(),
                    1 => bytes[at..end].repeat(2),
                    2 => marks[below(marks.len())].to_vec(),
                    3 => {
                        let other = &seeds[below(seeds.len())];
                        let from = below(other.len());
                        other[from..(from + below(80)).min(other.len())].to_vec()
                    }
                    _ => vec![u8::try_from(below(256)).unwrap()],
                };
                bytes.splice(at..end, with);
            }
            let broken = bytes.clone();
            if std::panic::catch_unwind(|| run(&broken)).is_err() {
                panic!("{target} does not hold for {:?}", bytes.escape_ascii().to_string());
            }
        }
    }
}

#[test]
fn every_target_has_its_file_and_every_seed_its_target() {
    let known: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let files = names(&fuzz().join("fuzz_targets"));
    assert_eq!(files, known.iter().map(|name| format!("{name}.rs")).collect());
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name} is not a [[bin]]");
        let target = fs::read_to_string(fuzz().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(target.contains(&format!("properties::run(\"{name}\", bytes)")), "{target}");
    }
    let formats: BTreeSet<String> = FORMATS.iter().map(|format| format.name.to_owned()).collect();
    for kind in ["seeds", "crashes"] {
        let folders: BTreeSet<String> = names(&fuzz().join(kind));
        let unknown: Vec<_> =
            folders.iter().filter(|name| !name.starts_with('.') && *name != "formats").collect();
        assert!(unknown.iter().all(|name| known.contains(*name)), "{kind} of no target: {unknown:?}");
        let unknown: Vec<_> =
            names(&fuzz().join(kind).join("formats")).difference(&formats).cloned().collect();
        assert!(unknown.is_empty(), "{kind} of no format: {unknown:?}");
    }
}
