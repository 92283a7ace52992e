//! Replays what the fuzz targets start from and what they ever found, on a stable toolchain.
//!
//! A file that breaks a target's property panics here just as it did there; its name is the last thing printed.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use arbitrary::{Arbitrary as _, Unstructured};
use formats::{FORMATS, Format, Input, ReadError};
use generators::fuzzing::reader;
use properties::edits::{Edit, edited};
use properties::seeds::{File, files, names};
use properties::{BY_FORMAT, TARGETS};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, io};
use transcript::session::Sink;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What a target is run on: its own files; where the first byte chooses a format, each format's transcripts with that
/// byte, and its own files as every format.
fn inputs(kind: &str, target: &str) -> Vec<File> {
    let own = files(&fuzz().join(kind).join(target)).unwrap();
    if !BY_FORMAT.contains(&target) {
        return own;
    }
    let mut inputs = Vec::new();
    for (index, format) in (0_u8..).zip(FORMATS) {
        let of_it = files(&fuzz().join(kind).join("formats").join(format.name)).unwrap();
        assert!(kind != "seeds" || !of_it.is_empty(), "{} has no seeds", format.name);
        let found =
            own.iter().map(|(name, bytes)| (name.clone(), bytes.get(1..).unwrap_or_default().to_vec()));
        let choosing =
            |(name, bytes): File| (format!("{}/{name}", format.name), [&[index], &bytes[..]].concat());
        inputs.extend(of_it.into_iter().chain(found).map(choosing));
    }
    inputs
}

#[test]
fn seeds_and_crashes_hold() {
    for (target, run) in TARGETS {
        assert!(!inputs("seeds", target).is_empty(), "{target} has no seeds");
        for (name, bytes) in inputs("seeds", target).into_iter().chain(inputs("crashes", target)) {
            println!("{target}: {name}");
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
                if below(5) > 0 {
                    let mut choices = [(); 12].map(|()| u8::try_from(below(256)).unwrap());
                    // How much goes.
                    choices[2] %= 61;
                    let edit = Edit::arbitrary(&mut Unstructured::new(&choices)).unwrap();
                    bytes = edited(bytes, &[edit]);
                    continue;
                }
                let at = below(bytes.len() + 1);
                let end = at + below((bytes.len() - at).min(60) + 1);
                let other = if below(8) > 0 { &seeds[below(seeds.len())][..] } else { b"\r\n" };
                let from = below(other.len());
                bytes.splice(at..end, other[from..(from + below(80)).min(other.len())].to_vec());
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
    let files = names(&fuzz().join("fuzz_targets")).unwrap();
    assert_eq!(files, known.iter().map(|name| format!("{name}.rs")).collect());
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name} is not a [[bin]]");
        let target = fs::read_to_string(fuzz().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(target.contains(&format!("properties::run(\"{name}\", bytes)")), "{target}");
    }
    let formats: BTreeSet<String> = FORMATS.iter().map(|format| format.name.to_owned()).collect();
    for kind in ["seeds", "crashes"] {
        let folders: BTreeSet<String> = names(&fuzz().join(kind)).unwrap();
        let unknown: Vec<_> =
            folders.iter().filter(|name| !name.starts_with('.') && *name != "formats").collect();
        assert!(unknown.iter().all(|name| known.contains(*name)), "{kind} of no target: {unknown:?}");
        let unknown: Vec<_> =
            names(&fuzz().join(kind).join("formats")).unwrap().difference(&formats).cloned().collect();
        assert!(unknown.is_empty(), "{kind} of no format: {unknown:?}");
    }
}
