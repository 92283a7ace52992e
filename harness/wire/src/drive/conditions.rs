//! The conditions under which recorders go wrong, each a short session of its own.

use super::scenario::{Conditions, Kill, Scenario, Transport};
use formats::Format;
use std::fmt::Write as _;
use std::time::Duration;
use transcript::session::Side;
use verdict::record::CaseNote;

/// How it is written is said at its head.
const CONDITIONS: &str = include_str!("conditions.tsv");

/// The conditions of a transport: the rows of `conditions.tsv`.
pub fn conditions(transport: Transport) -> Vec<Scenario> {
    let Some(format) = formats::live(false) else { return Vec::new() };
    let rows = CONDITIONS.lines().filter(|line| !line.starts_with(['#', '=']));
    rows.filter_map(|row| scenario(row, transport, format)).collect()
}

/// The session of a row, if the transport has it. A row that is not well spelled is none, which a test would notice.
fn scenario(row: &'static str, transport: Transport, format: &'static Format) -> Option<Scenario> {
    let [name, on, talk, how, title, reason] = row.split('\t').collect::<Vec<_>>()[..] else { return None };
    (on == "both" || transport == Transport::Stdio).then_some(Scenario {
        name: format!("conditions/{name}"),
        note: CaseNote::new(title, reason),
        clauses: Vec::new(),
        session: trace(&said(talk)?),
        format,
        uncarried: Vec::new(),
        conditions: played(how)?,
    })
}

/// What comes after the handshake: each message with its sender.
fn said(talk: &str) -> Option<Vec<(Side, String)>> {
    let mut words = talk.split(' ');
    match words.next()? {
        "big" => Some(big()),
        "notes" => Some(notes(words.next()?.parse().ok()?, words.next()?.parse().ok()?)),
        name => written(name),
    }
}

/// A talk that stands below the conditions.
fn written(name: &str) -> Option<Vec<(Side, String)>> {
    let is_it =
        |line: &&str| line.strip_prefix('=').is_some_and(|line| line.split('\t').next() == Some(name));
    let messages = CONDITIONS.lines().find(is_it)?.split('\t').skip(1);
    let message = |message: &str| match message.split_at_checked(2)? {
        ("> ", text) => Some((Client, text.to_owned())),
        ("< ", text) => Some((Server, text.to_owned())),
        _ => None,
    };
    messages.map(message).collect()
}

fn played(how: &'static str) -> Option<Conditions> {
    let mut conditions = Conditions::default();
    for option in how.split(" & ").filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once(' ').unwrap_or((option, ""));
        match name {
            "pause" => conditions.pause = value.parse().ok()?,
            "chunk" => conditions.chunk = Some(value.parse().ok()?),
            "merge" => conditions.merge = true,
            "noise" => conditions.noise = Some(value),
            "stderr" => conditions.stderr = Some(value),
            "slow" => conditions.slow = Duration::from_millis(value.parse().ok()?),
            "half" => conditions.half = true,
            "exit" => conditions.exit = value.parse().ok()?,
            "term" => conditions.kill = Some((Kill::Term, value.parse().ok()?)),
            "kill" => conditions.kill = Some((Kill::Kill, value.parse().ok()?)),
            _ => return None,
        }
    }
    Some(conditions)
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
    const TIME: &str = "2026-01-01T00:00:00.000Z";
    let mut text =
        format!(r#"{{"v":1,"type":"meta","startedAt":"{TIME}","label":"bench","command":["bench"]}}"#);
    text.push('\n');
    for (side, message) in written("handshake").iter().flatten().chain(talk) {
        let way = if *side == Client { "in" } else { "out" };
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
        assert_eq!((stdio.len(), http.len()), (13, 10));
        assert!(http.iter().all(|it| names.contains(it.name.as_str())));
    }
}
