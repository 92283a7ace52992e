//! What is known is no find, and some formats alone.

use super::{Place, found, told};
use std::fs;

const FAULT: &str = "fault:values/doubles-in-arguments";

const FLAGS: &[&str] = &["--seed", "1", "--runs", "40"];

/// A baseline of every find, in all formats.
fn baseline(place: &Place) -> String {
    let names: std::collections::BTreeSet<String> =
        place.files().into_keys().filter_map(|file| Some(file.split_once('/')?.0.to_owned())).collect();
    assert!(!names.is_empty());
    let entry =
        |name: String| format!("[[known]]\ncase = \"{name}\"\nkind = \"fail\"\nreason = \"Doubles.\"\n");
    let path = place.folder.path().join("known.toml");
    fs::write(&path, names.into_iter().map(entry).collect::<String>()).unwrap();
    path.display().to_string()
}

#[test]
fn how_the_cases_of_a_baseline_fail_is_no_find() {
    let place = Place::new();
    let first = found(&place.fuzz(FAULT, FLAGS));
    assert!(first.contains("finding 1: "), "{first}");
    let baseline = baseline(&place);
    let flags = [FLAGS, &["--baseline", &baseline]].concat();
    let before = place.files();
    let output = place.fuzz(FAULT, &flags);
    let said = told(&output);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains(": nothing found") && said.contains("  known: failures of kinds"), "{said}");
    assert!(place.files() == before, "nothing is saved again");
    // Another fault is one, and the entries excuse nothing of it.
    let said = found(&place.fuzz("fault:ids/zero-is-none", &flags));
    assert!(said.contains("finding 1: ") && said.contains("take it out there"), "{said}");
    // Nor is the baseline true of a reader that has no fault.
    let said = found(&place.fuzz("clean", &flags));
    assert!(said.contains(": nothing found") && said.contains("take it out there"), "{said}");
}

#[test]
fn some_formats_are_asked_about_alone() {
    let place = Place::new();
    let said = found(&place.fuzz(FAULT, &[FLAGS, &["--format", "har", "--format", "jsonrpc"]].concat()));
    let heads: Vec<&str> = said.lines().filter(|line| line.starts_with("finding ")).collect();
    let of = |format: &str| heads.iter().filter(|head| head.contains(&format!(": {format}: "))).count();
    assert!(!heads.is_empty() && of("har") + of("jsonrpc") == heads.len(), "{said}");
    assert!(!said.contains("http-sse") && said.contains("--format har --format jsonrpc"), "{said}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let place = Place::new();
    fs::write(
        place.folder.path().join("odd"),
        "[[known]]\ncase = \"no/such\"\nkind = \"fail\"\nreason = \"x\"\n",
    )
    .unwrap();
    let odd = place.folder.path().join("odd").display().to_string();
    for (flags, word) in [
        (&["--format", "har", "--format", "har"][..], "--format har is given twice"),
        (&["--format", "pcap"], "invalid value 'pcap'"),
        (&["--baseline", "no-such-file"], "no-such-file cannot be read"),
        (&["--baseline", &odd], "no case of the suite is `no/such`"),
        (&["--baseline", &odd, "--against", "x"], "cannot be used with"),
    ] {
        let output = place.fuzz("clean", flags);
        let said = told(&output);
        assert!(output.status.code() == Some(2) && said.contains(word), "{word}: {said}");
    }
}
