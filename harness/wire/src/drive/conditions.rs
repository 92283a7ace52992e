//! The conditions under which recorders go wrong, each a short session of its own.

use super::scenario::{Conditions, Kill, Scenario, Transport};
use std::fmt::Write as _;
use std::time::Duration;
use transcript::session::Side;
use verdict::record::CaseNote;

/// A condition as it is written down here.
struct Condition {
    name: &'static str,
    title: &'static str,
    reason: &'static str,
    /// What comes after the handshake: each message with its sender.
    talk: fn() -> Vec<(Side, String)>,
    conditions: Conditions,
    /// Whether HTTP has it too.
    http: bool,
}

/// The conditions of a transport.
#[must_use]
pub fn conditions(transport: Transport) -> Vec<Scenario> {
    let wanted = |condition: &Condition| condition.http || transport == Transport::Stdio;
    let Some(format) = formats::live(false) else { return Vec::new() };
    let scenario = |condition: Condition| Scenario {
        name: format!("conditions/{}", condition.name),
        note: CaseNote::new(condition.title, condition.reason),
        clauses: Vec::new(),
        session: trace(&(condition.talk)()),
        format,
        uncarried: Vec::new(),
        conditions: condition.conditions,
    };
    all().into_iter().filter(wanted).map(scenario).collect()
}

fn all() -> Vec<Condition> {
    let usual = || Condition {
        name: "",
        title: "",
        reason: "",
        talk: calls,
        conditions: Conditions::default(),
        http: true,
    };
    let plain = Conditions::default;
    vec![
        Condition {
            name: "plain",
            title: "A short session",
            reason: "A handshake and two calls: what every recorder has to be able to do.",
            ..usual()
        },
        Condition {
            name: "pause",
            title: "A server that takes its time",
            reason: "The session lasts longer than anything may be held up, so that a recorder that waits for its \
                end, with messages or with their times, is seen.",
            talk: || notes(1, 10),
            conditions: Conditions { pause: 1.5, ..plain() },
            ..usual()
        },
        Condition {
            name: "values",
            title: "Values that do not survive a float or a map",
            reason: "A recorder that parses what passes and prints it again changes such values; one that keeps \
                the text cannot.",
            talk: values,
            ..usual()
        },
        Condition {
            name: "big-message",
            title: "A mebibyte each way",
            reason: "A long message must pass whole, and be kept whole.",
            talk: big,
            ..usual()
        },
        Condition {
            name: "many-messages",
            title: "A thousand messages without a pause",
            reason: "What comes in one read may be many messages, and half of another one.",
            talk: || notes(1_000, 40),
            ..usual()
        },
        Condition {
            name: "one-write",
            title: "All that can be said at once in one write",
            reason: "A message is a line or an event, not a write.",
            talk: || notes(20, 10),
            conditions: Conditions { merge: true, ..plain() },
            ..usual()
        },
        Condition {
            name: "pieces",
            title: "Seven bytes at a time",
            reason: "A write may end in the middle of a character.",
            talk: letters,
            conditions: Conditions { chunk: Some(7), ..plain() },
            ..usual()
        },
        Condition {
            name: "back-pressure",
            title: "A client that reads slowly",
            reason: "What is full holds the server up, and must neither lose anything nor stop the other way.",
            talk: || notes(400, 4_000),
            conditions: Conditions { slow: Duration::from_millis(1), ..plain() },
            ..usual()
        },
        Condition {
            name: "noise",
            title: "A banner and a warning",
            reason: "Servers print lines that are not messages; they have to pass, and must not break the recording.",
            conditions: Conditions {
                noise: Some("server ready, {not json}"),
                stderr: Some("a warning on the standard error"),
                ..plain()
            },
            http: false,
            ..usual()
        },
        Condition {
            name: "half-line",
            title: "A server that ends in the middle of a message",
            reason: "The last bytes have to pass although no line feed comes any more.",
            conditions: Conditions { half: true, ..plain() },
            http: false,
            ..usual()
        },
        Condition {
            name: "exit-code",
            title: "A server that ends with code 7",
            reason: "A client tells by the exit code whether its server crashed.",
            conditions: Conditions { exit: 7, ..plain() },
            http: false,
            ..usual()
        },
        Condition {
            name: "terminated",
            title: "The recorder is told to end",
            reason: "After a SIGTERM the server has to be asked to end too, and what had passed has to be in the recording.",
            conditions: Conditions { pause: 1.5, kill: Some((Kill::Term, 2)), ..plain() },
            ..usual()
        },
        Condition {
            name: "killed",
            title: "The recorder is killed",
            reason: "After a SIGKILL the recording has to be readable, with all that had passed for a while.",
            conditions: Conditions { pause: 1.5, kill: Some((Kill::Kill, 2)), ..plain() },
            ..usual()
        },
    ]
}

use Side::{Client, Server};

fn call(id: usize, tool: &str, arguments: &str) -> (Side, String) {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    (Client, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#))
}

fn result(id: usize, structured: &str) -> (Side, String) {
    let result = format!(r#"{{"content":[],"structuredContent":{structured}}}"#);
    (Server, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#))
}

fn calls() -> Vec<(Side, String)> {
    vec![
        call(1, "add", r#"{"a":1,"b":2}"#),
        result(1, r#"{"sum":3}"#),
        call(2, "add", r#"{"a":3,"b":4}"#),
        result(2, r#"{"sum":7}"#),
    ]
}

/// Numbers that no double holds, spellings that a printer does not keep, and members that occur twice.
const VALUES: &str = concat!(
    r#"{"beyond":9007199254740993,"exact":0.1000000000000000055511151231257827,"huge":1e400,"whole":1.0,"zero":-0.0,"#,
    r#""twice":1,"twice":2,"2":"b","1":"a","lone":"\ud83d","separator":"\u2028","text":"naïve 😀"}"#
);

fn values() -> Vec<(Side, String)> {
    vec![call(1, "echo", VALUES), result(1, VALUES), call(2, "echo", "[]"), result(2, "[]")]
}

fn letters() -> Vec<(Side, String)> {
    let text = r#"{"text":"naïve 😀 résumé \u2028 日本語"}"#;
    vec![call(1, "echo", text), result(1, text)]
}

fn big() -> Vec<(Side, String)> {
    let text = format!(r#"{{"text":"{}"}}"#, "0123456789abcde ".repeat(1 << 16));
    vec![call(1, "echo", &text), result(1, &text)]
}

/// A call with much progress, which goes over the call's own stream where there are streams.
fn notes(count: usize, length: usize) -> Vec<(Side, String)> {
    let params = r#"{"name":"log","arguments":{},"_meta":{"progressToken":"p"}}"#;
    let mut talk =
        vec![(Client, format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#))];
    for index in 1..=count {
        let message = "x".repeat(length);
        let params = format!(r#"{{"progressToken":"p","progress":{index},"message":"{message}"}}"#);
        talk.push((
            Server,
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}"#),
        ));
    }
    talk.push(result(1, "{}"));
    talk
}

/// The session as a trace. Its times are not played.
fn trace(talk: &[(Side, String)]) -> Vec<u8> {
    const HANDSHAKE: [(Side, &str); 3] = [
        (
            Client,
            concat!(
                r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
                r#""capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#
            ),
        ),
        (
            Server,
            concat!(
                r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"#,
                r#""logging":{}},"serverInfo":{"name":"bench","version":"1"}}}"#
            ),
        ),
        (Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
    ];
    const TIME: &str = "2026-01-01T00:00:00.000Z";
    let mut text =
        format!(r#"{{"v":1,"type":"meta","startedAt":"{TIME}","label":"bench","command":["bench"]}}"#);
    text.push('\n');
    let handshake = HANDSHAKE.iter().map(|&(side, message)| (side, message));
    for (side, message) in handshake.chain(talk.iter().map(|(side, message)| (*side, message.as_str()))) {
        let way = if side == Client { "in" } else { "out" };
        let _ = writeln!(text, r#"{{"t":"{TIME}","dir":"{way}","raw":{message}}}"#);
    }
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::{Transport, conditions};
    use crate::play::read_session;
    use std::collections::BTreeSet;

    #[test]
    fn every_condition_is_a_session_that_answers_every_request() {
        let stdio = conditions(Transport::Stdio);
        let names: BTreeSet<&str> = stdio.iter().map(|it| it.name.as_str()).collect();
        let titles: BTreeSet<&str> = stdio.iter().map(|it| it.note.title.as_str()).collect();
        assert_eq!((names.len(), titles.len()), (stdio.len(), stdio.len()));
        for scenario in &stdio {
            let session = read_session(scenario.format, &scenario.session).unwrap();
            assert!(session.totals.events > 4 && session.totals.unanswered == 0, "{}", scenario.name);
        }
        let http = conditions(Transport::StreamableHttp);
        assert!(http.len() > 4 && http.len() < stdio.len());
        assert!(http.iter().all(|it| names.contains(it.name.as_str())));
    }
}
