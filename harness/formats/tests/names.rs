//! No source but a format's own names the format: other code that must know something about formats asks for their properties.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use formats::FORMATS;
use std::path::{Path, PathBuf};

/// Files that name a format, and why.
const ALLOWED: &[(&str, &str)] = &[
    (
        "harness/transcript/src/clauses/",
        "the families of the clauses are named after the formats they are about",
    ),
    ("harness/formats/src/transport.rs", "the value of `transport` in envelopes"),
    ("harness/formats/src/envelope/mod.rs", "one envelope, of two transports"),
    ("harness/cli/src/command/play.rs", "the values of --transport"),
    (
        "harness/suite/src/reading.rs",
        "the formats as constants for importers; a test holds them to the registry",
    ),
    ("harness/suite/src/suite/folder.rs", "cases are kept in archives that are named as one of the formats"),
    ("harness/rules/src/families/jsonrpc.rs", "the family of the rules of JSON-RPC"),
    ("reports/src/check/sample.rs", "a sample for tests"),
];

#[test]
fn formats_are_named_in_their_own_folders_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let mut files = Vec::new();
    for folder in ["harness", "generators", "reports"] {
        sources(&root.join(folder), &mut files);
    }
    assert!(files.len() > 100, "{} source files", files.len());
    let mut found = Vec::new();
    for file in files {
        let path = file.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
        let allowed = |prefix: &str| path.starts_with(prefix);
        if ALLOWED.iter().any(|(prefix, _)| allowed(prefix)) {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap().replace("\r\n", "\n");
        let product = text.split("#[cfg(test)]").next().unwrap_or_default();
        for format in FORMATS {
            let own = format.name.replace('-', "_");
            let own = ["", "recorders/"].map(|folder| format!("harness/formats/src/{folder}{own}"));
            for name in std::iter::once(&format.name)
                .chain(format.aliases)
                .filter(|_| !own.iter().any(|own| path.starts_with(own)))
            {
                let literal = format!("\"{name}\"");
                for (number, line) in (1..).zip(product.lines()) {
                    let code = line.split("//").next().unwrap_or_default();
                    if code.contains(&literal) && !is_member(code, &literal) {
                        found.push(format!("{path}:{number}: {}", line.trim()));
                    }
                }
            }
        }
    }
    assert!(found.is_empty(), "use a property of `formats::Format` instead:\n{}", found.join("\n"));
}

/// Whether `"jsonrpc"` is the name of a member here, which every message has, rather than that of the format.
fn is_member(code: &str, literal: &str) -> bool {
    literal == "\"jsonrpc\""
        && !["== ", "!= ", "find(", "name: ", "| "]
            .iter()
            .any(|sign| code.contains(&format!("{sign}{literal}")))
}

/// The product's source files: those under a `src`, without tests.
fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !["tests", "benches", "examples", "target"].contains(&&*name) {
            sources(&path, files);
        } else if name.ends_with(".rs")
            && name != "tests.rs"
            && path.components().any(|part| part.as_os_str() == "src")
        {
            files.push(path);
        }
    }
}
