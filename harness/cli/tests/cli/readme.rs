//! The examples in the README and in the pages of the commands print what those pages say.
//!
//! Each `console` block is a list of commands (`$ mcp-concord …`), each followed by everything that it prints. They run in the
//! repository's root.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn the_examples_print_what_they_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages: Vec<PathBuf> =
        fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    // The pages of the commands have a seam, above which they are written by hand.
    pages.retain(|page| {
        fs::read_to_string(page).is_ok_and(|text| text.contains("what the program prints of its options"))
    });
    pages.push(root.join("README.md"));
    pages.sort();
    let mut wrong = Vec::new();
    let mut examples = 0;
    for page in &pages {
        let text = fs::read_to_string(page).unwrap().replace("\r\n", "\n");
        for block in text.split("```console\n").skip(1) {
            let block = block.split("```").next().unwrap();
            for example in block.split("$ mcp-concord ").skip(1) {
                let (arguments, expected) = example.split_once('\n').unwrap();
                let printed = printed(&root, arguments);
                examples += 1;
                if printed.trim_end() != expected.trim_end() {
                    wrong.push(format!("{}\n$ mcp-concord {arguments}\n{printed}", page.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "these examples print something else:\n{}", wrong.join("\n"));
    assert!(examples >= 15, "the pages lost their examples: {examples} were found");
}

fn printed(root: &Path, arguments: &str) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .args(words(arguments))
        .env("NO_COLOR", "1")
        .env("COLUMNS", "100")
        .current_dir(root)
        .output()
        .unwrap();
    String::from_utf8([run.stdout, run.stderr].concat()).unwrap()
}

/// Words as a shell splits them, as far as the README needs: single quotes hold one together.
fn words(line: &str) -> Vec<String> {
    let outside = |(index, part): (usize, &str)| match index % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    };
    line.split('\'').enumerate().flat_map(outside).collect()
}
