//! A session held in memory, for a writer.
//!
//! Memory: the session.

use crate::transport::Transport;
use transcript::json::Json;
use transcript::k2a::AuthorizationSummary;
use transcript::message::{Message, Shape};
use transcript::session::{
    Carrier, Content, Context, Entry, Exchange, Headers, Location, MissingBody, Side, Sse, owned_headers,
};

/// What a whole reading amounts to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many events.
    pub events: u64,
    /// How many requests were not answered.
    pub unanswered: usize,
    /// How many bodies cannot be read (HAR-MISSING).
    pub missing: u64,
    /// How many of them are there with their content coding; the exporter dropped the others.
    pub coded: u64,
    /// How many pieces of noise were passed over.
    pub noise: u64,
    /// What a stream said amid later exchanges is placed by guess.
    pub guessed: bool,
    /// How many messages stood in SSE events of other names, which carry none (SSE-EVENT).
    pub misnamed: u64,
    /// How many servers HTTP shows sessions of, up to a limit.
    pub servers: usize,
    /// The summary of K2-A.
    pub authorization_discovery: Option<AuthorizationSummary>,
}

impl Totals {
    /// What a person should know of the reading, in sentences without their full stop.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let missing = bodies_missing(self.missing, self.coded);
        notes.extend(missing.map(|said| format!("{said}, so this is not the whole session (HAR-MISSING)")));
        if self.misnamed > 0 {
            let messages = if self.misnamed == 1 { "message is" } else { "messages are" };
            notes.push(format!(
                "{} {messages} in SSE events that are not named `message`, and so are not read (SSE-EVENT)",
                self.misnamed
            ));
        }
        notes.extend(self.several());
        notes
    }

    /// That it holds sessions of several servers, where it does.
    #[must_use]
    pub fn several(&self) -> Option<String> {
        let said = "servers are read as one; `check` and `stats` tell them apart, and the URLs of the exchanges which to keep";
        (self.servers > 1).then(|| format!("sessions of {} {said}", self.servers))
    }
}

/// How many bodies cannot be read, some of which are there with their content coding; none where all can.
pub(crate) fn bodies_missing(missing: u64, coded: u64) -> Option<String> {
    let counted = |count: u64, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("1 body {one}")),
        count => Some(format!("{count} bodies {several}")),
    };
    let dropped =
        counted(missing.saturating_sub(coded), "was dropped by the exporter", "were dropped by the exporter");
    let coded = counted(
        coded,
        "is kept as it was compressed and not read",
        "are kept as they were compressed and not read",
    );
    dropped.into_iter().chain(coded).reduce(|dropped, coded| format!("{dropped}, and {coded}"))
}

/// A whole session, read.
#[derive(Debug, Clone, Default)]
pub struct Session {
    /// Its entries, in order.
    pub entries: Vec<OwnedEntry>,
    /// What the reading amounted to.
    pub totals: Totals,
    /// The transport that the file names as its own.
    pub label: Option<Transport>,
    /// What the recorders of its format write in the place of what they take out.
    pub redacts: &'static [&'static str],
}

/// One entry, by copies of its own.
#[derive(Debug, Clone)]
pub struct OwnedEntry {
    /// Where it was.
    pub location: Location,
    /// See [`Entry::time`].
    pub time: Option<i64>,
    /// Who sent it; inferred where [`OwnedEntry::inferred`] says so.
    pub side: Option<Side>,
    /// The format could not tell the side: it follows from the method, or from the request that is answered.
    pub inferred: bool,
    /// How it travelled.
    pub carrier: Carrier,
    /// What it is.
    pub what: OwnedContent,
    /// The event that a response is bound to, by index among the messages.
    pub answers: Option<u64>,
    /// Its SSE fields.
    pub sse: Option<Sse<'static>>,
    /// Its transport context.
    pub context: Option<TransportContext>,
    /// Which HTTP exchange it belongs to.
    pub exchange: Option<u64>,
    /// See [`Entry::item`].
    pub item: Option<usize>,
    /// What a line of a trace says beside its message, as members of JSON with a comma before each; of a line that is passed
    /// over, the whole.
    pub added: Option<String>,
}

/// What a recorder says of its own losses in a line, or in members with a comma before each: the number of the record, and that
/// it was cut. As such members; none where it says nothing.
pub(crate) fn numbers(line: &str) -> Option<String> {
    let whole = line.strip_prefix(',').map(|members| format!("{{{members}}}"));
    let line = Json::parse(whole.as_deref().unwrap_or(line)).ok()?;
    let seq = line.member("seq").filter(|seq| seq.as_number().is_some());
    let cut = line.member("truncated").filter(|cut| cut.text() == "true");
    let said = [("seq", seq), ("truncated", cut)].into_iter();
    let said: String =
        said.filter_map(|(name, value)| Some(format!(",\"{name}\":{}", value?.text()))).collect();
    Some(said).filter(|said| !said.is_empty())
}

/// A transport context by copies of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportContext {
    /// The context object, verbatim.
    pub text: String,
    /// See [`Context::status`].
    pub status: Option<u16>,
    /// See [`Context::headers`].
    pub headers: Headers<'static>,
}

/// What an owned entry is.
#[derive(Debug, Clone)]
pub enum OwnedContent {
    /// A message: its text, and the places in it.
    Message(String, Shape),
    /// An SSE event without a message.
    Event,
    /// A slot without a message.
    Empty,
    /// The context of a whole envelope.
    Envelope,
    /// An HTTP exchange.
    Exchange(Box<Exchange<'static>>),
    /// See [`Content::MadeUp`].
    MadeUp(&'static str),
    /// See [`Content::ExchangeEnd`].
    ExchangeEnd,
    /// The `meta` line of a trace.
    TraceStart(String),
    /// The `end` line of a trace.
    TraceEnd(String),
    /// A body that cannot be read.
    Missing(MissingBody),
    /// Anything else, which no format writes again: what it was.
    Skipped(String),
}

impl Session {
    /// Whether nothing of HTTP was recorded.
    #[must_use]
    pub fn is_without_http(&self) -> bool {
        self.label.is_none()
            && self.entries.iter().all(|entry| entry.carrier == Carrier::Line && !entry.is_exchange())
    }

    /// The transport over which the session ran, as far as it is known.
    #[must_use]
    pub fn transport(&self) -> Option<Transport> {
        let names = |entry: &OwnedEntry| {
            entry.sse.as_ref().is_some_and(|sse| sse.name.as_deref() == Some("endpoint"))
        };
        match self.label {
            None if self.entries.iter().any(names) => Some(Transport::HttpSse),
            None if self.entries.iter().any(OwnedEntry::is_exchange) => Some(Transport::StreamableHttp),
            label => label,
        }
    }

    /// The messages, in order.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        self.entries.iter().filter_map(OwnedEntry::message)
    }

    /// Leaves these messages out, which are in order. What answered one of them answers none, and the others are counted anew.
    pub fn leave_out(&mut self, entries: &[usize]) {
        for &at in entries {
            let missing = MissingBody { whose: "a message", coded: false, cut: false };
            self.entries[at].what = OwnedContent::Missing(missing);
        }
        let messages = self.entries.iter().enumerate();
        let messages =
            messages.filter(|(at, entry)| entry.message().is_some() || entries.binary_search(at).is_ok());
        let mut number = 0..;
        let numbers: Vec<Option<u64>> =
            messages.map(|(_, entry)| entry.message().and_then(|_| number.next())).collect();
        for entry in &mut self.entries {
            let message = entry.answers.and_then(|asked| usize::try_from(asked).ok());
            entry.answers = message.and_then(|message| numbers.get(message).copied().flatten());
        }
    }

    /// The `meta` line that the session was recorded under, if any.
    #[must_use]
    pub fn trace_start(&self) -> Option<Json<'_>> {
        self.entries.iter().find_map(|entry| match &entry.what {
            OwnedContent::TraceStart(text) => Json::parse(text).ok(),
            _ => None,
        })
    }
}

impl OwnedEntry {
    /// The message, if it is one.
    #[must_use]
    pub fn message(&self) -> Option<Message<'_>> {
        match &self.what {
            OwnedContent::Message(text, shape) => Some(Message::new(text, *shape)),
            _ => None,
        }
    }

    /// Whether it stands in one event of a stream with the entry before it.
    pub(crate) fn is_more_of_a_batch(&self) -> bool {
        self.carrier == Carrier::Sse && self.item > Some(0)
    }

    /// Whether it is an HTTP exchange.
    fn is_exchange(&self) -> bool {
        matches!(self.what, OwnedContent::Exchange(_))
    }

    /// An entry with nothing known but what it is.
    #[must_use]
    pub fn new(what: OwnedContent) -> Self {
        Self {
            location: Location::default(),
            time: None,
            side: None,
            inferred: false,
            carrier: Carrier::Line,
            what,
            answers: None,
            sse: None,
            context: None,
            exchange: None,
            item: None,
            added: None,
        }
    }

    /// A copy of an entry.
    pub(crate) fn copied(entry: &Entry<'_>) -> Self {
        let what = match &entry.content {
            Content::Message(message) => OwnedContent::Message(message.text().to_owned(), message.shape()),
            Content::Event => OwnedContent::Event,
            Content::Empty => OwnedContent::Empty,
            Content::Envelope => OwnedContent::Envelope,
            Content::Exchange(exchange) => OwnedContent::Exchange(Box::new(exchange.owned())),
            Content::ExchangeEnd => OwnedContent::ExchangeEnd,
            Content::MadeUp(what) => OwnedContent::MadeUp(what),
            Content::TraceStart(line) => OwnedContent::TraceStart(line.text().to_owned()),
            Content::TraceEnd(line) => OwnedContent::TraceEnd(line.text().to_owned()),
            Content::Started => OwnedContent::Skipped("the client starts the server".to_owned()),
            Content::Ended(end) => OwnedContent::Skipped(end.to_string()),
            Content::Skipped(what) => OwnedContent::Skipped(what.clone().into_owned()),
            Content::Noise(noise) => OwnedContent::Skipped(noise.why.message.clone()),
            Content::Missing(body) => OwnedContent::Missing(*body),
            Content::WrongType(wrong) => OwnedContent::Skipped(wrong.what.clone().into_owned()),
            Content::Mark => OwnedContent::Skipped("a byte order mark".to_owned()),
        };
        Self {
            location: entry.location,
            time: entry.time,
            side: entry.side,
            carrier: entry.carrier,
            sse: entry.sse.as_ref().map(Sse::owned),
            context: entry.context.map(own_context),
            exchange: entry.exchange,
            item: entry.item,
            ..Self::new(what)
        }
    }
}

fn own_context(context: &Context<'_>) -> TransportContext {
    TransportContext {
        text: context.text.text().to_owned(),
        status: context.status,
        headers: owned_headers(&context.headers),
    }
}

/// Who sends a request or notification with this method, where nothing else tells: the methods that the MCP
/// specification gives only to servers, and the client for every other.
#[must_use]
pub fn usual_sender(message: &Message<'_>) -> Side {
    const SERVERS: &[&str] = &[
        "sampling/createMessage",
        "roots/list",
        "elicitation/create",
        "notifications/message",
        "notifications/progress",
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
        "notifications/resources/list_changed",
        "notifications/resources/updated",
        "notifications/elicitation/complete",
        "notifications/subscriptions/acknowledged",
    ];
    match message.method() {
        Some(method) if SERVERS.iter().any(|name| method.is(name)) => Side::Server,
        _ => Side::Client,
    }
}
