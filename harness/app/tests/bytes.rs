//! The functions over bytes at their edges: what is wrong with a call or a recording is a value with a code and a place.

use app::{
    CheckOptions, ConvertOptions, DiffOptions, Error, IdentifyOptions, ReadOptions, Recording, ShowOptions,
    SummaryOptions, check, convert, diff, identify, read, show, summary,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};

const CALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1.50}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":1,"result":{"sum":12345678901234567890.10}}"#,
    "\n"
);

/// One of the functions, with its usual options.
type Call = fn(&Recording<'_>) -> Result<(), Error>;

fn of(text: &str) -> Recording<'_> {
    Recording::new("a.jsonl", text.as_bytes())
}

#[test]
fn numbers_keep_their_text() {
    let meaning = read(&of(CALL), &ReadOptions::default()).unwrap().text;
    assert!(meaning.contains("1.50") && meaning.contains("12345678901234567890.10"), "{meaning}");
    let other = CALL.replace("890.10", "890.11");
    let compared = diff(&of(CALL), &of(&other), &DiffOptions::default()).unwrap();
    assert!(compared.json.contains(r#""value": 12345678901234567890.10}"#), "{}", compared.json);
}

#[test]
fn what_differs_is_as_the_schema_says() {
    let schema: Value = serde_json::from_str(include_str!("../../../reports/diff.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let fewer = CALL.lines().next().unwrap();
    for (other, same) in [(CALL, true), (&CALL.replace("sum", "total"), false), (fewer, false), ("\n", false)]
    {
        let options = DiffOptions { right_format: Some("jsonrpc".to_owned()), ..DiffOptions::default() };
        let compared = diff(&of(CALL), &Recording::new("b", other.as_bytes()), &options).unwrap();
        let found: Value = serde_json::from_str(&compared.json).unwrap();
        schema.validate(&found).unwrap();
        assert_eq!((compared.same, &found["same"]), (same, &same.into()), "{found}");
        assert_eq!(found["recordings"][1], json!({"name": "b", "format": "jsonrpc"}));
        assert_eq!(found["differences"].as_array().unwrap().is_empty(), same);
    }
    let options = DiffOptions { show: 0, ..DiffOptions::default() };
    let found = diff(&of(CALL), &of(&CALL.replace("sum", "total")), &options).unwrap().json;
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(
        (&found["differences"], &found["hidden"], &found["differ"]),
        (&json!([]), &1.into(), &1.into())
    );
}

#[test]
fn a_rejection_has_its_place() {
    let error =
        read(&of("{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"a\"}"), &ReadOptions::default()).unwrap_err();
    let place = error.place.as_ref().unwrap();
    assert_eq!((error.code, place.clause, place.line, place.column), ("invalid-id", "ID-REJECT", 1, 23));
    let words: Value = serde_json::from_str(&error.json()).unwrap();
    assert_eq!(
        (&words["code"], &words["line"], &words["name"]),
        (&"invalid-id".into(), &1.into(), &"a.jsonl".into())
    );
    assert!(error.to_string().starts_with("a.jsonl:1:23: "), "{error}");
}

#[test]
fn bytes_that_are_no_text_or_no_format_are_refused_by_every_function() {
    let calls: [(&str, Call); 7] = [
        ("read", |it| read(it, &ReadOptions::default()).map(drop)),
        ("identify", |it| identify(it, &IdentifyOptions::default()).map(drop)),
        ("summary", |it| summary(&[*it], &SummaryOptions::default()).map(drop)),
        ("check", |it| check(it, &CheckOptions::default()).map(drop)),
        ("show", |it| show(it, &ShowOptions::default()).map(drop)),
        ("diff", |it| diff(&of(CALL), it, &DiffOptions::default()).map(drop)),
        ("convert", |it| {
            convert(it, &ConvertOptions { to: "har".to_owned(), ..ConvertOptions::default() }).map(drop)
        }),
    ];
    for (name, call) in calls {
        let code = |bytes: &[u8]| call(&Recording::new("x", bytes)).unwrap_err().code;
        assert_eq!(code(b"\xff\xfe{}"), "invalid-utf8", "{name}");
        assert_eq!(code(b""), Error::UNKNOWN_FORMAT, "{name}");
        assert_eq!(code(b"not JSON"), Error::UNKNOWN_FORMAT, "{name}");
        let stop = || true;
        let stopped = Recording { stop: Some(&stop), ..of(CALL) };
        assert_eq!(call(&stopped).unwrap_err().code, Error::INTERRUPTED, "{name}");
        call(&of(CALL)).unwrap();
    }
}

#[test]
fn a_long_reading_can_be_stopped() {
    let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}\n", "a".repeat(1 << 20));
    let (text, asked) = (line.repeat(8), AtomicU32::new(0));
    let stop = || asked.fetch_add(1, Ordering::Relaxed) == 3;
    let recording = Recording { stop: Some(&stop), ..of(&text) };
    assert_eq!(check(&recording, &CheckOptions::default()).unwrap_err().code, Error::INTERRUPTED);
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

#[test]
fn an_option_that_has_no_such_value_is_named() {
    let words = |text: &str| Some(text.to_owned());
    let judged = |options: CheckOptions| check(&of(CALL), &options).map(drop);
    let usual = CheckOptions::default;
    for (result, option) in [
        (
            read(&of(CALL), &ReadOptions { format: words("x"), ..ReadOptions::default() }).map(drop),
            "format: ",
        ),
        (
            read(&of(CALL), &ReadOptions { dialect: "x".into(), ..ReadOptions::default() }).map(drop),
            "dialect: ",
        ),
        (judged(CheckOptions { spec: words("2020"), ..usual() }), "spec: "),
        (judged(CheckOptions { select: vec!["nothing".into()], ..usual() }), "select: "),
        (judged(CheckOptions { ignore: vec!["nothing".into()], ..usual() }), "ignore: "),
        (judged(CheckOptions { level: "may".into(), ..usual() }), "level: "),
        (judged(CheckOptions { profile: "me".into(), ..usual() }), "profile: "),
        (judged(CheckOptions { require: words("2020-01-01"), ..usual() }), "require: "),
        (judged(CheckOptions { require: words("suite = 1"), ..usual() }), "require: "),
        (
            judged(CheckOptions { require: words("2025-11-25"), ignore: vec!["jsonrpc".into()], ..usual() }),
            "require: ",
        ),
        (judged(CheckOptions { mcp_replay_text: "last".into(), ..usual() }), "mcp_replay_text: "),
        (convert(&of(CALL), &ConvertOptions::default()).map(drop), "to: "),
        (
            diff(&of(CALL), &of(CALL), &DiffOptions { ids: "any".into(), ..DiffOptions::default() })
                .map(drop),
            "ids: ",
        ),
        (
            diff(&of(CALL), &of(CALL), &DiffOptions { ignore: vec!["a".into()], ..DiffOptions::default() })
                .map(drop),
            "ignore: ",
        ),
        (
            show(&of(CALL), &ShowOptions { output: "png".into(), ..ShowOptions::default() }).map(drop),
            "output: ",
        ),
        (
            show(&of(CALL), &ShowOptions { from: Some(2), to: Some(1), ..ShowOptions::default() }).map(drop),
            "from: ",
        ),
    ] {
        let error = result.unwrap_err();
        assert!(error.code == Error::BAD_OPTION && error.message.starts_with(option), "{option}: {error}");
    }
}

#[test]
fn a_frozen_set_is_a_revision_or_a_text_and_has_to_be_of_the_session() {
    let session = |revision: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\"{revision}\",\
             \"capabilities\":{{}},\"clientInfo\":{{\"name\":\"c\",\"version\":\"1\"}}}}}}\n\
             {{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{{\"protocolVersion\":\"{revision}\",\"capabilities\":{{}},\
             \"serverInfo\":{{\"name\":\"s\",\"version\":\"1\"}}}}}}\n\
             {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n"
        )
    };
    let held = |text: &str, require: &str| {
        check(&of(text), &CheckOptions { require: Some(require.to_owned()), ..CheckOptions::default() })
    };
    let set = "suite = \"0.1.0\"\nrevision = \"2025-11-25\"\nrules = [\"jsonrpc.id.null\"]\n";
    for require in ["2025-11-25", set] {
        let checked = held(&session("2025-11-25"), require).unwrap();
        assert!(checked.is_well(), "{}", checked.json());
        assert!(checked.file.required.as_ref().unwrap().conforms());
        assert_eq!(held(&session("2025-06-18"), require).unwrap_err().code, Error::OTHER_REVISION);
        assert_eq!(held(CALL, require).unwrap_err().code, Error::OTHER_REVISION);
        let broken = session("2025-11-25") + "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n";
        assert!(!held(&broken, require).unwrap().is_well());
    }
}

#[test]
fn a_conversion_that_changes_the_meaning_is_refused_and_a_cut_recording_salvaged() {
    let trace = r#"{"v":1,"type":"meta","startedAt":"2026-09-01T10:00:00.000Z","label":"s","command":["s"]}
{"t":"2026-09-01T10:00:00.100Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"method":"tools/list"}}
{"t":"2026-09-01T10:00:00.120Z","dir":"out","raw":{"jsonrpc":"2.0","id":0,"method":"ping"}}
{"t":"2026-09-01T10:00:00.140Z","dir":"in","raw":{"jsonrpc":"2.0","id":0,"result":{}}}
"#;
    let to = |text: &str, options: ConvertOptions| {
        convert(&of(text), &ConvertOptions { to: "jsonrpc".to_owned(), ..options })
    };
    let error = to(trace, ConvertOptions::default()).unwrap_err();
    assert!(error.code == Error::CANNOT_CARRY && error.message.contains("COR-DIRECTION-FLAT"), "{error}");
    let written = to(trace, ConvertOptions { lossy: true, ..ConvertOptions::default() }).unwrap();
    assert_eq!(written.bytes.split(|&byte| byte == b'\n').count(), 4);
    assert!(written.notes[0].contains("COR-DIRECTION-FLAT"), "{:?}", written.notes);
    let cut = &CALL[..CALL.len() - 5];
    assert_eq!(to(cut, ConvertOptions::default()).unwrap_err().code, "truncated");
    let saved = to(cut, ConvertOptions { salvage: true, ..ConvertOptions::default() }).unwrap();
    assert!(saved.bytes.starts_with(b"{") && saved.notes[0].contains("was cut off"), "{:?}", saved.notes);
}

#[test]
fn spans_are_written_as_by_the_command_and_what_they_leave_out_is_noted() {
    let options = ConvertOptions { to: "otlp-json".to_owned(), ..ConvertOptions::default() };
    let written = convert(&of(CALL), &options).unwrap();
    let spans: Value = serde_json::from_slice(&written.bytes).unwrap();
    let spans = &spans["resourceSpans"][0]["scopeSpans"][0]["spans"];
    assert_eq!(
        (spans.as_array().unwrap().len(), &spans[0]["name"]),
        (1, &"tools/call add".into()),
        "{spans}"
    );
    assert!(written.notes.iter().any(|note| note.contains("otlp-json has a span for each request (1)")));
    let unknown = ConvertOptions { to: "otlp".to_owned(), ..ConvertOptions::default() };
    let error = convert(&of(CALL), &unknown).unwrap_err();
    assert!(error.message.contains("jsonrpc") && error.message.contains("otlp-json"), "{error}");
}

#[test]
fn a_session_is_drawn_as_text_and_as_a_picture() {
    let drawn = |output: &str| {
        show(&of(CALL), &ShowOptions { output: output.to_owned(), ..ShowOptions::default() }).unwrap().text
    };
    assert!(drawn("text").contains("result of add"), "{}", drawn("text"));
    assert!(drawn("svg").contains("<svg ") && drawn("html").starts_with("<!doctype html>"));
    let rejected = show(&of(&format!("{CALL}[]\n")), &ShowOptions::default()).unwrap();
    assert!(rejected.notes.iter().any(|note| note.contains("[batch, ")), "{:?}", rejected.notes);
}
