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
