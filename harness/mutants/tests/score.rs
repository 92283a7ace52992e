//! The suite tells every mutant from the faithful reader, and nothing in it is idle.

#![expect(clippy::unwrap_used, reason = "a panic is a test's way to fail")]

use mutants::catalogue::{self, Original};
use mutants::score::matrix;
use std::path::Path;
use suite::builtin::Builtin;
use suite::importer::Importer as _;
use suite::{Root, Suite};

fn suite() -> Suite {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    Suite::load(&[Root::Disk(cases)]).unwrap()
}

#[test]
fn the_suite_kills_every_fault_and_no_case_is_idle() {
    let matrix = matrix(&suite(), 2).unwrap();
    assert!(matrix.findings.is_empty(), "{:#?}", matrix.findings);
    assert!(matrix.rows.len() >= 60, "{} mutants", matrix.rows.len());
    // A number in a document is one that a test derives again.
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let total = matrix.total();
    assert!(std::fs::read_to_string(readme).unwrap().contains(&total), "the README does not say: {total}");
}

/// The mutants deviate from the built-in reader, and not from a copy of it that has drifted away.
#[test]
fn without_a_fault_they_read_what_the_built_in_reader_reads() {
    for case in suite().cases {
        for transcript in &case.transcripts {
            let bytes = transcript.blob.bytes().unwrap();
            let faithful = Original::read(transcript.format, &bytes);
            let builtin = Builtin.read(transcript.format.name, &bytes);
            let again = builtin.clone().confirmed_by(faithful.answer());
            assert_eq!(again, builtin, "{}, {}", case.name, transcript.format.name);
        }
    }
}

#[test]
fn faults_have_names_and_sentences_of_their_own() {
    let mut seen = std::collections::BTreeSet::new();
    for mutant in catalogue::all() {
        assert!(seen.insert(mutant.name) && seen.insert(mutant.does), "{} stands twice", mutant.name);
        assert!(!mutant.breaks.is_empty() && !mutant.does.ends_with('.'), "{}", mutant.name);
    }
}
