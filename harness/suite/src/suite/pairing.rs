//! Which cases show one session in every format that the suite pairs, and why others do not.

use super::case::Case;
use formats::{FORMATS, Format};
use std::fmt;

/// How the cases of a suite stand in the paired formats.
#[derive(Debug, Default)]
pub struct Pairing<'s> {
    /// How many cases are spelled in all of them.
    pub everywhere: usize,
    /// How many say why they are not.
    pub explained: usize,
    /// The others, each with the formats that are missing.
    pub silent: Vec<(&'s str, Vec<&'static str>)>,
}

/// The formats that every case is spelled in, or says why it cannot be.
pub fn paired() -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().copied().filter(|format| format.paired)
}

impl<'s> Pairing<'s> {
    /// Counts the cases.
    pub(super) fn count(cases: &'s [Case]) -> Self {
        let mut pairing = Self::default();
        for case in cases {
            let missing =
                || paired().filter(|format| !case.transcripts.iter().any(|it| it.format.name == format.name));
            let silent: Vec<_> = missing().filter(|it| !is_explained(case, it)).map(|it| it.name).collect();
            match () {
                () if !silent.is_empty() => pairing.silent.push((&case.name, silent)),
                () if missing().next().is_some() => pairing.explained += 1,
                () => pairing.everywhere += 1,
            }
        }
        pairing
    }
}

impl fmt::Display for Pairing<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let formats: Vec<_> = paired().map(|format| format.name).collect();
        let (everywhere, explained, silent) = (self.everywhere, self.explained, self.silent.len());
        let cases = everywhere + explained + silent;
        write!(out, "cases that lack one of {} without a reason: {silent} of {cases}", formats.join(", "))?;
        out.write_str(" (--paired names them)")
    }
}

/// The clauses of a case that speak only of formats that it is not spelled in. Those of small recorders have no clauses of their own,
/// and borrow.
pub fn foreign_clauses(case: &Case) -> impl Iterator<Item = &str> {
    let here = |clause: &str| {
        case.transcripts.iter().any(|it| it.format.clauses.is_empty() || speaks(it.format, clause))
    };
    case.clauses
        .iter()
        .map(String::as_str)
        .filter(move |clause| FORMATS.iter().any(|format| speaks(format, clause)) && !here(clause))
}

fn speaks(format: &Format, clause: &str) -> bool {
    format.clauses.iter().any(|family| clause.starts_with(family))
}

/// Whether the case says why this format is missing: in a table of its own, for all others at once, or by clauses each of which
/// speaks only of other formats.
fn is_explained(case: &Case, format: &Format) -> bool {
    let elsewhere =
        |clause: &String| !speaks(format, clause) && FORMATS.iter().any(|other| speaks(other, clause));
    case.only.is_some()
        || case.uncarried.iter().any(|it| it.format.name == format.name)
        || case.clauses.iter().all(elsewhere)
}

#[cfg(test)]
mod tests {
    use crate::suite::{foreign_clauses, paired};
    use crate::testing::SUITE;

    #[test]
    fn no_case_cites_a_clause_that_it_cannot_show() {
        let foreign = |case| foreign_clauses(case).map(move |clause| (&case.name, clause));
        let all: Vec<_> = SUITE.cases.iter().flat_map(foreign).collect();
        assert!(all.is_empty(), "{all:?}");
    }

    #[test]
    fn every_case_is_in_the_paired_formats_or_says_why_not() {
        let pairing = SUITE.pairing();
        assert!(
            pairing.silent.is_empty(),
            "add the transcript, [formats.<name>] or `only`: {:#?}",
            pairing.silent
        );
        assert_eq!(pairing.everywhere + pairing.explained, SUITE.cases.len());
        assert!(pairing.everywhere > 200 && paired().count() == 4, "{}", pairing.everywhere);
    }
}
