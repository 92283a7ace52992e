//! The pages of the commands in docs/ end with the options as the program prints them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

const SEAM: &str =
    "<!-- From here on the page is what the program prints of its options; a test compares the two. -->\n";

fn options(command: &[&str]) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_mcp-concord")).arg("options").args(command).output().unwrap();
    assert!(run.status.success(), "{command:?}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn each_page_lists_the_options_that_the_program_has() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = |name: &str| {
        let page = std::fs::read_to_string(docs.join(format!("{name}.md"))).unwrap_or_default();
        page.replace("\r\n", "\n")
    };
    let list = options(&[]);
    let mut commands: Vec<&str> =
        list.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    // These two are so small that the first page explains them.
    commands.retain(|command| {
        let small = matches!(*command, "completions" | "man");
        assert!(!small || page("README").contains(&format!("`mcp-concord {command}")), "{command}");
        !small
    });
    assert!(commands.len() >= 15, "{list}");
    for command in commands {
        let page = page(command);
        let (_, below) = page.split_once(SEAM).unwrap_or_else(|| panic!("docs/{command}.md has no seam"));
        let derived = options(&[command]);
        assert!(
            below == derived,
            "docs/{command}.md is out of date; scripts/derive.sh writes this below its seam:\n{derived}"
        );
    }
}

#[test]
fn the_rules_that_help_names_are_rules() {
    let concord =
        |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_mcp-concord")).args(args).output().unwrap();
    let mut named = 0;
    for command in ["check", "explain"] {
        let help = String::from_utf8(concord(&[command, "--help"]).stdout).unwrap();
        let is_id = |word: &&str| {
            let part = |part: &str| part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
            word.matches('.').count() == 2 && word.split('.').all(|one| !one.is_empty() && part(one))
        };
        for id in help.split([' ', ',', '\n']).filter(is_id) {
            assert!(
                concord(&["explain", id]).status.success(),
                "{command} --help names {id}, which is no rule"
            );
            named += 1;
        }
    }
    assert!(named > 1, "only {named} rules were named");
}

#[test]
fn an_unknown_command_has_no_options() {
    let run = Command::new(env!("CARGO_BIN_EXE_mcp-concord")).args(["options", "juggle"]).output().unwrap();
    assert_eq!(run.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&run.stderr).contains("there is no command `juggle`"));
}
