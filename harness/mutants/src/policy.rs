//! The reading contract once more, with its decisions as functions that a mutant may replace.
//!
//! It is plain and slow for long sessions; the product's own contract is written for memory and speed.

use crate::outcome::{Discovery, Event, Outcome};
use crate::reading::{Context, Id, ReadEntry, ReadMessage, Reading};
use std::fmt;
use std::sync::LazyLock;
use transcript::k2a::AuthorizationSummary;
use transcript::meaning::EventKind;
use transcript::session::Side;
use verdict::answer::{Answer, FailureKind};

/// Gives the id of a message.
pub type IdOf = Box<dyn Fn(&ReadMessage) -> Option<Vec<u8>> + Send + Sync>;
/// Compares a tool call with the requests before it.
pub type Duplicate = Box<dyn Fn(&[Request], &Request) -> bool + Send + Sync>;
/// Finds the request that a response answers.
pub type Bind = Box<dyn Fn(&[Request], &Response<'_>) -> Option<usize> + Send + Sync>;
/// Reads the challenge of a context.
pub type Discover = Box<dyn Fn(&ReadEntry, &Context) -> Option<Discovery> + Send + Sync>;

/// The decisions of the contract.
pub struct Policy {
    /// The correlation id that the meaning shows.
    pub shown: IdOf,
    /// The id that is compared.
    pub compared: IdOf,
    /// Whether a call with an id waits for an answer.
    pub waits: Box<dyn Fn(&ReadMessage) -> bool + Send + Sync>,
    /// Whether a tool call with these requests before it rejects the transcript.
    pub duplicate: Duplicate,
    /// Which of the requests so far a response answers, by its place in the list.
    pub bind: Bind,
    /// What a context makes visible (clauses K2A-*).
    pub discover: Discover,
    /// How two discoveries are joined.
    pub join: Box<dyn Fn(Discovery, Discovery) -> Discovery + Send + Sync>,
}

/// As the contract asks.
pub static CONTRACT: LazyLock<Policy> = LazyLock::new(Policy::default);

impl Default for Policy {
    fn default() -> Self {
        Self {
            shown: Box::new(contract_id),
            compared: Box::new(contract_id),
            waits: Box::new(|_| true),
            duplicate: Box::new(contract_duplicate),
            bind: Box::new(contract_bind),
            discover: Box::new(contract_discovery),
            join: Box::new(|first, second| Discovery {
                metadata: first.metadata || second.metadata,
                scope: first.scope || second.scope,
                ..first
            }),
        }
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Policy")
    }
}

/// A request or tool call that has an id, as it is remembered.
#[derive(Debug, Clone)]
pub struct Request {
    /// The index of its event.
    pub event: usize,
    /// The id that is compared.
    pub key: Vec<u8>,
    /// The message.
    pub message: ReadMessage,
    /// Who asked.
    pub requestor: Option<Side>,
    /// Whether a response has been bound to it.
    pub answered: bool,
    /// Whether HTTP turned it away.
    pub turned_away: bool,
}

impl Request {
    /// Whether it has the response's id.
    #[must_use]
    pub fn has_id_of(&self, response: &Response<'_>) -> bool {
        response.key.as_ref() == Some(&self.key)
    }

    /// Whether it has the response's id and was put to its sender.
    #[must_use]
    pub fn matches(&self, response: &Response<'_>) -> bool {
        self.has_id_of(response) && self.requestor == response.requestor()
    }
}

/// A response that looks for its request.
#[derive(Debug)]
pub struct Response<'s> {
    /// The id that is compared.
    pub key: Option<Vec<u8>>,
    /// The message.
    pub message: &'s ReadMessage,
    /// Who sent it.
    pub sender: Option<Side>,
}

impl Response<'_> {
    /// Who asked, if this is an answer to them.
    #[must_use]
    pub fn requestor(&self) -> Option<Side> {
        self.sender.map(Side::other)
    }
}

/// The correlation id as the contract has it.
#[must_use]
pub fn contract_id(message: &ReadMessage) -> Option<Vec<u8>> {
    match &message.id {
        Id::Missing | Id::Null => None,
        Id::Text(text) => Some(text.clone()),
        Id::Number(text) => Some(text.clone().into_bytes()),
    }
}

/// Whether a tool call before has the same id and reached the server.
#[must_use]
pub fn contract_duplicate(before: &[Request], call: &Request) -> bool {
    before.iter().any(|request| {
        request.message.kind == EventKind::ToolCall && request.key == call.key && !request.turned_away
    })
}

/// The oldest open request that matches.
#[must_use]
pub fn contract_bind(requests: &[Request], response: &Response<'_>) -> Option<usize> {
    requests.iter().position(|request| !request.answered && request.matches(response))
}

/// The challenge of an answer.
#[must_use]
pub fn contract_discovery(_: &ReadEntry, context: &Context) -> Option<Discovery> {
    discovery(context, context.status)
}

/// What the challenges of a context show under this status, if it belongs to an answer.
#[must_use]
pub fn discovery(context: &Context, status: Option<u16>) -> Option<Discovery> {
    context.is_answer().then(|| challenge(status, &context.headers))?
}

/// What the built-in reader makes of a status and headers.
#[must_use]
pub fn challenge(status: Option<u16>, headers: &[(String, String)]) -> Option<Discovery> {
    let headers = headers.iter().map(|(name, value)| (name.into(), value.into())).collect();
    AuthorizationSummary::of(status, &headers).map(|summary| Discovery {
        metadata: summary.resource_metadata_visible,
        scope: summary.scope_challenge_visible,
        servers: false,
    })
}

impl Policy {
    /// The answer to a reading, after a change to the meaning.
    #[must_use]
    pub fn answer(&self, reading: &Reading, edit: impl FnOnce(&mut Outcome)) -> Answer {
        // The reader meets a duplicate before whatever ends the reading further down.
        let mut outcome = match self.outcome(&reading.entries) {
            Ok(outcome) => outcome,
            Err(code) => {
                return Answer::Rejection { code: Some(code.to_owned()), message: code.to_owned() };
            }
        };
        match &reading.failure {
            Some(failure) if failure.code.is_empty() => {
                Answer::Broken { how: FailureKind::Crash, message: failure.message.clone() }
            }
            Some(failure) => {
                Answer::Rejection { code: Some(failure.code.clone()), message: failure.message.clone() }
            }
            None => {
                edit(&mut outcome);
                outcome.answer()
            }
        }
    }

    /// Carries the contract out.
    ///
    /// # Errors
    /// The code of the rejection where a tool call repeats an id.
    pub fn outcome(&self, entries: &[ReadEntry]) -> Result<Outcome, &'static str> {
        let (mut events, mut requests, mut discovery) = (Vec::new(), Vec::<Request>::new(), None);
        for entry in entries {
            if let Some(found) = entry.context.as_ref().and_then(|context| (self.discover)(entry, context)) {
                discovery = Some(discovery.map_or(found, |before| (self.join)(before, found)));
            }
            let Some(message) = &entry.message else { continue };
            let key = (self.compared)(message);
            let answers = if message.is_response() {
                let response = Response { key, message, sender: entry.side };
                (self.bind)(&requests, &response).and_then(|at| {
                    let request = requests.get_mut(at)?;
                    request.answered = true;
                    Some(request.event)
                })
            } else {
                if let Some(key) = key {
                    let (message, requestor) = (message.clone(), entry.side);
                    let (event, answered, turned_away) = (events.len(), false, entry.turned_away);
                    let request = Request { event, key, message, requestor, answered, turned_away };
                    if request.message.kind == EventKind::ToolCall && (self.duplicate)(&requests, &request) {
                        return Err("duplicate-call-id");
                    }
                    if (self.waits)(&request.message) {
                        requests.push(request);
                    }
                }
                None
            };
            let id = (self.shown)(message);
            let kind = match message.kind {
                EventKind::Request | EventKind::Notification if id.is_some() => EventKind::Request,
                EventKind::Request | EventKind::Notification => EventKind::Notification,
                kind => kind,
            };
            let method = message.method.clone().filter(|_| kind != EventKind::ToolCall);
            events.push(Event { kind, id, answers, method, values: message.values.clone() });
        }
        Ok(Outcome { events, discovery })
    }
}
