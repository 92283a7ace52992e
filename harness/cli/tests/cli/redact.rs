//! `redact` over every case in every format: nothing changes but what is marked, a second time changes nothing, and copies of
//! two formats are one session. What it prints is in `tests/cmd/redact`.

#![expect(clippy::unwrap_used, reason = "a panic is a test's way to fail")]

use formats::{Format, ReadOptions, Session, meaning};
use std::collections::BTreeMap;
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
    let mut session = Session::of(format, bytes, ReadOptions::default()).ok()?;
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
