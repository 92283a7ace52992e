//! Reading an envelope, entry by entry.

use super::entry::{Event, Held, Parts, bounded_context};
use crate::data::holds_messages;
use crate::exchange::body::{MOST_HEADERS, offset_in};
use crate::format::{ReadOptions, Tolerance};
use crate::input::{Input, ReadError};
use crate::made_up;
use crate::transport::Transport;
use transcript::json::{Json, JsonKind, Scanner};
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{Carrier, Content, Entry, Location, Noise, Sink, SinkError, WrongType};

/// Reads an envelope whose `transport` must be this one.
pub(super) fn read(
    of: Transport,
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    match input.peek()? {
        None => return Err(input.truncated("an envelope")),
        Some(b'{') => {}
        Some(_) => {
            input.value()?;
            let said = "an envelope is a JSON object with `transport` and `entries`";
            let refusal = Refusal::new(Code::WrongDocument, 0, said).under("ENV-EMPTY");
            return Err(input.refuse(refusal, 0, ""));
        }
    }
    let label = of.name();
    let mut seen = Seen::default();
    let mut more = input.enter(b'}')?;
    while more {
        let name = input.key()?;
        input.peek()?;
        let twice = match &*name {
            "transport" => {
                transport(label, input)?;
                std::mem::replace(&mut seen.transport, true)
            }
            "transport_context" => {
                surroundings(input, options, sink)?;
                std::mem::replace(&mut seen.context, true)
            }
            made_up::MEMBER => {
                seen.bare |= invented(input, sink)?;
                false
            }
            "entries" => {
                if seen.entries {
                    true
                } else {
                    entries(input, options, &mut |entry| match seen.bare {
                        true => sink(Entry { carrier: Carrier::Line, sse: None, ..entry }),
                        false => sink(entry),
                    })?;
                    std::mem::replace(&mut seen.entries, true)
                }
            }
            _ => {
                let length = input.value()?;
                input.consume(length);
                false
            }
        };
        if twice {
            return Err(input.refuse(Refusal::duplicate(0, &name), 0, ""));
        }
        more = input.next(b'}')?;
    }
    // Whether it is one document at all comes before what the document lacks.
    input.finish()?;
    if !seen.transport {
        let message = format!("the envelope has no `transport`; it must be \"{label}\"");
        return Err(input.reject(Code::WrongTransport, 0, message));
    }
    if !seen.entries {
        return Err(input.reject(Code::MissingEntries, 0, "the envelope has no `entries`"));
    }
    Ok(())
}

#[derive(Default)]
struct Seen {
    transport: bool,
    context: bool,
    entries: bool,
    /// Nothing of HTTP was recorded.
    bare: bool,
}

/// What a converter made up; whether that is the whole transport.
fn invented(input: &mut Input<'_>, sink: &mut Sink<'_>) -> Result<bool, ReadError> {
    let length = input.value()?;
    let list = Json::parse(&input.text()[..length]).ok();
    let location = Location { root: "/_made_up", ..location(input) };
    let what = [made_up::TRANSPORT, made_up::LABEL].into_iter().find(|word| made_up::has(list, word));
    if let Some(what) = what {
        input.give(Entry::new(location, Content::MadeUp(what)), 0, sink)?;
    }
    input.consume(length);
    Ok(what == Some(made_up::TRANSPORT))
}

fn transport(label: &str, input: &mut Input<'_>) -> Result<(), ReadError> {
    let length = input.value()?;
    let value = Json::parse(&input.text()[..length]).ok();
    if !value.and_then(|value| value.as_text()).is_some_and(|text| text.is(label)) {
        let found: String = input.text()[..length].chars().take(60).collect();
        let message = format!("`transport` must be \"{label}\" here; this is {found}");
        let refusal = Refusal { code: Code::WrongTransport, clause: "ENV-TRANSPORT", at: 0, message };
        return Err(input.refuse(refusal, 0, "/transport"));
    }
    input.consume(length);
    Ok(())
}

fn surroundings(input: &mut Input<'_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    let length = input.value()?;
    let location = Location { root: "/transport_context", ..location(input) };
    let value = Json::parse(&input.text()[..length]).ok();
    if let Some(value) = value.filter(|_| options.tolerance == Tolerance::Faults) {
        of_context(value, &mut |tail, wrong| {
            // The pointer begins with the member's name here, and with the entry's place there.
            let location = Location { tail: tail.trim_start_matches(CONTEXT), ..location };
            input.give(Entry::new(location, Content::WrongType(wrong)), 0, sink)
        })?;
    }
    if let Some((context, more)) = value.and_then(bounded_context) {
        headers_beyond(input, more, location, sink)?;
        let entry = Entry { context: Some(&context), ..Entry::new(location, Content::Envelope) };
        input.give(entry, 0, sink)?;
    }
    input.consume(length);
    Ok(())
}

fn entries(input: &mut Input<'_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    if input.peek()? != Some(b'[') {
        // A file that ends here, or goes on with what is not JSON, is not one whose entries are not an array.
        input.value()?;
        let refusal = Refusal::new(Code::MissingEntries, 0, "`entries` must be an array").under("ENV-EMPTY");
        return Err(input.refuse(refusal, 0, "/entries"));
    }
    let mut more = input.enter(b']')?;
    let mut index = 0;
    while more {
        let length = one(input, index, options, sink)?;
        input.consume(length);
        index += 1;
        more = input.next(b']')?;
    }
    Ok(())
}

/// Reads the entry at the beginning of the window, and returns its length.
fn one(
    input: &mut Input<'_>,
    index: u64,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<usize, ReadError> {
    loop {
        let text = input.text();
        let mut scanner = Scanner::new(text);
        let location = Location { root: "/entries/", index: Some(index), ..location(input) };
        let refused = match Parts::scan(text, &mut scanner) {
            Ok(parts) => {
                hand(input, parts, location, options, sink)?;
                return Ok(scanner.at());
            }
            Err(refusal) => refusal,
        };
        // The entry may only go on behind the window, and so may a number at its edge, which may yet be none.
        let edge = scanner.at() == text.len() && !text.ends_with(['}', ']', '"']);
        if !(edge || refused.code == Code::Truncated) || !input.grow()? {
            return Err(input.refuse(refused, 0, &location.pointer()));
        }
    }
}

fn hand(
    input: &Input<'_>,
    parts: Parts<'_>,
    location: Location,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let (time, context) = (parts.time(), parts.context());
    if options.tolerance == Tolerance::Faults {
        of_entry(&parts, &mut |tail, wrong| {
            let location = Location { tail, ..location };
            input.give(Entry::new(location, Content::WrongType(wrong)), 0, sink)
        })?;
    }
    headers_beyond(input, context.as_ref().is_some_and(|(_, more)| *more), location, sink)?;
    let context = context.map(|(context, _)| context);
    let carrier = parts.only_slot();
    let found = match (parts.found(0, context.as_ref()), carrier) {
        (Ok(found), _) => found,
        (Err(refusal), Some((carrier, side, tail, text))) if options.hands_on(&refusal) => {
            let location = Location { tail, ..location };
            let base = offset_in(input.text().as_bytes(), text);
            let why = Refusal { at: refusal.at.saturating_sub(base), ..refusal };
            let content = Content::Noise(Noise { why, text: text.into() });
            let entry = Entry {
                time,
                side: Some(side),
                carrier,
                context: context.as_ref(),
                ..Entry::new(location, content)
            };
            return input.give(entry, base, sink);
        }
        (Err(refusal), _) => return Err(input.refuse(refusal, 0, &location.pointer())),
    };
    let location = Location { tail: found.tail, ..location };
    let content = match found.held.content() {
        Ok(content) => content,
        Err(why) if options.hands_on(&why) => {
            let text = if let Held::Text(_, text) = &found.held { text.clone() } else { "".into() };
            Content::Noise(Noise { why, text })
        }
        Err(refusal) => return Err(input.refuse(found.held.placed(refusal), found.at, &location.pointer())),
    };
    let mut sse = found.sse;
    if let (Content::Event, Held::Text(_, text), Some(sse)) = (&content, &found.held, &mut sse) {
        sse.data = Some(text.clone());
    }
    let entry = Entry {
        time,
        side: Some(found.side),
        carrier: found.carrier,
        sse,
        context: context.as_ref(),
        ..Entry::new(location, content)
    };
    // A message may stand behind white space of a string.
    let start = match (&entry.content, &found.held) {
        (Content::Message(message), Held::Text(_, text)) => offset_in(text.as_bytes(), message.text()),
        _ => 0,
    };
    sink(entry).map_err(|error| match error {
        SinkError::Rejected(refusal) => {
            let refusal = Refusal { at: start + refusal.at, ..refusal };
            input.refuse(found.held.placed(refusal), found.at, &location.pointer())
        }
        SinkError::Stop => ReadError::Stopped,
    })
}

/// Says that there are more headers than are read.
fn headers_beyond(
    input: &Input<'_>,
    more: bool,
    location: Location,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    if !more {
        return Ok(());
    }
    let what = format!("the headers of a transport context after the first {MOST_HEADERS}");
    let entry = Entry::new(location, Content::Skipped(what.into()));
    input.give(entry, 0, sink)
}

fn location(input: &Input<'_>) -> Location {
    Location { offset: input.offset(), line: input.line(), ..Location::default() }
}

/// Where an entry has its context.
const CONTEXT: &str = "/transport_context";

/// What takes a wrong type: the pointer's part behind the entry, and what is wrong.
type Tell<'t> = dyn FnMut(&'static str, WrongType<'static>) -> Result<(), ReadError> + 't;

/// Tells of the wrong types in an entry: once of each member, and of the headers once.
fn of_entry(parts: &Parts<'_>, tell: &mut Tell<'_>) -> Result<(), ReadError> {
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
fn of_context(context: Json<'_>, tell: &mut Tell<'_>) -> Result<(), ReadError> {
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
    use crate::exchange::body::MOST_HEADERS;
    use crate::session::OwnedContent;
    use crate::small::session;

    #[test]
    fn headers_are_read_up_to_a_bound_and_the_rest_is_said() {
        for (count, said) in [(MOST_HEADERS, 0), (MOST_HEADERS + 1, 2), (MOST_HEADERS * 3, 2)] {
            let headers: Vec<String> = (0..count).map(|number| format!("\"h{number}\":\"v\"")).collect();
            let context =
                format!(r#""transport_context":{{"status":200,"headers":{{{}}}}}"#, headers.join(","));
            let message = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
            let text = format!(
                r#"{{"transport":"http-sse",{context},"entries":[{{"request":{message},{context}}}]}}"#
            );
            let session = session("http-sse", &text);
            let contexts = session.entries.iter().filter_map(|entry| entry.context.as_ref());
            assert!(contexts.clone().all(|context| context.headers.len() == MOST_HEADERS), "{count}");
            assert_eq!((contexts.count(), session.totals.events), (2, 1));
            let skipped = session.entries.iter().filter(|entry| {
                matches!(&entry.what, OwnedContent::Skipped(what) if what.contains("after the first 10000"))
            });
            assert_eq!(skipped.count(), said, "{count}");
        }
    }
}
