//! A record, its totals and its JSON.

use super::case_result::{LONGEST, value};
use super::{CaseResult, Record};
use crate::verdict::{Judgement, Verdict};
use transcript::diff::Difference;

fn record() -> Record {
    let difference = |left: Option<&str>, right: Option<&str>| {
        let (left, right) = (left.map(Into::into), right.map(Into::into));
        let difference = Difference { pointer: "/events/2/answers".into(), left, right };
        Judgement { difference: Some(difference), ..Judgement::plain(Verdict::Fail, None) }
    };
    let clauses = ["ID-NULL".to_owned()];
    let line = |format, judgement| CaseResult::new("ids/null-id", format, &clauses, judgement);
    let results = vec![
        line("a", Judgement::plain(Verdict::Pass, None)),
        line("b", difference(Some("null"), Some("1e400"))),
        line("c", difference(None, Some("{ \"n\": 9007199254740993 }"))),
        line("d", Judgement::plain(Verdict::Skip, Some("why".into()))),
    ];
    crate::testing::record(results)
}

#[test]
fn the_totals_add_up_to_the_plan() {
    let record = record();
    assert_eq!(record.planned, record.totals.values().sum::<u64>());
    assert_eq!(record.totals[&Verdict::Fail], 2);
    assert!(record.is_failure());
    assert!(record.clauses["ID-NULL"].contains("null"));
}

#[test]
fn a_record_survives_its_json_byte_for_byte() {
    let text = serde_json::to_string_pretty(&record()).unwrap();
    let again: Record = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string_pretty(&again).unwrap(), text);
    assert!(text.contains("\"expected\": null,\n") && text.contains("\"actual\": 1e400\n"), "{text}");
    assert!(text.contains("{\"n\":9007199254740993}"), "{text}");
    assert!(text.contains("\"fail\": 2") && text.contains("\"level\": \"events\""), "{text}");
}

#[test]
fn a_long_value_is_cut_and_says_so() {
    let long = format!("\"{}\"", "é".repeat(LONGEST));
    let value = value(&long).unwrap();
    assert!(value.get().len() < LONGEST + 100 && value.get().contains("bytes in all"));
}

#[test]
fn a_deep_value_is_a_text_that_says_so() {
    let nested = |depth: usize| format!(r#"{}"[[\"[["{}"#, "[".repeat(depth), "]".repeat(depth));
    assert_eq!(value(&nested(200)).unwrap().get(), nested(200));
    let deep = value(&nested(201)).unwrap();
    assert!(deep.get().starts_with(r#""[[[["#) && deep.get().contains("bytes in all"), "{}", deep.get());
}
