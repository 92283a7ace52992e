//! The calls projection: what an importer that exposes only tool calls can show of a meaning.
//!
//! Which call each response of a meaning answers.

use crate::document::{CALLS, document};
use crate::normal::is;
use transcript::json::Json;

/// The calls projection of a meaning in the normal form, as JSON text: every `tool_call` in order, with the
/// outcome that answers it or `null`; and the meaning's `authorization_discovery`, where it has one.
pub fn calls(meaning: Json<'_>) -> String {
    let events: Vec<Json<'_>> = meaning.member("events").map(|it| it.items().collect()).unwrap_or_default();
    let mut outcomes: Vec<Option<(&str, Json<'_>)>> = vec![None; events.len()];
    for event in &events {
        let outcome = ["result", "error"].into_iter().find_map(|name| Some((name, event.member(name)?)));
        let call = event.member("answers").and_then(|it| it.text().parse::<usize>().ok());
        if let Some(slot) = call.and_then(|index| outcomes.get_mut(index)) {
            *slot = slot.or(outcome);
        }
    }
    let calls = events
        .iter()
        .zip(outcomes)
        .filter(|(event, _)| event.member("kind").is_some_and(|it| is(it, "tool_call")));
    document(CALLS, calls, meaning.member("authorization_discovery"), |(event, outcome), object| {
        object.call(event.member("tool"), event.member("arguments"), *outcome);
    })
}

#[cfg(test)]
mod tests {
    use super::calls;
    use crate::normal::parse;

    #[test]
    fn calls_have_their_outcomes() {
        let meaning = r#"{"events": [
            {"kind": "request", "id": "0", "method": "initialize"},
            {"kind": "tool_call", "id": "1", "tool": "a", "arguments": {"n": 1.0}},
            {"kind": "tool_call", "tool": "b"},
            {"kind": "tool_call", "id": "2", "tool": "c", "arguments": null},
            {"kind": "error", "id": "2", "answers": 3, "error": {"code": 1}},
            {"kind": "result", "id": "0", "answers": 0, "result": {}},
            {"kind": "result", "id": "1", "answers": 1, "result": null},
            {"kind": "result", "id": "1", "answers": null, "result": "late"}],
            "authorization_discovery": null}"#;
        let expected = r#"{"calls": [
            {"tool": "a", "arguments": {"n": 1.0}, "outcome": {"result": null}},
            {"tool": "b", "outcome": null},
            {"tool": "c", "arguments": null, "outcome": {"error": {"code": 1}}}],
            "authorization_discovery": null}"#;
        let projection = calls(parse(meaning).unwrap());
        assert!(parse(&projection).unwrap().same(parse(expected).unwrap()), "{projection}");
        assert!(projection.contains("1.0"), "numbers keep their spelling");
    }

    #[test]
    fn a_session_without_calls_has_an_empty_list() {
        let projection = calls(parse(r#"{"events": []}"#).unwrap());
        assert!(parse(&projection).unwrap().same(parse(r#"{"calls":[]}"#).unwrap()));
    }
}
