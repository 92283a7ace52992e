//! Which events of two sessions are paired, and what is said of the others.

use super::{Counts, IdMatching, Mismatch, OwnedEvent, compare};
use crate::contract::Contract;
use crate::diff::{DiffOptions, PointerPattern};
use crate::message::Message;
use crate::session::{Content, Entry, Location};

fn session(lines: &[&str]) -> Vec<OwnedEvent> {
    let mut contract = Contract::default();
    let read = |line: &&str| {
        let entry = Entry::new(Location::default(), Content::Message(Message::parse(line).unwrap()));
        OwnedEvent::of(&contract.take(&entry).unwrap().unwrap())
    };
    lines.iter().map(read).collect()
}

fn departures(left: &[&str], right: &[&str], rules: &DiffOptions, ids: IdMatching) -> (Vec<String>, Counts) {
    let mut said = Vec::new();
    let counts =
        compare(session(left).into_iter(), session(right).into_iter(), rules, ids, &mut |departure| {
            said.push(match departure {
                Mismatch::Differs(a, b, difference) => {
                    format!("{}~{} {}", a.index, b.index, difference.pointer)
                }
                Mismatch::OnlyLeft(a) => format!("-{}", a.index),
                Mismatch::OnlyRight(b) => format!("+{}", b.index),
            });
        });
    (said, counts)
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const CALL: &str =
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{"n":1}}}"#;
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"text":"then"}]}}"#;

#[test]
fn an_event_more_does_not_make_the_rest_differ() {
    let (left, right) = ([PING, PONG, CALL, DONE], [NOTE, PING, PONG, CALL, NOTE, DONE]);
    let (said, counts) = departures(&left, &right, &DiffOptions::default(), IdMatching::Exact);
    assert_eq!(said, ["+0", "+4"]);
    assert_eq!((counts.equal, counts.only_right), (4, 2));
    assert_eq!(departures(&right, &left, &DiffOptions::default(), IdMatching::Exact).0, ["-0", "-4"]);
}

#[test]
fn a_changed_value_a_lost_answer_and_another_binding_are_named() {
    let other = CALL.replace("\"n\":1", "\"n\":2");
    let (said, _) = departures(
        &[PING, CALL, DONE, PONG],
        &[PING, &other, DONE, PONG],
        &DiffOptions::default(),
        IdMatching::Exact,
    );
    assert_eq!(said, ["1~1 /arguments/n"]);
    let (said, counts) = departures(
        &[PING, PONG, CALL, DONE],
        &[PING, CALL, DONE],
        &DiffOptions::default(),
        IdMatching::Exact,
    );
    assert_eq!((said, counts.same()), (vec!["-1".to_owned()], false));
    let (said, _) = departures(
        &[PING, PING, PONG, PONG],
        &[PING, PONG, PING, PONG],
        &DiffOptions::default(),
        IdMatching::Exact,
    );
    assert!(!said.is_empty());
}

#[test]
fn what_may_differ_may() {
    let later = DONE.replace("then", "now");
    let rules = DiffOptions {
        ignore: vec![PointerPattern::parse("/result/content/*/text").unwrap()],
        redacted: None,
    };
    let (said, counts) = departures(&[CALL, DONE], &[CALL, &later], &rules, IdMatching::Exact);
    assert_eq!((said.len(), counts.equal, counts.ignored), (0, 2, 1));
    let renamed = [CALL.replace(":2,", ":\"x\","), DONE.replace(":2,", ":\"x\",")];
    let renamed: Vec<_> = renamed.iter().map(String::as_str).collect();
    assert_eq!(
        departures(&[CALL, DONE], &renamed, &DiffOptions::default(), IdMatching::Renumbered).0.len(),
        0
    );
    assert_eq!(departures(&[CALL, DONE], &renamed, &DiffOptions::default(), IdMatching::Exact).0.len(), 2);
    let merged = [PING.replace(":1,", ":2,"), DONE.to_owned()];
    let merged: Vec<_> = merged.iter().map(String::as_str).collect();
    let (said, _) = departures(&[PING, DONE], &merged, &DiffOptions::default(), IdMatching::Renumbered);
    assert_eq!(said, ["1~1 /id"], "2 already stands for 1");
}
