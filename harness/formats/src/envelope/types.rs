//! The types of an envelope's members beside its messages. None decides what was said, so that readers pass over a wrong
//! one; importers may refuse the file for it.

use super::entry::{Event, Parts};
use crate::data::holds_messages;
use crate::input::ReadError;
use transcript::json::{Json, JsonKind};
use transcript::session::WrongType;

/// Where an entry has its context.
pub(super) const CONTEXT: &str = "/transport_context";

/// What takes a wrong type: the pointer's part behind the entry, and what is wrong.
type Tell<'t> = dyn FnMut(&'static str, WrongType<'static>) -> Result<(), ReadError> + 't;

/// Tells of the wrong types in an entry: once of each member, and of the headers once.
pub(super) fn of_entry(parts: &Parts<'_>, tell: &mut Tell<'_>) -> Result<(), ReadError> {
    if let Some(timestamp) = parts.timestamp.filter(|_| parts.time().is_none()) {
        // ENV-LOOSE
        let what = format!("`timestamp_ms` is {}, not a whole number of milliseconds", shown(timestamp));
        tell("/timestamp_ms", WrongType { what: what.into(), open: true })?;
    }
    if let Some(context) = parts.context {
        of_context(context, tell)?;
    }
    parts.sse.as_ref().map_or(Ok(()), |event| of_event(event, tell))
}

/// Tells of the wrong types in a transport context.
pub(super) fn of_context(context: Json<'_>, tell: &mut Tell<'_>) -> Result<(), ReadError> {
    if context.kind() != JsonKind::Object {
        return tell(CONTEXT, wrong("`transport_context`", context, "an object", &[]));
    }
    if let Some(status) = context.member("status") {
        let number = status.as_number().and_then(|number| number.parse::<u16>().ok());
        if !number.is_some_and(|status| (100..1000).contains(&status)) {
            let wrong = wrong("`status`", status, "a number of three digits", &[JsonKind::String]);
            tell("/transport_context/status", wrong)?;
        }
    }
    let Some(headers) = context.member("headers") else { return Ok(()) };
    let tail = "/transport_context/headers";
    if headers.kind() != JsonKind::Object {
        return tell(tail, wrong("`headers`", headers, "an object", &[JsonKind::Array]));
    }
    let Some((name, value)) = headers.members().find(|(_, value)| value.kind() != JsonKind::String) else {
        return Ok(());
    };
    let name = format!("the header {}", name.raw().chars().take(60).collect::<String>());
    tell(tail, wrong(&name, value, "a string", &[JsonKind::Array]))
}

fn of_event(event: &Event<'_>, tell: &mut Tell<'_>) -> Result<(), ReadError> {
    if let Some(id) = event.id.filter(|id| id.kind() != JsonKind::String) {
        // ENV-LOOSE
        tell("/sse/id", wrong("`id` of the event", id, "a string", &[JsonKind::Number]))?;
    }
    let Some(data) = event.data.as_ref().map(|data| data.value) else { return Ok(()) };
    match data.kind() {
        JsonKind::Object | JsonKind::String => Ok(()),
        // Whether it is a batch is for the rules of batches.
        JsonKind::Array if event.is_message() && holds_messages(data) => Ok(()),
        _ => tell("/sse/data", wrong("`data` of the event", data, "an object or a string", &[])),
    }
}

/// A member of another type than `wanted`. A reader may take it where it is null, or of one of the types that are `open`
/// (ENV-LOOSE, K2A-SPELLING).
fn wrong(name: &str, value: Json<'_>, wanted: &str, open: &[JsonKind]) -> WrongType<'static> {
    let open = value.kind() == JsonKind::Null || open.contains(&value.kind());
    WrongType { what: format!("{name} is {}, not {wanted}", shown(value)).into(), open }
}

/// A number as it is written; of another value its type.
fn shown(value: Json<'_>) -> String {
    match value.as_number() {
        Some(number) => number.chars().take(60).collect(),
        None => value.kind().name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::envelope::STREAMABLE_HTTP as FORMAT;
    use crate::format::{ReadOptions, Tolerance};
    use crate::input::Input;
    use transcript::session::Content;

    /// The wrong types that are found among an envelope's members: pointer, whether a clause leaves it open, and the words.
    fn found(text: &str) -> Vec<String> {
        let (mut bytes, mut found) = (text.as_bytes(), Vec::new());
        let mut input = Input::new(&mut bytes).unwrap();
        (FORMAT.read)(&mut input, ReadOptions::new(Tolerance::Faults), &mut |entry| {
            if let Content::WrongType(wrong) = &entry.content {
                let open = if wrong.open { "may" } else { "must" };
                found.push(format!("{} {open}: {}", entry.location.pointer(), wrong.what));
            }
            Ok(())
        })
        .unwrap();
        found
    }

    fn envelope(entry: &str) -> String {
        format!(r#"{{"transport":"streamable-http","entries":[{{{entry}}}]}}"#)
    }

    #[test]
    fn types_that_the_format_has_are_not_told() {
        for entry in [
            r#""timestamp_ms":0,"transport_context":{"status":202,"headers":{"A":"b"}},"request":null"#,
            r#""transport_context":{},"sse":null"#,
            r#""sse":{"event":"message","id":"1","data":""}"#,
            r#""sse":{"data":{}}"#,
            r#""timestamp_ms":7,"status":"none of ours","sse":{"event":"ping","data":"1"}"#,
            r#""sse":{"data":[{"jsonrpc":"2.0","method":"a"}]}"#,
        ] {
            assert_eq!(found(&envelope(entry)), <[&str; 0]>::default(), "{entry}");
        }
    }

    #[test]
    fn each_wrong_type_is_told_at_its_place() {
        for (entry, wanted) in [
            (
                r#""timestamp_ms":"1","sse":null"#,
                "/entries/0/timestamp_ms may: `timestamp_ms` is a string, not a whole number of milliseconds",
            ),
            (
                r#""timestamp_ms":1e3,"sse":null"#,
                "/entries/0/timestamp_ms may: `timestamp_ms` is 1e3, not a whole number of milliseconds",
            ),
            (
                r#""timestamp_ms":-1,"sse":null"#,
                "/entries/0/timestamp_ms may: `timestamp_ms` is -1, not a whole number of milliseconds",
            ),
            (
                r#""transport_context":"x","sse":null"#,
                "/entries/0/transport_context must: `transport_context` is a string, not an object",
            ),
            (
                r#""transport_context":{"status":"401"},"sse":null"#,
                "/entries/0/transport_context/status may: `status` is a string, not a number of three digits",
            ),
            (
                r#""transport_context":{"status":7},"sse":null"#,
                "/entries/0/transport_context/status must: `status` is 7, not a number of three digits",
            ),
            (
                r#""transport_context":{"headers":[]},"sse":null"#,
                "/entries/0/transport_context/headers may: `headers` is an array, not an object",
            ),
            (
                r#""transport_context":{"headers":"A: b"},"sse":null"#,
                "/entries/0/transport_context/headers must: `headers` is a string, not an object",
            ),
            (
                r#""transport_context":{"headers":{"A":"b","C":1,"D":2}},"sse":null"#,
                "/entries/0/transport_context/headers must: the header C is 1, not a string",
            ),
            (r#""sse":{"id":1}"#, "/entries/0/sse/id may: `id` of the event is 1, not a string"),
            (
                r#""sse":{"data":42}"#,
                "/entries/0/sse/data must: `data` of the event is 42, not an object or a string",
            ),
            (
                r#""sse":{"data":null}"#,
                "/entries/0/sse/data may: `data` of the event is null, not an object or a string",
            ),
            (
                r#""sse":{"data":[1]}"#,
                "/entries/0/sse/data must: `data` of the event is an array, not an object or a string",
            ),
            (
                r#""sse":{"event":"ping","data":[{"jsonrpc":"2.0","method":"a"}]}"#,
                "/entries/0/sse/data must: `data` of the event is an array, not an object or a string",
            ),
        ] {
            assert_eq!(found(&envelope(entry)), [wanted], "{entry}");
        }
        let whole = r#"{"transport":"streamable-http","transport_context":{"headers":true},"entries":[]}"#;
        assert_eq!(found(whole), ["/transport_context/headers must: `headers` is a boolean, not an object"]);
    }
}
