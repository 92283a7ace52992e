//! Several records as one: the parts of a sharded run, put together again.
//!
//! What must agree for parts to be of one run.

use crate::record::{Record, ShardPart};
use std::collections::BTreeMap;
use std::fmt;

/// Why records are not parts of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeError {
    /// Two parts were run on different suites, or against different importers.
    Differ {
        /// What differs, in words.
        what: &'static str,
        /// The two, by their names.
        names: [String; 2],
    },
    /// A part is there twice.
    Overlap {
        /// Which.
        part: ShardPart,
        /// The two, by their names.
        names: [String; 2],
    },
    /// Parts are missing.
    Gap {
        /// Which.
        parts: Vec<u64>,
        /// Of how many.
        of: u64,
    },
}

impl fmt::Display for MergeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differ { what, names: [one, other] } => {
                write!(formatter, "{one} and {other} are not parts of one run: {what} differs")
            }
            Self::Overlap { part: ShardPart { part, of }, names: [one, other] } => {
                write!(formatter, "{one} and {other} both hold part {part}/{of}")
            }
            Self::Gap { parts, of } => {
                let parts: Vec<String> = parts.iter().map(|part| format!("{part}/{of}")).collect();
                let verb = if parts.len() == 1 { "is" } else { "are" };
                write!(formatter, "{} {verb} missing", parts.join(", "))
            }
        }
    }
}

/// Puts the parts of one run together, in the order of an unsharded run.
///
/// # Errors
/// Where they overlap, where one is missing, or where they are not of one run.
pub fn merge(parts: Vec<(String, Record)>) -> Result<Option<Record>, MergeError> {
    let mut found: BTreeMap<ShardPart, (String, Record)> = BTreeMap::new();
    for (name, record) in parts {
        let part = record.shard.unwrap_or(ShardPart { part: 1, of: 1 });
        if let Some((first, before)) = found.values().next() {
            let what = if before.suite != record.suite {
                Some("the suite (its version or its digest)")
            } else if before.implementation != record.implementation {
                Some("the implementation")
            } else if before.shard.map(|part| part.of) != record.shard.map(|part| part.of) {
                Some("the number of parts")
            } else {
                None
            };
            if let Some(what) = what {
                return Err(MergeError::Differ { what, names: [first.clone(), name] });
            }
        }
        if let Some((first, _)) = found.get(&part) {
            return Err(MergeError::Overlap { part, names: [first.clone(), name] });
        }
        found.insert(part, (name, record));
    }
    let Some(&ShardPart { of, .. }) = found.keys().next() else { return Ok(None) };
    let missing: Vec<u64> = (1..=of).filter(|&part| !found.contains_key(&ShardPart { part, of })).collect();
    if !missing.is_empty() {
        return Err(MergeError::Gap { parts: missing, of });
    }
    let mut whole: Option<Record> = None;
    for (_, record) in found.into_values() {
        match &mut whole {
            None => whole = Some(record),
            Some(whole) => {
                whole.cases.extend(record.cases);
                whole.clauses.extend(record.clauses);
                whole.results.extend(record.results);
                whole.interrupted += record.interrupted;
                whole.max_failures = whole.max_failures.or(record.max_failures);
                // A part that is older makes the whole older.
                whole.date = earlier(whole.date.take(), record.date);
                whole.expires = earlier(whole.expires.take(), record.expires);
            }
        }
    }
    if let Some(record) = &mut whole {
        // Cases run in the order of their names, and the formats of one case stand together in one part.
        record.results.sort_by(|a, b| a.case.cmp(&b.case));
        record.shard = None;
        record.planned = record.results.len() as u64;
        record.recount();
    }
    Ok(whole)
}

/// The earlier of two days, as far as they are known.
fn earlier(one: Option<String>, other: Option<String>) -> Option<String> {
    one.into_iter().chain(other).min()
}

#[cfg(test)]
mod tests {
    use super::{MergeError, merge};
    use crate::record::{CaseResult, Record, ShardPart};
    use crate::verdict::{Judgement, Verdict};

    fn record(cases: &[&str], shard: Option<ShardPart>) -> Record {
        let line = |case: &&str, format| {
            let verdict = if case.ends_with('d') { Verdict::Fail } else { Verdict::Pass };
            CaseResult::new(case, format, &["ID-NULL".into()], Judgement::plain(verdict, None))
        };
        let results = cases.iter().flat_map(|case| [line(case, "y"), line(case, "x")]).collect();
        Record { shard, ..crate::testing::record(results) }
    }

    fn named(records: Vec<Record>) -> Vec<(String, Record)> {
        (1..).map(|number: u32| format!("{number}.json")).zip(records).collect()
    }

    #[test]
    fn parts_in_any_order_are_the_whole() {
        let part = |part| Some(ShardPart { part, of: 3 });
        let parts =
            named(vec![record(&["b", "d"], part(3)), record(&[], part(1)), record(&["a", "c"], part(2))]);
        let text = |record: &Record| serde_json::to_string(record).unwrap();
        assert_eq!(text(&merge(parts).unwrap().unwrap()), text(&record(&["a", "b", "c", "d"], None)));
        let whole = record(&["a"], None);
        assert_eq!(text(&merge(named(vec![whole.clone()])).unwrap().unwrap()), text(&whole));
        assert!(merge(Vec::new()).unwrap().is_none());
    }

    #[test]
    fn what_is_torn_is_named() {
        let part = |part| Some(ShardPart { part, of: 3 });
        let two = |one, other| merge(named(vec![one, other])).unwrap_err();
        let gap = two(record(&["a"], part(1)), record(&["b"], part(3)));
        assert_eq!(gap.to_string(), "2/3 is missing");
        let overlap = two(record(&["a"], part(1)), record(&["a"], part(1)));
        assert_eq!(overlap.to_string(), "1.json and 2.json both hold part 1/3");
        let mut other = record(&["b"], part(2));
        other.suite.digest = "sha256:1".into();
        assert!(two(record(&["a"], part(1)), other).to_string().contains("digest"));
        let mut other = record(&["b"], part(2));
        other.implementation.version = "3".into();
        assert!(matches!(
            two(record(&["a"], part(1)), other),
            MergeError::Differ { what: "the implementation", .. }
        ));
        let other = record(&["b"], Some(ShardPart { part: 2, of: 2 }));
        assert!(two(record(&["a"], part(1)), other).to_string().contains("number of parts"));
    }
}
