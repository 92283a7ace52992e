//! The kill matrix as plain data: what `run --adequacy --results` writes and what a report shows of it.
//!
//! The shape is schema 1; its member `mutants` holds the mutants.

use crate::record::Suite;
use serde::{Deserialize, Serialize};

/// The version of this shape.
pub const SCHEMA: u32 = 1;

/// Which case kills which mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kills {
    /// [`SCHEMA`]. The member distinguishes this file from the record of a run.
    pub kills: u32,
    /// The suite that was tried.
    pub suite: Suite,
    /// How many cases it has.
    pub cases: usize,
    /// how many results each mutant had.
    pub readings: usize,
    /// Every mutant.
    #[serde(rename = "faults")]
    pub mutants: Vec<Mutant>,
    /// What should not be so, each in a sentence.
    pub findings: Vec<String>,
}

/// A mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutant {
    /// Its name.
    pub name: String,
    /// What the importer that has it does: the rest of a sentence that begins with "it".
    pub does: String,
    /// The clauses that it breaks.
    pub breaks: Vec<String>,
    /// The cases that kill it, those first that name one of its clauses; none where it survives.
    pub killers: Vec<Killer>,
}

/// A case that kills a mutant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Killer {
    /// The case.
    pub case: String,
    /// The formats in which it does.
    pub formats: Vec<String>,
}

impl Kills {
    /// How many mutants some case kills.
    #[must_use]
    pub fn killed(&self) -> usize {
        self.mutants.iter().filter(|mutant| !mutant.killers.is_empty()).count()
    }

    /// The matrix in a line.
    #[must_use]
    pub fn total(&self) -> String {
        let Self { cases, readings, mutants, .. } = self;
        let (killed, mutants) = (self.killed(), mutants.len());
        format!("{killed} of {mutants} mutants killed by {readings} results of {cases} cases")
    }
}
