//! Mocks by table: what a client sends, and what it is told.

use super::{Action, AskLive, Catalogue, Matching, MockClient, can_grow, grown};
use crate::play::Script;
use crate::play::http::Answers;
use crate::play::script::tests::script;
use crate::play::testing::sessions;
use formats::{Input, ReadOptions, Session, find};
use std::time::Duration;
use transcript::diff::{DiffOptions, PointerPattern};
use transcript::message::Message;
use transcript::session::Side;

const HELLO: &str =
    r#"> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"clientInfo":{"name":"c"}}}"#;
const WELCOME: &str = r#"< {"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"s"}}}"#;
const ADD: &str = r#"> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"t":1},"_meta":{"progressToken":1}}}"#;
const PROGRESS: &str =
    r#"< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
const SAMPLE: &str = r#"< {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}"#;
const SAMPLED: &str = r#"> {"jsonrpc":"2.0","id":1,"result":{"text":"x"}}"#;
const ADDED: &str = r#"< {"jsonrpc":"2.0","id":1,"result":{"n":1}}"#;
const AGAIN: &str =
    r#"> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"arguments":{"t":2,"a":1.0},"name":"add"}}"#;
const TWICE: &str = r#"< {"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"n"}}"#;
const CHANGED: &str = r#"< {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const LIST: &str = r#"> {"jsonrpc":"2.0","id":3,"method":"tools/list"}"#;
const LISTED: &str = r#"< {"jsonrpc":"2.0","id":3,"result":{"tools":[]}}"#;
const SESSION: &[&str] =
    &[HELLO, WELCOME, ADD, PROGRESS, SAMPLE, SAMPLED, ADDED, AGAIN, TWICE, CHANGED, LIST, LISTED];

fn rules(ignore: &[&str]) -> DiffOptions {
    let ignore = ignore.iter().map(|text| PointerPattern::parse(text).unwrap()).collect();
    DiffOptions { ignore, redacted: Some("[REDACTED]".to_owned()) }
}

/// A call of `add` with this id and these arguments.
fn add(id: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{arguments}}}}}"#
    )
}

/// What is done for each message that comes: `<` a message, `<<` one that is the last for its request, `?` what a live server
/// is asked, `!` a mismatch and the step that is nearest.
fn log(actions: Vec<Action>) -> Vec<String> {
    let line = |action| match action {
        Action::Send { text, last: true, .. } => format!("<< {text}"),
        Action::Send { text, .. } => format!("< {text}"),
        Action::Ask(text) => format!("? {text}"),
        Action::Report(mismatch) => {
            let step = mismatch.step.map_or(String::new(), |step| format!(" [{step}]"));
            format!("! {}{step}", mismatch.headline())
        }
    };
    actions.into_iter().map(line).collect()
}

fn answers(session: &[&str], ignore: &[&str], once: bool, came: &[&str]) -> Vec<String> {
    let script = script(session, Side::Server).unwrap();
    let catalogue = Catalogue::of(&script, &rules(ignore), Answers::AsRecorded).unwrap();
    let matching = Matching { once, live: None };
    let mut client = MockClient::new(&catalogue, &matching);
    let mut told = Vec::new();
    for text in came {
        told.extend(log(client.receive(Message::parse(text).unwrap(), 7).0));
    }
    told
}

/// The messages of the lines behind their first word.
fn of(lines: &[&str]) -> Vec<String> {
    let text = |line: &&str| line.split_once(' ').unwrap().1.to_owned();
    lines.iter().map(text).collect()
}

#[test]
fn requests_are_answered_in_any_order_under_the_ids_and_tokens_of_the_client() {
    let call = r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"arguments":{"a":1,"t":9},"name":"add","_meta":{"progressToken":"p"}}}"#;
    let hello = r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"clientInfo":{"name":"other"}}}"#;
    let told = answers(
        SESSION,
        &["/params/arguments/t"],
        false,
        &[r#"{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{}}"#, call, &of(&[SAMPLED])[0], hello],
    );
    assert_eq!(
        told,
        [
            r#"<< {"jsonrpc":"2.0","id":9,"result":{"tools":[]}}"#,
            r#"< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}"#,
            r#"< {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}"#,
            r#"<< {"jsonrpc":"2.0","id":"x","result":{"n":1}}"#,
            r#"<< {"jsonrpc":"2.0","id":5,"result":{"serverInfo":{"name":"s"}}}"#,
        ]
    );
}

#[test]
fn repeats_come_in_recorded_order_and_then_the_last_unless_each_comes_once() {
    let session = &[&SESSION[..2], &[AGAIN, TWICE, CHANGED], &SESSION[10..]].concat();
    let calls = [add("1", r#"{"a":1,"t":2}"#), add("2", r#"{"a":1,"t":2}"#)];
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    let error = |id| format!(r#"<< {{"jsonrpc":"2.0","id":{id},"error":{{"code":1,"message":"n"}}}}"#);
    let changed = format!("< {}", of(&[CHANGED])[0]);
    assert_eq!(
        answers(session, &[], false, &calls),
        [&error(1), &changed, &error(2), &changed].map(String::clone)
    );
    let once = answers(session, &[], true, &calls);
    assert_eq!(once[..2], [error(1), changed]);
    assert_eq!(once[3], "! it was asked once before, and the recording answers it so often (--once) [2]");
    // Two that differ only in what does not count are one request that was asked twice.
    let ignore = ["/arguments/t"];
    let told = answers(SESSION, &ignore, false, &[calls[0], &of(&[SAMPLED])[0], calls[1]]);
    assert_eq!(told[1..3], [r#"<< {"jsonrpc":"2.0","id":1,"result":{"n":1}}"#.to_owned(), error(2)]);
}

#[test]
fn a_client_that_is_asked_twice_is_asked_under_two_ids() {
    let call = add("4", r#"{"a":1,"t":1}"#);
    let sampled = of(&[SAMPLED]);
    let second = r#"{"jsonrpc":"2.0","id":"mcp-concord-1","result":{}}"#;
    let told = answers(SESSION, &[], false, &[&call, &sampled[0], &call, second]);
    assert_eq!(told[0], r#"< {"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}"#);
    assert_eq!(
        told[2],
        r#"< {"jsonrpc":"2.0","id":"mcp-concord-1","method":"sampling/createMessage","params":{}}"#
    );
    assert_eq!(told[1], told[3], "the answer follows each time");
    assert!(!told.iter().any(|line| line.contains("progress")), "who names no token is told of no progress");
}

#[test]
fn what_is_not_recorded_is_refused_with_the_nearest_that_is() {
    for (request, why, nearest) in [
        (add("1", r#"{"a":2,"t":2}"#), "the nearest one has 1.0 at /arguments/a, not 2", " [7]"),
        (
            add("1", r#"{"a":1,"t":1,"z":[true]}"#),
            "the nearest one has nothing at /arguments/z, not [true]",
            " [2]",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tool/list"}"#.to_owned(),
            "the recording answers no tool/list; did you mean tools/list?",
            "",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#.to_owned(),
            "the recording has this request, and no answer to it",
            " [12]",
        ),
    ] {
        let session = [SESSION, &[r#"> {"jsonrpc":"2.0","id":8,"method":"prompts/list"}"#]].concat();
        let told = answers(&session, &[], false, &[&request]);
        let [error, mismatch] = &told[..] else { panic!("{told:?}") };
        assert!(error.starts_with(r#"<< {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"#), "{error}");
        assert!(mismatch.contains(why) && mismatch.ends_with(nearest), "{mismatch}");
    }
}

#[test]
fn a_redacted_value_stands_for_any_and_a_ping_needs_no_recording() {
    let redacted = ADD.replace("\"t\":1", "\"t\":\"[REDACTED]\"");
    let session = [HELLO, WELCOME, &redacted, ADDED];
    let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
    let told = answers(&session, &[], false, &[&add("3", r#"{"t":{"any":1},"a":1}"#), ping]);
    assert_eq!(
        told,
        [r#"<< {"jsonrpc":"2.0","id":3,"result":{"n":1}}"#, r#"<< {"jsonrpc":"2.0","id":"p","result":{}}"#]
    );
}

#[test]
fn a_request_that_is_cancelled_is_not_answered_and_one_that_waits_too_long_is() {
    let call = add("4", r#"{"a":1,"t":1}"#);
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#;
    assert_eq!(answers(SESSION, &[], false, &[&call, cancelled, &of(&[SAMPLED])[0]]).len(), 1);
    let script = script(SESSION, Side::Server).unwrap();
    let catalogue = Catalogue::of(&script, &rules(&[]), Answers::AsRecorded).unwrap();
    let matching = Matching::default();
    let mut client = MockClient::new(&catalogue, &matching);
    client.receive(Message::parse(&call).unwrap(), 0);
    assert!(client.expire(Duration::from_secs(3600)).is_empty() && !client.is_idle());
    std::thread::sleep(Duration::from_millis(2));
    let told = log(client.expire(Duration::from_millis(1)));
    assert!(told[0].starts_with("! the client has not answered sampling/createMessage"), "{told:?}");
    assert_eq!(told[1], r#"<< {"jsonrpc":"2.0","id":4,"result":{"n":1}}"#);
    assert!(client.is_idle());
}

#[test]
fn a_recording_that_answers_nothing_or_is_of_two_servers_is_refused() {
    let of = |session: &[&str]| {
        let script = script(session, Side::Server).unwrap();
        Catalogue::of(&script, &rules(&[]), Answers::AsRecorded).map(drop)
    };
    assert!(of(&[HELLO]).unwrap_err().contains("no request with its answer"));
    let other = [HELLO.replace(":0", ":9"), WELCOME.replace(":0", ":9").replace("\"s\"", "\"z\"")];
    let two = of(&[HELLO, WELCOME, &other[0], &other[1]]).unwrap_err();
    assert!(two.contains("several servers (s, z)"), "{two}");
    assert_eq!(of(&[HELLO, WELCOME, &other[0], &WELCOME.replace(":0", ":9")]), Ok(()));
}

/// What a live server is asked and answers goes into the recording.
fn grow(ask: AskLive, came: &[&str], live: &[&str]) -> (Vec<String>, Script) {
    let script = script(SESSION, Side::Server).unwrap();
    let format = find("mcp-replay").unwrap();
    assert_eq!(can_grow(script.session(), format), Ok(()));
    let (rules, renewed) = (rules(&[]), ask == AskLive::All);
    let matching = Matching { once: false, live: Some((vec!["live".to_owned()], ask)) };
    let (told, new) = {
        let catalogue = Catalogue::of(&script, &rules, Answers::AsRecorded).unwrap();
        let mut client = MockClient::new(&catalogue, &matching);
        let mut told = Vec::new();
        for text in came {
            told.extend(log(client.receive(Message::parse(text).unwrap(), 7).0));
        }
        for text in live {
            told.extend(log(client.receive_live(text)));
        }
        (told, client.take_new())
    };
    let bytes = grown(&script, &rules, new, renewed, format).unwrap();
    let mut reader = &bytes[..];
    let mut input = Input::new(&mut reader).unwrap();
    let session = Session::read(format, &mut input, ReadOptions::default()).unwrap();
    (told, Script::new(session, Side::Server).unwrap())
}

fn texts(script: &Script) -> Vec<String> {
    (0..script.steps().len()).map(|step| script.message(step).unwrap().text().to_owned()).collect()
}

#[test]
fn what_is_new_is_asked_of_a_live_server_and_added_under_ids_of_its_own() {
    let new = add("1", r#"{"a":7}"#);
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
    let (told, grown) = grow(
        AskLive::New,
        &[&of(&[HELLO])[0], &new, &of(&[LIST])[0]],
        &[
            r#"{"jsonrpc":"2.0","id":"mcp-concord-initialize","result":{}}"#,
            progress,
            r#"{"jsonrpc":"2.0","id":1,"result":{"n":7}}"#,
        ],
    );
    assert!(told[1].starts_with(r#"? {"jsonrpc":"2.0","id":"mcp-concord-initialize","method":"initialize""#));
    assert!(told[2].starts_with(r#"<< {"jsonrpc":"2.0","id":3,"#), "the recording has it");
    assert_eq!(told[3], r#"? {"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!(told[4], format!("? {new}"));
    assert_eq!(told[6], r#"<< {"jsonrpc":"2.0","id":1,"result":{"n":7}}"#);
    let texts = texts(&grown);
    assert_eq!(texts[..SESSION.len()], of(SESSION));
    let added =
        [add("4", r#"{"a":7}"#), progress.to_owned(), r#"{"jsonrpc":"2.0","id":4,"result":{"n":7}}"#.into()];
    assert_eq!(texts[SESSION.len()..], added);
}

#[test]
fn a_renewed_answer_takes_the_place_of_the_old_one() {
    let (told, grown) = grow(
        AskLive::All,
        &[&of(&[HELLO])[0], &add("1", r#"{"a":1,"t":1}"#)],
        &[r#"{"jsonrpc":"2.0","id":0,"result":{"new":1}}"#, r#"{"jsonrpc":"2.0","id":1,"result":{"n":2}}"#],
    );
    assert_eq!(told.iter().filter(|line| line.starts_with('?')).count(), 2, "all is asked: {told:?}");
    let mut expected = of(SESSION);
    expected[1] = r#"{"jsonrpc":"2.0","id":0,"result":{"new":1}}"#.to_owned();
    expected
        .splice(2..7, [add("1", r#"{"a":1,"t":1}"#), r#"{"jsonrpc":"2.0","id":1,"result":{"n":2}}"#.into()]);
    assert_eq!(texts(&grown), expected);
}

#[test]
fn a_live_server_that_dies_leaves_the_rest_and_is_told_of_for_each_request() {
    let script = script(SESSION, Side::Server).unwrap();
    let catalogue = Catalogue::of(&script, &rules(&[]), Answers::AsRecorded).unwrap();
    let matching = Matching { once: false, live: Some((vec![String::new()], AskLive::New)) };
    let mut client = MockClient::new(&catalogue, &matching);
    client.receive(Message::parse(&add("1", "{}")).unwrap(), 0);
    let told = log(client.live_ended("it is gone"));
    assert!(told[0].contains("it is gone") && told[1] == "! it is gone", "{told:?}");
    let told = log(client.receive(Message::parse(&add("2", "{}")).unwrap(), 0).0);
    assert!(told[0].contains("it is gone") && told[1] == "! it is gone", "{told:?}");
    assert_eq!(log(client.receive(Message::parse(&of(&[LIST])[0]).unwrap(), 0).0).len(), 1);
    assert!(client.is_idle() && client.take_new().is_empty());
}

/// Every request of every session of the suite, asked in the opposite order, has its recorded answer.
#[test]
fn every_answer_of_the_suite_is_given_in_the_opposite_order() {
    let mut count = 0;
    sessions(&mut |name, format, bytes| {
        let script = crate::play::script::tests::of_bytes(format, bytes, Side::Server).unwrap();
        let rules = DiffOptions::default();
        let Ok(catalogue) = Catalogue::of(&script, &rules, Answers::AsRecorded) else { return };
        let matching = Matching { once: true, live: None };
        let mut client = MockClient::new(&catalogue, &matching);
        for (answer, step) in script.steps().iter().enumerate().rev() {
            let Some(asked) = step.answers.filter(|_| step.side == Side::Server) else { continue };
            let (asked, recorded) = (script.message(asked).unwrap(), script.message(answer).unwrap());
            if recorded.id().key().is_none() || asked.method().is_none() || script.is_again(answer) {
                continue;
            }
            let (mut actions, _) = client.receive(asked, 1);
            while !client.is_idle() {
                actions.extend(client.expire(Duration::ZERO));
            }
            let answered = actions.iter().any(|action| matches!(action, Action::Send { last: true, .. }));
            assert!(answered, "{name} {format}: {}", asked.text());
            count += 1;
        }
    });
    assert!(count > 500, "{count}");
}
