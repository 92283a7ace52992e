//! The program from the outside: each module runs the built binary as a person or a script would.
//!
//! They are one binary, because most of them wait for other processes: so the waits overlap, and the program's libraries are
//! linked once. Only one of them: `cargo test -p mcp-concord --test cli kill::`.

mod kill;
mod listen;
mod proxy;
mod redact;
mod sockets;
mod support;
mod survival;
mod transcripts;

/// A file that is not named here is not compiled, and its tests are not run.
#[test]
fn every_file_of_these_tests_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let main = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    let mut modules = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let is_rust = path.is_dir() || path.extension().is_some_and(|extension| extension == "rs");
        let name = path.file_stem().unwrap().to_str().unwrap();
        if is_rust && name != "main" {
            assert!(main.contains(&format!("mod {name};")), "tests/cli/main.rs does not say `mod {name};`");
            modules += 1;
        }
    }
    assert!(modules > 6, "only {modules} were found");
}
