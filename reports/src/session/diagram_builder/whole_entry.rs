//! What an entry holds, kept whole: its text as it was recorded, its headers, and what else the recording says of it.
//!
//! Memory: each text up to the bound that the caller names; each header and fact up to [`VALUE`] bytes, and [`MOST_HEADERS`]
//! headers. What is left out is counted where it is left out.

use crate::session::diagram::source::Source;
use std::borrow::Cow;
use transcript::json::JsonKind;
use transcript::meaning::{Event, EventKind};
use transcript::session::{Carrier, Content, Entry, Exchange, Headers, Sse};

/// How many bytes of a header or a fact are kept.
const VALUE: usize = 8 << 10;
/// How many headers of one request or answer are kept.
const MOST_HEADERS: usize = 200;

/// What an entry holds; `event` where it is a message. A text is kept up to `bound` bytes.
pub(super) fn source(file: usize, entry: &Entry<'_>, event: Option<&Event<'_>>, bound: usize) -> Source {
    let mut source = Source {
        file,
        offset: entry.location.offset,
        line: entry.location.line,
        pointer: entry.location.pointer(),
        time: entry.time,
        inferred: event.is_some() && entry.side.is_none(),
        is_error: event.is_some_and(is_error),
        ..Source::default()
    };
    match entry.carrier {
        Carrier::Line => {}
        Carrier::Request => source.fact("Carried by", Some("the body of an HTTP request")),
        Carrier::Response => source.fact("Carried by", Some("the body of an HTTP answer")),
        Carrier::Sse => source.fact("Carried by", Some("an SSE event")),
    }
    if let Some(sse) = &entry.sse {
        source.sse(sse);
    }
    if let Some(context) = entry.context {
        source.number("HTTP status", context.status);
        source.headers("Headers", &context.headers);
        source.fact("Transport context", Some(context.text.text()));
    }
    let text: Option<Cow<'_, str>> = match &entry.content {
        Content::Message(message) => Some(message.text().into()),
        Content::Exchange(exchange) => {
            source.exchange(exchange, entry.time);
            exchange.document.as_deref().map(Cow::Borrowed)
        }
        Content::Event => entry.sse.as_ref().and_then(|sse| sse.data.as_deref()).map(Cow::Borrowed),
        Content::TraceStart(line) | Content::TraceEnd(line) => Some(line.text().into()),
        Content::Noise(noise) => {
            source.fact("Skipped because", Some(&noise.why.message));
            Some((&*noise.text).into())
        }
        _ => entry.line.map(Cow::Borrowed),
    };
    if let Some(text) = text {
        let kept = &text[..text.floor_char_boundary(bound)];
        source.left_out = (text.len() - kept.len()) as u64;
        source.text = kept.to_owned();
    }
    source
}

impl Source {
    fn fact(&mut self, name: &'static str, value: Option<&str>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.facts.push((name, short(value)));
        }
    }

    fn number<N: ToString>(&mut self, name: &'static str, value: Option<N>) {
        self.fact(name, value.map(|value| value.to_string()).as_deref());
    }

    fn sse(&mut self, sse: &Sse<'_>) {
        self.fact("Event id", sse.id.as_deref());
        self.fact("Event name", sse.name.as_deref());
        self.number("Retry (ms)", sse.retry);
        self.number("Comments before the event", Some(sse.comments).filter(|count| *count > 0));
    }

    fn exchange(&mut self, exchange: &Exchange<'_>, began: Option<i64>) {
        self.fact("Request", Some(&format!("{} {}", exchange.method, exchange.url)));
        self.number("Request body (bytes)", exchange.request_size);
        self.fact("Form", exchange.form.as_deref());
        self.number("HTTP status", exchange.status);
        self.fact("Media type", Some(&exchange.media_type));
        self.number("Response body (bytes)", exchange.response_size);
        let took = began.zip(exchange.ended).map(|(from, to)| to.saturating_sub(from));
        self.number("Duration (ms)", took);
        self.fact("Ended because", exchange.fate.as_deref());
        self.headers("Request headers", &exchange.request_headers);
        self.headers("Response headers", &exchange.response_headers);
    }

    fn headers(&mut self, whose: &'static str, headers: &Headers<'_>) {
        let kept = headers.iter().take(MOST_HEADERS).map(|(name, value)| (short(name), short(value)));
        let mut kept: Vec<_> = kept.collect();
        if headers.len() > MOST_HEADERS {
            kept.push((format!("({} more headers)", headers.len() - MOST_HEADERS), String::new()));
        }
        if !kept.is_empty() {
            self.headers.push((whose, kept));
        }
    }
}

/// Whether a server says that a tool failed.
fn is_error(event: &Event<'_>) -> bool {
    let outcome = (event.kind == EventKind::Result).then(|| event.message.outcome()).flatten();
    let says = outcome.filter(|outcome| outcome.kind() == JsonKind::Object);
    says.and_then(|outcome| outcome.member("isError")).is_some_and(|is| is.text() == "true")
}

/// A value, or its beginning and how much more there is.
fn short(value: &str) -> String {
    let kept = &value[..value.floor_char_boundary(VALUE)];
    match value.len() - kept.len() {
        0 => kept.to_owned(),
        more => format!("{kept}… ({more} more bytes)"),
    }
}

#[cfg(test)]
mod tests {
    use super::{VALUE, short};

    #[test]
    fn what_is_left_out_is_counted() {
        assert_eq!(short("a"), "a");
        assert_eq!(short(&"a".repeat(VALUE + 7)), format!("{}… (7 more bytes)", "a".repeat(VALUE)));
    }
}
