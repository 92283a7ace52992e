//! Replays what the fuzz targets start from and what they ever found, on a stable toolchain.
//!
//! A file that breaks a target's property panics here just as it did there; its name is the last thing printed.

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

#[test]
fn every_target_has_its_file_and_every_format_its_target() {
    let known: BTreeSet<String> = TARGETS.iter().map(|target| target.0.to_owned()).collect();
    let files = names(&fuzz().join("fuzz_targets"));
    assert_eq!(files, known.iter().map(|name| format!("{name}.rs")).collect());
    let manifest = fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    for name in &known {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name} is no [[bin]]");
        let target = fs::read_to_string(fuzz().join(format!("fuzz_targets/{name}.rs"))).unwrap();
        assert!(target.contains(&format!("run(\"{name}\", bytes)")), "{target}");
    }
    for format in formats::FORMATS {
        assert!(known.contains(&format.name.replace('-', "_")), "{} has no target", format.name);
    }
    for kind in ["seeds", "crashes"] {
        let strangers: Vec<_> = names(&fuzz().join(kind)).difference(&known).cloned().collect();
        assert!(strangers.iter().all(|name| name.starts_with('.')), "{kind} of no target: {strangers:?}");
    }
}
