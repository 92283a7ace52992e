//! The clauses of the reading contract, as data.

mod clause;
#[cfg(test)]
mod page;

pub use clause::{Clause, Example};

use std::sync::LazyLock;

static CLAUSES: LazyLock<Vec<Clause>> = LazyLock::new(|| read(include_str!("clauses.txt")));

/// Every clause, in the order of the contract.
pub fn all() -> impl Iterator<Item = &'static Clause> {
    CLAUSES.iter()
}

/// The clause with this id, spelled exactly.
#[must_use]
pub fn find(id: &str) -> Option<&'static Clause> {
    all().find(|clause| clause.id == id)
}

/// The clauses of a file such as `clauses.txt`, whose head says how they are written.
pub(crate) fn read(text: &'static str) -> Vec<Clause> {
    text.split("\n=== ").skip(1).filter_map(clause).collect()
}

/// A clause. One that is not well spelled is none, which a test would notice.
fn clause(block: &'static str) -> Option<Clause> {
    let (fields, examples) = block.trim_end().split_once("\nright: ")?;
    let (right, wrong) = examples.split_once("\nwrong: ")?;
    let (right, text) = right.split_once('\n')?;
    let right = Example { text, reading: right };
    let (wrong, text) = wrong.split_once('\n').unwrap_or((wrong, text));
    let mut lines = fields.lines();
    let id = lines.next()?;
    let mut field = |name| lines.next()?.strip_prefix(name);
    Some(Clause {
        id: id.strip_suffix(" (open)").unwrap_or(id),
        family: field("family: ")?,
        title: field("title: ")?,
        rule: field("rule: ")?,
        why: field("why: ")?,
        source: lines.map(|line| line.strip_prefix("source: ")).collect::<Option<_>>()?,
        open: id.ends_with(" (open)"),
        right,
        wrong: Example { text, reading: wrong },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_clause_of_the_files_is_read() {
        for text in [include_str!("clauses.txt"), include_str!("typed-ids.txt")] {
            assert_eq!(read(text).len(), text.matches("\n===").count());
        }
    }

    #[test]
    fn a_clause_without_one_of_its_fields_is_none() {
        const TEXT: &str =
            "ID (open)\nfamily: f\ntitle: t\nrule: r\nwhy: w\nsource: s\nright: a\n1\n\n2\nwrong: b\n3\n";
        let Clause { id, source, open, right, wrong, .. } = clause(TEXT).unwrap();
        assert_eq!((id, &source[..], open), ("ID", &["s"][..], true));
        assert_eq!(
            (right, wrong),
            (Example { text: "1\n\n2", reading: "a" }, Example { text: "3", reading: "b" })
        );
        for field in ["family", "title", "rule", "why", "source", "right", "wrong"] {
            let other = TEXT.replace(&format!("\n{field}: "), "\nother: ");
            assert_eq!(clause(other.leak()), None, "{field}");
        }
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
            for text in names.iter().chain(source) {
                assert!(!text.trim().is_empty(), "{id} has an empty text");
                assert_eq!(text.trim(), *text, "{id} has a text with space around it");
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
