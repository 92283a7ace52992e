//! A session that is being changed, with its meaning event by event.
//!
//! Which answer belongs to which request comes from a plain list of its own, not from our readers.

use crate::node::Node;
use crate::session::KnownSession;
use formats::{Format, OwnedContent, OwnedEntry, Session, Totals, time};
use transcript::dialect::IdRules;
use transcript::json::Json;
use transcript::k2a::AuthorizationSummary;
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Carrier, Exchange, Location, Side, Sse};

/// A session in hand.
#[derive(Debug, Clone, Default)]
pub struct SessionBuilder {
    /// What it holds, in order.
    pub entries: Vec<Entry>,
    /// What a 401's challenge made visible: `resource_metadata`, `scope`.
    pub discovery: Option<(bool, bool)>,
    /// Some answer would be bound to another request if nobody could tell who sent what.
    pub needs_directions: bool,
    /// Messages with a [`BATCHED`] id are in an array, where the handshake with the id [`AGREED`] is whole.
    pub batches: bool,
}

/// The id of a handshake that agrees on the revision that has batches.
pub const AGREED: &str = "\"agreed\"";

/// The id of a message in an array.
pub const BATCHED: &str = "\"batched\"";

/// One entry, with its message if it carries one.
#[derive(Debug, Clone)]
pub struct Entry {
    /// How it travels.
    pub owned: OwnedEntry,
    /// What it says.
    pub message: Option<KnownEvent>,
}

/// A message beside what it means.
#[derive(Debug, Clone)]
pub struct KnownEvent {
    /// The message.
    pub text: Node,
    /// Its event in the normal form.
    pub meaning: Node,
}

impl KnownEvent {
    /// The kind of event.
    pub fn is(&self, kind: &str) -> bool {
        self.meaning.get("kind").is_some_and(|node| node.is(kind))
    }

    /// Whether it is a result or an error.
    pub fn is_response(&self) -> bool {
        self.is("result") || self.is("error")
    }

    /// The correlation id as it is spelled in the normal form.
    pub fn id(&self) -> Option<&str> {
        self.meaning.get("id")?.spelled()
    }

    /// The correlation id by its code points, so that two spellings of one id are one.
    pub fn key(&self) -> Option<Vec<u8>> {
        key_of(self.id()?)
    }

    /// Whether it is a request or a tool call that can be answered.
    pub fn asks(&self) -> bool {
        self.id().is_some() && !self.is_response()
    }

    /// Whether it needs an id and has none.
    pub(crate) fn lacks_its_id(&self) -> bool {
        let null = self.text.get("id").is_some_and(|id| id.spelled() == Some("null"));
        let needs = self.is("tool_call") || self.is("result");
        self.id().is_none() && !self.is("error") && (needs || null)
    }

    /// Gives the message another id, none where it has none, and the event what that makes of it.
    pub fn set_id(&mut self, spelled: Option<&str>) {
        match spelled {
            Some(spelled) => self.text.set("id", Node::leaf(spelled)),
            None => self.text.remove("id"),
        }
        match spelled.and_then(correlation) {
            Some(known) => self.meaning.set("id", Node::leaf(known)),
            None => self.meaning.remove("id"),
        }
        let is_call = self.is("tool_call") || self.is_response();
        if !is_call {
            let kind = if self.id().is_some() { "request" } else { "notification" };
            self.meaning.set("kind", Node::text(kind));
        }
    }

    /// Says which event a response answers.
    pub(crate) fn answer(&mut self, index: Option<u64>) {
        let spelled = index.map_or("null".to_owned(), |index| index.to_string());
        self.meaning.set("answers", Node::leaf(spelled));
    }

    /// The value that the message is about: its params, arguments, result or error, in the message and in the event.
    pub fn value(&mut self) -> Option<(&mut Node, &mut Node)> {
        let (outer, name) = match () {
            () if self.is("tool_call") => (Some("params"), "arguments"),
            () if self.is("result") => (None, "result"),
            () if self.is("error") => (None, "error"),
            () => (None, "params"),
        };
        let holder = match outer {
            Some(outer) => self.text.get_mut(outer)?,
            None => &mut self.text,
        };
        Some((holder.get_mut(name)?, self.meaning.get_mut(name)?))
    }
}

/// The correlation id that an id of this spelling is, in the normal form (clauses ID-STRING, ID-NUMBER, ID-NULL).
pub fn correlation(spelled: &str) -> Option<String> {
    match spelled {
        "null" => None,
        text if text.starts_with('"') => Some(text.to_owned()),
        number => Some(format!("\"{number}\"")),
    }
}

/// The code points of a correlation id in the normal form.
pub fn key_of(id: &str) -> Option<Vec<u8>> {
    Some(Json::parse(id).ok()?.as_text()?.decode().into_owned())
}

impl Entry {
    /// Something that carries no message: an event of a stream.
    pub fn event(name: Option<&str>, id: Option<&str>, data: Option<&str>) -> Self {
        let own = |text: Option<&str>| text.map(|text| text.to_owned().into());
        let sse = Sse { name: own(name), id: own(id), data: own(data), ..Sse::default() };
        let entry = OwnedEntry {
            carrier: Carrier::Sse,
            side: Some(Side::Server),
            sse: Some(sse),
            ..OwnedEntry::new(OwnedContent::Event)
        };
        Self { owned: entry, message: None }
    }

    /// A request.
    pub fn request(side: Side, id: &str, method: &str) -> Self {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
        Self::message(side, &text, &format!(r#"{{"kind":"request","method":"{method}"}}"#), Some(id))
    }

    /// A result.
    pub fn result(side: Side, id: &str, result: &str) -> Self {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        Self::message(side, &text, &format!(r#"{{"kind":"result","result":{result}}}"#), Some(id))
    }

    /// A message by its text and its event; its id goes into both.
    pub fn message(side: Side, text: &str, event: &str, id: Option<&str>) -> Self {
        let node = |text: &str| Node::parse(text).unwrap_or(Node::Object(Vec::new()));
        let mut event = KnownEvent { text: node(text), meaning: node(event) };
        if id.is_some() {
            event.set_id(id);
        }
        // The text goes into the entry when the session is written.
        Self {
            owned: OwnedEntry { side: Some(side), ..OwnedEntry::new(OwnedContent::Event) },
            message: Some(event),
        }
    }

    /// The same entry from the other side, in a slot of that side.
    #[must_use]
    pub fn reversed(mut self) -> Self {
        self.owned.side = self.owned.side.map(Side::other);
        self.owned.carrier = Carrier::Line;
        self.owned.sse = None;
        self
    }
}

impl SessionBuilder {
    /// A session that was made with its meaning.
    ///
    /// # Errors
    /// A sentence where a message of it is none.
    pub fn from_known(known: &KnownSession) -> Result<Self, String> {
        Self::new(known.session().map_err(|refusal| refusal.message)?, &known.meaning())
    }

    /// A session that was read, and what it means, in the normal form.
    ///
    /// # Errors
    /// A sentence where the meaning is that of another session.
    pub fn new(session: Session, meaning: &str) -> Result<Self, String> {
        let meaning = Json::parse(meaning).map_err(|_| "the meaning is not JSON")?;
        let events = meaning.member("events").ok_or("the meaning has no events")?;
        let mut events = events.items();
        let discovery = session.totals.authorization_discovery;
        let mut builder = Self {
            discovery: discovery.map(|it| (it.resource_metadata_visible, it.scope_challenge_visible)),
            ..Self::default()
        };
        for mut owned in session.entries {
            // What a variant claims of its messages it claims for itself; exchanges are planned anew.
            (owned.inferred, owned.exchange, owned.location) = (false, None, Location::default());
            let message = match &owned.what {
                OwnedContent::Message(text, _) => {
                    let event = events.next().ok_or("the session has more messages than events")?;
                    let text = Json::parse(text).map_err(|_| "a message is not JSON")?;
                    Some(KnownEvent { text: Node::new(text), meaning: Node::new(event) })
                }
                OwnedContent::Exchange(exchange) if !exchange.turned_away() => continue,
                // What is added later stands before the end.
                OwnedContent::Missing(_) | OwnedContent::Skipped(_) | OwnedContent::TraceEnd(_) => continue,
                _ => None,
            };
            builder.entries.push(Entry { owned, message });
        }
        if events.next().is_some() {
            return Err("the session has fewer messages than events".to_owned());
        }
        let bound = |builder: &Self| -> Vec<Option<String>> {
            let answers =
                |entry: &Entry| entry.message.as_ref()?.meaning.get("answers")?.spelled().map(str::to_owned);
            builder.entries.iter().map(answers).collect()
        };
        let given = bound(&builder);
        builder.bind_answers();
        match bound(&builder) == given {
            true => Ok(builder),
            false => Err("the ledger binds its answers otherwise".to_owned()),
        }
    }

    /// Which entries are messages that `which` wants.
    pub fn messages_where(&self, which: impl Fn(&KnownEvent) -> bool) -> Vec<usize> {
        let wanted = |entry: &Entry| entry.message.as_ref().is_some_and(&which);
        (0..self.entries.len()).filter(|&at| wanted(&self.entries[at])).collect()
    }

    /// Says of every response what it answers: the oldest request with its id that its sender was asked and that is
    /// still open (clauses COR-FIRST, COR-LATE, COR-BEFORE, COR-ANY, COR-DIRECTION).
    pub fn bind_answers(&mut self) {
        // The contract refuses no session for its ids.
        let _ = self.bind(IdRules::default());
    }

    /// The same where ids are these, or why the session is refused for them.
    pub(crate) fn bind(&mut self, ids: IdRules) -> Result<(), Code> {
        let (mut open, mut flat): (Vec<OpenRequest>, Vec<OpenRequest>) = (Vec::new(), Vec::new());
        let mut index = 0;
        self.needs_directions = false;
        for entry in &mut self.entries {
            let (side, Some(message)) = (entry.owned.side, &mut entry.message) else { continue };
            entry.owned.answers = None;
            if ids.required && message.lacks_its_id() {
                return Err(Code::InvalidId);
            }
            let is_text =
                message.text.get("id").and_then(Node::spelled).is_some_and(|id| id.starts_with('"'));
            let key = message.key().map(|key| (ids.typed && is_text, key));
            if message.is_response() {
                let mine = |waiting: &OpenRequest| Some(&waiting.key) == key.as_ref() && waiting.side != side;
                let found = open.iter().position(mine).map(|at| open.remove(at).index);
                let anybody = |waiting: &OpenRequest| Some(&waiting.key) == key.as_ref();
                let found_flat = flat.iter().position(anybody).map(|at| flat.remove(at).index);
                self.needs_directions |= found != found_flat;
                message.answer(found);
                entry.owned.answers = found;
            } else if let Some(key) = key {
                let is_call = message.is("tool_call");
                let meets = |other: &&OpenRequest| is_call && other.is_call && other.key == key;
                if ids.reusable && open.iter().filter(meets).any(|other| other.side == side) {
                    return Err(Code::DuplicateCallId);
                }
                self.needs_directions |= ids.reusable && flat.iter().any(|other| meets(&other));
                for list in [&mut open, &mut flat] {
                    list.push(OpenRequest { key: key.clone(), side, index, is_call });
                }
            }
            index += 1;
        }
        Ok(())
    }

    /// The meaning in the normal form.
    pub fn meaning(&self) -> String {
        let events =
            self.entries.iter().filter_map(|entry| Some(entry.message.as_ref()?.meaning.spell(None)));
        let events: Vec<_> = events.collect();
        let between = if events.is_empty() { "" } else { "\n" };
        let discovery = self.summary().map_or_else(|| "null".to_owned(), AuthorizationSummary::to_json);
        format!(
            "{{\"events\": [{between}{}\n],\n\"authorization_discovery\": {discovery}}}\n",
            events.join(",\n")
        )
    }

    fn summary(&self) -> Option<AuthorizationSummary> {
        self.discovery.map(|(metadata, scope)| AuthorizationSummary {
            resource_metadata_visible: metadata,
            scope_challenge_visible: scope,
        })
    }

    /// The session for the writers.
    pub(crate) fn session(&self) -> Result<Session, Refusal> {
        let mut entries = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let mut owned = entry.owned.clone();
            if let Some(message) = &entry.message {
                let text = message.text.spell(None);
                let shape = Message::parse(&text)?.shape();
                owned.what = OwnedContent::Message(text, shape);
            }
            entries.push(owned);
        }
        // A trace whose end has no exit code need not be read.
        let times = || entries.iter().filter_map(|entry: &OwnedEntry| entry.time);
        let (first, last) = (times().next().unwrap_or_default(), times().max().unwrap_or_default());
        let (end, took) = (time::write(last), last - first);
        let end = format!(r#"{{"t":"{end}","type":"end","exitCode":0,"durationMs":{took}}}"#);
        entries.push(OwnedEntry::new(OwnedContent::TraceEnd(end)));
        let events = self.entries.iter().filter(|entry| entry.message.is_some()).count();
        let totals =
            Totals { events: events as u64, authorization_discovery: self.summary(), ..Totals::default() };
        Ok(Session { entries, totals, ..Session::default() })
    }

    /// The clause by which a format cannot carry the session.
    pub(crate) fn uncarried_clause(&self, format: &Format) -> Option<&'static str> {
        match () {
            () if self.needs_directions && !format.carries.direction => Some("COR-DIRECTION-FLAT"),
            () if self.discovery.is_some() && !format.carries.challenge => Some("K2A-SUMMARY"),
            () if format.pads_with_null && self.has_nulls() => Some("a null is taken off in this format"),
            () => None,
        }
    }

    /// Whether a message has a null where some recorders write one for what is not there.
    fn has_nulls(&self) -> bool {
        let is_null = |value: Option<&Node>| value.and_then(Node::spelled) == Some("null");
        let messages = self.entries.iter().filter_map(|entry| Some(&entry.message.as_ref()?.text));
        messages.into_iter().any(|text| {
            let error = text.get("error");
            is_null(text.get("params"))
                || is_null(error)
                || error.is_some_and(|error| is_null(text.get("result")) || is_null(error.get("data")))
        })
    }

    /// Whether HTTP turned something away, so that a call that comes twice may be one that came again.
    pub(crate) fn turns_away(&self) -> bool {
        self.entries.iter().any(|entry| {
            let status = entry.owned.context.as_ref().and_then(|context| context.status);
            match &entry.owned.what {
                OwnedContent::Exchange(exchange) => exchange.turned_away(),
                _ => Exchange { status, ..Exchange::default() }.turned_away(),
            }
        })
    }
}

struct OpenRequest {
    /// Its id, which is typed where the dialect's are.
    key: (bool, Vec<u8>),
    side: Option<Side>,
    index: u64,
    is_call: bool,
}
