//! One recording for each kind of loss, written by hand.

use super::{BindingScope, FidelityReport, RecordedMessage, SentMessage, Terms, judge};
use crate::drive::judge::Kind;
use transcript::session::Side::{self, Client, Server};

const ASK: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const REPLY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","arguments":{"n":9007199254740993}}}"#;
const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x","data":"y"}}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"sum":1.0}}"#;

/// The whole session: each message is sent a second after the one before it, and received a millisecond later.
const SESSION: [(Side, &str); 5] =
    [(Client, ASK), (Server, REPLY), (Client, CALL), (Server, NOTE), (Server, DONE)];

const START: u64 = 1_700_000_000_000_000;
const TERMS: Terms = Terms { patience: 1_000_000, bound: BindingScope::All };

fn said(session: &[(Side, &str)]) -> Vec<SentMessage> {
    let one = |(at, &(side, text)): (usize, &(Side, &str))| {
        let begun = START + at as u64 * 1_000_000;
        SentMessage {
            side,
            stream: 0,
            exchange: None,
            begun,
            there: begun + 1_000,
            text: format!("{text}\n"),
            due: true,
        }
    };
    session.iter().enumerate().map(one).collect()
}

/// A recording of these, in lines from 1, each stamped in the millisecond in which it was sent in [`SESSION`].
fn written(lines: &[(Side, &str)]) -> Vec<RecordedMessage> {
    let one = |(at, &(side, text)): (usize, &(Side, &str))| {
        let sent = SESSION.iter().position(|sent| sent.1 == text).unwrap_or(at);
        let time = i64::try_from(START / 1_000 + sent as u64 * 1_000 + 1).ok();
        RecordedMessage { side: Some(side), time, text: text.to_owned(), line: at as u64 + 1, noise: false }
    };
    lines.iter().enumerate().map(one).collect()
}

fn kinds(judged: &FidelityReport) -> Vec<(Kind, Option<Side>, usize)> {
    judged.findings.iter().map(|finding| (finding.kind, finding.side, finding.index)).collect()
}

fn found(lines: &[(Side, &str)]) -> FidelityReport {
    judge(&said(&SESSION), &written(lines), TERMS)
}

#[test]
fn a_faithful_recording_may_spell_otherwise() {
    assert_eq!(found(&SESSION), FidelityReport::default());
    let done = r#"{ "result": { "sum" : 1 }, "id": 2, "jsonrpc": "2.0" }"#;
    let mut lines = SESSION;
    lines[4].1 = done;
    assert_eq!(kinds(&found(&lines)), []);
}

#[test]
fn a_lost_message_is_told_and_its_response_is_not_told_twice() {
    let judged = found(&[SESSION[0], SESSION[1], SESSION[3], SESSION[4]]);
    assert_eq!(kinds(&judged), [(Kind::Lost, Some(Client), 1)]);
    assert_eq!(judged.findings[0].sent.as_deref(), Some(CALL));
    assert_eq!(judged.findings[0].says, "message 2 of the client is not in the recording");
}

#[test]
fn a_message_too_many_is_told_with_its_line() {
    let other = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let mut lines = SESSION.to_vec();
    lines.insert(1, (Client, other));
    let judged = found(&lines);
    assert_eq!(kinds(&judged), [(Kind::Added, Some(Client), 1)]);
    assert_eq!(judged.findings[0].says, "nobody sent what line 2 of the recording has");
    lines[1] = (Server, NOTE);
    assert!(found(&lines).findings[0].says.contains("once more than it was sent"));
}

#[test]
fn numbers_through_a_double_and_members_that_were_dropped_are_named() {
    let mut lines = SESSION;
    let rounded = CALL.replace("993", "992");
    lines[2].1 = &rounded;
    let judged = found(&lines);
    assert_eq!(kinds(&judged), [(Kind::Changed, Some(Client), 1)]);
    let finding = &judged.findings[0];
    assert_eq!(
        (finding.sent.as_deref(), finding.came.as_deref()),
        (Some("9007199254740993"), Some("9007199254740992"))
    );
    assert!(
        finding.says.contains("/params/arguments/n in line 3")
            && finding.says.contains("rounded to a double")
    );

    let mut lines = SESSION;
    let once = NOTE.replace("\"data\":\"x\",", "");
    lines[3].1 = &once;
    let judged = found(&lines);
    assert_eq!(kinds(&judged), [(Kind::Changed, Some(Server), 1)]);
    assert!(judged.findings[0].says.contains("duplicate member"), "{}", judged.findings[0].says);
}

#[test]
fn another_value_and_another_id_are_changes_and_not_losses() {
    let mut lines = SESSION;
    let other = DONE.replace("1.0", "\"one\"");
    lines[4].1 = &other;
    assert_eq!(kinds(&found(&lines)), [(Kind::Changed, Some(Server), 2)]);
    let mut lines = SESSION;
    let text = CALL.replace("\"id\":2", "\"id\":\"2\"");
    lines[2].1 = &text;
    assert_eq!(kinds(&found(&lines)), [(Kind::Changed, Some(Client), 1)]);
}

#[test]
fn what_is_no_json_any_more_is_a_change() {
    let spoilt = DONE.replace("1.0", "Infinity");
    let mut lines = written(&[SESSION[0], SESSION[1], SESSION[2], SESSION[3], (Server, &spoilt)]);
    lines[4].noise = true;
    let judged = judge(&said(&SESSION), &lines, TERMS);
    assert_eq!(kinds(&judged), [(Kind::Changed, Some(Server), 2)]);
    assert_eq!(
        judged.findings[0].says,
        "message 3 of the server is no longer JSON in line 5 of the recording"
    );
    // Noise that stands elsewhere is no message that was spoilt.
    lines.rotate_right(1);
    assert_eq!(kinds(&judge(&said(&SESSION), &lines, TERMS)), [(Kind::Lost, Some(Server), 2)]);
}

#[test]
fn messages_in_one_are_merged() {
    let both = format!("{NOTE}{DONE}");
    let mut lines = written(&[SESSION[0], SESSION[1], SESSION[2], (Server, &both)]);
    lines[3].noise = true;
    let judged = judge(&said(&SESSION), &lines, TERMS);
    assert_eq!(kinds(&judged), [(Kind::Merged, Some(Server), 1), (Kind::Merged, Some(Server), 2)]);
    assert!(judged.findings[0].says.contains("merged with others in line 4"));
}

#[test]
fn order_is_judged_within_a_side_alone() {
    let judged = found(&[SESSION[0], SESSION[1], SESSION[2], SESSION[4], SESSION[3]]);
    // Of two that changed places one is enough to tell.
    assert_eq!(kinds(&judged), [(Kind::Reordered, Some(Server), 1)]);
    // The client's call before the server's reply is no fault of order, and changes no binding.
    assert_eq!(kinds(&found(&[SESSION[0], SESSION[2], SESSION[1], SESSION[3], SESSION[4]])), []);
    // Nor are two streams whose messages overtake each other.
    let mut apart = said(&SESSION);
    apart[3].stream = 1;
    let lines = written(&[SESSION[0], SESSION[1], SESSION[2], SESSION[4], SESSION[3]]);
    assert_eq!(kinds(&judge(&apart, &lines, TERMS)), []);
}

#[test]
fn a_response_before_its_request_is_bound_wrongly() {
    let judged = found(&[SESSION[1], SESSION[0], SESSION[2], SESSION[3], SESSION[4]]);
    assert_eq!(kinds(&judged), [(Kind::BoundWrongly, Some(Server), 0)]);
    let says = &judged.findings[0].says;
    assert_eq!(
        says,
        "message 1 of the server answers message 1 of the client, and the recording binds it to nothing, by line 1"
    );
}

#[test]
fn a_format_of_exchanges_is_held_to_the_bindings_within_them() {
    let judged = |exchanges: [u64; 2]| {
        let mut said = said(&SESSION);
        (said[0].exchange, said[1].exchange) = (Some(exchanges[0]), Some(exchanges[1]));
        let lines = written(&[SESSION[1], SESSION[0], SESSION[2], SESSION[3], SESSION[4]]);
        kinds(&judge(&said, &lines, Terms { bound: BindingScope::WithinExchange, ..TERMS })).len()
    };
    assert_eq!((judged([0, 0]), judged([0, 1])), (1, 0));
}

#[test]
fn what_a_format_cannot_say_is_not_judged_and_is_named() {
    let both = [
        (Client, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
        (Server, r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#),
        (Client, r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#),
        (Server, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
    ];
    let mut lines = written(&both);
    lines.iter_mut().for_each(|line| (line.side, line.time) = (None, None));
    let judged = judge(&said(&both), &lines, TERMS);
    assert_eq!((judged.findings.len(), judged.unsaid.len()), (0, 1));
    assert!(judged.unsaid[0].starts_with("COR-DIRECTION-FLAT"));
    // What is lost is lost all the same.
    assert_eq!(kinds(&judge(&said(&both), &lines[..3], TERMS)), [(Kind::Lost, Some(Server), 1)]);
}

#[test]
fn stamps_are_held_against_sending_and_receiving() {
    let stamped = |shifts: [i64; 5]| {
        let mut lines = written(&SESSION);
        for (line, shift) in lines.iter_mut().zip(shifts) {
            line.time = line.time.map(|time| time + shift);
        }
        kinds(&judge(&said(&SESSION), &lines, TERMS))
    };
    assert_eq!(stamped([0, 999, 500, 0, 0]), []);
    assert_eq!(stamped([0, 0, -10, 0, 0]), [(Kind::StampedEarly, Some(Client), 1)]);
    // All at the end, as a recorder does that writes its file when the session is over.
    assert_eq!(
        stamped([4_000, 3_000, 2_000, 1_000, 0]),
        [
            (Kind::StampedLate, Some(Client), 0),
            (Kind::StampedLate, Some(Server), 0),
            (Kind::StampedLate, Some(Client), 1)
        ]
    );
    // A clock of its own is held against its first message.
    let zero = i64::try_from(START / 1_000).unwrap();
    assert_eq!(stamped([-zero; 5]), []);
    assert_eq!(stamped([-zero, -zero, 2_500 - zero, -zero, -zero]), [(Kind::StampedLate, Some(Client), 1)]);
}

#[test]
fn of_equal_messages_each_stands_for_the_one_of_its_time() {
    let mut sent = said(&[(Server, REPLY), (Server, REPLY)]);
    (sent[0].stream, sent[1].stream) = (1, 2);
    // The stream that was opened last ended first, and the file begins with the other.
    let mut lines = written(&[(Server, REPLY), (Server, REPLY)]);
    let stamp = |micros: u64| i64::try_from(micros / 1_000).ok();
    (lines[0].time, lines[1].time) = (stamp(sent[1].there), stamp(sent[0].there));
    assert_eq!(kinds(&judge(&sent, &lines, TERMS)), []);
    // One that ends later is stamped later, whichever was sent first.
    sent[0].there = sent[1].there + 5_000_000;
    (lines[0].time, lines[1].time) = (stamp(sent[0].there), stamp(sent[1].there));
    assert_eq!(kinds(&judge(&sent, &lines, TERMS)), []);
}

#[test]
fn what_passes_twice_at_once_has_no_order() {
    let [first, second, again] = ["1", "2", "x"].map(|data| NOTE.replace("\"x\"", &format!("\"{data}\"")));
    let mut sent = said(&[(Server, &first), (Server, &second), (Server, &again), (Server, &again)]);
    for (at, stream) in [1, 2, 2, 1].into_iter().enumerate() {
        sent[at].stream = stream;
    }
    // By a microsecond, which no stamp shows.
    (sent[3].begun, sent[3].there) = (sent[2].begun + 1, sent[2].there + 1);
    let order = [(Server, &*first), (Server, &*again), (Server, &*second), (Server, &*again)];
    let mut lines = written(&order);
    for (line, from) in lines.iter_mut().zip([0, 3, 1, 2]) {
        line.time = i64::try_from(sent[from].there / 1_000).ok();
    }
    assert_eq!(kinds(&judge(&sent, &lines, TERMS)), []);
    // Of one stream they have one.
    sent.iter_mut().for_each(|one| one.stream = 1);
    assert_eq!(kinds(&judge(&sent, &lines, TERMS)), [(Kind::Reordered, Some(Server), 1)]);
}

#[test]
fn of_a_session_that_was_cut_off_only_what_had_arrived_is_due() {
    let mut said = said(&SESSION);
    said[4].due = false;
    assert_eq!(kinds(&judge(&said, &written(&SESSION[..4]), TERMS)), []);
    assert_eq!(kinds(&judge(&said, &written(&SESSION), TERMS)), []);
    assert_eq!(kinds(&judge(&said, &written(&SESSION[..3]), TERMS)), [(Kind::Lost, Some(Server), 1)]);
}

#[test]
fn noise_may_be_left_out_and_a_faulty_message_may_not() {
    let faulty = r#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#;
    let mut session = SESSION.to_vec();
    session.extend([(Server, "hello, this is a banner"), (Server, "42"), (Client, faulty)]);
    let lines = written(&SESSION);
    assert_eq!(kinds(&judge(&said(&session), &lines, TERMS)), [(Kind::Lost, Some(Client), 2)]);
    let mut kept = written(&session);
    kept[5..].iter_mut().for_each(|line| line.noise = true);
    kept[5..].iter_mut().for_each(|line| line.time = None);
    assert_eq!(kinds(&judge(&said(&session), &kept, TERMS)), []);
}

#[test]
fn answers_with_one_id_may_cross_on_two_connections() {
    let list = r#"{"jsonrpc":"2.0","id":"1","method":"tools/list"}"#;
    let listed = r#"{"jsonrpc":"2.0","id":"1","result":{"tools":[]}}"#;
    let misbound = |exchanges: [u64; 2]| {
        let mut said = said(&[(Client, ASK), (Client, list), (Server, REPLY), (Server, listed)]);
        for (one, exchange) in said.iter_mut().zip(exchanges.into_iter().cycle()) {
            (one.stream, one.exchange) = (exchange, Some(exchange));
        }
        let mut lines = written(&[(Client, ASK), (Client, list), (Server, listed), (Server, REPLY)]);
        lines.iter_mut().for_each(|line| line.time = None);
        let judged = judge(&said, &lines, Terms { bound: BindingScope::WithinExchange, ..TERMS });
        judged.findings.iter().filter(|finding| finding.kind == Kind::BoundWrongly).count()
    };
    assert_eq!((misbound([0, 0]), misbound([0, 1])), (2, 0));
}
