//! The mutators: changes to a session or to its spelling, each with what it does to the meaning.
//!
//! A family is a file here, and its slice a line in [`all`]; nothing else knows its name. A mutator of the session
//! level changes messages and their meaning together; one of the spelling level changes how a format writes them; one of
//! the bytes level changes the file. A mutator that finds nothing to change says so, and is not in the variant's trail.
//!
//! A row is the name, the clauses that the mutator leans on, what it does, what that does to the meaning, and how it does it.

macro_rules! mutators {
    ($($name:literal [$($clause:literal)+] $sentence:literal => $relation:expr, $apply:expr;)+) => {
        pub(super) const MUTATORS: &[crate::mutator::Mutator] = &[$(crate::mutator::Mutator {
            name: $name,
            sentence: $sentence,
            clauses: &[$($clause),+],
            relation: $relation,
            apply: $apply,
        }),+];
    };
}

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

use crate::mutator::Mutator;

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
pub fn find(name: &str) -> Option<&'static Mutator> {
    all().find(|mutator| mutator.name == name)
}
