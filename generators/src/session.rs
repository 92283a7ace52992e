//! Whole sessions whose meaning is known because of how they were made.
//!
//! What was asked, what is still open and what an answer was meant for, from a pending of its own that is a plain list;
//! and how an event reads in the normal form, written out by hand. Where the two agree, two people would have to make
//! the same mistake.
//!
//! A session is made from [`PlanStep`]s, which are choices and no text: a property test shrinks them, and a fuzzer's bytes are
//! them. What a step asks for and the contract forbids (a second tool call with one id) is made into what it allows.

mod messages;
mod steps;

pub use steps::{Act, KnownMessage, PlanStep};

use arbitrary::Arbitrary;
use formats::{OwnedContent, OwnedEntry, Session, Totals, TransportContext};
use messages::PendingRequests;
use transcript::k2a::AuthorizationSummary;
use transcript::message::{Message, Refusal};
use transcript::session::{Carrier, Side, Sse};

/// Challenges of a 401, and what they make visible: `resource_metadata`, `scope`.
const CHALLENGES: &[(&str, bool, bool)] = &[
    (r#"Bearer resource_metadata="https://a.example/.well-known/x", scope="read write""#, true, true),
    (r#"bearer SCOPE=read"#, false, true),
    (r#"Basic realm="scope=x", Bearer resource_metadata = "y""#, true, false),
    (r#"Bearer error_description="no scope=a, resource_metadata=b""#, false, false),
];

/// Data of events that carry no message, with the events' names.
const ASIDES: &[(Option<&str>, Option<&str>)] = &[
    (Some("endpoint"), Some("/messages/?session_id=1")),
    (None, Some("ping")),
    (Some("message"), Some("")),
    (Some("ping"), Some(r#"{"jsonrpc":"2.0","id":0,"result":{}}"#)),
    (Some("message"), Some(r#"{"id":1,"time":"now"}"#)),
    (Some(""), Some(" a\nb")),
    (None, None),
];

/// The moment at which sessions begin, in milliseconds.
const BEGINNING: i64 = 1_790_000_000_000;

/// The choices that make a session.
#[derive(Debug, Clone, Arbitrary)]
pub struct Plan {
    /// Its steps.
    pub steps: Vec<PlanStep>,
    /// It begins with a 401 that has this challenge.
    pub challenge: Option<u8>,
}

/// A session that is made, and what it means.
#[derive(Debug, Clone)]
pub struct KnownSession {
    /// The choices that made it.
    pub plan: Plan,
    /// Its messages, in order.
    pub messages: Vec<KnownMessage>,
    /// What a challenge made visible: `resource_metadata`, `scope`.
    pub discovery: Option<(bool, bool)>,
    /// Some answer would be bound to another request if nobody could tell who sent what.
    pub needs_directions: bool,
}

impl KnownSession {
    /// Makes the session of a plan.
    pub fn new(plan: Plan) -> Self {
        let mut pending = PendingRequests::default();
        let messages: Vec<KnownMessage> =
            (0..).zip(&plan.steps).filter_map(|(at, step)| pending.message(at, step)).collect();
        let discovery = plan.challenge.and_then(|choice| {
            let (_, metadata, scope) = CHALLENGES[usize::from(choice) % CHALLENGES.len()];
            (metadata || scope).then_some((metadata, scope))
        });
        Self { messages, discovery, needs_directions: pending.needs_directions, plan }
    }

    /// The meaning in the normal form. Formats that cannot carry a challenge never get a session that shows one.
    pub fn meaning(&self) -> String {
        let events: Vec<_> = self.messages.iter().map(|message| message.event.clone()).collect();
        let events = events.join(",\n");
        let between = if events.is_empty() { "" } else { "\n" };
        let discovery = match self.discovery {
            None => "null".to_owned(),
            Some((metadata, scope)) => format!(
                "{{\"visible\": true, \"source_kind\": \"www_authenticate\", \"resource_metadata_visible\": \
                 {metadata}, \"authorization_servers_visible\": false, \"scope_challenge_visible\": {scope}}}"
            ),
        };
        format!("{{\"events\": [{between}{events}\n],\n\"authorization_discovery\": {discovery}}}\n")
    }

    /// The session as a reader would hand it over, for the writers.
    ///
    /// # Errors
    /// Where a message that was made is none. That would be a mistake of this module.
    pub fn session(&self) -> Result<Session, Refusal> {
        let mut entries: Vec<OwnedEntry> = self.plan.challenge.map(challenged).into_iter().collect();
        let mut messages = self.messages.iter().peekable();
        for (at, step) in self.plan.steps.iter().enumerate() {
            let Some(message) = messages.next_if(|message| message.step == at) else {
                entries.push(aside(step));
                continue;
            };
            let slot = slot(step, message.side);
            let sse = (slot == Carrier::Sse).then(|| Sse {
                name: (step.slot & 4 == 0).then(|| "message".into()),
                id: (step.slot & 8 == 0).then(|| format!("event-{at}").into()),
                ..Sse::default()
            });
            entries.push(OwnedEntry {
                side: Some(message.side),
                carrier: slot,
                answers: message.answers.map(|index| index as u64),
                sse,
                time: time(step),
                ..OwnedEntry::new(OwnedContent::Message(
                    message.text.clone(),
                    Message::parse(&message.text)?.shape(),
                ))
            });
        }
        let authorization_discovery = self.discovery.map(|(metadata, scope)| AuthorizationSummary {
            resource_metadata_visible: metadata,
            scope_challenge_visible: scope,
        });
        let totals =
            Totals { events: self.messages.len() as u64, authorization_discovery, ..Totals::default() };
        Ok(Session { entries, totals, ..Session::default() })
    }

    /// The messages as lines, with the white space they were given.
    pub fn lines(&self) -> String {
        self.messages.iter().map(|messages| format!("{}\n", messages.text)).collect()
    }
}

impl<'a> Arbitrary<'a> for KnownSession {
    fn arbitrary(bytes: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        Plan::arbitrary(bytes).map(Self::new)
    }
}

fn time(step: &PlanStep) -> Option<i64> {
    step.time.map(|ticks| BEGINNING + i64::from(ticks) * 7)
}

fn slot(step: &PlanStep, side: Side) -> Carrier {
    match (side, step.slot % 3) {
        (_, 0) => Carrier::Line,
        (Side::Client, _) => Carrier::Request,
        (Side::Server, 1) => Carrier::Response,
        (Side::Server, _) => Carrier::Sse,
    }
}

fn aside(step: &PlanStep) -> OwnedEntry {
    let owned = |what, slot, side| OwnedEntry {
        carrier: slot,
        side: Some(side),
        time: time(step),
        ..OwnedEntry::new(what)
    };
    match step.slot % 4 {
        0 => owned(OwnedContent::Empty, Carrier::Request, Side::Client),
        1 => owned(OwnedContent::Empty, Carrier::Response, Side::Server),
        _ => {
            let (name, data) = ASIDES[usize::from(step.id) % ASIDES.len()];
            let sse = Sse { name: name.map(Into::into), data: data.map(Into::into), ..Sse::default() };
            OwnedEntry { sse: Some(sse), ..owned(OwnedContent::Event, Carrier::Sse, Side::Server) }
        }
    }
}

fn challenged(choice: u8) -> OwnedEntry {
    let (value, ..) = CHALLENGES[usize::from(choice) % CHALLENGES.len()];
    let quoted = value.replace('"', "\\\"");
    let context = TransportContext {
        text: format!(r#"{{"status":401,"headers":{{"www-Authenticate":"{quoted}"}}}}"#),
        status: Some(401),
        headers: vec![("www-Authenticate".into(), value.into())],
    };
    OwnedEntry {
        carrier: Carrier::Response,
        side: Some(Side::Server),
        context: Some(context),
        time: Some(BEGINNING),
        ..OwnedEntry::new(OwnedContent::Empty)
    }
}
