//! A plan: which readings of a suite are wanted, and which of them an importer can be asked for.
//!
//! Filters, shards, and why a reading is skipped.

use crate::importer::{Importer, unidentified};
use crate::suite::{Case, Suite, Transcript};
use formats::Format;
use globset::GlobMatcher;
use hmac_sha256::Hash as Sha256;
use verdict::record::ShardPart;

/// Which readings of a suite are wanted. Nothing narrows it down by default.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Globs over a case's name and over `case/format`; any of them selects.
    pub filters: Vec<GlobMatcher>,
    /// Only these formats; every one where there are none.
    pub formats: Vec<&'static Format>,
    /// A part of the cases.
    pub shard: Option<Shard>,
}

/// One of several parts of a suite, or of other things that have names. Only the name decides: a case stays in its part when
/// others are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// From 1.
    index: u64,
    count: u64,
}

impl Shard {
    /// Reads `I/N`.
    ///
    /// # Errors
    /// A sentence where it is something else.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parts {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            _ => Err(format!("`{text}` is not a shard: write I/N, from 1/N to N/N")),
        }
    }

    /// The same, as a record says it.
    #[must_use]
    pub fn part(self) -> ShardPart {
        ShardPart { part: self.index, of: self.count }
    }

    /// Whether what has this name belongs to it: the first eight bytes of the name's SHA-256, as a big-endian number, leave
    /// `I - 1` when they are divided by `N`.
    #[must_use]
    pub fn holds(self, name: &str) -> bool {
        let digest = Sha256::hash(name.as_bytes());
        let number = digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        number % self.count == self.index - 1
    }
}

/// The selected readings of one case.
#[derive(Debug)]
pub struct PlannedCase<'s> {
    /// The case.
    pub case: &'s Case,
    /// Its readings, in the order of the formats.
    pub readings: Vec<PlannedRead<'s>>,
}

/// One reading of a plan.
#[derive(Debug, Clone, Copy)]
pub struct PlannedRead<'s> {
    /// The format.
    pub format: &'static Format,
    /// What is read, or why nothing is.
    pub what: Result<&'s Transcript, Skip<'s>>,
}

/// Why a reading is planned and not asked for.
#[derive(Debug, Clone, Copy)]
pub enum Skip<'s> {
    /// The format cannot carry the session.
    Uncarried(&'s str),
    /// Nobody knows what it means in the importer's dialect.
    Unjudged(&'s str),
    /// The importer does not read the format.
    Unread,
    /// The importer does not tell what recordings show.
    Unidentified,
}

impl Skip<'_> {
    /// The reason in words.
    #[must_use]
    pub fn why(&self, importer: &str, format: &Format) -> String {
        match self {
            Self::Uncarried(why) => format!("{} cannot carry it: {why}", format.name),
            Self::Unjudged(why) => format!("not judged in this dialect: {why}"),
            Self::Unread => format!("{importer} does not read {}", format.name),
            Self::Unidentified => unidentified(importer),
        }
    }
}

/// The readings of `suite` that are selected, in the order of cases and formats.
#[must_use]
pub fn plan<'s>(suite: &'s Suite, importer: &dyn Importer, selection: &Selection) -> Vec<PlannedCase<'s>> {
    let in_shard = |case: &&Case| selection.shard.is_none_or(|shard| shard.holds(&case.name));
    let planned = suite.asked().filter(in_shard).map(|case| {
        let mut readings = readings(case, importer);
        readings.retain(|reading| selection.takes(case, reading.format));
        PlannedCase { case, readings }
    });
    planned.filter(|planned| !planned.readings.is_empty()).collect()
}

impl Selection {
    fn takes(&self, case: &Case, format: &Format) -> bool {
        let full = format!("{}/{}", case.name, format.name);
        let named = |glob: &GlobMatcher| glob.is_match(&case.name) || glob.is_match(&full);
        (self.filters.is_empty() || self.filters.iter().any(named))
            && (self.formats.is_empty() || self.formats.iter().any(|wanted| wanted.name == format.name))
    }
}

/// Every reading of a case, in the order of the formats.
#[must_use]
pub fn readings<'s>(case: &'s Case, importer: &dyn Importer) -> Vec<PlannedRead<'s>> {
    let reading = |format: &'static Format| {
        let transcript = case.transcripts.iter().find(|transcript| transcript.format.name == format.name);
        let uncarried = case.uncarried.iter().find(|uncarried| uncarried.format.name == format.name);
        let what = match (transcript, uncarried) {
            (Some(_), _) if case.identified.is_some() && !importer.identifies() => Err(Skip::Unidentified),
            (Some(_), _) if !importer.reads(format.into()) => Err(Skip::Unread),
            (Some(transcript), _) => {
                case.unjudged.as_deref().map_or(Ok(transcript), |why| Err(Skip::Unjudged(why)))
            }
            (None, Some(uncarried)) => Err(Skip::Uncarried(&uncarried.why)),
            (None, None) => return None,
        };
        Some(PlannedRead { format, what })
    };
    formats::FORMATS.iter().copied().filter_map(reading).collect()
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn a_shard_is_told_by_the_name_alone() {
        for text in ["", "1", "0/1", "2/1", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(Shard::parse(text).is_err(), "{text}");
        }
        let whole = Shard::parse("1/1").unwrap();
        let parts = ["1/3", "2/3", "3/3"].map(|text| Shard::parse(text).unwrap());
        for case in ["ids/null-id", "ids/zero", "", "é"] {
            assert!(whole.holds(case));
            assert_eq!(parts.iter().filter(|part| part.holds(case)).count(), 1, "{case}");
        }
    }
}
