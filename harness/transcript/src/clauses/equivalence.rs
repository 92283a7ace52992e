//! Clauses on when two readings are the same.

use super::Clause;

pub(super) const CLAUSES: &[Clause] = &[];
