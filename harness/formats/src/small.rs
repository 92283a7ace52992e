//! Small sessions for tests: made up line by line, read and written again.

use crate::{Meaning, ReadError, ReadOptions, Session, find, meaning};
use proptest::prelude::*;
use transcript::rejection::Code;

/// The meaning of `text`, in the format of this name.
pub(crate) fn read(format: &str, text: &str, lenient: bool) -> Result<Meaning, ReadError> {
    meaning(
        find(format).unwrap(),
        &mut text.as_bytes(),
        if lenient { ReadOptions::LENIENT } else { ReadOptions::default() },
    )
}

/// The text of that meaning.
pub(crate) fn means(format: &str, text: &str) -> String {
    read(format, text, false).unwrap_or_else(|error| panic!("{error}\n{text}")).text
}

/// The code of a rejection, its clause, and its place: line, column, pointer.
pub(crate) fn rejects(format: &str, text: &str) -> (Code, &'static str, u64, u64, String) {
    match read(format, text, false) {
        Err(ReadError::Rejected(rejection)) => {
            let place = rejection.position;
            (rejection.code, rejection.clause, place.line, place.column, place.pointer)
        }
        other => panic!("{other:?}\n{text}"),
    }
}

/// `text` as a session.
pub(crate) fn session(format: &str, text: &str) -> Session {
    Session::of(find(format).unwrap(), text.as_bytes(), ReadOptions::default()).unwrap()
}

/// `text` in another format.
pub(crate) fn written(from: &str, text: &str, to: &str) -> String {
    let mut out = Vec::new();
    find(to).unwrap().write(&session(from, text), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Messages with few ids, so that many of them meet; tool calls have ids of their own.
pub(crate) fn messages() -> impl Strategy<Value = Vec<String>> {
    let id = prop::sample::select(vec!["0", "1", "\"1\"", "\"a\"", "null"]);
    prop::collection::vec((0..6u8, id), 0..12).prop_map(|picked| {
        let message = |(index, (sort, id)): (usize, (u8, &str))| match sort {
            0 => format!(
                r#"{{"jsonrpc":"2.0","id":"call-{index}","method":"tools/call","params":{{"name":"n","arguments":{{"a":[ 1.0 ]}}}}}}"#
            ),
            1 => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#),
            2 => format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#),
            3 => r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#.to_owned(),
            4 => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"s":"\ud83d \u0000"}}}}"#),
            _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-1,"message":"é"}}}}"#),
        };
        picked.into_iter().enumerate().map(message).collect()
    })
}

/// Such messages as lines.
pub(crate) fn lines() -> impl Strategy<Value = String> {
    messages().prop_map(|messages| messages.iter().map(|message| format!("{message}\n")).collect())
}

/// Such messages as a trace, from either side, with times that may be missing, stand still or run backwards.
pub(crate) fn trace() -> impl Strategy<Value = String> {
    let times = prop::collection::vec((any::<bool>(), prop::option::of(0..50u8)), 12);
    (messages(), times, any::<bool>()).prop_map(|(messages, times, end)| {
        let mut text = concat!(
            r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.020Z","label":"l","command":["c"]}"#,
            "\n"
        )
        .to_owned();
        for (message, (client, time)) in messages.iter().zip(times) {
            let dir = if client { "in" } else { "out" };
            let time =
                time.map(|time| format!(r#""t":"2026-05-12T23:00:00.0{time:02}Z","#)).unwrap_or_default();
            text += &format!("{{{time}\"raw\":{message},\"dir\":\"{dir}\"}}\n");
        }
        if end {
            text += r#"{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":143,"durationMs":980}"#;
        }
        text
    })
}
