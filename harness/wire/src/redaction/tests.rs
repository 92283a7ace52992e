//! What redaction leaves: the rows of `cases.tsv`, and what a row cannot say.

use super::encodings::{decodings, percent_decoded, percent_encoded, unescaped};
use super::{PRESETS, Redaction, assignments, preset};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::{ReadOptions, Session};
use proptest::prelude::*;
use transcript::json::{Json, quoted};

fn redaction(names: &[&str], texts: &[&str]) -> Redaction {
    let own = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect::<Vec<_>>();
    Redaction::new(&own(names), &own(texts)).unwrap()
}

/// What is left of a text of this kind.
fn left(redaction: &Redaction, kind: &str, text: &str) -> String {
    let (kind, label) = kind.split_once(' ').unwrap_or((kind, ""));
    let words = || text.split(" | ").map(str::to_owned).collect::<Vec<_>>();
    match kind {
        "body" => redaction.body(label, text.as_bytes()),
        "event" => redaction.event(text.as_bytes()),
        "header" => redaction.header(label, text).into_owned(),
        "command" => redaction.command(&words()).join(" | "),
        "message" => redaction.message(text).unwrap_or_else(|| text.to_owned()),
        "patterns" => String::from_utf8_lossy(&redaction.patterns(text.as_bytes())).into_owned(),
        "text" => redaction.text(text).into_owned(),
        other => panic!("{other}"),
    }
}

/// A cell with its line ends and keys. `⟨22⟩` is a word of that length, `⟨#22⟩` one of hexadecimal digits.
fn made_up(cell: &str) -> String {
    let (word, hex) = ("Aa0Bb1Cc2Dd3Ee4F".repeat(8), "0123456789abcdef".repeat(16));
    let cell = cell.replace('␊', "\n").replace('␍', "\r");
    let made = |part: &str| match part.split_once('⟩') {
        Some((length, rest)) => match length.strip_prefix('#') {
            Some(length) => format!("{}{rest}", &hex[..length.parse().unwrap()]),
            None => format!("{}{rest}", &word[..length.parse().unwrap()]),
        },
        None => part.to_owned(),
    };
    cell.split('⟨').map(made).collect()
}

/// A row of `cases.tsv`.
pub(crate) struct Row {
    pub(crate) kind: String,
    pub(crate) redaction: Redaction,
    pub(crate) text: String,
    pub(crate) expected: String,
}

pub(crate) fn rows() -> impl Iterator<Item = Row> {
    let list =
        |cell: &str| cell.split(" & ").filter(|it| !it.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let common = Redaction::default().with_preset(preset("common").unwrap()).unwrap();
    include_str!("cases.tsv").lines().filter(|line| !line.starts_with('#')).map(move |line| {
        let row: Vec<String> = line.split('\t').map(made_up).collect();
        let [kind, names, patterns, text, expected] = &row[..] else { panic!("{line}") };
        let redaction = match &**names {
            "common" => common.clone(),
            _ => Redaction::new(&list(names), &list(patterns)).unwrap(),
        };
        let expected = if expected == "(nothing)" { "" } else { expected }.to_owned();
        Row { kind: kind.clone(), redaction, text: text.clone(), expected }
    })
}

#[test]
fn every_case_leaves_what_it_says_and_nothing_more_goes_a_second_time() {
    for Row { kind, redaction, text, expected } in rows() {
        let found = match &*kind {
            // The proxy's: it is of several events.
            "stream" => continue,
            "values" => {
                let found = assignments::values(text.as_bytes(), &|name| redaction.names(name));
                found.into_iter().map(|(range, _)| &text[range]).collect::<Vec<_>>().join(" | ")
            }
            "decoded" => String::from_utf8(decodings(text.as_bytes()).next().unwrap_or_default()).unwrap(),
            kind => {
                assert_eq!(left(&redaction, kind, &expected), expected, "a second time: {text}");
                assert_eq!(left(&Redaction::default(), "text", &text), text);
                left(&redaction, kind, &text)
            }
        };
        assert_eq!(found, expected, "{kind} {text}");
    }
}

/// Where something is learned, the bytes show that there may be something.
#[test]
fn bytes_without_a_sign_teach_nothing() {
    let mut learned = 0;
    for Row { kind, redaction, text, .. } in
        rows().filter(|row| !["stream", "values", "decoded"].contains(&&*row.kind))
    {
        let text = text.replace("hunter2", "hunter2hunter2").replace("abc", "abcdefg12");
        let learner = redaction.clone().learning();
        left(&learner, &kind, &text);
        let label = kind.split_once(' ').map_or("", |(_, label)| label);
        let words: Vec<String> = text.split(" | ").map(quoted).collect();
        let line = if kind == "message" { text } else { format!("[{},{}]", quoted(label), words.join(",")) };
        if redaction.clone().knowing(&learner).unwrap().known.is_some() {
            learned += 1;
            assert!(redaction.may_learn(&mut line.as_bytes()).unwrap(), "{line}");
        }
    }
    assert!(learned > 40, "{learned}");
    let common = Redaction::default().with_preset(preset("common").unwrap()).unwrap();
    assert!(!common.may_learn(&mut &br#"{"design":"otpx, passing by a broken secrec: 1"}"#[..]).unwrap());
}

#[test]
fn what_is_not_text_or_not_asked_for() {
    assert_eq!(redaction(&["token"], &[]).body("", b"\xff\x00"), "[REDACTED]");
    assert_eq!(Redaction::default().message(r#"{"token":1}"#), None);
    assert_eq!(Redaction::default().header("cookie", "token=1"), "token=1");
    assert_eq!(decodings("YWJj".repeat(1000).as_bytes()).next().unwrap(), "abc".repeat(1000).as_bytes());
    assert!(preset("all").unwrap_err().contains("common"));
}

#[test]
fn percent_signs_come_and_go() {
    assert_eq!(*percent_decoded(b"a%20b+c%zz%4", true), *b"a b c%zz%4");
    assert_eq!(*percent_decoded(b"a+b%2b", false), *b"a+b+");
    assert_eq!(unescaped(br"a\u0062\u00e9\ud800\u00").unwrap(), "abé\u{fffd}\\u00".as_bytes());
    assert_eq!(percent_encoded(b"a b&[REDACTED]/\xc3%", b"/%20"), b"a%20b%26[REDACTED]/%C3%25");
}

#[test]
fn what_other_producers_added_to_a_trace_is_looked_into() {
    let trace = concat!(
        r#"{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"l","command":[]}"#,
        "\n",
        r#"{"t":"2026-01-01T00:00:00.000Z","dir":"in","id":"hush 1","note":"token=hush","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#,
        "\n",
        r#"{"t":"2026-01-01T00:00:00.000Z","type":"turn","blocks":[{"token":"hush"}]}"#,
        "\n"
    );
    let format = formats::find("mcp-replay").unwrap();
    let mut session = Session::of(format, trace.as_bytes(), ReadOptions::default()).unwrap();
    let redaction = Redaction::new(&["token".to_owned()], &["hush [0-9]".to_owned()]).unwrap();
    redaction.session(&mut session).unwrap();
    let mut out = Vec::new();
    format.write(&session, &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let expected = trace.replace("hush 1", "[REDACTED]").replace("hush", "[REDACTED]");
    assert!(out.starts_with(&expected), "{out}");
}

#[test]
fn json_that_lies_too_deep_is_withheld() {
    let mut text = "{\"token\":\"secret\"}".to_owned();
    for _ in 0..super::text::LAYERS + 2 {
        text = serde_json::json!({ "a": text }).to_string();
    }
    let new = redaction(&["token"], &[]).message(&text).unwrap();
    assert!(!new.contains("secret") && new.contains("[REDACTED]"), "{new}");
}

proptest! {
    #[test]
    fn json_stays_json_and_a_second_time_changes_nothing(
        key in "[a-c\"\\\\]{0,3}",
        text in "(\\PC|[a-c=:&\"' ]){0,12}",
        number in any::<f64>(),
    ) {
        let number = if number.is_finite() { number } else { 0.0 };
        let inner = serde_json::json!({ &key: &text }).to_string();
        let value = serde_json::json!({ "params": { &key: [&text, number, { &text: &key }], "d": &text, "e": inner } });
        let text = value.to_string();
        let redaction = redaction(&["a*", "b"], &["[a-m0-9]+"]);
        if let Some(new) = redaction.message(&text) {
            prop_assert!(Json::parse(&new).is_ok(), "{}", text);
            prop_assert_eq!(redaction.message(&new).unwrap_or(new.clone()), new);
        }
    }

    #[test]
    fn a_secret_goes_in_every_encoding(before in "[ -~]{0,6}", after in "[ -~]{0,6}", digits in "[0-9]{6,12}") {
        let redaction = redaction(&[], &["sk-[0-9]{6,}"]);
        let secret = format!("{before} sk-{digits} {after}");
        let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
        let percent: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
        for text in [secret.clone(), STANDARD.encode(&secret), hex, percent] {
            let shown = redaction.text(&text).into_owned();
            prop_assert!(shown.contains("[REDACTED]"), "{} of {}", shown, secret);
            prop_assert!(!shown.contains(&digits) && !text.contains(&shown));
        }
    }
}

/// A pattern that lost its tab would be a name, and fit nothing.
#[test]
fn a_name_of_a_preset_is_one() {
    let plain = |name: &&str| name.chars().all(|char| char.is_ascii_lowercase() || "*-_#\"".contains(char));
    assert!(PRESETS.iter().all(|preset| preset.names.iter().all(plain)));
}

#[test]
fn ids_of_sessions_have_each_its_own_mark() {
    let common = Redaction::default().with_preset(preset("common").unwrap()).unwrap();
    let mark = |id: &str| common.header("Mcp-Session-Id", id).into_owned();
    assert_eq!(mark("one"), mark("one"));
    assert_ne!(mark("one"), mark("two"));
    assert_eq!(mark("one, two"), format!("{}, {}", mark("one"), mark("two")));
    assert!(common.text("sessionId=one a").starts_with("sessionId=[REDACTED]-"));
    assert!(mark("one").starts_with("[REDACTED]-") && mark(&mark("one")) == mark("one"));
    let numbered = common.numbered(&mut &b"[REDACTED]-7 [REDACTED]-1500000000000"[..]).unwrap();
    assert_eq!(numbered.header("mcp-session-id", "one"), "[REDACTED]-8");
}

/// What is remembered of values is bounded; the marks beyond are still those of their values.
#[test]
fn many_values_have_marks_without_a_table() {
    let redaction = redaction(&["token"], &[]).counting();
    let mark = |number: usize| redaction.text(&format!("token=v{number}")).into_owned();
    let marks: Vec<String> = (0..10_100).map(mark).collect();
    assert_eq!((&*marks[0], &*marks[9_999]), ("token=[REDACTED]-1", "token=[REDACTED]-10000"));
    assert!(marks[10_000].len() > "token=[REDACTED]-1000000000".len(), "{}", marks[10_000]);
    assert_eq!((0..10_100).map(mark).collect::<Vec<_>>(), marks);
    assert_eq!(marks.iter().collect::<std::collections::BTreeSet<_>>().len(), marks.len());
}
