//! Which events of two sessions are paired, and what is said of the others.

use super::{Counts, Departure, Ids, Seen, compare};
use crate::contract::Contract;
use crate::diff::{Pattern, Rules};
use crate::message::Message;
use crate::session::{Content, Entry, Spot};

fn session(lines: &[&str]) -> Vec<Seen> {
    let mut contract = Contract::default();
    let read = |line: &&str| {
        let entry = Entry::new(Spot::default(), Content::Message(Message::parse(line).unwrap()));
        Seen::of(&contract.take(&entry).unwrap().unwrap())
    };
    lines.iter().map(read).collect()
}

fn departures(left: &[&str], right: &[&str], rules: &Rules, ids: Ids) -> (Vec<String>, Counts) {
    let mut said = Vec::new();
    let counts =
        compare(session(left).into_iter(), session(right).into_iter(), rules, ids, &mut |departure| {
            said.push(match departure {
                Departure::Differs(a, b, difference) => {
                    format!("{}~{} {}", a.index, b.index, difference.pointer)
                }
                Departure::OnlyLeft(a) => format!("-{}", a.index),
                Departure::OnlyRight(b) => format!("+{}", b.index),
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
    let (said, counts) = departures(&left, &right, &Rules::default(), Ids::Exact);
    assert_eq!(said, ["+0", "+4"]);
    assert_eq!((counts.equal, counts.only_right), (4, 2));
    assert_eq!(departures(&right, &left, &Rules::default(), Ids::Exact).0, ["-0", "-4"]);
}

#[test]
fn a_changed_value_a_lost_answer_and_another_binding_are_named() {
    let other = CALL.replace("\"n\":1", "\"n\":2");
    let (said, _) =
        departures(&[PING, CALL, DONE, PONG], &[PING, &other, DONE, PONG], &Rules::default(), Ids::Exact);
    assert_eq!(said, ["1~1 /arguments/n"]);
    let (said, counts) =
        departures(&[PING, PONG, CALL, DONE], &[PING, CALL, DONE], &Rules::default(), Ids::Exact);
    assert_eq!((said, counts.same()), (vec!["-1".to_owned()], false));
    let (said, _) =
        departures(&[PING, PING, PONG, PONG], &[PING, PONG, PING, PONG], &Rules::default(), Ids::Exact);
    assert!(!said.is_empty());
}

#[test]
fn what_may_differ_may() {
    let later = DONE.replace("then", "now");
    let rules = Rules { ignore: vec![Pattern::parse("/result/content/*/text").unwrap()], redacted: None };
    let (said, counts) = departures(&[CALL, DONE], &[CALL, &later], &rules, Ids::Exact);
    assert_eq!((said.len(), counts.equal, counts.ignored), (0, 2, 1));
    let renamed = [CALL.replace(":2,", ":\"x\","), DONE.replace(":2,", ":\"x\",")];
    let renamed: Vec<_> = renamed.iter().map(String::as_str).collect();
    assert_eq!(departures(&[CALL, DONE], &renamed, &Rules::default(), Ids::Renumbered).0.len(), 0);
    assert_eq!(departures(&[CALL, DONE], &renamed, &Rules::default(), Ids::Exact).0.len(), 2);
    let merged = [PING.replace(":1,", ":2,"), DONE.to_owned()];
    let merged: Vec<_> = merged.iter().map(String::as_str).collect();
    let (said, _) = departures(&[PING, DONE], &merged, &Rules::default(), Ids::Renumbered);
    assert_eq!(said, ["1~1 /id"], "2 already stands for 1");
}
