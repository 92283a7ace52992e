//! The mutants: mistakes that importers make, a file a topic and a row a mutant.
//!
//! A row is the name, the clauses that it breaks, what the importer does, and the mistake, built from the functions of
//! [`crate::on_text`], [`crate::on_reading`] and [`crate::json`]. Two mutants that the same cases kill in the same
//! formats break different clauses.

macro_rules! mutants {
    ($($name:literal [$($clause:literal)+] $does:literal => $mutation:expr;)+) => {
        pub(super) fn mutants() -> Vec<crate::Mutant> {
            vec![$(crate::Mutant::new($name, &[$($clause),+], $does, $mutation)),+]
        }
    };
}

mod batches;
mod challenges;
mod correlation;
mod envelope;
mod events;
mod har;
mod ids;
mod inspector;
mod messages;
mod recorders;
mod replay;
mod streams;
mod survival;
mod trivial;
mod values;

use crate::Mutant;
use std::sync::LazyLock;

static CATALOGUE: LazyLock<Vec<Mutant>> = LazyLock::new(|| {
    let trivial = trivial::mutants().into_iter().map(|mutant| Mutant { trivial: true, ..mutant });
    [
        ids::mutants(),
        correlation::mutants(),
        events::mutants(),
        values::mutants(),
        messages::mutants(),
        batches::mutants(),
        envelope::mutants(),
        streams::mutants(),
        replay::mutants(),
        inspector::mutants(),
        recorders::mutants(),
        har::mutants(),
        challenges::mutants(),
        survival::mutants(),
        trivial.collect(),
    ]
    .into_iter()
    .flatten()
    .collect()
});

/// Every mutant, topic by topic.
pub fn all() -> impl Iterator<Item = &'static Mutant> {
    CATALOGUE.iter()
}
