//! The suite tells every mutant from the original reader, and nothing in it is idle.

#![expect(clippy::unwrap_used, reason = "a panic is a test's way to fail")]

use mcp_concord_suite::builtin::Builtin;
use mcp_concord_suite::importer::Importer as _;
use mcp_concord_suite::{Root, Suite};
use mutants::score::{Finding, matrix, matrix_of};
use mutants::{Mutant, Original, catalogue, json, on_reading, on_text};
use std::collections::BTreeSet;
use std::path::Path;

fn suite() -> Suite {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    Suite::load(&[Root::Disk(cases)]).unwrap()
}

#[test]
fn the_suite_kills_every_mutant_and_no_case_is_idle() {
    let matrix = matrix(&suite(), 2).unwrap();
    assert!(matrix.findings.is_empty(), "{:#?}", matrix.findings);
    assert!(matrix.rows.len() >= 60, "{} mutants", matrix.rows.len());
    let mut seen = BTreeSet::new();
    for row in &matrix.rows {
        let name = row.mutant.name;
        assert!(seen.insert((&row.killers, row.mutant.breaks)), "no case tells {name} from another mutant");
    }
}

/// A new mutant is one row: a name, the clauses that it breaks, what it does, and the mistake.
#[test]
fn a_mutant_is_one_row() {
    let mistake = on_reading::on_values(&["tool"], json::strings(|name| name.replace('_', "-")));
    let row = Mutant::new("values/dashes", &["EQ-TOOL"], "writes dashes in the names of tools", mistake);
    let matrix = matrix_of(&suite(), &[&row], 2).unwrap();
    assert_eq!(matrix.killed(), 1);
    let killers = &matrix.rows[0].killers;
    assert!(killers.iter().any(|(case, _)| case.starts_with("values/")), "{killers:?}");
    let of_row = [Finding::Survives(row.name), Finding::ClauseNotNamed(row.name)];
    assert!(!matrix.findings.iter().any(|finding| of_row.contains(finding)), "{:?}", matrix.findings);
}

/// The mutants deviate from the built-in reader, and not from a copy of it that has drifted away.
#[test]
fn without_a_mistake_they_read_what_the_built_in_reader_reads() {
    for case in suite().cases {
        for transcript in &case.transcripts {
            let bytes = transcript.blob.bytes().unwrap();
            let original = Original::read(transcript.format, &bytes);
            let builtin = Builtin::default().read(transcript.format.name, &bytes);
            let again = builtin.clone().confirmed_by(original.answer());
            assert_eq!(again, builtin, "{}, {}", case.name, transcript.format.name);
        }
    }
}

/// An edit that changes nothing must change no answer; otherwise a mutant would be killed by its machinery.
#[test]
fn messages_written_again_as_they_were_read_the_same() {
    let mut edited = 0;
    for case in suite().cases {
        for transcript in &case.transcripts {
            let bytes = transcript.blob.bytes().unwrap();
            let format = transcript.format;
            let Ok(text) = std::str::from_utf8(&bytes) else { continue };
            let same = on_text::messages(format, text, &|message| Some(message.text().to_owned()));
            let Some(again) = same else { continue };
            let again = Original::read(format, again.as_bytes());
            let expected = Original::read(format, &bytes).answer().clone();
            assert_eq!(
                expected.clone().confirmed_by(again.answer()),
                expected,
                "{}, {}",
                case.name,
                format.name
            );
            edited += 1;
        }
    }
    assert!(edited > 1_000, "{edited} transcripts were edited");
}

#[test]
fn mutants_have_names_and_sentences_of_their_own() {
    let mut seen = BTreeSet::new();
    for mutant in catalogue::all() {
        assert!(seen.insert(mutant.name) && seen.insert(mutant.does), "{} is there twice", mutant.name);
        assert!(!mutant.breaks.is_empty() && !mutant.does.ends_with('.'), "{}", mutant.name);
    }
}
