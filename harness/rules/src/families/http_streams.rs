//! Streamable HTTP with sessions: what the streams of a session carry.
//!
//! Memory: up to [`MOST_TOKENS`] progress tokens of requests, and as many of streams; what comes later is not compared.

use super::http::ERA;
use crate::engine::{
    Family, FindingLocation, HttpExchange, MessageKind, Revision, RuleContext, RuleVisitor, SeenMessage,
    Span, Transport, Trigger, Violation, plain, quoted,
};
use crate::rule::{Level, Need, Rule};
use std::collections::BTreeMap;
use transcript::message::Message;
use transcript::session::Carrier;

pub(super) const FAMILY: Family = Family {
    name: "http-streams",
    title: "Streamable HTTP with sessions: streams",
    rules: &[&RELATED, &CLOSED_LATE, &PRIMING, &NO_RESPONSE, &UNRELATED, &EVENT_NAME, &FRAMING, &POLLED],
    triggers: &[Trigger::HttpExchanges, Trigger::SseEvents],
    visitor: || Box::new(HttpStreamsState::default()),
};

/// What the rules of this file and of `http_resume` have in common.
pub(super) const OURS: Rule = Rule {
    span: ERA,
    needs: &[Need::Http, Need::Sse],
    source: "basic/transports#sending-messages-to-the-server",
    ..Rule::BLANK.server()
};

const LISTENING: Rule = Rule { source: "basic/transports#listening-for-messages-from-the-server", ..OURS };

static RELATED: Rule = Rule {
    id: "http.sse.related",
    span: Span::from(Revision::V2025_03_26),
    raised: Some((Revision::V2026_07_28, Level::Must)),
    title: "What a stream carries belongs to the request that opened it",
    why: "Clients that read a stream on behalf of one request do not expect the progress of another on it.",
    fix: "Send what belongs to a request on the stream of that request.",
    ..OURS.should()
};

static CLOSED_LATE: Rule = Rule {
    id: "http.sse.close-after-response",
    span: Span::from(Revision::V2025_03_26),
    title: "A stream is closed when the answers to its requests were sent",
    why: "Clients stop reading after the answer, so what follows is lost, and the connection stays taken.",
    fix: "End the stream right after the last response.",
    ..OURS.should()
};

static PRIMING: Rule = Rule {
    id: "http.sse.priming",
    span: Span::only(Revision::V2025_11_25),
    title: "The first event of a stream for a request is an id with empty data",
    why: "Without an id the client cannot ask for the rest when the connection breaks before the first message.",
    fix: "Begin the stream with `id:` and an empty `data:`.",
    softened: Some("a note where no event of the stream has an id"),
    ..OURS.should()
};

static NO_RESPONSE: Rule = Rule {
    id: "http.get.no-response",
    title: "A stream opened by GET carries no responses, unless it resumes one that would",
    why: "Clients look for the answer on the stream of their POST, and may get it twice or never.",
    fix: "Send a response on the stream of its request, or on a GET that resumes that stream.",
    ..LISTENING
};

static UNRELATED: Rule = Rule {
    id: "http.get.unrelated",
    title: "A stream opened by GET carries nothing that belongs to a running request",
    why: "A client that waits for the request does not read that stream, so it misses the progress.",
    fix: "Send the progress of a request on the stream of its POST.",
    ..LISTENING.should()
};

static EVENT_NAME: Rule = Rule {
    id: "http.sse.event-name",
    span: Span::from(Revision::V2025_03_26),
    needs: &[Need::Sse],
    title: "A message comes in an event named `message`, or in one without a name",
    why: "Clients listen only for `message`, so they silently lose events under another name.",
    fix: "Leave the `event` field out, or write `event: message`.",
    contested: Some(
        "The text names no event for Streamable HTTP; HTTP+SSE asks for `message`, and the SDKs read no other.",
    ),
    ..OURS.should()
};

static FRAMING: Rule = Rule {
    id: "http.sse.framing",
    span: Span::ALL,
    source: "basic/transports#sending-messages-to-the-server; WHATWG HTML, event stream interpretation",
    title: "A text/event-stream body is a series of events, each ended by an empty line",
    why: "Clients ignore lines that are not fields, and discard an event that the stream's end cuts off: the answer is lost.",
    fix: "Write `data:` before the message and an empty line after it, or answer with application/json.",
    softened: Some(
        "a warning on a whole message without its empty line; a note where server or recorder cut an event",
    ),
    ..OURS
};

static POLLED: Rule = Rule {
    id: "http.sse.tasks-get",
    span: Span::only(Revision::V2025_11_25),
    source: "basic/utilities/tasks#input-required-status",
    title: "A server answers `tasks/get` with JSON rather than with a stream",
    why: "The client polls, and a stream that it has to read to its end costs it a connection each time.",
    fix: "Answer `tasks/get` with application/json.",
    ..OURS.should()
};

/// The most progress tokens of requests, and of streams opened by GET, that are remembered.
const MOST_TOKENS: usize = 10_000;

#[derive(Default)]
struct HttpStreamsState {
    /// Which request each progress token is of: its exchange. By session and token, as what follows.
    tokens: BTreeMap<Box<str>, u64>,
    /// Progress on streams opened by GET: where each token was first seen.
    stray: BTreeMap<Box<str>, FindingLocation>,
}

impl RuleVisitor for HttpStreamsState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        if at.entry.carrier == Carrier::Sse {
            event_name(at);
        }
        let exchange = at.exchanges.current().filter(|_| at.exchange.is_some());
        let (Some(exchange), Some(message)) = (exchange, at.message) else { return };
        let (scope, number) = (scope(exchange, at), exchange.number);
        if at.entry.carrier == Carrier::Request {
            self.request(&scope, message, at);
        } else if at.entry.carrier == Carrier::Sse && exchange.endpoint.is_none() && exchange.streams() {
            match (exchange.is("GET"), exchange.resumes()) {
                (true, resumes) => self.on_get(&scope, resumes, message, at),
                (false, _) => self.on_post(&scope, number, message, at),
            }
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        if exchange.is("POST") && exchange.succeeded() && exchange.calls("tasks/get") {
            at.check(&POLLED, !exchange.streams(), || "`tasks/get` is answered with a stream");
        }
        framing(exchange, at);
        over(exchange, at);
    }
}

impl HttpStreamsState {
    /// What the client said.
    fn request(&mut self, scope: &str, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        // The progress of a task goes on when its request is over, on whatever stream is open.
        let follows = message.kind == MessageKind::Request && message.param("task").is_none();
        let Some(token) = message.meta("progressToken").filter(|_| follows) else { return };
        if let Some(location) = self.stray.remove(&inside(scope, token.text())) {
            let wrong =
                format!("progress of the request with the token {} on a stream opened by GET", token.text());
            at.fail(&UNRELATED, Violation::new(wrong).at(location).see(at.location(), "the request"));
        }
        if self.tokens.len() < MOST_TOKENS {
            let number = at.entry.exchange.unwrap_or_default();
            // Clients of a server without sessions may use the same tokens.
            for scope in [scope, &number.to_string()] {
                self.tokens.insert(inside(scope, token.text()), number);
            }
        }
    }

    /// A message on a stream that a POST opened.
    fn on_post(&mut self, scope: &str, number: u64, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(token) = progress(message) else { return };
        // Whose token it is where nobody made a request with it is another rule's business.
        let Some(&owner) = self.tokens.get(&inside(scope, &token)) else { return };
        let own = self.tokens.contains_key(&inside(&number.to_string(), &token));
        at.check(&RELATED, owner == number || own, || {
            format!("progress with the token {token}, which is that of another request")
        });
    }

    /// A message on a stream that a GET opened.
    fn on_get(&mut self, scope: &str, resumes: bool, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let is_response = matches!(message.kind, MessageKind::Result | MessageKind::Error);
        if is_response && message.raw.written_id().is_some() {
            at.check(&NO_RESPONSE, resumes, || "a response on a stream that resumes none");
            return;
        }
        at.pass(&NO_RESPONSE);
        if resumes {
            return;
        }
        let Some(token) = progress(message) else { return at.pass(&UNRELATED) };
        if self.tokens.contains_key(&inside(scope, &token)) {
            let wrong = format!("progress of the request with the token {token} on a stream opened by GET");
            at.fail(&UNRELATED, wrong);
        } else if self.stray.len() < MOST_TOKENS {
            self.stray.entry(inside(scope, &token)).or_insert_with(|| at.location());
        }
    }
}

/// The name of an event, where it holds a message. HTTP+SSE has a rule of its own.
fn event_name(at: &RuleContext<'_>) {
    let legacy = at.facts.recording.kind.http_sse
        || at.exchanges.current().is_some_and(|exchange| exchange.endpoint.is_some());
    let Some(sse) = at.entry.sse.as_ref().filter(|_| !legacy) else { return };
    match (sse.name.as_deref().unwrap_or_default(), &sse.data) {
        ("" | "message", _) if at.message.is_some() => at.pass(&EVENT_NAME),
        ("" | "message", _) => {}
        (name, Some(data)) if Message::parse(data).is_ok() => {
            at.fail(&EVENT_NAME, format!("a message in an event named {}", quoted(name)));
        }
        _ => {}
    }
}

/// The answer of a stream, which may be not a stream, or end too early.
fn framing(exchange: &HttpExchange, at: &RuleContext<'_>) {
    if exchange.transport == Transport::Other || !exchange.streams() {
        return;
    }
    let empty = exchange.events == 0 && exchange.messages == 0 && exchange.bad_answer.is_none();
    match exchange.unfinished {
        Some(true) => {
            let wrong = Violation::new("no empty line ends the last event, so its message is thrown away");
            at.fail(&FRAMING, wrong.only(Level::Should));
        }
        Some(false) => {
            let wrong =
                Violation::new("the stream, or its recording, ends inside an event, which is thrown away");
            at.fail(&FRAMING, wrong.only(Level::Info));
        }
        None if empty && !exchange.comments => {
            let whole = exchange.no_stream || !exchange.answer_lost;
            if whole && exchange.raw.response_size.is_some_and(|size| size > 0) {
                at.fail(&FRAMING, "the body holds no event: none of its lines is a field");
            }
        }
        None if empty => {
            at.inconclusive(&FRAMING, "the stream carries no event, and only what clients pass over")
        }
        None => at.pass(&FRAMING),
    }
}

/// A stream that a POST with requests opened, now that it is over.
fn over(exchange: &HttpExchange, at: &RuleContext<'_>) {
    let ours = exchange.transport == Transport::Streamable && exchange.is("POST") && exchange.streams();
    if !ours || exchange.calls.is_empty() || exchange.answer_lost {
        return;
    }
    let chosen = exchange.chosen.as_deref().and_then(Revision::named).or(at.facts.negotiated.revision);
    match (exchange.primed, &exchange.last_id) {
        // What a client asks for is not what the server speaks.
        _ if exchange.calls("initialize") && chosen.is_none() => {
            at.inconclusive(&PRIMING, "the two sides did not agree on a revision");
        }
        (true, _) => at.pass(&PRIMING),
        (false, Some(_)) => at.fail(&PRIMING, "the first event is not an id with empty data"),
        // Ids are optional, and with them what this event is for.
        (false, None) if exchange.events > 0 => {
            let wrong = Violation::new("the events have no ids, so the stream cannot be resumed");
            at.fail(&PRIMING, wrong.only(Level::Info));
        }
        (false, None) => {}
    }
    if exchange.is_answered() {
        at.check(&CLOSED_LATE, !exchange.went_on, || "the stream went on after the last response");
    }
}

/// Whose ids and tokens an exchange uses: those of its session, by the id that the server gave it, or by its number in
/// the recording where there are no ids.
pub(super) fn scope(exchange: &HttpExchange, at: &RuleContext<'_>) -> Box<str> {
    exchange.session().map_or_else(|| at.facts.session.to_string().into(), Into::into)
}

/// A name inside a scope.
pub(super) fn inside(scope: &str, name: &str) -> Box<str> {
    format!("{scope} {name}").into()
}

/// The token of a progress notification, as it is written.
fn progress(message: &SeenMessage<'_>) -> Option<Box<str>> {
    let token = message.calls("notifications/progress").then(|| message.param("progressToken"))??;
    (!plain(token).is_empty()).then(|| token.text().into())
}
