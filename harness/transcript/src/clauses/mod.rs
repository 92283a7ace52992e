//! The clauses of the reading contract, as data.
//!
//! Knows: the id of every clause, what it asks, why, where it comes from, and a right and a wrong example.
//! Refuses to know: how a clause is carried out (that is [`crate`]'s `contract` module and the readers), and
//! which cases show it (the suite tells).

mod challenge;
mod envelopes;
mod equivalence;
mod ids;
mod replay;

/// One clause of the reading contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clause {
    /// The stable id that cases, rejections and reports cite, such as `COR-FIRST`.
    pub id: &'static str,
    /// The family it is listed under, such as `Ids and correlation`.
    pub family: &'static str,
    /// A line that fits in a list.
    pub title: &'static str,
    /// What an importer must make of it, in one to three sentences.
    pub rule: &'static str,
    /// Why it is so, for the person whose importer falls short of it.
    pub why: &'static str,
    /// The documents and headings it follows, one a line.
    pub source: &'static [&'static str],
    /// The sources are silent or torn: an importer may do either, the same in every format.
    pub open: bool,
    /// A spelling, and how it reads under this clause.
    pub right: Example,
    /// The same or a near spelling, and the mistake that is made with it.
    pub wrong: Example,
}

/// A fragment of a transcript and what is made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// Transcript text, verbatim; lines of one capture format.
    pub text: &'static str,
    /// What is read from it (in a right example) or mistaken (in a wrong one), in a sentence.
    pub reading: &'static str,
}

/// Every clause, in the order of the contract.
pub fn all() -> impl Iterator<Item = &'static Clause> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

/// The clause with this id, spelled exactly.
#[must_use]
pub fn find(id: &str) -> Option<&'static Clause> {
    all().find(|clause| clause.id == id)
}

const FAMILIES: &[&[Clause]] =
    &[equivalence::CLAUSES, ids::CLAUSES, envelopes::CLAUSES, challenge::CLAUSES, replay::CLAUSES];
