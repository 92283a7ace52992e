//! The functions over bytes at their edges: what is wrong with a call or a recording is a value with a code and a place.

use app::{
    CheckOptions, Command, ConvertOptions, DiffOptions, Error, IdentifyOptions, Judge, Outcome, ReadOptions,
    Recording, ShowOptions, SummaryOptions, answer, check,
};
use rules::Parallelism;
use serde_json::{Value, json};
use std::io::{self, Read};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

const CALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1.50}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":1,"result":{"sum":12345678901234567890.10}}"#,
    "\n"
);

fn recording(text: &str) -> Recording<'_> {
    Recording::new("a.jsonl", text.as_bytes())
}

/// What a command answers about one recording.
fn text(command: &dyn Command, content: &str) -> Result<String, Error> {
    answer(command, [recording(content)]).map(|answer| answer.text())
}

/// Whether two recordings are the same session, and what differs.
fn compared(options: &DiffOptions, [a, b]: [&str; 2]) -> Result<(bool, String), Error> {
    let found = answer(options, [recording(a), Recording::new("b", b.as_bytes())])?;
    Ok((found.outcome == Outcome::Well, found.text()))
}

#[test]
fn numbers_keep_their_text() {
    let meaning = text(&ReadOptions::default(), CALL).unwrap();
    assert!(meaning.contains("1.50") && meaning.contains("12345678901234567890.10"), "{meaning}");
    let other = CALL.replace("890.10", "890.11");
    let (_, found) = compared(&DiffOptions::default(), [CALL, &other]).unwrap();
    assert!(found.contains(r#""value": 12345678901234567890.10}"#), "{found}");
}

#[test]
fn what_differs_is_as_the_schema_says() {
    let schema: Value = serde_json::from_str(include_str!("../../../reports/diff.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let fewer = CALL.lines().next().unwrap();
    for (other, same) in [(CALL, true), (&CALL.replace("sum", "total"), false), (fewer, false), ("\n", false)]
    {
        let options = DiffOptions { right_format: Some("jsonrpc".to_owned()), ..DiffOptions::default() };
        let (is_same, found) = compared(&options, [CALL, other]).unwrap();
        let found: Value = serde_json::from_str(&found).unwrap();
        schema.validate(&found).unwrap();
        assert_eq!((is_same, &found["same"]), (same, &same.into()), "{found}");
        assert_eq!(found["recordings"][1], json!({"name": "b", "format": "jsonrpc"}));
        assert_eq!(found["differences"].as_array().unwrap().is_empty(), same);
    }
    let options = DiffOptions { show: 0, ..DiffOptions::default() };
    let (_, found) = compared(&options, [CALL, &CALL.replace("sum", "total")]).unwrap();
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(
        (&found["differences"], &found["hidden"], &found["differ"]),
        (&json!([]), &1.into(), &1.into())
    );
}

#[test]
fn a_rejection_has_its_place() {
    let error =
        text(&ReadOptions::default(), "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"a\"}").unwrap_err();
    let rejection = error.rejection().unwrap();
    let place = (error.code(), rejection.clause, rejection.position.line, rejection.position.column);
    assert_eq!(place, ("invalid-id", "ID-REJECT", 1, 23));
    let words: Value = serde_json::from_str(&error.json()).unwrap();
    assert_eq!(
        (&words["code"], &words["line"], &words["name"]),
        (&"invalid-id".into(), &1.into(), &"a.jsonl".into())
    );
    assert!(error.to_string().starts_with("a.jsonl:1:23: "), "{error}");
}

#[test]
fn bytes_that_are_no_text_or_no_format_are_refused_by_every_function() {
    let commands: [(&str, &dyn Command); 5] = [
        ("read", &ReadOptions::default()),
        ("identify", &IdentifyOptions::default()),
        ("summary", &SummaryOptions::default()),
        ("show", &ShowOptions::default()),
        ("convert", &ConvertOptions { to: "har".to_owned(), ..ConvertOptions::default() }),
    ];
    type Make<'m> = &'m dyn Fn() -> Recording<'m>;
    let refused = |make: Make<'_>| {
        let mut errors: Vec<(&str, Option<Error>)> =
            commands.iter().map(|(name, command)| (*name, answer(*command, [make()]).err())).collect();
        errors.push(("check", check(&mut make(), &CheckOptions::default()).err()));
        errors.push(("diff", answer(&DiffOptions::default(), [recording(CALL), make()]).err()));
        errors.into_iter().map(|(name, error)| (name, error.map(|error| error.code()))).collect::<Vec<_>>()
    };
    let stop = || true;
    let calls: [(Make<'_>, Option<&str>); 6] = [
        (&|| Recording::new("x", b"\xff{}"), Some("invalid-utf8")),
        (&|| Recording::new("x", b"\xff\xfe{"), Some("unreadable")),
        (&|| Recording::new("x", b""), Some("unknown-format")),
        (&|| Recording::new("x", b"not JSON"), Some("unknown-format")),
        (&|| Recording::stoppable("x", CALL.as_bytes(), &stop), Some("interrupted")),
        (&|| recording(CALL), None),
    ];
    for (make, code) in calls {
        let codes = refused(make);
        assert!(codes.iter().all(|(_, found)| *found == code), "{code:?}: {codes:?}");
    }
}

#[test]
fn a_long_reading_can_be_stopped() {
    let line = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{}\"}}\n", "a".repeat(1 << 20));
    let (text, asked) = (line.repeat(8), AtomicU32::new(0));
    let stop = || asked.fetch_add(1, Ordering::Relaxed) == 3;
    let mut recording = Recording::stoppable("it", text.as_bytes(), &stop);
    assert_eq!(check(&mut recording, &CheckOptions::default()).unwrap_err().code(), "interrupted");
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

#[test]
fn an_option_that_has_no_such_value_is_named() {
    let words = |text: &str| Some(text.to_owned());
    let judged = |options: CheckOptions| check(&mut recording(CALL), &options).err();
    let call = |command: &dyn Command| answer(command, [recording(CALL)]).err();
    let compared = |options: DiffOptions| answer(&options, [recording(CALL), recording(CALL)]).err();
    let usual = CheckOptions::default;
    for (error, option) in [
        (call(&ReadOptions { format: words("x"), ..ReadOptions::default() }), "format: "),
        (call(&ReadOptions { dialect: "x".into(), ..ReadOptions::default() }), "dialect: "),
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
        (call(&ConvertOptions::default()), "to: "),
        (compared(DiffOptions { ids: "any".into(), ..DiffOptions::default() }), "ids: "),
        (compared(DiffOptions { ignore: vec!["a".into()], ..DiffOptions::default() }), "ignore: "),
        (call(&ShowOptions { output: "png".into(), ..ShowOptions::default() }), "output: "),
        (call(&ShowOptions { from: Some(2), to: Some(1), ..ShowOptions::default() }), "from: "),
    ] {
        let error = error.unwrap();
        let is_of_option = error.code() == Error::BAD_OPTION && error.message().starts_with(option);
        assert!(is_of_option, "{option}: {error}");
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
        check(
            &mut recording(text),
            &CheckOptions { require: Some(require.to_owned()), ..CheckOptions::default() },
        )
    };
    let set = "suite = \"0.1.0\"\nrevision = \"2025-11-25\"\nrules = [\"jsonrpc.id.null\"]\n";
    for require in ["2025-11-25", set] {
        let checked = held(&session("2025-11-25"), require).unwrap();
        assert!(checked.is_well(), "{}", checked.json());
        assert!(checked.file.required.as_ref().unwrap().conforms());
        assert_eq!(held(&session("2025-06-18"), require).unwrap_err().code(), "other-revision");
        assert_eq!(held(CALL, require).unwrap_err().code(), "other-revision");
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
        answer(&ConvertOptions { to: "jsonrpc".to_owned(), ..options }, [recording(text)])
    };
    let error = to(trace, ConvertOptions::default()).unwrap_err();
    assert!(error.code() == "cannot-carry" && error.message().contains("COR-DIRECTION-FLAT"), "{error}");
    let written = to(trace, ConvertOptions { lossy: true, ..ConvertOptions::default() }).unwrap();
    assert_eq!(written.bytes.split(|&byte| byte == b'\n').count(), 4);
    assert!(written.notes[0].contains("COR-DIRECTION-FLAT"), "{:?}", written.notes);
    let cut = &CALL[..CALL.len() - 5];
    assert_eq!(to(cut, ConvertOptions::default()).unwrap_err().code(), "truncated");
    let saved = to(cut, ConvertOptions { salvage: true, ..ConvertOptions::default() }).unwrap();
    assert!(saved.bytes.starts_with(b"{") && saved.notes[0].contains("was cut off"), "{:?}", saved.notes);
}

#[test]
fn spans_are_written_as_by_the_command_and_what_they_leave_out_is_noted() {
    let options = ConvertOptions { to: "otlp-json".to_owned(), ..ConvertOptions::default() };
    let written = answer(&options, [recording(CALL)]).unwrap();
    let spans: Value = serde_json::from_slice(&written.bytes).unwrap();
    let spans = &spans["resourceSpans"][0]["scopeSpans"][0]["spans"];
    assert_eq!(
        (spans.as_array().unwrap().len(), &spans[0]["name"]),
        (1, &"tools/call add".into()),
        "{spans}"
    );
    assert!(written.notes.iter().any(|note| note.contains("otlp-json has a span for each request (1)")));
    let unknown = ConvertOptions { to: "otlp".to_owned(), ..ConvertOptions::default() };
    let error = text(&unknown, CALL).unwrap_err();
    assert!(error.message().contains("jsonrpc") && error.message().contains("otlp-json"), "{error}");
}

#[test]
fn a_session_is_drawn_as_text_and_as_a_picture() {
    let drawn = |output: &str| {
        text(&ShowOptions { output: output.to_owned(), ..ShowOptions::default() }, CALL).unwrap()
    };
    assert!(drawn("text").contains("result of add"), "{}", drawn("text"));
    assert!(drawn("svg").contains("<svg ") && drawn("html").starts_with("<!doctype html>"));
    let rejected = answer(&ShowOptions::default(), [recording(&format!("{CALL}[]\n"))]).unwrap();
    assert!(rejected.notes.iter().any(|note| note.contains("[batch, ")), "{:?}", rejected.notes);
}

#[test]
fn a_finding_comes_before_the_recording_ends() {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    /// At the end of the recording nothing is left to tell.
    struct End;
    impl Read for End {
        fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
            assert_eq!(*TOLD.lock().unwrap(), ["a.jsonl:1 jsonrpc.id.type"]);
            Ok(0)
        }
    }
    for parallelism in [Parallelism::NONE, Parallelism::with_workers(2)] {
        TOLD.lock().unwrap().clear();
        let fault = "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"a\"}\n";
        let many = fault.to_owned() + &CALL.replace(r#""id":1,"#, r#""id":"b","#).repeat(40_000);
        let options = CheckOptions {
            select: vec!["jsonrpc.id.type".to_owned()],
            parallelism: Some(parallelism),
            ..CheckOptions::default()
        };
        let judge = Judge::new(&options).unwrap().telling(|found| {
            TOLD.lock().unwrap().push(format!("{}:{} {}", found.file, found.line.unwrap(), found.rule));
        });
        let judged = judge.judge(&mut Recording::once("a.jsonl", many.as_bytes().chain(End))).unwrap();
        assert_eq!(judged.totals().errors, 1);
    }
}
