//! Scripts by table: what comes, what is said then, and which mismatches there are.

use super::{Order, Player};
use crate::play::script::tests::script;
use transcript::diff::{DiffOptions, PointerPattern};
use transcript::session::Side;

/// Plays `role` of `session` while `came` comes, and writes down what happens: `<` or `>` and the text of what is said,
/// `=` and the number of the message that was heard, `!` and the headline of a mismatch.
fn play(session: &[&str], role: Side, order: Order, ignore: &[&str], came: &[&str]) -> Vec<String> {
    let script = script(session, role).unwrap();
    let rules = DiffOptions {
        ignore: ignore.iter().map(|text| PointerPattern::parse(text).unwrap()).collect(),
        redacted: None,
    };
    let mut player = Player::new(&script, rules, order);
    let mut log = Vec::new();
    let speak = |player: &mut Player<'_>, log: &mut Vec<String>| {
        while let Some(said) = player.next_message() {
            log.push(said.text.into_owned());
        }
    };
    speak(&mut player, &mut log);
    for text in came {
        for heard in player.receive(text) {
            log.extend(heard.step.map(|step| format!("={step}")));
            log.extend(heard.mismatch.map(|mismatch| format!("! {}", mismatch.headline())));
        }
        speak(&mut player, &mut log);
    }
    log.extend(player.missing("it is over").map(|mismatch| format!("! {}", mismatch.headline())));
    assert_eq!(player.is_over(), !log.iter().any(|line| line.contains("is missing")), "{log:?}");
    log
}

fn server(session: &[&str], came: &[&str]) -> Vec<String> {
    play(session, Side::Server, Order::Strict, &[], came)
}

const ASK: &str = r#"> {"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"< { "jsonrpc":"2.0", "id":1,"result":{"a":1.0} }"#;

#[test]
fn an_answer_is_said_when_its_question_was_heard() {
    assert_eq!(server(&[ASK, PONG], &[&ASK[2..]]), ["=0", &PONG[2..]]);
    // Members in another order, and other white space.
    assert_eq!(server(&[ASK, PONG], &[r#" {"method":"ping", "id":1,"jsonrpc":"2.0"}"#]), ["=0", &PONG[2..]]);
    assert_eq!(
        play(
            &[ASK, PONG],
            Side::Client,
            Order::Strict,
            &[],
            &[r#"{"jsonrpc":"2.0","result":{"a":1},"id":1}"#]
        ),
        [&ASK[2..], "=1"]
    );
}

#[test]
fn ids_belong_to_whoever_chose_them() {
    for (real, said) in [
        ("17", r#"{ "jsonrpc":"2.0", "id":17,"result":{"a":1.0} }"#),
        (r#""a\"b""#, r#"{ "jsonrpc":"2.0", "id":"a\"b","result":{"a":1.0} }"#),
        ("1", &PONG[2..]),
        // The same id in another spelling is what the answer has to repeat.
        (r#""1""#, r#"{ "jsonrpc":"2.0", "id":"1","result":{"a":1.0} }"#),
    ] {
        let came = format!(r#"{{"jsonrpc":"2.0","id":{real},"method":"ping"}}"#);
        assert_eq!(server(&[ASK, PONG], &[&came]), ["=0", said]);
    }
}

#[test]
fn crossed_answers_have_the_ids_of_their_questions() {
    let session = [
        r#"> {"jsonrpc":"2.0","id":1,"method":"a"}"#,
        r#"> {"jsonrpc":"2.0","id":2,"method":"b"}"#,
        r#"< {"jsonrpc":"2.0","id":2,"result":"b"}"#,
        r#"< {"jsonrpc":"2.0","id":1,"result":"a"}"#,
    ];
    let came = [r#"{"jsonrpc":"2.0","id":2,"method":"a"}"#, r#"{"jsonrpc":"2.0","id":1,"method":"b"}"#];
    assert_eq!(
        server(&session, &came),
        ["=0", "=1", r#"{"jsonrpc":"2.0","id":1,"result":"b"}"#, r#"{"jsonrpc":"2.0","id":2,"result":"a"}"#]
    );
}

#[test]
fn orphans_and_ids_that_bind_nothing_are_said_as_they_stand() {
    let session = [
        r#"< {"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
        r#"< {"jsonrpc":"2.0","id":9,"result":1}"#,
        ASK,
        PONG,
        r#"< {"jsonrpc":"2.0","id":1,"result":"again"}"#,
        r#"> {"jsonrpc":"2.0","id":null,"method":"n"}"#,
    ];
    let came = [r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":null,"method":"n"}"#];
    assert_eq!(
        server(&session, &came),
        [
            &session[0][2..],
            &session[1][2..],
            "=2",
            r#"{ "jsonrpc":"2.0", "id":5,"result":{"a":1.0} }"#,
            // An orphan is about the request that had its id last.
            r#"{"jsonrpc":"2.0","id":5,"result":"again"}"#,
            "=5",
        ]
    );
}

#[test]
fn a_reused_id_is_bound_to_each_of_its_requests() {
    let session = [ASK, PONG, ASK, PONG];
    let came = [r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#];
    let log = server(&session, &came);
    assert_eq!(log, ["=0", r#"{ "jsonrpc":"2.0", "id":7,"result":{"a":1.0} }"#, "=2", &PONG[2..]]);
}

#[test]
fn a_request_of_the_server_inside_a_call_keeps_its_own_id() {
    let session = [
        r#"> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
        r#"< {"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
        r#"> {"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
        r#"< {"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
    ];
    let came = [
        r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"a"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
    ];
    assert_eq!(
        server(&session, &came),
        ["=0", &session[1][2..], "=2", r#"{"jsonrpc":"2.0","id":"x","result":{"content":[]}}"#]
    );
    let renamed = r#"{"jsonrpc":"2.0","id":"x","result":{"roots":[]}}"#;
    let log = server(&session, &[came[0], renamed]);
    assert_eq!(log[2], "! unexpected message: the session does not have it here");
}

#[test]
fn cancelling_and_progress_follow_the_names_of_the_client() {
    let session = [
        r#"> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"a","_meta":{"progressToken":2}}}"#,
        r#"< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":0.50}}"#,
        r#"> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"r"}}"#,
    ];
    let call = r#"{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"a","_meta":{"progressToken":"t"}}}"#;
    let cancel = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"r"}}}}"#
        )
    };
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":0.50}}"#;
    assert_eq!(server(&session, &[call, &cancel("\"q\"")]), ["=0", progress, "=2"]);
    let log = server(&session, &[call, &cancel("2")]);
    assert_eq!(log[3], "! the message differs at /params/requestId: expected \"q\", got 2",);
}

#[test]
fn concurrent_requests_in_another_order_are_told_and_answered() {
    let session = [
        r#"> {"jsonrpc":"2.0","id":1,"method":"a"}"#,
        r#"> {"jsonrpc":"2.0","id":2,"method":"b"}"#,
        r#"< {"jsonrpc":"2.0","id":1,"result":"a"}"#,
        r#"< {"jsonrpc":"2.0","id":2,"result":"b"}"#,
        r#"> {"jsonrpc":"2.0","method":"last"}"#,
    ];
    let came = [&session[1][2..], &session[0][2..], &session[4][2..]];
    let early = "! a message came early: one before it is still awaited";
    let said = [&session[2][2..], &session[3][2..]];
    assert_eq!(server(&session, &came), ["=1", early, "=0", said[0], said[1], "=4"]);
    let loose = play(&session, Side::Server, Order::Loose, &[], &came);
    assert_eq!(loose, ["=1", "=0", said[0], said[1], "=4"]);
    // Behind what this side had to say first, it is early over any transport.
    let came = [&session[4][2..], &session[0][2..], &session[1][2..]];
    let loose = play(&session, Side::Server, Order::Loose, &[], &came);
    assert_eq!(loose, ["=4", early, "=0", "=1", said[0], said[1]]);
}

#[test]
fn answers_of_two_connections_may_cross_what_is_sent_between_them() {
    let session = [
        r#"> {"jsonrpc":"2.0","id":1,"method":"a"}"#,
        r#"> {"jsonrpc":"2.0","id":2,"method":"b"}"#,
        r#"< {"jsonrpc":"2.0","id":1,"result":"a"}"#,
        r#"> {"jsonrpc":"2.0","id":3,"method":"c"}"#,
        r#"< {"jsonrpc":"2.0","id":2,"result":"b"}"#,
        r#"< {"jsonrpc":"2.0","id":3,"result":"c"}"#,
    ];
    let came = [&session[4][2..], &session[2][2..], &session[5][2..]];
    let asked = [&session[0][2..], &session[1][2..]];
    let loose = play(&session, Side::Client, Order::Loose, &[], &came);
    assert_eq!(loose, [asked[0], asked[1], "=4", "=2", &session[3][2..], "=5"]);
    let early = "! a message came early: one before it is still awaited";
    let strict = play(&session, Side::Client, Order::Strict, &[], &came);
    assert_eq!(strict[..4], [asked[0], asked[1], "=4", early], "on one pipe they cannot cross");
    // An answer to what was not asked is early on any transport.
    let loose = play(&session, Side::Client, Order::Loose, &[], &[&session[5][2..]]);
    assert_eq!(loose[2..4], ["=5", early]);
}

#[test]
fn requests_that_differ_in_their_ids_alone_are_told_apart() {
    let lines = |first: u64| {
        let ask = |id| format!(r#"> {{"jsonrpc":"2.0","id":{id},"method":"a"}}"#);
        let tell = |id| format!(r#"< {{"jsonrpc":"2.0","id":{id},"result":"{}"}}"#, id - first);
        [ask(first), ask(first + 1), tell(first), tell(first + 1)]
    };
    let (session, shifted) = (lines(1), lines(2));
    let session: Vec<&str> = session.iter().map(String::as_str).collect();
    // The second one overtakes the first.
    let log = play(&session, Side::Server, Order::Loose, &[], &[&session[1][2..], &session[0][2..]]);
    assert_eq!(log, ["=1", "=0", &session[2][2..], &session[3][2..]]);
    // Other ids come in order, one of which the recording has for another request.
    let log = play(&session, Side::Server, Order::Strict, &[], &[&shifted[0][2..], &shifted[1][2..]]);
    assert_eq!(log, ["=0", "=1", &shifted[2][2..], &shifted[3][2..]]);
}

#[test]
fn what_nobody_waits_for_may_be_overtaken() {
    let session = [
        r#"> {"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
        r#"> {"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    ];
    let script = script(&session, Side::Server).unwrap();
    let mut player = Player::new(&script, DiffOptions::default(), Order::Strict);
    assert_eq!(player.receive(&session[0][2..])[0].mismatch, None);
    assert_eq!(player.receive(&session[2][2..])[0].mismatch, None);
    assert_eq!(player.next_message().unwrap().step, 1);
    assert!(player.is_over());
}

#[test]
fn an_answer_before_its_question_is_early() {
    let lines = [
        r#"> {"jsonrpc":"2.0","id":1,"method":"a"}"#,
        r#"< {"jsonrpc":"2.0","id":1,"method":"roots/list"}"#,
        r#"> {"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
    ];
    let log = server(&lines, &[&lines[2][2..], &lines[0][2..]]);
    assert_eq!(log[..2], ["=2", "! a message came early: one before it is still awaited"]);
    // The session itself may have it so.
    let lines = [lines[2], lines[1]];
    assert_eq!(server(&lines, &[&lines[0][2..]]), ["=0", &lines[1][2..]]);
}

#[test]
fn each_departure_is_told_and_the_play_goes_on() {
    let call = |value: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","arguments":{{"n":{value}}}}}}}"#
        )
    };
    let asked = format!("> {}", call("9007199254740993"));
    let session = [&asked[..], PONG, r#"> {"jsonrpc":"2.0","method":"n"}"#];
    let differs = "! the message differs at";
    for (came, mismatches) in [
        (vec![call("9007199254740993.0"), session[2][2..].into()], vec![]),
        (
            vec![call("9007199254740992"), session[2][2..].into()],
            vec![format!("{differs} /arguments/n: expected 9007199254740993, got 9007199254740992")],
        ),
        (
            vec![call("9007199254740993").replace("\"a\"", "\"b\""), session[2][2..].into()],
            vec![format!("{differs} /tool: expected \"a\", got \"b\"")],
        ),
        (
            vec![
                r#"{"jsonrpc":"2.0","id":5,"method":"x"}"#.into(),
                asked[2..].into(),
                session[2][2..].into(),
            ],
            vec!["! unexpected message: the session does not have it here".into()],
        ),
        (
            vec!["listening".into(), asked[2..].into(), session[2][2..].into()],
            vec!["! not a message: this is not valid JSON: a JSON value was expected".into()],
        ),
        (
            vec![format!("[{},{}]", &asked[2..], &session[2][2..])],
            vec!["! several messages in one array, which are separate in the session".into()],
        ),
        (vec![asked[2..].into()], vec!["! a message is missing: it is over".into()]),
        (vec![], vec!["! a message is missing: it is over; 1 later message is no longer awaited".into()]),
    ] {
        let came: Vec<&str> = came.iter().map(String::as_str).collect();
        let log = server(&session, &came);
        let found: Vec<_> = log.iter().filter(|line| line.starts_with('!')).collect();
        assert_eq!(found, mismatches.iter().collect::<Vec<_>>(), "{came:?}\n{log:?}");
        assert_eq!(log.iter().filter(|line| **line == PONG[2..]).count(), usize::from(!came.is_empty()));
    }
}

#[test]
fn an_error_for_a_result_differs_in_its_kind() {
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}"#;
    let log = play(&[ASK, PONG], Side::Client, Order::Strict, &[], &[error]);
    assert_eq!(log[2], "! the message differs at /kind: expected \"result\", got \"error\"");
}

#[test]
fn what_may_differ_is_left_out() {
    let session =
        [r#"> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"a"},"x":1}}"#];
    let came =
        [r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"b"},"x":1}}"#];
    assert_eq!(play(&session, Side::Server, Order::Strict, &["/params/clientInfo"], &came), ["=0"]);
    assert_eq!(play(&session, Side::Server, Order::Strict, &[], &came).len(), 2);
}

#[test]
fn a_notification_is_no_request() {
    let log = server(&[ASK, PONG], &[r#"{"jsonrpc":"2.0","method":"ping"}"#]);
    assert_eq!(log[0], "! unexpected message: the session does not have it here");
}
