//! The reading contract once more, with its decisions as habits that a fault may replace.
//!
//! Knows: the decisions of binding, one function each; [`FAITHFUL`] decides as the contract asks. Refuses to know:
//! the product's own contract, which is written for memory and speed. Slow for long sessions, and plain.

use super::found::{At, Id, Said, Seen, Surroundings};
use transcript::json::{Json, write_string};
use transcript::k2a::AuthorizationSummary;
use transcript::meaning::EventKind;
use transcript::session::Side;

/// The decisions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Habits {
    /// The correlation id that the meaning shows.
    pub(super) shown: fn(&Said) -> Option<Vec<u8>>,
    /// The id that is compared.
    pub(super) key: fn(&Said) -> Option<Vec<u8>>,
    /// Whether a call with an id waits for an answer.
    pub(super) waits: fn(&Said) -> bool,
    /// Whether a tool call with these before it rejects the transcript.
    pub(super) duplicate: fn(&[Request], &Request) -> bool,
    /// Which of the requests so far a response answers, by its place in the list.
    pub(super) bind: fn(&[Request], &Response<'_>) -> Option<usize>,
    /// What a context makes visible (K2-A), and how two such are joined.
    pub(super) discover: fn(&Seen, &Surroundings) -> Option<Discovery>,
    pub(super) join: fn(Discovery, Discovery) -> Discovery,
}

/// As the contract asks.
pub(super) const FAITHFUL: Habits = Habits {
    shown: faithful_id,
    key: faithful_id,
    waits: |_| true,
    duplicate: faithful_duplicate,
    bind: faithful_bind,
    discover: faithful_discovery,
    join: |first, second| Discovery {
        metadata: first.metadata || second.metadata,
        scope: first.scope || second.scope,
        ..first
    },
};

/// A request or tool call that has an id, as it is remembered.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) event: usize,
    pub(super) key: Vec<u8>,
    pub(super) said: Said,
    pub(super) requestor: Option<Side>,
    pub(super) answered: bool,
}

/// A response that looks for its request.
#[derive(Debug)]
pub(super) struct Response<'s> {
    pub(super) key: Option<Vec<u8>>,
    pub(super) said: &'s Said,
    pub(super) sender: Option<Side>,
}

impl Response<'_> {
    /// Who asked, if this is an answer to them.
    pub(super) fn requestor(&self) -> Option<Side> {
        self.sender.map(Side::other)
    }
}

/// What K2-A shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Discovery {
    pub(super) metadata: bool,
    pub(super) scope: bool,
    pub(super) servers: bool,
}

/// A meaning.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub(super) events: Vec<Event>,
    pub(super) discovery: Option<Discovery>,
}

/// One event.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) kind: EventKind,
    pub(super) id: Option<Vec<u8>>,
    pub(super) answers: Option<usize>,
    pub(super) method: Option<Vec<u8>>,
    pub(super) values: Vec<(&'static str, String)>,
}

pub(super) fn faithful_id(said: &Said) -> Option<Vec<u8>> {
    match &said.id {
        Id::Missing | Id::Null => None,
        Id::Text(text) => Some(text.clone()),
        Id::Number(text) => Some(text.clone().into_bytes()),
    }
}

pub(super) fn faithful_duplicate(before: &[Request], call: &Request) -> bool {
    before.iter().any(|request| request.said.kind == EventKind::ToolCall && request.key == call.key)
}

pub(super) fn faithful_bind(requests: &[Request], response: &Response<'_>) -> Option<usize> {
    let key = response.key.as_ref()?;
    requests.iter().position(|request| {
        !request.answered && request.key == *key && request.requestor == response.requestor()
    })
}

pub(super) fn faithful_discovery(_: &Seen, context: &Surroundings) -> Option<Discovery> {
    matches!(context.at, At::Response | At::Exchange).then(|| challenge(context.status, &context.headers))?
}

/// What the built-in reader makes of a status and headers.
pub(super) fn challenge(status: Option<u16>, headers: &[(String, String)]) -> Option<Discovery> {
    let headers = headers.iter().map(|(name, value)| (name.into(), value.into())).collect();
    AuthorizationSummary::of(status, &headers).map(|summary| Discovery {
        metadata: summary.resource_metadata_visible,
        scope: summary.scope_challenge_visible,
        servers: false,
    })
}

/// Carries the contract out.
pub(super) fn carry_out(entries: &[Seen], habits: &Habits) -> Result<Outcome, &'static str> {
    let (mut events, mut requests, mut discovery) = (Vec::new(), Vec::<Request>::new(), None);
    for seen in entries {
        if let Some(found) = seen.context.as_ref().and_then(|context| (habits.discover)(seen, context)) {
            discovery = Some(discovery.map_or(found, |before| (habits.join)(before, found)));
        }
        let Some(said) = &seen.said else { continue };
        let key = (habits.key)(said);
        let answers = if said.is_response() {
            let response = Response { key, said, sender: seen.side };
            (habits.bind)(&requests, &response).and_then(|at| {
                let request = requests.get_mut(at)?;
                request.answered = true;
                Some(request.event)
            })
        } else {
            if let Some(key) = key {
                let (said, requestor) = (said.clone(), seen.side);
                let request = Request { event: events.len(), key, said, requestor, answered: false };
                if request.said.kind == EventKind::ToolCall && (habits.duplicate)(&requests, &request) {
                    return Err("duplicate-call-id");
                }
                if (habits.waits)(&request.said) {
                    requests.push(request);
                }
            }
            None
        };
        let id = (habits.shown)(said);
        let kind = match said.kind {
            EventKind::Request | EventKind::Notification if id.is_some() => EventKind::Request,
            EventKind::Request | EventKind::Notification => EventKind::Notification,
            kind => kind,
        };
        let method = said.method.clone().filter(|_| kind != EventKind::ToolCall);
        events.push(Event { kind, id, answers, method, values: said.values.clone() });
    }
    Ok(Outcome { events, discovery })
}

impl Event {
    pub(super) fn is_response(&self) -> bool {
        matches!(self.kind, EventKind::Result | EventKind::Error)
    }

    pub(super) fn is_method(&self, name: &str) -> bool {
        self.method.as_deref() == Some(name.as_bytes())
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{{\"kind\": \"{}\"", self.kind.name()).as_bytes());
        if let Some(id) = &self.id {
            out.extend_from_slice(b", \"id\": ");
            write_string(id, out);
        }
        if self.is_response() {
            let index = self.answers.map_or("null".to_owned(), |index| index.to_string());
            out.extend_from_slice(format!(", \"answers\": {index}").as_bytes());
        }
        if let Some(method) = &self.method {
            out.extend_from_slice(b", \"method\": ");
            write_string(method, out);
        }
        for (name, value) in &self.values {
            out.extend_from_slice(format!(", \"{name}\": {value}").as_bytes());
        }
        out.push(b'}');
    }
}

impl Outcome {
    /// The meaning as JSON text.
    pub(super) fn write(&self) -> String {
        let mut out = b"{\"events\": [".to_vec();
        for (index, event) in self.events.iter().enumerate() {
            out.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
            event.write(&mut out);
        }
        out.extend_from_slice(b"\n], \"authorization_discovery\": ");
        match self.discovery {
            None => out.extend_from_slice(b"null}"),
            Some(Discovery { metadata, scope, servers }) => out.extend_from_slice(
                format!(
                    "{{\"visible\": true, \"source_kind\": \"www_authenticate\", \
                     \"resource_metadata_visible\": {metadata}, \"authorization_servers_visible\": {servers}, \
                     \"scope_challenge_visible\": {scope}}}}}"
                )
                .as_bytes(),
            ),
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Keeps the events that `keep` keeps, and lets each answer still point at its request.
    pub(super) fn retain(&mut self, keep: impl Fn(&Self, usize) -> bool) {
        let kept: Vec<usize> = (0..self.events.len()).filter(|&index| keep(self, index)).collect();
        self.arrange(&kept);
    }

    /// Puts the events of these indices in this order, and lets each answer still point at its request.
    pub(super) fn arrange(&mut self, order: &[usize]) {
        let mut events: Vec<Event> = order.iter().filter_map(|&at| self.events.get(at).cloned()).collect();
        for event in &mut events {
            event.answers = event.answers.and_then(|asked| order.iter().position(|&at| at == asked));
        }
        self.events = events;
    }

    /// Edits every event's values of these names; an edit to an empty text takes the member away.
    pub(super) fn values(&mut self, names: &[&str], edit: impl Fn(Json<'_>) -> Option<String>) {
        for event in &mut self.events {
            for (name, value) in &mut event.values {
                let new = Json::parse(value).ok().filter(|_| names.contains(name)).and_then(&edit);
                if let Some(new) = new {
                    *value = new;
                }
            }
            event.values.retain(|(_, value)| !value.is_empty());
        }
    }
}
