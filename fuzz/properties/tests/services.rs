//! What fuzzing services take: the seeds and words that are derived here are there for every target, and their files call the
//! one script that builds everything.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use formats::FORMATS;
use properties::TARGETS;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}

#[test]
fn every_target_and_every_format_has_its_seeds_and_its_words() {
    let out = tempfile::tempdir().unwrap();
    let done = Command::new(root().join("scripts/fuzz-seeds.sh"))
        .arg(out.path())
        .env("FUZZ_SEEDS", env!("CARGO_BIN_EXE_fuzz-seeds"))
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let both = |name: &str| [format!("{name}.dict"), format!("{name}_seed_corpus.zip")];
    let targets: BTreeSet<String> = TARGETS.iter().flat_map(|(name, _)| both(name)).collect();
    assert_eq!(names(out.path()), targets);
    let formats: BTreeSet<String> = FORMATS.iter().flat_map(|format| both(format.name)).collect();
    assert_eq!(names(&out.path().join("formats")), formats);
    for (folder, files) in [(out.path().to_owned(), targets), (out.path().join("formats"), formats)] {
        for name in files {
            let bytes = fs::read(folder.join(&name)).unwrap();
            match name.strip_suffix(".dict") {
                Some(about) => words(about, &String::from_utf8(bytes).unwrap()),
                None => assert!(bytes.starts_with(b"PK\x03\x04"), "{name} has no files"),
            }
        }
    }
    for name in ["formats/har", "reader", "check"] {
        let words = fs::read_to_string(out.path().join(format!("{name}.dict"))).unwrap();
        assert!(words.contains(r#""\"startedDateTime\":""#), "{name}:\n{words}");
    }
}

/// A line of a dictionary that libFuzzer cannot read ends its run before it begins.
fn words(about: &str, dictionary: &str) {
    let lines = dictionary.lines().filter(|line| !line.starts_with('#'));
    assert!(lines.clone().count() >= 10, "{about} has few words:\n{dictionary}");
    for line in lines {
        let inside = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or_default();
        assert!(
            !inside.is_empty() && inside.bytes().all(|byte| (b' '..=b'~').contains(&byte)),
            "{about}: {line}"
        );
    }
}

#[test]
fn the_services_build_by_the_one_script() {
    for service in [".clusterfuzzlite", "fuzz/oss-fuzz"] {
        let read = |name: &str| fs::read_to_string(root().join(service).join(name)).unwrap();
        assert!(read("build.sh").contains("fuzz/build.sh \"$OUT\""));
        assert!(read("Dockerfile").contains("build.sh $SRC/build.sh"));
        assert!(read("project.yaml").contains("language: rust"));
    }
    let build = fs::read_to_string(root().join("fuzz/build.sh")).unwrap();
    assert!(build.contains("scripts/fuzz-seeds.sh \"$out\""));
}
