//! The README's examples print what the README says they print.
//!
//! Each `console` block is a list of commands (`$ mcp-concord …`), each followed by what it prints, results and
//! talk together. They are run from the repository's root.

use std::path::Path;
use std::process::Command;

#[test]
fn the_examples_print_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let mut examples = 0;
    for block in readme.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for example in block.split("$ mcp-concord ").skip(1) {
            let (arguments, expected) = example.split_once('\n').unwrap();
            let run = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
                .args(words(arguments))
                .env("NO_COLOR", "1")
                .env("COLUMNS", "100")
                .current_dir(&root)
                .output()
                .unwrap();
            let printed = [run.stdout, run.stderr].concat();
            let printed = String::from_utf8(printed).unwrap();
            assert_eq!(printed.trim_end(), expected.trim_end(), "$ mcp-concord {arguments}");
            examples += 1;
        }
    }
    assert!(examples >= 5, "the README lost its examples: {examples} were found");
}

/// Words as a shell splits them, as far as the README needs: single quotes hold one together.
fn words(line: &str) -> Vec<String> {
    let outside = |(index, part): (usize, &str)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    };
    line.split('\'').enumerate().flat_map(outside).collect()
}
