//! Every report of a run over the same records.

use super::test_record::record;
use super::{badge, json, junit, markdown};
use crate::golden::golden;
use serde_json::Value;
use verdict::change::changes;
use verdict::record::Record;
use verdict::verdict::Verdict::{self, Crash, ExpectedFail, Fail, Pass, Skip};

fn reports(record: &Record) -> [String; 4] {
    [markdown::render(record), junit::render(record), badge::render(record), json::render(record).unwrap()]
}

#[test]
fn reports_say_what_a_person_once_looked_at() {
    let [markdown, junit, badge, _] = reports(&record(&Verdict::ALL));
    let [many, ..] = reports(&record(&[Fail; 27]));
    let before = record(&[Pass, Fail]);
    let changed = markdown::changes(&changes(&before, &record(&[Fail, Pass])));
    let same = markdown::changes(&[]);
    let badges = [&[Pass, Pass, Skip][..], &[Pass, Crash], &[Pass, ExpectedFail], &[Skip], &[]];
    let badges = badges.map(|verdicts| badge::render(&record(verdicts))).concat();
    golden(
        "run.txt",
        [
            ("markdown", markdown),
            ("markdown of many failures", many),
            ("markdown of changes", changed),
            ("markdown of no change", same),
            ("junit", junit),
            ("badge", badge),
            ("other badges", badges),
        ],
    );
}

#[test]
fn a_dialect_is_named_where_it_is_not_the_contract_itself() {
    let mut record = record(&[Pass]);
    assert!(reports(&record).iter().all(|report| !report.contains("dialect")));
    record.implementation = record.implementation.in_dialect("typed-ids");
    for report in reports(&record) {
        assert!(report.contains("typed-ids"), "{report}");
    }
}

/// The endpoint badge of shields.io takes only these members, of these types.
const ENDPOINT: &str = include_str!("../../tests/badge.schema.json");

#[test]
fn a_badge_is_what_an_endpoint_badge_reads() {
    let schema: Value = serde_json::from_str(ENDPOINT).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    for verdict in Verdict::ALL {
        for verdicts in [vec![verdict], vec![verdict, Pass], Vec::new()] {
            let badge: Value = serde_json::from_str(&badge::render(&record(&verdicts))).unwrap();
            schema.validate(&badge).unwrap();
            let red = badge["color"] == "red";
            assert_eq!(red, verdicts.iter().any(|verdict| verdict.is_failure()), "{verdicts:?}");
        }
    }
}
