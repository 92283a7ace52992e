//! Mistakes in the text of a transcript: where each kind of format keeps its messages, and changes made there.

use crate::json::{self, Edit, Test, at, at_each, content, lines, quoted, set};
use crate::mutant::{Change, Mutation};
use formats::Format;
use transcript::json::{Json, JsonKind};

/// The exchanges of an archive.
const EXCHANGES: [&str; 3] = ["log", "entries", "*"];
/// Where an exchange holds bodies.
const BODIES: [&[&str]; 2] = [&["request", "postData", "text"], &["response", "content", "text"]];
/// What an entry of an envelope may carry.
pub const SLOTS: [&str; 3] = ["request", "response", "sse"];

/// How a format holds its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A message a line.
    Lines,
    /// An object a line, with the message in `raw`.
    Trace,
    /// A document with a list of messages.
    List,
    /// An envelope with `entries`.
    Envelope,
    /// An HTTP archive.
    Archive,
    /// Something else.
    Other,
}

impl Shape {
    /// The shape of a format, by what it can carry.
    #[must_use]
    pub fn of(format: &Format) -> Self {
        match format.carries {
            carries if carries.exchanges => Self::Archive,
            carries if carries.http => Self::Envelope,
            carries if carries.process => Self::Trace,
            carries if !carries.direction => Self::Lines,
            _ if format.is_lines() => Self::Other,
            _ => Self::List,
        }
    }

    /// Whether a transcript is lines: messages or a trace.
    #[must_use]
    pub fn is_lines(self) -> bool {
        matches!(self, Self::Lines | Self::Trace)
    }
}

/// A reader to whom the text is another.
pub fn on_text(edit: impl Fn(&Format, &str) -> Option<String> + Send + Sync + 'static) -> Mutation {
    Change::Text(Box::new(edit)).into()
}

/// The same for formats of one shape.
pub fn on_shape(
    shape: Shape,
    edit: impl Fn(&Format, &str) -> Option<String> + Send + Sync + 'static,
) -> Mutation {
    on_text(move |format, text| (Shape::of(format) == shape).then(|| edit(format, text))?)
}

/// The same for messages on lines and for traces.
pub fn on_lines_text(edit: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Mutation {
    on_text(move |format, text| Shape::of(format).is_lines().then(|| edit(text))?)
}

/// A reader to whom the bytes are others.
pub fn on_bytes(edit: impl Fn(&Format, &[u8]) -> Option<Vec<u8>> + Send + Sync + 'static) -> Mutation {
    Change::Bytes(Box::new(edit)).into()
}

/// A reader to whom each message is another; an empty text takes it away.
pub fn on_message(edit: impl Edit) -> Mutation {
    on_text(move |format, text| messages(format, text, &edit))
}

/// A reader to whom the lines of messages are others; an empty line goes away.
pub fn on_line(edit: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Mutation {
    on_shape(Shape::Lines, move |_, text| lines(text, &mut |line| edit(line)))
}

/// A reader that passes over such lines.
pub fn skip_lines(skips: impl Fn(&str) -> bool + Send + Sync + 'static) -> Mutation {
    on_line(move |line| (!line.trim().is_empty() && skips(line)).then(String::new))
}

/// A reader that takes lines that are not JSON for what a repair makes of them.
pub fn repair_lines(repair: impl Fn(&str) -> String + Send + Sync + 'static) -> Mutation {
    on_line(move |line| {
        let new = repair(line);
        (Json::parse(line).is_err() && Json::parse(&new).is_ok()).then_some(new)
    })
}

/// A reader that repairs lines that are not JSON by putting other texts for these, one after the other.
pub fn repair_words(words: &'static [(&'static str, &'static str)]) -> Mutation {
    repair_lines(|line| words.iter().fold(line.to_owned(), |line, (old, new)| line.replace(old, new)))
}

/// A reader to whom the lines of a trace are others.
pub fn on_trace_line(edit: impl Edit) -> Mutation {
    on_shape(Shape::Trace, move |_, text| lines(text, &mut |line| edit(Json::parse(line).ok()?)))
}

/// A reader to whom the lines of a trace are others, by their number among those of their `type`.
pub fn on_typed_line(
    edit: impl Fn(&str, usize, Json<'_>) -> Option<String> + Send + Sync + 'static,
) -> Mutation {
    on_shape(Shape::Trace, move |_, text| {
        let mut seen: Vec<String> = Vec::new();
        lines(text, &mut |line| {
            let value = Json::parse(line).ok()?;
            let kind = value.member("type").and_then(content).unwrap_or_default();
            let before = seen.iter().filter(|before| **before == kind).count();
            seen.push(kind.clone());
            edit(&kind, before, value)
        })
    })
}

/// A reader to whom the first line of a trace is another.
pub fn on_first_line(edit: impl Edit) -> Mutation {
    on_shape(Shape::Trace, move |_, text| {
        let mut first = true;
        lines(text, &mut |line| {
            std::mem::take(&mut first).then(|| Json::parse(line).ok()).flatten().and_then(&edit)
        })
    })
}

/// A reader to whom the items of a list are others; an empty text takes one away.
pub fn on_item(edit: impl Edit) -> Mutation {
    on_shape(Shape::List, move |_, text| {
        let edit = &mut |item: Json<'_>| edit(item);
        in_text(text, &["*"], edit).or_else(|| in_text(text, &["events", "*"], edit))
    })
}

/// A reader to whom the items of an export, which hold a `message`, are others.
pub fn on_exported(edit: impl Edit) -> Mutation {
    on_item(move |item: Json<'_>| exported(item).and_then(|_| edit(item)))
}

/// The message of an item of an export.
pub fn exported(item: Json<'_>) -> Option<Json<'_>> {
    item.member("message").filter(|_| item.member("jsonrpc").is_none())
}

/// A reader to whom the whole document of such a shape is another.
pub fn on_document(shape: Shape, edit: impl Edit) -> Mutation {
    on_shape(shape, move |_, text| edit(Json::parse(text).ok()?))
}

/// A reader that takes such documents for an empty session.
pub fn empty_if(shape: Shape, test: impl Test) -> Mutation {
    on_shape(shape, move |format, text| test(Json::parse(text).ok()?).then(|| empty(format))?)
}

/// A reader to whom the entries of an envelope are others; an empty text takes one away.
pub fn on_entry(edit: impl Edit) -> Mutation {
    on_shape(Shape::Envelope, move |_, text| in_text(text, &["entries", "*"], &mut |entry| edit(entry)))
}

/// A reader that passes over such entries of an envelope.
pub fn skip_entries(test: impl Test) -> Mutation {
    on_entry(json::drop_if(test))
}

/// A reader that takes such requests and responses of an envelope for null.
pub fn null_slots(test: impl Test) -> Mutation {
    on_entry(move |entry: Json<'_>| {
        let slot = ["request", "response"].into_iter().find(|slot| entry.member(slot).is_some_and(&test))?;
        Some(set(entry, slot, "null"))
    })
}

/// A reader that takes an envelope whose `transport` passes a test for one with the right label. The test is given
/// the label, if it is there, and the format's name.
pub fn accept_label(takes: impl Fn(Option<Json<'_>>, &str) -> bool + Send + Sync + 'static) -> Mutation {
    on_shape(Shape::Envelope, move |format, text| {
        let whole = Json::parse(text).ok().filter(|whole| json::is_object(*whole))?;
        let label = whole.member("transport");
        let right = label.and_then(content).is_some_and(|label| label == format.name);
        (!right && takes(label, format.name)).then(|| set(whole, "transport", &quoted(format.name)))
    })
}

/// A reader to whom the `data` of events that may carry messages is another.
pub fn on_data(edit: impl Edit) -> Mutation {
    on_entry(move |entry: Json<'_>| {
        let name = entry.member("sse")?.member("event").and_then(content).unwrap_or_default();
        matches!(&*name, "" | "message").then(|| at(entry, &["sse", "data"], &mut |value| edit(value)))?
    })
}

/// A reader that takes events of such names for events named `message`.
pub fn message_names(takes: impl Fn(&str) -> bool + Copy + Send + Sync + 'static) -> Mutation {
    on_text(move |format, text| match Shape::of(format) {
        Shape::Envelope => in_text(text, &["entries", "*", "sse", "event"], &mut |name| {
            takes(&content(name)?).then(|| quoted("message"))
        }),
        _ => streams(format, text, &|stream| {
            lines(stream, &mut |line| {
                let name = line.strip_prefix("event:")?;
                takes(name.strip_prefix(' ').unwrap_or(name)).then(|| "event: message".to_owned())
            })
        }),
    })
}

/// A reader to whom the exchanges of an archive are others.
pub fn on_exchange(edit: impl Edit) -> Mutation {
    on_shape(Shape::Archive, move |_, text| in_text(text, &EXCHANGES, &mut |entry| edit(entry)))
}

/// A reader to whom the value at this path of an exchange is another; the edit is given the exchange.
pub fn on_exchange_at(path: &'static [&'static str], edit: impl Edit) -> Mutation {
    on_exchange(move |entry: Json<'_>| {
        let new = edit(entry)?;
        at(entry, path, &mut |_| Some(new.clone()))
    })
}

/// A reader that does not look at the answers of such exchanges.
pub fn skip_answers(test: impl Test) -> Mutation {
    on_exchange_at(&["response", "content"], json::put_if(test, "{}"))
}

/// A reader that puts exchanges in another order, which their starts then do not change.
pub fn order_exchanges(order: impl Fn(&mut Vec<String>) + Send + Sync + 'static) -> Mutation {
    on_shape(Shape::Archive, move |_, text| {
        in_text(text, &EXCHANGES[..2], &mut |list| {
            let mut entries: Vec<String> = list.items().map(|entry| entry.text().to_owned()).collect();
            order(&mut entries);
            let bare = |entry: &String| {
                Json::parse(entry).map(|entry| set(entry, "startedDateTime", "")).unwrap_or_default()
            };
            let entries: Vec<String> = entries.iter().map(bare).collect();
            json::is_array(list).then(|| format!("[{}]", entries.join(",")))
        })
    })
}

/// A reader to whom the bodies of an archive that are JSON are others.
pub fn on_body(edit: impl Edit) -> Mutation {
    on_shape(Shape::Archive, move |_, text| {
        in_text(text, &EXCHANGES, &mut |entry| {
            at_each(entry, &BODIES, &mut |body| {
                edit(Json::parse(&content(body)?).ok()?).map(|new| quoted(&new))
            })
        })
    })
}

/// A reader to whom the event streams of an archive are others.
pub fn on_stream(edit: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Mutation {
    on_text(move |format, text| streams(format, text, &edit))
}

/// A reader to whom the lines of event streams are others; they end as they did.
pub fn on_stream_line(edit: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Mutation {
    on_stream(move |stream| lines(stream, &mut |line| edit(line)))
}

/// A reader to whom the events of streams are others, each as its lines with their LFs; streams with CRs stay.
pub fn on_event(edit: impl Fn(&[&str]) -> String + Send + Sync + 'static) -> Mutation {
    on_stream(move |stream| {
        let events = stream.split_inclusive("\n\n");
        let new: String =
            events.map(|event| edit(&event.split_inclusive('\n').collect::<Vec<_>>())).collect();
        (!stream.contains('\r') && new != stream).then_some(new)
    })
}

/// A text with the value at the end of a path edited.
pub fn in_text(
    text: &str,
    path: &[&str],
    edit: &mut dyn FnMut(Json<'_>) -> Option<String>,
) -> Option<String> {
    at(Json::parse(text).ok()?, path, edit)
}

/// An empty session of a document format.
#[must_use]
pub fn empty(format: &Format) -> Option<String> {
    match Shape::of(format) {
        Shape::List => Some("[]".to_owned()),
        Shape::Archive => Some(r#"{"log":{"entries":[]}}"#.to_owned()),
        Shape::Envelope => Some(format!(r#"{{"transport":"{}","entries":[]}}"#, format.name)),
        _ => None,
    }
}

/// Every event stream of an archive, edited as text.
pub fn streams(format: &Format, text: &str, edit: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    if Shape::of(format) != Shape::Archive {
        return None;
    }
    in_text(text, &["log", "entries", "*", "response", "content"], &mut |body| {
        let stream = content(body.member("mimeType")?)?.contains("event-stream");
        let plain = body.member("encoding").is_none_or(json::is_null);
        (stream && plain)
            .then(|| at(body, &["text"], &mut |text| edit(&content(text)?).map(|new| quoted(&new))))?
    })
}

/// Every message of a transcript, edited in its place, as far as a careless importer would look.
pub fn messages(format: &Format, text: &str, edit: &dyn Fn(Json<'_>) -> Option<String>) -> Option<String> {
    let mut edit = |value: Json<'_>| if value.kind() == JsonKind::Object { edit(value) } else { None };
    match Shape::of(format) {
        Shape::Lines => lines(text, &mut |line| edit(Json::parse(line).ok()?)),
        Shape::Trace => lines(text, &mut |line| {
            in_text(line, &["raw"], &mut edit).map(|new| match Json::parse(&new) {
                // A line whose message is gone is gone.
                Ok(line) if line.member("raw").is_none() => String::new(),
                _ => new,
            })
        }),
        Shape::List => {
            let item = &mut |item: Json<'_>| match exported(item) {
                Some(_) => at_each(item, &[&["message"], &["response"]], &mut edit),
                None => edit(item),
            };
            in_text(text, &["*"], item).or_else(|| in_text(text, &["events", "*"], item))
        }
        Shape::Archive => in_text(text, &EXCHANGES, &mut |entry| {
            at_each(entry, &BODIES, &mut |body| {
                let inside = content(body)?;
                let new = match Json::parse(&inside) {
                    Ok(value) => edit(value)?,
                    Err(_) => lines(&inside, &mut |line| {
                        let new = edit(Json::parse(line.strip_prefix("data:")?).ok()?)?;
                        Some(if new.is_empty() { "data:".to_owned() } else { format!("data: {new}") })
                    })?,
                };
                Some(quoted(&new))
            })
        }),
        Shape::Envelope | Shape::Other => {
            in_text(text, &["entries", "*"], &mut |entry| {
                let new = at_each(entry, &[&["request"], &["response"], &["sse", "data"]], &mut |value| {
                    match content(value) {
                        Some(inside) => edit(Json::parse(&inside).ok()?).map(|new| quoted(&new)),
                        None => edit(value),
                    }
                })?;
                // An entry whose message is gone is gone.
                let left = json::has_any(Json::parse(&new).ok()?, &SLOTS);
                Some(if left { new } else { String::new() })
            })
        }
    }
}
