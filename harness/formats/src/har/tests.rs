//! What HAR files are read as, and what sessions are written as.

mod reading;
mod writing;

use crate::meaning::{Meaning, meaning};
use crate::{ReadError, ReadOptions};
use transcript::rejection::Rejection;

const T: &str = "2026-11-21T10:00:00Z";

/// A HAR file of these exchanges.
fn file(exchanges: &[String]) -> String {
    format!("{{\"log\": {{\"version\": \"1.2\", \"entries\": [\n{}\n]}}}}", exchanges.join(",\n"))
}

/// A POST of `body` and its answer, each body as it is before JSON has quoted it.
fn post(started: &str, body: &str, media_type: &str, answer: &str) -> String {
    let (body, answer) = (quoted(body), quoted(answer));
    format!(
        r#"{{"startedDateTime": "{started}", "time": 5, "request": {{"method": "POST", "url": "http://a/mcp", "headers": [], "bodySize": 9,
 "postData": {{"mimeType": "application/json", "text": {body}}}}},
 "response": {{"status": 200, "headers": [{{"name": "content-TYPE", "value": "{media_type}"}}],
  "content": {{"size": 9, "mimeType": "x", "text": {answer}}}}}}}"#
    )
}

fn get(answer: &str) -> String {
    let answer = quoted(answer);
    format!(
        r#"{{"request": {{"method": "GET"}}, "response": {{"status": 200, "content": {{"mimeType": "text/event-stream; charset=utf-8", "text": {answer}}}}}}}"#
    )
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

fn call(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

fn done(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

fn read(text: &str) -> Result<Meaning, Box<Rejection>> {
    match meaning(&super::FORMAT, &mut text.as_bytes(), ReadOptions::default()) {
        Ok(meaning) => Ok(meaning),
        Err(ReadError::Rejected(rejection)) => Err(rejection),
        Err(other) => panic!("{other}"),
    }
}

/// The events in short: `?1` a request, `!1>0` a result that answers event 0, `!1>-` an orphan, `.` a notification.
fn brief(text: &str) -> String {
    let meaning = read(text).unwrap_or_else(|rejection| panic!("{rejection}\n{text}"));
    let value: serde_json::Value = serde_json::from_str(&meaning.text).unwrap();
    let events = value["events"].as_array().unwrap();
    let brief = |event: &serde_json::Value| {
        let id = event["id"].as_str().unwrap_or_default();
        match event["kind"].as_str().unwrap() {
            "request" | "tool_call" => format!("?{id}"),
            "notification" => ".".to_owned(),
            _ => format!(
                "!{id}>{}",
                event["answers"].as_u64().map_or("-".to_owned(), |index| index.to_string())
            ),
        }
    };
    events.iter().map(brief).collect::<Vec<_>>().join(" ")
}
