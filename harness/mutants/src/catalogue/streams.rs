//! Mistakes about the bytes of an event stream, as a HAR holds them.

use crate::json::{drop_member, put_if, set_if, text_at, text_member, value_at};
use crate::on_text::{Shape, in_text, on_event, on_exchange_at, on_shape, on_stream, on_stream_line};

const LINE_ENDS: [char; 5] = ['\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'];

mutants! {
    "streams/first-data-line" ["HAR-STREAM"] "reads the first data line of an event" => on_event(|lines| first_only(lines, "data"));
    "streams/each-line-a-message" ["HAR-STREAM"] "reads each data line by itself"
        => on_event(|lines| {
            let each = lines.iter().map(|line| if line.starts_with("data") { format!("{line}\n") } else { (*line).into() });
            each.collect()
        });
    "streams/lines-joined-with-nothing" ["HAR-STREAM"] "joins data lines without a line end between them"
        => on_stream(|stream| {
            let new = stream.replace("\r\ndata: ", "").replace("\ndata: ", "\u{0}");
            // Only lines that follow a data line are joined to it.
            let mut out = String::new();
            for (index, part) in new.split('\u{0}').enumerate() {
                let data = out.rsplit('\n').next().is_some_and(|line| line.starts_with("data"));
                out.push_str(if index == 0 || data { "" } else { "\ndata: " });
                out.push_str(part);
            }
            (out != stream).then_some(out)
        });
    // A line of CR is not an empty line, so the events run together.
    "streams/lf-only" ["HAR-STREAM"] "ends a line only at LF and keeps the CR" => replaced("\r\n\r\n", "\r\n:\r\n");
    "streams/no-lone-cr" ["HAR-STREAM"] "does not end a line at a lone CR"
        => on_stream(|stream| {
            let plain = stream.replace("\r\n", "\n");
            plain.contains('\r').then(|| plain.replace('\r', " "))
        });
    "streams/crlf-is-two" ["HAR-STREAM"] "takes CRLF for two line ends" => replaced("\r\n", "\n\n");
    "streams/unicode-ends-lines" ["HAR-STREAM"] "takes U+2028 and the like for line ends"
        => on_stream(|stream| stream.contains(LINE_ENDS).then(|| stream.replace(LINE_ENDS, "\n")));
    "streams/unfinished-read" ["HAR-STREAM"] "reads a last event that no empty line ends"
        => on_stream(|stream| {
            let done = ["\n\n", "\r\r", "\r\n\r\n"].iter().any(|end| stream.ends_with(end));
            (!done && !stream.is_empty()).then(|| format!("{stream}\n\n"))
        });
    "streams/last-event-lost" ["HAR-STREAM"] "loses the last event where a CR ends it"
        => on_stream(|stream| stream.ends_with("\r\r").then(|| stream[..stream.len() - 1].to_owned()));
    "streams/comments-are-data" ["HAR-STREAM"] "reads a comment as data"
        => on_stream_line(|line| line.strip_prefix(':').map(|comment| format!("data:{comment}")));
    "streams/comments-end-events" ["HAR-STREAM" "SSE-KEEPALIVE"] "ends an event at a comment"
        => on_stream_line(|line| line.starts_with(':').then(|| "\n".to_owned()));
    "streams/space-wanted" ["HAR-STREAM"] "wants a space behind `data:`"
        => on_stream_line(|line| line.strip_prefix("data:").filter(|rest| !rest.starts_with(' ')).map(|_| "x:".into()));
    "streams/all-spaces-dropped" ["HAR-STREAM"] "drops every space behind the colon of a field"
        => on_stream_line(|line| {
            let (name, rest) = line.split_once(':').filter(|(name, _)| matches!(*name, "event" | "data"))?;
            let trimmed = rest.trim_start();
            (rest.len() > trimmed.len() + 1 || rest.starts_with('\t')).then(|| format!("{name}:{trimmed}"))
        });
    "streams/fields-trimmed" ["HAR-STREAM"] "trims the names of fields"
        => on_stream_line(|line| {
            let (name, rest) = line.split_once(':')?;
            (name.trim() != name && !name.is_empty()).then(|| format!("{}:{rest}", name.trim()))
        });
    "streams/bare-fields-lost" ["HAR-STREAM"] "does not know a field without a colon"
        => on_stream_line(|line| matches!(line, "data" | "event").then(|| ":".to_owned()));
    "streams/name-lasts" ["HAR-STREAM" "SSE-EVENT"] "applies an event's name to the events after it"
        => on_stream(|stream| {
            let mut name: Option<String> = None;
            let mut out = String::new();
            for event in stream.split_inclusive("\n\n") {
                let own = event.lines().filter_map(|line| line.strip_prefix("event:")).next_back();
                if let (None, Some(name)) = (own, &name) {
                    out.push_str(&format!("event: {name}\n"));
                }
                name = own.map(|own| own.trim().to_owned()).or(name);
                out.push_str(event);
            }
            (out != stream).then_some(out)
        });
    "streams/first-name-wins" ["HAR-STREAM" "SSE-EVENT"] "takes the first of two names of an event"
        => on_event(|lines| first_only(lines, "event"));
    "streams/name-before-data" ["HAR-STREAM" "SSE-EVENT"] "does not see a name that follows the data"
        => on_event(|lines| {
            let data = lines.iter().position(|line| line.starts_with("data")).unwrap_or(lines.len());
            let seen = |(at, line): &(usize, &&str)| *at < data || !line.starts_with("event");
            lines.iter().enumerate().filter(seen).map(|(_, line)| *line).collect()
        });
    "streams/mark-kept" ["HAR-STREAM"] "takes a byte order mark for part of the first field"
        => on_stream(|stream| stream.strip_prefix('\u{feff}').map(|rest| format!(" {rest}")));
    "streams/marks-dropped" ["HAR-STREAM"] "drops byte order marks wherever they are"
        => on_stream(|stream| {
            let rest = stream.strip_prefix('\u{feff}').unwrap_or(stream);
            rest.contains('\u{feff}').then(|| rest.replace('\u{feff}', ""))
        });
    "streams/base64-kept" ["HAR-STREAM"] "reads a body in base64 as text"
        => on_shape(Shape::Archive, |_, text| {
            in_text(text, &["log", "entries", "*", "response", "content"], &mut |it| drop_member("encoding")(it))
        });
    "streams/exact-media-type" ["HAR-STREAM"] "wants `text/event-stream` without parameters"
        => on_shape(Shape::Archive, |_, text| {
            let stream = text_member("value", |value| value.to_lowercase().starts_with("text/event-stream;"));
            let named = text_member("name", |name| name.eq_ignore_ascii_case("content-type"));
            let plain = set_if(move |header| named(header) && stream(header), "value", "\"text/plain\"");
            in_text(text, &["log", "entries", "*", "response", "headers", "*"], &mut |header| plain(header))
        });
    "streams/posts-only" ["HAR-STREAM"] "reads no stream that answers a GET"
        => on_exchange_at(&["response", "content", "text"], put_if(|entry| {
            let get = text_at(entry, &["request", "method"]).is_some_and(|it| it.eq_ignore_ascii_case("GET"));
            get && value_at(entry, &["response", "content", "text"]).is_some_and(|it| it.text() != "\"\"")
        }, "\":\\n\""));
    "streams/first-event-only" ["HAR-STREAM" "EQ-COUNT"] "reads the first event of a stream that has data"
        => on_stream(|stream| {
            let events: Vec<&str> = stream.split_inclusive("\n\n").collect();
            let first = events.iter().position(|event| event.contains("data: {"))?;
            let out = events[..=first].concat();
            (out.len() < stream.len()).then_some(out)
        });
}

/// The lines of an event with only the first of those that begin like this.
fn first_only(lines: &[&str], field: &str) -> String {
    let mut seen = 0;
    let kept = lines.iter().filter(|line| {
        seen += usize::from(line.starts_with(field));
        !line.starts_with(field) || seen < 2
    });
    kept.copied().collect()
}

fn replaced(old: &'static str, new: &'static str) -> crate::Mutation {
    on_stream(move |stream| stream.contains(old).then(|| stream.replace(old, new)))
}
