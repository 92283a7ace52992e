use super::{file, read};
use crate::find;
use crate::session::Session;
use crate::small::{means, session};

fn written(session: &Session) -> String {
    let mut out = Vec::new();
    super::super::write::write(session, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn text_survives_both_layers_of_json() {
    let hard = r#"{"jsonrpc":"2.0","id":"\ud83d","method":"é😀\u2028\\\"","params":{"n":9007199254740993.0,"a":"\udc00\n","a":"\u0000"}}"#;
    let error = |id| format!(r#"{{"jsonrpc":"2.0","id":"{id}","error":"{}"}}"#, "\u{2028}");
    let spelled = format!("{}\n{}", hard.replace(',', " , "), error(r"\uD83D"));
    let har = written(&session("jsonrpc", &spelled));
    assert_eq!(read(&har).unwrap().text, means("jsonrpc", &format!("{hard}\n{}", error(r"\ud83d"))));
}

#[test]
fn a_hole_stays_a_hole() {
    let hole = |method: &str, mime: &str| {
        format!(
            r#"{{"request": {{"method": "{method}", "bodySize": 9}}, "response": {{"status": 200, "content": {{"size": 0, "mimeType": "{mime}"}}, "bodySize": 7}}}}"#
        )
    };
    let text = file(&[hole("POST", "text/event-stream"), hole("POST", "application/json"), hole("GET", "")]);
    assert_eq!(read(&text).unwrap().totals.missing, 5);
    let session = session("har", &text);
    assert_eq!(read(&written(&session)).unwrap().totals.missing, 5);
    assert!(session.losses(&super::super::FORMAT).is_empty());
    assert!(
        session.losses(find("jsonrpc").unwrap()).iter().any(|loss| loss.what.contains("dropped a body (5)"))
    );
}

#[test]
fn an_answer_of_nothing_stays_whole() {
    let empty = |mime: &str| {
        format!(
            r#"{{"startedDateTime": "2026-05-12T23:00:00.000Z", "request": {{"method": "POST"}}, "response": {{"status": 200, "content": {{"size": 0, "mimeType": "{mime}", "text": ""}}}}, "_events": [{{"time": 1}}]}}"#
        )
    };
    let har = written(&session("har", &file(&[empty("application/json"), empty("text/event-stream")])));
    assert_eq!((har.matches(r#""text": """#).count(), read(&har).unwrap().totals.missing), (2, 0), "{har}");
}
