//! Replays what the fuzz targets start from and what they ever found, on a stable toolchain.
//!
//! A file that breaks a target's property panics here just as it did there; its name is the last thing printed.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use generators::fuzzing::TARGETS;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// The names in a folder, in order; none where there is no such folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn seeds_and_crashes_hold() {
    for (target, run) in TARGETS {
        let mut seeds = 0;
        for kind in ["seeds", "crashes"] {
            let folder = fuzz().join(kind).join(target);
            for name in names(&folder) {
                println!("{kind}/{target}/{name}");
                run(&fs::read(folder.join(&name)).unwrap());
                seeds += u32::from(kind == "seeds");
            }
        }
        assert!(seeds > 0, "{target} has no seeds");
    }
}

/// Each seed with pieces cut out, doubled, swapped with another seed's, or changed: what a fuzzer does first, the same
/// every time. `PROPTEST_CASES` says how often, as it does for the properties.
#[test]
fn seeds_hold_when_they_are_broken() {
    let rounds = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(60);
    let marks: [&[u8]; 12] = [
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
    ];
    for (target, run) in TARGETS {
        let folder = fuzz().join("seeds").join(target);
        let seeds: Vec<_> = names(&folder).iter().map(|name| fs::read(folder.join(name)).unwrap()).collect();
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % limit.max(1)
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
fn every_target_has_its_file_and_every_format_its_target() {
    let known: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let files = names(&fuzz().join("fuzz_targets"));
    assert_eq!(files, known.iter().map(|name| format!("{name}.rs")).collect());
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for (name, _) in TARGETS {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name} is no [[bin]]");
        let target = fs::read_to_string(fuzz().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(target.contains(&format!("generators::fuzzing::run(\"{name}\", bytes)")), "{target}");
    }
    for format in formats::FORMATS {
        assert!(known.contains(&format.name.replace('-', "_")), "{} has no target", format.name);
    }
    for kind in ["seeds", "crashes"] {
        let strangers: Vec<_> = names(&fuzz().join(kind)).difference(&known).cloned().collect();
        assert!(strangers.iter().all(|name| name.starts_with('.')), "{kind} of no target: {strangers:?}");
    }
}
