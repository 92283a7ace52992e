//! The mutators: changes to a session or to its spelling, each with what it does to the meaning.
//!
//! A family is a file here, and its slice a line in [`all`]; nothing else knows its name. A mutator of the session
//! level changes messages and their meaning together; one of the spelling level changes how a format writes them; one of
//! the bytes level changes the file. A mutator that finds nothing to change says so, and is not in the variant's trail.

mod archive;
mod batches;
mod challenge;
mod crowds;
mod data;
mod dialect;
mod encoding;
mod endpoint;
mod envelope;
mod export;
mod http;
mod ids;
mod json;
mod keepalives;
mod lines;
mod redaction;
mod responses;
mod shape;
mod times;
mod trace;
mod truncation;
mod unknown;
mod values;

use crate::format_tree::FormatTree;
use crate::relation::Relation;
use crate::rng::Rng;
use crate::variant::SessionBuilder;
use formats::Format;

/// A change whose effect on the meaning is known.
#[derive(Debug)]
pub struct Mutator {
    /// Its name, stable.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub sentence: &'static str,
    /// The clauses of the reading contract that it leans on.
    pub clauses: &'static [&'static str],
    /// What it does to the meaning.
    pub relation: Relation,
    /// How it does it; true where it found something to change. One that did not has changed nothing.
    pub apply: Apply,
}

/// At which level a mutator works, and how.
#[derive(Debug, Clone, Copy)]
pub enum Apply {
    /// It changes messages and their meaning.
    Session(fn(&mut SessionBuilder, &mut Rng) -> bool),
    /// It changes how a format spells them. The choices are the same in every format.
    Spelling(fn(&mut FormatTree, &mut Rng) -> bool),
    /// It changes the written file.
    Bytes(fn(&'static Format, &mut Vec<u8>, &mut Rng) -> bool),
}

/// The levels, in the order in which mutators are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Messages and meaning.
    Session,
    /// How a format writes them.
    Spelling,
    /// The file.
    Bytes,
}

impl Mutator {
    /// Where it works.
    #[must_use]
    pub fn level(&self) -> Level {
        match self.apply {
            Apply::Session(_) => Level::Session,
            Apply::Spelling(_) => Level::Spelling,
            Apply::Bytes(_) => Level::Bytes,
        }
    }
}

/// Every family.
static FAMILIES: &[&[Mutator]] = &[
    ids::MUTATORS,
    responses::MUTATORS,
    http::MUTATORS,
    endpoint::MUTATORS,
    keepalives::MUTATORS,
    challenge::MUTATORS,
    times::MUTATORS,
    data::MUTATORS,
    json::MUTATORS,
    shape::MUTATORS,
    unknown::MUTATORS,
    redaction::MUTATORS,
    batches::MUTATORS,
    envelope::MUTATORS,
    trace::MUTATORS,
    lines::MUTATORS,
    truncation::MUTATORS,
    values::MUTATORS,
    crowds::MUTATORS,
    dialect::MUTATORS,
    encoding::MUTATORS,
    export::MUTATORS,
    archive::MUTATORS,
];

/// Every mutator, family by family.
pub fn all() -> impl Iterator<Item = &'static Mutator> {
    FAMILIES.iter().copied().flatten()
}

/// The mutator of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Mutator> {
    all().find(|mutator| mutator.name == name)
}
