use super::{T, call, done, file, post, quoted, read, read_with};
use crate::ReadOptions;
use transcript::rejection::Code;

#[test]
fn a_rejection_names_the_clause_and_the_place() {
    let ok = post(T, &call(1), "application/json", &done(1));
    let request = "/log/entries/1/request/postData/text";
    let answer = "/log/entries/1/response/content/text";
    let sent = |body: &str| post(T, body, "text/plain", "");
    let told = |answer: &str| post(T, &call(2), "application/json", answer);
    let streamed = |answer: &str| post(T, &call(2), "text/event-stream", answer);
    let twice = r#"data: {"jsonrpc":"2.0","id":1,"method":"tools/call"}"#;
    // Each with the raw text that begins at its place.
    for (bad, code, clause, pointer, line, here) in [
        (sent(r#"{"jsonrpc":"2.0","id":true}"#), Code::InvalidId, "ID-REJECT", request, 7, "true}"),
        (sent(&format!(" [{}]", call(2))), Code::Batch, "HAR-MESSAGE", request, 7, r#"[{\"jsonrpc"#),
        (sent(r#"{"jsonrpc":"2.0","id":"#), Code::InvalidJson, "SRV-BYTES", request, 7, "\"}},"),
        (
            told(r#"{"é":"\n","jsonrpc":"1.0"}"#),
            Code::InvalidVersion,
            "JRP-VERSION",
            answer,
            9,
            r#"\"1.0\"}"#,
        ),
        (told("\u{feff}{\"a\":\n}"), Code::InvalidJson, "SRV-BYTES", answer, 9, "}\"}}}"),
        (
            told("{\"jsonrpc\":\"2.0\"}"),
            Code::NotAMessage,
            "JRP-SHAPE",
            answer,
            9,
            r#"{\"jsonrpc\":\"2.0\"}"#,
        ),
        (streamed("\r\ndata: {\"a\":x\n\n"), Code::BrokenData, "SSE-DATA-BROKEN", answer, 9, r"x\n\n"),
        (streamed("data: {\ndata: x\n\n"), Code::BrokenData, "SSE-DATA-BROKEN", answer, 9, r"{\ndata: x"),
        (streamed(&format!("data: [{}]\n\n", done(2))), Code::Batch, "SSE-DATA-ARRAY", answer, 9, "[{"),
        (
            streamed(&format!("data:{}\n\n", quoted(&done(2)))),
            Code::NestedData,
            "SSE-DATA-NESTED",
            answer,
            9,
            r#"\"{\\\"jsonrpc"#,
        ),
        (
            streamed(&format!("{twice}\n\nid: 5\n{}\n\n", twice.replace('1', "\"1\""))),
            Code::DuplicateCallId,
            "COR-DUPLICATE",
            answer,
            9,
            r#"\"1\",\"method"#,
        ),
    ] {
        let text = file(&[ok.clone(), bad]);
        let found = read(&text).unwrap_err();
        let place = (found.code, found.clause, &*found.position.pointer, found.position.line);
        assert_eq!(place, (code, clause, pointer, line), "{text}");
        let rest = &text[found.position.offset as usize..];
        assert!(rest.starts_with(here), "{here} {rest}");
        let before: Vec<&str> = text[..found.position.offset as usize].split('\n').collect();
        assert_eq!(found.position.line, before.len() as u64);
        assert_eq!(found.position.column as usize, before[before.len() - 1].chars().count() + 1);
    }
}

#[test]
fn leniency_passes_over_what_is_no_message() {
    let stream = format!("data: {{\"a\n\ndata: {}\n\n", done(1));
    let text = file(&[
        post(T, &call(1), "text/event-stream", &stream),
        post(T, &call(2), "application/json", "{"),
        post(T, r#"{"jsonrpc":"2.0"}"#, "application/json", &done(2)),
    ]);
    let meaning = read_with(text.as_bytes(), ReadOptions::LENIENT).unwrap();
    assert_eq!((meaning.totals.events, meaning.totals.noise, meaning.totals.unanswered), (4, 3, 0));
    // A message with a fault is not noise.
    let text = file(&[post(T, r#"{"jsonrpc":"1.0","method":"a"}"#, "", "")]);
    assert!(read_with(text.as_bytes(), ReadOptions::LENIENT).is_err());
}
