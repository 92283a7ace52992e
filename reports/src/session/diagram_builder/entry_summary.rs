//! What a picture keeps of an entry, by copies of its own: how each kind is said in a few words of bounded length. For a page the
//! entry is kept whole too: its text as it was recorded, its headers, and what else the recording says of it.
//!
//! Memory: each text up to the bound that the caller names; each header and fact up to [`VALUE`] bytes, and [`MOST_HEADERS`] headers.
//! What is left out is counted where it is left out.

use crate::session::diagram::line_text::beginning;
use crate::session::diagram::model::{Arrow, Note, Row, RowContent, Severity};
use crate::session::diagram::source::Source;
use formats::{Step, usual_sender};
use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashSet, VecDeque};
use std::hash::{Hash as _, Hasher as _};
use transcript::json::{Json, JsonKind, JsonString};
use transcript::meaning::{Event, EventKind};
use transcript::session::{Carrier, Content, Entry, Exchange, Headers, Side, Sse};

/// How many bytes of a value are kept.
const LONGEST: usize = 400;
/// How many characters of a name, an id or a URL are kept.
const NAME: usize = 120;
/// How many SSE events are remembered.
const MOST_SEEN: usize = 10_000;

/// Something that a recording holds.
#[derive(Debug)]
pub(crate) struct EntrySummary {
    /// Which recording, from 0.
    pub(crate) file: usize,
    /// Where its entry begins, in bytes.
    pub(super) offset: u64,
    /// The HTTP exchange that it belongs to.
    pub(super) exchange: Option<u64>,
    pub(super) kind: EntryKind,
    /// Its row, as far as the entry shows it: numbers and participants are of the whole picture, and times are absolute.
    pub(super) row: Row,
}

/// EntryKind it is.
#[derive(Debug)]
pub(super) enum EntryKind {
    Message {
        /// The index of its event in its own recording.
        index: u64,
        side: Option<Side>,
        /// Who sent it, where nothing else shows the sender.
        guess: Side,
        /// It was delivered before.
        again: bool,
    },
    /// An HTTP exchange begins.
    Exchange,
    /// Something else that is shown.
    Note,
    /// A body that cannot be read.
    Dropped,
    /// A trace begins, of a server with this label; its command is the text of the note.
    Opened(String),
    /// Nothing to see, unless something was found there, or everything is shown.
    Silent,
}

/// Takes down the pieces of one recording.
#[derive(Debug, Default)]
pub(crate) struct EntrySummarizer {
    file: usize,
    seen: HashSet<u64>,
    order: VecDeque<u64>,
    /// How many bytes of each text of what entries hold are kept too.
    whole: Option<usize>,
}

impl EntrySummarizer {
    /// For the recording of this number. Where there is a bound, what entries hold is kept too: each text up to that many bytes.
    pub(crate) fn new(file: usize, whole: Option<usize>) -> Self {
        Self { file, whole, ..Self::default() }
    }

    /// EntryKind a picture keeps of a step.
    pub(crate) fn take(&mut self, step: &Step<'_, '_>) -> EntrySummary {
        let (entry, event, (kind, content)) = match step {
            Step::Event(entry, event) => (*entry, Some(*event), self.message(entry, event)),
            Step::Context(entry) => {
                let (kind, severity, text) = context(entry);
                (*entry, None, (kind, RowContent::Note(Note { text, severity, opens: None })))
            }
        };
        let source = self.whole.map(|bound| Box::new(source(self.file, entry, event, bound)));
        let row = Row { time: entry.time, source, ..content.into() };
        EntrySummary { file: self.file, offset: entry.location.offset, exchange: entry.exchange, kind, row }
    }

    fn message(&mut self, entry: &Entry<'_>, event: &Event<'_>) -> (EntryKind, RowContent) {
        let message = &event.message;
        let guess = match event.kind {
            EventKind::ToolCall => Side::Client,
            EventKind::Request | EventKind::Notification => usual_sender(message),
            EventKind::Result | EventKind::Error => Side::Server,
        };
        let (name, value) = match event.kind {
            EventKind::ToolCall => (message.name().map(word), message.arguments()),
            EventKind::Request | EventKind::Notification => (message.method().map(text), message.params()),
            EventKind::Result | EventKind::Error => (message.method().map(text), message.outcome()),
        };
        let sse = entry.sse.as_ref().and_then(|sse| sse.id.as_deref()).filter(|id| !id.is_empty());
        let via = match (entry.carrier, sse) {
            (Carrier::Sse, Some(id)) => format!("SSE id {}", beginning(id, NAME)),
            (Carrier::Sse, None) => "SSE".to_owned(),
            _ => String::new(),
        };
        let id = event.id.as_ref().map(|id| &id[..id.len().min(4 * (NAME + 1))]);
        let arrow = Arrow {
            id: id.map(|id| beginning(&String::from_utf8_lossy(id), NAME)),
            name: name.unwrap_or_default(),
            detail: value.map(value_of).unwrap_or_default(),
            answers: event.answers,
            via,
            ..Arrow::new(0, 0, 0, event.kind)
        };
        let again = sse.is_some_and(|id| self.delivered_before(id, message.text()));
        let kind = EntryKind::Message { index: event.index, side: entry.side, guess, again };
        (kind, RowContent::Arrow(Box::new(arrow)))
    }

    fn delivered_before(&mut self, id: &str, message: &str) -> bool {
        let mut hasher = DefaultHasher::new();
        (id, message).hash(&mut hasher);
        let print = hasher.finish();
        if !self.seen.insert(print) {
            return true;
        }
        self.order.push_back(print);
        if self.order.len() > MOST_SEEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.seen.remove(&oldest);
        }
        false
    }
}

/// EntryKind an entry without a message is, how much that weighs, and what it says.
fn context(entry: &Entry<'_>) -> (EntryKind, Severity, String) {
    let note = |text: String| (EntryKind::Note, Severity::Note, text);
    let silent = |text: &str| (EntryKind::Silent, Severity::Note, text.to_owned());
    match &entry.content {
        Content::Exchange(exchange) => {
            let (text, severity) = exchange_of(entry, exchange);
            (EntryKind::Exchange, severity, text)
        }
        Content::Event => note(entry.sse.as_ref().map(event).unwrap_or_default()),
        Content::Empty => {
            let what = match entry.carrier {
                Carrier::Request => "a request without a message",
                _ => "an answer without a message",
            };
            let status = entry.context.and_then(|context| context.status);
            let severity = weight(status.is_some_and(|status| status >= 400));
            let status = status.map(|status| format!(", status {status}")).unwrap_or_default();
            (EntryKind::Note, severity, format!("{what}{status}"))
        }
        Content::TraceStart(line) => {
            let command = line.member("command").map(|command| match command.items().next() {
                Some(_) => command.items().take(20).map(word).collect::<Vec<_>>().join(" "),
                None => word(command),
            });
            let label = line.member("label").map(word).unwrap_or_default();
            (EntryKind::Opened(label), Severity::Note, beginning(&command.unwrap_or_default(), 2 * NAME))
        }
        Content::TraceEnd(line) => {
            let code = line.member("exitCode").filter(|code| code.as_number().is_some()).map(word);
            let reason = line.member("reason").and_then(|reason| reason.as_text()).map(text);
            note(match (code, reason) {
                (Some(code), _) => format!("the server ended, exit code {code}"),
                (None, Some(reason)) => format!("the trace ends: {reason}"),
                (None, None) => "the trace ends".to_owned(),
            })
        }
        Content::Started => note("the client starts the server".to_owned()),
        Content::Ended(end) => note(end.to_string()),
        Content::Skipped(what) => note(format!("skipped: {}", beginning(what, NAME))),
        Content::Noise(noise) => {
            (EntryKind::Note, Severity::Warning, format!("skipped: {}", beginning(&noise.why.message, NAME)))
        }
        Content::Missing(body) => (EntryKind::Dropped, Severity::Warning, body.to_string()),
        Content::MadeUp(what) => note(format!("a conversion made this up: the {what}")),
        Content::ExchangeEnd => silent("the exchange ends"),
        Content::WrongType(_) => silent("a member of the wrong type"),
        Content::Mark => silent("a byte order mark"),
        Content::Message(_) | Content::Envelope => silent("the transport's context"),
    }
}

fn weight(odd: bool) -> Severity {
    if odd { Severity::Warning } else { Severity::Note }
}

fn exchange_of(entry: &Entry<'_>, exchange: &Exchange<'_>) -> (String, Severity) {
    let answer = match exchange.status {
        Some(status) => format!("{status} {}", beginning(&exchange.media_type, 60)),
        None => "no answer".to_owned(),
    };
    let text = format!("{} {} → {answer}", beginning(&exchange.method, 20), beginning(&exchange.url, NAME));
    let took = entry.time.zip(exchange.ended).map(|(from, to)| to.saturating_sub(from));
    let took = took.map(|took| format!(", {took} ms")).unwrap_or_default();
    (format!("{}{took}", text.trim_end()), weight(exchange.status.is_none_or(|status| status >= 400)))
}

/// An SSE event that carries no message.
fn event(sse: &Sse<'_>) -> String {
    let id = sse.id.as_deref().filter(|id| !id.is_empty());
    let id = id.map(|id| format!(" id {}", beginning(id, NAME))).unwrap_or_default();
    let name = sse.name.as_deref().filter(|name| !matches!(*name, "" | "message"));
    let data = sse.data.as_deref().filter(|data| !data.is_empty()).map(|data| beginning(data, NAME));
    match (name, data.as_deref()) {
        (None, None) if id.is_empty() && sse.comments > 0 => "SSE comment".to_owned(),
        (None, None) if id.is_empty() => "SSE event without data".to_owned(),
        (None, None | Some("{}")) => format!("SSE priming event{id}"),
        (name, data) => {
            let name = name.map(|name| format!(" {}", beginning(name, NAME))).unwrap_or_default();
            let data = data.map(|data| format!(": {data}")).unwrap_or_default();
            format!("SSE event{name}{id}{data}")
        }
    }
}

/// A value as a word: what a string says, any other value as it is spelled.
fn word(value: Json<'_>) -> String {
    value.as_text().map_or_else(|| value_of(value), text)
}

fn text(text: JsonString<'_>) -> String {
    match text.raw().len() {
        0..LONGEST => beginning(&String::from_utf8_lossy(&text.decode()), NAME),
        // A megabyte is not decoded for its beginning; an escape that is cut in half stays as it is spelled.
        _ => format!("{}…", beginning(text.raw(), NAME).trim_end_matches('…')),
    }
}

/// The beginning of a value on one line, without the white space between its parts.
fn value_of(value: Json<'_>) -> String {
    let mut out = String::new();
    let (mut quoted, mut escaped) = (false, false);
    for (at, char) in value.text().char_indices() {
        if out.len() >= LONGEST || at >= 10 * LONGEST {
            out.push('…');
            break;
        }
        if !quoted && matches!(char, ' ' | '\t' | '\r' | '\n') {
            continue;
        }
        if char == '"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && char == '\\' && !escaped;
        out.push(char);
    }
    out
}

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
