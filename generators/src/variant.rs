//! A variant: what mutators made of a session, in every format that can carry it.

use crate::dialects::InDialect;
use crate::relation::Relation;
use formats::Format;
use transcript::dialect::Dialect;
use verdict::expectation::Expectation;

/// A variant, in every format that can carry it.
#[derive(Debug, Clone)]
pub struct Variant {
    /// The mutators that made it, in order, and the formats in which each took hold where those are not all.
    pub trail: Vec<String>,
    /// The clauses they lean on.
    pub clauses: Vec<&'static str>,
    /// What it is to what it was made from.
    pub relation: Relation,
    /// What must come of reading it.
    pub expectation: Expectation,
    /// The dialects that make something else of it.
    pub dialects: Vec<(&'static Dialect, InDialect)>,
    /// The marker, where values were redacted.
    pub redacted: Option<&'static str>,
    /// The transcripts, or why a format cannot have one.
    pub files: Vec<(&'static Format, Result<Vec<u8>, String>)>,
}
