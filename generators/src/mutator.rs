//! A change to a session or to its spelling, with what it does to the meaning.

use crate::format_tree::FormatTree;
use crate::relation::Relation;
use crate::rng::Rng;
use crate::session_builder::SessionBuilder;
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
    pub fn level(&self) -> Level {
        match self.apply {
            Apply::Session(_) => Level::Session,
            Apply::Spelling(_) => Level::Spelling,
            Apply::Bytes(_) => Level::Bytes,
        }
    }
}
