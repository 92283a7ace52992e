//! Recordings written by hand. Those of `tests.txt` follow the session that was sent, each behind `---`, with `!` for each
//! finding.

use super::{FidelityReport, RecordedMessage, SentMessage, Terms, judge};
use crate::drive::judge::Defect;
use crate::play::plays;
use transcript::message::Message;
use transcript::session::Side::{self, Client, Server};

const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const REPLY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{"n":9007199254740993}}}"#;
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x","data":"y"}}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"sum":1.0}}"#;

/// A message with its sender.
type Line<'t> = (Side, &'t str);

/// The whole session: each message is sent a second after the one before it, and received a millisecond later.
const SESSION: [Line<'static>; 5] =
    [(Client, ASK), (Server, REPLY), (Client, CALL), (Server, NOTE), (Server, DONE)];

const START: u64 = 1_700_000_000_000_000;
const TERMS: Terms = Terms { patience: 1_000_000, within_exchange: false };

fn said(session: &[Line<'_>]) -> Vec<SentMessage> {
    let one = |(at, &(side, text)): (usize, &Line<'_>)| {
        let begun = START + at as u64 * 1_000_000;
        let (there, text) = (begun + 1_000, format!("{text}\n"));
        SentMessage { side, stream: 0, exchange: None, begun, there, text, due: true }
    };
    session.iter().enumerate().map(one).collect()
}

fn stamp(micros: u64) -> Option<i64> {
    i64::try_from(micros / 1_000).ok()
}

/// A recording of these, in lines from 1, each stamped in the millisecond of its sending in [`SESSION`].
fn written(lines: &[Line<'_>]) -> Vec<RecordedMessage> {
    let one = |(at, &(side, text)): (usize, &Line<'_>)| {
        let sent = SESSION.iter().position(|sent| sent.1 == text).unwrap_or(at);
        let time = stamp(START + sent as u64 * 1_000_000 + 1_000);
        RecordedMessage { side: Some(side), time, text: text.to_owned(), line: at as u64 + 1, noise: false }
    };
    lines.iter().enumerate().map(one).collect()
}

/// [`SESSION`] by the numbers of its messages.
fn lines(order: &[usize]) -> Vec<Line<'static>> {
    order.iter().map(|at| SESSION[*at]).collect()
}

fn found(said: &[SentMessage], written: &[RecordedMessage]) -> Vec<(Defect, Side, usize)> {
    let judged = judge(said, written, TERMS);
    judged.findings.iter().map(|it| (it.kind, it.side.unwrap(), it.index)).collect()
}

#[test]
fn every_recording_is_judged_as_written() {
    let line = |line: &'_ str| match line.split_at(2) {
        ("> ", text) => Some((Client, text.to_owned())),
        ("< ", text) => Some((Server, text.to_owned())),
        _ => None,
    };
    plays(include_str!("tests.txt"), |session, words, lines| {
        let sent: Vec<_> = session.iter().filter_map(|text| line(text)).collect();
        let sent: Vec<Line<'_>> = sent.iter().map(|(side, text)| (*side, text.as_str())).collect();
        let kept: Vec<_> = lines.iter().filter_map(|text| line(text)).collect();
        let kept: Vec<Line<'_>> = kept.iter().map(|(side, text)| (*side, text.as_str())).collect();
        let mut recorded = written(&kept);
        for one in &mut recorded {
            one.noise = Message::parse(&one.text).is_err();
            (one.side, one.time) = (one.side.filter(|_| words != "flat"), None);
        }
        let FidelityReport { findings, unsaid } = judge(&said(&sent), &recorded, TERMS);
        let mut log: Vec<_> = lines.iter().filter(|text| line(text).is_some()).cloned().collect();
        log.extend(
            findings
                .iter()
                .map(|it| format!("! {} {} {}: {}", it.kind, it.side.unwrap().name(), it.index, it.says)),
        );
        log.extend(unsaid.map(|why| format!("! unsaid: {why}")));
        log
    });
    let rounded = CALL.replace("993", "992");
    let mut lines = SESSION;
    lines[2].1 = &rounded;
    let finding = judge(&said(&SESSION), &written(&lines), TERMS).findings.remove(0);
    let values = (finding.sent.as_deref(), finding.came.as_deref());
    assert_eq!(values, (Some("9007199254740993"), Some("9007199254740992")));
}

#[test]
fn of_a_session_that_was_cut_off_only_what_had_arrived_is_due() {
    let mut cut_off = said(&SESSION);
    cut_off[4].due = false;
    assert_eq!(found(&cut_off, &written(&SESSION[..4])), []);
    assert_eq!(found(&cut_off, &written(&SESSION)), []);
    assert_eq!(found(&cut_off, &written(&SESSION[..3])), [(Defect::Lost, Server, 1)]);
}

#[test]
fn streams_may_overtake_each_other_and_cross() {
    let mut apart = said(&SESSION);
    apart[3].stream = 1;
    assert_eq!(found(&apart, &written(&lines(&[0, 1, 2, 4, 3]))), []);
    // What passes twice at once has no order, and here it differs by a microsecond, which no stamp shows.
    let [first, second, again] = ["1", "2", "x"].map(|data| NOTE.replace("\"x\"", &format!("\"{data}\"")));
    let mut sent = said(&[(Server, &first), (Server, &second), (Server, &again), (Server, &again)]);
    for (at, stream) in [1, 2, 2, 1].into_iter().enumerate() {
        sent[at].stream = stream;
    }
    (sent[3].begun, sent[3].there) = (sent[2].begun + 1, sent[2].there + 1);
    let order = [(Server, &*first), (Server, &*again), (Server, &*second), (Server, &*again)];
    let mut lines = written(&order);
    for (line, from) in lines.iter_mut().zip([0, 3, 1, 2]) {
        line.time = stamp(sent[from].there);
    }
    assert_eq!(found(&sent, &lines), []);
    // In one stream they have an order.
    sent.iter_mut().for_each(|one| one.stream = 1);
    assert_eq!(found(&sent, &lines), [(Defect::Reordered, Server, 1)]);
}

#[test]
fn a_format_of_exchanges_is_held_to_the_bindings_within_them() {
    let list = r#"{"jsonrpc":"2.0","id":"1","method":"tools/list"}"#;
    let listed = r#"{"jsonrpc":"2.0","id":"1","result":{"tools":[]}}"#;
    let two = [(Client, ASK), (Client, list), (Server, REPLY), (Server, listed)];
    let crossed = [two[0], two[1], two[3], two[2]];
    for (session, recorded, exchanges, misbound) in [
        (&SESSION[..], lines(&[1, 0, 2, 3, 4]), [0, 0, 2, 2, 2], 1),
        (&SESSION, lines(&[1, 0, 2, 3, 4]), [0, 1, 2, 2, 2], 0),
        // Answers with one id may cross on two connections.
        (&two, crossed.to_vec(), [0, 0, 0, 0, 0], 2),
        (&two, crossed.to_vec(), [0, 1, 0, 1, 0], 0),
    ] {
        let mut said = said(session);
        for (one, exchange) in said.iter_mut().zip(exchanges) {
            (one.stream, one.exchange) = (exchange, Some(exchange));
        }
        let mut lines = written(&recorded);
        lines.iter_mut().for_each(|line| line.time = None);
        let judged = judge(&said, &lines, Terms { within_exchange: true, ..TERMS });
        let count = judged.findings.iter().filter(|finding| finding.kind == Defect::BoundWrongly).count();
        assert_eq!(count, misbound, "{exchanges:?}");
    }
}

#[test]
fn stamps_are_held_against_sending_and_receiving() {
    let zero = i64::try_from(START / 1_000).unwrap();
    let late = |side, index| (Defect::StampedLate, side, index);
    for (shifts, expected) in [
        ([0, 999, 500, 0, 0], vec![]),
        ([0, 0, -10, 0, 0], vec![(Defect::StampedEarly, Client, 1)]),
        // All at the end, as a recorder does that writes its file when the session is over.
        ([4_000, 3_000, 2_000, 1_000, 0], vec![late(Client, 0), late(Server, 0), late(Client, 1)]),
        // A clock of its own is held against its first message.
        ([-zero; 5], vec![]),
        ([-zero, -zero, 2_500 - zero, -zero, -zero], vec![late(Client, 1)]),
    ] {
        let mut lines = written(&SESSION);
        for (line, shift) in lines.iter_mut().zip(shifts) {
            line.time = line.time.map(|time| time + shift);
        }
        assert_eq!(found(&said(&SESSION), &lines), expected, "{shifts:?}");
    }
}

#[test]
fn of_equal_messages_each_is_the_one_of_its_time() {
    let mut sent = said(&[(Server, REPLY), (Server, REPLY)]);
    (sent[0].stream, sent[1].stream) = (1, 2);
    // The stream that was opened last ended first, and the file begins with the other.
    let mut lines = written(&[(Server, REPLY), (Server, REPLY)]);
    (lines[0].time, lines[1].time) = (stamp(sent[1].there), stamp(sent[0].there));
    assert_eq!(found(&sent, &lines), []);
    // One that ends later is stamped later, whichever was sent first.
    sent[0].there = sent[1].there + 5_000_000;
    (lines[0].time, lines[1].time) = (stamp(sent[0].there), stamp(sent[1].there));
    assert_eq!(found(&sent, &lines), []);
}

#[test]
fn responses_are_bound_by_side_and_past_what_is_not_a_message() {
    use super::answers;
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
    let ask = r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#;
    let texts =
        [("noise", Server), (call, Client), (call, Client), (ask, Server), (REPLY, Client), (REPLY, Server)];
    let bound = |sided: bool| answers(texts.iter().map(|&(text, side)| (text, sided.then_some(side))));
    assert_eq!(bound(true), [None, None, None, None, Some(Some(3)), Some(Some(1))]);
    assert_eq!(bound(false)[4..], [Some(Some(1)), Some(Some(3))]);
    assert_eq!(answers([(REPLY, None)].into_iter()), [Some(None)]);
}
