//! Recordings written by hand. Those of `tests.txt` follow the session that was sent, each behind `---`, with `!` for each
//! finding. Each message is sent a second after the one before it, and received a millisecond later. Behind `---` may be said otherwise,
//! joined by ` & `: by message its stream, its exchange (of a log of `exchanges`, or of one that only has `connections`), when it was `begun` in microseconds and `there` in milliseconds, and how many are
//! `due`; by line of the recording when it is `stamped` in milliseconds, or what a clock of its own `counted`; and that it is `flat`.

use super::{FidelityReport, RecordedMessage, SentMessage, Terms, answers, judge};
use crate::play::plays;
use transcript::message::Message;
use transcript::session::Side::{self, Client, Server};

const START: u64 = 1_700_000_000_000_000;

fn parsed(line: &str) -> Option<(Side, String)> {
    match line.split_at(2) {
        ("> ", text) => Some((Client, text.to_owned())),
        ("< ", text) => Some((Server, text.to_owned())),
        _ => None,
    }
}

/// The numbers that are said by this word.
fn numbers(words: &str, name: &str) -> Option<Vec<u64>> {
    let said = words.split(" & ").find_map(|word| word.strip_prefix(name)?.strip_prefix(' '))?;
    Some(said.split(' ').map(|number| number.parse().unwrap()).collect())
}

fn said(session: &[&str], words: &str) -> Vec<SentMessage> {
    let at = |name: &str, at: usize| numbers(words, name).map(|numbers| numbers[at]);
    let one = |(index, (side, text)): (usize, (Side, String))| {
        let begun = START + at("begun", index).unwrap_or(index as u64 * 1_000_000);
        let there = at("there", index).map_or(begun + 1_000, |there| START + there * 1_000);
        let exchange = at("exchanges", index).or(at("connections", index));
        let stream = exchange.or(at("streams", index)).unwrap_or_default();
        let due = at("due", 0).is_none_or(|due| (index as u64) < due);
        SentMessage { side, stream, exchange, begun, there, text: format!("{text}\n"), due }
    };
    session.iter().filter_map(|line| parsed(line)).enumerate().map(one).collect()
}

/// A recording, in lines from 1.
fn written(lines: &[String], words: &str) -> Vec<RecordedMessage> {
    let one = |(index, (side, text)): (usize, (Side, String))| {
        let stamped = numbers(words, "stamped").map(|times| START / 1_000 + times[index]);
        let time = stamped.or(numbers(words, "counted").map(|times| times[index]));
        let (side, noise) = (Some(side).filter(|_| words != "flat"), Message::parse(&text).is_err());
        RecordedMessage { side, time: time.map(u64::cast_signed), text, line: index as u64 + 1, noise }
    };
    lines.iter().filter_map(|line| parsed(line)).enumerate().map(one).collect()
}

#[test]
fn every_recording_is_judged_as_written() {
    plays(include_str!("tests.txt"), |session, words, lines| {
        let terms = Terms { patience: 1_000_000, within_exchange: words.contains("exchanges") };
        let FidelityReport { findings, unsaid } = judge(&said(session, words), &written(lines, words), terms);
        let mut log: Vec<_> = lines.iter().filter(|line| parsed(line).is_some()).cloned().collect();
        log.extend(findings.iter().map(|it| {
            let values = it.sent.as_ref().zip(it.came.as_ref()).filter(|_| it.says.ends_with("to a double"));
            let values = values.map(|(sent, came)| format!(" ({sent}, not {came})")).unwrap_or_default();
            format!("! {} {} {}: {}{values}", it.kind, it.side.unwrap().name(), it.index, it.says)
        }));
        log.extend(unsaid.map(|why| format!("! unsaid: {why}")));
        log
    });
}

#[test]
fn responses_are_bound_by_side_and_past_what_is_not_a_message() {
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    let reply = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let texts =
        [("noise", Server), (call, Client), (call, Client), (ask, Server), (reply, Client), (reply, Server)];
    let bound = |sided: bool| answers(texts.iter().map(|&(text, side)| (text, sided.then_some(side))));
    assert_eq!(bound(true), [None, None, None, None, Some(Some(3)), Some(Some(1))]);
    assert_eq!(bound(false)[4..], [Some(Some(1)), Some(Some(3))]);
    assert_eq!(answers([(reply, None)].into_iter()), [Some(None)]);
}
