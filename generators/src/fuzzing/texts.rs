//! What must be true of any bytes that come where somebody else's text is expected: an adapter's answer, a `case.toml`, a
//! baseline.
//!
//! None of them may end the program; a refusal says what is wrong and where; and what was understood is understood again.

use formats::FORMATS;
use transcript::json::{Json, quoted};
use verdict::answer::{Answer, Level};
use verdict::baseline::Baseline;
use verdict::case_file;
use verdict::config_error::ConfigError;
use verdict::protocol::{Handshake, answer};

/// A line that an adapter printed, taken for its greeting, for an answer, and for the answer of a one-shot program.
///
/// # Panics
/// Where what was accepted is not accepted again when it is written from what was understood.
pub fn adapter_answer(bytes: &[u8]) {
    match Handshake::parse(bytes) {
        Ok(hello) => assert_eq!(Handshake::parse(greeting(&hello).as_bytes()), Ok(hello)),
        Err(why) => assert!(!why.is_empty()),
    }
    for seq in [None, Some(7)] {
        match answer(bytes, seq) {
            Ok(said) => {
                let text = spelled(&said, seq);
                assert_eq!(answer(text.as_bytes(), seq), Ok(said), "{text}");
            }
            Err(why) => assert!(!why.is_empty()),
        }
    }
}

fn greeting(hello: &Handshake) -> String {
    let level = match hello.level {
        Level::Events => "events",
        Level::Calls => "calls",
    };
    let formats: Vec<String> = hello.formats.iter().map(|name| quoted(name)).collect();
    let dialect = hello.dialect.map_or(String::new(), |it| format!(r#","dialect":{}"#, quoted(it.name)));
    format!(
        r#"{{"protocol":1,"name":{},"version":{},"level":"{level}","formats":[{}]{dialect},"identify":{}}}"#,
        quoted(&hello.name),
        quoted(&hello.version),
        formats.join(","),
        hello.identify
    )
}

fn spelled(said: &Answer, seq: Option<u64>) -> String {
    let body = match said {
        Answer::Meaning(meaning) => format!(r#""meaning":{}"#, meaning.text()),
        Answer::Calls(calls) => {
            let part = |name| calls.json().member(name).map(Json::text);
            let summary = part("authorization_discovery")
                .map_or(String::new(), |summary| format!(r#","authorization_discovery":{summary}"#));
            format!(r#""calls":{}{summary}"#, part("calls").unwrap_or("null"))
        }
        Answer::Identification(found) => format!(r#""identification":{}"#, found.text()),
        Answer::Rejection { code, message } => {
            let code = code.as_deref().map_or_else(|| "null".to_owned(), quoted);
            format!(r#""rejection":{{"code":{code},"message":{}}}"#, quoted(message))
        }
        Answer::Unsupported { why } => format!(r#""unsupported":{}"#, quoted(why)),
        other => panic!("an answer that nobody can give: {other:?}"),
    };
    seq.map_or_else(|| format!("{{{body}}}"), |seq| format!(r#"{{"seq":{seq},{body}}}"#))
}

/// A `case.toml`.
///
/// # Panics
/// Where it is refused without a reason, or for a line that it does not have.
pub fn case_toml(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    let Err(slips) = case_file::read(text, &known) else { return };
    assert!(!slips.is_empty(), "refused for nothing");
    slips.iter().for_each(|slip| said(text, slip));
}

/// A baseline.
///
/// # Panics
/// Where it is refused without a reason, or for a line that it does not have; or where it is read as it stands, and not
/// where reasons may wait.
pub fn baseline(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (strict, patient) = (Baseline::read(text, false), Baseline::read(text, true));
    assert!(strict.is_err() || patient.is_ok(), "patience refuses what strictness takes");
    for slips in [strict.err(), patient.err()].into_iter().flatten() {
        assert!(!slips.is_empty(), "refused for nothing");
        slips.iter().for_each(|slip| said(text, slip));
    }
}

fn said(text: &str, ConfigError { line, message }: &ConfigError) {
    let lines = text.split('\n').count();
    assert!(
        !message.is_empty() && line.is_none_or(|line| (1..=lines).contains(&line)),
        "{line:?}: {message}"
    );
}
