//! Which events of two sessions are paired, and what is said of the others.

use super::{AlignOptions, Counts, IdMatching, LOOKAHEAD, Mismatch, OwnedEvent, compare};
use crate::contract::Contract;
use crate::diff::{DiffOptions, PointerPattern};
use crate::message::Message;
use crate::session::{Content, Entry, Location};
use proptest::prelude::*;

fn session(lines: &[&str]) -> Vec<OwnedEvent> {
    let mut contract = Contract::default();
    let read = |line: &&str| {
        let entry = Entry::new(Location::default(), Content::Message(Message::parse(line).unwrap()));
        OwnedEvent::new(&contract.take(&entry).unwrap().unwrap())
    };
    lines.iter().map(read).collect()
}

fn departures(left: &[&str], right: &[&str], rules: &DiffOptions, ids: IdMatching) -> (Vec<String>, Counts) {
    let options = AlignOptions { values: rules.clone(), ids, unordered_answers: false };
    aligned(left, right, &options)
}

fn aligned(left: &[&str], right: &[&str], options: &AlignOptions) -> (Vec<String>, Counts) {
    let mut said = Vec::new();
    let counts = compare(session(left).into_iter(), session(right).into_iter(), options, &mut |departure| {
        said.push(match departure {
            Mismatch::Differs(a, b, difference, others) => {
                format!("{}~{} {}", a.index, b.index, [&[difference.pointer], &others[..]].concat().join(" "))
            }
            Mismatch::OnlyLeft(a) => format!("-{}", a.index),
            Mismatch::OnlyRight(b) => format!("+{}", b.index),
        });
    });
    (said, counts)
}

/// The same alignment by comparing every pair of events value by value, as far as [`LOOKAHEAD`] reaches.
fn by_hand(left: &[&str], right: &[&str], rules: &DiffOptions) -> Vec<String> {
    let (a, b) = (session(left), session(right));
    let alike = |i: usize, j: usize| {
        a[i].kind == b[j].kind
            && a[i].id == b[j].id
            && super::contents(&a[i].event(), &b[j].event(), rules).difference.is_none()
    };
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        let inside =
            |x: usize, y: usize| i + x < a.len().min(i + LOOKAHEAD) && j + y < b.len().min(j + LOOKAHEAD);
        let mut places: Vec<(usize, usize)> =
            (0..LOOKAHEAD).flat_map(|x| (0..LOOKAHEAD).map(move |y| (x, y))).collect();
        places.sort_by_key(|&(x, y)| (x + y, x.abs_diff(y), x));
        let place = places.into_iter().find(|&(x, y)| inside(x, y) && alike(i + x, j + y));
        let (x, y) = match place {
            Some((0, 0)) | None => (1, 1),
            Some(place) => place,
        };
        let both = x.min(y);
        pairs.extend((0..both).map(|n| format!("{}~{}", i + n, j + n)));
        pairs.extend((both..x).map(|n| format!("-{}", i + n)));
        pairs.extend((both..y).map(|n| format!("+{}", j + n)));
        (i, j) = (i + x, j + y);
    }
    pairs.extend((i..a.len()).map(|n| format!("-{n}")));
    pairs.extend((j..b.len()).map(|n| format!("+{n}")));
    pairs
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn events_are_paired_as_by_comparing_each_with_each(
        left in prop::collection::vec(0..24_usize, 0..90),
        right in prop::collection::vec(0..24_usize, 0..90),
        redacted in any::<bool>(),
    ) {
        // Few texts of several spellings, some of which a redacted value hides.
        let text = |&number: &usize| match number % 6 {
            0 => format!(r#"{{"jsonrpc":"2.0","method":"n","params":{{"a":{number},"b":["x"]}}}}"#),
            1 => format!(r#"{{"jsonrpc":"2.0","method":"n","params":{{"b":["\u0078"], "a":{number}.0}}}}"#),
            2 => format!(r#"{{"jsonrpc":"2.0","method":"n","params":{{"a":{},"b":["[-]"]}}}}"#, number - 2),
            3 => format!(r#"{{"jsonrpc":"2.0","id":{number},"method":"ping"}}"#),
            4 => format!(r#"{{"jsonrpc":"2.0","method":"n","params":{{"a":[{number}],"t":{number}}}}}"#),
            _ => format!(r#"{{"jsonrpc":"2.0","method":"m{number}"}}"#),
        };
        let (left, right): (Vec<_>, Vec<_>) =
            (left.iter().map(text).collect(), right.iter().map(text).collect());
        let (left, right): (Vec<_>, Vec<_>) =
            (left.iter().map(String::as_str).collect(), right.iter().map(String::as_str).collect());
        let rules = DiffOptions {
            ignore: vec![PointerPattern::parse("/params/t").unwrap(), PointerPattern::parse("/params/a/0").unwrap()],
            redacted: redacted.then(|| "[-]".to_owned()),
        };
        let (said, counts) = departures(&left, &right, &rules, IdMatching::Exact);
        let expected = by_hand(&left, &right, &rules);
        let paired = |pair: &&String| pair.contains('~');
        prop_assert_eq!(counts.equal + counts.differing, expected.iter().filter(paired).count() as u64);
        let named: Vec<&str> = said.iter().map(|said| said.split(' ').next().unwrap()).collect();
        prop_assert!(named.iter().filter(|said| !said.contains('~')).eq(expected.iter().filter(|pair| !paired(pair))));
        prop_assert!(named.iter().all(|said| expected.iter().any(|pair| pair == said)));
    }
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
    let cancel = |id: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    for (id, said) in [("\"x\"", 0), ("\"y\"", 1)] {
        let (left, right) = (cancel("2"), cancel(id));
        let renamed = [&renamed[..], &[&*right]].concat();
        let found =
            departures(&[CALL, DONE, &left], &renamed, &DiffOptions::default(), IdMatching::Renumbered);
        assert_eq!(found.0.len(), said, "{:?}", found.0);
    }
    let merged = [PING.replace(":1,", ":2,"), DONE.to_owned()];
    let merged: Vec<_> = merged.iter().map(String::as_str).collect();
    let (said, _) = departures(&[PING, DONE], &merged, &DiffOptions::default(), IdMatching::Renumbered);
    assert_eq!(said, ["1~1 /id"], "2 already stands for 1");
}

#[test]
fn a_difference_costs_one_comparison_wherever_the_sessions_go_on_alike() {
    let note = |time: usize| NOTE.replace("\"x\"", &format!("\"{time}\""));
    let (left, right): (Vec<_>, Vec<_>) = (0..4_000).map(|time| (note(time), note(time + 10_000))).unzip();
    let (left, right): (Vec<_>, Vec<_>) =
        (left.iter().map(String::as_str).collect(), right.iter().map(String::as_str).collect());
    let (_, counts) = aligned(&left, &right, &AlignOptions::default());
    assert_eq!((counts.differing, counts.equal), (4_000, 0));
    // One to see that they differ, and one to say where; the window is searched by fingerprints.
    assert!(counts.compared <= 2 * 4_000, "{}", counts.compared);

    // A redacted value equals any other, so fingerprints do not tell; each pair in the window is compared once.
    let hidden: Vec<String> =
        left.iter().map(|text| text.replace("\"data\"", "\"k\":\"[-]\",\"data\"")).collect();
    let hidden: Vec<&str> = hidden.iter().map(String::as_str).collect();
    let values = DiffOptions { redacted: Some("[-]".to_owned()), ..DiffOptions::default() };
    let (_, counts) = aligned(&hidden, &right, &AlignOptions { values, ..AlignOptions::default() });
    assert_eq!(counts.differing, 4_000);
    assert!(counts.compared <= (2 * LOOKAHEAD as u64 + 2) * 4_000, "{}", counts.compared);
}

#[test]
fn the_order_of_answers_may_be_left_out_and_nothing_else() {
    let unordered = AlignOptions { unordered_answers: true, ..AlignOptions::default() };
    let said = |left: &[&str], right: &[&str]| aligned(left, right, &unordered).0;
    assert_eq!(said(&[PING, CALL, DONE, PONG], &[PING, CALL, PONG, DONE]), [""; 0]);
    assert_eq!(said(&[PING, PONG, CALL, NOTE, DONE], &[PING, CALL, DONE, PONG, NOTE]), [""; 0]);
    assert_eq!(
        said(&[PING, CALL, DONE, PONG], &[CALL, PING, PONG, DONE]).len(),
        4,
        "requests keep their order"
    );
    let other = NOTE.replace("\"x\"", "\"y\"");
    assert_eq!(said(&[NOTE, &other], &[&other, NOTE]).len(), 2, "and so do notifications");
    // Another answer to the same request, one that is missing, and one more.
    let later = DONE.replace("then", "now");
    assert_eq!(said(&[PING, CALL, DONE, PONG], &[PING, CALL, PONG, &later]), ["2~3 /result/content/0/text"]);
    assert_eq!(said(&[PING, CALL, DONE, PONG], &[PING, CALL, DONE]), ["-3"]);
    assert_eq!(said(&[CALL, DONE], &[PING, CALL, PONG, DONE]), ["+0", "+2"]);
    // Answers to two requests with one id are distinguished by the request, not by the id.
    let full = PONG.replace("{}", r#"{"n":1}"#);
    assert_eq!(said(&[PING, PING, PONG, &full], &[PING, PONG, PING, &full]), [""; 0]);
    assert_eq!(said(&[PING, PING, PONG, &full], &[PING, PING, &full, PONG]).len(), 2);
    // An answer to nothing keeps its place.
    assert_eq!(said(&[NOTE, PONG], &[PONG, NOTE]).len(), 2);
}
