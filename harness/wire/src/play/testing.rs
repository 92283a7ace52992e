//! What the tests of several transports need.

use super::{Plan, Played, Script, Variants};
use crate::Notify;
use crate::journal::Journal;
use formats::{ReadOptions, Session};
use mcp_concord_suite::{Root, Suite};
use std::sync::Mutex;
use std::time::Duration;
use transcript::diff::DiffOptions;

/// A line of a test, behind its sign: `ID METHOD PARAMS` is a request, with `-` for the id a notification, `ID = RESULT` a
/// result, `ID ! CODE MESSAGE` an error. Anything else is verbatim.
pub(super) fn spelled(line: &str) -> String {
    let (sign, text) = line.split_once(' ').unwrap_or((line, ""));
    let Some((id, rest)) = text.split_once(' ').filter(|_| sign.starts_with(['<', '>', '?', '~', '+']))
    else {
        return line.to_owned();
    };
    if text.starts_with(['{', '[', ' ']) {
        return line.to_owned();
    }
    let id = if id == "-" { String::new() } else { format!(r#","id":{id}"#) };
    let (first, more) = rest.split_once(' ').unwrap_or((rest, ""));
    let members = match (first, more) {
        ("=", result) => format!(r#""result":{result}"#),
        ("!", error) => {
            let (code, message) = error.split_once(' ').unwrap();
            format!(r#""error":{{"code":{code},"message":"{message}"}}"#)
        }
        (method, "") => format!(r#""method":"{method}""#),
        (method, params) => format!(r#""method":"{method}","params":{params}"#),
    };
    format!(r#"{sign} {{"jsonrpc":"2.0"{id},{members}}}"#)
}

/// Holds plays to what is written: each has a session and, behind `---` and some words, what happens. `play` reads what comes
/// from that, and writes down what happens.
pub(crate) fn plays(text: &str, play: impl Fn(&[&str], &str, &[String]) -> Vec<String>) {
    for case in text.split("\n\n") {
        let lines: Vec<&str> = case.lines().filter(|line| !line.starts_with('#')).collect();
        let mut blocks = lines.split(|line| line.starts_with("---"));
        let spell = |block: &[&str]| block.iter().map(|line| spelled(line)).collect::<Vec<_>>();
        let session = spell(blocks.next().unwrap());
        let session: Vec<&str> = session.iter().map(String::as_str).collect();
        for (words, block) in
            lines.iter().filter_map(|line| line.strip_prefix("---")).map(str::trim).zip(blocks)
        {
            assert_eq!(play(&session, words, &spell(block)), spell(block), "{case}\n--- {words}");
        }
    }
}

/// Keeps what is reported.
#[derive(Debug, Default)]
struct Reported(Mutex<Vec<String>>);

impl Notify for Reported {
    fn error(&self, text: &str) {
        self.note(text);
    }

    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }

    fn mismatch(&self, text: &str) {
        self.note(text);
    }
}

/// Plays one side of a session; and what was reported meanwhile.
pub(super) fn played<T>(
    script: &Script,
    patience: Duration,
    variants: &Variants,
    play: impl FnOnce(&Plan<'_>) -> T,
) -> (T, Vec<String>) {
    let (rules, journal, tell) = (&DiffOptions::default(), &Journal::default(), Reported::default());
    let (name, notify) = ("session", &tell);
    let done = play(&Plan { script, rules, patience, variants, journal, refuse: false, name, notify });
    (done, tell.0.into_inner().unwrap())
}

/// What both sides of a session saw, the client first.
pub(super) type Both = [(Played, Vec<String>); 2];

/// Neither side saw a mismatch, and each heard what the other said.
pub(super) fn agree(name: &str, both: &Both) {
    let [(client, _), (server, _)] = both;
    assert!(client.mismatches == 0 && server.mismatches == 0, "{name}: {both:?}");
    assert_eq!((client.sent, client.received), (server.received, server.sent), "{name}");
}

/// Ways of saying the same.
pub(super) fn ways() -> [Variants; 5] {
    [
        Variants { chunk: Some(1), ..Variants::default() },
        Variants { chunk: Some(7), merge: true, ..Variants::default() },
        Variants { merge: true, ..Variants::default() },
        Variants { slow_read: Duration::from_micros(50), ..Variants::default() },
        Variants { delay: Duration::from_micros(50), ..Variants::default() },
    ]
}

/// Every transcript of the suite that is a session with messages.
pub(super) fn sessions(each: &mut dyn FnMut(&str, &str, &[u8])) {
    let suite = Suite::load(&[Root::Embedded]).unwrap();
    for case in &suite.cases {
        for transcript in &case.transcripts {
            let bytes = transcript.blob.bytes().unwrap();
            let read = Session::of(transcript.format, &bytes, ReadOptions::default());
            if read.is_ok_and(|session| session.messages().next().is_some()) {
                each(&case.name, transcript.format.name, &bytes);
            }
        }
    }
}
