//! Several records as one: the parts of a sharded run, put together again.
//!
//! What must agree for parts to be of one run.

use crate::record::{Record, ShardPart};
use std::collections::BTreeMap;

/// Puts the parts of one run together, in the order of an unsharded run.
///
/// # Errors
/// A sentence where they overlap, where one is missing, or where they are not of one run.
pub fn merge(parts: Vec<(String, Record)>) -> Result<Option<Record>, String> {
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
                return Err(format!("{first} and {name} are not parts of one run: {what} differs"));
            }
        }
        if let Some((first, _)) = found.get(&part) {
            return Err(format!("{first} and {name} both hold part {}/{}", part.part, part.of));
        }
        found.insert(part, (name, record));
    }
    let Some(&ShardPart { of, .. }) = found.keys().next() else { return Ok(None) };
    let missing = (1..=of).filter(|&part| !found.contains_key(&ShardPart { part, of }));
    let missing: Vec<String> = missing.map(|part| format!("{part}/{of}")).collect();
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        return Err(format!("{} {verb} missing", missing.join(", ")));
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
    use super::merge;
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
        assert_eq!(gap, "2/3 is missing");
        let overlap = two(record(&["a"], part(1)), record(&["a"], part(1)));
        assert_eq!(overlap, "1.json and 2.json both hold part 1/3");
        let mut other = record(&["b"], part(2));
        other.suite.digest = "sha256:1".into();
        assert!(two(record(&["a"], part(1)), other).contains("digest"));
        let mut other = record(&["b"], part(2));
        other.implementation.version = "3".into();
        assert!(two(record(&["a"], part(1)), other).ends_with(": the implementation differs"));
        let other = record(&["b"], Some(ShardPart { part: 2, of: 2 }));
        assert!(two(record(&["a"], part(1)), other).contains("number of parts"));
    }
}
