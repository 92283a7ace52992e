//! Dialects: clauses that a maintainer may decide otherwise on purpose, as data.
//!
//! Which clauses each dialect replaces, by what, with which sources, and what of the reading that changes. To add a
//! dialect, add its row to [`ALL`], and a file of the clauses that it replaces beside `clauses.txt`; where it decides
//! something that no dialect has decided yet, add a member to [`IdRules`] and carry it out in [`crate::contract`].

use crate::clauses::{self, Clause};
use crate::nearest::hint;
use std::sync::LazyLock;

/// A reading of the contract in which some clauses are replaced.
#[derive(Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Its name in handshakes, options, case files and records.
    pub name: &'static str,
    /// A line that fits in a list.
    pub title: &'static str,
    /// What it asks, in a few sentences.
    pub about: &'static str,
    /// The documents and headings it follows, one a line.
    pub source: &'static [&'static str],
    /// The clauses that it replaces, each under the id of the contract's.
    pub replaces: Vec<Clause>,
    /// What of the reading that changes.
    pub ids: IdRules,
}

/// What ids are to a reading. The contract by default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IdRules {
    /// A number and a string are never one id.
    pub typed: bool,
    /// Requests and results without an id reject.
    pub required: bool,
    /// A tool call may have the id of one that was answered, or of one of the other side.
    pub reusable: bool,
}

/// The name of the contract itself.
pub const DEFAULT: &str = "default";

/// Every dialect; the contract itself first.
pub static ALL: LazyLock<[Dialect; 2]> = LazyLock::new(|| {
    [
        Dialect {
            name: DEFAULT,
            title: "The reading contract without changes",
            about: "No clause is replaced.",
            source: &["docs/contract.md"],
            replaces: Vec::new(),
            ids: IdRules { typed: false, required: false, reusable: false },
        },
        Dialect {
            name: "typed-ids",
            title: "Ids as JSON-RPC has them",
            about: "An id is a JSON value: `1` and `\"1\"` are two. It pairs one request with one answer, after which a \
                tool call may use it again, and requests and results need one. The normal form still shows an id \
                as text.",
            source: &[
                "JSON-RPC 2.0, sections 4, 4.1 and 5",
                "MCP 2025-11-25, Base Protocol, Requests and Responses",
            ],
            replaces: clauses::read(include_str!("clauses/typed-ids.txt")),
            ids: IdRules { typed: true, required: true, reusable: true },
        },
    ]
});

/// The dialect of this name.
///
/// # Errors
/// A sentence with the names that there are and the nearest, where there is none.
pub fn find(name: &str) -> Result<&'static Dialect, String> {
    ALL.iter().find(|dialect| dialect.name == name).ok_or_else(|| {
        let names = || ALL.iter().map(|dialect| dialect.name);
        let known = names().collect::<Vec<_>>().join(" and ");
        format!("there is no dialect `{name}`, only {known}{}", hint(name, names()))
    })
}

impl Dialect {
    /// The dialect's clause with this id: its own, or else the contract's.
    #[must_use]
    pub fn clause(&self, id: &str) -> Option<&Clause> {
        self.replacement(id).or_else(|| clauses::find(id))
    }

    /// The clause that replaces the contract's clause of this id, if any.
    #[must_use]
    pub fn replacement(&self, id: &str) -> Option<&Clause> {
        self.replaces.iter().find(|clause| clause.id == id)
    }

    /// Whether it is the contract itself.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.name == DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::{ALL, Dialect, IdRules, find};
    use crate::clauses;
    use std::collections::BTreeSet;

    #[test]
    fn the_contract_comes_first_and_replaces_nothing() {
        assert!(ALL[0].is_default() && ALL[0].replaces.is_empty() && ALL[0].ids == IdRules::default());
        assert!(ALL[1..].iter().all(|dialect| !dialect.is_default() && !dialect.replaces.is_empty()));
    }

    #[test]
    fn a_dialect_replaces_clauses_that_there_are_with_something_else() {
        for Dialect { name, title, about, source, replaces, .. } in ALL.iter() {
            assert!(!title.is_empty() && about.ends_with('.') && !source.is_empty(), "{name}");
            let ids: BTreeSet<&str> = replaces.iter().map(|clause| clause.id).collect();
            assert_eq!(ids.len(), replaces.len(), "{name} replaces a clause twice");
            for clause in replaces {
                let old = clauses::find(clause.id).unwrap_or_else(|| panic!("{name}: {}", clause.id));
                assert_eq!(old.family, clause.family);
                assert!(old.rule != clause.rule && old.why != clause.why && old.title != clause.title);
                assert!(!clause.source.is_empty() && clause.right.reading != clause.wrong.reading);
                for prose in [clause.rule, clause.why, clause.right.reading, clause.wrong.reading] {
                    assert!(prose.ends_with('.') && !prose.contains("  "), "{name}: {prose}");
                }
            }
        }
    }

    /// Keeps the table in `docs/contract.md` the same as the dialects.
    #[test]
    fn the_page_lists_the_dialects_as_they_are() {
        const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/contract.md");
        const SEAM: &str = "<!-- This table is derived from the dialects; a test compares the two. -->\n";
        let page = std::fs::read_to_string(PAGE).unwrap().replace("\r\n", "\n");
        let (listed, _) = page.split_once(SEAM).unwrap().1.split_once("<!-- dialects end -->").unwrap();
        let mut derived = String::new();
        for dialect in ALL.iter().filter(|dialect| !dialect.is_default()) {
            let Dialect { name, title, about, source, replaces, .. } = dialect;
            let source = source.join("; ");
            derived += &format!("\n### {name}: {title}\n\n{about} Sources: {source}.\n\n");
            derived += "| instead of | in this dialect | sources |\n| --- | --- | --- |\n";
            for clause in replaces {
                let (id, title, rule) = (clause.id, clause.title, clause.rule);
                derived += &format!("| `{id}` | **{title}.** {rule} | {} |\n", clause.source.join("; "));
            }
        }
        assert!(
            listed.trim() == derived.trim(),
            "docs/contract.md is out of date; it should read:\n{derived}"
        );
    }

    #[test]
    fn an_unknown_dialect_is_told_with_the_nearest() {
        assert_eq!(find("typed-ids").unwrap().name, "typed-ids");
        let why = find("typed-id").unwrap_err();
        assert_eq!(
            why,
            "there is no dialect `typed-id`, only default and typed-ids; did you mean typed-ids?"
        );
        assert!(find("Default").is_err() && find("").is_err());
    }

    #[test]
    fn a_clause_is_the_dialects_own_or_the_contracts() {
        let typed = find("typed-ids").unwrap();
        assert_eq!(typed.clause("ID-NUMBER").unwrap().title, "A number and a string are two ids");
        assert_eq!(typed.clause("ID-STRING"), clauses::find("ID-STRING"));
        assert_eq!(typed.clause("ID-NO"), None);
    }
}
