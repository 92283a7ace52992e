//! The clauses of the reading contract, as data: a table a family.

mod clause;
#[cfg(test)]
mod page;

pub use clause::{Clause, Example};

use crate::tables::{headers, joined};
use clause::{read, text};

/// Every clause, in the order of the contract.
pub fn all() -> impl Iterator<Item = &'static Clause> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The clause with this id, spelled exactly.
#[must_use]
pub fn find(id: &str) -> Option<&'static Clause> {
    all().find(|clause| clause.id == id)
}

/// The clauses of a table.
macro_rules! family {
    ($file:literal) => {{
        const TEXT: &str = include_str!($file);
        const JOINED: [u8; TEXT.len()] = joined(TEXT);
        const CLAUSES: [Clause; headers(text(&JOINED))] = read(text(&JOINED));
        &CLAUSES
    }};
}

const FAMILIES: &[&[Clause]] = &[
    family!("equivalence.toml"),
    family!("ids.toml"),
    family!("envelopes.toml"),
    family!("challenge.toml"),
    family!("replay.toml"),
    family!("lines.toml"),
    family!("har.toml"),
    family!("survival.toml"),
];

/// What the dialect of that name has in place of some of them.
pub(crate) const TYPED_IDS: &[Clause] = family!("typed_ids.toml");

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Typed from the reading contract, in its order; nothing here is derived from the code.
    const IDS: &[&str] = &[
        "EQ-COUNT",
        "EQ-BATCH",
        "EQ-ORDER",
        "EQ-PAIR",
        "EQ-TOOL",
        "EQ-ARGS",
        "EQ-OUTCOME",
        "EQ-CONTEXT",
        "ID-STRING",
        "ID-NUMBER",
        "ID-NUMBER-FORM",
        "ID-NULL",
        "ID-MISSING",
        "ID-NULL-TEXT",
        "ID-REJECT",
        "COR-FIRST",
        "COR-LATE",
        "COR-BEFORE",
        "COR-DUPLICATE",
        "COR-ANY",
        "COR-DIRECTION",
        "COR-DIRECTION-FLAT",
        "TOOL-NAMELESS",
        "ENV-TRANSPORT",
        "ENV-ONE",
        "ENV-SINGLE",
        "ENV-NULL",
        "ENV-EMPTY",
        "ENV-LOOSE",
        "ENV-UNKNOWN",
        "SSE-DATA-OBJECT",
        "SSE-DATA-STRING",
        "SSE-DATA-TEXT",
        "SSE-DATA-BROKEN",
        "SSE-KEEPALIVE",
        "SSE-EVENT",
        "SSE-DATA-ARRAY",
        "SSE-DATA-NESTED",
        "K2A-SUMMARY",
        "K2A-BOUND",
        "K2A-SPELLING",
        "RPL-META",
        "RPL-VERSION",
        "RPL-MESSAGE",
        "RPL-DIR",
        "RPL-NOISE",
        "RPL-END",
        "RPL-UNKNOWN",
        "RPL-ORDER",
        "RPL-REDACT",
        "JRP-LINE",
        "JRP-VERSION",
        "JRP-SHAPE",
        "INS-SHAPE",
        "INS-EXPORT",
        "HAR-ORDER",
        "HAR-MESSAGE",
        "HAR-STREAM",
        "HAR-MISSING",
        "HAR-K2A",
        "SRV-BYTES",
        "SRV-DEPTH",
        "SRV-SAME",
        "SRV-TWICE",
    ];

    #[test]
    fn every_clause_of_the_contract_is_here_in_its_order() {
        let ids: Vec<_> = all().map(|clause| clause.id).collect();
        assert_eq!(ids, IDS);
    }

    #[test]
    fn ids_are_unique_upper_case_words_joined_by_dashes() {
        let mut seen = BTreeSet::new();
        for clause in all() {
            assert!(seen.insert(clause.id), "{} stands twice", clause.id);
            let mut words = clause.id.split('-');
            let well_spelled = |word: &str| {
                word.starts_with(|first: char| first.is_ascii_uppercase())
                    && word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit())
            };
            assert!(words.all(well_spelled), "{} is not an id", clause.id);
            assert!(clause.id.contains('-'), "{} names no family", clause.id);
        }
    }

    #[test]
    fn titles_are_unique_and_fit_in_a_list() {
        let mut seen = BTreeSet::new();
        for Clause { id, title, .. } in all() {
            assert!(seen.insert(title), "the title of {id} is taken");
            assert!(title.chars().count() <= 72, "the title of {id} is too long");
            assert!(!title.ends_with('.'), "the title of {id} ends as a sentence");
        }
    }

    #[test]
    fn no_text_is_empty_and_every_sentence_is_finished() {
        for clause in all() {
            let Clause { id, family, title, rule, why, source, right, wrong, .. } = clause;
            let names = [*family, *title, right.text, wrong.text];
            assert!(!source.is_empty(), "{id} names no source");
            for text in names.into_iter().chain(source.lines()) {
                assert!(!text.trim().is_empty(), "{id} has an empty text");
                assert_eq!(text.trim(), text, "{id} has a text with space around it");
            }
            for prose in [rule, why, &right.reading, &wrong.reading] {
                assert!(prose.ends_with('.'), "{id} leaves a sentence open: {prose}");
                assert!(!prose.contains("  "), "{id} has a gap in: {prose}");
            }
        }
    }

    #[test]
    fn right_and_wrong_never_say_the_same() {
        for clause in all() {
            assert_ne!(clause.right.reading, clause.wrong.reading, "{}", clause.id);
        }
    }

    #[test]
    fn an_open_clause_says_what_the_built_in_reader_does() {
        for clause in all().filter(|clause| clause.open) {
            assert!(clause.rule.contains("built-in reader"), "{} leaves its reader in the dark", clause.id);
        }
    }

    #[test]
    fn find_takes_the_exact_spelling_alone() {
        assert_eq!(find("COR-FIRST").map(|clause| clause.id), Some("COR-FIRST"));
        assert_eq!(find("cor-first"), None);
        assert_eq!(find("COR"), None);
    }
}
