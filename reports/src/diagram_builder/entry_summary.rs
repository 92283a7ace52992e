//! What a picture keeps of an entry: words of bounded length, by copies of its own.
//!
//! How each kind of entry is said in a few words.

use super::whole_entry::source;
use crate::diagram::{MessageKind, Severity, Source};
use formats::{Step, usual_sender};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashSet, VecDeque};
use std::hash::{Hash as _, Hasher as _};
use transcript::json::{Json, JsonString};
use transcript::meaning::{Event, EventKind};
use transcript::session::{Carrier, Content, Entry, Exchange, Side, Sse};

/// So much of a value is kept, in bytes.
const LONGEST: usize = 400;
/// So much of a name, an id or a URL is kept, in characters.
const NAME: usize = 120;
/// So many SSE events are remembered.
const MOST_SEEN: usize = 10_000;

/// Something that a recording holds.
#[derive(Debug)]
pub struct EntrySummary {
    /// Which recording, from 0.
    pub file: usize,
    /// Where its entry begins, in bytes.
    pub(super) offset: u64,
    /// When, in milliseconds.
    pub(super) time: Option<i64>,
    /// The HTTP exchange that it belongs to.
    pub(super) exchange: Option<u64>,
    pub(super) what: What,
    /// What it holds, where that is kept.
    pub(super) source: Option<Box<Source>>,
}

#[derive(Debug)]
pub(super) enum What {
    Message(Box<Message>),
    /// An HTTP exchange begins.
    Exchange(String, Severity),
    Note(String, Severity),
    /// A body that cannot be read.
    Dropped(String),
    /// A trace begins.
    Opened {
        label: String,
        command: String,
    },
    /// Nothing to see, unless something was found there, or everything is shown: what it is.
    Silent(&'static str),
}

#[derive(Debug)]
pub(super) struct Message {
    /// The index of its event in its own recording.
    pub(super) index: u64,
    pub(super) kind: MessageKind,
    pub(super) id: Option<String>,
    pub(super) name: String,
    pub(super) detail: String,
    pub(super) side: Option<Side>,
    /// Who sent it, where nothing else tells.
    pub(super) guess: Side,
    pub(super) answers: Option<u64>,
    pub(super) via: String,
    /// It was delivered before.
    pub(super) again: bool,
}

/// Takes down the pieces of one recording.
#[derive(Debug)]
pub struct EntrySummarizer {
    file: usize,
    seen: HashSet<u64>,
    order: VecDeque<u64>,
    /// What entries hold is kept too: so many bytes of each text.
    whole: Option<usize>,
}

impl EntrySummarizer {
    /// For the recording of this number.
    #[must_use]
    pub fn new(file: usize) -> Self {
        Self { file, seen: HashSet::new(), order: VecDeque::new(), whole: None }
    }

    /// The same, which also keeps what entries hold: each text up to so many bytes.
    #[must_use]
    pub fn whole(file: usize, bound: usize) -> Self {
        Self { whole: Some(bound), ..Self::new(file) }
    }

    /// What a picture keeps of a step.
    pub fn take(&mut self, step: &Step<'_, '_>) -> EntrySummary {
        let (entry, event, what) = match step {
            Step::Event(entry, event) => {
                (*entry, Some(*event), What::Message(Box::new(self.message(entry, event))))
            }
            Step::Context(entry) => (*entry, None, context(entry)),
        };
        let source = self.whole.map(|bound| Box::new(source(self.file, entry, event, bound)));
        let Entry { location, time, exchange, .. } = entry;
        EntrySummary {
            file: self.file,
            offset: location.offset,
            time: *time,
            exchange: *exchange,
            what,
            source,
        }
    }

    fn message(&mut self, entry: &Entry<'_>, event: &Event<'_>) -> Message {
        let message = &event.message;
        let (kind, guess) = match event.kind {
            EventKind::ToolCall => (MessageKind::ToolCall, Side::Client),
            EventKind::Request => (MessageKind::Request, usual_sender(message)),
            EventKind::Notification => (MessageKind::Notification, usual_sender(message)),
            EventKind::Result => (MessageKind::Result, Side::Server),
            EventKind::Error => (MessageKind::Error, Side::Server),
        };
        let name = match event.kind {
            EventKind::ToolCall => message.name().map(word),
            _ => message.method().map(text),
        };
        let value = match event.kind {
            EventKind::ToolCall => message.arguments(),
            EventKind::Request | EventKind::Notification => message.params(),
            EventKind::Result | EventKind::Error => message.outcome(),
        };
        let id = entry.sse.as_ref().and_then(|sse| sse.id.as_deref()).filter(|id| !id.is_empty());
        let via = match (entry.carrier, id) {
            (Carrier::Sse, Some(id)) => format!("SSE id {}", start(id, NAME)),
            (Carrier::Sse, None) => "SSE".to_owned(),
            _ => String::new(),
        };
        Message {
            index: event.index,
            kind,
            id: event.id.as_ref().map(|id| start(&String::from_utf8_lossy(prefix(id)), NAME)),
            name: name.unwrap_or_default(),
            detail: value.map(value_of).unwrap_or_default(),
            side: entry.side,
            guess,
            answers: event.answers,
            via,
            again: id.is_some_and(|id| self.delivered_before(id, message.text())),
        }
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

fn context(entry: &Entry<'_>) -> What {
    let status = entry.context.and_then(|context| context.status);
    match &entry.content {
        Content::Exchange(exchange) => exchange_of(entry, exchange),
        Content::Event => What::Note(entry.sse.as_ref().map(event).unwrap_or_default(), Severity::Note),
        Content::Empty => {
            let what = match entry.carrier {
                Carrier::Request => "a request without a message",
                _ => "an answer without a message",
            };
            let refused = status.is_some_and(|status| status >= 400);
            let status = status.map(|status| format!(", status {status}")).unwrap_or_default();
            What::Note(format!("{what}{status}"), if refused { Severity::Warning } else { Severity::Note })
        }
        Content::TraceStart(line) => {
            let command = line.member("command").map(|command| match command.items().next() {
                Some(_) => command.items().take(20).map(word).collect::<Vec<_>>().join(" "),
                None => word(command),
            });
            let command = start(&command.unwrap_or_default(), 2 * NAME);
            What::Opened { label: line.member("label").map(word).unwrap_or_default(), command }
        }
        Content::TraceEnd(line) => {
            let code = line.member("exitCode").filter(|code| code.as_number().is_some()).map(word);
            let reason = line.member("reason").and_then(|reason| reason.as_text()).map(text);
            let how = match (code, reason) {
                (Some(code), _) => format!("the server ended, exit code {code}"),
                (None, Some(reason)) => format!("the trace ends: {reason}"),
                (None, None) => "the trace ends".to_owned(),
            };
            What::Note(how, Severity::Note)
        }
        Content::Skipped(what) => What::Note(format!("passed over: {}", start(what, NAME)), Severity::Note),
        Content::Noise(noise) => {
            What::Note(format!("passed over: {}", start(&noise.why.message, NAME)), Severity::Warning)
        }
        Content::Missing(body) => What::Dropped(body.to_string()),
        Content::MadeUp(what) => {
            What::Note(format!("made up when it was converted: the {what}"), Severity::Note)
        }
        Content::ExchangeEnd => What::Silent("the exchange ends"),
        Content::WrongType(_) => What::Silent("a member of the wrong type"),
        Content::Message(_) | Content::Envelope => What::Silent("the transport's context"),
    }
}

fn exchange_of(entry: &Entry<'_>, exchange: &Exchange<'_>) -> What {
    let mut text = format!("{} {}", start(&exchange.method, 20), start(&exchange.url, NAME));
    let severity = match exchange.status {
        Some(status) => {
            text.push_str(&format!(" → {status} {}", start(&exchange.media_type, 60)));
            if status >= 400 { Severity::Warning } else { Severity::Note }
        }
        None => {
            text.push_str(" → no answer");
            Severity::Warning
        }
    };
    let mut text = text.trim_end().to_owned();
    if let Some(took) = entry.time.zip(exchange.ended).map(|(from, to)| to.saturating_sub(from)) {
        text.push_str(&format!(", {took} ms"));
    }
    What::Exchange(text, severity)
}

/// An SSE event that carries no message.
fn event(sse: &Sse<'_>) -> String {
    let id = sse.id.as_deref().filter(|id| !id.is_empty());
    let id = id.map(|id| format!(" id {}", start(id, NAME))).unwrap_or_default();
    let name = sse.name.as_deref().filter(|name| !matches!(*name, "" | "message"));
    let data = sse.data.as_deref().filter(|data| !data.is_empty()).map(|data| start(data, NAME));
    match (name, data.as_deref()) {
        (None, None) if id.is_empty() && sse.comments > 0 => "SSE comment".to_owned(),
        (None, None) if id.is_empty() => "SSE event without data".to_owned(),
        (None, None | Some("{}")) => format!("SSE priming event{id}"),
        (name, data) => {
            let name = name.map(|name| format!(" {}", start(name, NAME))).unwrap_or_default();
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
        0..LONGEST => start(&String::from_utf8_lossy(&text.decode()), NAME),
        // A megabyte is not decoded for its beginning; an escape that is cut in half stays as it is spelled.
        _ => format!("{}…", start(text.raw(), NAME).trim_end_matches('…')),
    }
}

/// The beginning of a text.
fn start(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn prefix(bytes: &[u8]) -> &[u8] {
    bytes.get(..4 * (NAME + 1)).unwrap_or(bytes)
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
