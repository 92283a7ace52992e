//! `redact` over every case in every format: nothing changes but what is marked, a second time changes nothing, and copies of
//! two formats are one session.

#![expect(clippy::unwrap_used, reason = "a panic is a test's way to fail")]

use formats::{Format, Input, ReadOptions, Session, meaning};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use transcript::diff::{DiffOptions, first};
use transcript::json::Json;
use wire::redaction::{MARKER, Redaction, preset};

/// The names are those of members that many cases have, and so are the words.
fn redaction() -> Redaction {
    let own = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect::<Vec<_>>();
    let asked = Redaction::new(
        &own(&["name", "uri", "text", "arguments"]),
        &own(&["[a-z]*(?:fast|slow|sum|weather|here|ok)[a-z]*"]),
    )
    .unwrap();
    asked.with_preset(preset("common").unwrap()).unwrap()
}

/// The redacted file; none where the file is rejected, or could not be written again even as it is.
fn redacted(redaction: &Redaction, format: &Format, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut slice = bytes;
    let mut session =
        Session::read(format, &mut Input::new(&mut slice).ok()?, ReadOptions::default()).ok()?;
    if session.losses(format).iter().any(|loss| loss.clause.is_some()) {
        return None;
    }
    redaction.clone().numbered(&mut { bytes }).unwrap().session(&mut session).unwrap();
    let mut out = Vec::new();
    format.write(&session, &mut out).unwrap();
    Some(out)
}

fn events(format: &Format, bytes: &[u8]) -> String {
    let text = meaning(format, &mut { bytes }, ReadOptions::default()).unwrap().text;
    Json::parse(&text).unwrap().member("events").unwrap().text().to_owned()
}

fn differ(one: &str, other: &str) -> Option<String> {
    let rules = DiffOptions { ignore: Vec::new(), redacted: Some(MARKER.to_owned()) };
    let [one, other] = [one, other].map(|text| Json::parse(text).unwrap());
    first(one, other, &rules).difference.map(|difference| format!("{difference:?}"))
}

/// Every transcript of the cases, by its case.
fn cases() -> BTreeMap<&'static str, Vec<(&'static Format, &'static [u8])>> {
    let mut found: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (path, bytes) in cases::files() {
        let (case, file) = path.rsplit_once('/').unwrap();
        let format = formats::written().find(|format| format.file == file);
        found.entry(case).or_default().extend(format.map(|format| (format, bytes)));
    }
    found
}

#[test]
fn nothing_changes_but_what_is_marked() {
    let (mut files, mut marked, mut wrong) = (0, 0, Vec::new());
    let redaction = redaction();
    for (case, transcripts) in cases() {
        let mut before: Option<(&str, String)> = None;
        for (format, bytes) in transcripts {
            let about = format!("{case}, {}", format.name);
            let Some(once) = redacted(&redaction, format, bytes) else { continue };
            files += 1;
            marked += usize::from(String::from_utf8_lossy(&once).contains(MARKER));
            let read = events(format, &once);
            if let Some(difference) = differ(&events(format, bytes), &read) {
                wrong.push(format!("{about}: {difference}"));
            }
            // A format may spell a session that it wrote itself another way, redacted or not.
            let twice = redacted(&redaction, format, &once);
            if twice.is_none() || twice != redacted(&Redaction::default(), format, &once) {
                wrong.push(format!("{about}: the second time it is another"));
            }
            if let Some((other, before)) = &before
                && differ(before, &read).is_some()
                && differ(&events(format, bytes), before).is_none()
            {
                wrong.push(format!("{about}: not the session of {other}"));
            }
            before = Some((format.name, read));
        }
    }
    assert!(files > 1000 && marked * 2 > files, "{files} files, {marked} of them with a marker");
    assert!(wrong.is_empty(), "{} of {files}:\n{}", wrong.len(), wrong.join("\n"));
}

fn redact(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .current_dir(folder)
        .arg("redact")
        .args(words)
        .output()
        .unwrap()
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":"ID","method":"m","params":{"token":"hush","a":"?token=hush&b=1","c":"sk-0123456789abcdef"}}"#;

fn told(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn one_value_has_one_marker_and_what_was_left_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), format!("{CALL}\n")).unwrap();
    let (code, out, said) = told(&redact(folder.path(), &["a.jsonl", "--redact", "token"]));
    assert_eq!(code, Some(0), "{said}");
    let expected = CALL.replace("\"hush\"", "\"[REDACTED]-1\"").replace("=hush", "=[REDACTED]-1");
    assert_eq!(out.trim(), expected);
    assert!(said.contains("taken out: `token`: 1 value, 2 times"), "{said}");
    assert!(said.contains("left, although it looks like a secret: key of OpenAI"), "{said}");
    assert!(!said.contains("hush") && !said.contains("0123456789"), "{said}");
    // Another secret of the copy has another number.
    fs::write(folder.path().join("b.jsonl"), &out).unwrap();
    let (_, out, said) = told(&redact(folder.path(), &["b.jsonl", "--preset", "common"]));
    assert_eq!(out.trim(), expected.replace("sk-0123456789abcdef", "[REDACTED]-2"));
    assert!(!said.contains("left"), "{said}");
}

#[test]
fn what_cannot_be_done_is_said_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    fs::write(&path, format!("{CALL}\n")).unwrap();
    fs::write(folder.path().join("no.jsonl"), "{\"jsonrpc\":\"2.0\",\"id\":").unwrap();
    fs::write(folder.path().join("there"), "x").unwrap();
    for (words, code, part) in [
        (&["a.jsonl"][..], 2, "there is nothing to redact"),
        (&["a.jsonl", "--preset", "all"], 2, "there is no preset `all`; there are common"),
        (&["a.jsonl", "--redact", "*"], 2, "every text"),
        (&["none.jsonl", "--preset", "common"], 2, "there is no file"),
        (&["no.jsonl", "--format", "jsonrpc", "--preset", "common"], 1, "no.jsonl"),
        (&["a.jsonl", "--preset", "common", "-o", "there"], 2, "--force overwrites it"),
        (&["a.jsonl", "--preset", "common", "-o", "no/there"], 2, "cannot be written"),
    ] {
        let (found, out, said) = told(&redact(folder.path(), words));
        assert_eq!((found, &*out), (Some(code), ""), "{words:?}: {said}");
        assert!(said.contains(part), "{words:?}: {said}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("there")).unwrap(), "x");
    let (code, out, said) =
        told(&redact(folder.path(), &["a.jsonl", "--redact", "token", "-o", "there", "--force"]));
    assert_eq!((code, &*out), (Some(0), ""), "{said}");
    assert!(fs::read_to_string(folder.path().join("there")).unwrap().contains("[REDACTED]-1"));
}

/// Thousands of lines are written while the rest is read, and yet nobody sees half of them.
#[test]
fn a_fault_on_the_last_line_leaves_nothing_written() {
    let folder = tempfile::tempdir().unwrap();
    let many: String = (0..5000).map(|id| format!("{}\n", CALL.replace("ID", &id.to_string()))).collect();
    fs::write(folder.path().join("a.jsonl"), format!("{many}{{\"jsonrpc\":\"2.0\"")).unwrap();
    for words in [&["a.jsonl", "--redact", "token"][..], &["a.jsonl", "--redact", "token", "-o", "out.jsonl"]]
    {
        let (code, out, said) = told(&redact(folder.path(), words));
        assert_eq!((code, &*out), (Some(1), ""), "{said}");
        assert!(said.contains("a.jsonl:5001:17"), "{said}");
    }
    assert!(!folder.path().join("out.jsonl").exists());
    // The whole of it, from a pipe.
    let mut program = Command::new(env!("CARGO_BIN_EXE_mcp-concord"))
        .args(["redact", "-", "--redact", "token"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    program.stdin.take().unwrap().write_all(many.as_bytes()).unwrap();
    let (code, out, said) = told(&program.wait_with_output().unwrap());
    assert_eq!((code, out.lines().count()), (Some(0), 5000), "{said}");
    assert!(said.contains("taken out: `token`: 1 value, 10000 times"), "{said}");
}

#[test]
fn the_first_line_of_a_trace_stays_one() {
    let folder = tempfile::tempdir().unwrap();
    let trace = r#"{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"l","command":[]}"#;
    fs::write(folder.path().join("a.jsonl"), format!("{trace}\n")).unwrap();
    let (code, out, said) = told(&redact(folder.path(), &["a.jsonl", "--redact", "v"]));
    assert_eq!((code, &*out), (Some(1), ""), "{said}");
    assert!(said.contains("a.jsonl without what is redacted"), "{said}");
}
