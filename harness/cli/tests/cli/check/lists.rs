//! Which recordings: those of a list, and a part of them.

use super::{Folder, right, wrong};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;

/// The files of `--output ndjson`.
fn judged(folder: &Folder, arguments: &[&str], code: i32) -> Vec<String> {
    let ran = folder.check(&[&["--output", "ndjson"], arguments].concat()).is(code);
    let lines = ran.out.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    lines.map(|line| line["file"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_list_names_recordings() {
    let folder = Folder::with(&[
        ("a", &right()),
        ("b c", &wrong()),
        ("in/d", &right()),
        ("-", &right()),
        ("new\nline", &right()),
    ]);
    folder.write("list", b"a\n\nb c\nin\n-\na");
    assert_eq!(judged(&folder, &["--files-from", "list"], 1), ["a", "b c", "in/d", "./-", "a"]);
    assert_eq!(judged(&folder, &["a", "--files-from", "list"], 1)[..2], ["a", "a"]);
    folder.write("list0", b"a\0new\nline\0");
    assert_eq!(judged(&folder, &["--files-from", "list0", "-0"], 0), ["a", "new\nline"]);
    assert_eq!(judged(&folder, &["--files-from", "list0", "--null"], 0).len(), 2);
    // What is not there is told and counted, and the rest is judged.
    folder.write("list", b"gone\na\n");
    assert_eq!(judged(&folder, &["--files-from", "list"], 2), ["gone", "a"]);
}

#[test]
fn a_list_that_cannot_be_used_is_told() {
    let folder =
        Folder::with(&[("a", &right()), ("empty", ""), ("long", &"x".repeat(100_000)), ("in/b", &right())]);
    for (arguments, words) in [
        (&["--files-from", "gone"][..], "the list gone cannot be read"),
        (&["--files-from", "in"], "the list in cannot be read"),
        (&["--files-from", "empty"], "the list empty names no file"),
        (&["--files-from", "long"], "item 1 of long is longer than 65536 bytes"),
        (&["--files-from", "a"], "there is no file {"),
        (&["a", "-0"], "--files-from"),
        (&["-", "--files-from", "-"], "either a recording or a list"),
    ] {
        folder.check(arguments).is(2).says(words);
    }
    // The standard input of these tests is empty.
    folder.check(&["--files-from", "-"]).is(2).says("the list the standard input names no file");
    // What was named before the list is judged all the same.
    folder.check(&["a", "--files-from", "long"]).is(2).shows("a: mcp-replay");
}

#[test]
fn a_part_is_told_by_the_path() {
    let folder = Folder::new();
    let names: Vec<String> = (0..30).map(|number| format!("in/{number:02}.jsonl")).collect();
    for name in &names {
        folder.write(name, right().as_bytes());
    }
    let mut all = BTreeSet::new();
    for part in 1..=3_u64 {
        let shard = format!("{part}/3");
        let of_part = judged(&folder, &["in", "--shard", &shard], 0);
        // As the page says it.
        let expected: Vec<String> = names
            .iter()
            .filter(|name| {
                let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
                u64::from_be_bytes(digest[..8].try_into().unwrap()) % 3 == part - 1
            })
            .cloned()
            .collect();
        assert_eq!(of_part, expected, "{shard}");
        all.extend(of_part);
    }
    assert_eq!(all, names.into_iter().collect());
    for shard in ["0/3", "4/3", "1/0", "a/b", "1"] {
        folder.check(&["in", "--shard", shard]).is(2).says("is not a shard: write I/N");
    }
    // An empty part is no fault: other parts have the folder's recordings.
    let one = Folder::with(&[("in/a", &right())]);
    let counts: Vec<usize> =
        (1..=50).map(|part| judged(&one, &["in", "--shard", &format!("{part}/50")], 0).len()).collect();
    assert_eq!(counts.iter().sum::<usize>(), 1);
}
